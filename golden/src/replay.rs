//! One element again, step by step, as text.
//!
//! ```text
//! libra.spmm.f16.m16n8k8.sm_90/uniform:..../near-one/n=16/at=3,5
//!   tile 0   B[17] ...      a * b = product        after this instruction: sum
//!   rest     ...
//!   exact, result, error in ulp, share of the bound
//! ```
//!
//! The steps are taken here one by one with the model of the single instruction, and must end on the bits that the tables are made of.

use crate::bounds::Bounds;
use crate::case::Case;
use crate::error::GoldenError;
use crate::layout::{Lane, Term};
use crate::prepared::{Prepared, columns_of, core, rounded_bits, with_input};
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::exact::Element;
use sparse_oracle::format::{Dense, PAD};
use sparse_oracle::model::cpu::CpuStep;
use sparse_oracle::scalar::{Scalar, decode};
use std::fmt::Write as _;

/// What a replay found.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The element, which the line need not have named.
    pub case: String,
    /// Everything about it.
    pub text: String,
    /// Bits of the result.
    pub bits: u64,
    /// The single steps ended on those bits.
    pub agrees: bool,
    /// Error in ulp of the gauge.
    pub gauge_ulps: f64,
    /// Error as a share of the bound.
    pub share: f64,
}

/// Computes the case again, and shows one element: the one that is named, else the one with the worst error in ulp of the gauge.
///
/// # Errors
/// [`GoldenError::NoElement`]; what the pattern, the encoder or the model refuses.
pub fn replay(case: &Case) -> Result<Replay, GoldenError> {
    let pattern = case.source.generate_within(1 << 22)?;
    with_input!(case, T => {
        let prepared = Prepared::<T>::new(case, &pattern)?;
        let (row, col) = match case.at {
            Some(at) => at,
            None => worst(case, &prepared)?,
        };
        show(&case.at(row, col), &prepared, (row, col))
    })
}

/// Where the error in ulp of the gauge is greatest.
fn worst<T: Scalar>(case: &Case, prepared: &Prepared<T>) -> Result<(usize, usize), GoldenError> {
    let scores = prepared.scores(case.target)?;
    let first = scores.iter().rev().max_by(|x, y| x.gauge_ulps.total_cmp(&y.gauge_ulps));
    first.map(|score| (score.row, score.col)).ok_or_else(|| GoldenError::NoElement {
        case: case.to_string(),
        row: 0,
        col: 0,
    })
}

/// One element: its lane, the column of the dense operand, what is exact, and the bits.
struct Found<'p> {
    lane: &'p Lane,
    column: usize,
    element: &'p Element,
    bits: u64,
}

fn find<'p, T: Scalar>(
    case: &Case,
    prepared: &'p Prepared<T>,
    (row, col): (usize, usize),
) -> Result<Found<'p>, GoldenError> {
    let work = prepared.work();
    let bits = prepared.bits(case.target)?;
    for (at, lane) in work.lanes.iter().enumerate() {
        let columns = columns_of(lane, work.dense.cols());
        for (number, column) in columns.enumerate() {
            let element = &prepared.exact(at)[number];
            if work.place(lane, column) == (row, col) && !element.gauge.is_zero() {
                return Ok(Found { lane, column, element, bits: bits[at][number] });
            }
        }
    }
    Err(GoldenError::NoElement { case: case.to_string(), row, col })
}

