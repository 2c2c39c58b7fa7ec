//! `mma` for a warp is the oracle's scalar model, output for output: each instruction of the table, on each architecture.

mod source;

use source::Source;
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::format::SparseMma;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::fragment::Fragment;
use sparse_oracle::model::tensor_core::sparse::selected_rows;
use sparse_oracle::scalar::Precision::{Bf16, F16, F32, F64, Tf32};
use sparse_oracle::scalar::{Precision, Rounding, encode};
use sparse_ptx::exec::matrix::{MatrixError, PreparedMma};
use sparse_ptx::program::Mma;
use sparse_ptx::registers::{Extent, LANES, Registers, Slot};

/// What a fragment is filled with.
#[derive(Clone, Copy, Debug)]
enum Fill {
    /// Any bits: NaNs, infinities, subnormals, all exponents.
    Bits,
    /// Numbers about 1.
    Near,
    /// A few numbers of both signs, which cancel.
    Cancel,
    /// Numbers about 1 and a special one here and there.
    Sparse,
    /// The largest and the smallest.
    Extreme,
    /// Zeros of either sign.
    Zeros,
}

const FILLS: [Fill; 5] = [Fill::Bits, Fill::Near, Fill::Cancel, Fill::Sparse, Fill::Extreme];

fn number(source: &mut Source, precision: Precision, fill: Fill) -> u64 {
    let of = |x: f64| encode(x, precision, Rounding::NearestEven);
    let bits = precision.bytes() * 8;
    let any = source.next() >> (64 - bits);
    let near = (source.below(1 << 20) as f64 / 262_144.0 - 2.0) * 2f64.powi(source.below(9) as i32 - 4);
    match fill {
        Fill::Bits => any,
        Fill::Near => of(near),
        Fill::Cancel => of([1.0, -1.0, 0.5, -0.0, 3.0, -3.0, 1024.0, -1024.0][source.below(8) as usize]),
        Fill::Sparse if source.below(60) == 0 => {
            of([f64::INFINITY, f64::NEG_INFINITY, f64::NAN][source.below(3) as usize])
        }
        Fill::Sparse => of(near),
        Fill::Zeros => of([0.0, -0.0][source.below(2) as usize]),
        Fill::Extreme => {
            let magnitude = [0, 1, 2, of(f64::INFINITY) - 1, of(1.0), of(1.0) / 2][source.below(6) as usize];
            magnitude | source.below(2) << (bits - 1)
        }
    }
}

/// Registers for an instruction: D, A, B, C, metadata.
fn layout(instruction: Instruction) -> (Mma, Extent) {
    let fragment = Fragment::of(instruction).expect("described");
    let registers =
        |count: usize, precision: Precision| (count * precision.bytes()).div_ceil(4.max(precision.bytes()));
    let (mut narrow, mut wide) = (0, 0);
    let mut take = |count: usize, precision: Precision| -> Vec<Slot> {
        let count = registers(count, precision);
        let (next, slot): (&mut u16, fn(u16) -> Slot) =
            if precision == F64 { (&mut wide, Slot::wide) } else { (&mut narrow, Slot::narrow) };
        let first = *next;
        *next += count as u16;
        (first..*next).map(slot).collect()
    };
    let d = take(fragment.c_len(), instruction.acc);
    let a = take(fragment.a_len(), instruction.input);
    let b = take(fragment.b_len(), instruction.input);
    let c = take(fragment.c_len(), instruction.acc);
    let metadata = (instruction.engine == Engine::MmaSparse).then_some((Slot::narrow(narrow), 0));
    let extent = Extent { predicates: 0, narrow: usize::from(narrow) + 1, wide: wide.into() };
    (Mma { instruction, d, a, b, c, metadata }, extent)
}

fn get(registers: &Registers, slots: &[Slot], precision: Precision, lane: usize, i: usize) -> u64 {
    match precision.bytes() {
        2 => u64::from(registers.narrow[usize::from(slots[i / 2].index)][lane] >> (i % 2 * 16) & 0xffff),
        4 => registers.narrow[usize::from(slots[i].index)][lane].into(),
        _ => registers.wide[usize::from(slots[i].index)][lane],
    }
}

fn fill(registers: &mut Registers, slots: &[Slot], precision: Precision, source: &mut Source, fill: Fill) {
    for slot in slots {
        for lane in 0..LANES {
            let value = number(source, precision, fill);
            match precision.bytes() {
                2 => {
                    let other = number(source, precision, fill);
                    registers.narrow[usize::from(slot.index)][lane] = (other << 16 | value) as u32;
                }
                4 => registers.narrow[usize::from(slot.index)][lane] = value as u32,
                _ => registers.wide[usize::from(slot.index)][lane] = value,
            }
        }
    }
}

