//! Random matrices for the format tests: every shape up to 60 x 60, every kind of bit pattern.

#![allow(dead_code, reason = "each test file uses its own part")]

use proptest::prelude::*;
use sparse_oracle::format::{Entries, Entry, FormatParams};
use sparse_oracle::{Precision, Scalar};

/// Bit patterns, half of them special: both zeros, infinities, NaN payloads, ones, subnormals. Drawn 64 bits wide
/// from the top, so that narrower types get the same classes after [`typed`].
fn bits() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0u64),
        2 => Just(1 << 63),
        1 => Just(0x7ff0 << 48),
        1 => Just(0xfff0 << 48),
        1 => any::<u64>().prop_map(|payload| payload | 0x7ff0 << 48),
        1 => any::<u8>().prop_map(u64::from),
        4 => any::<u64>(),
    ]
}

/// Sorted entries as 64-bit patterns: 0..=60 rows and columns, from empty to full, explicit zeros.
pub(crate) fn patterns() -> impl Strategy<Value = Entries<u64>> {
    (0usize..=60, 0usize..=60).prop_flat_map(|(rows, cols)| {
        let most = (rows * cols).min(300);
        let cells = prop::collection::btree_map(0..(rows * cols).max(1), bits(), 0..=most);
        cells.prop_map(move |cells| {
            let inside = cells.into_iter().filter(|_| rows * cols > 0);
            let list =
                inside.map(|(at, value)| Entry { row: (at / cols) as u32, col: (at % cols) as u32, value });
            Entries::try_new(rows, cols, list.collect()).expect("a map is sorted and has no duplicates")
        })
    })
}

/// The same entries in a type: the top bits of each pattern.
pub(crate) fn typed<T: Scalar>(entries: &Entries<u64>) -> Entries<T> {
    let drop = 64 - T::PRECISION.spec().storage_bits;
    entries.map(|&bits| match T::PRECISION {
        // Keep the small patterns small: they are the subnormals.
        Precision::F64 => T::from_bits64(bits),
        _ if bits < 256 => T::from_bits64(bits & 0x7f),
        _ => T::from_bits64(bits >> drop),
    })
}

/// Blocks of 1 to 9 by 1 to 9.
pub(crate) fn blocks() -> impl Strategy<Value = FormatParams> {
    (1u32..=9, 1u32..=9).prop_map(|(block_rows, block_cols)| FormatParams::blocks(block_rows, block_cols))
}
