//! A task, a declaration, a result: one verdict. The way in for whoever has operands and what a kernel made of them.
//!
//! ```text
//! inputs, declared arithmetic and profile  ->  exact operands | exact encoding  ->  judge(what came back)  ->  verdict
//! ```

use super::moved::Moved;
use super::output::{Output, Place};
use super::shared::Product;
use super::tally::Judged;
use crate::arithmetic::Arithmetic;
use crate::contract::Extent;
use crate::format::{AnyParts, Layout};
use crate::profile::Profile;
use crate::scalar::{AnySlice, decode};
use crate::task::{DenseRef, Inputs, RawSparse};
use crate::verdict::{Defect, Mismatch, Verdict};

/// What a kernel returned.
#[derive(Clone, Debug)]
pub enum Found<'a> {
    /// The elements of C or y, or one value for each stored position of S.
    Dense(Output<'a>),
    /// A sparse matrix of a general format, unchecked.
    Sparse(RawSparse),
    /// A sparse matrix of a format of the papers, unchecked.
    Parts(AnyParts),
}

impl<'a> Found<'a> {
    /// A dense result of `cols` columns, row-major without gaps (one column for y, and for the values of an SDDMM), where the kernel
    /// may not read what was there before.
    #[must_use]
    pub fn row_major(found: AnySlice<'a>, cols: usize) -> Found<'a> {
        let place = Place::Strides(cols, 1);
        Found::Dense(Output { found, place, poison: None, before: None, before_place: place })
    }
}

/// Judges what a kernel that declares this arithmetic and this profile returned for a task.
///
/// Never panics, whatever the sizes of operands and result: a result of another size, kind or element type is
/// [`Wrong`](Verdict::Wrong), and on operands that do not fit together nobody is judged ([`NotRun`](Verdict::NotRun)).
#[must_use]
pub fn judge(
    inputs: &Inputs<'_>,
    (arithmetic, profile): (&Arithmetic, &Profile),
    found: Found<'_>,
) -> Judged {
    if let Some(reason) = misfit(inputs) {
        return Judged::only(Verdict::NotRun { reason });
    }
    if let Some(moved) = Moved::new(inputs, profile) {
        return Judged::only(match found {
            Found::Sparse(raw) => moved.judge(raw),
            Found::Parts(parts) => moved.judge_parts(parts),
            Found::Dense(_) => other_kind(),
        });
    }
    let product = Product::new(inputs, arithmetic, profile);
    let exact = match product.exact() {
        Ok(exact) => exact,
        Err(reason) => return Judged::only(Verdict::NotRun { reason }),
    };
    match (inputs.op.is_dense(), found) {
        (false, Found::Sparse(raw)) => product.judge_spgemm(exact, raw),
        (true, Found::Dense(output)) => {
            let (rows, cols) = exact.problem().shape();
            let place = if exact.is_by_number() { Place::Visited } else { output.place };
            if let Some(wrong) = misplaced(output.found, place, (rows, cols), arithmetic) {
                return Judged::only(wrong);
            }
            let before = match output.before.map(|before| compact(before, output.before_place, (rows, cols)))
            {
                Some(None) => {
                    let reason = "what the output held before is shorter than the result".to_owned();
                    return Judged::only(Verdict::NotRun { reason });
                }
                before => before.flatten(),
            };
            product.judge_dense(exact, (output.found, place, output.poison), before.as_deref())
        }
        _ => Judged::only(other_kind()),
    }
}

fn shape(message: String) -> Verdict {
    Verdict::Wrong(Box::new(Mismatch::plain(Defect::Shape, message)))
}

fn other_kind() -> Verdict {
    shape("answered with another kind of result than asked for".to_owned())
}

/// Why the operands can't be read, or don't fit together.
fn misfit(inputs: &Inputs<'_>) -> Option<String> {
    let turned = |(rows, cols), turn| if turn { (cols, rows) } else { (rows, cols) };
    let (m, k) = turned(inputs.a.shape(), inputs.transpose_a);
    let mut n = None;
    let mut fits = |extent: Extent, found: usize| match extent {
        Extent::M => m == found,
        Extent::K => k == found,
        Extent::N => *n.get_or_insert(found) == found,
        Extent::One => found == 1,
    };
    for (operand, DenseRef { rows, cols, ld, layout, data }) in inputs.dense() {
        let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
        let needed = outer.checked_sub(1).map_or(Some(0), |last| last.checked_mul(ld)?.checked_add(inner));
        if inner > ld || needed.is_none_or(|needed| needed > data.len()) {
            let (name, len) = (operand.label, data.len());
            return Some(format!("{name} of {rows} x {cols} with leading dimension {ld} has {len} elements"));
        }
        let turn = inputs.transpose_b && inputs.op.signature().transposes_b;
        let (rows, cols) = turned((rows, cols), turn);
        if !fits(operand.rows, rows) || !fits(operand.cols, cols) {
            return Some(format!("{} of {rows} x {cols} does not fit A of {m} x {k}", operand.label));
        }
    }
    inputs.sparse().skip(1).find_map(|(operand, b)| {
        let (rows, cols) = b.shape();
        let said = || format!("{} of {rows} x {cols} does not fit A of {m} x {k}", operand.label);
        (!fits(operand.rows, rows) || !fits(operand.cols, cols)).then(said)
    })
}

/// The verdict on a result that has not all elements, or whose elements are of another type.
fn misplaced(
    found: AnySlice<'_>,
    place: Place,
    (rows, cols): (usize, usize),
    arithmetic: &Arithmetic,
) -> Option<Verdict> {
    if found.precision() != arithmetic.out {
        let (wanted, got) = (arithmetic.out.name(), found.precision().name());
        return Some(shape(format!("the result is of {got}, {wanted} was declared")));
    }
    let fits = holds(place, (rows, cols), found.len());
    (!fits).then(|| shape(format!("the result is {rows} x {cols}, but has {} elements", found.len())))
}

/// True if the last element of a result lies within `len` elements; then all of them do.
fn holds(place: Place, (rows, cols): (usize, usize), len: usize) -> bool {
    let (Some(row), Some(col)) = (rows.checked_sub(1), cols.checked_sub(1)) else {
        return true;
    };
    let last = match place {
        Place::Strides(by_row, by_col) => {
            row.checked_mul(by_row).zip(col.checked_mul(by_col)).and_then(|(r, c)| r.checked_add(c))
        }
        Place::Visited => Some(row),
    };
    last.is_some_and(|last| last < len)
}

/// What the output held before, row-major without gaps; `None` if it is too short.
fn compact(before: AnySlice<'_>, place: Place, (rows, cols): (usize, usize)) -> Option<Vec<f64>> {
    if !holds(place, (rows, cols), before.len()) {
        return None;
    }
    let number = |at: usize| {
        let offset = place.offset((at / cols, at % cols), at);
        decode(before.bits(offset), before.precision())
    };
    Some((0..rows * cols).map(number).collect())
}

#[cfg(test)]
mod tests;
