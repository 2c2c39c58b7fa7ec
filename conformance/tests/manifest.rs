//! Manifests: what they may say, what is refused with which words, and what `support` answers from them.

use sparse_conformance::backend::{Determinism, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::manifest::{Capabilities, Manifest};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Epilogue, Flush, Input, Reduction};
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Choice;

const GOOD: &str = r#"{
  "protocol": 1, "name": "mine", "version": "0.3", "description": "a kernel", "determinism": "runs",
  "supports": [
    { "contracts": ["spmm.csr.f32*", "spmv.csr.f32*"], "only": { "beta": [0], "transpose_a": false }, "arithmetic": "fma" },
    { "contracts": ["spmm.csr.f32*"], "only": { "alpha": [1], "layout_c": "row", "padded": false, "faults": ["inner-shape"] } },
    { "contracts": ["spgemm.csr.*", "convert.csr.bcsr.f??", "sddmm.csr.f64*"],
      "only": { "params": { "block_rows": [4, 2] }, "modes": ["pattern", "add-s"], "max_n": 64 },
      "profile": [{ "choice": "unsorted", "reason": "hash accumulators" }] }
  ],
  "excludes": [{ "contracts": ["spgemm.csr.e4m3*", "*.e5m2*"], "reason": "no fp8" }]
}"#;

fn read(text: &str) -> Result<Capabilities, String> {
    let manifest = Manifest::parse(text.as_bytes()).map_err(|e| e.to_string())?;
    Capabilities::new(manifest).map_err(|e| e.to_string())
}

/// What the manifest says about a case line: "fma", "any" or its reason.
fn asked(capabilities: &Capabilities, line: &str) -> String {
    let case: Case = line.parse().expect(line);
    match capabilities.support(&case.contract, &case.params) {
        Support::Supported { arithmetic, .. } => match arithmetic.part().reduction {
            Reduction::FmaChain => "fma".to_owned(),
            Reduction::Any => "any".to_owned(),
            other => format!("{other:?}"),
        },
        Support::Excluded { reason } => reason.into_owned(),
    }
}

#[test]
fn the_first_rule_that_takes_a_request_answers() {
    let good = read(GOOD).expect("a good manifest");
    assert_eq!(good.manifest().determinism, Determinism::Runs);
    let csr = "spmm.csr.f32_f32_f32_f32/banded:rows=8/values=small-int,1";
    for (tail, wanted) in [
        ("", "fma"),
        ("/alpha=3/lc=col/ldb=+2", "fma"),
        ("/beta=2", "any"),
        ("/beta=2/ta", "any"),
        ("/beta=2/lc=col", "A"),
        ("/fault=small-ldc", "fma"),
        ("/beta=2/fault=inner-shape", "any"),
    ] {
        let line = format!("{csr}{tail}");
        let said = asked(&good, &line);
        let wanted = if wanted == "A" { "takes only beta = 0" } else { wanted };
        assert!(said.contains(wanted), "{line}: {said}");
    }
    for (line, wanted) in [
        ("spmv.csr.f32_f32_f32_f32/banded:rows=8/values=small-int,1/ta", "A as it is stored"),
        ("spmm.coo.f32_f32_f32_f32/banded:rows=8/values=small-int,1", "does not name"),
        ("spgemm.csr.e4m3_e4m3_f32_f32/banded:rows=8/values=small-int,1", "no fp8"),
        ("spgemm.csr.f64_f64_f64_f64/banded:rows=8/values=small-int,1/n=65", "n up to 64"),
        ("convert.csr.bcsr.f32/banded:rows=8/values=small-int,1", "any"),
        ("convert.csr.bcsr.f32/banded:rows=8/values=small-int,1/block=8x4", "block_rows"),
        ("convert.csr.bcsr.bf16/banded:rows=8/values=small-int,1", "does not name"),
        ("sddmm.csr.f64_f64_f64_f64/banded:rows=8/values=small-int,1/mode=scale", "mode"),
        ("sddmm.csr.f64_f64_f64_f64/banded:rows=8/values=small-int,1/mode=add-s", "any"),
    ] {
        let said = asked(&good, line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
}

/// A rule over several contracts says to each what concerns it: nothing is rounded to tf32 that is not tf32.
#[test]
fn an_option_counts_for_the_contracts_that_it_concerns() {
    let text = r#"{"protocol":1,"name":"x","supports":[{"contracts":["spmm.bcsr.*","spgemm.csr.f32*"],
                   "arithmetic":"any,rna,fold-alpha-b,flush-inputs"}]}"#;
    let said = read(text).expect("each counts for one");
    let declared = |name: &str| {
        let contract = Contract::from_name(name).expect("in the table");
        match said.support(&contract, &Params::default()) {
            Support::Supported { arithmetic, .. } => arithmetic,
            Support::Excluded { reason } => panic!("{name}: {reason}"),
        }
    };
    let tf32 = declared("spmm.bcsr.tf32_tf32_f32_f32");
    assert_eq!((tf32.part().input, tf32.epilogue), (Input::Tf32Rna, Epilogue::AlphaIntoB));
    let f16 = declared("spmm.bcsr.f16_f16_f32_f32");
    assert_eq!((f16.part().input, f16.epilogue), (Input::AsStored, Epilogue::AlphaIntoB));
    assert_eq!(f16.flush, Flush::inputs(Precision::F16), "subnormal where it is stored");
    let sparse = declared("spgemm.csr.f32_f32_f32_f32");
    assert_eq!(sparse.epilogue, Epilogue::MulThenAdd);
    assert_eq!(sparse.flush, Flush::inputs(Precision::F32));
}

