//! Fused sums of finite numbers: 128 outputs, 8 of a row at once.
//!
//! ```text
//! once   registers -> significand (signed), exponent of A and of B: planes of 32-bit integers
//! link   C -> significand, exponent                                                             128 at once
//!        top = max(e_zero, e_c, e_a + e_b);  sum of |a b| << left >> (top - e_a - e_b), signed  8 at once, 16 rows
//!        scale, round -> C                                                                      128 at once
//! ```
//!
//! A product has at most 22 bits and its aligned form at most 27, so that 16 of them fit an i32; their sum and the accumulator are
//! added as f64, which is exact, and rounded from there. The innermost loop names its vectors; the others are plain and long enough
//! for the compiler to make vectors of.

#![expect(
    clippy::needless_range_loop,
    reason = "one index runs over several arrays, and an iterator's closure would leave the vector unit"
)]

use super::layout::{Layout, NONE};
use super::{COLS, DEPTH, PRODUCTS, ROWS, Selected};
use crate::exec::convert::f16_of;
use crate::exec::lane::dispatch;
use crate::program::Mma;
use crate::registers::{LANES, Registers, Slot};
use pulp::{Scalar, Simd, WithSimd};
use sparse_oracle::model::tensor_core::{Datapath, FinalRounding, FusedSum, TensorCore};
use sparse_oracle::scalar::Precision;
use std::ops::Range;

/// Outputs.
const OUTPUTS: usize = ROWS * COLS;

/// The parameters of an instruction whose products are added up in fused sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fused {
    sum: FusedSum,
    input: Layout,
    acc: Layout,
    products: usize,
    /// Products of one sum.
    link: usize,
}

/// Numbers side by side, and where one is not finite.
struct Planes {
    /// Shifted to the left as far as a product is.
    a_significand: [[i32; PRODUCTS]; ROWS],
    a_exponent: [[i32; PRODUCTS]; ROWS],
    b_significand: [[i32; COLS]; DEPTH],
    b_exponent: [[i32; COLS]; DEPTH],
    special_rows: u32,
    special_cols: u32,
}

/// A register, decoded: its low halves or the whole, then its high halves.
struct Decoded {
    significand: [[i32; LANES]; 2],
    exponent: [[i32; LANES]; 2],
    special: [u32; 2],
}

struct Work<'a> {
    fused: Fused,
    registers: &'a Registers,
    mma: &'a Mma,
    selected: &'a Selected,
    d: &'a mut [[u64; COLS]; ROWS],
}

impl WithSimd for Work<'_> {
    type Output = [u8; ROWS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [u8; ROWS] {
        let Work { fused, registers, mma, selected, d } = self;
        let planes = if fused.input.pairs {
            fused.planes::<true>(registers, mma)
        } else {
            fused.planes::<false>(registers, mma)
        };
        let mut acc = fused.accumulators(registers, &mma.c);
        let mut special = [0u32; OUTPUTS];
        fused.mark(&acc, &mut special);
        for from in (0..fused.products).step_by(fused.link) {
            let link = from..from + fused.link;
            // A row is 8 wide: longer vectors than that are left to the plain loop.
            if S::I32_LANES <= COLS {
                fused.step(simd, &planes, selected, link, &mut acc);
            } else {
                fused.step(Scalar, &planes, selected, link, &mut acc);
            }
            fused.mark(&acc, &mut special);
        }
        let mut slow = [0; ROWS];
        for row in 0..ROWS {
            let mut flags = planes.special_cols | (planes.special_rows >> row & 1).wrapping_neg();
            for j in 0..COLS {
                flags |= special[row * COLS + j] << j;
                d[row][j] = acc[row * COLS + j].into();
            }
            slow[row] = flags as u8;
        }
        slow
    }
}

