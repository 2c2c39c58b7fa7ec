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
pub(crate) mod libra_sddmm;
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

pub(crate) use bit_tcf::BitTcfToCsr;
pub(crate) use blocks::{BcsrToCsr, BlockedEllToCsr, CsrToBcsr, CsrToBlockedEll};
pub(crate) use compressed::{CscToCsr, CsrToCoo, CsrToCsc};
pub(crate) use coo::{CooToCsc, CooToCsr};
#[cfg(target_arch = "x86_64")]
pub(crate) use cp_csr::CpCsrToCsr;
pub(crate) use ell::{CsrToEll, EllToCsr};
pub(crate) use libra_sddmm::LibraSddmmToCsr;
pub(crate) use libra_spmm::LibraSpmmToCsr;
pub(crate) use loops::CsrToLoops;
#[cfg(target_arch = "x86_64")]
pub(crate) use rp_csc::RpCscToCsr;
pub(crate) use rs_tile::RsTileToCsr;

use super::rows::PaperRows;

/// The formats of the papers, in the order of their table.
pub(super) const PAPERS: &[PaperRows] = &[
    PaperRows::of::<loops::CsrToLoops, loops::LoopsToCsr>(),
    PaperRows::of::<rs_tile::CsrToRsTile, rs_tile::RsTileToCsr>(),
    PaperRows::of::<libra_spmm::CsrToLibraSpmm, libra_spmm::LibraSpmmToCsr>(),
    PaperRows::of::<libra_sddmm::CsrToLibraSddmm, libra_sddmm::LibraSddmmToCsr>(),
    PaperRows::of::<rp_csc::CsrToRpCsc, rp_csc::RpCscToCsr>(),
    PaperRows::of::<cp_csr::CsrToCpCsr, cp_csr::CpCsrToCsr>(),
    PaperRows::of::<nm::CsrToNm, nm::NmToCsr>(),
    PaperRows::of::<two_four::CsrToTwoFour, two_four::TwoFourToCsr>(),
    PaperRows::of::<vnm::CsrToVnm, vnm::VnmToCsr>(),
    PaperRows::of::<tcf::CsrToTcf, tcf::TcfToCsr>(),
    PaperRows::of::<me_tcf::CsrToMeTcf, me_tcf::MeTcfToCsr>(),
    PaperRows::of::<bit_tcf::CsrToBitTcf, bit_tcf::BitTcfToCsr>(),
    PaperRows::of::<sr_bcrs::CsrToSrBcrs, sr_bcrs::SrBcrsToCsr>(),
];