#[test]
fn layouts_may_be_tied_together_and_blocks_square() {
    let text = r#"{"protocol":1,"name":"x","supports":[{"contracts":["*"],"only":{"same_layout":true,"square_blocks":true}}]}"#;
    let said = read(text).expect("legal");
    let matrix = "banded:rows=8/values=small-int,1";
    for (line, wanted) in [
        (format!("spmm.csr.f32_f32_f32_f32/{matrix}"), "any"),
        (format!("spmm.csr.f32_f32_f32_f32/{matrix}/lb=col/lc=col"), "any"),
        (format!("spmm.csr.f32_f32_f32_f32/{matrix}/lb=col"), "B and C in the same layout"),
        (format!("spmm.csr.f32_f32_f32_f32/{matrix}/lc=col"), "B and C in the same layout"),
        (format!("sddmm.csr.f32_f32_f32_f32/{matrix}/lb=col"), "any"),
        (format!("spmm.bcsr.f32_f32_f32_f32/{matrix}/block=4x4"), "any"),
        (format!("spmm.bcsr.f32_f32_f32_f32/{matrix}/block=4x8"), "square blocks"),
        (format!("spmv.blocked_ell.f32_f32_f32_f32/{matrix}/block=8x4"), "square blocks"),
        (format!("convert.bcsr.csr.f32/{matrix}/block=2x4"), "square blocks"),
        (format!("convert.csr.blocked_ell.f32/{matrix}/block=2x2"), "any"),
    ] {
        let said = asked(&said, &line);
        assert!(said.contains(wanted), "{line}: {said}");
    }
    let text = text.replace("true", "false");
    let said = read(&text).expect("legal");
    let line = format!("spmm.csr.f32_f32_f32_f32/{matrix}");
    assert!(asked(&said, &line).contains("B and C in different layouts"));
    assert_eq!(asked(&said, &format!("{line}/lc=col")), "any");
}

#[test]
fn a_profile_comes_with_its_reason() {
    let good = read(GOOD).expect("a good manifest");
    let contract = Contract::from_name("spgemm.csr.f64_f64_f64_f64").expect("in the table");
    let Support::Supported { profile, .. } = good.support(&contract, &Params::default()) else {
        panic!("supported");
    };
    assert_eq!(profile.choices(), [(Choice::Unsorted, "hash accumulators".to_owned())]);
}

#[test]
fn a_manifest_survives_being_written_and_read() {
    let manifest = Manifest::parse(GOOD.as_bytes()).expect("good");
    let text = serde_json::to_vec(&manifest).expect("serialises");
    assert_eq!(Manifest::parse(&text).expect("still good"), manifest);
}

