//! What is a declaration, what is none, and with which words it is refused.

use super::*;
use sparse_oracle::arithmetic::Init;

fn contract(name: &str) -> Contract {
    Contract::from_name(name).expect("in the table")
}

#[test]
fn units_and_options_parse() {
    let f16 = contract("spmm.csr.f16_f16_f32_f32");
    for (text, wanted) in [
        ("fma", Reduction::FmaChain),
        ("muladd", Reduction::MulAddChain),
        ("fmopa_2way", Reduction::Cpu(CpuUnit::Fmopa2Way)),
        ("tdpfp16ps", Reduction::Cpu(CpuUnit::Tdpfp16ps)),
    ] {
        let arithmetic = parse(text, &f16, (1.0, 0.0)).expect(text);
        assert_eq!(arithmetic.part().reduction, wanted);
        assert!(arithmetic.is_deterministic());
    }
    let split = parse("sm_80:mma.m16n8k8.f32.f16,split-k=3", &f16, (1.0, 0.0)).expect("known");
    assert_eq!(split.part().along, Along::SplitK { parts: 3 });
    let tf32 = contract("spmm.csr.tf32_tf32_f32_f32");
    let rna = parse("sm_90:mma.m16n8k8.f32.tf32,rna", &tf32, (1.0, 0.0)).expect("known");
    assert_eq!(rna.part().input, Input::Tf32Rna);
}

#[test]
fn what_is_no_declaration_is_refused_with_what_there_is() {
    let f16 = contract("spmm.csr.f16_f16_f32_f32");
    for (text, needles) in [
        ("", &["unknown unit ''", "fma", "sm_90:mma"][..]),
        ("fnord", &["unknown unit 'fnord'", "vdpbf16ps", "fmopa_2way"]),
        ("sm_91:mma.m16n8k16.f32.f16", &["sm_91", "sm_120"]),
        ("sm_90:mma", &["no instruction", "mma.m16n8k16.f32.f16"]),
        ("sm_70:mma.m16n8k16.f32.f16", &["sm_70 has no modelled", "mma.m8n8k4.f32.f16"]),
        ("sm_90:mma.m16n8k16.f32.bf16", &["bf16", "operands of spmm.csr.f16", "fmopa.f32.f16"]),
        ("vdpbf16ps", &["bf16", "f16"]),
        ("fma,split-k=0", &["split-k=0", "at least 1"]),
        ("fma,fast", &["fast", "from-c"]),
        ("fma,rna=1", &["rna=1"]),
        ("sm_90:mma.m16n8k16.f32.f16,rna", &["tf32"]),
        ("sm_90:mma.m16n8k16.f32.f16,fold-alpha", &["folds alpha"]),
    ] {
        let error = parse(text, &f16, (2.0, 1.0)).expect_err(text).to_string();
        for needle in needles {
            assert!(error.contains(needle), "{text}: {needle}: {error}");
        }
    }
    let moves = contract("convert.csr.ell.f32");
    assert!(parse("fma", &moves, (1.0, 0.0)).is_err());
}

#[test]
fn a_hybrid_has_a_unit_for_its_tiles_and_one_for_the_rest() {
    let tf32 = contract("spmm.libra_spmm.tf32_tf32_f32_f32");
    let text = "sm_90:mma.m16n8k8.f32.tf32,rna,three-pass=16x4 + fma,full,two-pass=32";
    let declared = parse(text, &tf32, (2.0, 1.0)).expect("known");
    assert_eq!(tf32.refuses(&declared), None);
    let rest = declared.parts.second().expect("two parts");
    assert_eq!((declared.part().input, rest.input), (Input::Tf32Rna, Input::AsStored));
    assert_eq!(declared.part().along, Along::ThreePass { blocks: 16, segments: 4 });
    assert_eq!((rest.along, rest.reduction), (Along::TwoPass { blocks: 32 }, Reduction::FmaChain));
    assert_eq!((rest.pads, declared.combine), (declared.part().pads, Combine::Ordered));
    assert!(declared.is_deterministic());
    // Disjoint parts start alike; what is added to another sum starts from zero.
    let loops = contract("spmm.loops.f32_f32_f32_f32");
    for (text, combine, init) in [
        ("fmopa.f32,from-c | fma", Combine::Disjoint, Init::C),
        ("fma,from-c+fma", Combine::Ordered, Init::Zero),
    ] {
        let declared = parse(text, &loops, (1.0, 1.0)).expect(text);
        assert_eq!(
            (declared.combine, declared.parts.second().map(|rest| rest.init)),
            (combine, Some(init)),
            "{text}"
        );
    }
    for (text, name, needles) in [
        ("fma + fma + fma", "spmm.loops.f32_f32_f32_f32", ["more than two parts", "tiles and a rest"]),
        ("fma | fma + fma", "spmm.loops.f32_f32_f32_f32", ["more than two parts", "tiles and a rest"]),
        ("fma + fma", "spgemm.csr.f32_f32_f32_f32", ["two parts", "sparse product"]),
        ("fma + fma,from-c", "spmm.loops.f32_f32_f32_f32", ["'from-c' holds for both", "with the first"]),
        ("fma + fma, flush", "spmm.loops.f32_f32_f32_f32", ["'flush' holds for both", "with the first"]),
        ("fma + fma,no-pads", "spmm.loops.f32_f32_f32_f32", ["'no-pads' holds for both", "with the first"]),
        ("fma + fma,rna", "spmm.loops.f32_f32_f32_f32", ["'rna' changes nothing", "operands are f32"]),
        ("fma + ", "spmm.loops.f32_f32_f32_f32", ["unknown unit ''", "TILES + REST"]),
        ("fma + fma,fast", "spmm.loops.f32_f32_f32_f32", ["unknown option 'fast'", "two-pass=N"]),
    ] {
        let error = parse(text, &contract(name), (1.0, 0.0)).expect_err(text).to_string();
        for needle in needles {
            assert!(error.contains(needle), "{text} for {name}: {needle}: {error}");
        }
    }
}

