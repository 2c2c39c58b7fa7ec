//! Bits: logic, shifts, fields, counts, permutations of bytes.
//!
//! A shift by as many bits as there are, or more, leaves nothing (of `shr.s*`: the sign). Positions and lengths of fields are the
//! low 8 bits of their register.

use super::lane::lanes;

macro_rules! shifts {
    ($left:ident, $right:ident, $unsigned:ty, $signed:ty, $arithmetic:ident) => {
        #[inline(always)]
        fn $left(a: $unsigned, by: u32) -> $unsigned {
            (a << (by & (<$unsigned>::BITS - 1))) & <$unsigned>::from(by < <$unsigned>::BITS).wrapping_neg()
        }

        #[inline(always)]
        fn $right(a: $unsigned, by: u32) -> $unsigned {
            (a >> (by & (<$unsigned>::BITS - 1))) & <$unsigned>::from(by < <$unsigned>::BITS).wrapping_neg()
        }

        #[inline(always)]
        fn $arithmetic(a: $signed, by: u32) -> $signed {
            a >> by.min(<$unsigned>::BITS - 1)
        }
    };
}

shifts!(left16, right16, u16, i16, arithmetic16);
shifts!(left32, right32, u32, i32, arithmetic32);
shifts!(left64, right64, u64, i64, arithmetic64);

/// `length` ones from bit 0 on.
#[inline(always)]
fn ones32(length: u32) -> u32 {
    if length >= 32 { !0 } else { (1 << (length & 31)) - 1 }
}

#[inline(always)]
fn ones64(length: u32) -> u64 {
    if length >= 64 { !0 } else { (1 << (length & 63)) - 1 }
}

/// `a`'s low bits into a field of `b`; what does not fit is dropped.
#[inline(always)]
fn insert32(a: u32, b: u32, at: u32, length: u32) -> u32 {
    let field = left32(ones32(length & 0xff), at & 0xff);
    (left32(a, at & 0xff) & field) | (b & !field)
}

#[inline(always)]
fn insert64(a: u64, b: u64, at: u32, length: u32) -> u64 {
    let field = left64(ones64(length & 0xff), at & 0xff);
    (left64(a, at & 0xff) & field) | (b & !field)
}

macro_rules! extract {
    ($name:ident, $type:ty, $right:ident, $ones:ident) => {
        /// A field, filled up with its highest bit (with the word's, where the field leaves it) if `signed`.
        #[inline(always)]
        fn $name(a: $type, at: u32, length: u32, signed: bool) -> $type {
            let (at, length) = (at & 0xff, length & 0xff);
            let top = (at + length).saturating_sub(1).min(<$type>::BITS - 1);
            let fill = signed && length != 0 && a >> top & 1 != 0;
            // Bits of the field that the word has.
            let kept = length.min(<$type>::BITS.saturating_sub(at));
            let field = $right(a, at) & $ones(kept);
            if fill { field | !$ones(kept) } else { field }
        }
    };
}

extract!(extract32, u32, right32, ones32);
extract!(extract64, u64, right64, ones64);

/// A table of eight answers, looked up by a bit of each.
#[inline(always)]
fn lookup(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut result = 0;
    for row in 0..8u32 {
        let wanted = (table >> row & 1).wrapping_neg();
        let x = if row & 4 != 0 { a } else { !a };
        let y = if row & 2 != 0 { b } else { !b };
        let z = if row & 1 != 0 { c } else { !c };
        result |= x & y & z & wanted;
    }
    result
}

/// One byte of eight, or its sign eight times.
#[inline(always)]
fn chosen(bytes: u64, selector: u32) -> u32 {
    let byte = (bytes >> ((selector & 7) * 8)) as u32 & 0xff;
    if selector & 8 != 0 { (byte >> 7) * 0xff } else { byte }
}

/// `prmt`: four bytes of `b:a`, each by a nibble of the selector.
#[inline(always)]
fn permute(a: u32, b: u32, c: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    chosen(bytes, c) | chosen(bytes, c >> 4) << 8 | chosen(bytes, c >> 8) << 16 | chosen(bytes, c >> 12) << 24
}

