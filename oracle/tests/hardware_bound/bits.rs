//! T2: what lies within the bound and is still not what the declared unit returns.

use super::Case;
use super::inputs::{Family, case, terms};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Instruction, Part, Reduction, Slot,
};
use sparse_oracle::format::FormatParams;
use sparse_oracle::format::{Bcsr, Csr, Dense, Entries, Entry};
use sparse_oracle::judge::{ElementVerdict, Problem};
use sparse_oracle::model::chain::Unit;
use sparse_oracle::model::tensor_core::{TensorCore, chain_padded};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;
use sparse_oracle::verdict::Criterion;

use Precision::{F16, F32};

fn mma(architecture: Architecture, name: &str) -> Arithmetic {
    let instruction: Instruction = name.parse().expect("an instruction");
    Arithmetic::mma(Some(architecture), instruction, instruction.acc)
}

/// Over random cases, how often `done` differs from `declared`; each difference must be Wrong(T2), each
/// agreement right, and T1 alone must have let most of the differences pass.
fn told_apart(what: &str, declared: &Arithmetic, input: Precision, done: impl Fn(&Case) -> u64) {
    let mut random = Random::new(9, what);
    let (mut differ, mut within, mut tried) = (0, 0, 0);
    let free = {
        let mut free = *declared;
        free.part_mut().order = sparse_oracle::arithmetic::Order::Free;
        free
    };
    // bf16 products have 16 bits, and sums of few of them are exact: some differences are rare.
    while differ < 10 && tried < 3000 {
        tried += 1;
        let family = [Family::Positive, Family::NearOne, Family::Wide, Family::BelowAlignment][tried % 4];
        let operands = terms(family, declared, input, 30 + tried % 60, &mut random);
        let case = Case::new(&operands, (1.0, 0.0), 0.0);
        let (right, found) = (case.modelled(declared), done(&case));
        let verdict = case.accepts(declared).judge(found);
        if found == right {
            assert!(!matches!(verdict, ElementVerdict::Wrong(..)), "{what}: {verdict:?}");
            continue;
        }
        differ += 1;
        assert!(matches!(verdict, ElementVerdict::Wrong(..)), "{what}: {verdict:?} for {case:?}");
        let passes = !matches!(case.accepts(&free).judge(found), ElementVerdict::Wrong(..));
        // Where nothing stronger speaks, the bits do.
        assert!(
            passes || !matches!(verdict, ElementVerdict::Wrong(Criterion::T2, _)),
            "{what}: {verdict:?} for {case:?}"
        );
        within += i32::from(passes);
    }
    println!("{what}: {differ} of {tried} differ, T1 alone passes {within} of them");
    assert!(differ == 10 && within >= 5, "{what}: {differ} differ, {within} within");
}

#[test]
fn another_instruction_shape_or_architecture_is_noticed() {
    use Architecture::{Sm80, Sm90};
    let k16 = mma(Sm90, "mma.m16n8k16.f32.f16");
    told_apart("two m16n8k8 for one m16n8k16", &k16, F16, |case| {
        case.modelled(&mma(Sm90, "mma.m16n8k8.f32.f16"))
    });
    told_apart("sm_80 for sm_90", &k16, F16, |case| case.modelled(&mma(Sm80, "mma.m16n8k16.f32.f16")));
    told_apart("sm_90 for sm_80", &mma(Sm80, "mma.m16n8k16.f32.f16"), F16, |case| case.modelled(&k16));
    let tf32 = mma(Sm90, "mma.m16n8k8.f32.tf32");
    told_apart("m16n8k4 for m16n8k8 in tf32", &tf32, Precision::Tf32, |case| {
        case.modelled(&mma(Sm90, "mma.m16n8k4.f32.tf32"))
    });
    told_apart("CUDA cores for tensor cores", &k16, F16, |case| {
        case.modelled(&Arithmetic::chain(Reduction::FmaChain, F32, F32))
    });
}