#[test]
fn everything_can_be_declared_at_its_weakest() {
    let all = read(r#"{"protocol":1,"name":"all","supports":[{"contracts":["*"]}]}"#).expect("legal");
    for contract in all_contracts() {
        let support = all.support(contract, &Params::default());
        let Support::Supported { arithmetic, .. } = support else {
            panic!("{contract} is excluded");
        };
        assert_eq!(contract.refuses(&arithmetic), None, "{contract}");
    }
}

#[test]
fn what_is_wrong_is_said_with_what_there_is() {
    let with = |rule: &str| format!(r#"{{"protocol":1,"name":"x","supports":[{rule}]}}"#);
    for (text, needles) in [
        (String::new(), &["version 1"][..]),
        ("[]".to_owned(), &["version 1"]),
        (r#"{"protocol":2,"name":"x","supports":[],"new":0}"#.to_owned(), &["protocol is 2", "speaks 1"]),
        (r#"{"protocol":1,"name":"x","supports":[]}"#.to_owned(), &["supports is empty"]),
        (r#"{"protocol":1,"name":"a b","supports":[]}"#.to_owned(), &["a b", "letters"]),
        (r#"{"protocol":1,"name":"x","supports":[],"speed":9}"#.to_owned(), &["unknown field `speed`"]),
        (r#"{"protocol":1,"name":"x","supports":[],"determinism":"yes"}"#.to_owned(), &["yes", "threads"]),
        (with(r#"{"contracts":[]}"#), &["supports[0]", "no contracts"]),
        (with(r#"{"contracts":["spmm.cs.*"]}"#), &["spmm.cs.*", "fits no contract", "list contracts"]),
        (with(r#"{"contracts":["spmm.[cs"]}"#), &["spmm.[cs", "supports[0]"]),
        (with(r#"{"contracts":["*"],"only":{"gamma":[1]}}"#), &["unknown field `gamma`", "transpose_a"]),
        (with(r#"{"contracts":["*"],"only":{"alpha":[]}}"#), &["alpha", "empty list"]),
        (with(r#"{"contracts":["*"],"only":{"faults":["all"]}}"#), &["all", "small-ldc"]),
        (with(r#"{"contracts":["*"],"only":{"params":{"tile":[1]}}}"#), &["tile", "block_rows"]),
        (
            with(r#"{"contracts":["*"],"profile":[{"choice":"sorted","reason":"r"}]}"#),
            &["sorted", "numeric-pattern"],
        ),
        (with(r#"{"contracts":["*"],"profile":[{"choice":"unsorted","reason":" "}]}"#), &["reason is empty"]),
        (
            with(r#"{"contracts":["spmm.csr.f64*"],"arithmetic":"sloppy"}"#),
            &["unknown unit 'sloppy'", "fma", "spmm.csr.f64_f64_f64_f64"],
        ),
        (
            with(r#"{"contracts":["spmm.csr.f32*"],"arithmetic":"sm_90:mma.m16n8k8.f32.tf32"}"#),
            &["weaker than spmm.csr.f32_f32_f32_f32", "any"],
        ),
        (
            with(r#"{"contracts":["spmm.csr.f32*"],"arithmetic":"fma,from-c"}"#),
            &["alpha = 2", "restrict them"],
        ),
        (
            with(r#"{"contracts":["spmm.cs[rc].*", "spmm.ell.*"],"arithmetic":"any,no-pads"}"#),
            &["supports[0]", "no-pads", "changes nothing for spmm.csr.", "leave it out"],
        ),
        (
            with(r#"{"contracts":["spgemm.csr.f32*"],"arithmetic":"any,fold-alpha"}"#),
            &["fold-alpha", "spgemm has no alpha"],
        ),
        (
            with(r#"{"contracts":["spmm.csr.f64*", "spmm.csr.f32*"],"arithmetic":"fma,rne"}"#),
            &["rne", "operands are f64"],
        ),
        (
            with(r#"{"contracts":["convert.csr.*"],"arithmetic":"fma,split-k=4"}"#),
            &["rounds nothing", "split-k=4"],
        ),
        (
            with(
                r#"{"contracts":["spmm.csr.*", "convert.coo.*"],"profile":[{"choice":"duplicates-are-terms","reason":"r"}]}"#,
            ),
            &["duplicates-are-terms", "changes nothing for spmm.csr.", "leave it out"],
        ),
        (
            with(r#"{"contracts":["sddmm.coo.*"],"profile":[{"choice":"unsorted","reason":"r"}]}"#),
            &["unsorted", "changes nothing for sddmm.coo."],
        ),
        (
            with(
                r#"{"contracts":["spmv.coo.*"],"profile":[{"choice":"duplicates-last-wins","reason":"r"},{"choice":"duplicates-are-terms","reason":"r"}]}"#,
            ),
            &["duplicates-last-wins and duplicates-are-terms can't both be so for spmv.coo.", "two rules"],
        ),
        (with(r#"{"contracts":["spmm.csr.f32*"],"only":{"square_blocks":4}}"#), &["expected a boolean"]),
    ] {
        let error = read(&text).expect_err(&text);
        for needle in needles {
            assert!(error.contains(needle), "{text}: {needle}: {error}");
        }
    }
    for spans in [
        // Pads, tf32, an alpha, duplicates: each there for one of the contracts.
        r#"{"contracts":["spmm.csr.f32*", "spmm.bcsr.f32*"],"arithmetic":"fma,no-pads"}"#,
        r#"{"contracts":["spm?.csr.*"],"arithmetic":"fma,rna"}"#,
        r#"{"contracts":["sp*.csr.f32*", "convert.csr.csc.f32"],"arithmetic":"any,fold-alpha-b,flush"}"#,
        r#"{"contracts":["spm?.co[oc].*", "spmm.csr.*"],"profile":[{"choice":"duplicates-are-terms","reason":"r"}]}"#,
    ] {
        read(&with(spans)).expect(spans);
    }
    let from_c = r#"{"contracts":["spmm.csr.f32*"],"only":{"alpha":[1]},"arithmetic":"fma,from-c"}"#;
    read(&with(from_c)).expect("alpha is 1");
    let long = format!("{}{}", with(r#"{"contracts":["*"]}"#), " ".repeat(1 << 20));
    assert!(read(&long).expect_err("too long").contains("1048576"));
}
