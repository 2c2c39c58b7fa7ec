//! The bound as it is derived: its figures for one block, what blocks, subnormal operands and an unknown device add, where T0
//! ends, and which contracts admit which unit.

use super::Case;
use super::declared::instructions;
use super::inputs::{Family, terms};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Flush, Init, Input, Instruction, Order, Reduction,
    Slot,
};
use sparse_oracle::bound::{OrderFree, TermCounts, tolerance, tolerance_of};
use sparse_oracle::contract::all_contracts;
use sparse_oracle::exact::{Value, dot_reference};
use sparse_oracle::judge::ElementVerdict;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::decode;
use sparse_oracle::source::random::Random;
use sparse_oracle::verdict::Criterion;

use Precision::{Bf16, F16, F32, F64, Tf32};

const HOPPER: Option<Architecture> = Some(Architecture::Sm90);

fn mma(architecture: Architecture, name: &str) -> Arithmetic {
    let instruction: Instruction = name.parse().expect("an instruction");
    Arithmetic::mma(Some(architecture), instruction, instruction.acc)
}

/// (L + 1) * 2^-F for what alignment cuts of L products and c, 2^-23 (2^-13, 2^-11) for the rounding; in units of 2^-24.
#[test]
fn one_full_block_onto_c_has_the_published_bound() {
    use Architecture::{Sm70, Sm80, Sm90};
    for (architecture, name, units) in [
        (Sm70, "mma.m8n8k4.f32.f16", 12.0),
        (Sm80, "mma.m16n8k8.f32.f16", 11.0),
        (Sm80, "mma.m16n8k4.f32.tf32", 7.0),
        (Sm90, "mma.m16n8k16.f32.f16", 10.5),
        (Sm90, "mma.m16n8k16.f32.bf16", 10.5),
        (Sm90, "mma.m16n8k8.f32.tf32", 6.5),
        (Sm90, "wgmma.m64n8k32.f32.e4m3", 34.0 * 2048.0),
    ] {
        let declared = mma(architecture, name).from_c();
        let products = declared.part().block() as u64;
        let found = tolerance(&declared, products, 1.0, 1.0, 1.0).expect("a bound").relative();
        assert_eq!(found * 2.0f64.powi(24), units, "{architecture} {name}");
        // From zero, the first c is no term.
        let from_zero = tolerance(&mma(architecture, name), products, 1.0, 0.0, 1.0).expect("a bound");
        assert!(from_zero.relative() < found, "{architecture} {name}");
    }
    // Rounding to nearest: w = 2^-11, and 1 / (1 - w) for what it may add.
    let f16 = mma(Sm90, "mma.m16n8k16.f16.f16").from_c();
    let w = 2.0f64.powi(-11);
    let expected = (17.0 * 2.0f64.powi(-25) + w) / (1.0 - w);
    let found = tolerance(&f16, 16, 1.0, 1.0, 1.0).expect("a bound").relative();
    assert!((found - expected).abs() < 1e-15, "{found:e} {expected:e}");
}

#[test]
fn a_chain_toward_zero_grows_linearly_and_one_to_nearest_ends() {
    let rel = |declared: &Arithmetic, n| tolerance(declared, n, 1.0, 1.0, 1.0).map(|t| t.relative());
    let f32 = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16").from_c();
    let one = rel(&f32, 16).expect("a bound");
    for blocks in [2u64, 100, 1 << 20] {
        assert_eq!(rel(&f32, 16 * blocks), Some(one * blocks as f64));
    }
    let f16 = mma(Architecture::Sm90, "mma.m16n8k16.f16.f16").from_c();
    assert!(rel(&f16, 16 * 100).expect("a bound") > 100.0 * rel(&f16, 16).expect("a bound"));
    assert!(rel(&f16, 16 * 2047).is_some() && rel(&f16, 16 * 2048).is_none());
}

