//! Whether a kernel's CSR holds the entries that it must hold.

use sparse_oracle::format::{Entries, FormatKind};
use sparse_oracle::scalar::Element;
use sparse_oracle::task::RawSparse;

/// The first difference between a kernel's CSR and the entries it must hold; with `any_nan`, one NaN is as good as
/// another.
pub(super) fn same_csr<T: Element>(found: &RawSparse, entries: &Entries<T>, any_nan: bool) -> Option<String> {
    let frame = (found.kind, found.rows, found.cols);
    if frame != (FormatKind::Csr, entries.rows, entries.cols) {
        return Some(format!("{frame:?} instead of a CSR of {}x{}", entries.rows, entries.cols));
    }
    let Some(values) = T::unwrap_slice(found.values.as_slice()) else {
        return Some(format!("values of {}", found.values.precision()));
    };
    let lengths = (found.offsets.len(), found.indices.len(), values.len());
    if lengths != (entries.rows + 1, entries.nnz(), entries.nnz()) {
        return Some(format!("lengths {lengths:?} for {} entries", entries.nnz()));
    }
    let mut at = 0;
    for (row, &offset) in found.offsets.iter().enumerate() {
        while entries.list.get(at).is_some_and(|e| (e.row as usize) < row) {
            at += 1;
        }
        if offset as usize != at {
            return Some(format!("row_ptr[{row}] is {offset}, expected {at}"));
        }
    }
    let stored = found.indices.iter().zip(values).zip(&entries.list);
    let nan = |v: &T| v.to_f64().is_nan();
    let mut wrong = stored.filter(|((col, value), e)| {
        let same = value.bits64() == e.value.bits64() || any_nan && nan(value) && nan(&e.value);
        **col != e.col || !same
    });
    wrong.next().map(|((col, value), e)| format!("column {col}, value {value:?} instead of {e:?}"))
}