impl Fused {
    /// `None` where the instruction computes otherwise.
    pub(super) fn of(core: &TensorCore) -> Option<Fused> {
        let Datapath::Fused(sum) = core.datapath() else {
            return None;
        };
        let instruction = core.instruction();
        if !matches!(instruction.input, Precision::F16 | Precision::Bf16 | Precision::Tf32) {
            return None;
        }
        let (input, acc) = (Layout::of(instruction.input), Layout::of(instruction.acc));
        let left = sum.fraction - 2 * input.fraction as i32;
        // A product aligned has at most this many bits, and the sum of a link must fit 31.
        let bits = 2 * (input.fraction as i32 + 1) + left;
        let (products, link) = (core.products(), core.fused());
        let fits =
            (0..=31).contains(&left) && bits + link.ilog2() as i32 <= 31 && products.is_multiple_of(link);
        (fits && matches!(instruction.m, 16 | 64)).then_some(Fused { sum, input, acc, products, link })
    }

    /// Computes D; for each row the columns that something infinite or NaN takes part in, whose outputs are not right.
    pub(super) fn run(
        &self,
        registers: &Registers,
        mma: &Mma,
        selected: &Selected,
        d: &mut [[u64; COLS]; ROWS],
    ) -> [u8; ROWS] {
        dispatch(Work { fused: *self, registers, mma, selected, d })
    }

    /// True where each sum is of +0 and of products that are zeros, which is +0: of a tile of C past the border, for one.
    pub(super) fn is_zero(&self, registers: &Registers, mma: &Mma) -> bool {
        let all = |slots: &[Slot]| {
            let words = slots.iter().map(|slot| &registers.narrow[usize::from(slot.index)]);
            words.flatten().fold(0, |all, &word| all | word)
        };
        let is_finite = |slots: &[Slot]| {
            let words = slots.iter().flat_map(|slot| &registers.narrow[usize::from(slot.index)]);
            let is_special = |word: u32| {
                self.input.special(word & self.input.mask())
                    || self.input.pairs && self.input.special(word >> 16)
            };
            !words.copied().any(is_special)
        };
        let magnitude = self.input.magnitude();
        all(&mma.c) == 0
            && (all(&mma.b) & magnitude == 0 && is_finite(&mma.a)
                || all(&mma.a) & magnitude == 0 && is_finite(&mma.b))
    }

    /// How far a product is shifted to the left.
    #[inline(always)]
    fn left(&self) -> i32 {
        self.sum.fraction - 2 * self.input.fraction as i32
    }

    /// Reads A and B, as `fragment` in the oracle has them.
    #[inline(always)]
    fn planes<const PAIRS: bool>(&self, registers: &Registers, mma: &Mma) -> Planes {
        let mut planes = Planes {
            a_significand: [[0; PRODUCTS]; ROWS],
            a_exponent: [[NONE; PRODUCTS]; ROWS],
            b_significand: [[0; COLS]; DEPTH],
            b_exponent: [[NONE; COLS]; DEPTH],
            special_rows: 0,
            special_cols: 0,
        };
        for (i, slot) in mma.a.iter().enumerate() {
            let decoded = self.decoded::<PAIRS>(&registers.narrow[usize::from(slot.index)], self.left());
            let first = i % 2 * 8;
            for g in 0..8 {
                let row = first + g;
                place::<PAIRS>(&mut planes.a_significand[row], i / 2, g, &decoded.significand);
                place::<PAIRS>(&mut planes.a_exponent[row], i / 2, g, &decoded.exponent);
                let any = (decoded.special[0] | decoded.special[1]) >> (4 * g) & 15 != 0;
                planes.special_rows |= u32::from(any) << row;
            }
        }
        for (i, slot) in mma.b.iter().enumerate() {
            let decoded = self.decoded::<PAIRS>(&registers.narrow[usize::from(slot.index)], 0);
            for part in 0..parts::<PAIRS>() {
                for t in 0..4 {
                    let k = parts::<PAIRS>() * (4 * i + t) + part;
                    let (significands, exponents) =
                        (&mut planes.b_significand[k % DEPTH], &mut planes.b_exponent[k % DEPTH]);
                    for g in 0..COLS {
                        significands[g] = decoded.significand[part][4 * g + t];
                        exponents[g] = decoded.exponent[part][4 * g + t];
                    }
                }
            }
            for g in 0..COLS {
                let any = (decoded.special[0] | decoded.special[1]) >> (4 * g) & 15 != 0;
                planes.special_cols |= u32::from(any) << g;
            }
        }
        planes
    }

