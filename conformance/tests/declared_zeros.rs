//! Stored zeros that count as absent in products (clause 1.2): kernels that drop them are judged by what they do, and others are not
//! excused by the choice.

use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnySparse, Csr, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Choice;
use sparse_oracle::scalar::Scalar;
use sparse_oracle::task::{Answer, Task};

/// The portable kernels, over sparse operands with or without their stored zeros.
struct Products {
    drops: bool,
    declares: bool,
}

impl Products {
    fn given(&self, a: &AnySparse) -> AnySparse {
        if !self.drops {
            return a.clone();
        }
        sparse_oracle::each_sparse!(a, m => match m {
            Sparse::Csr(m) => {
                let mut entries = m.entries();
                entries.list.retain(|e| e.value.to_f64() != 0.0);
                AnySparse::from(Sparse::Csr(Csr::from_entries(&entries).expect("fewer entries")))
            }
            _ => a.clone(),
        })
    }
}

impl Backend for Products {
    fn name(&self) -> &'static str {
        "products"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "the portable kernels, told of nonzeros alone"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        match Portable.support(contract, params) {
            Support::Supported { arithmetic, profile } if self.declares => Support::Supported {
                arithmetic,
                profile: profile.with(Choice::StoredZerosAbsent, "zeros are dropped on the way in"),
            },
            other => other,
        }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let (left, right);
        let mut task = task;
        match &mut task {
            Task::Spmm { a, .. } | Task::Spmv { a, .. } => {
                left = self.given(a);
                *a = &left;
            }
            Task::Spgemm { a, b } => {
                (left, right) = (self.given(a), self.given(b));
                (*a, *b) = (&left, &right);
            }
            _ => {}
        }
        Portable.run(contract, task)
    }
}

/// Findings in each of three contracts, of so many cases that ran.
fn findings(drops: bool, declares: bool) -> [(usize, usize); 3] {
    let backend: Vec<Box<dyn Backend>> = vec![Box::new(Products { drops, declares })];
    let of = |contract: &str, rest: &str| {
        let (mut found, mut ran) = (0, 0);
        for source in ["uniform:rows=40,cols=40,density=0.1,seed=5", "banded:rows=33"] {
            for family in ["special", "placed-special", "signed-zero", "small-int"] {
                for seed in 0..4 {
                    let line = format!("{contract}/{source}/values={family},{seed}{rest}");
                    let case: Case = line.parse().expect("a legal line");
                    let loaded = case.origin.load().expect("generated");
                    let verdict = run_case(&case, &loaded, &backend).records.remove(0).verdict;
                    ran += usize::from(verdict.kind().ran());
                    found += usize::from(verdict.is_finding());
                }
            }
        }
        (found, ran)
    };
    [
        of("spmm.csr.f32_f32_f32_f32", "/n=3/alpha=2/beta=1/ta"),
        of("spmv.csr.f32_f32_f32_f32", ""),
        of("spgemm.csr.f32_f32_f32_f32", ""),
    ]
}

#[test]
fn zeros_that_count_as_absent_are_judged_as_absent() {
    assert_eq!(findings(true, true), [(0, 32); 3]);
    assert_eq!(findings(false, false), [(0, 32); 3]);
}

#[test]
fn neither_the_default_nor_the_choice_excuses_the_other() {
    for (drops, declares) in [(true, false), (false, true)] {
        for (found, ran) in findings(drops, declares) {
            assert!(found >= 4 && ran == 32, "drops {drops}, declares {declares}: {found} of {ran}");
        }
    }
}
