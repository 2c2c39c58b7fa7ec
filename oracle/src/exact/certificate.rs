//! Which summation is exact for a given set of terms: decided from exponents alone, before any sum is formed.
//!
//! Notation: n terms `a[t] * b[t]`, n <= 2^L; every |a[t] * b[t]| < 2^top; every product is a multiple of 2^q;
//! total = top + L, so that the gauge `sum |a||b|` is below 2^total. Two facts carry everything:
//!
//! 1. A multiple of 2^e of magnitude at most 2^(e + 53), e >= -1074, is an f64. An operation whose exact result is
//!    an f64 does not round.
//! 2. Dekker's fast two-sum: for sigma = 1.5 * 2^k and |x| <= 2^(k - 1), all of s = RN(sigma + x), t = s - sigma and
//!    x - t are exact but the first; t is a multiple of 2^(k - 52), and |x - t| <= 2^(k - 53).
//!
//! ```text
//!   2^total                                                                       2^q
//!     |  gauge and value live here                                                 |
//!     [======= one f64 =======]                                                        Plain
//!     [======= bin 1 =======][====== rest, one f64 ======]                             TwoBins
//!     [======= bin 1 =======][======= bin 2 =======][====== rest ======]               ThreeBins
//!     [======= bin 1 =======][======= bin 2 =======][======= bin 3 =======][= rest =]  FourBins
//!     [=========================== Accumulator, 4352 bits ===========================] Register
//! ```
//!
//! `Plain`: `v = fma(a, b, v)`: every partial sum is a multiple of 2^q below 2^total. Exact by (1) if
//! total <= q + 53.
//!
//! `TwoBins`: S starts at sigma = 1.5 * 2^k, k = total + 2; `S' = fma(a, b, S)`, `t = S' - S`,
//! `r = fma(a, b, -t)`, `rest += r`. Each |t| <= |ab| + 2^(k - 53), so that S - sigma stays below
//! 2^(k - 2) + 2^(L + k - 53) <= 2^(k - 1) (L <= 40) and S in [2^k, 2^(k + 1)]; hence t, a difference of two multiples
//! of 2^(k - 52) in one binade, is exact. r = ab - t has |r| <= 2^(k - 53) and is a multiple of 2^min(q, k - 52). If
//! q >= k - 52 it is 0. Else r and every partial sum of r's are exact by (1) if L + k - 53 <= q + 53. The result is
//! (S - sigma) + rest. The gauge has bins of its own, fed with |a| and |b|.
//!
//! `ThreeBins`: p = RN(ab), e = fma(a, b, -p) = ab - p, exact because q >= -1074; both are multiples of 2^q and
//! |p| <= 2^top, |e| <= 2^(top - 54) (a power of two is p = ab). Bin 1: sigma1 with k1 = total + 1,
//! t1 = fma(a, b, sigma1) - sigma1, exact as above; |t1| <= 2^top, so that the sum of the t1, multiples of 2^(k1 - 52)
//! below 2^total, is exact. The remainder rho = ab - t1 obeys |rho| <= 2^(k1 - 53). It is rounded, w = fma(a, b, -t1),
//! and binned with k2 = k1 - 51 + L (|w| <= 2^(k1 - 53) <= 2^(k2 - 1)): t2 by (2), sums of t2 exact as before. What is
//! left is v = rho - t2 = ((p - t1) - t2) + e, |v| <= |rho - w| + |w - t2| <= 2^(k1 - 106) + 2^(k2 - 53) <= 2^(k2 - 52).
//!
//! Are the steps to v exact? Let u = ulp(p): |e| <= u/2, u <= 2^(top - 52) <= 2^(k1 - 53). If t1 = 0, p - t1 = p. Else
//! |p| >= 2^(k1 - 53), so u >= 2^(k1 - 105), and p - t1 is a multiple of u of at most 2^(k1 - 53) + u/2: exact by (1).
//! Call it r. If u >= 2^(k2 - 52), r - t2 is a multiple of 2^(k2 - 52) and at most |v| + |e| < 2u <= 2^(top - 51) <=
//! 2^(k2 + 1): exact by (1). If u < 2^(k2 - 52) and t1 = 0, then r = p = w: exact by (2). If u < 2^(k2 - 52) and
//! t1 != 0, then u >= 2^(k1 - 105) = 2^(k2 - 54 - L), and r - t2, a multiple of u, is at most |w - t2| + |r - w| <=
//! 2^(k2 - 53) + 2u: exact by (1).
//! Finally v, a multiple of 2^min(q, k2 - 52), and every partial sum of v's are exact by (1) if
//! L + k2 - 52 <= q + 53. The gauge takes sign(ab) times the same t1, t2 and v: same bounds.
//!
//! `FourBins`: p is binned three times and e twice (bins 2 and 3) by (2) alone. k1 = total + 1, k2 = k1 - 51 + L,
//! k3 = k2 - 51 + L: in bin 2 two parts of at most 2^(k1 - 53) meet, in bin 3 two of at most 2^(k2 - 53), in the rest
//! two of at most 2^(k3 - 53): one bit more each, which the formulas contain. Exact if L + k3 - 52 <= q + 53.
//!
//! All k are raised so that the lowest bin's grid stays above the subnormals (a larger `top` is still a bound); all
//! sums stay below 2^1023. Refused, and left to the register: q < -1074, total > 1000, L > 40, and anything that is
//! not finite.

