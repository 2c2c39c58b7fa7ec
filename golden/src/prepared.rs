//! One case on the way to its errors: what is exact once, and what a target makes of it.
//!
//! ```text
//! case --layout--> lanes, dense operand --exact--> value and gauge of every element      once for all targets
//!                                       --model--> bits --> Score                        per target
//! ```
//!
//! Exact values are those of the operands as each part takes them: rounded to tf32 (nearest, ties away, `cvt.rna`) by tensor cores, as
//! stored by the chain. So an error is the arithmetic's alone, which is what tier T1 bounds too.

use crate::bounds::{Bounds, Score};
use crate::case::Case;
use crate::error::GoldenError;
use crate::layout::{Lane, Term, Work};
use crate::table::Target;
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::exact::{Element, Panel, dot};
use sparse_oracle::format::{Csr, Dense, PAD};
use sparse_oracle::model::chain;
use sparse_oracle::model::cpu::CpuStep;
use sparse_oracle::model::tensor_core::{ModelSpmm, TensorCore, chain_padded};
use sparse_oracle::scalar::{Precision, Scalar, Tf32};

/// A case with its exact results.
#[derive(Debug)]
pub struct Prepared<T> {
    case: Case,
    work: Work<T>,
    /// The dense operand as the unit of the tiles takes it.
    rounded: Dense<T>,
    /// Exact value and gauge of the elements of each lane, in the order of its columns.
    exact: Vec<Vec<Element>>,
}

/// Bits as tensor cores take them.
#[must_use]
pub fn rounded_bits(bits: u64, input: Precision) -> u64 {
    match input {
        Precision::Tf32 => Tf32::from_bits64(bits).round_rna().bits64(),
        _ => bits,
    }
}

impl<T: Scalar> Prepared<T> {
    /// Encodes, orders, and computes what is exact.
    ///
    /// # Errors
    /// What the encoder refuses.
    pub fn new(case: &Case, pattern: &Csr<()>) -> Result<Prepared<T>, GoldenError> {
        let work = Work::<T>::new(case.row, pattern, case.values, case.n, case.source.seed())?;
        let rounded = work.dense.map(|v| T::from_bits64(rounded_bits(v.bits64(), T::PRECISION)));
        let [stored, taken] = [&work.dense, &rounded].map(|dense| dense.map(|v| v.to_f64()));
        let mut panel = Panel::new(work.dense.cols());
        let exact = work.lanes.iter().map(|lane| exact::<T>(lane, &stored, &taken, &mut panel));
        let exact = exact.collect::<Result<_, _>>()?;
        Ok(Prepared { case: *case, work, rounded, exact })
    }

    /// Lanes and operands.
    #[must_use]
    pub const fn work(&self) -> &Work<T> {
        &self.work
    }

    /// The dense operand as the unit of the tiles takes it.
    #[must_use]
    pub const fn rounded(&self) -> &Dense<T> {
        &self.rounded
    }

    /// Exact value and gauge of each element of lane number `at`, in the order of its columns.
    #[must_use]
    pub fn exact(&self, at: usize) -> &[Element] {
        &self.exact[at]
    }

    /// The bits of each element of each lane, as `target` computes them.
    ///
    /// # Errors
    /// An instruction that the target does not have.
    pub fn bits(&self, target: Target) -> Result<Vec<Vec<u64>>, GoldenError> {
        let core = core(&self.case.on(target))?;
        let spmm = match core {
            Some(core) => Some(ModelSpmm::new(core, &self.rounded)?),
            None => None,
        };
        let lane = |lane: &Lane| -> Result<Vec<u64>, GoldenError> {
            let tiles = match (lane.tiles.is_empty(), &spmm, &lane.columns) {
                (true, ..) => None,
                (_, None, _) => Some(self.fmopa(lane)?),
                (_, Some(spmm), None) => {
                    let mut acc = vec![0; self.work.dense.cols()];
                    spmm.accumulate(&taken::<T>(&lane.tiles), &mut acc)?;
                    Some(acc)
                }
                (_, Some(spmm), Some(columns)) => Some(self.gathered(spmm.core(), lane, columns)?),
            };
            let rest = (!lane.rest.is_empty()).then(|| self.chained(lane));
            Ok(match (tiles, rest) {
                (Some(tiles), Some(rest)) => tiles.iter().zip(rest).map(|(&t, r)| add(t, r)).collect(),
                (Some(sums), None) | (None, Some(sums)) => sums,
                (None, None) => vec![0; columns_of(lane, self.work.dense.cols()).count()],
            })
        };
        self.work.lanes.iter().map(lane).collect()
    }

    /// The error of every element that has a term.
    ///
    /// # Errors
    /// [`GoldenError::NotFinite`] for the first element that overflows, or may; as [`bits`](Self::bits).
    pub fn scores(&self, target: Target) -> Result<Vec<Score>, GoldenError> {
        let case = self.case.on(target);
        let bits = self.bits(target)?;
        let mut bounds = Bounds::new(&case);
        let mut scores = Vec::new();
        for ((lane, exact), bits) in self.work.lanes.iter().zip(&self.exact).zip(bits) {
            let columns = columns_of(lane, self.work.dense.cols());
            for ((column, element), bits) in columns.zip(exact).zip(bits) {
                if element.gauge.is_zero() {
                    continue;
                }
                let place = self.work.place(lane, column);
                scores.push(bounds.score(lane, element, bits, place)?);
            }
        }
        Ok(scores)
    }

