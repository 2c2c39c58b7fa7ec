//! Encoder and decoder of COO; the layout is that of [`CooParts`](crate::format::CooParts).

use crate::format::duplicates::settled;
use crate::format::{Codec, Coo, CooParts, Duplicates, Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;

impl<T: Scalar> Codec<T> for Coo<T> {
    /// Decodes: sorted by (row, column), repeated positions summed exactly and rounded once; explicit zeros are
    /// kept, and so is a zero that a sum leaves behind.
    fn entries(&self) -> Entries<T> {
        settled(self, Duplicates::SumExact)
    }

    /// Encodes entries: one triple each, sorted by (row, column).
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`].
    fn from_entries_with(entries: &Entries<T>, _: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        Coo::try_new(CooParts {
            rows: entries.rows,
            cols: entries.cols,
            row_idx: entries.list.iter().map(|e| e.row).collect(),
            col_idx: entries.list.iter().map(|e| e.col).collect(),
            values: entries.list.iter().map(|e| e.value).collect(),
        })
    }

    /// There are none.
    fn params(&self) -> FormatParams {
        FormatParams::default()
    }
}
