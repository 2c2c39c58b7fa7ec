//! The product of a sparse and a dense matrix as an instruction computes it, fast enough to judge whole matrices.
//!
//! ```text
//! once:      B -> significands, exponents; which rows hold NaN or infinity
//! per row:   terms (row of B, a) in the kernel's order -> blocks of products(), pads 0 * 0 -> steps over all columns
//! ```
//!
//! Bit for bit what [`TensorCore::apply`] returns, which also takes over where a term or an accumulator is not finite, and for
//! instructions that do not fuse (f64).

use super::lanes::{Factor, LaneStep, Planes};
use super::term::FinalRounding;
use super::{Datapath, TensorCore, ieee_add};
use crate::format::{Csr, Dense};
use crate::model::ModelError;
use crate::scalar::{Precision, Rounding, Scalar, encode};

/// The row of B of a pad: the product is 0 * 0 and no element of B is read.
pub const PAD: u32 = u32::MAX;

/// One instruction and one dense right-hand side, prepared.
#[derive(Clone, Debug)]
pub struct ModelSpmm<'b, T> {
    core: TensorCore,
    b: &'b Dense<T>,
    fast: Option<Fast>,
    arch: pulp::Arch,
}

/// What the fast way needs.
#[derive(Clone, Debug)]
struct Fast {
    planes: Planes,
    /// Rows of B that hold a NaN or an infinity.
    special: Vec<bool>,
}

