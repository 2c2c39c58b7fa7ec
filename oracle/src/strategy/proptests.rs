//! Strategies for proptest: sparse matrices of every family of patterns, COO with duplicates, dense operands, specs.

use super::shrink::{coo_of, smaller_coo, smaller_dense, smaller_matrices, smaller_operands, smaller_specs};
use super::tree::Drawn;
use crate::format::{Coo, Csr, Dense, Entries};
use crate::prelude::*;
use crate::scalar::Precision;
use crate::source::generator::{FAMILIES, Family, quick_spec};
use crate::source::{Random, SourceSpec, ValueFamily};
use proptest::strategy::{BoxedStrategy, Strategy};
use std::ops::RangeInclusive;

/// A range of sizes; shrinking ends at its start.
pub type Sizes = RangeInclusive<usize>;

/// Families that can have any number of rows and columns.
const RECTANGULAR: [Family; 13] = [
    Family::Uniform,
    Family::Banded,
    Family::Block,
    Family::Zipf,
    Family::Lp,
    Family::Nm,
    Family::Empty,
    Family::DenseRow,
    Family::Dense,
    Family::Diagonal,
    Family::Corners,
    Family::Lengths,
    Family::Zero,
];

/// A size of a range.
fn size(sizes: &Sizes, random: &mut Random) -> usize {
    random.between(*sizes.start() as i64, (*sizes.end()).max(*sizes.start()) as i64) as usize
}

/// Small specs of every family; `any::<SourceSpec>()` is the same.
pub fn source_spec() -> Drawn<SourceSpec> {
    Drawn::new(draw_spec, smaller_specs)
}

pub(super) fn draw_spec(random: &mut Random) -> SourceSpec {
    let family = random.pick(&FAMILIES).family;
    quick_spec(family, random.below(1 << 32))
}

impl proptest::arbitrary::Arbitrary for SourceSpec {
    type Parameters = ();
    type Strategy = Drawn<SourceSpec>;

    fn arbitrary_with((): ()) -> Drawn<SourceSpec> {
        source_spec()
    }
}

/// An empty matrix where a spec cannot be generated, which no spec drawn here is.
fn pattern_of(spec: SourceSpec) -> Csr<()> {
    spec.generate().unwrap_or_default()
}

/// The pattern with values of a family.
pub(super) fn with_values(
    pattern: &Csr<()>,
    random: &mut Random,
    precision: Precision,
    values: ValueFamily,
) -> Csr<f64> {
    let mut values = values.fill(pattern.nnz(), random.bits(), precision).into_iter();
    pattern.map(|()| values.next().unwrap_or(1.0))
}

fn draw_matrix(
    (rows, cols): (usize, usize),
    random: &mut Random,
    precision: Precision,
    values: ValueFamily,
) -> Csr<f64> {
    let spec = quick_spec(*random.pick(&RECTANGULAR), random.bits());
    let sized = spec.with("rows", rows as i64).and_then(|spec| spec.with("cols", cols as i64));
    with_values(&pattern_of(sized.unwrap_or(spec)), random, precision, values)
}

/// Canonical CSR matrices of the rectangular families, with values of one family in one precision.
pub fn sparse_matrix(rows: Sizes, cols: Sizes, precision: Precision, values: ValueFamily) -> Drawn<Csr<f64>> {
    let least = (*rows.start(), *cols.start());
    Drawn::new(
        move |random| draw_matrix((size(&rows, random), size(&cols, random)), random, precision, values),
        move |matrix| smaller_matrices(matrix, least),
    )
}

/// The same matrices as entries.
pub fn sparse_entries(
    rows: Sizes,
    cols: Sizes,
    precision: Precision,
    values: ValueFamily,
) -> BoxedStrategy<Entries<f64>> {
    sparse_matrix(rows, cols, precision, values).prop_map(|matrix| matrix.entries()).boxed()
}

/// COO matrices in shuffled order in which some positions occur again, with other values; every matrix with an entry
/// has at least one duplicate before shrinking.
pub fn coo_with_duplicates(
    rows: Sizes,
    cols: Sizes,
    precision: Precision,
    values: ValueFamily,
) -> Drawn<Coo<f64>> {
    let least = (*rows.start(), *cols.start());
    Drawn::new(
        move |random| {
            let shape = (size(&rows, random), size(&cols, random));
            let entries = draw_matrix(shape, random, precision, values).entries();
            let repeated = repeat_some(entries, random, precision, values);
            // The entries of a valid matrix, repeated, are valid triples.
            coo_of(&repeated).unwrap_or_else(|| unreachable!("entries of a {shape:?} matrix out of range"))
        },
        move |coo| smaller_coo(coo, least),
    )
}

/// Repeats up to half of the entries with other values, and shuffles the list.
fn repeat_some(
    mut entries: Entries<f64>,
    random: &mut Random,
    precision: Precision,
    values: ValueFamily,
) -> Entries<f64> {
    let once = entries.list.len() as u64;
    let repeats = if once == 0 { 0 } else { 1 + random.below(once.div_ceil(2)) };
    for _ in 0..repeats {
        let mut entry = entries.list[random.below(once) as usize];
        for _ in 0..=random.below(3) {
            entry.value = values.sample(random, precision);
            entries.list.push(entry);
        }
    }
    random.shuffle(&mut entries.list);
    entries
}

fn draw_dense(
    (rows, cols): (usize, usize),
    random: &mut Random,
    precision: Precision,
    values: ValueFamily,
) -> Dense<f64> {
    let data = values.fill(rows * cols, random.bits(), precision);
    Dense::from_fn(rows, cols, |i, j| data[i * cols + j])
}

/// Compact row-major dense matrices.
pub fn dense(rows: Sizes, cols: Sizes, precision: Precision, values: ValueFamily) -> Drawn<Dense<f64>> {
    let least = (*rows.start(), *cols.start());
    Drawn::new(
        move |random| draw_dense((size(&rows, random), size(&cols, random)), random, precision, values),
        move |matrix| smaller_dense(matrix, least),
    )
}

/// Operands of `A * B` that fit: A is m x k sparse, B is k x n dense; they shrink together.
pub fn spmm_operands(
    m: Sizes,
    k: Sizes,
    n: Sizes,
    precision: Precision,
    values: ValueFamily,
) -> Drawn<(Csr<f64>, Dense<f64>)> {
    let least = (*m.start(), *k.start(), *n.start());
    Drawn::new(
        move |random| {
            let (rows, inner, cols) = (size(&m, random), size(&k, random), size(&n, random));
            let a = draw_matrix((rows, inner), random, precision, values);
            (a, draw_dense((inner, cols), random, precision, values))
        },
        move |operands| smaller_operands(operands, least),
    )
}
