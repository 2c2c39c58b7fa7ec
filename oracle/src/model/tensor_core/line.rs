//! One instruction for a whole tile: operands decoded once, for those who judge hundreds of millions of outputs.
//!
//! ```text
//! row of A    bits -> significand, exponent      once a row
//! column of B bits -> significand, exponent      once a column (sparse: gathered once a row and column)
//! element     max of exponents, shift, add       m * n times
//! ```
//!
//! Same arithmetic as [`FusedSum::step`], to which anything with a NaN or an infinity is handed; a test compares both.

use super::fused::FusedSum;
use super::table::Datapath;
use super::term::{Meaning, Term};
use crate::scalar::Precision;
use std::ops::Range;

/// Below every exponent of a product of numbers, so that a zero never is the largest term.
const ZERO: i32 = -(1 << 20);
/// Marks NaN and infinity.
const SPECIAL: i32 = 1 << 20;

/// A row of A or a column of B in the order in which a datapath takes its products.
#[derive(Clone, Debug)]
pub struct Line {
    precision: Precision,
    /// fp8 that the datapath converts to f16 first.
    in_half: bool,
    bits: Vec<u64>,
    significand: Vec<i32>,
    exponent: Vec<i32>,
    special: bool,
}

impl Line {
    /// An empty line of a type, for a datapath.
    #[must_use]
    pub fn new(precision: Precision, datapath: &Datapath) -> Line {
        Line {
            precision,
            in_half: matches!(datapath, Datapath::HalfPairs(_)),
            bits: Vec::new(),
            significand: Vec::new(),
            exponent: Vec::new(),
            special: false,
        }
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// True without values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The bits that were loaded, in the order of the line.
    #[must_use]
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    fn clear(&mut self) {
        self.bits.clear();
        self.significand.clear();
        self.exponent.clear();
        self.special = false;
    }

    /// Replaces the values.
    pub fn load(&mut self, bits: impl Iterator<Item = u64>) {
        self.clear();
        let wide = self.precision == Precision::F64;
        for bits in bits {
            self.bits.push(bits);
            // The chain of fma works on bits; 53 significant bits would not fit here.
            if !wide {
                let (significand, exponent) = pack(self.decode(bits));
                self.significand.push(significand);
                self.exponent.push(exponent);
                self.special |= exponent == SPECIAL;
            }
        }
    }

    /// Replaces the values by those of `from` at `places`.
    ///
    /// # Panics
    /// If a place is not below `from.len()`.
    pub fn gather(&mut self, from: &Line, places: &[usize]) {
        self.clear();
        self.bits.extend(places.iter().map(|&i| from.bits[i]));
        if from.significand.is_empty() {
            return;
        }
        self.significand.extend(places.iter().map(|&i| from.significand[i]));
        self.exponent.extend(places.iter().map(|&i| from.exponent[i]));
        self.special = self.exponent.contains(&SPECIAL);
    }

    fn decode(&self, bits: u64) -> Meaning {
        let operand = Meaning::decode(bits, self.precision);
        if self.in_half { operand.in_half() } else { operand }
    }

    fn fraction(&self) -> i32 {
        self.precision.spec().significand as i32 - 1
    }
}

fn pack(operand: Meaning) -> (i32, i32) {
    match operand {
        Meaning::Nan | Meaning::Infinity(_) => (0, SPECIAL),
        Meaning::Finite(Term { significand: 0, .. }) => (0, ZERO),
        Meaning::Finite(term) => {
            let magnitude = term.significand as i32;
            (if term.negative { -magnitude } else { magnitude }, term.exponent)
        }
    }
}

impl Datapath {
    /// The products in the order in which [`element`](Self::element) expects them on a line.
    #[must_use]
    pub fn order(&self, products: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..products).collect();
        if let Datapath::HalfPairs(_) = self {
            order.sort_by_key(|product| product % 4 / 2);
        }
        order
    }

    /// One output element of one instruction from lines in [`order`](Self::order).
    ///
    /// # Panics
    /// If the lines differ in length.
    #[must_use]
    pub fn element(&self, acc: u64, a: &Line, b: &Line) -> u64 {
        assert_eq!(a.len(), b.len(), "a row and a column of one product");
        match self {
            Datapath::Fused(sum) => {
                let links = (0..a.len()).step_by(sum.products.max(1));
                links.fold(acc, |acc, from| {
                    sum.step_lines(acc, a, b, from..(from + sum.products).min(a.len()))
                })
            }
            Datapath::HalfPairs(sum) => {
                let half = a.len() / 2;
                let low = sum.step_lines(0, a, b, 0..half);
                super::ieee_add(acc, sum.step_lines(low, a, b, half..a.len()), sum.output)
            }
            Datapath::FmaChain => {
                let number = |bits: &u64| f64::from_bits(*bits);
                let terms = a.bits.iter().map(number).zip(b.bits.iter().map(number));
                terms.fold(number(&acc), |acc, (a, b)| a.mul_add(b, acc)).to_bits()
            }
        }
    }
}

impl FusedSum {
    /// [`step`](Self::step) over a part of two lines.
    fn step_lines(&self, acc: u64, a: &Line, b: &Line, part: Range<usize>) -> u64 {
        let acc = Meaning::decode(acc, self.output.precision());
        // Products keep fa + fb bits behind the point; the units here keep at least as many.
        let scale = self.fraction - a.fraction() - b.fraction();
        match acc {
            Meaning::Finite(acc) if !a.special && !b.special && scale >= 0 => {
                self.step_finite(acc, a, b, part, scale)
            }
            _ => self.add_up(part.map(|i| a.decode(a.bits[i]).times(b.decode(b.bits[i]))).chain([acc])),
        }
    }

    fn step_finite(&self, acc: Term, a: &Line, b: &Line, part: Range<usize>, scale: i32) -> u64 {
        let exponents = || a.exponent[part.clone()].iter().zip(&b.exponent[part.clone()]);
        let significands = a.significand[part.clone()].iter().zip(&b.significand[part.clone()]);
        // All numbers here are far from the ends of their types. Operations that may wrap are those that no build checks for overflow.
        let mut largest =
            exponents().fold(self.zero_exponent, |largest, (x, &y)| largest.max(x.wrapping_add(y)));
        if acc.significand != 0 {
            largest = largest.max(acc.exponent);
        }
        let products = significands.zip(exponents()).map(|((&s, &t), (x, &y))| {
            let shift = largest.wrapping_sub(x.wrapping_add(y)).min(63) as u32;
            let magnitude = u64::from(s.unsigned_abs()).wrapping_mul(u64::from(t.unsigned_abs()));
            // The magnitude is cut, not the two's complement. The sign is that of the product, without a branch that is guessed wrong.
            let cut = magnitude.wrapping_shl(scale as u32).wrapping_shr(shift) as i64;
            let sign = i64::from((s ^ t) >> 31);
            (cut ^ sign).wrapping_sub(sign)
        });
        let lsb = largest - self.fraction;
        let acc = if acc.significand == 0 { 0 } else { acc.aligned(lsb) };
        self.output.round(products.fold(acc, i64::wrapping_add), lsb)
    }
}
