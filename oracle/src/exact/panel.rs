//! Exact sums of adjacent columns: one row of `A * B`, with its gauge.
//!
//! ```text
//!  a[0] * [ b[0][0]  b[0][1] ... b[0][width-1] ]
//!  a[1] * [ b[1][0]  b[1][1] ... b[1][width-1] ]       value[j] = sum_t a[t] * b[t][j]
//!   ...                                                gauge[j] = sum_t |a[t] * b[t][j]|
//!         =  [ hi + lo + tail, ... ]
//! ```
//!
//! One certificate ([`super::certificate`]) covers the whole row and picks the inner loop ([`super::bins`]).
//! A row that no loop covers is cut into pieces with certificates of their own, which meet in superaccumulators.

use super::bins::Lane;
use super::certificate::{BinPlan, Certificate, Extent, Path};
use super::distil::{Triple, distil};
use super::row_round::RoundRow;
use super::row_sum::{MAX_BLOCK, RowTask};
use super::{Accumulator, Dyadic, Element, Value};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::{Precision, Rounding};
use pulp::Simd;

/// Terms of a piece of a row that is too long or too wide for one certificate.
const CHUNK: usize = 64;

/// The exact sums of one row of `width` columns. Reused from row to row.
#[derive(Clone, Debug)]
pub struct Panel {
    pub(super) arch: pulp::Arch,
    pub(super) width: usize,
    terms: u64,
    path: Path,
    pub(super) value: PanelColumns,
    pub(super) gauge: PanelColumns,
    /// Columns that the arrays do not describe, ascending.
    irregular: Vec<(usize, Element)>,
}

/// One exact number per column, `hi + lo + tail`, `hi` the nearest f64; padded to whole blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct PanelColumns {
    hi: Vec<f64>,
    lo: Vec<f64>,
    tail: Vec<f64>,
}

impl PanelColumns {
    fn resize(&mut self, width: usize) {
        for part in [&mut self.hi, &mut self.lo, &mut self.tail] {
            part.resize(width.next_multiple_of(MAX_BLOCK), 0.0);
        }
    }

    #[inline(always)]
    pub(super) fn store<S: Simd>(&mut self, _: S, at: usize, triple: Triple<S::f64s>) {
        let parts = [(&mut self.hi, triple.hi), (&mut self.lo, triple.lo), (&mut self.tail, triple.tail)];
        for (to, from) in parts {
            S::as_mut_simd_f64s(&mut to[at..at + S::F64_LANES]).0[0] = from;
        }
    }

    fn add_to(&self, register: &mut Accumulator, j: usize) {
        for part in [self.hi[j], self.lo[j], self.tail[j]] {
            register.add(part);
        }
    }

    fn value(&self, j: usize) -> Value {
        let (hi, lo, tail) = (self.hi[j], self.lo[j] + 0.0, self.tail[j]);
        if tail == 0.0 {
            return Value::Pair { hi, lo };
        }
        let parts = [hi, lo, tail].map(|x| Dyadic::from_f64(x).unwrap_or_default());
        Value::from_dyadic(parts.into_iter().sum())
    }
}

impl Panel {
    /// A row of `width` empty sums.
    #[must_use]
    pub fn new(width: usize) -> Panel {
        let mut panel = Panel {
            arch: pulp::Arch::new(),
            width: 0,
            terms: 0,
            path: Path::Plain,
            value: PanelColumns::default(),
            gauge: PanelColumns::default(),
            irregular: Vec::new(),
        };
        panel.reset(width);
        panel
    }

    /// Number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of terms, the same in all columns.
    #[must_use]
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// How the row was summed.
    #[must_use]
    pub fn path(&self) -> Path {
        self.path
    }

    /// The nearest f64 to each value (an infinity or NaN where the value is one, or is beyond f64).
    #[must_use]
    pub fn hi(&self) -> &[f64] {
        &self.value.hi[..self.width]
    }

    /// Each value less [`hi`](Self::hi), as an f64 that is 0 only where nothing is left (the nearest one in regular
    /// columns; NaN where `hi` overflowed).
    #[must_use]
    pub fn lo(&self) -> &[f64] {
        &self.value.lo[..self.width]
    }