    /// Pairs of tiles through SME's two-way outer product.
    fn fmopa(&self, lane: &Lane) -> Result<Vec<u64>, GoldenError> {
        let step = CpuStep::new(CpuUnit::Fmopa2Way);
        let column = |column: usize| {
            let facing = |&(row, _): &Term| match row {
                PAD => 0,
                row => self.rounded.at(row as usize, column).bits64(),
            };
            lane.tiles.chunks(2).try_fold(0, |acc, pair| {
                let a: Vec<u64> = pair.iter().map(|term| term.1).collect();
                let b: Vec<u64> = pair.iter().map(facing).collect();
                Ok(step.apply(acc, &a, &b)?)
            })
        };
        (0..self.work.dense.cols()).map(column).collect()
    }

    /// Single columns through a tensor core.
    fn gathered(&self, core: &TensorCore, lane: &Lane, columns: &[u32]) -> Result<Vec<u64>, GoldenError> {
        let a: Vec<u64> = taken::<T>(&lane.tiles).iter().map(|term| term.1).collect();
        let column = |&column: &u32| {
            let facing = |term: &Term| self.rounded.at(term.0 as usize, column as usize).bits64();
            let b: Vec<u64> = lane.tiles.iter().map(facing).collect();
            Ok(chain_padded(core, 0, &a, &b)?)
        };
        columns.iter().map(column).collect()
    }

    /// The chain of fused multiply-adds, from +0.
    fn chained(&self, lane: &Lane) -> Vec<u64> {
        let unit = chain::Unit { precision: Precision::F32 };
        let column = |column: usize| {
            let step = |acc, &(row, bits): &Term| {
                let b = self.work.dense.at(row as usize, column).to_f64();
                unit.fma(T::from_bits64(bits).to_f64(), b, acc)
            };
            let sum: f64 = lane.rest.iter().fold(0.0, step);
            u64::from((sum as f32).to_bits())
        };
        columns_of(lane, self.work.dense.cols()).map(column).collect()
    }
}

/// The model of the case's instruction, where it has one.
pub(crate) fn core(case: &Case) -> Result<Option<TensorCore>, GoldenError> {
    match (case.row.instruction(), case.target) {
        (Some(instruction), Target::Gpu(architecture)) => {
            Ok(Some(TensorCore::new(architecture, instruction)?))
        }
        _ => Ok(None),
    }
}

/// The columns of the dense operand that a lane computes.
pub(crate) fn columns_of(lane: &Lane, all: usize) -> impl Iterator<Item = usize> + '_ {
    let listed = lane.columns.as_deref();
    let count = listed.map_or(all, <[u32]>::len);
    (0..count).map(move |at| listed.map_or(at, |columns| columns[at] as usize))
}

/// One f32 addition.
fn add(x: u64, y: u64) -> u64 {
    let sum = f32::from_bits(x as u32) + f32::from_bits(y as u32);
    u64::from(sum.to_bits())
}

/// Terms with factors as the unit of the tiles takes them.
fn taken<T: Scalar>(terms: &[Term]) -> Vec<Term> {
    let round = |&(row, bits): &Term| (row, rounded_bits(bits, T::PRECISION));
    terms.iter().map(round).collect()
}

/// Exact sums of a lane.
fn exact<T: Scalar>(
    lane: &Lane,
    stored: &Dense<f64>,
    rounded: &Dense<f64>,
    panel: &mut Panel,
) -> Result<Vec<Element>, GoldenError> {
    let width = stored.cols();
    let tiles = taken::<T>(&lane.tiles);
    let number = |bits| T::from_bits64(bits).to_f64();
    let real = tiles.iter().filter(|term| term.0 != PAD).map(|term| (term, rounded));
    let terms = real.chain(lane.rest.iter().map(|term| (term, stored)));
    let row = |dense: &'_ Dense<f64>, row: u32| row as usize * dense.ld();
    match &lane.columns {
        None => {
            let terms =
                terms.map(|(&(at, bits), dense)| (number(bits), &dense.data()[row(dense, at)..][..width]));
            panel.accumulate(terms, width)?;
            Ok((0..width).map(|j| panel.element(j)).collect())
        }
        Some(columns) => {
            let terms: Vec<(&Term, &Dense<f64>)> = terms.collect();
            let a: Vec<f64> = terms.iter().map(|(term, _)| number(term.1)).collect();
            let one = |&column: &u32| {
                let facing =
                    |(term, dense): &(&Term, &Dense<f64>)| dense.at(term.0 as usize, column as usize);
                let b: Vec<f64> = terms.iter().map(facing).collect();
                dot(&a, &b)
            };
            Ok(columns.iter().map(one).collect())
        }
    }
}

/// Runs `$body` with the element type of a case.
macro_rules! with_input {
    ($case:expr, $t:ident => $body:expr) => {
        match $case.row.input {
            sparse_oracle::scalar::Precision::F16 => {
                type $t = sparse_oracle::scalar::F16;
                $body
            }
            sparse_oracle::scalar::Precision::Tf32 => {
                type $t = sparse_oracle::scalar::Tf32;
                $body
            }
            // The table has no other types.
            _ => {
                type $t = f32;
                $body
            }
        }
    };
}
pub(crate) use with_input;

/// The errors of a case on each target.
///
/// # Errors
/// As [`Prepared::new`] and [`Prepared::scores`].
pub fn scores(case: &Case, pattern: &Csr<()>, targets: &[Target]) -> Result<Vec<Vec<Score>>, GoldenError> {
    with_input!(case, T => {
        let prepared = Prepared::<T>::new(case, pattern)?;
        targets.iter().map(|&target| prepared.scores(target)).collect()
    })
}