/// The binary extent of a set of numbers: all are below 2^`top` in magnitude and multiples of 2^`low`.
///
/// Extents of factors add up to the extent of the product. The special cases are numbers too large or small to
/// occur, chosen so that sums, minima and maxima need no case distinction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    top: i16,
    low: i16,
}

/// How terms may be summed without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Path {
    /// One f64 per sum: all bits of all partial sums fit.
    Plain,
    /// One bin and a rest.
    TwoBins,
    /// Two bins and a rest.
    ThreeBins,
    /// Three bins and a rest.
    FourBins,
    /// The superaccumulator: pieces of the row where they have a path of their own, single products where not.
    Register,
}

impl Path {
    /// All paths, cheapest first.
    pub const ALL: [Path; 5] = [Path::Plain, Path::TwoBins, Path::ThreeBins, Path::FourBins, Path::Register];
}

/// A path and the exponents of its bins (`sigma = 1.5 * 2^k`); unused ones are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BinPlan {
    pub(super) path: Path,
    pub(super) bins: [i32; 3],
}

impl Extent {
    /// Only zeros.
    pub(crate) const ZERO: Extent = Extent { top: -10_000, low: 10_000 };
    /// Something infinite or NaN; even times zero, as 0 * Inf is a NaN.
    const NOT_FINITE: Extent = Extent { top: 25_000, low: 0 };

    /// True where something is infinite or NaN.
    pub(crate) fn is_special(self) -> bool {
        self == Extent::NOT_FINITE
    }

    /// Exponent of the lowest set bit of all of them; none of zeros alone.
    pub(crate) fn lowest_bit(self) -> Option<i64> {
        (self != Extent::ZERO).then_some(i64::from(self.low))
    }

    /// The extent of one number.
    #[inline(always)]
    pub(crate) fn of(x: f64) -> Extent {
        let bits = x.to_bits() & !(1 << 63);
        let field = (bits >> 52) as i16;
        let fraction = bits & ((1 << 52) - 1);
        if field == 0x7ff {
            return Extent::NOT_FINITE;
        }
        if bits == 0 {
            return Extent::ZERO;
        }
        // A subnormal counts as one of the lowest normals: its top is a bound, not the exact one.
        let zeros = (fraction | 1 << 52).trailing_zeros() as i16;
        let zeros = if field == 0 { fraction.trailing_zeros() as i16 } else { zeros };
        let field = field.max(1);
        Extent { top: field - 1022, low: field - 1075 + zeros }
    }

    /// The common extent of a slice. `largest` and `lowest bit` are found on the floats themselves, so that the
    /// loop has no branches.
    #[inline(always)]
    pub(crate) fn of_slice<L: super::Lane>(values: &[L]) -> Extent {
        let (mut largest, mut smallest_bit, mut poison) = (0.0f64, f64::INFINITY, 0.0f64);
        for value in values {
            let x = value.widen();
            let bits = x.to_bits();
            // Clearing the lowest bit of the fraction leaves that bit as the difference.
            let without = f64::from_bits(bits & bits.wrapping_sub(1));
            let power_of_two = bits & ((1 << 52) - 1) == 0;
            let bit = if power_of_two { x.abs() } else { (x - without).abs() };
            let bit = if bit == 0.0 { f64::INFINITY } else { bit };
            smallest_bit = if bit < smallest_bit { bit } else { smallest_bit };
            largest = if x.abs() > largest { x.abs() } else { largest };
            poison += x * 0.0;
        }
        if poison != 0.0 {
            return Extent::NOT_FINITE;
        }
        if largest == 0.0 {
            return Extent::ZERO;
        }
        Extent { top: Extent::of(largest).top, low: Extent::of(smallest_bit).low }
    }
}

/// Collects the terms of a sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Certificate {
    top: i32,
    low: i32,
    terms: u64,
}

impl Certificate {
    /// No terms yet.
    #[inline(always)]
    pub(crate) fn new() -> Certificate {
        Certificate { top: i32::MIN, low: i32::MAX, terms: 0 }
    }

    /// Adds a product of two factors known by their extents.
    #[inline(always)]
    pub(crate) fn add(&mut self, a: Extent, b: Extent) {
        self.top = self.top.max(i32::from(a.top) + i32::from(b.top));
        self.low = self.low.min(i32::from(a.low) + i32::from(b.low));
        self.terms += 1;
    }