#[test]
fn the_bound_counts_blocks_that_hold_a_product() {
    let declared = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    let rel = |census: TermCounts| {
        let found = tolerance_of(&declared, |_| census, (1.0, 0.0), 1.0);
        found.expect("a bound").relative() * 2.0f64.powi(25)
    };
    let census = |products, blocks| TermCounts { terms: 32, products, blocks, extent: 40 };
    // n + q - 1 cuts of 2^-25, q roundings of 2^-23.
    assert_eq!(rel(census(32, 2)), 33.0 + 8.0);
    assert_eq!(rel(census(32, 3)), 34.0 + 12.0);
    assert_eq!(rel(census(1, 1)), 1.0 + 4.0);
    assert_eq!(rel(census(0, 0)), 0.0, "zeros lose nothing");
    // As the judge counts: three terms in three tiles, or in one; a zero operand makes a block empty.
    let slot = |at| Slot { in_tile: true, at };
    let mut case = Case::new(&[(1.0, 1.0), (1.5, 1.0), (1.0, 1.25)], (1.0, 0.0), 0.0);
    let bound = |case: &Case| case.accepts(&declared).bound().expect("a bound") / 3.75 * 2.0f64.powi(25);
    let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
    assert!(close(bound(&case), 3.0 + 4.0), "{}", bound(&case));
    case.slots = Some(vec![slot(0), slot(17), slot(40)]);
    assert!(close(bound(&case), 5.0 + 12.0), "{}", bound(&case));
    case.terms[1] = (0.0, 1.0);
    let two = case.accepts(&declared).bound().expect("a bound") / 2.25 * 2.0f64.powi(25);
    assert!(close(two, 3.0 + 8.0), "{two}");
}

/// Subnormal factors are aligned by 2^-14: what a sum of magnitudes alone allows is far too little.
#[test]
fn subnormal_operands_lose_more_than_their_magnitude_suggests() {
    let declared = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    let mut terms = vec![(2.0f64.powi(-24), 1.0)];
    terms.extend([(2.0f64.powi(-14) * 1.75, 2.0f64.powi(-24) * 511.0); 15]);
    let case = Case::new(&terms, (1.0, 0.0), 0.0);
    let accepted = case.accepts(&declared);
    let bits = accepted.modelled.expect("a model");
    let (a, b): (Vec<f64>, Vec<f64>) = terms.iter().copied().unzip();
    let plain = dot_reference(&a, &b);
    let allowed = tolerance(&declared, 16, 1.0, 0.0, 1.0).expect("a bound");
    let found = decode(bits, F32);
    assert!(!allowed.distance(found, &plain.value, &plain.gauge).within, "g alone would refuse the hardware");
    assert!(matches!(accepted.judge(bits), ElementVerdict::Within(share) if share > 0.05 && share < 1.0));
}

#[test]
fn an_unknown_device_has_the_widest_bound_and_no_bits() {
    for (architecture, instruction) in instructions() {
        let known = Arithmetic::mma(Some(architecture), instruction, instruction.acc);
        let unknown = Arithmetic::mma(None, instruction, instruction.acc);
        assert!(known.is_deterministic() && !unknown.is_deterministic());
        for n in [1, 16, 100, 1000] {
            let figures =
                |a: &Arithmetic| tolerance(a, n, 1.0, 0.0, 1.0).map(|t| (t.relative(), t.absolute()));
            let (known, unknown) = (figures(&known).expect("a bound"), figures(&unknown).expect("a bound"));
            assert!(known.0 <= unknown.0 && known.1 <= unknown.1, "{architecture} {instruction} {n}");
        }
    }
    let nobody: Instruction = "mma.m16n8k99.f32.f16".parse().expect("parses");
    assert!(tolerance(&Arithmetic::mma(None, nobody, F32), 1, 1.0, 0.0, 1.0).is_none());
}

