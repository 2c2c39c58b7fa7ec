//! Conversions between formats on raw arrays; values move bit for bit.
//!
//! ```text
//! coo ---> csr <---> csc, ell, bcsr, blocked_ell
//!   \      |
//!    \     `-> coo
//!     `-> csc
//! ```

mod blocks;
mod compressed;
mod coo;
mod ell;

pub(crate) use blocks::{BcsrToCsr, BlockedEllToCsr, CsrToBcsr, CsrToBlockedEll};
pub(crate) use compressed::{CscToCsr, CsrToCoo, CsrToCsc};
pub(crate) use coo::{CooToCsc, CooToCsr};
pub(crate) use ell::{CsrToEll, EllToCsr};
