//! Sparse results: conversions and transposes, bit for bit, and the pattern and values of SpGEMM.

use super::output::{Output, Place};
use super::problem::Problem;
use super::rule::Rule;
use super::tally::{Judged, judge_problem};
use crate::arithmetic::Arithmetic;
use crate::format::{AnySparse, Csr, FormatKind, FormatParams, Sparse};
use crate::prelude::*;
use crate::profile::{Choice, Profile};
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Precision, Scalar};
use crate::task::RawSparse;
use crate::verdict::{Defect, Mismatch, Verdict, WrongElements};
use std::collections::BTreeMap;

/// One stored element with its bits.
pub(super) type BitEntry = (u32, u32, u64);

/// The bits that are right for the sum at a position, by position.
pub type Sums = BTreeMap<(u32, u32), Vec<u64>>;

/// Judges a conversion or transpose: `expected` is the oracle's own encoding of the result.
///
/// The arrays must be a valid encoding of the right kind, shape and element type, decode to the same positions with
/// the same bits, and, where a format has one canonical encoding (all but COO), be that encoding. A COO result stores
/// a position twice only where the operand did (the keys of `summed`); the bits listed there are right besides.
#[must_use]
pub fn judge_moved(expected: &AnySparse, found: RawSparse, profile: &Profile, summed: &Sums) -> Verdict {
    if let Err(mismatch) = same_kind(expected.kind(), expected.shape(), expected.precision(), frame(&found)) {
        return Verdict::Wrong(mismatch);
    }
    let canonical = RawSparse::of(expected.clone());
    if matches!(found.kind, FormatKind::Bcsr | FormatKind::BlockedEll) && found.params != canonical.params {
        let (wanted, got) = (canonical.params, found.params);
        let message = format!(
            "expected blocks of {}x{}, found {}x{}",
            wanted.block_rows, wanted.block_cols, got.block_rows, got.block_cols
        );
        return wrong(Defect::Shape, message);
    }
    let same_arrays = found.kind == FormatKind::Coo
        || (&found.offsets, &found.indices) == (&canonical.offsets, &canonical.indices);
    let found = match found.check() {
        Ok(found) => found,
        Err(refusal) => return wrong(Defect::Structure, format!("not a valid encoding: {refusal}")),
    };
    if let Some(mismatch) = repeated(&found, summed) {
        return Verdict::Wrong(Box::new(mismatch));
    }
    let got = bit_entries(&found);
    let drops = profile.has(Choice::ExplicitZerosDropped);
    let value = |bits: u64| crate::scalar::decode(bits, expected.precision());
    let is_dropped = |bits: u64| drops && value(bits) == 0.0;
    let is_absent = |bits: u64| is_dropped(bits) || expected.kind().pads_with_zeros() && bits == 0;
    let is_nan = |bits: u64| value(bits).is_nan();
    let mut wanted = settled(bit_entries(expected), (summed, &got), is_nan, is_absent);
    let all = wanted.len();
    wanted.retain(|e| !is_dropped(e.2) || bits_at(&got, (e.0, e.1)).is_some());
    let is_smaller = || drops && (wanted.len() < all || is_canonical(&found, canonical.params));
    match compare(expected.shape(), &wanted, &got) {
        Some(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        None if !same_arrays && !is_smaller() => wrong(
            Defect::Structure,
            "decodes to the right matrix, but is not the format's canonical encoding (order, width or padding differ)"
                .to_owned(),
        ),
        None => Verdict::Exact,
    }
}

/// The bits at a position, of entries in order.
fn bits_at(entries: &[BitEntry], at: (u32, u32)) -> Option<u64> {
    entries.binary_search_by_key(&at, |e| (e.0, e.1)).ok().map(|place| entries[place].2)
}

/// The entries wanted, where each listed sum that the result has is what is wanted there; a sum that need not be stored may be missing.
fn settled(
    wanted: Vec<BitEntry>,
    (summed, got): (&Sums, &[BitEntry]),
    is_nan: impl Fn(u64) -> bool,
    is_absent: impl Fn(u64) -> bool,
) -> Vec<BitEntry> {
    if summed.is_empty() {
        return wanted;
    }
    let mut wanted: BTreeMap<(u32, u32), u64> = wanted.into_iter().map(|w| ((w.0, w.1), w.2)).collect();
    for (&at, sums) in summed {
        match bits_at(got, at) {
            Some(bits) => {
                let mut right = wanted.get(&at).into_iter().chain(sums);
                let is_right = |&right: &u64| right == bits || is_nan(right) && is_nan(bits);
                if right.any(is_right) {
                    wanted.insert(at, bits);
                }
            }
            None if sums.iter().any(|&sum| is_absent(sum)) => {
                wanted.remove(&at);
            }
            None => {}
        }
    }
    wanted.into_iter().map(|((row, col), bits)| (row, col, bits)).collect()
}

/// True where a result is the canonical encoding of what it stores, in blocks of these shapes.
fn is_canonical(found: &AnySparse, params: FormatParams) -> bool {
    crate::each_sparse!(found, m => {
        let again = Sparse::from_entries(m.kind(), params, &m.entries());
        again.is_ok_and(|again| {
            let [again, found] = [again, m.clone()].map(|m| RawSparse::of(AnySparse::from(m)));
            (again.offsets, again.indices) == (found.offsets, found.indices)
        })
    })
}

/// Judges `A * B`: structure, pattern, then every value by T0, T1 and T2.
#[must_use]
pub fn judge_spgemm(
    problem: &Problem<'_>,
    arithmetic: &Arithmetic,
    profile: &Profile,
    kind: FormatKind,
    found: RawSparse,
) -> Judged {
    let positions = || {
        let rule = Rule::of(problem, (arithmetic, profile), (1.0, 0.0));
        let mut positions: Vec<Structural> = Vec::new();
        problem.for_each(&mut |site| {
            let at = (site.at.0 as u32, site.at.1 as u32);
            positions.push(Structural { at, may_be_missing: rule.may_be_missing(site) });
        })?;
        Ok(positions)
    };
    let of_values = |values: AnySlice<'_>| {
        let output = Output {
            found: values,
            place: Place::Visited,
            poison: None,
            before: None,
            before_place: Place::Visited,
        };
        judge_problem(problem, arithmetic, profile, (1.0, 0.0), &output)
    };
    judge_sparse((problem.shape(), arithmetic.out, kind), profile, found, positions, of_values)
}

