//! Floats, by `rustc_apfloat`.

use crate::Reference;
use crate::integers::{finish, holds};
use crate::types::{Answer, Form, Kind, Type};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// Whether NaN has one pattern: 0x7fffffff, 0x7fff.
fn answer<F: Float>(x: F) -> Answer {
    match (x.is_nan(), F::BITS) {
        (true, 64) => Answer::Nan64,
        (true, 32) => Answer::Bits(0x7fff_ffff),
        (true, _) => Answer::Bits(0x7fff),
        (false, _) => Answer::Bits(x.to_bits() as u64),
    }
}

fn of<F: Float>(raw: u64) -> F {
    F::from_bits(u128::from(raw) & (u128::MAX >> (128 - F::BITS)))
}

/// Runs a generic function with the type of floats.
macro_rules! with_float {
    ($ty:expr, $function:ident($($argument:expr),*)) => {
        match ($ty.kind, $ty.bits) {
            (Kind::Brain, _) => $function::<BFloat>($($argument),*),
            (_, 16) => $function::<Half>($($argument),*),
            (_, 64) => $function::<Double>($($argument),*),
            _ => $function::<Single>($($argument),*),
        }
    };
}

/// `None` where no float takes part.
pub(crate) fn reference(form: &Form<'_>) -> Option<Reference> {
    let ty = form.source();
    if form.has("approx") || form.has("full") {
        return Some(approximate(form, ty));
    }
    if form.words[0] == "cvt" {
        return Some(conversion(form));
    }
    let single = with_float!(ty, arithmetic(form))?;
    Some(if form.pairs { twice(single) } else { single })
}

/// Both halves of a register, each by itself.
fn twice(single: Reference) -> Reference {
    Box::new(move |s| {
        let half = |shift: u32| {
            let parts: Vec<u64> = s.iter().map(|raw| raw >> shift & 0xffff).collect();
            match single(&parts) {
                Answer::Bits(bits) => bits,
                other => panic!("16 bits have one NaN, not {other:?}"),
            }
        };
        Answer::Bits(half(16) << 16 | half(0))
    })
}

fn mode(form: &Form<'_>) -> Round {
    let of = |word: &&str| match *word {
        "rn" | "rni" => Some(Round::NearestTiesToEven),
        "rna" => Some(Round::NearestTiesToAway),
        "rz" | "rzi" => Some(Round::TowardZero),
        "rm" | "rmi" => Some(Round::TowardNegative),
        "rp" | "rpi" => Some(Round::TowardPositive),
        _ => None,
    };
    form.words.iter().find_map(of).unwrap_or(Round::NearestTiesToEven)
}

fn flush<F: Float>(x: F) -> F {
    if x.is_denormal() { F::ZERO.copy_sign(x) } else { x }
}

fn one<F: Float>() -> F {
    F::from_u128(1).value
}

fn saturate<F: Float>(x: F) -> F {
    match x.partial_cmp(&F::ZERO) {
        Some(std::cmp::Ordering::Greater) if x > one() => one(),
        Some(std::cmp::Ordering::Greater) => x,
        _ => F::ZERO,
    }
}

/// `.ftz`, `.sat` and `.relu` of a result.
fn finished<F: Float>(x: F, ftz: bool, sat: bool, relu: bool) -> F {
    let x = if ftz { flush(x) } else { x };
    let x = if sat { saturate(x) } else { x };
    if relu && !x.is_nan() && x.is_negative() { F::ZERO } else { x }
}

/// The one of two that is chosen; a number before a NaN, zeros by their signs.
fn extreme<F: Float>(a: F, b: F, largest: bool, nan: bool) -> F {
    if a.is_nan() || b.is_nan() {
        return if nan || a.is_nan() && b.is_nan() {
            F::NAN
        } else if a.is_nan() {
            b
        } else {
            a
        };
    }
    let first = if a == b { a.is_negative() != largest } else { (a > b) == largest };
    if first { a } else { b }
}

/// What a change of the sign gives: f32 has one NaN, other types keep theirs.
fn of_sign<F: Float>(bits: u64) -> Answer {
    if F::BITS == 32 { answer(of::<F>(bits)) } else { Answer::Bits(bits) }
}