#[test]
fn operands_of_tf32_are_declared_to_be_rounded_either_way_or_not_at_all() {
    let tf32 = contract("spmm.csr.tf32_tf32_f32_f32");
    for (text, input) in [
        ("fma", Input::Tf32Truncate),
        ("fma,rna", Input::Tf32Rna),
        ("any,rne", Input::Tf32Rne),
        ("muladd,full", Input::AsStored),
        ("sm_90:mma.m16n8k8.f32.tf32,rne", Input::Tf32Rne),
    ] {
        let declared = parse(text, &tf32, (2.0, 1.0)).expect(text);
        assert_eq!(declared.part().input, input, "{text}");
        assert_eq!(tf32.refuses(&declared), None, "{text}");
    }
    let error = parse("sm_90:mma.m16n8k8.f32.tf32,full", &tf32, (1.0, 0.0)).expect_err("it cuts them");
    assert!(error.to_string().contains("unrounded f32"), "{error}");
}

#[test]
fn flushes_add_up_and_every_contract_admits_what_is_declared() {
    let bf16 = contract("spmm.coo.bf16_bf16_f32_bf16");
    let stored = Precision::Bf16;
    for (text, flush) in [
        ("any", Flush::NONE),
        ("any,flush-inputs", Flush::inputs(stored)),
        ("fma,flush-outputs", Flush::results()),
        ("fma,flush", Flush::both(stored)),
        ("any,flush-outputs,flush-inputs", Flush::both(stored)),
        ("any,flush-inputs,flush-outputs", Flush::both(stored)),
    ] {
        let declared = parse(text, &bf16, (2.0, 1.0)).expect(text);
        assert_eq!(declared.flush, flush, "{text}");
        assert_eq!(declared.is_deterministic(), text == "fma", "{text}");
        assert_eq!(bf16.refuses(&declared), None, "{text}");
    }
}

#[test]
fn an_option_that_changes_nothing_or_says_another_again_is_refused() {
    for (text, name, needles) in [
        ("any,fold-alpha", "spgemm.csr.f32_f32_f32_f32", ["fold-alpha", "no alpha"]),
        ("any,fold-alpha-b", "spgemm.csc.f64_f64_f64_f64", ["fold-alpha-b", "no alpha"]),
        ("fma,from-c", "spgemm.csr.f32_f32_f32_f32", ["from-c", "no C"]),
        ("fma,no-pads", "spmm.csr.f32_f32_f32_f32", ["no-pads", "csr has no pads"]),
        ("fma,no-pads", "spmm.ell.f32_f32_f32_f32", ["no-pads", "no pads"]),
        ("fma,rna", "spmm.csr.f64_f64_f64_f64", ["rna", "operands are f64"]),
        ("fma,full", "spmv.csr.f32_f32_f32_f32", ["full", "operands are f32"]),
        ("fma,rna,rne", "spmm.csr.tf32_tf32_f32_f32", ["'rne'", "another option"]),
        ("any,fold-alpha,fold-alpha-b", "spmm.csr.f32_f32_f32_f32", ["'fold-alpha-b'", "another"]),
        ("any,from-c,fold-alpha", "spmm.csr.f32_f32_f32_f32", ["'fold-alpha'", "another"]),
        ("any,flush,flush-inputs", "spmm.csr.f32_f32_f32_f32", ["'flush-inputs'", "another"]),
        ("fma,split-k=2,two-pass=3", "spmm.csr.f32_f32_f32_f32", ["'two-pass=3'", "two-pass=N"]),
        ("fma,three-pass=16", "spmm.csr.f32_f32_f32_f32", ["'three-pass=16'", "three-pass=NxM"]),
        ("fma,three-pass=16x0", "spmm.csr.f32_f32_f32_f32", ["'three-pass=16x0'", "three-pass=NxM"]),
        ("fma,two-pass=3,three-pass=2x2", "spmm.csr.f32_f32_f32_f32", ["'three-pass=2x2'", "three-pass=NxM"]),
    ] {
        let error = parse(text, &contract(name), (1.0, 0.0)).expect_err(text).to_string();
        for needle in needles {
            assert!(error.contains(needle), "{text} for {name}: {needle}: {error}");
        }
    }
    for (text, name) in [
        ("any,fold-alpha-b", "spmm.csr.f32_f32_f32_f32"),
        ("any,fold-alpha", "sddmm.csr.f32_f32_f32_f32"),
        ("fma,no-pads", "spmm.bcsr.f32_f32_f32_f32"),
    ] {
        assert!(parse(text, &contract(name), (2.0, 1.0)).is_ok(), "{text} for {name}");
    }
}
