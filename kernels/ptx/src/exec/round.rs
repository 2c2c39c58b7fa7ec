//! Rounding that the host's arithmetic does not do: toward zero, up, down.
//!
//! ```text
//! f32    f64 with the last bit odd where something was lost (53 >= 24 + 2 bits: a second rounding then is right) -> f32
//! f64    integers: magnitude of 128 bits, its lowest bit set where something below was lost -> f64
//! ```

pub(crate) use sparse_oracle::scalar::Rounding;

/// The NaN that instructions on f32 return.
pub(crate) const NAN32: u32 = 0x7fff_ffff;
/// The NaN that instructions on f16 and bf16 return.
pub(crate) const NAN16: u16 = 0x7fff;
/// The NaN that instructions on f64 return where no operand is one.
pub(crate) const NAN64: u64 = 0xfff8_0000_0000_0000;

/// The one NaN of f32 for any. By integers: compilers take one NaN for another, and drop a choice between floats.
#[inline(always)]
pub(crate) fn quiet(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { NAN32 } else { bits })
}

/// A result of f64: an operand that is NaN goes on, quiet. PTX leaves open which one; an H100 takes the second before the third before
/// the first.
#[inline(always)]
pub(crate) fn quiet64(result: f64, operands: [f64; 3]) -> f64 {
    const QUIET: u64 = 1 << 51;
    let [a, b, c] = operands.map(f64::to_bits);
    let nan = |bits: u64| bits & !(1 << 63) > 0x7ff0_0000_0000_0000;
    if !result.is_nan() {
        return result;
    }
    f64::from_bits(match (nan(a), nan(b), nan(c)) {
        (_, true, _) => b | QUIET,
        (_, false, true) => c | QUIET,
        (true, false, false) => a | QUIET,
        (false, false, false) => NAN64,
    })
}

/// Clamped to [0, 1]; NaN and -0 are +0.
#[inline(always)]
pub(crate) fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// Clamped to [0, 1]; NaN and -0 are +0.
#[inline(always)]
pub(crate) fn saturate64(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// `.ftz`: a subnormal is a zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    if bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { x }
}

/// `toward` is the part of the exact value that is missing from `x`: makes the last bit odd unless that is zero.
#[inline(always)]
fn odd(x: f64, missing: f64) -> f64 {
    let bits = x.to_bits();
    if missing == 0.0 || missing.is_nan() || !x.is_finite() || bits & 1 == 1 {
        return x;
    }
    if x == 0.0 {
        return f64::from_bits(missing.to_bits() & 1 << 63 | 1);
    }
    let outward = (missing > 0.0) == (x > 0.0);
    f64::from_bits(if outward { bits + 1 } else { bits - 1 })
}

/// `a + b`, to odd; a zero has the sign that the mode asks for.
#[inline(always)]
fn odd_sum(a: f64, b: f64, mode: Rounding) -> f64 {
    let sum = a + b;
    if sum == 0.0 && mode == Rounding::Down && (a.is_sign_negative() || b.is_sign_negative()) {
        return -0.0;
    }
    let part = sum - a;
    odd(sum, (a - (sum - part)) + (b - part))
}

/// An exact or odd f64 as f32; the modes are those of PTX, and to odd.
#[inline(always)]
pub(crate) fn to_f32(x: f64, mode: Rounding) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    if near.is_nan() {
        return quiet(near);
    }
    match mode {
        Rounding::TowardZero if back.abs() > x.abs() => f32::from_bits(near.to_bits() - 1),
        Rounding::Up if back < x => near.next_up(),
        Rounding::Down if back > x => near.next_down(),
        Rounding::ToOdd => {
            let cut = near.to_bits() - u32::from(back.abs() > x.abs());
            f32::from_bits(cut | u32::from(back != x))
        }
        Rounding::TowardZero
        | Rounding::Up
        | Rounding::Down
        | Rounding::NearestEven
        | Rounding::NearestAway => near,
    }
}

/// `a + b`.
#[inline(always)]
pub(crate) fn add_f32(a: f32, b: f32, mode: Rounding) -> f32 {
    to_f32(odd_sum(a.into(), b.into(), mode), mode)
}