/// The square root by integers, rounded once.
fn root<F: Float>(a: F, round: Round) -> F {
    if a.is_zero() || a.is_nan() || a.is_negative() || a.is_infinite() {
        return if a.is_negative() && !a.is_zero() { F::NAN } else { a };
    }
    // a = m * 2^e with e even and m of at most 110 bits; its root has enough bits, and one more says that it was cut.
    let mut e = i32::from(a.ilogb() as i16) - F::PRECISION as i32 + 1;
    let mut m = a.scalbn(-e).to_u128(128).value;
    let up = 110 - F::PRECISION as i32 + (e - 110 + F::PRECISION as i32).rem_euclid(2);
    m <<= up;
    e -= up;
    let mut low = 0u128;
    for bit in (0..60).rev() {
        let tried = low | 1 << bit;
        if tried * tried <= m {
            low = tried;
        }
    }
    let cut = u128::from(low * low != m);
    F::from_u128_r(low << 1 | cut, round).value.scalbn(e / 2 - 1)
}

fn arithmetic<F: Float + 'static>(form: &Form<'_>) -> Option<Reference> {
    let (ftz, sat, relu, nan) = (form.has("ftz"), form.has("sat"), form.has("relu"), form.has("NaN"));
    let round = mode(form);
    let operand = move |raw: u64| if ftz { flush(of::<F>(raw)) } else { of::<F>(raw) };
    let sign = 1u64 << (F::BITS - 1);
    let whole = form.words[1].to_owned();
    let op = form.words[0].to_owned();
    // What changes the sign only, and what asks.
    match op.as_str() {
        "abs" => return Some(Box::new(move |s| of_sign::<F>(operand(s[0]).to_bits() as u64 & !sign))),
        "neg" => return Some(Box::new(move |s| of_sign::<F>(operand(s[0]).to_bits() as u64 ^ sign))),
        "copysign" => return Some(Box::new(move |s| Answer::Bits(s[1] & !sign | s[0] & sign))),
        "testp" => {
            return Some(Box::new(move |s| {
                let a = of::<F>(s[0]);
                Answer::Bits(u64::from(match whole.as_str() {
                    "finite" => a.is_finite(),
                    "infinite" => a.is_infinite(),
                    "number" => !a.is_nan(),
                    "notanumber" => a.is_nan(),
                    "normal" => a.is_normal(),
                    "subnormal" => a.is_denormal(),
                    _ => panic!("testp.{whole} is unknown"),
                }))
            }));
        }
        "setp" | "set" => {
            let finish = finish(form);
            return Some(Box::new(move |s| {
                finish(holds(&whole, operand(s[0]).partial_cmp(&operand(s[1]))), s)
            }));
        }
        _ => {}
    }
    let run = move |s: &[u64]| -> Option<F> {
        let x = |i: usize| operand(s[i]);
        Some(match op.as_str() {
            "add" => x(0).add_r(x(1), round).value,
            "sub" => x(0).sub_r(x(1), round).value,
            "mul" => x(0).mul_r(x(1), round).value,
            "fma" | "mad" => x(0).mul_add_r(x(1), x(2), round).value,
            "div" => x(0).div_r(x(1), round).value,
            "rcp" => one::<F>().div_r(x(0), round).value,
            "sqrt" => root(x(0), round),
            "min" => extreme(x(0), x(1), false, nan),
            "max" => extreme(x(0), x(1), true, nan),
            _ => return None,
        })
    };
    run(&[0; 4])?;
    Some(Box::new(move |s| answer(finished(run(s).unwrap_or(F::NAN), ftz, sat, relu))))
}

fn conversion(form: &Form<'_>) -> Reference {
    let (to, from) = (form.types[0], form.types[1]);
    let whole = form.words.iter().any(|word| matches!(*word, "rni" | "rzi" | "rmi" | "rpi"));
    match (to.kind, from.is_integer()) {
        (Kind::Tf32, _) => tf32(mode(form)),
        (_, true) => with_float!(to, from_integer(from, mode(form))),
        _ if to.is_integer() => with_float!(from, to_integer(to, mode(form), form.has("ftz"))),
        _ if whole => with_float!(to, integral(mode(form))),
        _ if form.pairs => {
            let single = with_float!(to, between(from, form));
            // The first source goes into the high half.
            Box::new(move |s| match (single(&s[..1]), single(&s[1..])) {
                (Answer::Bits(high), Answer::Bits(low)) => Answer::Bits(high << 16 | low),
                other => panic!("16 bits have one NaN, not {other:?}"),
            })
        }
        _ => with_float!(to, between(from, form)),
    }
}

fn from_integer<F: Float + 'static>(from: Type, round: Round) -> Reference {
    Box::new(move |s| answer(F::from_i128_r(from.number(s[0]), round).value))
}