#[test]
fn exact_sums_end_at_the_narrowest_of_significand_and_alignment() {
    use Architecture::{Sm70, Sm89, Sm90};
    for (architecture, name, p) in [
        (Sm70, "mma.m8n8k4.f32.f16", 24),
        (Sm90, "mma.m16n8k16.f32.f16", 24),
        (Sm90, "mma.m16n8k16.f16.f16", 11),
        (Sm89, "mma.m16n8k32.f32.e4m3", 14),
        (Sm89, "mma.m16n8k32.f16.e4m3", 11),
        (Sm90, "wgmma.m64n8k32.f32.e4m3", 14),
        (Sm90, "mma.m16n8k32.f32.e4m3", 24),
    ] {
        let declared = mma(architecture, name);
        let limit = 2.0f64.powi(p);
        assert!(OrderFree::new(&declared).holds(0, limit), "{architecture} {name}");
        assert!(!OrderFree::new(&declared).holds(0, limit + 1.0), "{architecture} {name}");
        let unknown = Arithmetic::mma(None, name.parse().expect("parses"), declared.out);
        assert!(!OrderFree::new(&unknown).holds(0, limit + 1.0), "{name}");
    }
    // One step past it, bits are lost: 2^14 + 1 in sums of 14 bits.
    let fp8 = mma(Sm90, "wgmma.m64n8k32.f32.e4m3");
    let past = Case::new(&[(128.0, 128.0), (1.0, 1.0)], (1.0, 0.0), 0.0);
    assert_eq!(decode(past.modelled(&fp8), F32), 16384.0);
    let accepted = past.accepts(&fp8);
    assert!(
        !accepted.order_free
            && matches!(accepted.judge(accepted.modelled.unwrap_or(0)), ElementVerdict::Within(_))
    );
    // And up to it, nothing is.
    let full = Case::new(&[(64.0, 64.0), (48.0, 80.0), (15.0, 15.0), (1.0, 1.0)], (1.0, 0.0), 0.0);
    assert!(
        full.accepts(&fp8).order_free
            && full.accepts(&fp8).judge(full.modelled(&fp8)) == ElementVerdict::Exact
    );
    // What a unit flushes is not exact.
    let flushing = Arithmetic::cpu(CpuUnit::Vdpbf16ps, F32);
    let tiny = 2.0f64.powi(-130);
    let flushed = Case::new(&[(tiny, 1.0)], (1.0, 0.0), 0.0);
    assert!(!flushed.accepts(&flushing).order_free && decode(flushed.modelled(&flushing), F32) == 0.0);
    assert!(matches!(flushed.accepts(&flushing).judge(0), ElementVerdict::Within(_)));
    assert!(flushed.accepts(&Arithmetic::chain(Reduction::FmaChain, F32, F32)).order_free);
}

/// On integers that are exact in any order, every unit gives the exact sum, and T0 says so.
#[test]
fn integers_are_exact_on_every_unit() {
    let mut random = Random::new(8, "integers");
    let mut free = 0;
    let units = instructions().into_iter().map(|(a, i)| (Arithmetic::mma(Some(a), i, i.acc), i.input));
    let cpus = CpuUnit::ALL.map(|unit| (Arithmetic::cpu(unit, unit.acc()), unit.input()));
    for (declared, input) in units.chain(cpus) {
        for along in [Along::Chain, Along::SplitK { parts: 3 }] {
            let declared = declared.along(along);
            for n in [1, 7, 40, 70] {
                let case =
                    Case::new(&terms(Family::Integers, &declared, input, n, &mut random), (1.0, 0.0), 0.0);
                let accepted = case.accepts(&declared);
                if accepted.order_free {
                    free += 1;
                    let found = Value::from_f64(decode(accepted.modelled.expect("a model"), declared.out));
                    assert_eq!(found, accepted.exact.value, "{declared:?} {case:?}");
                    assert!(matches!(
                        accepted.judge(accepted.modelled.unwrap_or(0) ^ 1),
                        ElementVerdict::Wrong(Criterion::T0, _)
                    ));
                }
            }
        }
    }
    println!("{free} sums were exact in any order");
    assert!(free > 500);
}