/// D by the scalar model, an element at a time.
fn expected(core: &TensorCore, mma: &Mma, registers: &Registers) -> Vec<u64> {
    let instruction = core.instruction();
    let fragment = Fragment::of(instruction).expect("described");
    let mut a = vec![vec![0; core.products()]; instruction.m.into()];
    let mut b = vec![vec![0; 8]; instruction.k.into()];
    for lane in 0..LANES {
        for i in 0..fragment.a_len() {
            let (row, col) = fragment.a(lane, i);
            a[row][col] = get(registers, &mma.a, instruction.input, lane, i);
        }
        for i in 0..fragment.b_len() {
            let (row, col) = fragment.b(lane, i);
            b[row][col] = get(registers, &mma.b, instruction.input, lane, i);
        }
    }
    let mut d = Vec::new();
    for lane in 0..LANES {
        for i in 0..fragment.c_len() {
            let (row, col) = fragment.c(lane, i);
            let rows: Vec<usize> = match mma.metadata {
                None => (0..usize::from(instruction.k)).collect(),
                Some((slot, selector)) => {
                    let shape = shape(instruction);
                    let nibbles: Vec<u32> = (0..shape.k() / shape.chunk())
                        .map(|chunk| {
                            let (word, shift) = shape.nibble_of_chunk(row, chunk);
                            let holder = shape.lane_of_word(word, selector.into());
                            registers.narrow[usize::from(slot.index)][holder] >> shift & 15
                        })
                        .collect();
                    selected_rows(shape, &nibbles).expect("legal metadata")
                }
            };
            let column: Vec<u64> = rows.into_iter().map(|k| b[k][col]).collect();
            let c = get(registers, &mma.c, instruction.acc, lane, i);
            d.push(core.apply(c, &a[row], &column).expect("as many operands as products"));
        }
    }
    d
}

fn shape(instruction: Instruction) -> SparseMma {
    let half = instruction.input != Tf32;
    match (half, instruction.k) {
        (true, 16) => SparseMma::HalfK16,
        (true, _) => SparseMma::HalfK32,
        (false, 8) => SparseMma::Tf32K8,
        (false, _) => SparseMma::Tf32K16,
    }
}

/// Legal nibbles in the lanes that the selector names; anything elsewhere, where nobody looks.
fn metadata(mma: &mut Mma, registers: &mut Registers, source: &mut Source) {
    let Some((slot, _)) = mma.metadata else { return };
    let shape = shape(mma.instruction);
    let selector = source.below(shape.selectors() as u64) as u8;
    mma.metadata = Some((slot, selector));
    let legal: &[u32] = if shape.chunk() == 4 { &[4, 8, 12, 9, 13, 14] } else { &[4, 14] };
    for lane in 0..LANES {
        let mine = shape.word_of_lane(lane).1 == usize::from(selector);
        let word = (0..8).fold(0, |word, _| word << 4 | legal[source.below(legal.len() as u64) as usize]);
        registers.narrow[usize::from(slot.index)][lane] = if mine { word } else { source.next() as u32 };
    }
}

/// Every instruction of a warp in the table of forms.
fn instructions() -> Vec<Instruction> {
    let dense = |m, k, acc, input| Instruction::mma((m, 8, k), acc, input);
    let sparse = |k, acc, input| dense(16, k, acc, input).engine(Engine::MmaSparse);
    vec![
        dense(16, 8, F32, F16),
        dense(16, 8, F16, F16),
        dense(16, 8, F32, Bf16),
        dense(16, 16, F32, F16),
        dense(16, 16, F16, F16),
        dense(16, 16, F32, Bf16),
        dense(16, 4, F32, Tf32),
        dense(16, 8, F32, Tf32),
        dense(8, 4, F64, F64),
        sparse(16, F32, F16),
        sparse(16, F16, F16),
        sparse(16, F32, Bf16),
        sparse(32, F32, F16),
        sparse(32, F16, F16),
        sparse(32, F32, Bf16),
        sparse(8, F32, Tf32),
        sparse(16, F32, Tf32),
    ]
}

#[test]
fn a_warp_is_the_scalar_model() {
    let mut source = Source(23);
    let mut ran = 0;
    for instruction in instructions() {
        for architecture in Architecture::ALL {
            let Ok(core) = TensorCore::new(architecture, instruction) else { continue };
            ran += 1;
            let (mut mma, extent) = layout(instruction);
            let mut registers = Registers::new(extent);
            for round in 0..40 {
                let pick = FILLS[round % FILLS.len()];
                // C is filled in another way at times, so that it dominates or vanishes.
                let of_c = if round % 3 == 0 { FILLS[round / 3 % FILLS.len()] } else { pick };
                fill(&mut registers, &mma.a.clone(), instruction.input, &mut source, pick);
                fill(&mut registers, &mma.b.clone(), instruction.input, &mut source, pick);
                fill(&mut registers, &mma.c.clone(), instruction.acc, &mut source, of_c);
                metadata(&mut mma, &mut registers, &mut source);
                let expected = expected(&core, &mma, &registers);
                let prepared = PreparedMma::new(architecture, &mma).expect("modelled");
                prepared.apply(&mut registers).expect("legal");
                compare(&core, &mma, &registers, &expected, pick);
            }
        }
    }
    assert!(ran >= 60, "{ran} instructions on architectures");
}