/// A position that products reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Structural {
    pub(super) at: (u32, u32),
    /// All of them have an operand that may be read as zero and absent (clause 1.2).
    pub(super) may_be_missing: bool,
}

/// Judges a sparse result of a shape, element type and format; `positions` are those that it must have, and `of_values` judges the
/// values found there.
pub(super) fn judge_sparse(
    (shape, out, kind): ((usize, usize), Precision, FormatKind),
    profile: &Profile,
    mut found: RawSparse,
    positions: impl FnOnce() -> Result<Vec<Structural>, Refusal>,
    of_values: impl FnOnce(AnySlice<'_>) -> Judged,
) -> Judged {
    if let Err(mismatch) = same_kind(kind, shape, out, frame(&found)) {
        return Judged::only(Verdict::Wrong(mismatch));
    }
    if profile.has(Choice::Unsorted) {
        sort_lanes(&mut found);
    }
    let found = match found.check() {
        Ok(found) => found,
        Err(refusal) => {
            return Judged::only(wrong(Defect::Structure, format!("not a valid encoding: {refusal}")));
        }
    };
    let got = bit_entries(&found);
    let positions = match positions() {
        Ok(positions) => positions,
        Err(refusal) => {
            let reason = format!("the oracle cannot form the expected result: {refusal}");
            return Judged::only(Verdict::NotRun { reason });
        }
    };
    let values = match align(shape, &positions, &got, profile.has(Choice::NumericPattern)) {
        Ok(values) => values,
        Err(mismatch) => return Judged::only(Verdict::Wrong(mismatch)),
    };
    let found = crate::with_scalar!(out, T => {
        <T as crate::scalar::Element>::wrap(values.into_iter().map(T::from_bits64).collect())
    });
    of_values(found.as_slice())
}

pub(super) fn wrong(defect: Defect, message: String) -> Verdict {
    Verdict::Wrong(Box::new(Mismatch::plain(defect, message)))
}

/// Format, shape and element type that arrays claim to be of.
fn frame(found: &RawSparse) -> (FormatKind, (usize, usize), Precision) {
    (found.kind, (found.rows, found.cols), found.values.precision())
}

pub(super) fn same_kind(
    kind: FormatKind,
    shape: (usize, usize),
    precision: Precision,
    found: (FormatKind, (usize, usize), Precision),
) -> Result<(), Box<Mismatch>> {
    let expected = format!("{} {}x{} of {precision}", kind.name(), shape.0, shape.1);
    let (found_kind, found_shape, found_precision) = found;
    let got = format!("{} {}x{} of {found_precision}", found_kind.name(), found_shape.0, found_shape.1);
    if expected == got {
        return Ok(());
    }
    Err(Box::new(Mismatch {
        expected: expected.clone(),
        found: got.clone(),
        ..Mismatch::plain(Defect::Shape, format!("expected {expected}, found {got}"))
    }))
}

/// A position that COO stores twice, though the operand did not: decoding would sum it away.
fn repeated(found: &AnySparse, summed: &Sums) -> Option<Mismatch> {
    crate::each_sparse!(found, m => {
        let Sparse::Coo(coo) = m else { return None };
        let mut stored: Vec<(u32, u32)> = coo.row_idx.iter().copied().zip(coo.col_idx.iter().copied()).collect();
        stored.sort_unstable();
        let twice = stored.windows(2).find(|w| w[0] == w[1] && !summed.contains_key(&w[0]))?[0];
        let message = format!("position ({}, {}) is stored more than once", twice.0, twice.1);
        Some(Mismatch {
            at: Some((twice.0 as usize, twice.1 as usize)),
            ..Mismatch::plain(Defect::Pattern, message)
        })
    })
}

/// Positions in row order with their bits.
pub(super) fn bit_entries(matrix: &AnySparse) -> Vec<BitEntry> {
    crate::each_sparse!(matrix, m => {
        m.entries().list.iter().map(|e| (e.row, e.col, e.value.bits64())).collect()
    })
}

/// The first difference, if any, and where all of them are in a matrix of this shape.
pub(super) fn compare(shape: (usize, usize), wanted: &[BitEntry], got: &[BitEntry]) -> Option<Mismatch> {
    let at = wanted.iter().zip(got).position(|(w, g)| w != g);
    let at = at.or((wanted.len() != got.len()).then(|| wanted.len().min(got.len())))?;
    let show = |e: Option<&BitEntry>| {
        e.map_or("nothing".to_owned(), |e| format!("({}, {}) = 0x{:x}", e.0, e.1, e.2))
    };
    let (w, g) = (wanted.get(at), got.get(at));
    let same_position = w.map(|e| (e.0, e.1)) == g.map(|e| (e.0, e.1));
    let defect = if same_position { Defect::Value } else { Defect::Pattern };
    let message = format!("stored entry {at}: expected {}, found {}", show(w), show(g));
    Some(Mismatch {
        // The earlier of the two: the other list has that position later, or not at all.
        at: w.into_iter().chain(g).map(|e| (e.0 as usize, e.1 as usize)).min(),
        expected: show(w),
        expected_bits: w.map(|e| e.2),
        found: show(g),
        found_bits: g.map(|e| e.2),
        ..at_all(shape, differing(wanted, got), Mismatch::plain(defect, message))
    })
}

/// The positions that only one of two lists in row order has, or that have other bits in the other.
fn differing(wanted: &[BitEntry], got: &[BitEntry]) -> Vec<(usize, usize)> {
    let (mut w, mut g) = (wanted.iter().peekable(), got.iter().peekable());
    let mut places = Vec::new();
    while let Some(at) = w.peek().into_iter().chain(g.peek()).map(|e| (e.0, e.1)).min() {
        let [w, g] = [&mut w, &mut g].map(|list| list.next_if(|e| (e.0, e.1) == at));
        if w != g {
            places.push((at.0 as usize, at.1 as usize));
        }
    }
    places
}

/// A difference that stands for those at all these places of a matrix of this shape.
fn at_all(
    shape: (usize, usize),
    places: impl IntoIterator<Item = (usize, usize)>,
    mismatch: Mismatch,
) -> Mismatch {
    let wrong = WrongElements::of(shape, places);
    let count = wrong.as_ref().map_or(1, |wrong| wrong.count);
    Mismatch { count, elements: wrong.map(Box::new), ..mismatch }
}

/// The bits at each structural position; a missing one reads as +0 if it may be missing, as all may if `numeric`. Any other is a pattern
/// defect, as is a position that no product reaches: described is the first.
fn align(
    shape: (usize, usize),
    positions: &[Structural],
    got: &[BitEntry],
    numeric: bool,
) -> Result<Vec<u64>, Box<Mismatch>> {
    let (unreached, missing) = (
        "is stored, but no product reaches it",
        "is missing: some product reaches it, and structure is kept",
    );
    let mut rest = got.iter().peekable();
    let mut bits = Vec::with_capacity(positions.len());
    let mut defects: Vec<((u32, u32), &str)> = Vec::new();
    for &Structural { at, may_be_missing } in positions {
        while let Some(e) = rest.next_if(|e| (e.0, e.1) < at) {
            defects.push(((e.0, e.1), unreached));
        }
        match rest.next_if(|e| (e.0, e.1) == at) {
            Some(e) => bits.push(e.2),
            None if numeric || may_be_missing => bits.push(0),
            None => defects.push((at, missing)),
        }
    }
    defects.extend(rest.map(|e| ((e.0, e.1), unreached)));
    let Some(&(at, what)) = defects.first() else { return Ok(bits) };
    let message = format!("position ({}, {}) {what}", at.0, at.1);
    let places = defects.iter().map(|((row, col), _)| (*row as usize, *col as usize));
    let mismatch = at_all(shape, places, Mismatch::plain(Defect::Pattern, message));
    Err(Box::new(Mismatch { at: Some((at.0 as usize, at.1 as usize)), ..mismatch }))
}

/// Sorts each lane of a CSR or CSC result whose profile leaves the order free. Broken offsets are left for the check.
fn sort_lanes(found: &mut RawSparse) {
    let RawSparse { offsets, indices, values, .. } = found;
    let valid = offsets.windows(2).all(|w| w[0] <= w[1])
        && offsets.last().is_some_and(|&end| end as usize == indices.len())
        && indices.len() == values.len();
    if !valid {
        return;
    }
    let mut order: Vec<usize> = (0..indices.len()).collect();
    for lane in offsets.windows(2) {
        order[lane[0] as usize..lane[1] as usize].sort_by_key(|&i| indices[i]);
    }
    *indices = order.iter().map(|&i| indices[i]).collect();
    crate::each_precision!(Values, values, v => *v = order.iter().map(|&i| v[i]).collect());
}

/// Called with row, column and terms of one structural position.
pub(super) type ProductVisitor<'v> = dyn FnMut(usize, u32, &[(f64, f64)]) + 'v;

/// A by rows times B by rows, structural positions in order, terms of each in ascending k.
pub(super) fn for_each_spgemm(a: &Csr<f64>, b: &Csr<f64>, visit: &mut ProductVisitor<'_>) {
    let mut gathered: Vec<(u32, f64, f64)> = Vec::new();
    let mut terms: Vec<(f64, f64)> = Vec::new();
    for i in 0..a.rows {
        gathered.clear();
        let (cols, left) = a.row(i);
        for (&k, &x) in cols.iter().zip(left) {
            let (js, right) = b.row(k as usize);
            gathered.extend(js.iter().zip(right).map(|(&j, &y)| (j, x, y)));
        }
        // Stable: equal columns keep ascending k.
        gathered.sort_by_key(|g| g.0);
        for group in gathered.chunk_by(|l, r| l.0 == r.0) {
            terms.clear();
            terms.extend(group.iter().map(|g| (g.1, g.2)));
            visit(i, group[0].0, &terms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a report must say as much as its message does.
    #[test]
    fn a_difference_says_in_its_fields_what_stood_where() {
        let (one, two) = (1f64.to_bits(), 2f64.to_bits());
        let of = |wanted: &[BitEntry], got: &[BitEntry]| compare((3, 4), wanted, got).expect("they differ");

        let value = of(&[(0, 1, one)], &[(0, 1, two)]);
        assert_eq!((value.defect, value.at), (Defect::Value, Some((0, 1))));
        assert_eq!(value.expected, "(0, 1) = 0x3ff0000000000000");
        assert_eq!(value.found, "(0, 1) = 0x4000000000000000");
        assert_eq!((value.expected_bits, value.found_bits), (Some(one), Some(two)));

        let missing = of(&[(0, 1, one), (2, 3, two)], &[(0, 1, one)]);
        assert_eq!((missing.defect, missing.at), (Defect::Pattern, Some((2, 3))));
        assert_eq!((missing.expected_bits, missing.found_bits), (Some(two), None));
        assert_eq!(missing.found, "nothing");

        // Two positions that one list has each, and other bits: three places, of which the first is described.
        let several = of(&[(0, 1, one), (1, 0, one), (2, 3, two)], &[(0, 1, two), (1, 0, one), (1, 2, one)]);
        let places = [(0, 1), (1, 2), (2, 3)];
        assert_eq!((several.at, several.count), (Some((0, 1)), 3));
        assert_eq!(several.elements.as_deref(), WrongElements::of((3, 4), places).as_ref());

        // The position that is named is one of the wrong ones, also where the result has one too many.
        let more = of(&[(0, 1, one), (2, 3, two)], &[(0, 1, one), (1, 2, one), (2, 3, two)]);
        assert_eq!((more.at, more.count, more.defect), (Some((1, 2)), 1, Defect::Pattern));
        assert_eq!(more.elements.as_deref(), WrongElements::of((3, 4), [(1, 2)]).as_ref());

        let kind =
            same_kind(FormatKind::Csr, (2, 3), Precision::F32, (FormatKind::Csc, (3, 2), Precision::F64))
                .expect_err("another format");
        assert_eq!(kind.defect, Defect::Shape);
        assert_eq!((kind.expected.as_str(), kind.found.as_str()), ("csr 2x3 of f32", "csc 3x2 of f64"));
    }

    /// Only the first wrong position of a sparse product was known.
    #[test]
    fn every_position_that_is_missing_or_that_no_product_reaches_is_a_place() {
        let positions = [(0, 1), (1, 0), (2, 2)].map(|at| Structural { at, may_be_missing: at == (1, 0) });
        let stored = |places: &[(u32, u32)]| places.iter().map(|&(i, j)| (i, j, 7)).collect::<Vec<_>>();
        let aligned = |places: &[(u32, u32)], numeric| align((3, 4), &positions, &stored(places), numeric);

        assert_eq!(aligned(&[(0, 1), (2, 2)], false), Ok(vec![7, 0, 7]));
        assert_eq!(aligned(&[], true), Ok(vec![0; 3]));
        let mismatch = aligned(&[(0, 3), (1, 0), (2, 3)], false).expect_err("four are wrong");
        assert_eq!((mismatch.at, mismatch.count), (Some((0, 1)), 4));
        assert!(mismatch.message.contains("(0, 1) is missing"), "{}", mismatch.message);
        let places = [(0, 1), (0, 3), (2, 2), (2, 3)];
        assert_eq!(mismatch.elements.as_deref(), WrongElements::of((3, 4), places).as_ref());
    }
}