#[test]
fn contracts_admit_the_units_of_their_types_and_nothing_weaker() {
    let unit = |name: &str, out| {
        let instruction: Instruction = name.parse().expect("an instruction");
        Arithmetic::mma(HOPPER, instruction, out)
    };
    let split = unit("mma.m16n8k16.f32.f16", F32).along(Along::SplitK { parts: 4 });
    let mut directed = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    directed.part_mut().nearest = false;
    let rest = *Arithmetic::chain(Reduction::FmaChain, F32, F32).part();
    let narrow = *Arithmetic::chain(Reduction::FmaChain, F16, F32).part();
    let hybrid = |rest| Arithmetic::hybrid(unit("mma.m16n8k16.f32.f16", F32), rest, Combine::Ordered);
    let cases = [
        ("f16_f16_f32_f32", split, true),
        ("f16_f16_f32_f32", unit("mma.m16n8k16.f16.f16", F32), false),
        ("f16_f16_f16_f16", unit("mma.m16n8k16.f16.f16", F16), true),
        ("f16_f16_f32_f16", unit("mma.m16n8k16.f32.f16", F16), true),
        ("f32_f32_f32_f32", unit("mma.m16n8k8.f32.tf32", F32), false),
        ("f32_f32_f32_f32", unit("mma.m16n8k16.f32.f16", F32), false),
        ("tf32_tf32_f32_f32", unit("mma.m16n8k8.f32.tf32", F32), true),
        ("f16_f16_f32_f32", unit("mma.m16n8k16.f32.bf16", F32), false),
        ("e4m3_e4m3_f32_f32", unit("wgmma.m64n8k32.f32.e4m3", F32), true),
        ("e4m3_e4m3_f32_f32", unit("mma.m16n8k16.f32.f16", F32), false),
        ("f16_f16_f32_f32", unit("wgmma.m64n8k32.f32.e4m3", F32), false),
        ("f64_f64_f64_f64", unit("mma.m8n8k4.f64.f64", F64), true),
        ("bf16_bf16_f32_f32", Arithmetic::cpu(CpuUnit::Bfmopa { ebf: false }, F32), true),
        ("bf16_bf16_f32_bf16", Arithmetic::cpu(CpuUnit::Tdpbf16ps, Bf16), true),
        ("f16_f16_f32_f32", Arithmetic::cpu(CpuUnit::Vdpbf16ps, F32), false),
        ("f16_f16_f32_f32", Arithmetic::cpu(CpuUnit::FmopaF16, F32), false),
        ("f32_f32_f32_f32", directed, false),
        ("f32_f32_f32_f32", Arithmetic::any(F32, F32).flushes(Flush::both(F32)), true),
        ("tf32_tf32_f32_f32", Arithmetic::any(F32, F32).input(Input::AsStored), true),
        ("f16_f16_f32_f32", hybrid(rest), true),
        ("f16_f16_f32_f32", hybrid(narrow), false),
    ];
    for (types, declared, admitted) in cases {
        let contract = all_contracts()
            .iter()
            .find(|c| c.to_string() == format!("spmm.csr.{types}"))
            .expect("of the table");
        let refusal = contract.refuses(&declared);
        assert_eq!(refusal.is_none(), admitted, "{types} {declared:?}: {refusal:?}");
        println!("{types}: {}", refusal.unwrap_or_else(|| format!("{:?}", declared.part().reduction)));
    }
}

/// Libra's tf32 tiles beside an f32 rest.
#[test]
fn parts_that_round_differently_need_a_format_that_tells_them_apart() {
    let tiles = mma(Architecture::Sm90, "mma.m16n8k8.f32.tf32");
    let rest = |input| *Arithmetic::chain(Reduction::FmaChain, F32, F32).input(input).part();
    let mixed = Arithmetic::hybrid(tiles, rest(Input::AsStored), Combine::Ordered);
    let alike = Arithmetic::hybrid(tiles, rest(Input::Tf32Truncate), Combine::Ordered);
    assert_eq!((mixed.contradiction(2.0, 1.0), alike.contradiction(2.0, 1.0)), (None, None));
    let mut admitted = Vec::new();
    for contract in all_contracts().iter().filter(|c| !c.op.is_exact() && c.types.a == Tf32) {
        assert_eq!(contract.refuses(&alike), None, "{contract}");
        match contract.refuses(&mixed) {
            None => admitted.push(contract.to_string()),
            Some(reason) => assert!(reason.contains("does not tell which term is of which part"), "{reason}"),
        }
    }
    assert_eq!(
        admitted,
        ["loops", "rs_tile", "libra_spmm"].map(|format| format!("spmm.{format}.tf32_tf32_f32_f32"))
    );
}

