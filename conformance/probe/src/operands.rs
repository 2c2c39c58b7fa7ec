//! Random operands of whole groups, from a seed: the same on every machine and for any number of threads.
//!
//! ```text
//! distribution of group g = g % 13; each word is drawn on its own: sign, exponent in a range, significand, zero or special now and then
//! ```

use super::layout::{chunk_columns, chunks};
use rayon::prelude::*;
use sparse_kernels::cuda::probe::{Probe, Variant};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::Instruction;

/// What the groups of a batch hold, in turn.
pub const DISTRIBUTIONS: [&str; 13] = [
    "near one",
    "exponents +-6",
    "exponents +-14",
    "widest that stays finite",
    "subnormals",
    "NaN and infinity",
    "few significand bits (ties)",
    "uniform bits",
    "floor: tiny terms, explicit zeros",
    "partial overflow: huge terms that cancel",
    "mostly signed zeros, zero times huge",
    "cancellation",
    "results at the overflow threshold",
];

/// Words of A, B, C, metadata and D of some groups.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Number of groups.
    pub groups: usize,
    /// Sections A, B, C, metadata.
    pub operands: [Vec<u32>; 4],
    /// D, filled with poison before a run.
    pub d: Vec<u32>,
}

/// What D holds before a run: a NaN that no instruction returns.
pub(super) const POISON: u32 = 0x7fa5_c3e1;

impl Batch {
    /// Fills the batch with groups `first ..first + groups` of a probe.
    pub fn fill(&mut self, probe: &Probe, seed: u64, first: u64, groups: usize) {
        let words = probe.words();
        let sizes = [words.a * words.lanes, words.b_group, words.c * words.lanes, words.lanes];
        self.groups = groups;
        for (section, (buffer, size)) in self.operands.iter_mut().zip(sizes).enumerate() {
            buffer.resize(groups * size, 0);
            buffer.par_chunks_mut(size).enumerate().for_each(|(i, out)| {
                let group = first + i as u64;
                let mut random = Random::new(seed, group << 2 | section as u64);
                fill_section(probe, section, (group % 13) as usize, &mut random, out);
            });
        }
        self.d.resize(groups * sizes[2], 0);
        self.poison();
    }

    /// Forgets the outputs.
    pub fn poison(&mut self) {
        self.d.par_chunks_mut(1 << 16).for_each(|part| part.fill(POISON));
    }

    /// Copies group 0 over all others.
    pub fn repeat_first(&mut self) {
        for buffer in &mut self.operands {
            let size = buffer.len() / self.groups.max(1);
            let (first, rest) = buffer.split_at_mut(size);
            rest.par_chunks_mut(size.max(1)).for_each(|group| group.copy_from_slice(first));
        }
    }
}

fn fill_section(probe: &Probe, section: usize, distribution: usize, random: &mut Random, out: &mut [u32]) {
    let (instruction, b, variant) = match probe {
        Probe::Matrix { instruction, b, variant } => (instruction, *b, *variant),
        // A conversion reads f32 words; tf32 ones have random low bits.
        Probe::Convert(_) if section == 0 => {
            let range = Range::of(Precision::Tf32, Precision::F32, 0, distribution);
            return fill_words(Precision::Tf32, &range, random, out);
        }
        Probe::Convert(_) => return out.fill(0),
    };
    let precision = [instruction.input, b, instruction.acc, instruction.input][section];
    if section == 3 {
        return fill_metadata(instruction, variant, random, out);
    }
    let range = Range::of(precision, instruction.acc, section, distribution);
    fill_words(precision, &range, random, out);
}

fn fill_words(precision: Precision, range: &Range, random: &mut Random, out: &mut [u32]) {
    match precision.bytes() {
        8 => {
            // Lanes of a group are 32; the second word of a value follows one row of lanes later.
            for rows in out.chunks_mut(64) {
                let (low, high) = rows.split_at_mut(32);
                for (low, high) in low.iter_mut().zip(high) {
                    let bits = range.draw(precision, random.next());
                    (*low, *high) = (bits as u32, (bits >> 32) as u32);
                }
            }
        }
        bytes => {
            for word in out {
                *word = 0;
                for element in 0..4 / bytes {
                    *word |= (range.draw(precision, random.next()) as u32) << (element * 8 * bytes % 32);
                }
            }
        }
    }
}

