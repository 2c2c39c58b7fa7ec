//! What the operands of a task mean: decoded to exact numbers, the declared input rounding applied, ready to be summed.
//!
//! ```text
//! inputs (stored formats, layouts, transposes) + declaration (input rounding, pads, duplicates)
//!     -> op(A) as CSR, op(B) row-major, multiplied pads, places along k   -> Problem
//! ```

use super::accepted::Accepted;
use super::exact_dense::ExactDense;
use super::inputs_apart::InputsApart;
use super::output::Place;
use super::pads::pad_slots;
use super::problem::{ElementInput, Problem};
use super::row::MergedRow;
use super::rule::Rule;
use super::terms_apart::Apart;
use crate::arithmetic::{Along, Arithmetic, Epilogue, Input, Order, Pads, Slot};
use crate::contract::Op;
use crate::format::{AnySparse, Csr, CsrParts, Dense, Duplicates, Entries, FormatKind, Layout, Sparse};
use crate::op::{DenseRows, input};
use crate::prelude::*;
use crate::profile::{Choice, Profile};
use crate::refusal::{Refusal, RequestError, check_u32};
use crate::scalar::{AnySlice, Precision, Scalar};
use crate::task::{DenseRef, Inputs, SddmmMode};
use rayon::prelude::*;
use std::borrow::Cow;

/// Elements of a piece of B.
const PIECE: usize = 1 << 14;

/// The operands of a product in exact numbers, as one declared arithmetic sees them.
#[derive(Debug)]
pub enum ExactOperands<'a> {
    /// SpMM and SpMV.
    Spmm {
        /// op(A).
        a: Cow<'a, Csr<f64>>,
        /// Multiplied pads of op(A).
        pads: Option<Csr<()>>,
        /// op(B), in rows.
        b: ExactDense<'a>,
        /// Where a block layout puts the terms along k, if the declared unit takes more than one at a time or the declaration has
        /// two parts.
        slots: Option<Csr<Slot>>,
        /// Where each duplicate is a term of its own, or the parts of a hybrid round their operands differently: the column of op(A) that
        /// each column of `a` stands for.
        columns: Option<Vec<u32>>,
    },
    /// SDDMM.
    Sddmm {
        /// Stored positions in storage order.
        positions: Vec<(u32, u32)>,
        /// X, row-major.
        x: Dense<f64>,
        /// Y, row-major.
        y: Dense<f64>,
        /// Values of S where they multiply, else empty.
        factors: Vec<f64>,
    },
    /// SpGEMM.
    Spgemm {
        /// Left operand.
        a: Csr<f64>,
        /// Right operand.
        b: Csr<f64>,
    },
}

/// What is beside an element that is visited.
#[derive(Clone, Copy, Debug)]
pub struct ElementContext {
    /// Its number.
    pub number: usize,
    /// What C held there.
    pub held: f64,
    /// The bits of the result, where there is one.
    pub found: Option<u64>,
}

/// What exact operands depend on besides the task: declarations that agree in this share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Stored elements are rounded to this.
    input: Input,
    /// Those of the rest of a hybrid to this, where it is another one.
    input_of_rest: Option<Input>,
    /// Pads are multiplied.
    multiplies_pads: bool,
    /// Pads are multiplied and count even where B is finite: bits are fixed, so that the zero that a pad adds may show, or the bound counts
    /// blocks or ranges of terms, pads among them, or B is rounded by parts, which may make an element infinite.
    pads_count: bool,
    /// The accumulator's type that alpha * b is formed in, where alpha goes into B: a pad multiplies an overflow then, too.
    scales_b_in: Option<Precision>,
    /// Places along k matter.
    is_placed: bool,
    duplicates_are_terms: bool,
    duplicates: Duplicates,
    zeros_are_absent: bool,
}

