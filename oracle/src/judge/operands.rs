//! What a case's result must be: operands decoded, the declared input rounding applied, ready for the oracle.

use crate::case::Case;
use crate::operands::{DenseOperand, Operands};
use crate::pads::pad_slots;
use crate::terms_apart::Apart;
use crate::arithmetic::{Arithmetic, Order, Pads, Slot};
use crate::contract::Op;
use crate::format::{AnySparse, Csr, Dense, Duplicates, Entries, Entry, FormatKind, Sparse};
use crate::judge::{Place, Problem, bcsr_slots, libra_spmm_slots, loops_slots, rs_tile_slots};
use crate::model::chain::Unit;
use crate::op::input;
use crate::prelude::*;
use crate::profile::{Choice, Profile};
use crate::refusal::Refusal;
use crate::scalar::{Precision, Rounding, Scalar, encode};
use crate::task::SddmmMode;
use std::collections::BTreeMap;

/// The operands of a product in exact numbers, as one declared arithmetic sees them.
#[derive(Debug)]
pub enum Exact {
    /// SpMM and SpMV.
    Spmm {
        /// op(A).
        a: Csr<f64>,
        /// Multiplied pads of op(A).
        pads: Option<Csr<()>>,
        /// op(B), row-major.
        b: Dense<f64>,
        /// Where a block layout puts the terms along k, if the declared unit takes more than one at a time or the declaration has
        /// two parts.
        slots: Option<Csr<Slot>>,
        /// Where each duplicate is a term of its own: the column of op(A) that each column of `a` stands for.
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

impl Exact {
    /// Decodes the operands of an arithmetic case. `None` for moves, which have no arithmetic.
    ///
    /// # Errors
    /// Duplicates where the profile rejects them.
    pub fn new(
        case: &Case,
        operands: &Operands,
        arithmetic: &Arithmetic,
        profile: &Profile,
    ) -> Result<Option<Exact>, Refusal> {
        let p = &case.params;
        let rounded = |v: f64| input(v, arithmetic.part().input);
        let stored = |a: &AnySparse| decoded(a, profile);
        let terms = |a: Csr<f64>| as_terms(a, profile).map(|a| a.map(|&v| rounded(v)));
        Ok(Some(match case.contract.op {
            Op::Spmm | Op::Spmv => {
                let b = dense(operands.b.as_ref(), p.transpose_b, rounded);
                if profile.has(Choice::DuplicatesAreTerms)
                    && let Some(apart) = Apart::of(&operands.a, p.transpose_a)?
                    && let Some(b) = apart.rows_of(&b)
                {
                    return Ok(Some(Exact::Spmm {
                        a: terms(apart.a)?,
                        pads: None,
                        b,
                        slots: None,
                        columns: Some(apart.columns),
                    }));
                }
                let entries = stored(&operands.a)?;
                // A pad that faces a number adds a zero, which shows only where bits are fixed.
                let shows = || arithmetic.is_deterministic() || b.data().iter().any(|v| !v.is_finite());
                let multiplied = arithmetic.part().pads == Pads::Multiplied && shows();
                let pads = multiplied.then(|| pad_slots(&operands.a, &entries));
                let turn = |e: Entries<f64>| if p.transpose_a { e.transpose() } else { e };
                let turn_pads = |e: Entries<()>| if p.transpose_a { e.transpose() } else { e };
                let pads = pads.map(|e| Csr::from_entries(&turn_pads(e))).transpose()?;
                let a = terms(Csr::from_entries(&turn(entries))?)?;
                let placed = arithmetic.parts.second().is_some()
                    || arithmetic.parts.iter().any(|part| part.block() > 1);
                let slots =
                    if placed && !p.transpose_a { slots(&operands.a, &a, pads.as_ref())? } else { None };
                Exact::Spmm { a, pads, b, slots, columns: None }
            }
            Op::Sddmm => Exact::Sddmm {
                positions: positions(&operands.a),
                x: dense(operands.b.as_ref(), false, rounded),
                y: dense(operands.y.as_ref(), false, rounded),
                factors: if p.mode == SddmmMode::Scale {
                    crate::operands::values_in_order(&operands.a)
                } else {
                    Vec::new()
                },
            },
            Op::Spgemm => {
                let Some(b) = &operands.b_sparse else {
                    return Ok(None);
                };
                let exact = |m: &AnySparse| terms(Csr::from_entries(&stored(m)?)?);
                Exact::Spgemm { a: exact(&operands.a)?, b: exact(b)? }
            }
            Op::Transpose | Op::Convert => return Ok(None),
        }))
    }

    /// Where element (i, j) is in a compact row-major array of the result.
    #[must_use]
    pub fn compact_place(&self) -> Place {
        Place::Strides(self.problem().shape().1, 1)
    }

    /// The declared arithmetic, weakened where the format does not fix the order of summation. Blocks of a matrix unit follow the stored
    /// blocks; where these cannot be matched to terms (Blocked-ELL, a transposed BCSR or hybrid), the order counts as free. Slots of
    /// N:M, 2:4 and V:N:M leave no gaps in a row or a column: their terms follow one another, pads among them.
    #[must_use]
    pub fn as_laid_out(&self, format: FormatKind, arithmetic: &Arithmetic) -> Arithmetic {
        let mut laid_out = *arithmetic;
        let gapless = matches!(format, FormatKind::Nm | FormatKind::TwoFour | FormatKind::Vnm);
        let untold = matches!(self, Exact::Spmm { slots: None, .. }) && format.has_pads() && !gapless;
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
            Exact::Spmm { columns: Some(columns), .. } => columns.get(at as usize).copied().unwrap_or(at),
            _ => at,
        }
    }

    /// Borrows as the oracle's problem.
    #[must_use]
    pub fn problem(&self) -> Problem<'_> {
        match self {
            Exact::Spmm { a, pads, b, slots, .. } => {
                Problem::Spmm { a, pads: pads.as_ref(), b, slots: slots.as_ref() }
            }
            Exact::Sddmm { positions, x, y, factors } => Problem::Sddmm { positions, x, y, factors },
            Exact::Spgemm { a, b } => Problem::Spgemm { a, b },
        }
    }
}

