//! Encoders and decoders, one format per file.

mod bcsr;
mod bit_tcf;
mod blocked_ell;
mod coo;
mod cp_csr;
mod csc;
mod csr;
mod ell;
mod libra_sddmm;
mod libra_spmm;
mod loops;
mod me_tcf;
mod nm;
mod rp_csc;
pub(crate) mod rs_tile;
mod sr_bcrs;
mod tcf;
mod two_four;
mod vnm;

use super::{Entries, FormatParams};
use crate::refusal::Refusal;

/// The encoder and the decoder of a format.
pub trait Codec<T>: Sized {
    /// Encodes sorted entries with the parameters that the format reads.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; parameters out of range; more than [`SLOT_LIMIT`](super::SLOT_LIMIT) slots of an array; entries that the format
    /// has no room for.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal>;

    /// Encodes sorted entries with the default parameters.
    ///
    /// # Errors
    /// As [`from_entries_with`](Self::from_entries_with).
    fn from_entries(entries: &Entries<T>) -> Result<Self, Refusal> {
        Self::from_entries_with(entries, &FormatParams::default())
    }

    /// Decodes.
    fn entries(&self) -> Entries<T>;

    /// The parameters that the matrix was encoded with; the default for those that its format does not read.
    fn params(&self) -> FormatParams;
}