impl Reading {
    pub(super) fn of(arithmetic: &Arithmetic, profile: &Profile) -> Reading {
        let multiplies_pads = arithmetic.part().pads == Pads::Multiplied;
        let input_of_rest = arithmetic.input_of_rest();
        let has_blocks = arithmetic.parts.iter().any(|part| part.block() > 1);
        let has_ranges = arithmetic.parts.iter().any(|part| part.along != Along::Chain);
        Reading {
            input: arithmetic.part().input,
            input_of_rest,
            multiplies_pads,
            pads_count: multiplies_pads
                && (arithmetic.is_deterministic() || has_blocks || has_ranges || input_of_rest.is_some()),
            scales_b_in: (arithmetic.epilogue == Epilogue::AlphaIntoB).then_some(arithmetic.part().acc),
            is_placed: arithmetic.parts.second().is_some() || has_blocks,
            duplicates_are_terms: profile.has(Choice::DuplicatesAreTerms),
            duplicates: duplicates_policy(profile),
            zeros_are_absent: profile.has(Choice::StoredZerosAbsent),
        }
    }

    /// Of a transposed matrix every entry counts as one of the rest.
    fn of_rest(self) -> Reading {
        Reading { input: self.input_of_rest.unwrap_or(self.input), input_of_rest: None, ..self }
    }

    /// What all operands are rounded to as they are read; nothing where the parts of a hybrid do so later.
    fn input_of_all(self) -> Input {
        if self.input_of_rest.is_some() { Input::AsStored } else { self.input }
    }
}

