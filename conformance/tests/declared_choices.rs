//! Duplicates that are terms of their own (clause 2.4): kernels that scatter COO are judged by what they do, and by nothing weaker.

use sparse_conformance::backend::{Backend, Failure, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::report::{Criterion, VerdictRecord};
use sparse_conformance::runner::run_case;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{AnySparse, FormatKind, Sparse};
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{Answer, Task};

/// What a kernel does with triples at one position.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Adds a product for each triple, in the order in which they are stored.
    Scatter,
    /// Sorts the triples first, those at one position left in stored order; then an fma for each.
    Sorted,
    /// Sorts the triples first, and goes through those at one position backwards.
    SortedBackwards,
    /// Adds the values up in f32 first, and multiplies once.
    Combine,
    /// Takes the last triple for the value.
    Last,
}

/// `spmv.coo.f32_f32_f32_f32` with alpha = 1, beta = 0.
struct Coo {
    does: Does,
    arithmetic: Arithmetic,
    terms: bool,
}

impl Coo {
    fn any(does: Does, terms: bool) -> Vec<Box<dyn Backend>> {
        let precision = sparse_oracle::Precision::F32;
        let arithmetic = Arithmetic::any(precision, precision);
        vec![Box::new(Coo { does, arithmetic, terms })]
    }

    fn chain(does: Does) -> Vec<Box<dyn Backend>> {
        let precision = sparse_oracle::Precision::F32;
        vec![Box::new(Coo {
            does,
            arithmetic: Arithmetic::chain(Reduction::FmaChain, precision, precision),
            terms: true,
        })]
    }

    fn product(&self, triples: &mut Vec<(u32, u32, f32)>, x: &[f32], y: &mut [f32]) {
        if self.does != Does::Scatter {
            triples.sort_by_key(|t| (t.0, t.1));
        }
        y.fill(0.0);
        if self.does == Does::Scatter {
            for &(i, k, v) in &*triples {
                y[i as usize] += v * x[k as usize];
            }
            return;
        }
        for group in triples.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
            let (y, x) = (&mut y[group[0].0 as usize], x[group[0].1 as usize]);
            let mut each = |v: f32| *y = v.mul_add(x, *y);
            match self.does {
                Does::Combine => each(group.iter().skip(1).fold(group[0].2, |sum, t| sum + t.2)),
                Does::Last => each(group[group.len() - 1].2),
                Does::SortedBackwards => group.iter().rev().for_each(|t| each(t.2)),
                Does::Scatter | Does::Sorted => group.iter().for_each(|t| each(t.2)),
            }
        }
    }
}

impl Backend for Coo {
    fn name(&self) -> &'static str {
        "coo"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "one triple after the other"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let plain =
            params.alpha == 1.0 && params.beta == 0.0 && !params.transpose_a && params.fault.is_none();
        if contract.op != Op::Spmv || contract.format != FormatKind::Coo || !plain {
            return Support::Excluded { reason: "another request".into() };
        }
        let profile = Profile::default();
        Support::Supported {
            arithmetic: self.arithmetic,
            profile: if self.terms {
                profile.with(Choice::DuplicatesAreTerms, "one addition a triple")
            } else {
                profile
            },
        }
    }

    fn run(&self, _: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let Task::Spmv {
            a: AnySparse::F32(Sparse::Coo(a)), x: AnySlice::F32(x), y: AnySliceMut::F32(y), ..
        } = task
        else {
            return Err("f32 in COO only".into());
        };
        let places = a.row_idx.iter().zip(&a.col_idx).zip(&a.values);
        let mut triples: Vec<(u32, u32, f32)> = places.map(|((&i, &k), &v)| (i, k, v)).collect();
        self.product(&mut triples, x, y);
        Ok(Answer::Written)
    }
}

/// Verdicts of one backend over matrices and families of values, with duplicates.
fn verdicts(backend: &[Box<dyn Backend>]) -> Vec<(String, VerdictRecord)> {
    let sources = [
        "uniform:rows=40,cols=40,density=0.2,seed=5",
        // Rows of one or two positions: the least room.
        "uniform:rows=60,cols=60,density=0.025,seed=6",
        "banded:rows=64",
        "dense:rows=12,cols=9,seed=3",
    ];
    let families = ["ones", "small-int", "near-one", "wide", "cancelling", "near-cancelling", "special"];
    let mut found = Vec::new();
    for source in sources {
        for family in families {
            for seed in 0..4 {
                let line = format!("spmv.coo.f32_f32_f32_f32/{source}/values={family},{seed}/dups");
                let case: Case = line.parse().expect("a legal line");
                let loaded = case.origin.load().expect("generated");
                let mut ran = run_case(&case, &loaded, backend);
                found.push((line, ran.records.remove(0).verdict));
            }
        }
    }
    found
}

fn wrong(found: &[(String, VerdictRecord)]) -> Vec<Criterion> {
    let tier = |verdict: &VerdictRecord| match verdict {
        VerdictRecord::Wrong(mismatch) => Some(mismatch.tier),
        _ => None,
    };
    found.iter().filter_map(|(_, verdict)| tier(verdict)).collect()
}

#[test]
fn duplicates_that_are_terms_are_judged_as_terms() {
    for backend in [
        Coo::any(Does::Scatter, true),
        Coo::any(Does::Sorted, true),
        Coo::any(Does::SortedBackwards, true),
        Coo::chain(Does::Sorted),
    ] {
        for (line, verdict) in verdicts(&backend) {
            assert!(verdict.kind().ran() && !verdict.is_finding(), "{line}: {verdict:?}");
        }
    }
    // The order of duplicates is that in which they are stored, to the bit.
    let backwards = wrong(&verdicts(&Coo::chain(Does::SortedBackwards)));
    assert!(backwards.contains(&Criterion::T2), "{backwards:?}");
}

#[test]
fn the_default_refuses_what_only_terms_explain_and_the_other_way_round() {
    let scattered = wrong(&verdicts(&Coo::any(Does::Scatter, false)));
    assert!(!scattered.is_empty(), "a sum that is rounded first is another number");
    // Any bound of n terms has room for a sum that is rounded before it is multiplied, their bits have none.
    let combined = wrong(&verdicts(&Coo::chain(Does::Combine)));
    assert!(combined.contains(&Criterion::T2), "{combined:?}");
    for terms in [true, false] {
        let last = wrong(&verdicts(&Coo::any(Does::Last, terms)));
        assert!(last.contains(&Criterion::T0) && last.len() > 20, "{last:?}");
    }
}
