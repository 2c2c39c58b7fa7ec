//! Tables of defects: the valid arrays of one picture, one thing broken at a time, and the refusal that says so.
//!
//! ```text
//! . 1 . 2
//! . . . .      (blocks of 2 x 2: the second block row hangs over the last row)
//! 3 . . .
//! ```

#![allow(dead_code, reason = "each test file uses its own part")]

use sparse_oracle::{EncodingError, Refusal, RequestError};

pub(crate) const PAST_U32: usize = u32::MAX as usize + 1;

/// One line of a table: its name, what it breaks, what is refused.
pub(crate) type Defect<P> = (&'static str, fn(&mut P), Refusal);

/// Checks a table: every defect is refused as it says, and the undamaged arrays are taken.
pub(crate) fn refuses<P: Clone, M>(
    valid: &P,
    check: impl Fn(P) -> Result<M, Refusal>,
    table: Vec<Defect<P>>,
) {
    assert!(check(valid.clone()).is_ok(), "the undamaged arrays are valid");
    for (name, damage, expected) in table {
        let mut parts = valid.clone();
        damage(&mut parts);
        assert_eq!(check(parts).err(), Some(expected), "{name}");
    }
}

pub(crate) fn length(field: &'static str, expected: usize, found: usize) -> Refusal {
    Refusal::Encoding(EncodingError::Length { field, expected, found })
}

pub(crate) fn first(field: &'static str, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::FirstOffset { field, found })
}

pub(crate) fn decreasing(field: &'static str, at: usize, previous: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Decreasing { field, at, previous, found })
}

pub(crate) fn last(field: &'static str, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::LastOffset { field, expected, found })
}

pub(crate) fn out_of_range(field: &'static str, at: usize, row: usize, found: u64, limit: u64) -> Refusal {
    Refusal::Encoding(EncodingError::IndexOutOfRange { field, at, row, found, limit })
}

pub(crate) fn unsorted(field: &'static str, at: usize, row: usize, previous: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unsorted { field, at, row, previous, found })
}

pub(crate) fn duplicate(field: &'static str, at: usize, row: usize, column: usize) -> Refusal {
    Refusal::Encoding(EncodingError::Duplicate { field, at, row, column })
}

pub(crate) fn too_large(field: &'static str, found: u128, limit: u64) -> Refusal {
    Refusal::Request(RequestError::TooLarge { field, found, limit })
}

pub(crate) fn past_u32(field: &'static str, found: u128) -> Refusal {
    too_large(field, found, u64::from(u32::MAX))
}