fn to_integer<F: Float + 'static>(to: Type, round: Round, ftz: bool) -> Reference {
    Box::new(move |s| {
        let x = if ftz { flush(of::<F>(s[0])) } else { of::<F>(s[0]) };
        let (width, mut exact) = (to.bits as usize, false);
        Answer::Bits(match (x.is_nan(), to.kind) {
            (true, _) if F::BITS == 64 || to.bits == 64 => 1 << (to.bits - 1),
            (true, _) => 0,
            (false, Kind::Signed) => to.wrap(x.to_i128_r(width, round, &mut exact).value),
            (false, _) => x.to_u128_r(width, round, &mut exact).value as u64,
        })
    })
}

fn integral<F: Float + 'static>(round: Round) -> Reference {
    Box::new(move |s| answer(of::<F>(s[0]).round_to_integral(round).value))
}

/// A float of any type as f64, which has them all.
fn double(from: Type, raw: u64) -> Double {
    let mut lost = false;
    match (from.kind, from.bits) {
        (Kind::Brain, _) => of::<BFloat>(raw).convert(&mut lost).value,
        (_, 16) => of::<Half>(raw).convert(&mut lost).value,
        (_, 64) => of::<Double>(raw),
        _ => of::<Single>(raw).convert(&mut lost).value,
    }
}

fn between<F: Float + 'static>(from: Type, form: &Form<'_>) -> Reference
where
    Double: FloatConvert<F>,
{
    let (ftz, sat, relu, round) = (form.has("ftz"), form.has("sat"), form.has("relu"), mode(form));
    let single = Type { kind: Kind::Float, bits: 32 };
    Box::new(move |s| {
        let raw = if ftz && from == single { flush(of::<Single>(s[0])).to_bits() as u64 } else { s[0] };
        let mut lost = false;
        let x: F = double(from, raw).convert_r(round, &mut lost).value;
        if from.bits == 64 && F::BITS == 32 && x.is_nan() && !sat && !relu {
            // Sign and upper payload stay.
            return Answer::Bits(s[0] >> 63 << 31 | 0x7fc0_0000 | s[0] >> 29 & 0x7f_ffff);
        }
        answer(finished(x, ftz && F::BITS == 32, sat, relu))
    })
}

/// f32 with 10 bits of fraction, by units of the last one.
fn tf32(round: Round) -> Reference {
    Box::new(move |s| {
        let (sign, magnitude) = (s[0] & 0x8000_0000, s[0] & 0x7fff_ffff);
        if magnitude >= 0x7f80_0000 {
            return Answer::Bits(match (magnitude == 0x7f80_0000, round) {
                (true, _) => s[0],
                (false, Round::NearestTiesToAway) => s[0] & !0x1fff,
                (false, _) => 0x7fff_ffff,
            });
        }
        let (units, rest) = (magnitude / 8192, magnitude % 8192);
        let up = match round {
            Round::NearestTiesToAway => rest >= 4096,
            Round::NearestTiesToEven => rest > 4096 || rest == 4096 && units % 2 == 1,
            _ => false,
        };
        Answer::Bits(sign + (units + u64::from(up)) * 8192)
    })
}

/// What PTX approximates, by the host's functions of f64.
fn approximate(form: &Form<'_>, ty: Type) -> Reference {
    let (op, ftz, wide) = (form.words[0].to_owned(), form.has("ftz"), ty.bits == 64);
    Box::new(move |s| {
        let x = |i: usize| match wide {
            true => f64::from_bits(s[i]),
            false if ftz && s[i] & 0x7f80_0000 == 0 => f64::from(f32::from_bits(s[i] as u32)) * 0.0,
            false => f64::from(f32::from_bits(s[i] as u32)),
        };
        let exact = match op.as_str() {
            "rcp" => 1.0 / x(0),
            "sqrt" => x(0).sqrt(),
            "rsqrt" => 1.0 / x(0).sqrt(),
            "ex2" => x(0).exp2(),
            "lg2" => x(0).log2(),
            "sin" => x(0).sin(),
            "cos" => x(0).cos(),
            "tanh" => x(0).tanh(),
            "div" => x(0) / x(1),
            _ => panic!("{op}.approx has no reference"),
        };
        let small = !wide && exact.abs() < f64::from(f32::MIN_POSITIVE);
        let beyond = !wide && exact.abs() > f64::from(f32::MAX);
        Answer::Near(
            if ftz && small {
                0.0
            } else if beyond {
                f64::from(exact as f32)
            } else {
                exact
            },
            wide,
        )
    })
}