impl<'a> ExactOperands<'a> {
    /// Decodes the operands of a task. `None` for moves, which have no arithmetic.
    ///
    /// # Errors
    /// Duplicates where the profile rejects them; more columns than an index can count.
    pub fn new(
        inputs: &Inputs<'a>,
        arithmetic: &Arithmetic,
        profile: &Profile,
    ) -> Result<Option<ExactOperands<'a>>, Refusal> {
        ExactOperands::read(inputs, Reading::of(arithmetic, profile))
    }

    /// [`new`](Self::new), by what it depends on.
    pub(super) fn read(inputs: &Inputs<'a>, reading: Reading) -> Result<Option<ExactOperands<'a>>, Refusal> {
        let reading =
            if inputs.transpose_a || !inputs.a.kind().has_two_parts() { reading.of_rest() } else { reading };
        let rounded = |v: f64| input(v, reading.input);
        let terms = |a: &AnySparse| Csr::from_entries(&decoded(a, reading)?);
        let missing = |field| Refusal::Request(RequestError::Missing { field });
        Ok(Some(match inputs.op {
            Op::Spmm | Op::Spmv => {
                let b =
                    exact_dense(inputs.b.ok_or(missing("B"))?, inputs.transpose_b, reading.input_of_all())?;
                ExactOperands::of_spmm((inputs.a, inputs.transpose_a), (b, inputs.alpha), reading)?
            }
            Op::Sddmm => ExactOperands::Sddmm {
                positions: positions(inputs.a),
                x: dense(inputs.b.ok_or(missing("X"))?, false, rounded)?,
                y: dense(inputs.y.ok_or(missing("Y"))?, false, rounded)?,
                factors: match inputs.mode {
                    SddmmMode::Scale => values_in_order(inputs.a),
                    SddmmMode::Pattern | SddmmMode::AddS => Vec::new(),
                },
            },
            Op::Spgemm => ExactOperands::Spgemm {
                a: terms(inputs.a)?.map(|&v| rounded(v)),
                b: terms(inputs.b_sparse.ok_or(missing("B"))?)?.map(|&v| rounded(v)),
            },
            Op::Transpose | Op::Convert => return Ok(None),
        }))
    }

    /// SpMM, with one column SpMV; `b` is op(B), rounded as declared where that is the same for all terms.
    fn of_spmm(
        (stored, transpose_a): (&'a AnySparse, bool),
        (b, alpha): (ExactDense<'a>, f64),
        reading: Reading,
    ) -> Result<ExactOperands<'a>, Refusal> {
        let rounds = reading.input_of_all() != Input::AsStored;
        let rounded = |a: Csr<f64>| if rounds { a.map(|&v| input(v, reading.input)) } else { a };
        if reading.duplicates_are_terms
            && let Some(apart) = Apart::of(stored, transpose_a)?
            && let Some(b) = apart.rows_of(&b)
        {
            let Apart { a, columns } = apart;
            let a = match reading.zeros_are_absent {
                true => Csr::from_entries(&as_terms(a.entries(), reading))?,
                false => a,
            };
            let (a, columns) = (Cow::Owned(rounded(a)), Some(columns));
            return Ok(ExactOperands::Spmm { a, pads: None, b, slots: None, columns });
        }
        let may_overflow = |acc: Precision| b.largest() * alpha.abs() >= acc.spec().max_finite() / 2.0;
        let shows = || !b.is_finite() || reading.scales_b_in.is_some_and(may_overflow);
        let multiplied = reading.multiplies_pads && (reading.pads_count || shows());
        let is_as_stored = !transpose_a && !multiplied && !reading.zeros_are_absent;
        let as_stored = if is_as_stored { as_csr(stored) } else { None };
        let (a, pads) = if let Some(a) = as_stored {
            (a, None)
        } else {
            let entries = decoded(stored, reading)?;
            // What is absent leaves its slot to a pad.
            let pads = multiplied.then(|| pad_slots(stored, &entries));
            let turn_pads = |e: Entries<()>| if transpose_a { e.transpose() } else { e };
            let pads = pads.map(|e| Csr::from_entries(&turn_pads(e))).transpose()?;
            let entries = if transpose_a { entries.transpose() } else { entries };
            (Cow::Owned(Csr::from_entries(&entries)?), pads)
        };
        let a = if rounds { Cow::Owned(rounded(a.into_owned())) } else { a };
        let placed = reading.is_placed && !transpose_a;
        let slots = if placed { slots(stored, &a, pads.as_ref())? } else { None };
        if let (Some(of_rest), Some(slots)) = (reading.input_of_rest, &slots) {
            let InputsApart { a, pads, b, slots, columns } =
                InputsApart::of((&a, pads.as_ref(), slots), &b, (reading.input, of_rest))?;
            let (a, slots, columns) = (Cow::Owned(a), Some(slots), Some(columns));
            return Ok(ExactOperands::Spmm { a, pads, b, slots, columns });
        }
        Ok(ExactOperands::Spmm { a, pads, b, slots, columns: None })
    }

    /// Where element (i, j) is in a compact array of the result: row-major, or one value for each stored position.
    #[must_use]
    pub fn compact_place(&self) -> Place {
        if self.is_by_number() { Place::Visited } else { Place::Strides(self.problem().shape().1, 1) }
    }

    /// True where the result is a list of values, one for each position of a pattern.
    #[must_use]
    pub fn is_by_number(&self) -> bool {
        matches!(self, ExactOperands::Sddmm { .. })
    }

    /// Visits what every element may be, in the order of the problem, with its number and what C held there; `c` is compact. With a
    /// result its bits are shown too.
    ///
    /// # Errors
    /// Operands that do not fit together; nothing is visited then.
    pub fn for_each_accepted(
        &self,
        (arithmetic, profile): (&Arithmetic, &Profile),
        scalars: (f64, f64),
        (c, result): (Option<&[f64]>, Option<(AnySlice<'_>, Place)>),
        visit: &mut dyn FnMut(&ElementInput<'_>, ElementContext, Accepted),
    ) -> Result<(), Refusal> {
        let (problem, place) = (self.problem(), self.compact_place());
        let mut rule = Rule::of(&problem, (arithmetic, profile), scalars);
        let mut number = 0;
        problem.for_each(&mut |site| {
            let held = c.and_then(|c| c.get(place.offset(site.at, number))).copied().unwrap_or(0.0);
            let found = result.map(|(found, place)| found.bits(place.offset(site.at, number)));
            visit(site, ElementContext { number, held, found }, rule.accepts(site, held));
            number += 1;
        })
    }

    /// The declared arithmetic, weakened where the format does not fix the order of summation. Blocks of a matrix unit follow the stored
    /// blocks; where these cannot be matched to terms (Blocked-ELL, a transposed BCSR or hybrid), the order counts as free. Slots of
    /// N:M, 2:4 and V:N:M leave no gaps in a row or a column: their terms follow one another, pads among them.
    #[must_use]
    pub fn as_laid_out(&self, format: FormatKind, arithmetic: &Arithmetic) -> Arithmetic {
        let mut laid_out = *arithmetic;
        let gapless = matches!(format, FormatKind::Nm | FormatKind::TwoFour | FormatKind::Vnm);
        let untold = matches!(self, ExactOperands::Spmm { slots: None, .. }) && format.has_pads() && !gapless;
        let asked = arithmetic.part().block() > 1 || arithmetic.parts.second().is_some();
        if untold && asked {
            laid_out.part_mut().order = Order::Free;
        }
        laid_out
    }

    /// The column of op(A) that column `at` of the problem stands for.
    #[must_use]
    pub fn column(&self, at: u32) -> u32 {
        match self {
            ExactOperands::Spmm { columns: Some(columns), .. } => {
                columns.get(at as usize).copied().unwrap_or(at)
            }
            _ => at,
        }
    }

    /// Borrows as the oracle's problem.
    #[must_use]
    pub fn problem(&self) -> Problem<'_> {
        match self {
            ExactOperands::Spmm { a, pads, b, slots, .. } => {
                Problem::Spmm { a, pads: pads.as_ref(), b, slots: slots.as_ref() }
            }
            ExactOperands::Sddmm { positions, x, y, factors } => Problem::Sddmm { positions, x, y, factors },
            ExactOperands::Spgemm { a, b } => Problem::Spgemm { a, b },
        }
    }
}

/// How a backend's profile combines duplicates into one value. Those that are terms of their own (`duplicates-are-terms`, which only
/// products can declare) are not combined.
#[must_use]
pub(super) fn duplicates_policy(profile: &Profile) -> Duplicates {
    if profile.has(Choice::DuplicatesSumRounded) {
        Duplicates::SumRounded
    } else if profile.has(Choice::DuplicatesLastWins) {
        Duplicates::LastWins
    } else if profile.has(Choice::DuplicatesRejected) {
        Duplicates::Reject
    } else {
        Duplicates::SumExact
    }
}

/// What is stored as CSR, in exact numbers; where it is stored in f64, where it is.
fn as_csr(a: &AnySparse) -> Option<Cow<'_, Csr<f64>>> {
    if let AnySparse::F64(Sparse::Csr(m)) = a {
        return Some(Cow::Borrowed(m));
    }
    crate::each_sparse!(a, m => match m {
        Sparse::Csr(m) => Some(Cow::Owned(m.map(|v| v.to_f64()))),
        _ => None,
    })
}

/// The entries that a product has terms for, in exact numbers, duplicates combined as the profile says.
fn decoded(a: &AnySparse, reading: Reading) -> Result<Entries<f64>, Refusal> {
    crate::each_sparse!(a, m => {
        let entries = match m {
            Sparse::Coo(m) => m.entries_with(reading.duplicates)?,
            other => other.entries(),
        };
        Ok(as_terms(entries.map(|v| v.to_f64()), reading))
    })
}

/// All entries, or those that are not zero.
fn as_terms(mut entries: Entries<f64>, reading: Reading) -> Entries<f64> {
    entries.list.retain(|e| !reading.zeros_are_absent || e.value != 0.0);
    entries
}

/// Stored positions in storage order, duplicates included.
fn positions(a: &AnySparse) -> Vec<(u32, u32)> {
    crate::each_sparse!(a, m => match m {
        Sparse::Coo(m) => m.row_idx.iter().copied().zip(m.col_idx.iter().copied()).collect(),
        other => other.entries().list.iter().map(|e| (e.row, e.col)).collect(),
    })
}

/// Stored values in storage order, duplicates included.
#[must_use]
pub fn values_in_order(a: &AnySparse) -> Vec<f64> {
    crate::each_sparse!(a, m => match m {
        Sparse::Coo(m) => m.values.iter().map(|v| v.to_f64()).collect(),
        other => other.entries().list.iter().map(|e| e.value.to_f64()).collect(),
    })
}

/// op(B), where it is stored if that is in rows, in f32 or f64, and nothing is rounded; what is not stored as f64 fits into f32, and so
/// does what that is rounded to.
fn exact_dense(operand: DenseRef<'_>, transpose: bool, rounding: Input) -> Result<ExactDense<'_>, Refusal> {
    let (rows, cols, is_by_row) = turned(&operand, transpose);
    let extents = (rows, cols, operand.ld);
    let as_stored = match operand.data {
        _ if !is_by_row || rounding != Input::AsStored => None,
        AnySlice::F64(data) => DenseRows::borrowed(extents, data).map(ExactDense::Wide),
        AnySlice::F32(data) => DenseRows::borrowed(extents, data).map(ExactDense::Narrow),
        _ => None,
    };
    let rounded = |v: f64| input(v, rounding);
    match (as_stored, operand.data) {
        (Some(b), _) => Ok(b),
        (None, AnySlice::F64(_)) => Ok(dense(operand, transpose, rounded)?.into()),
        (None, _) => Ok(dense(operand, transpose, |v| rounded(v) as f32)?.into()),
    }
}

/// Rows and columns of op(operand), and whether its rows lie together.
fn turned(operand: &DenseRef<'_>, transpose: bool) -> (usize, usize, bool) {
    let &DenseRef { rows, cols, layout, .. } = operand;
    let (rows, cols) = if transpose { (cols, rows) } else { (rows, cols) };
    (rows, cols, (layout == Layout::RowMajor) != transpose)
}

/// op(operand), compact row-major, each element through `f`; pieces of rows side by side.
fn dense<L: Copy + Default + Send>(
    operand: DenseRef<'_>,
    transpose: bool,
    f: impl Fn(f64) -> L + Sync,
) -> Result<Dense<L>, Refusal> {
    let DenseRef { ld, data, .. } = operand;
    let (rows, cols, is_by_row) = turned(&operand, transpose);
    let mut to = vec![L::default(); rows * cols];
    crate::each_precision!(AnySlice, data, data => {
        let fill = |(i, row): (usize, &mut [L])| {
            if is_by_row {
                row.iter_mut().zip(&data[i * ld..]).for_each(|(to, v)| *to = f(v.to_f64()));
            } else {
                row.iter_mut().enumerate().for_each(|(j, to)| *to = f(data[j * ld + i].to_f64()));
            }
        };
        let at_once = PIECE.div_ceil(cols.max(1));
        to.par_chunks_mut(cols.max(1)).enumerate().with_min_len(at_once).for_each(fill);
    });
    Dense::try_new(rows, cols, cols, Layout::RowMajor, to)
}

/// The slots of every entry and multiplied pad, where the stored format has blocks.
fn slots(stored: &AnySparse, a: &Csr<f64>, pads: Option<&Csr<()>>) -> Result<Option<Csr<Slot>>, Refusal> {
    let (rows, cols) = (a.rows, a.cols);
    let (mut row_ptr, mut col_idx, mut merged) = (vec![0], Vec::new(), MergedRow::default());
    for i in 0..rows {
        merged.fill(a.row(i), pads.map_or(&[], |pads| pads.row(i).0));
        col_idx.extend_from_slice(&merged.cols);
        row_ptr.push(check_u32("positions of entries and pads", col_idx.len() as u128)?);
    }
    let values = vec![(); col_idx.len()];
    let positions = Csr::try_new(CsrParts { rows, cols, row_ptr, col_idx, values })?;
    Ok(crate::each_sparse!(stored, m => m.along_k(&positions)))
}

#[cfg(test)]
mod tests;