#[test]
fn declarations_that_contradict_themselves_are_named() {
    let good = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    assert_eq!(good.contradiction(1.0, 0.0), None);
    let mut wrong_acc = good;
    wrong_acc.part_mut().acc = F16;
    let narrow = *Arithmetic::chain(Reduction::FmaChain, F16, F32).part();
    let tf32 = mma(Architecture::Sm90, "mma.m16n8k8.f32.tf32");
    assert_eq!(tf32.contradiction(1.0, 0.0), None);
    let mut directed = good;
    directed.part_mut().nearest = false;
    let mut from_c = *good.part();
    from_c.init = Init::C;
    for (declared, names) in [
        (wrong_acc, "another type than its instruction"),
        (tf32.input(Input::AsStored), "unrounded f32"),
        (good.epilogue(sparse_oracle::arithmetic::Epilogue::AlphaIntoA), "folds alpha"),
        (good.along(Along::SplitK { parts: 0 }), "ranges of nothing"),
        (good.along(Along::TwoPass { blocks: 0 }), "ranges of nothing"),
        (good.along(Along::ThreePass { blocks: 0, segments: 4 }), "ranges of nothing"),
        (good.along(Along::ThreePass { blocks: 4, segments: 0 }), "ranges of nothing"),
        (directed, "direction"),
        (Arithmetic::hybrid(good, from_c, Combine::Ordered), "second part from C"),
        (Arithmetic::hybrid(good, from_c, Combine::Disjoint), "disjoint parts"),
        (Arithmetic::hybrid(tf32, narrow, Combine::Ordered), "different accumulators"),
    ] {
        let found = declared.contradiction(1.0, 1.0).expect("a contradiction");
        assert!(found.contains(names), "{found} {declared:?}");
    }
}

/// Zero ranges, absurd slots and lengths: an answer, never a panic.
#[test]
fn absurd_declarations_and_slots_do_not_panic() {
    let slot = |at| Slot { in_tile: true, at };
    for along in [
        Along::SplitK { parts: 0 },
        Along::SplitK { parts: u16::MAX },
        Along::TwoPass { blocks: 0 },
        Along::TwoPass { blocks: u32::MAX },
        Along::ThreePass { blocks: 0, segments: 2 },
        Along::ThreePass { blocks: 1, segments: 0 },
        Along::ThreePass { blocks: u32::MAX, segments: u32::MAX },
    ] {
        for base in
            [mma(Architecture::Sm90, "mma.m16n8k16.f32.f16"), Arithmetic::cpu(CpuUnit::Tdpfp16ps, F32)]
        {
            let declared = base.along(along);
            assert!(
                tolerance(&declared, u64::from(u32::MAX), 1.0, 0.0, 1.0).is_some_and(|t| t.relative() > 0.0)
                    || along != Along::Chain
            );
            let mut case = Case::new(&[(1.0, 1.0), (2.0, 1.0)], (1.0, 0.0), 0.0);
            case.slots = Some(vec![slot(u32::MAX), slot(3)]);
            // Ranges are cut from all blocks of a tile, which slots do not tell.
            match along {
                Along::SplitK { .. } => assert_eq!(case.accepts(&declared).modelled, None),
                _ => assert_eq!(decode(case.modelled(&declared), F32), 3.0),
            }
            case.slots = Some(vec![slot(3), slot(3)]);
            assert_eq!(case.accepts(&declared).modelled, None, "two terms in one slot");
        }
    }
    let mut free = mma(Architecture::Sm90, "mma.m16n8k16.f32.f16");
    free.part_mut().order = Order::Free;
    let case = Case::new(&[(1.0, 1.0)], (1.0, 0.0), 0.0);
    assert_eq!(case.accepts(&free).modelled, None);
    // An operand that is no number of the type has no bits there.
    let odd = Case::new(&[(1.0 + 2.0f64.powi(-20), 1.0)], (1.0, 0.0), 0.0);
    assert_eq!(odd.accepts(&mma(Architecture::Sm90, "mma.m16n8k16.f32.f16")).modelled, None);
}

/// A hybrid fixes its bits only where both parts do, in the order in which they are declared to be joined, and nothing may be flushed.
/// Found by mutation: nothing noticed when one of the three was enough, so that T2 would have convicted kernels that promised no bits.
#[test]
fn a_hybrid_fixes_its_bits_only_as_a_whole() {
    let chain = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    let any = Arithmetic::chain(Reduction::Any, F32, F32);
    let both = |first: Arithmetic, second: Arithmetic, how| Arithmetic::hybrid(first, *second.part(), how);
    let mut flushing = both(chain, chain, Combine::Ordered);
    flushing.flush = Flush::both(F32);
    let found = [
        (both(chain, chain, Combine::Ordered), true),
        (both(any, chain, Combine::Ordered), false),
        (both(chain, any, Combine::Ordered), false),
        (both(chain, chain, Combine::Free), false),
        (flushing, false),
    ];
    for (arithmetic, fixed) in found {
        assert_eq!(arithmetic.is_deterministic(), fixed, "{arithmetic:?}");
    }
}
