//! One certified row through the bins, block of columns by block of columns.
//!
//! ```text
//! columns   [ block 0: K vectors ][ block 1 ][ ... ][ one vector ][ ... ][ last vector, zeros past the width ]
//! per block: all terms of the row, sums in registers -> distil -> the panel's arrays
//! ```

use super::bins::{Bins, FourBins, Lane, Plain, ThreeBins, TwoBins};
use super::certificate::{BinPlan, Path};
use super::distil::distil;
use super::panel::Panel;
use pulp::{Simd, WithSimd};

/// Columns of the widest block: four vectors of eight lanes.
pub(super) const MAX_BLOCK: usize = 32;

/// One row to sum, as a task for the vector unit.
pub(super) struct RowTask<'p, I> {
    pub(super) terms: I,
    pub(super) plan: BinPlan,
    pub(super) panel: &'p mut Panel,
}

impl<'b, L: Lane, I: Iterator<Item = (f64, &'b [L])> + Clone> WithSimd for RowTask<'_, I> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // As many vectors of columns at once as leave the sums in registers: 2, 4, 6 or 8 sums each.
        let many_registers = S::REGISTER_COUNT >= 32;
        match (self.plan.path, many_registers) {
            (Path::Plain, _) => self.columns::<S, Plain<S, 4>, Plain<S, 1>, 4>(simd),
            (Path::TwoBins, true) => self.columns::<S, TwoBins<S, 4>, TwoBins<S, 1>, 4>(simd),
            (Path::TwoBins, false) => self.columns::<S, TwoBins<S, 2>, TwoBins<S, 1>, 2>(simd),
            (Path::ThreeBins, true) => self.columns::<S, ThreeBins<S, 2>, ThreeBins<S, 1>, 2>(simd),
            (Path::ThreeBins, false) => self.columns::<S, ThreeBins<S, 1>, ThreeBins<S, 1>, 1>(simd),
            (Path::FourBins, true) => self.columns::<S, FourBins<S, 2>, FourBins<S, 1>, 2>(simd),
            (Path::FourBins, false) => self.columns::<S, FourBins<S, 1>, FourBins<S, 1>, 1>(simd),
            (Path::Register, _) => {}
        }
    }
}

impl<'b, L: Lane, I: Iterator<Item = (f64, &'b [L])> + Clone> RowTask<'_, I> {
    /// All columns, in blocks of K vectors, then of one; the last one may run past the width, on zeros.
    #[inline(always)]
    fn columns<S: Simd, B: Bins<S, K>, One: Bins<S, 1>, const K: usize>(&mut self, simd: S) {
        let (width, lanes) = (self.panel.width, S::F64_LANES);
        let mut at = 0;
        while at + K * lanes <= width {
            self.block::<S, B, K, false>(simd, at);
            at += K * lanes;
        }
        while at + lanes <= width {
            self.block::<S, One, 1, false>(simd, at);
            at += lanes;
        }
        if at < width {
            self.block::<S, One, 1, true>(simd, at);
        }
    }

    /// The columns from `at` on that one block covers.
    #[inline(always)]
    fn block<S: Simd, B: Bins<S, K>, const K: usize, const PADDED: bool>(&mut self, simd: S, at: usize) {
        let mut bins = B::new(simd, &self.plan);
        for (a, row) in self.terms.clone() {
            let b =
                if PADDED { load_padded(simd, &row[at..self.panel.width]) } else { load(simd, &row[at..]) };
            bins = bins.add(simd, a, b);
        }
        let mut doubt = simd.splat_f64s(0.0);
        for j in 0..K {
            let start = at + j * S::F64_LANES;
            let [value, gauge] = bins.parts(simd, j);
            let (value, gauge) = (distil(simd, B::PARTS, value), distil(simd, B::PARTS, gauge));
            doubt = simd.add_f64s(doubt, simd.add_f64s(value.doubt, gauge.doubt));
            self.panel.value.store(simd, start, value);
            self.panel.gauge.store(simd, start, gauge);
        }
        if B::PARTS > 2 && simd.reduce_sum_f64s(doubt) != 0.0 {
            let mut parts = [[0.0; MAX_BLOCK]; 8];
            for j in 0..K {
                let vectors = bins.parts(simd, j);
                for (to, from) in parts.iter_mut().zip(vectors.as_flattened()) {
                    S::as_mut_simd_f64s(&mut to[j * S::F64_LANES..]).0[0] = *from;
                }
            }
            self.panel.settle(at, K * S::F64_LANES, B::PARTS, &parts);
        }
    }
}

/// The first K vectors of a row.
#[inline(always)]
fn load<L: Lane, S: Simd, const K: usize>(simd: S, row: &[L]) -> [S::f64s; K] {
    let columns = &row[..K * S::F64_LANES];
    let mut vectors = [simd.splat_f64s(0.0); K];
    if let Some(columns) = L::as_f64s(columns) {
        vectors.copy_from_slice(S::as_simd_f64s(columns).0);
    } else {
        let mut wide = [0.0; MAX_BLOCK];
        for (to, from) in wide.iter_mut().zip(columns) {
            *to = from.widen();
        }
        vectors.copy_from_slice(&S::as_simd_f64s(&wide).0[..K]);
    }
    vectors
}