#[test]
fn another_order_or_composition_is_noticed() {
    let chain = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    let reordered = |order: fn(&mut Vec<(f64, f64)>)| {
        move |case: &Case| {
            let mut other = case.clone();
            order(&mut other.terms);
            other.modelled(&chain)
        }
    };
    told_apart("descending k", &chain, F16, reordered(|t| t.reverse()));
    told_apart("k rotated by half a block", &chain, F16, reordered(|t| t.rotate_left(8)));
    told_apart("split k", &chain, F16, |case| case.modelled(&chain.along(Along::SplitK { parts: 2 })));
    told_apart("no split k", &chain.along(Along::SplitK { parts: 2 }), F16, |case| case.modelled(&chain));
    let three = |blocks, segments| Along::ThreePass { blocks, segments };
    told_apart("three passes", &chain.along(Along::TwoPass { blocks: 1 }), F16, |case| {
        case.modelled(&chain.along(three(1, 2)))
    });
    told_apart("groups of two", &chain.along(three(1, 3)), F16, |case| {
        case.modelled(&chain.along(three(1, 2)))
    });
    told_apart("two passes", &chain, F16, |case| case.modelled(&chain.along(Along::TwoPass { blocks: 1 })));
    let fma = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    told_apart("an fma chain in two halves", &fma, F32, |case| {
        case.modelled(&fma.along(Along::SplitK { parts: 2 }))
    });
}

/// Inside one block of 16 the order is free on Hopper: bits must not change.
#[test]
fn a_fused_block_does_not_depend_on_its_order() {
    let chain = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    let mut random = Random::new(2, "inside a block");
    for family in Family::ALL {
        let mut case = Case::new(&terms(family, &chain, F16, 16, &mut random), (1.0, 0.0), 0.0);
        let bits = case.modelled(&chain);
        random.shuffle(&mut case.terms);
        assert_eq!(case.modelled(&chain), bits, "{family:?}");
    }
}

/// fp8 `mma.sync` on Hopper, with the pairs of each four swapped: by hand, from the f16 instruction.
#[test]
fn the_other_order_of_emulated_fp8_is_noticed() {
    let declared = mma(Architecture::Sm90, "mma.m16n8k32.f32.e4m3");
    let half: Instruction = "mma.m16n8k16.f32.f16".parse().expect("an instruction");
    let core = TensorCore::new(Architecture::Sm90, half).expect("of the table");
    let emulated = |case: &Case, first: usize| {
        let unit = Unit { precision: F32 };
        let f16 = |v: f64| encode(v, F16, Rounding::NearestEven);
        case.terms.chunks(32).fold(0.0, |acc, block| {
            let of = |pair: usize| -> (Vec<u64>, Vec<u64>) {
                let chosen = block.iter().enumerate().filter(|(k, _)| k % 4 / 2 == pair);
                chosen.map(|(_, &(a, b))| (f16(a), f16(b))).unzip()
            };
            let mut dot = 0;
            for pair in [first, 1 - first] {
                let (a, b) = of(pair);
                dot = chain_padded(&core, dot, &a, &b).expect("equal lengths");
            }
            unit.add(acc, decode(dot, F32))
        })
    };
    told_apart("the other pairs first", &declared, Precision::E4m3, |case| {
        encode(emulated(case, 1), F32, Rounding::NearestEven)
    });
    let mut random = Random::new(1, "fp8");
    for family in [Family::Positive, Family::Wide, Family::Bits] {
        let case = Case::new(&terms(family, &declared, Precision::E4m3, 75, &mut random), (1.0, 0.0), 0.0);
        assert_eq!(decode(case.modelled(&declared), F32), emulated(&case, 0), "{family:?}");
    }
    told_apart("native fp8 for emulated", &declared, Precision::E4m3, |case| {
        case.modelled(&mma(Architecture::Sm120, "mma.m16n8k32.f32.e4m3"))
    });
}