    /// Number of terms.
    #[inline(always)]
    pub(crate) fn terms(&self) -> u64 {
        self.terms
    }

    /// The cheapest path that is exact.
    pub(super) fn plan(&self) -> BinPlan {
        let plan = |path, bins| BinPlan { path, bins };
        let log = (self.terms.max(1).next_power_of_two().trailing_zeros()) as i32;
        let q = self.low;
        if self.top < -5_000 {
            // No term, or only zeros.
            return plan(Path::Plain, [0; 3]);
        }
        if q < -1074 || self.top + log > 1000 || log > 40 {
            return plan(Path::Register, [0; 3]);
        }
        if self.top + log <= q + 53 {
            return plan(Path::Plain, [0; 3]);
        }
        // Raised so that the lowest bin, 51 * depth below the first, keeps its grid 2^(k - 52) above 2^-1074.
        let total = |depth: i32| (self.top + log).max(-1020 + 51 * depth);
        let k = total(0) + 2;
        if log + k - 53 <= q + 53 {
            return plan(Path::TwoBins, [k, 0, 0]);
        }
        let first = total(1) + 1;
        let second = first - 51 + log;
        if log + second - 52 <= q + 53 {
            return plan(Path::ThreeBins, [first, second, 0]);
        }
        let first = total(2) + 1;
        let second = first - 51 + log;
        let third = second - 51 + log;
        if log + third - 52 <= q + 53 {
            return plan(Path::FourBins, [first, second, third]);
        }
        plan(Path::Register, [0; 3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_bound_their_numbers_tightly() {
        let cases = [
            (1.0, 1, 0),
            (1.5, 1, -1),
            (-6.0, 3, 1),
            (f64::MAX, 1024, 971),
            (f64::MIN_POSITIVE, -1021, -1022),
            (f64::from_bits(1), -1021, -1074),
            (f64::from_bits(6), -1021, -1073),
        ];
        for (x, top, low) in cases {
            assert_eq!(Extent::of(x), Extent { top, low }, "{x:e}");
            assert_eq!(Extent::of_slice(&[0.0, x, -x]), Extent { top, low }, "slice of {x:e}");
        }
        let mixed = Extent::of_slice(&[1.5, -6.0, 0.0]);
        assert_eq!(mixed, Extent { top: 3, low: -1 });
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Extent::of(x), Extent::NOT_FINITE);
            assert_eq!(Extent::of_slice(&[1.0, x]), Extent::NOT_FINITE);
        }
        assert_eq!(Extent::of_slice(&[0.0, -0.0f32]), Extent::ZERO);
        assert_eq!(Extent::of_slice::<f64>(&[]), Extent::ZERO);
    }

    #[test]
    fn zero_times_infinity_is_never_plain() {
        for (a, b) in [(0.0, f64::INFINITY), (f64::NAN, 0.0), (1e-300, f64::INFINITY)] {
            let mut certificate = Certificate::new();
            certificate.add(Extent::of(a), Extent::of(b));
            assert_eq!(certificate.plan().path, Path::Register, "{a} * {b}");
        }
    }

    /// The last spread that each path takes and the first that it refuses, for one and for 1000 terms.
    #[test]
    fn each_path_ends_where_the_derivation_says() {
        for (terms, limits) in [(1u64, [53, 104, 155, 206]), (1000, [43, 84, 125, 166])] {
            let path = |spread: i16| {
                let certificate = Certificate { top: 10, low: 10 - i32::from(spread), terms };
                certificate.plan().path
            };
            for (i, &limit) in limits.iter().enumerate() {
                assert_eq!(path(limit), Path::ALL[i], "{terms} terms, spread {limit}");
                assert_eq!(path(limit + 1), Path::ALL[i + 1], "{terms} terms, spread {}", limit + 1);
            }
        }
    }

    /// Found by mutation: nobody was at the ends of what floats can do, where a row goes to the register for want of range or of counts.
    #[test]
    fn the_range_of_a_certificate_ends_where_floats_do() {
        let path = |top, low, terms| Certificate { top, low, terms }.plan().path;
        assert_eq!(path(0, 0, 1 << 40), Path::Plain);
        assert_eq!(path(0, 0, (1 << 40) + 1), Path::Register);
        assert_eq!([path(1000, 990, 1), path(1001, 990, 1)], [Path::Plain, Path::Register]);
        assert_eq!([path(999, 990, 2), path(1000, 990, 2)], [Path::Plain, Path::Register]);
        assert_eq!([path(-1030, -1074, 1), path(-1030, -1075, 1)], [Path::Plain, Path::Register]);
        assert_eq!([path(-5_000, -1075, 1), path(-5_001, -1075, 1)], [Path::Register, Path::Plain]);
    }
}