/// `prmt` with a mode: the selector of the low two bits of `c`, from a table of four.
#[inline(always)]
fn permute_by(a: u32, b: u32, c: u32, table: [u32; 4]) -> u32 {
    permute(a, b, table[(c & 3) as usize])
}

/// The place of the highest bit that differs from the sign, or all ones.
#[inline(always)]
fn highest32(a: u32) -> u32 {
    if a == 0 { !0 } else { 31 - a.leading_zeros() }
}

#[inline(always)]
fn highest64(a: u64) -> u32 {
    if a == 0 { !0 } else { 63 - a.leading_zeros() }
}

/// How far to the left that bit must go, or all ones.
#[inline(always)]
fn distance32(a: u32) -> u32 {
    if a == 0 { !0 } else { a.leading_zeros() }
}

#[inline(always)]
fn distance64(a: u64) -> u32 {
    if a == 0 { !0 } else { a.leading_zeros() }
}

#[inline(always)]
fn funnel_left(a: u32, b: u32, by: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) << by >> 32) as u32
}

#[inline(always)]
fn funnel_right(a: u32, b: u32, by: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> by) as u32
}

lanes! { ROWS;
    "and.b16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a & b }
    "and.b32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a & b }
    "and.b64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a & b }
    "and.pred" (1, 0) 10 Exact: (a: bool, b: bool) -> bool { a & b }
    "or.b16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a | b }
    "or.b32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a | b }
    "or.b64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a | b }
    "or.pred" (1, 0) 10 Exact: (a: bool, b: bool) -> bool { a | b }
    "xor.b16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a ^ b }
    "xor.b32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a ^ b }
    "xor.b64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a ^ b }
    "xor.pred" (1, 0) 10 Exact: (a: bool, b: bool) -> bool { a ^ b }
    "not.b16" (1, 0) 10 Exact: (a: u16) -> u16 { !a }
    "not.b32" (1, 0) 10 Exact: (a: u32) -> u32 { !a }
    "not.b64" (1, 0) 10 Exact: (a: u64) -> u64 { !a }
    "not.pred" (1, 0) 10 Exact: (a: bool) -> bool { !a }
    "cnot.b16" (1, 0) 10 Exact: (a: u16) -> u16 { u16::from(a == 0) }
    "cnot.b32" (1, 0) 10 Exact: (a: u32) -> u32 { u32::from(a == 0) }
    "cnot.b64" (1, 0) 10 Exact: (a: u64) -> u64 { u64::from(a == 0) }
    "lop3.b32" (4, 3) 50 Exact: (a: u32, b: u32, c: u32, table: u32) -> u32 { lookup(a, b, c, table) }
    "shl.b16" (1, 0) 10 Exact: (a: u16, by: u32) -> u16 { left16(a, by) }
    "shl.b32" (1, 0) 10 Exact: (a: u32, by: u32) -> u32 { left32(a, by) }
    "shl.b64" (1, 0) 10 Exact: (a: u64, by: u32) -> u64 { left64(a, by) }
    "shr.{b16,u16}" (1, 0) 10 Exact: (a: u16, by: u32) -> u16 { right16(a, by) }
    "shr.{b32,u32}" (1, 0) 10 Exact: (a: u32, by: u32) -> u32 { right32(a, by) }
    "shr.{b64,u64}" (1, 0) 10 Exact: (a: u64, by: u32) -> u64 { right64(a, by) }
    "shr.s16" (1, 0) 10 Exact: (a: i16, by: u32) -> i16 { arithmetic16(a, by) }
    "shr.s32" (1, 0) 10 Exact: (a: i32, by: u32) -> i32 { arithmetic32(a, by) }
    "shr.s64" (1, 0) 10 Exact: (a: i64, by: u32) -> i64 { arithmetic64(a, by) }
    "shf.l.clamp.b32" (3, 1) 32 Exact: (a: u32, b: u32, by: u32) -> u32 { funnel_left(a, b, by.min(32)) }
    "shf.l.wrap.b32" (3, 1) 32 Exact: (a: u32, b: u32, by: u32) -> u32 { funnel_left(a, b, by & 31) }
    "shf.r.clamp.b32" (3, 1) 32 Exact: (a: u32, b: u32, by: u32) -> u32 { funnel_right(a, b, by.min(32)) }
    "shf.r.wrap.b32" (3, 1) 32 Exact: (a: u32, b: u32, by: u32) -> u32 { funnel_right(a, b, by & 31) }
    "popc.b32" (2, 0) 20 Exact: (a: u32) -> u32 { a.count_ones() }
    "popc.b64" (2, 0) 20 Exact: (a: u64) -> u32 { a.count_ones() }
    "clz.b32" (2, 0) 20 Exact: (a: u32) -> u32 { a.leading_zeros() }
    "clz.b64" (2, 0) 20 Exact: (a: u64) -> u32 { a.leading_zeros() }
    "brev.b32" (2, 0) 20 Exact: (a: u32) -> u32 { a.reverse_bits() }
    "brev.b64" (2, 0) 20 Exact: (a: u64) -> u64 { a.reverse_bits() }
    "bfind.u32" (2, 0) 20 Exact: (a: u32) -> u32 { highest32(a) }
    "bfind.s32" (2, 0) 20 Exact: (a: i32) -> u32 { highest32((a ^ (a >> 31)) as u32) }
    "bfind.u64" (2, 0) 20 Exact: (a: u64) -> u32 { highest64(a) }
    "bfind.s64" (2, 0) 20 Exact: (a: i64) -> u32 { highest64((a ^ (a >> 63)) as u64) }
    "bfind.shiftamt.u32" (2, 0) 20 Exact: (a: u32) -> u32 { distance32(a) }
    "bfind.shiftamt.s32" (2, 0) 20 Exact: (a: i32) -> u32 { distance32((a ^ (a >> 31)) as u32) }
    "bfind.shiftamt.u64" (2, 0) 20 Exact: (a: u64) -> u32 { distance64(a) }
    "bfind.shiftamt.s64" (2, 0) 20 Exact: (a: i64) -> u32 { distance64((a ^ (a >> 63)) as u64) }
    "bfe.u32" (2, 0) 20 Exact: (a: u32, at: u32, length: u32) -> u32 { extract32(a, at, length, false) }
    "bfe.s32" (2, 0) 20 Exact: (a: u32, at: u32, length: u32) -> u32 { extract32(a, at, length, true) }
    "bfe.u64" (2, 0) 20 Exact: (a: u64, at: u32, length: u32) -> u64 { extract64(a, at, length, false) }
    "bfe.s64" (2, 0) 20 Exact: (a: u64, at: u32, length: u32) -> u64 { extract64(a, at, length, true) }
    "bfi.b32" (2, 0) 20 Exact: (a: u32, b: u32, at: u32, length: u32) -> u32 { insert32(a, b, at, length) }
    "bfi.b64" (2, 0) 20 Exact: (a: u64, b: u64, at: u32, length: u32) -> u64 { insert64(a, b, at, length) }
    "prmt.b32" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute(a, b, c) }
    "prmt.b32.f4e" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute_by(a, b, c, [0x3210, 0x4321, 0x5432, 0x6543]) }
    "prmt.b32.b4e" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute_by(a, b, c, [0x5670, 0x6701, 0x7012, 0x0123]) }
    "prmt.b32.rc8" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute_by(a, b, c, [0x0000, 0x1111, 0x2222, 0x3333]) }
    "prmt.b32.ecl" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute_by(a, b, c, [0x3210, 0x3211, 0x3222, 0x3333]) }
    "prmt.b32.ecr" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute_by(a, b, c, [0x0000, 0x1110, 0x2210, 0x3210]) }
    "prmt.b32.rc16" (2, 0) 20 Exact: (a: u32, b: u32, c: u32) -> u32 { permute_by(a, b, c, [0x1010, 0x3232, 0x1010, 0x3232]) }
}