#[test]
fn cpu_units_are_told_apart() {
    let two_way = Arithmetic::cpu(CpuUnit::Fmopa2Way, F32);
    told_apart("one rounding a pair", &two_way, F16, |case| {
        // An fma chain of the exact pair sum: the sum itself in f64, then one rounding onto acc.
        let sum = case.terms.chunks(2).fold(0.0f64, |acc, pair| {
            let pair: f64 = pair.iter().map(|(a, b)| a * b).sum();
            f64::from((acc + pair) as f32)
        });
        encode(sum, F32, Rounding::NearestEven)
    });
    told_apart("an fma a product for a pair", &two_way, F16, |case| {
        case.modelled(&Arithmetic::chain(Reduction::FmaChain, F32, F32))
    });
    let bf16 = Precision::Bf16;
    let odd = Arithmetic::cpu(CpuUnit::Bfmopa { ebf: false }, F32);
    told_apart("EBF = 1 for EBF = 0", &odd, bf16, |case| {
        case.modelled(&Arithmetic::cpu(CpuUnit::Bfmopa { ebf: true }, F32))
    });
    let dot = Arithmetic::cpu(CpuUnit::Vdpbf16ps, F32);
    told_apart("low half before high half", &dot, bf16, |case| {
        case.modelled(&Arithmetic::chain(Reduction::FmaChain, F32, F32))
    });
    told_apart("AVX512-BF16 for AMX", &Arithmetic::cpu(CpuUnit::Tdpbf16ps, F32), bf16, |case| {
        case.modelled(&dot)
    });
}

/// Slots decide which products meet in a block, and hybrids add up two units.
#[test]
fn tiles_and_hybrids_are_modelled_by_their_slots() {
    let tiles = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    let core = TensorCore::new(Architecture::Sm90, "mma.m16n8k16.f32.f16".parse().expect("an instruction"))
        .expect("of the table");
    let unit = Unit { precision: F32 };
    let bits = |v: f64| encode(v, F16, Rounding::NearestEven);
    let rest: Part = *Arithmetic::chain(Reduction::FmaChain, F32, F32).part();
    let hybrid = Arithmetic::hybrid(tiles, rest, Combine::Ordered);
    let mut random = Random::new(7, "tiles");
    let (mut shifted, mut split) = (0, 0);
    for round in 0..120 {
        let operands = terms([Family::Wide, Family::Positive][round % 2], &tiles, F16, 24, &mut random);
        // Two gaps of four slots, as a tile with empty columns has.
        let at = |t: usize| (t + t / 6 * 4) as u32;
        let in_tile = |t: usize| t % 4 != 3;
        let mut case = Case::new(&operands, (1.0, 0.0), 0.0);
        let packed = case.modelled(&tiles);
        let slots = |of: &dyn Fn(usize) -> Slot| Some((0..24).map(of).collect::<Vec<Slot>>());
        case.slots = slots(&|t| Slot { in_tile: true, at: at(t) });
        let (mut a, mut b) = (vec![0u64; 48], vec![0u64; 48]);
        for (t, &(x, y)) in operands.iter().enumerate() {
            (a[at(t) as usize], b[at(t) as usize]) = (bits(x), bits(y));
        }
        let by_hand = chain_padded(&core, 0, &a, &b).expect("equal lengths");
        assert_eq!(case.modelled(&tiles), by_hand, "round {round}");
        shifted += usize::from(by_hand != packed);
        assert!(!matches!(case.accepts(&tiles).judge(by_hand), ElementVerdict::Wrong(..)));
        if packed != by_hand {
            assert!(matches!(case.accepts(&tiles).judge(packed), ElementVerdict::Wrong(Criterion::T2, _)));
        }

        case.slots = slots(&|t| Slot { in_tile: in_tile(t), at: t as u32 });
        let (mut a, mut b) = (vec![0u64; 24], vec![0u64; 24]);
        let mut outside = 0.0;
        for (t, &(x, y)) in operands.iter().enumerate() {
            if in_tile(t) {
                (a[t], b[t]) = (bits(x), bits(y));
            } else {
                outside = unit.fma(x, y, outside);
            }
        }
        let inside = decode(chain_padded(&core, 0, &a, &b).expect("equal lengths"), F32);
        let by_hand = encode(unit.add(inside, outside), F32, Rounding::NearestEven);
        assert_eq!(case.modelled(&hybrid), by_hand, "round {round}");
        split += usize::from(by_hand != packed);
        let verdict = case.accepts(&hybrid).judge(by_hand);
        assert!(!matches!(verdict, ElementVerdict::Wrong(..)), "{verdict:?}");
        case.slots = None;
        assert_eq!(case.accepts(&hybrid).modelled, None, "without slots nobody knows the split");
    }
    assert!(shifted > 5 && split > 5, "{shifted} {split}");
}

