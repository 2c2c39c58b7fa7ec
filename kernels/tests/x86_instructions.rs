//! The oracle's models of x86 instructions against the instructions, bit for bit, NaN bits included.
//!
//! ```text
//! random operands (near one, wide, tiny, special, ties, uniform bits, huge) and MXCSR  ->  model  =  instruction ?
//! ```
//!
//! What the CPU does not have is skipped, and said so. With `SPARSE_RECORD` naming a folder, some operands and what the
//! instruction made of them are written there, as `oracle/data/recorded` has them.

#![cfg(target_arch = "x86_64")]

#[path = "../../oracle/tests/cpu_support/mod.rs"]
mod cpu_support;
use crate::x86_support;

use cpu_support::{DISTRIBUTIONS, Operands, draw};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::model::cpu::x86::{self, Mxcsr};
use sparse_oracle::source::random::Random;
use std::fmt::Write as _;
use x86_support::amx::{self, Dot, Tile};
use x86_support::{ADD, FMA_F16, FMA_F32, FMA_F64, SCALAR, VCVTPH2PS, VCVTPS2PH, VDPBF16PS, Vector, Words};

/// Operand sets of each instruction.
const SETS: usize = 1_050_000;

macro_rules! say {
    ($($text:tt)*) => {
        std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($text)*))).expect("stderr takes text")
    };
}

/// MXCSR with all exceptions masked, and FTZ, DAZ and RC at random.
fn mxcsr(random: &mut Random) -> u32 {
    [6, 13, 14, 15].iter().fold(0x1f80, |word, &bit| word | (random.below(2) as u32) << bit)
}

/// Element `lane` of `bits` bits.
fn element(words: &Words, lane: usize, bits: usize) -> u64 {
    let (word, per_word) = (lane * bits / 32, 32 / bits.min(32));
    match bits {
        64 => u64::from(words[word]) | u64::from(words[word + 1]) << 32,
        32 => u64::from(words[word]),
        _ => u64::from(words[word] >> (lane % per_word * bits)) & ((1 << bits) - 1),
    }
}

fn put(words: &mut Words, lane: usize, bits: usize, value: u64) {
    let word = lane * bits / 32;
    match bits {
        64 => (words[word], words[word + 1]) = (value as u32, (value >> 32) as u32),
        32 => words[word] = value as u32,
        _ => words[word] |= (value as u32) << (lane * bits % 32),
    }
}

fn bits_of(precision: Precision) -> usize {
    precision.spec().storage_bits as usize
}

/// Runs `SETS` operand sets; `lanes` of them at a time, which differ in all but MXCSR.
fn compare(vector: &Vector, unit: CpuUnit, lanes: usize, predicted: impl Fn(&Operands) -> u64) -> String {
    let mut recorded = String::new();
    if !(vector.available)() {
        say!("SKIPPED {}: {SETS} operand sets; this CPU does not have it", vector.name);
        return recorded;
    }
    let mut random = Random::new(41, vector.name);
    let (input, acc) = (bits_of(unit.input()), bits_of(unit.acc()));
    let mut nans = 0;
    for batch in 0..SETS.div_ceil(lanes) {
        let control = mxcsr(&mut random);
        let sets: Vec<Operands> = (0..lanes)
            .map(|_| {
                let mut set = draw(&mut random, unit, batch % DISTRIBUTIONS.len(), unit.products());
                set.control = control;
                set
            })
            .collect();
        let mut words = [[0u32; 16]; 3];
        for (lane, set) in sets.iter().enumerate() {
            put(&mut words[0], lane, acc, set.acc);
            for (i, (a, b)) in set.a.iter().zip(&set.b).enumerate() {
                put(&mut words[1], lane * set.a.len() + i, input, a.expect("active"));
                put(&mut words[2], lane * set.a.len() + i, input, b.expect("active"));
            }
        }
        let [mut result, a, b] = words;
        (vector.run)(&mut result, &a, &b, control);
        for (lane, set) in sets.iter().enumerate() {
            let (found, model) = (element(&result, lane, acc), predicted(set));
            nans += usize::from(sparse_oracle::model::cpu::nan::is_nan(found, unit.acc()));
            assert_eq!(found, model, "{}: {set} is {found:x}, the model says {model:x}", vector.name);
        }
        // A few of each distribution.
        if batch % (SETS / lanes / 210) == 0 && recorded.lines().count() < 210 {
            let _ = writeln!(recorded, "{} {:x}", sets[0], element(&result, 0, acc));
        }
    }
    say!("{}: {} operand sets as predicted, {nans} of them NaN", vector.name, SETS.div_ceil(lanes) * lanes);
    recorded
}

/// Keeps what an instruction did, if asked to.
fn record(name: &str, lines: &str) {
    if let Some(folder) = std::env::var_os("SPARSE_RECORD").filter(|_| !lines.is_empty()) {
        let path = std::path::Path::new(&folder).join(format!("x86_{name}.txt"));
        std::fs::write(&path, lines).expect("the folder takes files");
        say!("{} written", path.display());
    }
}

#[test]
fn vdpbf16ps_is_as_modelled_and_ignores_mxcsr() {
    let lines = compare(&VDPBF16PS, CpuUnit::Vdpbf16ps, 16, Operands::predicted);
    record("vdpbf16ps", &lines);
}

