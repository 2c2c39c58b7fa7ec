//! What a backend outside this program says about itself.

use super::FuzzOutcome;
use super::draft::{draft, drafted_or};
use serde_json::{Value, json};
use sparse_conformance::backend::Support;
use sparse_conformance::case::{Fault, Params};
use sparse_conformance::manifest::{Capabilities, Manifest};
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::format::{Layout, PARAMETERS};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::CHOICES;
use sparse_oracle::task::SddmmMode;

/// Rules of manifests, each with the contracts that it is for.
fn rules() -> Vec<Value> {
    let mut rules = vec![
        json!({"contracts": ["*"]}),
        json!({"contracts": ["spmm.csr.f32*", "spmv.*.f64_f64_f64_f64"], "arithmetic": "fma"}),
        json!({"contracts": ["spmm.csr.f32_f32_f32_f32"], "only": {"alpha": [1], "beta": [0, 1]}, "arithmetic": "muladd"}),
        json!({"contracts": ["spmm.[bc]*"], "only": {
            "transpose_a": false, "transpose_b": true, "layout_b": "row", "layout_c": "col", "same_layout": true,
            "padded": false, "max_n": 32, "faults": []}}),
        json!({"contracts": ["*.bcsr.*", "*.blocked_ell.*"], "only": {"square_blocks": true, "params": {"block_rows": [2, null]}}}),
        json!({"contracts": ["sddmm.*"], "only": {"modes": ["pattern", "add-s"]}}),
        json!({"contracts": ["spm?.coo.*"], "only": {"duplicates": false}}),
        json!({"contracts": ["convert.csr.ell.f16", "transpose.csr.*"]}),
    ];
    let settled =
        |row: &(_, &str, _, _)| json!({"contracts": ["*"], "profile": [{"choice": row.1, "reason": "why"}]});
    rules.extend(CHOICES.iter().map(settled));
    rules.extend(Fault::ALL.iter().map(|row| json!({"contracts": ["*"], "only": {"faults": [row.1]}})));
    rules.extend(
        PARAMETERS
            .iter()
            .map(|p| json!({"contracts": ["*"], "only": {"params": {p.name: [p.samples[0], null]}}})),
    );
    rules
}

/// Manifests from which others are drafted.
fn texts() -> Vec<String> {
    let manifest = |supports: &[Value]| {
        json!({"protocol": 1, "name": "mine", "version": "0.3", "description": "one line", "determinism": "runs",
               "thread_safe": true, "supports": supports, "excludes": [{"contracts": ["*.e4m3*"], "reason": "no fp8"}]})
    };
    let rules = rules();
    let mut manifests: Vec<Value> = rules.iter().map(|rule| manifest(std::slice::from_ref(rule))).collect();
    manifests.push(manifest(&rules[1..7]));
    manifests.push(json!({"protocol": 1, "name": "m", "supports": [{"contracts": ["*"]}]}));
    manifests.iter().map(Value::to_string).collect()
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    super::draft::seeds(&texts(), 40)
}

pub(super) fn words() -> Vec<String> {
    let own = [
        "*",
        "spmm.*",
        "spmm.csr.f32_f32_f32_f32",
        "[a-z]*",
        "[!s]*",
        "**",
        "***",
        "[",
        "any",
        "fma",
        "muladd",
        "fma,rna",
        "muladd,from-c",
        "fma,no-pads",
        "none",
        "runs",
        "threads",
        "row",
        "col",
        "scale",
        "block_rows",
        "boundary",
    ];
    let mut words: Vec<String> = own.map(str::to_owned).to_vec();
    words.extend(CHOICES.map(|row| row.1.to_owned()));
    words.extend(Fault::ALL.map(|row| row.1.to_owned()));
    words.extend(PARAMETERS.each_ref().map(|p| p.name.to_owned()));
    words
}

/// Requests of each contract that are asked about.
fn requests() -> [Params; 4] {
    let other = Params {
        n: 33,
        alpha: 2.5,
        beta: 1.0,
        transpose_a: true,
        layout_b: Layout::ColMajor,
        pad_c: 3,
        mode: SddmmMode::AddS,
        duplicates: true,
        ..Params::default()
    };
    let broken = Params { fault: Some(Fault::ALL[0].0), ..Params::default() };
    let strange =
        Params { alpha: f64::NAN, beta: f64::INFINITY, n: 0, transpose_b: true, ..Params::default() };
    [Params::default(), other, broken, strange]
}

/// Any text is a manifest or a typed error. A manifest prints and reads as itself, and answers for every contract: what it takes it
/// claims, and with an arithmetic that the contract admits.
///
/// # Panics
/// When one of this is not so.
pub fn manifest(bytes: &[u8]) -> FuzzOutcome {
    let text = drafted_or(bytes, |input| draft(input, &texts(), &words()).to_string().into_bytes());
    let read = Manifest::parse(&text).and_then(|manifest| {
        let printed = serde_json::to_vec(&manifest).expect("a manifest is JSON");
        assert!(Manifest::parse(&printed).is_ok_and(|again| again == manifest), "{manifest:?}");
        Capabilities::new(manifest)
    });
    match read {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            FuzzOutcome::Refused
        }
        Ok(capabilities) => {
            let requests = requests();
            for contract in all_contracts() {
                // What is not claimed is excluded for one reason, whatever the request.
                let asked = if capabilities.claims(contract) { requests.len() } else { 1 };
                requests[..asked].iter().for_each(|params| check(&capabilities, contract, params));
            }
            FuzzOutcome::Accepted
        }
    }
}

/// What it says about a request agrees with what else it says.
fn check(capabilities: &Capabilities, contract: &Contract, params: &Params) {
    match capabilities.support(contract, params) {
        Support::Excluded { reason } => {
            assert!(!reason.trim().is_empty(), "{contract} is excluded without a reason");
        }
        Support::Supported { arithmetic, profile } => {
            assert!(capabilities.claims(contract), "{contract} is taken and not claimed");
            let refused = (!contract.op.is_exact()).then(|| contract.refuses(&arithmetic)).flatten();
            assert_eq!(refused, None, "{contract} with {arithmetic:?}");
            assert!(profile.choices().iter().all(|(_, reason)| !reason.trim().is_empty()), "{profile:?}");
        }
    }
}