/// The oracle's own result of a conversion or transpose.
///
/// # Errors
/// When the target format can't hold the matrix, or the profile rejects duplicates.
pub fn moved(case: &Case, operands: &Operands, profile: &Profile) -> Result<AnySparse, Refusal> {
    let policy = duplicates_policy(profile);
    let kind = case.contract.to.unwrap_or(case.contract.format);
    crate::each_sparse!(&operands.a, m => {
        if case.contract.op == Op::Transpose {
            return crate::convert::transpose(m).map(AnySparse::from);
        }
        let entries = match m {
            Sparse::Coo(m) => m.entries_with(policy)?,
            other => other.entries(),
        };
        Sparse::from_entries(kind, case.params.blocks, &entries).map(AnySparse::from)
    })
}

/// The positions of the result whose operand is stored more than once, and bits that are right there besides the expected ones: none, or for
/// a profile that adds duplicates in any order, every order of adding up to five of them, each addition rounded.
#[must_use]
pub fn summed_positions(
    case: &Case,
    operands: &Operands,
    profile: &Profile,
) -> BTreeMap<(u32, u32), Vec<u64>> {
    let any_order = profile.has(Choice::DuplicatesSumAnyOrder);
    let transposed = case.contract.op == Op::Transpose;
    let placed = |row: u32, col: u32| if transposed { (col, row) } else { (row, col) };
    let precision = operands.a.precision();
    let orders = |group: &[f64]| {
        if any_order && group.len() <= 5 { all_orders(group, precision) } else { Vec::new() }
    };
    crate::each_sparse!(&operands.a, m => match m {
        Sparse::Coo(m) => {
            let mut groups: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
            for ((&row, &col), v) in m.row_idx.iter().zip(&m.col_idx).zip(&m.values) {
                groups.entry(placed(row, col)).or_default().push(v.to_f64());
            }
            groups.retain(|_, group| group.len() > 1);
            groups.into_iter().map(|(at, group)| (at, orders(&group))).collect()
        }
        _ => BTreeMap::new(),
    })
}

