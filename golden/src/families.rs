//! The matrices and the numbers that errors are pinned on.
//!
//! ```text
//! MATRICES   one pattern a family, as a line of `oracle::source::generator`; windows of at most 32 blocks, which RSH does not cut
//! Values     near-one positive normal wide cancelling
//! ```
//!
//! All values are finite and normal, and no sum comes near the largest f32: errors are those of rounding alone.

use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Scalar};
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::ValueFamily;

/// One pattern of each family.
pub const MATRICES: [&str; 13] = [
    "uniform:rows=128,cols=256,density=0.04,seed=1",
    "banded:rows=128,cols=128,lower=6,upper=6,seed=1",
    "block:rows=128,cols=256,block=8,density=0.1,seed=1",
    "zipf:rows=128,cols=256,longest=256,seed=1",
    "rmat:scale=7,seed=1",
    "stencil:points=9,nx=12,ny=12,seed=1",
    "circuit:rows=128,seed=1",
    "nm:rows=64,cols=256,n=1,m=4,seed=1",
    "empty:rows=64,cols=96,seed=1",
    "dense_row:rows=96,cols=256,dense=2,densecols=1,density=0.03,seed=1",
    "dense:rows=24,cols=256,seed=1",
    "lengths:rows=64,cols=256,tile=16,seed=1",
    "tails:tile=16,tiles=2,dcol=-1,seed=1",
];

/// Columns of the dense operand.
pub const COLUMNS: usize = 16;

/// Inner dimension of SDDMM: whole slices of 8, and half a slice of 16 in the end.
pub const INNER: usize = 40;

/// What operands hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Values {
    /// Full significands, exponents -1 to 1, either sign.
    NearOne,
    /// The same without signs: sums grow, and what rounds toward zero drifts.
    Positive,
    /// The sum of twelve uniform numbers less six, which is nearly a standard normal one.
    Normal,
    /// Exponents over half of the type's range.
    Wide,
    /// Neighbours in the sparse operand nearly cancel, and meet the same factor.
    Cancelling,
}

impl Values {
    /// All.
    pub const ALL: [Values; 5] =
        [Values::NearOne, Values::Positive, Values::Normal, Values::Wide, Values::Cancelling];

    /// The name in lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Values::NearOne => "near-one",
            Values::Positive => "positive",
            Values::Normal => "normal",
            Values::Wide => "wide",
            Values::Cancelling => "cancelling",
        }
    }

    /// The family with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Values> {
        Values::ALL.into_iter().find(|values| values.name() == name)
    }

    /// `n` values of the sparse operand (SDDMM: X, row by row), in the order in which entries are stored.
    #[must_use]
    pub fn sparse<T: Scalar>(self, n: usize, seed: u64) -> Vec<T> {
        let family = match self {
            Values::Cancelling => ValueFamily::NearCancelling,
            _ => return self.draw(n, seed, "golden sparse"),
        };
        family.fill(n, seed, T::PRECISION).into_iter().map(T::from_f64).collect()
    }

    /// The dense operand with `rows` rows along the inner dimension, row by row.
    #[must_use]
    pub fn dense<T: Scalar>(self, rows: usize, cols: usize, seed: u64) -> Vec<T> {
        match self {
            Values::Cancelling => {
                let one: Vec<T> = self.draw(cols, seed, "golden dense");
                one.iter().copied().cycle().take(rows * cols).collect()
            }
            _ => self.draw(rows * cols, seed, "golden dense"),
        }
    }

    fn draw<T: Scalar>(self, n: usize, seed: u64, purpose: &str) -> Vec<T> {
        let mut random = Random::new(seed, purpose);
        (0..n).map(|_| T::from_f64(self.sample(&mut random, T::PRECISION))).collect()
    }

    fn sample(self, random: &mut Random, precision: Precision) -> f64 {
        match self {
            Values::NearOne | Values::Cancelling => ValueFamily::NearOne.sample(random, precision),
            Values::Positive => ValueFamily::NearOne.sample(random, precision).abs(),
            Values::Normal => normal(random),
            Values::Wide => ValueFamily::Wide.sample(random, precision),
        }
    }
}

/// Exact sums of integers, so alike everywhere. Below 2^-14 f16 has subnormal numbers only.
fn normal(random: &mut Random) -> f64 {
    let least = 2.0_f64.powi(-14);
    let bits = 40;
    let sum: i64 = (0..12).map(|_| random.below(1 << bits) as i64).sum();
    let value = (sum - (6 << bits)) as f64 / (1_i64 << bits) as f64;
    if value.abs() < least { least } else { value }
}