/// Elements of a disjoint hybrid lie in one part; one that lies in both contradicts the declaration and has no bits.
#[test]
fn disjoint_parts_each_have_their_own_model() {
    let tiles = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    let rest = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    let hybrid = Arithmetic::hybrid(tiles, *rest.part(), Combine::Disjoint);
    let mut random = Random::new(3, "disjoint");
    let mut case = case(Family::NearOne, &tiles, F16, 40, &mut random);
    let in_part = |in_tile: bool| Some((0..40).map(|at| Slot { in_tile, at }).collect::<Vec<Slot>>());
    case.slots = in_part(true);
    assert_eq!(case.modelled(&hybrid), case.modelled(&tiles));
    case.slots = in_part(false);
    assert_eq!(case.modelled(&hybrid), case.modelled(&rest));
    case.slots = Some((0..40).map(|at| Slot { in_tile: at < 9, at }).collect());
    assert_eq!(case.accepts(&hybrid).modelled, None);
    let free = Arithmetic::hybrid(tiles, *rest.part(), Combine::Free);
    assert_eq!(case.accepts(&free).modelled, None);
}

/// The slots of a BCSR matrix are what the picture in `judge::slots` says, and refuse positions outside of blocks.
#[test]
fn blocks_of_bcsr_follow_one_another_along_k() {
    let entries = |list: &[(u32, u32)]| Entries {
        rows: 3,
        cols: 16,
        list: list.iter().map(|&(row, col)| Entry { row, col, value: 1.0f32 }).collect(),
    };
    let stored = entries(&[(0, 1), (0, 13), (1, 2), (1, 3), (1, 12), (2, 9)]);
    let matrix = Bcsr::from_entries_with(&stored, &FormatParams::blocks(2, 4)).expect("encodes");
    let positions = Csr::from_entries(&stored).expect("encodes");
    let slots = matrix.along_k(&positions).expect("all in blocks");
    let at = |i: usize| slots.row(i).1.iter().map(|s| s.at).collect::<Vec<u32>>();
    assert_eq!((at(0), at(1), at(2)), (vec![1, 5], vec![2, 3, 4], vec![1]));
    assert!(slots.values.iter().all(|s| s.in_tile));
    let outside = Csr::from_entries(&entries(&[(2, 3)])).expect("encodes");
    assert_eq!(matrix.along_k(&outside), None);
    // Judged with slots of other columns, nothing is visited.
    let a = positions.map(|&v| f64::from(v));
    let b = Dense::from_fn(16, 1, |_, _| 1.0);
    let wrong =
        Csr::from_entries(&entries(&[(0, 1), (0, 14), (1, 2), (1, 3), (1, 12), (2, 9)])).expect("encodes");
    let wrong = wrong.map(|_| Slot { in_tile: true, at: 0 });
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: Some(&wrong) };
    let mut visited = 0;
    assert!(problem.for_each(&mut |_| visited += 1).is_err());
    assert_eq!(visited, 0);
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: Some(&slots) };
    assert!(problem.for_each(&mut |site| visited += site.slots.map_or(0, <[Slot]>::len)).is_ok());
    assert_eq!(visited, 6);
}
