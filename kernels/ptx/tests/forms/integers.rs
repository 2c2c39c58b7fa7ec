//! Integers, bits, moves and predicates, by numbers of 128 bits.

use crate::Reference;
use crate::types::{Answer, Form, Kind, Type};

/// Bits of a lane's sources to bits of its result.
type Bits = Box<dyn Fn(&[u64]) -> u64>;

/// What a comparison, with the sources, becomes.
pub(crate) type Finish = Box<dyn Fn(bool, &[u64]) -> Answer>;

/// `None` where a float takes part.
pub(crate) fn reference(form: &Form<'_>) -> Option<Reference> {
    let ty = form.source();
    let bits = |f: Bits| -> Option<Reference> { Some(Box::new(move |s| Answer::Bits(f(s)))) };
    match form.words[0] {
        "mov" | "cvta" => bits(Box::new(|s| s[0])),
        "selp" => bits(Box::new(|s| if s[2] == 1 { s[0] } else { s[1] })),
        "slct" if form.words[2] == "s32" => bits(Box::new(|s| if s[2] < 1 << 31 { s[0] } else { s[1] })),
        "slct" => bits(Box::new(|s| {
            let (c, zero) = (s[2] & 0x7fff_ffff, 0);
            let chosen = c == zero || c <= 0x7f80_0000 && s[2] < 1 << 31;
            if chosen { s[0] } else { s[1] }
        })),
        "setp" | "set" if ty.is_integer() => Some(comparison(form)),
        "cvt" if form.types.iter().all(|ty| ty.is_integer()) => {
            let (to, sat) = (form.types[0], form.has("sat"));
            bits(Box::new(move |s| {
                let x = ty.number(s[0]);
                to.wrap(if sat { x.clamp(to.least(), to.largest()) } else { x })
            }))
        }
        "prmt" => bits(permute(form.words.get(2).copied().unwrap_or("").to_owned())),
        "lop3" => bits(Box::new(|s| {
            (0..32).fold(0, |d, bit| {
                let row = (s[0] >> bit & 1) << 2 | (s[1] >> bit & 1) << 1 | s[2] >> bit & 1;
                d | (s[3] >> row & 1) << bit
            })
        })),
        _ if ty.is_integer() || ty.kind == Kind::Pred => arithmetic(form, ty),
        _ => None,
    }
}

fn arithmetic(form: &Form<'_>, ty: Type) -> Option<Reference> {
    let wide = Type { bits: ty.bits * 2, ..ty };
    let word = Type { kind: Kind::Unsigned, bits: 32 };
    let (op, sat) = (form.words[0].to_owned(), form.has("sat"));
    let part =
        ["lo", "hi", "wide", "l", "r", "shiftamt"].into_iter().find(|part| form.has(part)).unwrap_or("");
    let wrap_by = form.has("wrap");
    let width = i128::from(ty.bits);
    // 24 low bits, signed or not.
    let low24 = move |x: i128| Type { bits: 24, ..ty }.number(x as u64);
    let run = move |s: &[u64]| -> Option<u64> {
        let x = |i: usize| ty.number(s[i]);
        let result = |x: i128| ty.wrap(if sat { x.clamp(ty.least(), ty.largest()) } else { x });
        let product = |a: i128, b: i128, shift: u32| match part {
            // 64 bits of an unsigned product may need all 128.
            "hi" if ty.bits == 64 && ty.kind != Kind::Signed => ((a as u128 * b as u128) >> 64) as i128,
            "hi" => (a * b) >> shift,
            "lo" => a.wrapping_mul(b),
            _ => a * b,
        };
        let leading = |x: u128| i128::from(x.leading_zeros()) - (128 - width);
        Some(match op.as_str() {
            "add" => result(x(0) + x(1)),
            "sub" => result(x(0) - x(1)),
            "mul" if part == "wide" => wide.wrap(x(0) * x(1)),
            "mul" => result(product(x(0), x(1), ty.bits)),
            "mad" if part == "wide" => wide.wrap(x(0) * x(1) + wide.number(s[2])),
            "mad" => result(product(x(0), x(1), ty.bits).wrapping_add(x(2))),
            "mul24" => ty.wrap(product(low24(x(0)), low24(x(1)), 16)),
            "mad24" => ty.wrap(product(low24(x(0)), low24(x(1)), 16) + x(2)),
            "sad" => result((x(0) - x(1)).abs() + x(2)),
            "div" => ty.wrap(if x(1) == 0 { -1 } else { x(0) / x(1) }),
            "rem" => ty.wrap(if x(1) == 0 { -1 } else { x(0) % x(1) }),
            "abs" => ty.wrap(x(0).abs()),
            "neg" => ty.wrap(-x(0)),
            "min" => ty.wrap(x(0).min(x(1))),
            "max" => ty.wrap(x(0).max(x(1))),
            "and" => s[0] & s[1],
            "or" => s[0] | s[1],
            "xor" => s[0] ^ s[1],
            "not" => ty.wrap(!x(0)),
            "cnot" => u64::from(s[0] == 0),
            "shl" => ty.wrap(if s[1] < 64 { x(0) << s[1] } else { 0 }),
            "shr" => ty.wrap(x(0) >> s[1].min(127)),
            "shf" => {
                let by = if wrap_by { s[2] % 32 } else { s[2].min(32) };
                let both = u128::from(s[1]) << 32 | u128::from(s[0]);
                (if part == "l" { both << by >> 32 } else { both >> by }) as u64 & 0xffff_ffff
            }
            "popc" => (0..64).map(|bit| s[0] >> bit & 1).sum(),
            "clz" => leading(u128::from(s[0])) as u64,
            "brev" => (0..ty.bits).fold(0, |d, bit| d << 1 | s[0] >> bit & 1),
            "bfind" => {
                let magnitude = if x(0) < 0 { !x(0) } else { x(0) } as u128;
                let found = if magnitude == 0 { -1 } else { i128::from(magnitude.ilog2()) };
                word.wrap(if part == "shiftamt" && found >= 0 { width - 1 - found } else { found })
            }
            "bfe" => {
                let (at, length) = (s[1] & 255, s[2] & 255);
                let top = (at + length).saturating_sub(1).min(width as u64 - 1);
                let sign = if ty.kind == Kind::Signed && length > 0 { s[0] >> top & 1 } else { 0 };
                (0..u64::from(ty.bits)).fold(0, |d, i| {
                    let inside = i < length && at + i < width as u64;
                    d | if inside { s[0] >> (at + i) & 1 } else { sign } << i
                })
            }
            "bfi" => {
                let (at, length) = (s[2] & 255, s[3] & 255);
                let within = |i: u64| i >= at && i < at + length;
                (0..u64::from(ty.bits))
                    .fold(0, |d, i| d | (if within(i) { s[0] >> (i - at) } else { s[1] >> i } & 1) << i)
            }
            _ => return None,
        })
    };
    // Asked once, so that an instruction without a reference is noticed.
    run(&[1, 1, 1, 1])?;
    Some(Box::new(move |s| Answer::Bits(run(s).unwrap_or_default())))
}