    /// The elements of a register.
    #[inline(always)]
    fn decoded<const PAIRS: bool>(&self, words: &[u32; LANES], left: i32) -> Decoded {
        let mut decoded =
            Decoded { significand: [[0; LANES]; 2], exponent: [[0; LANES]; 2], special: [0; 2] };
        let keep = if PAIRS { 0xffff } else { u32::MAX };
        for part in 0..parts::<PAIRS>() {
            let mut special = 0;
            for lane in 0..LANES {
                let bits = words[lane] >> (16 * part) & keep;
                let (significand, exponent) = self.input.decode(bits);
                decoded.significand[part][lane] = significand << left;
                decoded.exponent[part][lane] = exponent;
                special |= u32::from(self.input.special(bits)) << lane;
            }
            decoded.special[part] = special;
        }
        decoded
    }

    /// The bits of C, row by row.
    #[inline(always)]
    fn accumulators(&self, registers: &Registers, slots: &[Slot]) -> [u32; OUTPUTS] {
        let mut c = [[0; COLS]; ROWS];
        for (i, slot) in slots.iter().enumerate() {
            let words = &registers.narrow[usize::from(slot.index)];
            for lane in 0..LANES {
                let (g, t) = (lane / 4, lane % 4);
                if self.acc.pairs {
                    let row = &mut c[(g + i * 8) % ROWS];
                    row[2 * t] = words[lane] & 0xffff;
                    row[2 * t + 1] = words[lane] >> 16;
                } else {
                    c[(g + i / 2 * 8) % ROWS][2 * t + i % 2] = words[lane];
                }
            }
        }
        let mut flat = [0; OUTPUTS];
        for row in 0..ROWS {
            flat[row * COLS..][..COLS].copy_from_slice(&c[row]);
        }
        flat
    }

    /// Notes which accumulators are not finite.
    #[inline(always)]
    fn mark(&self, acc: &[u32; OUTPUTS], special: &mut [u32; OUTPUTS]) {
        for j in 0..OUTPUTS {
            special[j] |= u32::from(self.acc.special(acc[j]));
        }
    }

    /// One fused sum of each output.
    #[inline(always)]
    fn step<S: Simd>(
        &self,
        simd: S,
        planes: &Planes,
        selected: &Selected,
        link: Range<usize>,
        acc: &mut [u32; OUTPUTS],
    ) {
        let (mut c, mut c_exponent) = ([0; OUTPUTS], [0; OUTPUTS]);
        let mut top = [0; OUTPUTS];
        for j in 0..OUTPUTS {
            (c[j], c_exponent[j]) = self.acc.decode(acc[j]);
            top[j] = self.sum.zero_exponent.max(c_exponent[j]);
        }
        let mut sums = [0; OUTPUTS];
        let rows = top.as_chunks_mut::<COLS>().0.iter_mut().zip(sums.as_chunks_mut::<COLS>().0);
        for (row, (top, sums)) in rows.enumerate() {
            let (tops, _) = S::as_mut_simd_i32s(top);
            let (sums, _) = S::as_mut_simd_i32s(sums);
            for at in 0..tops.len().min(sums.len()) {
                (tops[at], sums[at]) =
                    products(simd, planes, row, &selected[row], link.clone(), at, tops[at]);
            }
        }
        let shift = self.sum.fraction - self.acc.fraction as i32;
        let (up, right) = (shift.max(0), (-shift).max(0));
        let mut total = [0.0; OUTPUTS];
        for j in 0..OUTPUTS {
            let down = (top[j] - c_exponent[j] + right).min(31);
            let sign = c[j] >> 31;
            let magnitude = (c[j].abs() << up) >> (down & 31);
            // 2^(top - F), a normal f64.
            let unit = f64::from_bits(((top[j] - self.sum.fraction + 1023) as u64) << 52);
            total[j] = (f64::from(sums[j]) + f64::from((magnitude ^ sign) - sign)) * unit;
        }
        round(self.sum.output, &total, acc);
    }
}

