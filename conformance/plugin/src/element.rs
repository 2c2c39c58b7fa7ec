//! Element types as the header numbers them, and which Rust types may be copied byte by byte.

use crate::error::RunError;
use sparse_oracle::contract::Op;
use sparse_oracle::scalar::{Bf16, E4m3, E5m2, F16, Precision, Tf32};
use sparse_oracle::task::SddmmMode;

/// The number, name and bytes of each type of the header; the bit pattern that guards of inputs and fresh arrays hold: a NaN with
/// a payload of its own where there is one, an index that no matrix has otherwise; and what guards of outputs hold: in floats
/// three times the smallest subnormal, which adding anything but zero changes. (A NaN would swallow what is added to it.)
const TYPES: [(i32, &str, usize, u64, u64); 11] = [
    (1, "f64", 8, 0x7ff8_6a4d_0000_6a4d, 3),
    (2, "f32", 4, 0x7fc6_a4d1_7fc6_a4d1, 0x0000_0003_0000_0003),
    (3, "tf32", 4, 0x7fc6_a4d1_7fc6_a4d1, 0x0000_0003_0000_0003),
    (4, "f16", 2, 0x7e6b_7e6b_7e6b_7e6b, 0x0003_0003_0003_0003),
    (5, "bf16", 2, 0x7fc9_7fc9_7fc9_7fc9, 0x0003_0003_0003_0003),
    (6, "e4m3", 1, 0x7f7f_7f7f_7f7f_7f7f, 0x0303_0303_0303_0303),
    (7, "e5m2", 1, 0x7e7e_7e7e_7e7e_7e7e, 0x0303_0303_0303_0303),
    (16, "u8", 1, 0xa6a6_a6a6_a6a6_a6a6, 0xa6a6_a6a6_a6a6_a6a6),
    (17, "u16", 2, 0xa64d_a64d_a64d_a64d, 0xa64d_a64d_a64d_a64d),
    (18, "u32", 4, 0xa64d_b10c_a64d_b10c, 0xa64d_b10c_a64d_b10c),
    (19, "u64", 8, 0xa64d_b10c_a64d_b10c, 0xa64d_b10c_a64d_b10c),
];

/// The header's number of a precision.
pub(crate) fn code(precision: Precision) -> i32 {
    match precision {
        Precision::F64 => 1,
        Precision::F32 => 2,
        Precision::Tf32 => 3,
        Precision::F16 => 4,
        Precision::Bf16 => 5,
        Precision::E4m3 => 6,
        Precision::E5m2 => 7,
    }
}

/// The name of a type by its number.
pub(crate) fn name(code: i32) -> String {
    let known = TYPES.iter().find(|row| row.0 == code);
    known.map_or_else(|| format!("type {code}, which does not exist"), |row| row.1.to_owned())
}

/// Bytes of an element by the number of its type.
pub(crate) fn size(code: i32) -> usize {
    TYPES.iter().find(|row| row.0 == code).map_or(0, |row| row.2)
}

/// What memory of this type holds before anyone writes to it.
pub(crate) fn pattern(code: i32) -> u64 {
    TYPES.iter().find(|row| row.0 == code).map_or(0, |row| row.3)
}

/// What stands around an output.
pub(crate) fn output_guard(code: i32) -> u64 {
    TYPES.iter().find(|row| row.0 == code).map_or(0, |row| row.4)
}

/// The operations of version 1 of the header; the place of each, from 1, is its number. The header is frozen: an operation that came
/// later is not here, and no plug-in is asked for it.
const OPERATIONS: [Op; 6] = [Op::Spmm, Op::Spmv, Op::Sddmm, Op::Spgemm, Op::Transpose, Op::Convert];

/// True for an operation that a plug-in can be asked for.
#[must_use]
pub fn is_in_header(op: Op) -> bool {
    OPERATIONS.contains(&op)
}

/// The header's number of an operation.
pub(crate) fn op(op: Op) -> Result<i32, RunError> {
    if is_in_header(op) {
        Ok(place(&OPERATIONS, &op) + 1)
    } else {
        Err(RunError::Operation { op: op.name() })
    }
}

/// The header's number of what an SDDMM does with the values of S: its place, from 0.
pub(crate) fn mode(mode: SddmmMode) -> i32 {
    place(&SddmmMode::ALL, &mode)
}

/// The place in a list that has every value.
fn place<T: PartialEq>(all: &[T], one: &T) -> i32 {
    all.iter().take_while(|other| *other != one).count() as i32
}

/// Types whose every bit pattern is a value and that have no padding, so that C may read and write them as bytes.
///
/// # Safety
/// Implementors must be such types, of at most 8 bytes, a power of two of them.
pub(crate) unsafe trait Plain: Copy + PartialEq + 'static {
    /// The header's number.
    const CODE: i32;
}

macro_rules! plain {
    ($($type:ty = $code:literal),*) => {$(
        // SAFETY: an unsigned integer, an IEEE float, or a `repr(transparent)` wrapper of an unsigned integer
        // (oracle/types/src/scalar): no padding, no invalid bit pattern, 1 to 8 bytes.
        unsafe impl Plain for $type {
            const CODE: i32 = $code;
        }
    )*};
}
plain!(
    f64 = 1,
    f32 = 2,
    Tf32 = 3,
    F16 = 4,
    Bf16 = 5,
    E4m3 = 6,
    E5m2 = 7,
    u8 = 16,
    u16 = 17,
    u32 = 18,
    u64 = 19
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_precision_has_a_row_of_its_own_name() {
        for precision in Precision::ALL {
            assert_eq!(name(code(precision)), precision.to_string());
            assert_ne!(pattern(code(precision)), 0);
            assert_eq!(size(code(precision)) as u32 * 8, precision.spec().storage_bits);
        }
        assert!(name(8).contains("does not exist"));
    }

    #[test]
    fn numbers_are_those_of_the_header() {
        // Read, not included: the header lies outside of this crate's package, which must compile without it.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../include/sparse_conformance.h");
        let header = std::fs::read_to_string(path).expect("the header is there");
        let says = |name: &str, number: i32| {
            let line = format!("SC_{} = {number}", name.to_uppercase().replace('-', "_"));
            assert!(header.lines().any(|l| l.contains(&line)), "no {line} in the header");
        };
        OPERATIONS.into_iter().for_each(|one| says(one.name(), op(one).expect("in the header")));
        SddmmMode::ALL.into_iter().for_each(|one| says(one.name(), mode(one)));
        Precision::ALL.into_iter().for_each(|one| says(one.name(), code(one)));
    }
}