impl<'b, T: Scalar> ModelSpmm<'b, T> {
    /// Prepares B. Where the instruction takes tf32, f32 is taken as well: the low 13 bits are not read.
    ///
    /// # Errors
    /// [`ModelError::Input`] where the instruction multiplies another type.
    pub fn new(core: TensorCore, b: &'b Dense<T>) -> Result<ModelSpmm<'b, T>, ModelError> {
        check_type::<T>(&core)?;
        let fast = match core.datapath() {
            Datapath::Fused(_) => true,
            // Its inner sums may overflow where they are f16.
            Datapath::HalfPairs(sum) => sum.output == FinalRounding::F32TowardZero,
            Datapath::FmaChain => false,
        };
        Ok(ModelSpmm {
            core,
            b,
            fast: fast.then(|| Fast::new(b, core.instruction().input)),
            arch: pulp::Arch::new(),
        })
    }

    /// The instruction.
    #[must_use]
    pub const fn core(&self) -> &TensorCore {
        &self.core
    }

    /// Adds the terms (row of B or [`PAD`], bits of a) to one accumulator per column of B, in order,
    /// [`TensorCore::products`] at a time; the last instruction is filled up with pads.
    ///
    /// # Errors
    /// [`ModelError::Shape`] unless there is one accumulator a column, [`ModelError::Row`] for a row that B does not have.
    pub fn accumulate(&self, terms: &[(u32, u64)], acc: &mut [u64]) -> Result<(), ModelError> {
        if acc.len() != self.b.cols() {
            return Err(ModelError::Shape {
                what: "accumulators, one for each column of B",
                expected: self.b.cols(),
                found: acc.len(),
            });
        }
        let rows = self.b.rows();
        if let Some(&(row, _)) = terms.iter().find(|(row, _)| *row != PAD && *row as usize >= rows) {
            return Err(ModelError::Row { row: row as usize, rows });
        }
        let blocks = terms.chunks(self.core.products());
        let Some(fast) = &self.fast else {
            return blocks.into_iter().try_for_each(|block| self.slowly(block, acc));
        };
        let mut lanes = vec![0; fast.planes.stride];
        let (mut before, mut factors) = (lanes.clone(), Vec::with_capacity(self.core.products()));
        narrow(acc, &mut lanes);
        let mut finite = self.all_finite(&lanes);
        for block in blocks {
            if finite && fast.factors(block, self.core.instruction().input, &mut factors) {
                before.copy_from_slice(&lanes);
                if !self.quickly(fast, &factors, &mut lanes) {
                    continue;
                }
                // A step overflowed, perhaps not the last one: the whole instruction again.
                lanes.copy_from_slice(&before);
            }
            widen(&lanes, acc);
            self.slowly(block, acc)?;
            narrow(acc, &mut lanes);
            finite = self.all_finite(&lanes);
        }
        widen(&lanes, acc);
        Ok(())
    }

    /// Computes A * B from +0 in ascending columns of A, and shows the bits of each row in turn.
    ///
    /// # Errors
    /// [`ModelError::Input`] where A has another type, [`ModelError::Shape`] where the shapes do not fit.
    pub fn for_each_row<A: Scalar>(
        &self,
        a: &Csr<A>,
        mut visit: impl FnMut(usize, &[u64]),
    ) -> Result<(), ModelError> {
        check_type::<A>(&self.core)?;
        if a.cols != self.b.rows() {
            return Err(ModelError::Shape {
                what: "rows of B, one for each column of A",
                expected: a.cols,
                found: self.b.rows(),
            });
        }
        let (mut terms, mut acc) = (Vec::new(), vec![0; self.b.cols()]);
        for (row, ends) in a.row_ptr.windows(2).enumerate() {
            let range = ends[0] as usize..ends[1] as usize;
            let stored = a.col_idx[range.clone()].iter().zip(&a.values[range]);
            terms.clear();
            terms.extend(stored.map(|(&col, value)| (col, value.bits64())));
            acc.fill(0);
            self.accumulate(&terms, &mut acc)?;
            visit(row, &acc);
        }
        Ok(())
    }

    /// One instruction a column, by [`TensorCore::apply`].
    fn slowly(&self, block: &[(u32, u64)], acc: &mut [u64]) -> Result<(), ModelError> {
        let products = self.core.products();
        let bits = |&(row, bits): &(u32, u64)| if row == PAD { 0 } else { bits };
        let mut a: Vec<u64> = block.iter().map(bits).collect();
        a.resize(products, 0);
        let mut b = vec![0; products];
        for (col, acc) in acc.iter_mut().enumerate() {
            for (b, &(row, _)) in b.iter_mut().zip(block) {
                *b = match row {
                    PAD => 0,
                    row => self.b.at(row as usize, col).bits64(),
                };
            }
            *acc = self.core.apply(*acc, &a, &b)?;
        }
        Ok(())
    }

    /// One instruction for all columns; true if an accumulator became infinite.
    fn quickly(&self, fast: &Fast, factors: &[(usize, Factor)], acc: &mut [u32]) -> bool {
        let spec = self.core.instruction().input.spec();
        let step = |sum, terms: &[(usize, Factor)], acc: &mut [u32]| {
            self.arch.dispatch(LaneStep {
                sum,
                product_fraction: 2 * (spec.significand as i32 - 1),
                planes: &fast.planes,
                terms,
                acc,
            })
        };
        match self.core.datapath() {
            Datapath::Fused(sum) => factors.chunks(self.core.fused()).any(|link| step(sum, link, acc)),
            Datapath::HalfPairs(sum) => {
                let mut dot = vec![0; acc.len()];
                let mut infinite = false;
                for link in 0..2 {
                    let of_link = |i: &usize| self.core.link_of(*i) == link;
                    let terms: Vec<_> = (0..factors.len()).filter(of_link).map(|i| factors[i]).collect();
                    infinite |= step(sum, &terms, &mut dot);
                }
                for (acc, dot) in acc.iter_mut().zip(dot) {
                    *acc = ieee_add((*acc).into(), dot.into(), sum.output) as u32;
                    infinite |= *acc & 0x7fff_ffff >= 0x7f80_0000;
                }
                infinite
            }
            Datapath::FmaChain => false,
        }
    }

    /// True where all accumulators are finite; they have at most 32 bits.
    fn all_finite(&self, lanes: &[u32]) -> bool {
        let precision = self.core.instruction().acc;
        let exponent = encode(f64::INFINITY, precision, Rounding::NearestEven) as u32;
        lanes.iter().all(|&bits| bits & exponent != exponent)
    }
}

impl Fast {
    fn new<T: Scalar>(b: &Dense<T>, input: Precision) -> Fast {
        let mut planes = Planes::zeros(b.rows(), b.cols());
        let mut special = vec![false; b.rows()];
        for (row, special) in special.iter_mut().enumerate() {
            for col in 0..b.cols() {
                let at = row * planes.stride + col;
                match Factor::decode(b.at(row, col).bits64(), input) {
                    Some(factor) => {
                        planes.significands[at] = factor.significand;
                        planes.exponents[at] = factor.exponent;
                    }
                    None => *special = true,
                }
            }
        }
        Fast { planes, special }
    }

    /// Decodes a block; false if something in it is not finite.
    fn factors(&self, block: &[(u32, u64)], input: Precision, out: &mut Vec<(usize, Factor)>) -> bool {
        out.clear();
        for &(row, bits) in block {
            if row == PAD {
                // No row of B is read for a factor of 0.
                out.push((0, Factor::ZERO));
                continue;
            }
            match Factor::decode(bits, input) {
                Some(factor) if !self.special[row as usize] => out.push((row as usize, factor)),
                _ => return false,
            }
        }
        true
    }
}

/// Accumulators of at most 32 bits; lanes beyond them stay 0.
fn narrow(acc: &[u64], lanes: &mut [u32]) {
    lanes.iter_mut().zip(acc).for_each(|(lane, &bits)| *lane = bits as u32);
}

fn widen(lanes: &[u32], acc: &mut [u64]) {
    acc.iter_mut().zip(lanes).for_each(|(bits, &lane)| *bits = lane.into());
}

fn check_type<T: Scalar>(core: &TensorCore) -> Result<(), ModelError> {
    let takes = core.instruction().input;
    if T::PRECISION == takes || (T::PRECISION, takes) == (Precision::F32, Precision::Tf32) {
        return Ok(());
    }
    Err(ModelError::Input { instruction: core.instruction(), found: T::PRECISION })
}
