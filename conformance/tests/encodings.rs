//! Valid encodings that no encoder writes: the constructors take them, they mean the same matrix, and our kernels are judged
//! right on them.

use sparse_conformance::backend::built_in;
use sparse_conformance::case::{Case, CaseError, Filling, Params};
use sparse_conformance::encodings::{Encoding, is_loose, loosened};
use sparse_conformance::operands::build;
use sparse_conformance::origin::Origin;
use sparse_conformance::runner::run_case;
use sparse_oracle::F16;
use sparse_oracle::contract::{Op, all_contracts};
use sparse_oracle::format::{Csr, Entries, FormatKind, FormatParams, PARAMETERS, Parts, Sparse};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::source::generator::quick_specs;
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::VALUE_FAMILIES;
use std::collections::BTreeMap;

/// A small matrix of half precision numbers that a format holds, and drawn parameters.
fn matrix(format: FormatKind, index: u64, family: usize) -> (Entries<F16>, FormatParams) {
    let mut random = Random::new(index, format.name());
    let mut params = FormatParams::default();
    for parameter in PARAMETERS.iter().filter(|p| p.formats.contains(&format)) {
        if random.below(2) == 0 {
            (parameter.set)(&mut params, *random.pick(parameter.samples));
        }
    }
    let pattern: Csr<()> = quick_specs(index)[family].generate().expect("a small spec");
    let mut next = 0.0;
    let values = pattern.map(|()| {
        next += 1.0;
        <F16 as sparse_oracle::scalar::FromF64>::from_f64(next)
    });
    let entries = values.entries();
    let fits = if format.is_structured() {
        prune(&entries, format, &params).expect("legal parameters")
    } else {
        entries
    };
    (fits, params)
}

#[test]
fn loose_encodings_are_valid_and_mean_the_same_matrix() {
    let families = quick_specs(0).len();
    for format in FormatKind::ALL {
        let (mut held, mut other) = (0, 0);
        for index in 0..12 {
            for family in 0..families {
                let (entries, params) = matrix(format, index, family);
                let Ok(canonical) = Sparse::from_entries(format, params, &entries) else {
                    continue;
                };
                held += 1;
                let loose = loosened(format, &params, &canonical.entries(), index, index % 2 == 0);
                assert_eq!(loose.is_some(), is_loose(format), "{}", format.name());
                let Some(parts) = loose else { continue };
                let context = || format!("{} {params:?} of {}", format.name(), quick_specs(index)[family]);
                let found = parts.check().unwrap_or_else(|e| panic!("{}: {e}", context()));
                assert_eq!(found.entries(), canonical.entries(), "{}", context());
                other += usize::from(found != canonical);
            }
        }
        println!("{}: {held} matrices, {other} encoded otherwise", format.name());
        assert!(held > 150, "{}: {held}", format.name());
        assert!(!is_loose(format) || other > held / 3, "{}: {other} of {held}", format.name());
    }
}

/// Where the table says that there is one encoding, whatever else stands in an index array is refused or another matrix: each element
/// of each array is moved by one, up and down.
#[test]
fn formats_of_one_encoding_have_one() {
    use sparse_oracle::format::{FieldMut, Fields};
    fn moved(parts: &Parts<F16>, field: usize, at: usize, up: bool) -> Option<Parts<F16>> {
        let mut parts = parts.clone();
        let step = |x: u64| if up { x.checked_add(1) } else { x.checked_sub(1) };
        match &mut parts.fields_mut().get_mut(field)?.1 {
            FieldMut::U8(v) => *v.get_mut(at)? = step(u64::from(*v.get(at)?))?.try_into().ok()?,
            FieldMut::U16(v) => *v.get_mut(at)? = step(u64::from(*v.get(at)?))?.try_into().ok()?,
            FieldMut::U32(v) => *v.get_mut(at)? = step(u64::from(*v.get(at)?))?.try_into().ok()?,
            FieldMut::U64(v) => *v.get_mut(at)? = step(*v.get(at)?)?,
            FieldMut::Extent(_) | FieldMut::Flag(_) | FieldMut::Values(_) => return None,
        }
        Some(parts)
    }
    for format in FormatKind::ALL.into_iter().filter(|&format| !is_loose(format)) {
        let mut tried = 0;
        for index in 0..6 {
            let (entries, params) = matrix(format, index, 0);
            let Ok(sparse) = Sparse::from_entries(format, params, &entries) else {
                continue;
            };
            let parts = Parts::from(sparse);
            for (field, at, up) in
                (0..11).flat_map(|f| (0..12).flat_map(move |at| [(f, at, true), (f, at, false)]))
            {
                let Some(other) = moved(&parts, field, at, up) else {
                    continue;
                };
                tried += 1;
                let same = other.check().is_ok_and(|found| found.entries() == entries);
                let name = format.name();
                assert!(
                    !same,
                    "{name} has other encodings, so it needs a writer: field {field}, element {at}"
                );
            }
        }
        assert!(tried > 100, "{}: {tried}", format.name());
    }
}

