//! Encoder and decoder of CSR; the layout is that of [`CsrParts`](crate::format::CsrParts).

use crate::format::check::check_slots;
use crate::format::{Codec, Csr, CsrParts, Entries, Entry, FormatParams};
use crate::refusal::Refusal;

impl<T: Copy> Codec<T> for Csr<T> {
    /// Decodes: every stored element, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let mut list = Vec::with_capacity(self.nnz());
        for row in 0..self.rows {
            let (cols, values) = self.row(row);
            list.extend(cols.iter().zip(values).map(|(&col, &value)| Entry { row: row as u32, col, value }));
        }
        Entries { rows: self.rows, cols: self.cols, list }
    }

    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) row pointers.
    fn from_entries_with(entries: &Entries<T>, _: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let mut row_ptr = vec![0u32; check_slots("row_ptr", entries.rows as u128 + 1)?];
        for e in &entries.list {
            row_ptr[e.row as usize + 1] += 1;
        }
        for i in 0..entries.rows {
            row_ptr[i + 1] += row_ptr[i];
        }
        Csr::try_new(CsrParts {
            rows: entries.rows,
            cols: entries.cols,
            row_ptr,
            col_idx: entries.list.iter().map(|e| e.col).collect(),
            values: entries.list.iter().map(|e| e.value).collect(),
        })
    }

    /// There are none.
    fn params(&self) -> FormatParams {
        FormatParams::default()
    }
}