/// Legal nibbles in every lane, also in those that the selector does not name; any nibble where order is not promised.
fn fill_metadata(i: &Instruction, variant: Variant, random: &mut Random, out: &mut [u32]) {
    const PAIRS: [u32; 6] = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110];
    const SINGLES: [u32; 2] = [0b0100, 0b1110];
    debug_assert!(chunks(i) > 0);
    for word in out {
        let r = random.next();
        *word = match (variant, chunk_columns(i)) {
            (Variant::Unordered, _) => r as u32,
            (_, 2) => (0..8).fold(0, |w, n| w | SINGLES[(r >> (8 * n) & 1) as usize] << (4 * n)),
            _ => (0..8).fold(0, |w, n| w | PAIRS[(((r >> (8 * n) & 255) * 6) >> 8) as usize] << (4 * n)),
        };
    }
}

/// How one operand is drawn.
struct Range {
    /// Exponents, unbiased; below emin they are subnormal.
    low: i32,
    high: i32,
    /// Significand bits that may be set.
    mask: u64,
    /// Chances of 256.
    zero: u64,
    special: u64,
    /// Chance of 256 of another range of exponents, and that range.
    outlier: (u64, i32, i32),
    /// All bits random.
    uniform: bool,
}

impl Range {
    /// `section` 0 and 1: A and B; 2: C.
    fn of(precision: Precision, acc: Precision, section: usize, distribution: usize) -> Range {
        let spec = precision.spec();
        let out = acc.spec();
        let factor = section < 2;
        let (emin, emax) = (spec.emin, spec.emax);
        let plain = |low: i32, high: i32| Range {
            low,
            high,
            mask: u64::MAX,
            zero: 4,
            special: 0,
            outlier: (0, 0, 0),
            uniform: false,
        };
        let few = |range: Range| Range { mask: 0b11 << (spec.significand.max(3) - 3), ..range };
        let zeros = |range: Range, zero| Range { zero, ..range };
        let least = emin - spec.significand as i32 + 1;
        // Half of the accumulator's largest exponent: products of such factors are huge.
        let half = (out.emax / 2).min(emax);
        match (distribution, factor) {
            (0, true) => plain(-1, 1),
            (0, false) => plain(-2, 4),
            (1, true) => plain(-6, 6),
            (1, false) => plain(-12, 12),
            (2, true) => plain(-14, 14),
            (2, false) => plain(-28, 28),
            (3, true) => plain(least.max(-half - 2), half - 3),
            (3, false) => plain(least, out.emax - 3),
            (4, true) if section == 0 => plain(least, emin + 2),
            (4, true) => plain((emin / 2).max(-12), half - 1),
            (4, false) => plain(least, emin + 3),
            (5, _) => Range { special: 3, ..plain(-2, 2) },
            (6, true) => few(plain(-1, 1)),
            (6, false) => plain(0, out.significand as i32 + 3),
            (7, _) => Range { uniform: true, ..plain(0, 0) },
            (8, _) => Range::floor(precision, acc, section),
            (9, true) => zeros(few(plain(half, half + 1)), 128),
            (9, false) => zeros(few(plain(out.emax - 2, out.emax)), 64),
            (10, true) if section == 0 => zeros(plain(-2, 2), 208),
            // Huge factors that mostly meet zeros.
            (10, true) => Range { outlier: (24, emax - 3, emax - 2), ..zeros(plain(-2, 2), 160) },
            (10, false) => zeros(plain(-30, 2), 160),
            (11, true) => zeros(few(plain(-1, 1)), 16),
            (11, false) => few(plain(-2, 4)),
            (12, true) => zeros(plain(half - 2, half), 64),
            (_, _) => zeros(plain(out.emax - 1, out.emax), 64),
        }
    }

