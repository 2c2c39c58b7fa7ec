//! Encoder and decoder of CSC; the layout is that of [`CscParts`](crate::format::CscParts).

use crate::format::check::check_slots;
use crate::format::{Codec, Csc, CscParts, Entries, Entry, FormatParams, ascending};
use crate::refusal::Refusal;

impl<T: Copy> Codec<T> for Csc<T> {
    /// Decodes: every stored element, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let mut list = Vec::with_capacity(self.nnz());
        for col in 0..self.cols {
            let (rows, values) = self.col(col);
            list.extend(rows.iter().zip(values).map(|(&row, &value)| Entry { row, col: col as u32, value }));
        }
        Entries::sorted(self.rows, self.cols, &list)
    }

    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) column pointers.
    fn from_entries_with(entries: &Entries<T>, _: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let mut col_ptr = vec![0u32; check_slots("col_ptr", entries.cols as u128 + 1)?];
        for e in &entries.list {
            col_ptr[e.col as usize + 1] += 1;
        }
        for j in 0..entries.cols {
            col_ptr[j + 1] += col_ptr[j];
        }
        let order = ascending(entries.list.iter().map(|e| (e.col, e.row)));
        let by_column = || order.iter().map(|&at| &entries.list[at]);
        Csc::try_new(CscParts {
            rows: entries.rows,
            cols: entries.cols,
            col_ptr,
            row_idx: by_column().map(|e| e.row).collect(),
            values: by_column().map(|e| e.value).collect(),
        })
    }

    /// There are none.
    fn params(&self) -> FormatParams {
        FormatParams::default()
    }
}
