//! Encoder and decoder of ELL; the layout is that of [`EllParts`](crate::format::EllParts).

use crate::format::check::check_slots;
use crate::format::{Codec, Ell, EllParts, Entries, Entry, FormatParams, PAD};
use crate::refusal::Refusal;
use crate::scalar::Scalar;

impl<T: Scalar> Codec<T> for Ell<T> {
    /// Decodes: every slot that is not a pad, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let mut list = Vec::with_capacity(self.nnz());
        for (at, (&col, &value)) in self.col_idx.iter().zip(&self.values).enumerate() {
            if col != PAD {
                let row = (at / self.width) as u32;
                list.push(Entry { row, col, value });
            }
        }
        Entries { rows: self.rows, cols: self.cols, list }
    }

    /// Encodes sorted entries; the width is that of the longest row.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) slots (`rows * width`:
    /// one dense row in a tall matrix is enough).
    fn from_entries_with(entries: &Entries<T>, _: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let lanes = || entries.list.chunk_by(|a, b| a.row == b.row);
        let width = lanes().map(<[_]>::len).max().unwrap_or(0);
        let slots = check_slots("slots", entries.rows as u128 * width as u128)?;
        let mut col_idx = vec![PAD; slots];
        let mut values = vec![T::from_bits64(0); slots];
        for lane in lanes() {
            for (s, e) in lane.iter().enumerate() {
                let at = e.row as usize * width + s;
                col_idx[at] = e.col;
                values[at] = e.value;
            }
        }
        Ell::try_new(EllParts { rows: entries.rows, cols: entries.cols, width, col_idx, values })
    }

    /// There are none.
    fn params(&self) -> FormatParams {
        FormatParams::default()
    }

    fn most_slots(entries: &Entries<T>, _params: &FormatParams) -> u128 {
        let rows = entries.list.chunk_by(|a, b| a.row == b.row);
        rows.map(|row| row.len() as u128).max().unwrap_or(0) * entries.rows as u128
    }
}