/// Elements of a register.
#[inline(always)]
const fn parts<const PAIRS: bool>() -> usize {
    if PAIRS { 2 } else { 1 }
}

/// What the four lanes of group `g` hold of a row of A, in its block of 8 products (4 where a register holds one).
#[inline(always)]
fn place<const PAIRS: bool>(row: &mut [i32; PRODUCTS], block: usize, g: usize, from: &[[i32; LANES]; 2]) {
    let width = 4 * parts::<PAIRS>();
    let (low, high) = (&from[0][4 * g..][..4], &from[1][4 * g..][..4]);
    let Some(to) = row.get_mut(block * width..(block + 1) * width) else { return };
    for t in 0..4 {
        if PAIRS {
            to[2 * t] = low[t];
            to[2 * t + 1] = high[t];
        } else {
            to[t] = low[t];
        }
    }
}

/// The largest exponents and the sums of aligned products, of some columns of a row.
#[inline(always)]
fn products<S: Simd>(
    simd: S,
    planes: &Planes,
    row: usize,
    selected: &[u8; PRODUCTS],
    link: Range<usize>,
    at: usize,
    mut top: S::i32s,
) -> (S::i32s, S::i32s) {
    let a_exponent = &planes.a_exponent[row][link.clone()];
    let a_significand = &planes.a_significand[row][link.clone()];
    let selected = &selected[link];
    for (&a, &k) in a_exponent.iter().zip(selected) {
        let b = S::as_simd_i32s(&planes.b_exponent[usize::from(k) % DEPTH]).0[at];
        top = simd.max_i32s(top, simd.add_i32s(simd.splat_i32s(a), b));
    }
    let (zero, most) = (simd.splat_i32s(0), simd.splat_u32s(31));
    let mut sum = zero;
    for ((&a, &e), &k) in a_significand.iter().zip(a_exponent).zip(selected) {
        let k = usize::from(k) % DEPTH;
        let b_exponent = S::as_simd_i32s(&planes.b_exponent[k]).0[at];
        let b = S::as_simd_i32s(&planes.b_significand[k]).0[at];
        let exponent = simd.add_i32s(simd.splat_i32s(e), b_exponent);
        let down = simd.min_u32s(simd.transmute_u32s_i32s(simd.sub_i32s(top, exponent)), most);
        let product = simd.mul_i32s(simd.splat_i32s(a), b);
        let magnitude = simd.transmute_u32s_i32s(simd.max_i32s(product, simd.sub_i32s(zero, product)));
        let aligned = simd.transmute_i32s_u32s(simd.wrapping_dyn_shr_u32s(magnitude, down));
        let negative = simd.greater_than_i32s(zero, product);
        sum = simd.add_i32s(sum, simd.select_i32s(negative, simd.sub_i32s(zero, aligned), aligned));
    }
    (top, sum)
}

/// Rounds exact sums. What is zero, or rounds to it, is +0.
#[inline(always)]
fn round(output: FinalRounding, total: &[f64; OUTPUTS], acc: &mut [u32; OUTPUTS]) {
    let beyond = f64::from_bits((128 + 1023) << 52);
    let to_half = output == FinalRounding::F16NearestEven;
    let kept = if to_half { u32::MAX } else { u32::MAX << (24 - output.significand()) };
    for j in 0..OUTPUTS {
        // The nearest f32 is at most one pattern too large.
        let exact = total[j].abs();
        let near = exact as f32;
        let too_large = (f64::from(near) > exact) & (exact < beyond);
        let cut = near.to_bits() - u32::from(too_large);
        let sign = (total[j].to_bits() >> 32) as u32 & 0x8000_0000;
        let (magnitude, sign) = if to_half {
            // An f32 that is odd where something was lost may be rounded again.
            let lost = u32::from(f64::from(f32::from_bits(cut)) != exact);
            (f16_of(cut | lost), sign >> 16)
        } else {
            (cut & kept, sign)
        };
        acc[j] = if magnitude == 0 { 0 } else { sign | magnitude };
    }
}