/// `a * b`, exact in f64.
#[inline(always)]
pub(crate) fn mul_f32(a: f32, b: f32, mode: Rounding) -> f32 {
    to_f32(f64::from(a) * f64::from(b), mode)
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub(crate) fn fma_f32(a: f32, b: f32, c: f32, mode: Rounding) -> f32 {
    to_f32(odd_sum(f64::from(a) * f64::from(b), c.into(), mode), mode)
}

/// `a * b + c` of f16 or bf16, to odd: rounding it to either type is right.
#[inline(always)]
pub(crate) fn fma_odd(a: f32, b: f32, c: f32) -> f32 {
    to_f32(odd_sum(f64::from(a) * f64::from(b), c.into(), Rounding::NearestEven), Rounding::ToOdd)
}

/// `a / b`.
#[inline(always)]
pub(crate) fn div_f32(a: f32, b: f32, mode: Rounding) -> f32 {
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    let rest = (-quotient).mul_add(b, a);
    to_f32(odd(quotient, if b < 0.0 { -rest } else { rest }), mode)
}

/// The square root.
#[inline(always)]
pub(crate) fn sqrt_f32(a: f32, mode: Rounding) -> f32 {
    let a = f64::from(a);
    let root = a.sqrt();
    to_f32(odd(root, (-root).mul_add(root, a)), mode)
}

/// `(-1)^negative * magnitude * 2^exponent`, not zero.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

impl Exact {
    fn of(x: f64) -> Exact {
        let bits = x.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let hidden = u128::from(field > 0) << 52;
        Exact {
            negative: x.is_sign_negative(),
            magnitude: hidden | u128::from(bits & ((1 << 52) - 1)),
            exponent: field.max(1) - 1075,
        }
    }

    fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The exponent of the leading bit.
    fn top(self) -> i32 {
        self.exponent + 127 - self.magnitude.leading_zeros() as i32
    }

    /// In units of `2^unit`; what lies below is kept as a lowest bit that is set.
    fn in_units(self, unit: i32) -> i128 {
        let shift = unit - self.exponent;
        let magnitude = match shift {
            ..=0 => self.magnitude << -shift,
            1..=127 => {
                let lost = self.magnitude & ((1 << shift) - 1) != 0;
                self.magnitude >> shift | u128::from(lost)
            }
            128.. => u128::from(self.magnitude != 0),
        } as i128;
        if self.negative { -magnitude } else { magnitude }
    }

    /// The sum, right for every rounding to 53 bits: of the larger one at least 19 bits below its last one are kept.
    fn plus(self, other: Exact) -> Exact {
        let unit = self.top().max(other.top()) - 125;
        let sum = self.in_units(unit) + other.in_units(unit);
        Exact { negative: sum < 0, magnitude: sum.unsigned_abs(), exponent: unit }
    }

    fn rounded(self, mode: Rounding) -> f64 {
        let quantum = (self.top() - 52).max(-1074);
        let shift = quantum - self.exponent;
        let (mut units, mut rest, mut half) = (self.magnitude, 0, 1);
        match shift {
            ..=0 => units <<= -shift,
            1..=127 => {
                rest = units & ((1 << shift) - 1);
                half = 1 << (shift - 1);
                units >>= shift;
            }
            128.. => (units, rest, half) = (0, 1, 2),
        }
        let up = match mode {
            Rounding::NearestEven => rest > half || rest == half && units & 1 == 1,
            Rounding::NearestAway => rest >= half && rest != 0,
            Rounding::TowardZero => false,
            Rounding::Up => rest != 0 && !self.negative,
            Rounding::Down => rest != 0 && self.negative,
            Rounding::ToOdd => rest != 0 && units & 1 == 0,
        };
        const INFINITY: u64 = 0x7ff0_0000_0000_0000;
        let bits = (((quantum + 1074) as u64) << 52) + units as u64 + u64::from(up);
        let outward = match mode {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::TowardZero | Rounding::ToOdd => false,
            Rounding::Up => !self.negative,
            Rounding::Down => self.negative,
        };
        let bits = if bits < INFINITY { bits } else { INFINITY - u64::from(!outward) };
        f64::from_bits(u64::from(self.negative) << 63 | bits)
    }
}

/// `a * b + c` in f64, rounded once.
pub(crate) fn fma_f64(a: f64, b: f64, c: f64, mode: Rounding) -> f64 {
    let near = a.mul_add(b, c);
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return quiet64(near, [a, b, c]);
    }
    let (product, addend) = (Exact::of(a).times(Exact::of(b)), Exact::of(c));
    match (product.magnitude, addend.magnitude) {
        (0, 0) if product.negative != addend.negative => {
            if mode == Rounding::Down {
                -0.0
            } else {
                0.0
            }
        }
        (0, 0) => near,
        (0, _) => c,
        (_, 0) => product.rounded(mode),
        (_, _) => match product.plus(addend) {
            Exact { magnitude: 0, .. } if mode == Rounding::Down => -0.0,
            Exact { magnitude: 0, .. } => 0.0,
            sum => sum.rounded(mode),
        },
    }
}

/// `a + b` in f64.
pub(crate) fn add_f64(a: f64, b: f64, mode: Rounding) -> f64 {
    quiet64(fma_f64(a, 1.0, b, mode), [a, b, 0.0])
}

/// `a * b` in f64.
pub(crate) fn mul_f64(a: f64, b: f64, mode: Rounding) -> f64 {
    // A zero of the product's sign changes nothing.
    let zero = if a.is_sign_negative() != b.is_sign_negative() { -0.0 } else { 0.0 };
    quiet64(fma_f64(a, b, zero, mode), [a, b, 0.0])
}

/// An integer as f64.
pub(crate) fn f64_of_integer(x: i128, mode: Rounding) -> f64 {
    match x {
        0 => 0.0,
        _ => Exact { negative: x < 0, magnitude: x.unsigned_abs(), exponent: 0 }.rounded(mode),
    }
}