#[test]
fn a_format_of_one_encoding_refuses_the_parameter() {
    let line = "spmm.csr.f32_f32_f32_f32/uniform:seed=1/values=coded,1/enc=loose";
    assert!(matches!(line.parse::<Case>(), Err(CaseError::Param { .. })), "{line}");
    let line = "spmm.bcsr.f32_f32_f32_f32/uniform:seed=1/values=coded,1/enc=loose";
    let case: Case = line.parse().expect("a legal line");
    assert_eq!(case.to_string(), line);
}

/// The parameter changes the operand, and its seed decides how.
#[test]
fn the_operand_of_a_case_is_loose_where_it_says_so() {
    for contract in all_contracts().iter().filter(|c| c.op == Op::Spmm && is_loose(c.format)) {
        let operand = |rest: &str| {
            let line = format!("{contract}/uniform:rows=50,cols=60,density=0.05,seed=1/values={rest}");
            let case: Case = line.parse().expect("a legal line");
            let loaded = case.origin.load().expect("a generator");
            build(&case, &loaded).expect("small operands").a
        };
        assert_ne!(operand("ones,1"), operand("ones,1/enc=loose"), "{contract}");
        assert_eq!(operand("ones,1/enc=loose"), operand("ones,1/enc=loose"), "{contract}");
        let first = operand("ones,1/enc=loose");
        let differs = (2..9).any(|seed| operand(&format!("ones,{seed}/enc=loose")) != first);
        assert!(differs, "{contract}");
    }
}

/// Every kernel of ours, every contract on a format with loose encodings: no finding.
#[test]
fn our_kernels_are_judged_right_on_loose_encodings() {
    let backends = built_in();
    let families = quick_specs(0).len() as u64;
    let mut ran: BTreeMap<&str, usize> = BTreeMap::new();
    let contracts = all_contracts().iter().filter(|c| is_loose(c.format));
    for (i, &contract) in (0u64..).zip(contracts) {
        let rounds = if contract.op.is_exact() { 1 } else { 3 };
        for round in 0..rounds {
            let mut random = Random::new(i * 8 + round, "loose cases");
            let origin = Origin::Spec(quick_specs(random.below(1000))[random.below(families) as usize]);
            let mut blocks = FormatParams::default();
            for parameter in PARAMETERS.iter().filter(|p| contract.reads(p)) {
                if random.below(2) == 0 {
                    (parameter.set)(&mut blocks, *random.pick(parameter.samples));
                }
            }
            let family = random.pick(&VALUE_FAMILIES).family;
            let case = Case {
                contract,
                filling: Filling::Drawn(family, random.below(1000)),
                params: Params {
                    n: random.between(1, 20) as usize,
                    transpose_a: contract.op == Op::Spmm && random.below(4) == 0,
                    beta: if matches!(contract.op, Op::Spmm | Op::Spmv) {
                        random.below(2) as f64
                    } else {
                        0.0
                    },
                    blocks,
                    encoding: Encoding::Loose,
                    ..Params::default()
                },
                origin,
            };
            let loaded = case.origin.load().expect("a small spec");
            for record in run_case(&case, &loaded, &backends).records {
                assert!(!record.verdict.is_finding(), "{}: {case}: {}", record.backend, record.verdict);
                *ran.entry(case.contract.format.name()).or_default() +=
                    usize::from(record.verdict.kind().ran());
            }
        }
    }
    println!("{ran:?}");
    for format in FormatKind::ALL.into_iter().filter(|&format| is_loose(format)) {
        let count = ran.get(format.name()).copied().unwrap_or(0);
        assert!(count >= 12, "{} ran {count} times", format.name());
    }
    assert!(ran.values().sum::<usize>() > 300, "{ran:?}");
}