#[test]
fn fused_multiply_adds_are_as_modelled_in_every_form() {
    for vector in &FMA_F32 {
        record(vector.name, &compare(vector, CpuUnit::Vfmaddps, 16, Operands::predicted));
    }
    for vector in &FMA_F64 {
        record(vector.name, &compare(vector, CpuUnit::Vfmaddpd, 8, Operands::predicted));
    }
    for vector in &FMA_F16 {
        record(vector.name, &compare(vector, CpuUnit::Vfmaddph, 32, Operands::predicted));
    }
    compare(&SCALAR[0], CpuUnit::Vfmaddps, 1, Operands::predicted);
    compare(&SCALAR[1], CpuUnit::Vfmaddpd, 1, Operands::predicted);
}

#[test]
fn additions_are_as_modelled() {
    for (vector, unit, lanes) in [(&ADD[0], CpuUnit::Vfmaddps, 16), (&ADD[1], CpuUnit::Vfmaddpd, 8)] {
        compare(vector, unit, lanes, |set| {
            let (x, y) = (set.a[0].expect("active"), set.b[0].expect("active"));
            x86::add(unit.input(), x, y, Mxcsr::from_bits(set.control))
        });
    }
}

#[test]
fn f16_conversions_are_as_modelled() {
    if !(VCVTPH2PS.available)() {
        say!("SKIPPED vcvtph2ps, vcvtps2ph: {SETS} operand sets; this CPU does not have AVX512F");
        return;
    }
    for control in (0..16u32).map(|i| 0x1f80 | (i & 3) << 13 | (i >> 2 & 1) << 15 | (i >> 3) << 6) {
        for first in (0..0x1_0000u64).step_by(16) {
            let (mut wide, mut narrow) = ([0; 16], [0; 16]);
            (0..16).for_each(|lane| put(&mut narrow, lane, 16, first + lane as u64));
            (VCVTPH2PS.run)(&mut wide, &narrow, &narrow, control);
            for lane in 0..16 {
                let bits = first + lane as u64;
                assert_eq!(element(&wide, lane, 32), x86::widen_f16(bits), "{bits:x} {control:x}");
            }
        }
    }
    let mut random = Random::new(43, "vcvtps2ph");
    for batch in 0..SETS.div_ceil(16) {
        let control = mxcsr(&mut random);
        let mut wide = [0; 16];
        for (lane, word) in wide.iter_mut().enumerate() {
            let any = random.bits() as u32;
            // Around f16's exponents; subnormal; any.
            *word = match (batch + lane) % 4 {
                0 => any,
                1 => any & 0x807f_ffff,
                _ if any >> 28 & 1 == 0 => any & 0x8fff_ffff | 0x3000_0000,
                _ => any & 0x8fff_ffff | 0x4000_0000,
            };
        }
        let mut narrow = [0; 16];
        (VCVTPS2PH.run)(&mut narrow, &wide, &wide, control);
        for (lane, &word) in wide.iter().enumerate() {
            let model = x86::narrow_to_f16(u64::from(word), Mxcsr::from_bits(control));
            assert_eq!(element(&narrow, lane, 16), model, "{word:x} {control:x}");
        }
    }
    say!(
        "vcvtph2ps: all 65536 x 16 settings of MXCSR as predicted; vcvtps2ph: {} operands",
        SETS.div_ceil(16) * 16
    );
}

/// A tile of elements that `draw` made one output at a time: row i of A and column j of B come from different draws.
fn amx_is_as_modelled(dot: Dot, unit: CpuUnit) {
    if let Some(reason) = amx::missing(dot) {
        say!("SKIPPED {unit}: {SETS} operand sets; {reason}");
        return;
    }
    let mut random = Random::new(47, unit.name());
    for batch in 0..SETS.div_ceil(256) {
        let pairs = cpu_support::products(&mut random, unit) / 2;
        let (mut a, mut b, mut c): (Tile, Tile, Tile) = ([[0; 16]; 16], [[0; 16]; 16], [[0; 16]; 16]);
        for i in 0..16 {
            let set = draw(&mut random, unit, batch % DISTRIBUTIONS.len(), 2 * pairs);
            for k in 0..pairs {
                let pair = |side: &[Option<u64>]| {
                    let half = |at: usize| side[at].expect("active") as u32;
                    half(2 * k) | half(2 * k + 1) << 16
                };
                (a[i][k], b[k][i]) = (pair(&set.a), pair(&set.b));
            }
            c[i].fill(set.acc as u32);
        }
        let mut result = c;
        amx::multiply(dot, pairs, &mut result, &a, &b);
        for (i, j) in (0..256).map(|at| (at / 16, at % 16)) {
            let halves = |words: Vec<u32>| {
                words.iter().flat_map(|w| [Some(u64::from(w & 0xffff)), Some(u64::from(w >> 16))]).collect()
            };
            let set = Operands {
                unit,
                control: 0x1f80,
                acc: u64::from(c[i][j]),
                a: halves(a[i][..pairs].to_vec()),
                b: halves((0..pairs).map(|k| b[k][j]).collect()),
            };
            let (found, model) = (u64::from(result[i][j]), set.predicted());
            assert_eq!(found, model, "{set} is {found:x}, the model says {model:x}");
        }
    }
    say!("{unit}: {} operand sets as predicted", SETS.div_ceil(256) * 256);
}

#[test]
fn amx_dot_products_are_as_modelled() {
    amx_is_as_modelled(Dot::Bf16, CpuUnit::Tdpbf16ps);
    amx_is_as_modelled(Dot::Fp16, CpuUnit::Tdpfp16ps);
}