/// Left-to-right rounded sums over all orders of a few values.
fn all_orders(values: &[f64], precision: Precision) -> Vec<u64> {
    fn visit(sum: Option<f64>, rest: &[f64], unit: Unit, found: &mut Vec<u64>) {
        if rest.is_empty() {
            found.extend(sum.map(|s| encode(s, unit.precision, Rounding::NearestEven)));
        }
        for i in 0..rest.len() {
            let mut left = rest.to_vec();
            let next = left.remove(i);
            visit(Some(sum.map_or(next, |s| unit.add(s, next))), &left, unit, found);
        }
    }
    let mut found = Vec::new();
    visit(None, values, Unit { precision }, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

/// What a backend's profile makes of duplicates where they are combined to one value; those that are terms of their own in a product are
/// combined nowhere else.
#[must_use]
pub fn duplicates_policy(profile: &Profile) -> Duplicates {
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

/// Entries in exact numbers, duplicates combined as the profile says.
fn decoded(a: &AnySparse, profile: &Profile) -> Result<Entries<f64>, Refusal> {
    crate::each_sparse!(a, m => {
        let entries = match m {
            Sparse::Coo(m) => m.entries_with(duplicates_policy(profile))?,
            other => other.entries(),
        };
        Ok(entries.map(|v| v.to_f64()))
    })
}

/// The entries that a product has terms for: all, or without the zeros among them.
fn as_terms(a: Csr<f64>, profile: &Profile) -> Result<Csr<f64>, Refusal> {
    if !profile.has(Choice::StoredZerosAbsent) {
        return Ok(a);
    }
    let mut entries = a.entries();
    entries.list.retain(|e| e.value != 0.0);
    Csr::from_entries(&entries)
}

/// Stored positions in storage order, duplicates included.
fn positions(a: &AnySparse) -> Vec<(u32, u32)> {
    crate::each_sparse!(a, m => match m {
        Sparse::Coo(m) => m.row_idx.iter().copied().zip(m.col_idx.iter().copied()).collect(),
        other => other.entries().list.iter().map(|e| (e.row, e.col)).collect(),
    })
}

/// op(operand), compact row-major, each element through `f`.
fn dense(operand: Option<&DenseOperand>, transpose: bool, f: impl Fn(f64) -> f64) -> Dense<f64> {
    match operand {
        None => Dense::from_fn(0, 0, |_, _| 0.0),
        Some(o) if transpose => Dense::from_fn(o.cols, o.rows, |i, j| f(o.at(j, i))),
        Some(o) => Dense::from_fn(o.rows, o.cols, |i, j| f(o.at(i, j))),
    }
}

/// The slots of every entry and multiplied pad, where the stored format has blocks.
fn slots(stored: &AnySparse, a: &Csr<f64>, pads: Option<&Csr<()>>) -> Result<Option<Csr<Slot>>, Refusal> {
    let mut list: Vec<Entry<()>> = a.map(|_| ()).entries().list;
    list.extend(pads.iter().flat_map(|pads| pads.entries().list));
    list.sort_unstable_by_key(|e| (e.row, e.col));
    let (rows, cols) = (a.rows, a.cols);
    let positions = Csr::from_entries(&Entries { rows, cols, list })?;
    Ok(crate::each_sparse!(stored, m => match m {
        Sparse::Bcsr(m) => bcsr_slots(m, &positions),
        Sparse::Loops(m) => loops_slots(m, &positions),
        Sparse::RsTile(m) => rs_tile_slots(m, &positions),
        Sparse::LibraSpmm(m) => libra_spmm_slots(m, &positions),
        _ => None,
    }))
}