fn show<T: Scalar>(
    case: &Case,
    prepared: &Prepared<T>,
    (row, col): (usize, usize),
) -> Result<Replay, GoldenError> {
    let found = find(case, prepared, (row, col))?;
    let score = Bounds::new(case).score(found.lane, found.element, found.bits, (row, col))?;
    let mut steps = Steps { case, column: found.column, text: format!("{case}\n") };
    let tiles = (!found.lane.tiles.is_empty())
        .then(|| steps.tiles(&found.lane.tiles, prepared.rounded()))
        .transpose()?;
    let rest = (!found.lane.rest.is_empty()).then(|| steps.rest(&found.lane.rest, &prepared.work().dense));
    let mut text = steps.text;
    let result = match (tiles, rest) {
        (Some(tiles), Some(rest)) => {
            let sum = tiles + rest;
            let _ = writeln!(text, "both sums, added once:  {tiles:e} + {rest:e} = {sum:e}");
            sum
        }
        (sum, None) | (None, sum) => sum.unwrap_or(0.0),
    };
    let (exact, gauge) = (found.element.value.approx(), found.element.gauge.approx());
    let shown = decode(found.bits, sparse_oracle::scalar::Precision::F32);
    let agrees = result.to_bits() == found.bits as u32;
    let ulps = score.result_ulps.map_or("cancelled".to_owned(), |ulps| format!("{ulps:.4}"));
    let _ = write!(
        text,
        "\nexact    {exact:e} (nearest f64)\ngauge    {gauge:e}\nresult   {shown:e}, bits {:#010x}\nerror    {:.4} ulp(g), {ulps} ulp(r), share of the bound {:.4}\n",
        found.bits, score.gauge_ulps, score.share
    );
    if !agrees {
        let _ = writeln!(text, "DISAGREES with the single steps, which end on {result:e}");
    }
    Ok(Replay {
        case: case.to_string(),
        text,
        bits: found.bits,
        agrees,
        gauge_ulps: score.gauge_ulps,
        share: score.share,
    })
}

/// Single steps, written down.
struct Steps<'c> {
    case: &'c Case,
    column: usize,
    text: String,
}

impl Steps<'_> {
    /// Terms of the tiles, one instruction after another.
    fn tiles<T: Scalar>(&mut self, terms: &[Term], dense: &Dense<T>) -> Result<f32, GoldenError> {
        let core = core(self.case)?;
        let products = core.map_or(2, |core| core.products());
        let _ = writeln!(self.text, "\ntiles, {products} products an instruction ({}):", self.case.row.unit);
        let mut acc = 0;
        for (number, block) in terms.chunks(products).enumerate() {
            let mut a: Vec<u64> = block.iter().map(|term| rounded_bits(term.1, T::PRECISION)).collect();
            let facing = |&(row, _): &Term| match row {
                PAD => 0,
                row => dense.at(row as usize, self.column).bits64(),
            };
            let mut b: Vec<u64> = block.iter().map(facing).collect();
            for (term, (&a, &b)) in block.iter().zip(a.iter().zip(&b)) {
                self.term::<T>(&format!("instruction {number}"), term.0, a, b);
            }
            a.resize(products, 0);
            b.resize(products, 0);
            acc = match core {
                Some(core) => core.apply(acc, &a, &b)?,
                None => CpuStep::new(CpuUnit::Fmopa2Way).apply(acc, &a, &b)?,
            };
            let sum = f32::from_bits(acc as u32);
            let _ = writeln!(self.text, "  sum after instruction {number}: {sum:e} ({acc:#010x})");
        }
        Ok(f32::from_bits(acc as u32))
    }

    /// Terms of the chain.
    fn rest<T: Scalar>(&mut self, terms: &[Term], dense: &Dense<T>) -> f32 {
        let _ = writeln!(self.text, "\nchain of fused multiply-adds:");
        let mut acc = 0.0_f32;
        for &(row, a) in terms {
            let b = dense.at(row as usize, self.column);
            self.term::<T>("fma", row, a, b.bits64());
            acc = (T::from_bits64(a).to_f64() as f32).mul_add(b.to_f64() as f32, acc);
        }
        let _ = writeln!(self.text, "  sum of the chain: {acc:e} ({:#010x})", acc.to_bits());
        acc
    }

    fn term<T: Scalar>(&mut self, step: &str, row: u32, a: u64, b: u64) {
        let (x, y) = (T::from_bits64(a).to_f64(), T::from_bits64(b).to_f64());
        let place = if row == PAD { "pad".to_owned() } else { format!("k = {row}") };
        // At most 48 bits: exact.
        let _ = writeln!(self.text, "  {step:14} {place:9} {x:e} * {y:e} = {:e}", x * y);
    }
}