/// The same for a row that ends before them, with zeros past its end.
#[inline(always)]
fn load_padded<L: Lane, S: Simd, const K: usize>(simd: S, row: &[L]) -> [S::f64s; K] {
    let mut vectors = [simd.splat_f64s(0.0); K];
    if let Some(columns) = L::as_f64s(row) {
        for (vector, columns) in vectors.iter_mut().zip(columns.chunks(S::F64_LANES)) {
            *vector = simd.partial_load_f64s(columns);
        }
        return vectors;
    }
    let mut wide = [0.0; MAX_BLOCK];
    for (to, from) in wide.iter_mut().zip(row) {
        *to = from.widen();
    }
    vectors.copy_from_slice(&S::as_simd_f64s(&wide).0[..K]);
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each vector unit that this processor has, and none: the loops are compiled for each.
    fn units() -> Vec<pulp::Arch> {
        let units = vec![pulp::Arch::Scalar, pulp::Arch::new()];
        #[cfg(target_arch = "x86_64")]
        let units = [units, pulp::x86::V3::try_new().map(pulp::Arch::V3).into_iter().collect()].concat();
        units
    }

    /// A machine without vectors, and without FMA, gets the same sums from the same loops.
    #[test]
    fn scalar_and_vector_code_agree() {
        let paths = [(6, Path::Plain), (30, Path::TwoBins), (53, Path::ThreeBins), (80, Path::FourBins)];
        // Whole blocks, vectors alone, and a vector that is not full.
        for (width, (precision, expected)) in [1, 8, 21, 45].into_iter().flat_map(|n| paths.map(|p| (n, p))) {
            // Values with `precision` bits between them, 2^-25 apart for the last path.
            let value = |i: usize| {
                let x = 1.0 + (i * i % 61) as f64 / 64.0;
                let low = 2.0f64.powi(1 - precision.min(53)) * (i % 7) as f64;
                (x + low) * if precision > 53 && i.is_multiple_of(5) { 2.0f64.powi(-25) } else { 1.0 }
            };
            let rows: Vec<Vec<f64>> =
                (0..40).map(|t| (0..width).map(|j| -value(t * width + j)).collect()).collect();
            let terms = || (0..40).map(value).zip(rows.iter().map(Vec::as_slice));
            let units = units();
            let mut panels = vec![Panel::new(width); units.len()];
            for (panel, unit) in panels.iter_mut().zip(units) {
                panel.arch = unit;
                panel.accumulate(terms(), width).expect("rows are long enough");
                assert_eq!(panel.path(), expected, "{precision} bits");
            }
            for (j, panel) in panels.iter().flat_map(|panel| (0..width).map(move |j| (j, panel))) {
                let (unit, scalar) = (panel.arch, panels[0].element(j));
                assert_eq!(panel.element(j), scalar, "{precision} bits, column {j}, {unit:?}");
            }
        }
    }

    /// Sums whose leading float no loop can promise, in every place of a block. (A mutant that puts them elsewhere in it survives this.)
    #[test]
    fn columns_in_doubt_are_settled_wherever_they_are() {
        let width = 2 * MAX_BLOCK + 3;
        for doubtful in (0..width).chain([width]) {
            // A tie, and far below it what breaks the tie: up in one column, as far as one bit in the others.
            let tie = |j: usize| if j == doubtful || doubtful == width { 2.0f64.powi(-53) } else { 0.0 };
            let rows: Vec<Vec<f64>> = vec![
                (0..width).map(|j| 1.0 + j as f64 / 64.0).collect(),
                (0..width).map(tie).collect(),
                (0..width).map(|j| (1.0 + j as f64 / 64.0) * 2.0f64.powi(-130)).collect(),
            ];
            let mut panel = Panel::new(width);
            let terms = [1.0, 1.0, 1.0].into_iter().zip(rows.iter().map(Vec::as_slice));
            panel.accumulate(terms, width).expect("rows are long enough");
            assert!(matches!(panel.path(), Path::ThreeBins | Path::FourBins), "{:?}", panel.path());
            for j in 0..width {
                let column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
                let expected = crate::exact::dot(&[1.0; 3], &column);
                assert_eq!(panel.element(j), expected, "column {j}, in doubt {doubtful}");
                assert_eq!(panel.hi()[j], expected.value.approx(), "column {j}, in doubt {doubtful}");
            }
        }
    }

    /// Found by mutation: nobody asked a row which of its columns are no three floats.
    #[test]
    fn a_row_names_its_columns_that_are_not_regular() {
        let irregular = |rows: [[f64; 3]; 2]| {
            let mut panel = Panel::new(3);
            let terms = [1.0, 1.0].into_iter().zip(rows.iter().map(|row| &row[..]));
            panel.accumulate(terms, 3).expect("rows are long enough");
            panel.irregular().iter().map(|(j, element)| (*j, element.value.is_nan())).collect::<Vec<_>>()
        };
        assert_eq!(irregular([[1.0, 2.0, 3.0], [0.5, 0.0, -3.0]]), []);
        let infinite = f64::INFINITY;
        let named = irregular([[1.0, infinite, 3.0], [f64::NAN, 0.0, 1.0]]);
        assert!(named.starts_with(&[(0, true), (1, false)]), "{named:?}");
    }
}