    /// The nearest f64 to each gauge.
    #[must_use]
    pub fn gauge_hi(&self) -> &[f64] {
        &self.gauge.hi[..self.width]
    }

    /// Each gauge less [`gauge_hi`](Self::gauge_hi), in the same way: 0 only where the gauge is exactly that.
    #[must_use]
    pub fn gauge_lo(&self) -> &[f64] {
        &self.gauge.lo[..self.width]
    }

    /// What is left of each value beyond [`hi`](Self::hi) and [`lo`](Self::lo).
    pub(crate) fn tail(&self) -> &[f64] {
        &self.value.tail[..self.width]
    }

    /// Columns whose value or gauge is infinite, NaN, or needs more than three floats; ascending.
    #[must_use]
    pub fn irregular(&self) -> &[(usize, Element)] {
        &self.irregular
    }

    /// The exact result in column `j`.
    ///
    /// # Panics
    /// If `j` is not below the width.
    #[must_use]
    pub fn element(&self, j: usize) -> Element {
        if let Some(element) = self.irregular_at(j) {
            return element.clone();
        }
        Element { value: self.value.value(j), gauge: self.gauge.value(j), terms: self.terms }
    }

    /// The bit patterns of all values, each rounded once from the exact number to `precision`.
    ///
    /// # Errors
    /// [`RequestError::Length`] if `out` does not have `width` elements.
    pub fn round_row(&self, precision: Precision, mode: Rounding, out: &mut [u64]) -> Result<(), Refusal> {
        if out.len() != self.width() {
            return Err(Refusal::Request(RequestError::Length {
                field: "out",
                expected: self.width(),
                found: out.len(),
            }));
        }
        if self.path == Path::Register {
            out.fill(0);
        } else {
            let PanelColumns { hi, lo, tail } = &self.value;
            self.arch.dispatch(RoundRow {
                hi: &hi[..self.width],
                lo: &lo[..self.width],
                tail: &tail[..self.width],
                precision,
                mode,
                out: &mut *out,
            });
        }
        for (j, element) in &self.irregular {
            out[*j] = element.value.round(precision, mode);
        }
        Ok(())
    }

    fn irregular_at(&self, j: usize) -> Option<&Element> {
        let at = self.irregular.binary_search_by_key(&j, |(column, _)| *column).ok()?;
        Some(&self.irregular[at].1)
    }

    /// Sums the terms, each a value of A and a row of B of at least `width` columns. What the panel held is gone.
    ///
    /// # Errors
    /// [`RequestError::Length`] if a row of B is shorter than `width`.
    pub fn accumulate<'b, L: Lane>(
        &mut self,
        terms: impl IntoIterator<Item = (f64, &'b [L])>,
        width: usize,
    ) -> Result<(), Refusal> {
        // As a list, so that the loops are not compiled for each type of terms.
        let terms: Vec<(f64, &[L])> = terms.into_iter().collect();
        let mut certificate = Certificate::new();
        for &(a, row) in &terms {
            let columns = row.get(..width).ok_or(Refusal::Request(RequestError::Length {
                field: "row of B",
                expected: width,
                found: row.len(),
            }))?;
            certificate.add(Extent::of(a), Extent::of_slice(columns));
        }
        self.accumulate_certified(terms.iter().copied(), width, &certificate);
        Ok(())
    }

    /// [`accumulate`](Self::accumulate) with the certificate of exactly these terms; rows are long enough.
    pub(crate) fn accumulate_certified<'b, L: Lane>(
        &mut self,
        terms: impl Iterator<Item = (f64, &'b [L])> + Clone,
        width: usize,
        certificate: &Certificate,
    ) {
        self.reset(width);
        let plan = certificate.plan();
        (self.terms, self.path) = (certificate.terms(), plan.path);
        if plan.path == Path::Register {
            self.accumulate_chunks(&terms, width);
            return;
        }
        self.run(terms, plan);
    }

