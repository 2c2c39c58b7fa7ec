//! What a plan asks of a user's matrix file.

use sparse_conformance::backend::Portable;
use sparse_conformance::case::{Case, Filling};
use sparse_conformance::origin::Origin;
use sparse_conformance::plan::{Options, Tier, plan};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use std::collections::{BTreeMap, BTreeSet};

fn lines(tier: Tier) -> Vec<Case> {
    let options = Options { tier, matrices: vec![Origin::File("some.mtx".into())], ..Options::default() };
    plan(&options, &[&Portable]).groups.into_iter().flat_map(|group| group.cases).collect()
}

/// `--matrix embedded:karate` was no file, and there was no other way to judge on one matrix alone than case by case.
#[test]
fn a_source_is_asked_like_a_file_and_a_generated_one_with_drawn_values() {
    for (text, has_own) in [("embedded:karate", true), ("uniform:rows=9,cols=9,density=0.4,seed=1", false)] {
        let origin: Origin = text.parse().expect("a source");
        let options = Options { matrices: vec![origin.clone()], ..Options::default() };
        let groups = plan(&options, &[&Portable]).groups;
        assert!(groups.len() == 1 && groups[0].origin == origin, "{text}");
        assert_eq!(groups[0].cases.len(), lines(Tier::Quick).len(), "{text}");
        let own = |case: &&Case| matches!(case.filling, Filling::Own(_));
        assert_eq!(groups[0].cases.iter().filter(own).count() > 0, has_own, "{text}");
    }
}

/// A kernel that ignored beta came out clean of `run --matrix`: the one case per contract had beta = 0, whatever the tier.
#[test]
fn a_file_asks_for_beta_and_padding_too() {
    for tier in [Tier::Quick, Tier::Full] {
        let cases = lines(tier);
        for case in cases.iter().filter(|c| c.contract.op == Op::Spmm) {
            let same = || cases.iter().filter(|other| other.contract == case.contract);
            assert!(same().any(|c| c.params.beta != 0.0 && c.params.alpha != 1.0), "{case}");
            assert!(same().any(|c| c.params.pad_c > 0 && c.params.pad_b > 0), "{case}");
            assert!(same().any(|c| c.params.n % 2 == 1), "{case}");
        }
    }
}

#[test]
fn a_larger_tier_asks_more_of_a_file() {
    let (quick, full) = (lines(Tier::Quick).len(), lines(Tier::Full).len());
    let contracts = sparse_oracle::contract::all_contracts().len();
    assert!(full > 3 * contracts && quick < contracts, "{quick} and {full}");
}

/// A kernel of RSH-SpMM for tensor cores, which takes tf32 and f16, came out clean of `run --matrix`: it was asked nothing.
#[test]
fn a_file_asks_kernels_for_matrix_units_in_their_types() {
    let cases = lines(Tier::Quick);
    for name in [
        "spmm.rs_tile.tf32_tf32_f32_f32",
        "spmm.rs_tile.f16_f16_f32_f32",
        "spmm.libra_spmm.tf32_tf32_f32_f32",
        "spmm.libra_spmm.f16_f16_f32_f32",
        "spmm.nm.tf32_tf32_f32_f32",
        "spmm.two_four.tf32_tf32_f32_f32",
        "spmm.loops.f16_f16_f32_f32",
        "sddmm.csr.tf32_tf32_f32_f32",
        "sddmm.csr.f16_f16_f32_f32",
    ] {
        assert!(cases.iter().any(|c| c.contract.to_string() == name), "{name}");
    }
}

/// Two contracts of SDDMM, of 22, were never asked to scale by S: their plans looked for that level in drafts of which hardly one has alpha = 1
/// and beta = 0 together, and gave it up as impossible.
#[test]
fn contracts_of_one_operation_and_format_are_asked_for_the_same_things() {
    type Asked = BTreeMap<Contract, BTreeSet<String>>;
    let mut asked: BTreeMap<(Op, FormatKind, Option<FormatKind>), Asked> = BTreeMap::new();
    let cases = plan(&Options::default(), &[&Portable]).groups.into_iter().flat_map(|group| group.cases);
    for case in cases {
        let c = case.contract;
        let line = case.to_string();
        let named = ["mode", "after", "fault", "b", "enc", "lb", "lc", "ly", "ta", "tb", "dups", "unpruned"];
        let keys = line.split('/').filter(|part| named.contains(&part.split('=').next().unwrap_or(part)));
        asked
            .entry((c.op, c.format, c.to))
            .or_default()
            .entry(c)
            .or_default()
            .extend(keys.map(str::to_owned));
    }
    assert!(asked.len() > 50);
    for contracts in asked.values() {
        let all: BTreeSet<&String> = contracts.values().flatten().collect();
        for (contract, keys) in contracts {
            let missing: Vec<_> = all.iter().filter(|key| !keys.contains(**key)).collect();
            assert!(missing.is_empty(), "{contract}: {missing:?}");
        }
    }
}
