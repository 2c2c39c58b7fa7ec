//! What instructions do to the registers of a warp.
//!
//! ```text
//! lane      a type a register holds, the loop over 32 lanes, the macro that makes a row of the table of one line
//! integer   add, mul, mad, div, min, ..      bits      and, shl, bfi, prmt, popc, ..
//! float     f32, f64, f16, bf16              approximate   rcp.approx, ex2.approx, ..
//! compare   setp, set                        convert   cvt
//! select    mov, selp, slct                  pack      vectors of registers as one register
//! matrix    mma, for all 32 lanes at once            atomic    what atom and red make of memory
//! ```
//!
//! A function here computes all 32 lanes and keeps those of the mask: lanes that don't take part are never seen. The loops are
//! plain, and compiled once for each vector unit (`pulp`).

mod lane;

mod approximate;
pub(crate) mod atomic;
mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;
pub mod matrix;
pub mod pack;
mod round;
mod select;

use crate::isa::Row;

/// The rows of the table that lanes execute, a family of instructions each.
pub(crate) const FAMILIES: &[&[Row]] = &[
    integer::ROWS,
    bits::ROWS,
    float::ROWS,
    float::ROUNDED,
    half::ROWS,
    approximate::ROWS,
    compare::INTEGERS,
    compare::FLOATS,
    compare::SETS,
    convert::INTEGERS,
    convert::TO_FLOAT,
    convert::TO_INTEGER,
    convert::FLOATS,
    select::ROWS,
];
