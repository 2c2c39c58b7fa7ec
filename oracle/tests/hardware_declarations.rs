//! Declarations that a reader found to widen a tolerance, or to fix bits that no kernel can be held to.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, CpuUnit, Instruction, Order, Reduction, Slot,
};
use sparse_oracle::bound::{SubnormalSums, SubnormalThresholds};
use sparse_oracle::contract::Contract;
use sparse_oracle::model::reduction::Model;
use sparse_oracle::prelude::*;

fn fp8_wgmma() -> Instruction {
    "wgmma.m64n8k32.f32.e4m3".parse().expect("a name")
}

fn f16_mma(k: u16) -> Instruction {
    Instruction::mma((16, 8, k), Precision::F32, Precision::F16)
}

/// Ranges on top of a free order counted 2n - 1 roundings where any tree has n.
#[test]
fn ranges_of_terms_in_any_order_are_a_contradiction() {
    let any = Arithmetic::any(Precision::F32, Precision::F32);
    assert_eq!(any.contradiction(1.0, 0.0), None);
    for along in [Along::TwoPass { blocks: 1 }, Along::SplitK { parts: 3 }] {
        assert!(any.along(along).contradiction(1.0, 0.0).is_some());
        let mut free = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
        assert_eq!(free.along(along).contradiction(1.0, 0.0), None);
        free.part_mut().order = Order::Free;
        assert!(free.along(along).contradiction(1.0, 0.0).is_some());
    }
}

/// Such a declaration had no bound and no model, so that nothing was judged.
#[test]
fn an_instruction_that_the_architecture_lacks_is_a_contradiction() {
    let declared = |architecture, k| Arithmetic::mma(architecture, f16_mma(k), Precision::F32);
    assert_eq!(declared(Some(Architecture::Sm90), 16).contradiction(1.0, 0.0), None);
    assert_eq!(declared(None, 16).contradiction(1.0, 0.0), None);
    for (architecture, k) in [(Some(Architecture::Sm70), 16), (Some(Architecture::Sm90), 48), (None, 48)] {
        assert!(declared(architecture, k).contradiction(1.0, 0.0).is_some(), "{architecture:?} {k}");
    }
}

/// The widest bound of an unknown device, sums of 14 bits, would let f16 sums pass on a device that has better ones.
#[test]
fn fp8_must_name_its_architecture() {
    let contract = Contract::from_name("sddmm.csr.e4m3_e4m3_f32_f32").expect("in the table");
    let instruction: Instruction = "mma.m16n8k32.f32.e4m3".parse().expect("a name");
    let declared = |architecture| Arithmetic::mma(architecture, instruction, Precision::F32);
    assert_eq!(contract.refuses(&declared(Some(Architecture::Sm90))), None);
    let reason = contract.refuses(&declared(None)).expect("refused");
    assert!(reason.contains("no named architecture"), "{reason}");
    let f16 = Contract::from_name("sddmm.csr.f16_f16_f32_f32").expect("in the table");
    assert_eq!(f16.refuses(&Arithmetic::mma(None, f16_mma(16), Precision::F32)), None);
}

/// A row without terms, beside others of its tile: instructions of zeros cut C to 14 bits, or turn -0 into +0, if they run.
#[test]
fn no_bits_where_an_instruction_of_zeros_would_change_c() {
    let none = || std::iter::empty();
    let wgmma = Arithmetic::mma(Some(Architecture::Sm90), fp8_wgmma(), Precision::F32).from_c();
    let mma = Arithmetic::mma(Some(Architecture::Sm90), f16_mma(16), Precision::F32).from_c();
    let amx = Arithmetic::cpu(CpuUnit::ALL[0], CpuUnit::ALL[0].acc());
    assert!(Model::new(&amx).is_some());
    let bits = |arithmetic: &Arithmetic, c: f64| {
        let mut model = Model::new(arithmetic).expect("known bits");
        model.element(none(), None, (1.0, 1.0), c, false)
    };
    let long = f64::from(f32::from_bits(0xbf4d_4253));
    assert_eq!(bits(&wgmma, long), None);
    assert_eq!(bits(&wgmma, 0.75), Some(0x3f40_0000));
    assert_eq!(bits(&mma, long), Some(0xbf4d_4253));
    assert_eq!(bits(&mma, -0.0), None);
    assert_eq!(bits(&mma, 0.0), Some(0));
}

/// A tile's ranges are cut from its blocks, of which an element's slots only show some.
#[test]
fn ranges_of_a_tile_have_no_bits() {
    let declared = Arithmetic::mma(Some(Architecture::Sm90), f16_mma(8), Precision::F32);
    let slots: Vec<Slot> = [0, 9, 17].map(|at| Slot { in_tile: true, at }).to_vec();
    let bits = |along| {
        let mut model = Model::new(&declared.along(along)).expect("known bits");
        model.element([(1.0, 2.0); 3].into_iter(), Some(&slots), (1.0, 0.0), 0.0, false)
    };
    assert_eq!(bits(Along::Chain), Some(u64::from(6.0f32.to_bits())));
    assert_eq!(bits(Along::TwoPass { blocks: 2 }), Some(u64::from(6.0f32.to_bits())));
    assert_eq!(bits(Along::SplitK { parts: 2 }), None);
}

/// f64 instructions are IEEE operations: subnormal operands do not widen their gauge.
#[test]
fn f64_instructions_renormalise() {
    let (a, b) = (f64::from_bits(1), 2f64.powi(1000));
    let raised = |instruction| {
        let arithmetic = Arithmetic::mma(None, instruction, instruction.acc);
        let mut operands = SubnormalSums::default();
        operands.add(&SubnormalThresholds::new(&arithmetic, arithmetic.part()), a, b);
        !operands.raised.is_zero()
    };
    assert!(!raised(Instruction::mma((8, 8, 4), Precision::F64, Precision::F64)));
    assert!(raised(f16_mma(16)));
}
