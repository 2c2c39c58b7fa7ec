//! What atomic instructions make of what lies in memory: the table of operations, by the name of the operation and its type.
//!
//! Sums of f32 in global memory take subnormal numbers for zeros and give zeros for them, with their sign; in shared memory they do
//! not (PTX ISA, `atom`). `.f16` and `.bf16` are `.noftz` in both. PTX leaves open the bits of a NaN of f64; an H200 (`tests/silicon`) takes that
//! of the operand before that of memory, as it is, in global memory, and the other way round, quiet, in shared memory.

use super::half::{add_bf16, add_f16};
use super::round::{flush, quiet, quiet64};
use crate::program::Stores;
use crate::registers::UpdateFn;
use crate::text::Type;

/// What one operation on one type does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    name: &'static str,
    types: &'static [Type],
    /// Operands beside the address.
    pub(crate) operands: usize,
    pub(crate) stores: Stores,
    /// In shared memory.
    pub(crate) update: UpdateFn,
    /// In global memory, where that is something else.
    pub(crate) in_global: Option<UpdateFn>,
}

const fn op(name: &'static str, types: &'static [Type], update: UpdateFn) -> Operation {
    Operation { name, types, operands: 1, stores: Stores::Result, update, in_global: None }
}

const fn sum(types: &'static [Type], update: UpdateFn, in_global: Option<UpdateFn>) -> Operation {
    Operation { in_global, ..op("add", types, update) }
}

const fn signed(value: u64) -> i64 {
    value.cast_signed()
}

const fn signed32(value: u64) -> i32 {
    value as i32
}

const fn of_signed32(value: i32) -> u64 {
    value.cast_unsigned() as u64
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn pair(a: u64, b: u64, add: fn(u16, u16) -> u16) -> u64 {
    let half = |shift: u32| u64::from(add((a >> shift) as u16, (b >> shift) as u16)) << shift;
    half(16) | half(0)
}

use Type::{B16, B32, B64, F16, F16x2, F32, F64, S32, S64, U32, U64};

/// Values of 32 bits lie in the low half; what stands above is cut when it is stored.
static OPERATIONS: &[Operation] = &[
    op("add", &[U32, S32, U64], |old, b, _| old.wrapping_add(b)),
    op("min", &[U32, U64], |old, b, _| old.min(b)),
    op("max", &[U32, U64], |old, b, _| old.max(b)),
    op("min", &[S32], |old, b, _| of_signed32(signed32(old).min(signed32(b)))),
    op("max", &[S32], |old, b, _| of_signed32(signed32(old).max(signed32(b)))),
    op("min", &[S64], |old, b, _| signed(old).min(signed(b)).cast_unsigned()),
    op("max", &[S64], |old, b, _| signed(old).max(signed(b)).cast_unsigned()),
    op("and", &[B32, B64], |old, b, _| old & b),
    op("or", &[B32, B64], |old, b, _| old | b),
    op("xor", &[B32, B64], |old, b, _| old ^ b),
    // Counts up to b, and begins at 0 again.
    op("inc", &[U32], |old, b, _| if old >= b { 0 } else { old + 1 }),
    // Counts down from b, and begins at b again.
    op("dec", &[U32], |old, b, _| if old == 0 || old > b { b } else { old - 1 }),
    Operation { stores: Stores::Operand, ..op("exch", &[B32, B64], |_, b, _| b) },
    Operation {
        operands: 2,
        stores: Stores::IfEqual,
        ..op("cas", &[B16, B32, B64], |old, b, c| if old == b { c } else { old })
    },
    sum(
        &[F32],
        |old, b, _| u64::from(quiet(f32_of(old) + f32_of(b)).to_bits()),
        Some(|old, b, _| u64::from(quiet(flush(flush(f32_of(old)) + flush(f32_of(b)))).to_bits())),
    ),
    sum(
        &[F64],
        |old, b, _| {
            let [old, b] = [old, b].map(f64::from_bits);
            quiet64(old + b, [b, old, 0.0]).to_bits()
        },
        Some(|old, b, _| {
            let nan = [b, old].into_iter().find(|&bits| f64::from_bits(bits).is_nan());
            nan.unwrap_or_else(|| quiet64(f64::from_bits(old) + f64::from_bits(b), [0.0; 3]).to_bits())
        }),
    ),
    sum(&[F16], |old, b, _| u64::from(add_f16(old as u16, b as u16)), None),
    sum(&[F16x2], |old, b, _| pair(old, b, add_f16), None),
];

/// Of bf16, which is no type of registers.
static BRAIN: Operation = sum(&[B16], |old, b, _| u64::from(add_bf16(old as u16, b as u16)), None);
static BRAINS: Operation = sum(&[B32], |old, b, _| pair(old, b, add_bf16), None);

/// The operation with this name on this type, as a form ends: `add`, `f32`; with the type that its registers have.
pub(crate) fn operation(name: &str, ty: &str) -> Option<(&'static Operation, Type)> {
    match (name, ty) {
        ("add", "bf16") => Some((&BRAIN, B16)),
        ("add", "bf16x2") => Some((&BRAINS, B32)),
        _ => {
            let ty = Type::from_name(ty)?;
            OPERATIONS.iter().find(|op| op.name == name && op.types.contains(&ty)).map(|op| (op, ty))
        }
    }
}