    /// The row in short pieces, each with its own certificate, which short pieces pass more often; their sums meet in
    /// one register per column.
    fn accumulate_chunks<'b, L: Lane>(
        &mut self,
        terms: &(impl Iterator<Item = (f64, &'b [L])> + Clone),
        width: usize,
    ) {
        let (total, path) = (self.terms, self.path);
        let mut registers = vec![(Accumulator::new(), Accumulator::new()); width];
        let mut rest = terms.clone().peekable();
        while rest.peek().is_some() {
            let chunk: Vec<(f64, &[L])> = rest.by_ref().take(CHUNK).collect();
            let mut certificate = Certificate::new();
            for &(a, row) in &chunk {
                certificate.add(Extent::of(a), Extent::of_slice(&row[..width]));
            }
            let plan = certificate.plan();
            if plan.path == Path::Register {
                for (j, (value, gauge)) in registers.iter_mut().enumerate() {
                    for &(a, row) in &chunk {
                        value.add_product(a, row[j].widen());
                        gauge.add_product(a.abs(), row[j].widen().abs());
                    }
                }
                continue;
            }
            self.irregular.clear();
            self.run(chunk.iter().copied(), plan);
            for (j, (value, gauge)) in registers.iter_mut().enumerate() {
                if let Some(element) = self.irregular_at(j) {
                    value.add_dyadic(&element.value.to_dyadic().unwrap_or_default());
                    gauge.add_dyadic(&element.gauge.to_dyadic().unwrap_or_default());
                } else {
                    self.value.add_to(value, j);
                    self.gauge.add_to(gauge, j);
                }
            }
        }
        (self.terms, self.path) = (total, path);
        self.irregular.clear();
        for (j, (value, gauge)) in registers.iter().enumerate() {
            let (value, gauge) = (value.value(), gauge.value());
            let terms = total;
            self.set_irregular(j, Element { value, gauge, terms });
        }
    }

    /// Sums certified terms into the arrays.
    fn run<'b, L: Lane>(&mut self, terms: impl Iterator<Item = (f64, &'b [L])> + Clone, plan: BinPlan) {
        let arch = self.arch;
        arch.dispatch(RowTask { terms, plan, panel: self });
    }

    fn reset(&mut self, width: usize) {
        self.irregular.clear();
        if self.width != width {
            self.width = width;
            self.value.resize(width);
            self.gauge.resize(width);
        }
    }

    /// Columns of a block whose leading floats are in doubt, by plain exact arithmetic. `parts`: four of the value,
    /// four of the gauge, by column of the block.
    #[cold]
    #[inline(never)]
    pub(super) fn settle(&mut self, at: usize, block: usize, used: usize, parts: &[[f64; MAX_BLOCK]; 8]) {
        for j in 0..block.min(self.width - at) {
            let part = |first: usize| std::array::from_fn(|i| parts[first + i][j]);
            let [value, gauge]: [[f64; 4]; 2] = [part(0), part(4)];
            if [value, gauge].iter().all(|x| distil(pulp::Scalar, used, *x).doubt == 0.0) {
                continue;
            }
            let [value, gauge] = [value, gauge].map(|parts| {
                let exact = parts.map(|x| Dyadic::from_f64(x).unwrap_or_default());
                Value::from_dyadic(exact.into_iter().sum())
            });
            let terms = self.terms;
            self.set_irregular(at + j, Element { value, gauge, terms });
        }
    }

    /// Stores an element outside the arrays, and its leading floats in them.
    fn set_irregular(&mut self, j: usize, element: Element) {
        for (columns, value) in [(&mut self.value, &element.value), (&mut self.gauge, &element.gauge)] {
            let hi = value.approx();
            columns.hi[j] = hi;
            columns.lo[j] = rest_of(value, hi);
            columns.tail[j] = 0.0;
        }
        self.irregular.push((j, element));
    }
}

/// `value - hi` as a float that is zero only if the difference is: away from zero, and NaN if `hi` overflowed.
fn rest_of(value: &Value, hi: f64) -> f64 {
    let rest = value - &Value::from_f64(hi);
    match rest.to_dyadic() {
        Some(rest) if rest.is_negative() => rest.to_f64(Rounding::Down),
        Some(rest) => rest.to_f64(Rounding::Up),
        None if value.is_finite() => f64::NAN,
        None => 0.0,
    }
}
