//! Small changes to operands, sparse results and encodings, that rows of the catalogue are made of.

use super::dense::offset;
use super::request::{bits_of, values_of};
use sparse_oracle::format::{
    AnyParts, AnySparse, Entries, Entry, FieldMut, Fields, FormatKind, FormatParams, PAD, Sparse, in_order,
};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Scalar};
use sparse_oracle::task::{Answer, DenseRef, RawSparse};
use sparse_oracle::{each_parts, each_sparse};

/// A matrix rebuilt from edited entries: (its entries as bits, rows, columns) go through `edit`.
///
/// # Errors
/// Entries that the format does not hold.
pub(super) fn rebuilt(
    a: &AnySparse,
    edit: impl FnOnce(&mut Vec<Entry<u64>>, (usize, usize)),
) -> Result<AnySparse, String> {
    each_sparse!(a, m => {
        let entries = m.entries();
        let mut list = entries.bits().list;
        edit(&mut list, (entries.rows, entries.cols));
        let mut list = in_order(&list);
        list.dedup_by_key(|e| (e.row, e.col));
        let entries = typed(list, &entries);
        let sparse = Sparse::from_entries(a.kind(), FormatParams::default(), &entries);
        sparse.map(AnySparse::from).map_err(|e| e.to_string())
    })
}

/// Bits as elements of the type of `like`, in a matrix of its shape.
fn typed<T: Scalar>(list: Vec<Entry<u64>>, like: &Entries<T>) -> Entries<T> {
    let list = list.into_iter().map(|e| Entry { row: e.row, col: e.col, value: T::from_bits64(e.value) });
    Entries { rows: like.rows, cols: like.cols, list: list.collect() }
}

/// The stored triples of a COO matrix, in stored order, as bits; other formats as their entries.
pub(super) fn triples(a: &AnySparse) -> Vec<Entry<u64>> {
    each_sparse!(a, m => match m {
        Sparse::Coo(coo) => {
            let positions = coo.row_idx.iter().zip(&coo.col_idx).zip(&coo.values);
            positions.map(|((&row, &col), v)| Entry { row, col, value: v.bits64() }).collect()
        }
        other => other.entries().bits().list,
    })
}

/// A copy of a dense operand with every element taken from elsewhere: `from(i, j)` is an offset; one that is not there
/// leaves the element.
pub(super) fn gathered(b: &DenseRef<'_>, from: impl Fn(usize, usize) -> usize) -> Vec<u64> {
    let mut bits = bits_of(b.data);
    for i in 0..b.rows {
        for j in 0..b.cols {
            let at = from(i, j);
            if at < b.data.len() {
                bits[offset(b.layout, b.ld, i, j)] = b.data.bits(at);
            }
        }
    }
    bits
}

/// The values of a sparse result as bits, edited in place.
pub(super) fn edit_values(raw: &mut RawSparse, edit: impl FnOnce(&mut Vec<u64>)) {
    let precision = raw.values.precision();
    let mut bits = bits_of(raw.values.as_slice());
    edit(&mut bits);
    raw.values = values_of(precision, &bits);
}

/// Changes the bits of all values of a sparse result, in a general format or one of the papers.
pub(super) fn change_stored(answer: &mut Answer, change: fn(Precision, u64) -> u64) {
    match answer {
        Answer::Sparse(raw) => {
            let precision = raw.values.precision();
            edit_values(raw, |bits| bits.iter_mut().for_each(|b| *b = change(precision, *b)));
        }
        Answer::Parts(parts) => each_parts!(parts, p => {
            for (_, field) in p.fields_mut() {
                if let FieldMut::Values(list) = field {
                    list.iter_mut().for_each(|value| *value = changed(*value, change));
                }
            }
        }),
        Answer::Written => {}
    }
}

fn changed<T: Scalar>(value: T, change: fn(Precision, u64) -> u64) -> T {
    T::from_bits64(change(T::PRECISION, value.bits64()))
}

/// Removes the entries of a CSR or CSC result for which `keep` (number of the entry, bits) does not hold.
pub(super) fn retain(raw: &mut RawSparse, keep: impl Fn(usize, u64) -> bool) {
    let bits = bits_of(raw.values.as_slice());
    let kept: Vec<bool> = bits.iter().enumerate().map(|(at, &b)| keep(at, b)).collect();
    let before = |end: u32| kept.iter().take(end as usize).filter(|k| **k).count() as u32;
    raw.offsets = raw.offsets.iter().map(|&end| before(end)).collect();
    let flags = || kept.iter().copied().chain(std::iter::repeat(true));
    raw.indices = raw.indices.iter().zip(flags()).filter(|p| p.1).map(|p| *p.0).collect();
    edit_values(raw, |bits| {
        *bits = bits.iter().zip(flags()).filter(|p| p.1).map(|p| *p.0).collect();
    });
}

/// Lets `edit` change the u32 array `name` of an encoding.
pub(super) fn indices(parts: &mut AnyParts, name: &str, edit: impl FnOnce(&mut Vec<u32>)) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::U32(list)) = (field == name, value) {
                return edit(list);
            }
        }
    });
}

/// Lets `edit` change the u64 array `name`.
pub(super) fn bitmaps(parts: &mut AnyParts, name: &str, edit: impl FnOnce(&mut Vec<u64>)) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::U64(list)) = (field == name, value) {
                return edit(list);
            }
        }
    });
}

/// Lets `edit` change the byte array `name`.
pub(super) fn bytes(parts: &mut AnyParts, name: &str, edit: impl FnOnce(&mut Vec<u8>)) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::U8(list)) = (field == name, value) {
                return edit(list);
            }
        }
    });
}

/// Swaps the first two neighbouring values that differ.
pub(super) fn swap_values(parts: &mut AnyParts, name: &str) {
    each_parts!(parts, p => {
        for (field, value) in p.fields_mut() {
            if let (true, FieldMut::Values(list)) = (field == name, value) {
                if let Some(at) = list.windows(2).position(|w| w[0].bits64() != w[1].bits64()) {
                    list.swap(at, at + 1);
                }
                return;
            }
        }
    });
}

/// Swaps the first two neighbours that differ.
pub(super) fn swap_neighbours<T: PartialEq>(list: &mut [T]) {
    if let Some(at) = list.windows(2).position(|w| w[0] != w[1]) {
        list.swap(at, at + 1);
    }
}

/// Pads by column become column 0.
pub(super) fn pad_is_column_zero(parts: &mut AnyParts, name: &str) {
    indices(parts, name, |cols| {
        for col in cols.iter_mut().filter(|col| **col == PAD) {
            *col = 0;
        }
    });
}

/// All offsets but the first and the last are one too large.
pub(super) fn off_by_one(parts: &mut AnyParts, name: &str) {
    indices(parts, name, |list| {
        let inner = list.len().saturating_sub(1);
        for offset in list.iter_mut().take(inner).skip(1) {
            *offset += 1;
        }
    });
}

/// Rows and columns of an 8 x 8 bitmap exchanged.
pub(super) fn transposed(word: u64) -> u64 {
    (0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| 1 << (bit % 8 * 8 + bit / 8)).sum()
}

/// The last entry of a CSR result is lost.
pub(super) fn drop_last_entry(raw: &mut RawSparse) {
    let last = raw.values.len().saturating_sub(1);
    retain(raw, |at, _| at != last);
}

/// True for formats whose matrices are rebuilt from entries without a parameter.
pub(super) const fn plain(format: FormatKind) -> bool {
    matches!(format, FormatKind::Csr | FormatKind::Csc | FormatKind::Coo | FormatKind::Ell)
}