fn permute(mode: String) -> Bits {
    Box::new(move |s| {
        let bytes: Vec<u64> = (0..8).map(|i| s[i / 4] >> (i % 4 * 8) & 255).collect();
        let c = (s[2] & 3) as usize;
        let byte = |j: usize| match mode.as_str() {
            "f4e" => bytes[c + j],
            "b4e" => bytes[(c + 8 - j) % 8],
            "rc8" => bytes[c],
            "ecl" => bytes[c.max(j)],
            "ecr" => bytes[c.min(j)],
            "rc16" => bytes[c % 2 * 2 + j % 2],
            _ => {
                let nibble = s[2] >> (4 * j) & 15;
                let byte = bytes[(nibble & 7) as usize];
                if nibble < 8 {
                    byte
                } else if byte >= 128 {
                    255
                } else {
                    0
                }
            }
        };
        (0..4).map(|j| byte(j) << (8 * j)).sum()
    })
}

fn comparison(form: &Form<'_>) -> Reference {
    let (ty, op) = (form.source(), form.words[1].to_owned());
    let finish = finish(form);
    Box::new(move |s| {
        let order = ty.number(s[0]).cmp(&ty.number(s[1]));
        finish(holds(&op, Some(order)), s)
    })
}

/// Whether a comparison holds; `None` is a NaN.
pub(crate) fn holds(op: &str, order: Option<std::cmp::Ordering>) -> bool {
    match (op, order) {
        ("nan", order) => order.is_none(),
        ("num", order) => order.is_some(),
        (_, None) => matches!(op, "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu"),
        (_, Some(order)) => match op.strip_suffix('u').unwrap_or(op) {
            "eq" => order.is_eq(),
            "ne" => order.is_ne(),
            "lt" | "lo" => order.is_lt(),
            "le" | "ls" => order.is_le(),
            "gt" | "hi" => order.is_gt(),
            "ge" | "hs" => order.is_ge(),
            _ => panic!("the comparison {op} is unknown"),
        },
    }
}

/// What `setp` or `set` makes of a comparison.
pub(crate) fn finish(form: &Form<'_>) -> Finish {
    if form.words[0] == "set" {
        let truth = if form.types[0].kind == Kind::Float { 0x3f80_0000 } else { 0xffff_ffff };
        return Box::new(move |p, _| Answer::Bits(if p { truth } else { 0 }));
    }
    let with = ["and", "or", "xor"].into_iter().find(|with| form.has(with)).unwrap_or("");
    Box::new(move |p, s| {
        Answer::Bits(u64::from(match with {
            "and" => p && s[2] == 1,
            "or" => p || s[2] == 1,
            "xor" => p != (s[2] == 1),
            _ => p,
        }))
    })
}
