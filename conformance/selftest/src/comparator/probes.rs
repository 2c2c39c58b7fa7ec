//! The comparisons that a comparator must get right: a case, what is done to an honest result, and whether it is right
//! then.
//!
//! ```text
//! right   as computed; NaN and Inf where they belong; -0 for 0; a last bit off; nothing, where nothing is due
//! wrong   one element of many, NaN for a number, the other infinity, zeros, old values, other positions
//! ```

use crate::dense::Dense;
use crate::edit::{drop_last_entry, edit_values};
use sparse_oracle::task::RawSparse;

/// What is done to a result.
#[derive(Clone, Copy, Debug)]
pub enum Edit {
    /// To a dense one.
    Dense(fn(&mut Dense<'_>)),
    /// To a sparse one.
    Sparse(fn(&mut RawSparse)),
}

/// One probe before it is run.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// What was done.
    pub name: &'static str,
    /// True where the result is right after that.
    pub right: bool,
    /// The case.
    pub line: &'static str,
    /// What is done to the honest result.
    pub edit: Edit,
}

const fn right(name: &'static str, line: &'static str, edit: fn(&mut Dense<'_>)) -> Planned {
    Planned { name, right: true, line, edit: Edit::Dense(edit) }
}

const fn wrong(name: &'static str, line: &'static str, edit: fn(&mut Dense<'_>)) -> Planned {
    Planned { name, right: false, line, edit: Edit::Dense(edit) }
}

const fn sparse(name: &'static str, right: bool, line: &'static str, edit: fn(&mut RawSparse)) -> Planned {
    Planned { name, right, line, edit: Edit::Sparse(edit) }
}

const F32: &str = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,1";
const F64: &str = "spmm.csr.f64_f64_f64_f64/embedded:karate/values=near-one,1";
const F16: &str = "spmm.csr.f16_f16_f32_f16/embedded:karate/values=near-one,1";
const SMALL: &str = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,1/alpha=0.00048828125";
const WITH_C: &str = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,1/beta=1";
const SPECIAL: &str = "spmm.csr.f16_f16_f32_f32/uniform:rows=40,cols=40,density=0.04,seed=1/values=special,3";
const NEAR: &str =
    "spmm.csr.f32_f32_f32_f32/uniform:rows=64,cols=256,density=0.5,seed=1/values=near-cancelling,5";
const EMPTY_ROWS: &str = "spmm.csr.f32_f32_f32_f32/empty:rows=40,cols=30,seed=4/values=near-one,2";
const PRODUCT: &str = "spgemm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,1";
const NO_PRODUCT: &str = "spgemm.csr.f32_f32_f32_f32/zero:rows=9,cols=9/values=near-one,1";

/// All probes, the honest ones first.
pub static PROBES: &[Planned] = &[
    right("f32, as computed", F32, |_| ()),
    right("f64, as computed", F64, |_| ()),
    right("f16, as computed", F16, |_| ()),
    right("NaN and infinities where they belong", SPECIAL, |_| ()),
    right("sums that nearly cancel, as computed", NEAR, |_| ()),
    right("empty rows, as computed", EMPTY_ROWS, |_| ()),
    right("C added, as computed", WITH_C, |_| ()),
    right("zeros with a minus sign", EMPTY_ROWS, |d| {
        d.map(|y| if y == 0.0 { -0.0 } else { y });
    }),
    right("another NaN", SPECIAL, |d| {
        d.change(|d, _, after, _| d.number(after).is_nan().then(|| d.bits(f64::NAN)));
    }),
    right("a last bit off in one element", F32, |d| {
        change_largest(d, |y| y * (1.0 + f64::from(f32::EPSILON)));
    }),
    sparse("a sparse product, as computed", true, PRODUCT, |_| ()),
    sparse("a sparse product without entries", true, NO_PRODUCT, |_| ()),
    wrong("all NaN", F32, |d| d.map(|_| f64::NAN)),
    wrong("one NaN", F32, |d| {
        change_first(d, f64::is_finite, |_| f64::NAN);
    }),
    wrong("NaN where the result is infinite", SPECIAL, |d| {
        change_first(d, f64::is_infinite, |_| f64::NAN);
    }),
    wrong("a number where the result is NaN", SPECIAL, |d| {
        change_first(d, f64::is_nan, |_| 1.0);
    }),
    wrong("a number where the result is infinite", SPECIAL, |d| {
        change_first(d, f64::is_infinite, |_| 1.0);
    }),
    wrong("the other infinity", SPECIAL, |d| {
        change_first(d, f64::is_infinite, |y| -y);
    }),
    wrong("infinity where the result is a number", F32, |d| {
        change_first(d, |y| y != 0.0, |_| f64::INFINITY);
    }),
    wrong("zeros", F32, |d| d.map(|_| 0.0)),
    wrong("zeros where results are small", SMALL, |d| d.map(|_| 0.0)),
    wrong("what C held before", WITH_C, |d| d.leave(|_, _, _| true)),
    wrong("C not added", WITH_C, |d| {
        d.change(|d, _, after, before| Some(d.bits(d.number(after) - d.number(before))));
    }),
    wrong("garbage where the result is zero", EMPTY_ROWS, |d| {
        change_first(d, |y| y == 0.0, |_| 123.0);
    }),
    wrong("one element off by a thousandth", F32, |d| {
        change_largest(d, |y| y * 1.001);
    }),
    wrong("one element off by a thousandth, in f16", F16, |d| {
        change_largest(d, |y| y * 1.01);
    }),
    wrong("f64 off by three millionths", F64, |d| {
        d.map(|y| y * (1.0 + 3e-6));
    }),
    wrong("the smallest element doubled", F32, |d| {
        change_smallest(d, |y| 2.0 * y);
    }),
    wrong("one element in twenty is garbage", F32, |d| {
        every(d, 20, 0, |_| -1e30);
    }),
    wrong("elements of odd number wrong", F32, |d| {
        every(d, 2, 1, |y| y + 1.0);
    }),
    wrong("elements of even number wrong", F32, |d| {
        every(d, 2, 0, |y| y + 1.0);
    }),
    wrong("the second half wrong", F32, |d| {
        let half = d.rows / 2;
        d.change(|d, (i, _), after, _| (i >= half).then(|| d.bits(d.number(after) + 1.0)));
    }),
    wrong("two rows exchanged", F32, |d| {
        for j in 0..d.cols {
            let (first, second) = (d.offset(0, j), d.offset(1, j));
            d.after.swap(first, second);
        }
    }),
    wrong("signs turned", F32, |d| d.map(|y| -y)),
    wrong("everything doubled", F32, |d| d.map(|y| 2.0 * y)),
    sparse("a sparse product, values wrong", false, PRODUCT, |raw| {
        edit_values(raw, |bits| bits.iter_mut().for_each(|b| *b ^= 1 << 20));
    }),
    sparse("a sparse product, a column wrong", false, PRODUCT, |raw| {
        if let Some(last) = raw.indices.last_mut() {
            *last = last.saturating_sub(1);
        }
    }),
    sparse("a sparse product, an entry lost", false, PRODUCT, drop_last_entry),
    sparse("a sparse product, nothing returned", false, PRODUCT, |raw| {
        raw.offsets.iter_mut().for_each(|end| *end = 0);
        raw.indices.clear();
        edit_values(raw, Vec::clear);
    }),
];

/// Changes the first element that `is` holds for.
fn change_first(d: &mut Dense<'_>, is: fn(f64) -> bool, change: fn(f64) -> f64) {
    let found = d.offsets().into_iter().map(|o| o.2).find(|&at| is(d.number(d.after[at])));
    if let Some(at) = found {
        d.after[at] = d.bits(change(d.number(d.after[at])));
    }
}

/// Changes the element of largest magnitude.
fn change_largest(d: &mut Dense<'_>, change: fn(f64) -> f64) {
    let size = |d: &Dense<'_>, at: usize| d.number(d.after[at]).abs();
    let offsets: Vec<usize> = d.offsets().iter().map(|o| o.2).collect();
    if let Some(&at) = offsets.iter().max_by(|&&l, &&r| size(d, l).total_cmp(&size(d, r))) {
        d.after[at] = d.bits(change(d.number(d.after[at])));
    }
}

/// Changes the element of smallest magnitude that is not zero.
fn change_smallest(d: &mut Dense<'_>, change: fn(f64) -> f64) {
    let size = |d: &Dense<'_>, at: usize| d.number(d.after[at]).abs();
    let offsets: Vec<usize> = d.offsets().iter().map(|o| o.2).filter(|&at| size(d, at) > 0.0).collect();
    if let Some(&at) = offsets.iter().min_by(|&&l, &&r| size(d, l).total_cmp(&size(d, r))) {
        d.after[at] = d.bits(change(d.number(d.after[at])));
    }
}

/// Changes one element in `step`, from `first` on.
fn every(d: &mut Dense<'_>, step: usize, first: usize, change: fn(f64) -> f64) {
    for (_, _, at) in d.offsets().into_iter().skip(first).step_by(step) {
        d.after[at] = d.bits(change(d.number(d.after[at])));
    }
}
