//! Conversions between formats on raw arrays; values move bit for bit.
//!
//! ```text
//! coo ---> csr <---> csc, ell, bcsr, blocked_ell
//!   \      |
//!    \     `-> coo
//!     `-> csc               csr <---> every format of the papers
//! ```

mod bands;
mod bit_tcf;
mod blocks;
mod compressed;
mod coo;
mod cp_csr;
mod ell;
mod jobs;
mod libra_sddmm;
mod libra_spmm;
mod loops;
mod me_tcf;
mod nm;
mod rp_csc;
mod rs_tile;
mod sr_bcrs;
mod tcf;
pub(crate) mod two_four;
mod vectors;
mod vnm;

pub(crate) use bit_tcf::{BitTcfToCsr, CsrToBitTcf};
pub(crate) use blocks::{BcsrToCsr, BlockedEllToCsr, CsrToBcsr, CsrToBlockedEll};
pub(crate) use compressed::{CscToCsr, CsrToCoo, CsrToCsc};
pub(crate) use coo::{CooToCsc, CooToCsr};
pub(crate) use cp_csr::{CpCsrToCsr, CsrToCpCsr};
pub(crate) use ell::{CsrToEll, EllToCsr};
pub(crate) use libra_sddmm::{CsrToLibraSddmm, LibraSddmmToCsr};
pub(crate) use libra_spmm::{CsrToLibraSpmm, LibraSpmmToCsr};
pub(crate) use loops::{CsrToLoops, LoopsToCsr};
pub(crate) use me_tcf::{CsrToMeTcf, MeTcfToCsr};
pub(crate) use nm::{CsrToNm, NmToCsr};
pub(crate) use rp_csc::{CsrToRpCsc, RpCscToCsr};
pub(crate) use rs_tile::{CsrToRsTile, RsTileToCsr};
pub(crate) use sr_bcrs::{CsrToSrBcrs, SrBcrsToCsr};
pub(crate) use tcf::{CsrToTcf, TcfToCsr};
pub(crate) use two_four::{CsrToTwoFour, TwoFourToCsr};
pub(crate) use vnm::{CsrToVnm, VnmToCsr};
