//! Exact sums of adjacent columns: one row of `A * B`, with its gauge.
//!
//! ```text
//!  a[0] * [ b[0][0]  b[0][1] ... b[0][width-1] ]
//!  a[1] * [ b[1][0]  b[1][1] ... b[1][width-1] ]       value[j] = sum_t a[t] * b[t][j]
//!   ...                                                gauge[j] = sum_t |a[t] * b[t][j]|
//!         =  [ hi + lo + tail, ... ]
//! ```
//!
//! One certificate ([`super::certificate`]) covers the whole row and picks the inner loop ([`super::bins`]); columns
//! that no loop covers go to the superaccumulator one by one.

use super::bins::{Bins, FourBins, Lane, Plain, ThreeBins, TwoBins};
use super::certificate::{Certificate, Extent, Path, Plan};
use super::distil::distil;
use super::row_round::RoundRow;
use super::{Accumulator, Dyadic, Element, Value};
use crate::refusal::Refusal;
use crate::scalar::{Precision, Rounding};
use pulp::NullaryFnOnce;

/// The exact sums of one row of `width` columns. Reused from row to row.
#[derive(Clone, Debug)]
pub struct Panel {
    arch: pulp::Arch,
    terms: u64,
    path: Path,
    value: Columns,
    gauge: Columns,
    /// Columns that the arrays do not describe, ascending.
    irregular: Vec<(usize, Element)>,
}

/// One exact number per column, `hi + lo + tail`, `hi` the nearest f64.
#[derive(Clone, Debug, Default)]
struct Columns {
    hi: Vec<f64>,
    lo: Vec<f64>,
    tail: Vec<f64>,
}

impl Columns {
    fn resize(&mut self, width: usize) {
        for part in [&mut self.hi, &mut self.lo, &mut self.tail] {
            part.resize(width, 0.0);
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
            terms: 0,
            path: Path::Plain,
            value: Columns::default(),
            gauge: Columns::default(),
            irregular: Vec::new(),
        };
        panel.reset(width);
        panel
    }

