//! Which family each operand of a product is drawn from: some families differ from one to the other.

use super::ValueFamily;

/// An operand of `C = alpha * A * B + beta * C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// The first factor: the sparse operand, or X of SDDMM.
    A,
    /// The second factor: B, x, or Y of SDDMM.
    B,
    /// What is added, or scales a product: C, or the values of SDDMM's S.
    C,
}

impl ValueFamily {
    /// The family that this operand holds. Most families are the same in all; the others name what A holds by the table:
    ///
    /// ```text
    /// family          A                    B                      C
    /// ones-a          1                    coded                  coded
    /// ones-b          coded                1                      coded
    /// subnormal-a     around the smallest  near the largest       near one
    /// subnormal-b     near the largest     around the smallest    near one
    /// one-big         few big              small integers         small integers
    /// subnormal-sums  few smallest ones    small integers         few smallest ones
    /// placed-special  few NaN, Inf         near one (*)           near one
    /// one-term        full, powers of two  full, powers of two (*) full, powers of two
    /// ```
    ///
    /// (*) Whoever knows the pattern places NaN and Inf where B must not be read, or zeros; see [`placed`](super::placed).
    #[must_use]
    pub const fn of(self, operand: Operand) -> ValueFamily {
        use ValueFamily::{Coded, NearOne, Ones, OnesA, OnesB, SmallInt, SubnormalA, SubnormalB};
        match (self, operand) {
            (OnesA, Operand::A) | (OnesB, Operand::B) => Ones,
            (OnesA | OnesB, _) => Coded,
            (SubnormalA | SubnormalB, Operand::C) | (ValueFamily::PlacedSpecial, Operand::B | Operand::C) => {
                NearOne
            }
            (SubnormalA, Operand::B) => SubnormalB,
            (SubnormalB, Operand::B) => SubnormalA,
            (ValueFamily::OneBig, Operand::B | Operand::C) | (ValueFamily::SubnormalSums, Operand::B) => {
                SmallInt
            }
            (same, _) => same,
        }
    }
}