    /// Terms about the exponent by which zeros are aligned, and explicit zeros.
    ///
    /// A floor shows where a sum below it loses a term of the other sign: f32 sums drop below 2^-158, while a unit of the
    /// result is 2^-149 (subnormal accumulators count as 2^-126, so they are mostly zero here); f16 sums drop below 2^-46 what
    /// would break a tie at 2^-25.
    fn floor(precision: Precision, acc: Precision, section: usize) -> Range {
        let spec = precision.spec();
        let least = spec.emin - spec.significand as i32 + 1;
        let range = |low, high, mask, zero, outlier| Range {
            low,
            high,
            mask,
            zero,
            special: 0,
            outlier,
            uniform: false,
        };
        let all = u64::MAX;
        match (acc, section) {
            (Precision::F16, 2) => range(-24, -22, all, 64, (0, 0, 0)),
            // Powers of two: products 2^-48 .. 2^-46, and 2^-26 .. 2^-24.
            (Precision::F16, _) => range(-24, -23, 0, 64, (85, -13, -12)),
            (Precision::F32, 2) => range(-149, -122, all, 192, (48, -149, -134)),
            // Powers of two: products 2^-146 .. 2^-142, about 2^-159, and far below.
            (Precision::F32, _) if spec.emin == -126 => range(-92, -87, 0, 64, (96, -73, -71)),
            (Precision::F32, 0) => range(least, spec.emin, all, 208, (0, 0, 0)),
            (Precision::F32, _) => range(least, spec.emin, all, 128, (32, spec.emax - 2, spec.emax)),
            (_, 0) => range(-545, -509, all, 208, (0, 0, 0)),
            (_, 1) => range(-545, -509, all, 128, (16, 900, 1000)),
            (_, _) => range(least, spec.emin + 4, all, 128, (0, 0, 0)),
        }
    }

    #[inline]
    fn draw(&self, precision: Precision, random: u64) -> u64 {
        let spec = precision.spec();
        let width = spec.storage_bits;
        if self.uniform {
            return random >> (64 - width);
        }
        // tf32 words have 13 more bits, which the hardware ignores: random, so that it must.
        let extra = if precision == Precision::Tf32 { 13 } else { 0 };
        let fraction = spec.significand - 1;
        let top = (1u64 << (width - 1 - fraction - extra)) - 1;
        let sign = (random & 1) << (width - 1);
        let low = if extra == 0 { 0 } else { random >> 51 };
        let chance = random >> 1 & 255;
        if chance < self.zero {
            return sign;
        }
        if chance >= 256 - self.special {
            // Infinity or NaN, half each; of tf32, NaN with a payload in the low bits alone now and then.
            let payload = if random >> 10 & 1 == 0 { 0 } else { random >> 20 & ((1 << fraction) - 1) };
            return match spec.specials {
                sparse_oracle::scalar::Specials::NanOnly => sign | ((1 << (width - 1)) - 1),
                sparse_oracle::scalar::Specials::Ieee => {
                    let low = if random >> 11 & 7 == 0 { low } else { 0 };
                    sign | (top << fraction | payload) << extra | low
                }
            };
        }
        let (low_end, high_end) = match self.outlier {
            (chances, low, high) if chance < self.zero + chances => (low, high),
            _ => (self.low, self.high),
        };
        let span = (high_end - low_end + 1) as u64;
        let exponent = low_end + (((random >> 9 & 0xffff) * span) >> 16) as i32;
        let mut significand =
            (random >> 25).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - fraction) & self.mask;
        let mut field = exponent.min(spec.emax) - spec.emin + 1;
        if field < 1 {
            // A subnormal with its leading bit where the exponent says.
            let down = (1 - field).min(fraction as i32) as u32;
            significand = (1 << fraction | significand) >> down;
            field = 0;
        }
        if spec.specials == sparse_oracle::scalar::Specials::NanOnly
            && field as u64 == top
            && significand == (1 << fraction) - 1
        {
            significand -= 1;
        }
        sign | ((field as u64) << fraction | significand) << extra | low
    }
}

/// `SplitMix64`: a counter and a bijection, so that any group can be made alone.
struct Random {
    state: u64,
}

impl Random {
    fn new(seed: u64, stream: u64) -> Random {
        let mut random = Random { state: seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95) };
        random.state = random.next();
        random
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