    /// Number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.value.hi.len()
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
        &self.value.hi
    }

    /// Each value less [`hi`](Self::hi), as an f64 that is 0 only where nothing is left (the nearest one in regular
    /// columns; NaN where `hi` overflowed).
    #[must_use]
    pub fn lo(&self) -> &[f64] {
        &self.value.lo
    }

    /// The nearest f64 to each gauge.
    #[must_use]
    pub fn gauge_hi(&self) -> &[f64] {
        &self.gauge.hi
    }

    /// Each gauge less [`gauge_hi`](Self::gauge_hi), in the same way: 0 only where the gauge is exactly that.
    #[must_use]
    pub fn gauge_lo(&self) -> &[f64] {
        &self.gauge.lo
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
        if let Ok(at) = self.irregular.binary_search_by_key(&j, |(column, _)| *column) {
            return self.irregular[at].1.clone();
        }
        Element {
            value: self.value.value(j),
            gauge: self.gauge.value(j),
            terms: self.terms,
        }
    }

    /// The bit patterns of all values, each rounded once from the exact number to `precision`.
    ///
    /// # Errors
    /// [`Refusal::Length`] if `out` does not have `width` elements.
    pub fn round_row(&self, precision: Precision, mode: Rounding, out: &mut [u64]) -> Result<(), Refusal> {
        if out.len() != self.width() {
            return Err(Refusal::Length {
                field: "out",
                expected: self.width(),
                found: out.len(),
            });
        }
        if self.path == Path::Register {
            out.fill(0);
        } else {
            let Columns { hi, lo, tail } = &self.value;
            self.arch.dispatch(RoundRow {
                hi,
                lo,
                tail,
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

    /// Sums the terms, each a value of A and a row of B of at least `width` columns. What the panel held is gone.
    ///
    /// # Errors
    /// [`Refusal::Length`] if a row of B is shorter than `width`.
    pub fn accumulate<'b, L: Lane>(
        &mut self,
        terms: impl Iterator<Item = (f64, &'b [L])> + Clone,
        width: usize,
    ) -> Result<(), Refusal> {
        let mut certificate = Certificate::new();
        for (a, row) in terms.clone() {
            let columns = row.get(..width).ok_or(Refusal::Length {
                field: "row of B",
                expected: width,
                found: row.len(),
            })?;
            certificate.add(Extent::of(a), Extent::of_slice(columns));
        }
        self.accumulate_certified(terms, width, &certificate);
        Ok(())
    }

    /// [`accumulate`](Self::accumulate) with the certificate of exactly these terms; rows are long enough.
    pub(super) fn accumulate_certified<'b, L: Lane>(
        &mut self,
        terms: impl Iterator<Item = (f64, &'b [L])> + Clone,
        width: usize,
        certificate: &Certificate,
    ) {
        self.reset(width);
        let plan = certificate.plan();
        (self.terms, self.path) = (certificate.terms(), plan.path);
        let arch = self.arch;
        arch.dispatch(Row {
            terms,
            plan,
            panel: self,
        });
    }

    fn reset(&mut self, width: usize) {
        self.irregular.clear();
        if self.width() != width {
            self.value.resize(width);
            self.gauge.resize(width);
        }
    }

    /// Stores an element outside the arrays, and its leading floats in them.
    fn set_irregular(&mut self, j: usize, element: Element) {
        for (columns, value) in [
            (&mut self.value, &element.value),
            (&mut self.gauge, &element.gauge),
        ] {
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

/// One row to sum, as a task for the vector unit.
struct Row<'p, I> {
    terms: I,
    plan: Plan,
    panel: &'p mut Panel,
}

impl<'b, L: Lane, I: Iterator<Item = (f64, &'b [L])> + Clone> NullaryFnOnce for Row<'_, I> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        // Column blocks as wide as the sums fit the vector registers.
        match self.plan.path {
            Path::Plain => self.columns::<Plain<16>, Plain<4>, Plain<1>, 16>(),
            Path::TwoBins => self.columns::<TwoBins<8>, TwoBins<4>, TwoBins<1>, 8>(),
            Path::ThreeBins => self.columns::<ThreeBins<4>, ThreeBins<4>, ThreeBins<1>, 4>(),
            Path::FourBins => self.columns::<FourBins<4>, FourBins<4>, FourBins<1>, 4>(),
            Path::Register => {
                for j in 0..self.panel.width() {
                    let element = register(self.terms.clone(), j);
                    self.panel.set_irregular(j, element);
                }
            }
        }
    }
}

impl<'b, L: Lane, I: Iterator<Item = (f64, &'b [L])> + Clone> Row<'_, I> {
    /// All columns: in blocks of W, then of 4, then singly.
    #[inline(always)]
    fn columns<Wide: Bins<W>, Four: Bins<4>, One: Bins<1>, const W: usize>(&mut self) {
        let width = self.panel.width();
        let mut at = 0;
        while at + W <= width {
            self.block::<Wide, W>(at);
            at += W;
        }
        while at + 4 <= width {
            self.block::<Four, 4>(at);
            at += 4;
        }
        while at < width {
            self.block::<One, 1>(at);
            at += 1;
        }
    }

    /// Columns `at..at + W`.
    #[inline(always)]
    fn block<B: Bins<W>, const W: usize>(&mut self, at: usize) {
        let mut bins = B::new(&self.plan);
        for (a, row) in self.terms.clone() {
            let mut b = [0.0; W];
            for (wide, stored) in b.iter_mut().zip(&row[at..at + W]) {
                *wide = stored.widen();
            }
            bins.add(a, &b);
        }
        let panel = &mut *self.panel;
        let mut certain = true;
        for (columns, which) in [(&mut panel.value, 0), (&mut panel.gauge, 1)] {
            let hi = &mut columns.hi[at..at + W];
            let lo = &mut columns.lo[at..at + W];
            let tail = &mut columns.tail[at..at + W];
            for j in 0..W {
                let parts = bins.parts(j);
                let triple = distil(B::PARTS, if which == 0 { parts.0 } else { parts.1 });
                (hi[j], lo[j], tail[j]) = (triple.hi, triple.lo, triple.tail);
                certain &= triple.certain;
            }
        }
        if !certain {
            // A copy: the sums themselves must not have an address, or they leave the registers.
            let parts = std::array::from_fn(|j| bins.parts(j));
            self.settle::<W>(at, B::PARTS, &parts);
        }
    }

    /// Columns of a block whose leading float is in doubt, by plain exact arithmetic.
    #[cold]
    #[inline(never)]
    fn settle<const W: usize>(&mut self, at: usize, used: usize, parts: &[([f64; 4], [f64; 4]); W]) {
        for (j, &(value, gauge)) in parts.iter().enumerate() {
            if distil(used, value).certain && distil(used, gauge).certain {
                continue;
            }
            let [value, gauge] = [value, gauge].map(|parts| {
                let exact = parts.map(|x| Dyadic::from_f64(x).unwrap_or_default());
                Value::from_dyadic(exact.into_iter().sum())
            });
            let terms = self.panel.terms;
            self.panel.set_irregular(at + j, Element { value, gauge, terms });
        }
    }
}

/// Column `j` by the superaccumulator.
fn register<'b, L: Lane>(terms: impl Iterator<Item = (f64, &'b [L])>, j: usize) -> Element {
    let (mut value, mut gauge) = (Accumulator::new(), Accumulator::new());
    let mut count = 0;
    for (a, row) in terms {
        let b = row[j].widen();
        value.add_product(a, b);
        gauge.add_product(a.abs(), b.abs());
        count += 1;
    }
    Element {
        value: value.value(),
        gauge: gauge.value(),
        terms: count,
    }
}