/// A tile past the border of C: one operand is zeros of either sign, C is +0. A NaN or an infinity in the other still is one in D.
#[test]
fn zeros_of_a_warp_are_the_scalar_model() {
    let mut source = Source(29);
    for instruction in instructions() {
        for architecture in Architecture::ALL {
            let Ok(core) = TensorCore::new(architecture, instruction) else { continue };
            let (mut mma, extent) = layout(instruction);
            let mut registers = Registers::new(extent);
            for round in 0..20 {
                let pick = FILLS[round % FILLS.len()];
                let (zeros, others) = if round < 10 { (&mma.a, &mma.b) } else { (&mma.b, &mma.a) };
                fill(&mut registers, &zeros.clone(), instruction.input, &mut source, Fill::Zeros);
                fill(&mut registers, &others.clone(), instruction.input, &mut source, pick);
                for slot in &mma.c {
                    let index = usize::from(slot.index);
                    if instruction.acc == F64 {
                        registers.wide[index] = [0; LANES];
                    } else {
                        registers.narrow[index] = [0; LANES];
                    }
                }
                // One -0 among them is no other sum.
                if round % 10 >= 5 && instruction.acc != F64 {
                    registers.narrow[usize::from(mma.c[0].index)][round] = 0x8000_0000;
                }
                metadata(&mut mma, &mut registers, &mut source);
                let expected = expected(&core, &mma, &registers);
                PreparedMma::new(architecture, &mma).expect("modelled").apply(&mut registers).expect("legal");
                compare(&core, &mma, &registers, &expected, pick);
            }
        }
    }
}

fn compare(core: &TensorCore, mma: &Mma, registers: &Registers, expected: &[u64], fill: Fill) {
    let instruction = core.instruction();
    let len = Fragment::of(instruction).expect("described").c_len();
    for (at, &expected) in expected.iter().enumerate() {
        let (lane, i) = (at / len, at % len);
        let found = get(registers, &mma.d, instruction.acc, lane, i);
        let both_nan =
            instruction.acc == F64 && f64::from_bits(found).is_nan() && f64::from_bits(expected).is_nan();
        assert!(
            found == expected || both_nan,
            "{instruction} on {}, {fill:?}, lane {lane}, element {i}: {found:#x}, the model says {expected:#x}",
            core.architecture().name()
        );
    }
}

#[test]
fn d_may_be_c_and_a() {
    let instruction = Instruction::mma((16, 8, 16), F32, F16);
    let (mut mma, extent) = layout(instruction);
    let mut registers = Registers::new(extent);
    let mut source = Source(7);
    for slots in [mma.c.clone(), mma.a.clone()] {
        mma.d = slots;
        for pick in FILLS {
            fill(&mut registers, &mma.a.clone(), F16, &mut source, pick);
            fill(&mut registers, &mma.b.clone(), F16, &mut source, pick);
            fill(&mut registers, &mma.c.clone(), F32, &mut source, pick);
            let core = TensorCore::new(Architecture::Sm80, instruction).expect("modelled");
            let expected = expected(&core, &mma, &registers);
            PreparedMma::new(Architecture::Sm80, &mma)
                .expect("modelled")
                .apply(&mut registers)
                .expect("legal");
            compare(&core, &mma, &registers, &expected, pick);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (good, extent) = layout(Instruction::mma((16, 8, 32), F32, F16).engine(Engine::MmaSparse));
    let mut registers = Registers::new(extent);
    let refused = |change: &dyn Fn(&mut Mma)| {
        let mut mma = good.clone();
        change(&mut mma);
        PreparedMma::new(Architecture::Sm80, &mma).expect_err("refused").to_string()
    };
    let text = refused(&|mma| mma.a.truncate(3));
    assert!(text.contains("4 registers of 32 bits for A, the instruction names 3"), "{text}");
    let text = refused(&|mma| mma.metadata = None);
    assert!(text.contains("metadata"), "{text}");
    let text = refused(&|mma| mma.metadata = Some((Slot::narrow(0), 2)));
    assert!(text.contains("selector"), "{text}");
    let text = refused(&|mma| mma.d[0] = Slot::wide(0));
    assert!(text.contains("registers of 32 bits for D"), "{text}");
    let text = refused(&|mma| mma.instruction = Instruction::mma((16, 8, 32), F32, Precision::E4m3));
    assert!(text.contains("modelled on") || text.contains("no architecture"), "{text}");
    // Metadata of zeros names the same element twice.
    let before = registers.narrow.clone();
    let prepared = PreparedMma::new(Architecture::Sm80, &good).expect("modelled");
    let error = prepared.apply(&mut registers).expect_err("no legal nibble");
    assert!(matches!(error, MatrixError::Model(_)), "{error}");
    assert_eq!(registers.narrow, before);
}
