//! The truncated fused dot-product-add, T-FDPA: what a tensor core adds up in one step, exactly.
//!
//! ```text
//! products a*b, exact          |1.........|..                      E = largest exponent, at least e_zero
//! and the accumulator c           |1......|.......
//!                                      |1.|.......
//!                              <-- F bits>| dropped, each toward zero
//!                              sum of integers, in any order -> one rounding to the accumulator type
//! ```
//!
//! Sources: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores" (Peer J CS 7:e330); Khattak and
//! Mikaitis, "Accurate models of NVIDIA tensor cores" (arXiv 2512.07004); MMA-Sim (arXiv 2511.10909). Confirmed on an H200 by
//! the recordings in `oracle/data/silicon`.

use super::term::{FinalRounding, Meaning};
use crate::scalar::Precision;

/// Products that a step decodes once and keeps, the most of any unit in the table; more are decoded for every pass.
const MOST: usize = 32;

/// Parameters of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FusedSum {
    /// F: bits kept below the leading place of the largest exponent.
    pub fraction: i32,
    /// L: the most products that are added up in one step.
    pub products: usize,
    /// The exponent by which a zero product and a zero accumulator are aligned.
    pub zero_exponent: i32,
    /// The rounding.
    pub output: FinalRounding,
}

impl FusedSum {
    /// One step: the bits of `acc + sum a[i] * b[i]`. Operands beyond the shorter slice are not read.
    #[must_use]
    pub fn step(&self, acc: u64, a: &[u64], b: &[u64], input: Precision) -> u64 {
        let factor = |bits| Meaning::decode(bits, input);
        let products = a.iter().zip(b).map(|(&x, &y)| factor(x).times(factor(y)));
        let acc = Meaning::decode(acc, self.output.precision());
        let mut decoded = [acc; MOST + 1];
        let count = a.len().min(b.len());
        if count > MOST {
            return self.add_up(products.chain([acc]));
        }
        decoded.iter_mut().zip(products).for_each(|(to, product)| *to = product);
        self.add_up(decoded[..=count].iter().copied())
    }

    /// The rounded sum of exact terms, the accumulator among them.
    pub(super) fn add_up(&self, terms: impl Iterator<Item = Meaning> + Clone) -> u64 {
        if let Some(special) = self.special(terms.clone()) {
            return special;
        }
        let finite = terms.filter_map(|term| match term {
            Meaning::Finite(term) if term.significand != 0 => Some(term),
            _ => None,
        });
        let largest = finite.clone().map(|term| term.exponent).max();
        let lsb = largest.unwrap_or(self.zero_exponent).max(self.zero_exponent) - self.fraction;
        let sum = finite.map(|term| term.aligned(lsb)).sum();
        self.output.round(sum, lsb)
    }

    /// NaN if any term is, or if infinities of both signs meet; else the infinity, if there is one.
    fn special(&self, terms: impl Iterator<Item = Meaning>) -> Option<u64> {
        let mut infinity = None;
        for term in terms {
            match (term, infinity) {
                (Meaning::Nan, _) => return Some(self.output.nan()),
                (Meaning::Infinity(negative), Some(other)) if negative != other => {
                    return Some(self.output.nan());
                }
                (Meaning::Infinity(negative), _) => infinity = Some(negative),
                (Meaning::Finite(_), _) => {}
            }
        }
        infinity.map(|negative| self.output.infinity(negative))
    }
}
