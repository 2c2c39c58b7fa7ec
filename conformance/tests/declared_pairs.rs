//! Two choices declared together: a kernel that does exactly what both say is right, whatever the pair. Libraries make several choices
//! at once, and each had been judged alone.
//!
//! The kernels are loops over triples, in f64, that look up every choice where they come to it.

use sparse_conformance::backend::{Backend, Failure, Support};
use sparse_conformance::campaign;
use sparse_conformance::case::{Case, Params};
use sparse_conformance::plan::Options;
use sparse_conformance::report::Environment;
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnySparse, Codec, FormatKind, FormatParams, Sparse};
use sparse_oracle::profile::{CHOICES, Choice, Profile};
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Values};
use sparse_oracle::task::{Answer, RawSparse, Task};
use sparse_oracle::verdict::VerdictKind;
use std::collections::BTreeMap;

type Triple = (u32, u32, f64);

/// What it takes.
const TAKEN: [&str; 7] = [
    "spmv.coo.f64_f64_f64_f64",
    "spmv.csr.f64_f64_f64_f64",
    "spgemm.csr.f64_f64_f64_f64",
    "convert.coo.csr.f64",
    "convert.csr.coo.f64",
    "transpose.coo.f64",
    "transpose.csr.f64",
];

/// A backend that does what it declares, or less.
struct Obeys {
    declares: Vec<Choice>,
    does: Vec<Choice>,
}

impl Obeys {
    fn has(&self, choice: Choice) -> bool {
        self.does.contains(&choice)
    }

    /// What is stored, in the order in which it is.
    fn stored(a: &AnySparse) -> Vec<Triple> {
        match a {
            AnySparse::F64(Sparse::Coo(a)) => {
                let places = a.row_idx.iter().zip(&a.col_idx);
                places.zip(&a.values).map(|((&i, &k), &v)| (i, k, v)).collect()
            }
            AnySparse::F64(Sparse::Csr(a)) => {
                a.entries().list.iter().map(|e| (e.row, e.col, e.value)).collect()
            }
            _ => panic!("COO and CSR in f64 only"),
        }
    }

    /// Duplicates as declared, in the order of rows and columns.
    fn combined(&self, mut triples: Vec<Triple>) -> Result<Vec<Triple>, Failure> {
        triples.sort_by_key(|t| (t.0, t.1));
        if self.has(Choice::DuplicatesAreTerms) {
            return Ok(triples);
        }
        let groups = triples.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1));
        let one = |group: &[Triple]| {
            let &[(i, k, first), ref others @ ..] = group else { unreachable!("groups have members") };
            let Some(&(_, _, last)) = others.last() else { return Ok((i, k, first)) };
            if self.has(Choice::DuplicatesRejected) {
                return Err(Failure::from("a position is stored twice"));
            }
            let backwards = || group.iter().rev().skip(1).fold(last, |sum, t| sum + t.2);
            let value = match () {
                () if self.has(Choice::DuplicatesLastWins) => last,
                () if self.has(Choice::DuplicatesSumAnyOrder) => backwards(),
                () => others.iter().fold(first, |sum, t| sum + t.2),
            };
            Ok((i, k, value))
        };
        groups.map(one).collect()
    }

    /// Operands of a product.
    fn factors(&self, a: &AnySparse) -> Result<Vec<Triple>, Failure> {
        let mut triples = self.combined(Obeys::stored(a))?;
        triples.retain(|t| t.2 != 0.0 || !self.has(Choice::StoredZerosAbsent));
        Ok(triples)
    }

    fn spmv(
        &self,
        a: &AnySparse,
        (alpha, beta): (f64, f64),
        x: &[f64],
        y: &mut [f64],
    ) -> Result<(), Failure> {
        let refuses = alpha != 1.0 && self.has(Choice::OnlyAlphaOne)
            || beta != 0.0 && beta != 1.0 && self.has(Choice::OnlyBetaZeroOne);
        if refuses {
            return Err("another alpha or beta".into());
        }
        let mut sums = vec![0.0; y.len()];
        for (i, k, v) in self.factors(a)? {
            sums[i as usize] += v * x[k as usize];
        }
        let reads_ab = alpha != 0.0 || self.has(Choice::Alpha0ReadsAb);
        let reads_c = beta != 0.0 || self.has(Choice::Beta0ReadsC);
        for (y, sum) in y.iter_mut().zip(sums) {
            let product = if reads_ab { alpha * sum } else { 0.0 };
            *y = product + if reads_c { beta * *y } else { 0.0 };
        }
        Ok(())
    }

    fn spgemm(&self, a: &AnySparse, b: &AnySparse) -> Result<RawSparse, Failure> {
        let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let b_triples = self.factors(b)?;
        for (i, k, v) in self.factors(a)? {
            for &(_, j, w) in b_triples.iter().filter(|t| t.0 == k) {
                sums.entry((i, j)).and_modify(|sum| *sum += v * w).or_insert(v * w);
            }
        }
        let mut triples: Vec<Triple> = sums.into_iter().map(|((i, j), v)| (i, j, v)).collect();
        triples.retain(|t| t.2 != 0.0 || !self.has(Choice::NumericPattern));
        if self.has(Choice::Unsorted) {
            triples.sort_by_key(|t| (t.0, std::cmp::Reverse(t.1)));
        }
        Ok(raw(FormatKind::Csr, (a.shape().0, b.shape().1), &triples))
    }

    fn moved(&self, kind: FormatKind, shape: (usize, usize), mut triples: Vec<Triple>) -> RawSparse {
        triples.retain(|t| t.2 != 0.0 || !self.has(Choice::ExplicitZerosDropped));
        triples.sort_by_key(|t| (t.0, t.1));
        raw(kind, shape, &triples)
    }
}

/// Triples in the order of rows as COO or CSR.
fn raw(kind: FormatKind, (rows, cols): (usize, usize), triples: &[Triple]) -> RawSparse {
    let offsets = match kind {
        FormatKind::Coo => triples.iter().map(|t| t.0).collect(),
        _ => (0..=rows).map(|i| triples.partition_point(|t| (t.0 as usize) < i) as u32).collect(),
    };
    let indices = triples.iter().map(|t| t.1).collect();
    let values = Values::F64(triples.iter().map(|t| t.2).collect());
    RawSparse { kind, rows, cols, params: FormatParams::default(), width: 0, offsets, indices, values }
}

impl Backend for Obeys {
    fn name(&self) -> &'static str {
        "obeys"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "loops over triples that look up each choice"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        if !TAKEN.contains(&contract.to_string().as_str()) || params.transpose_a || params.fault.is_some() {
            return Support::Excluded { reason: "plain requests only".into() };
        }
        let profile =
            self.declares.iter().fold(Profile::default(), |profile, &choice| profile.with(choice, "test"));
        Support::Supported { arithmetic: contract.weakest(), profile }
    }

    fn run(&self, _: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        match task {
            Task::Spmv { a, x: AnySlice::F64(x), alpha, beta, y: AnySliceMut::F64(y), .. } => {
                self.spmv(a, (alpha, beta), x, y).map(|()| Answer::Written)
            }
            Task::Spgemm { a, b } => self.spgemm(a, b).map(Answer::Sparse),
            Task::Convert { a, to, .. } => {
                Ok(Answer::Sparse(self.moved(to, a.shape(), self.combined(Obeys::stored(a))?)))
            }
            Task::Transpose { a } => {
                let turned = Obeys::stored(a).into_iter().map(|(i, k, v)| (k, i, v));
                Ok(Answer::Sparse(self.moved(a.kind(), (a.shape().1, a.shape().0), turned.collect())))
            }
            _ => Err("another request".into()),
        }
    }
}

/// Rests of lines that meet what choices are about.
fn rests(contract: &Contract, pair: [Choice; 2]) -> Vec<&'static str> {
    let about_duplicates = pair.iter().any(|choice| choice.point() == "duplicates");
    let scalars = ["", "/alpha=0/beta=1", "/alpha=0/beta=0", "/alpha=2/beta=0", "/alpha=1/beta=-0.5"];
    let scattered = ["/dups", "/alpha=0/beta=1/dups", "/alpha=0/beta=0/dups", "/alpha=2/beta=0.5/dups"];
    match (contract.op.is_dense(), contract.format == FormatKind::Coo) {
        (true, true) if about_duplicates => scattered.to_vec(),
        (true, _) => scalars.to_vec(),
        (false, true) => vec!["", "/dups"],
        (false, false) => vec![""],
    }
}

#[test]
fn who_does_what_both_choices_say_is_right() {
    let choices = CHOICES.map(|row| row.0);
    let pairs = choices
        .iter()
        .enumerate()
        .flat_map(|(i, &one)| choices[i + 1..].iter().map(move |&other| [one, other]));
    let (mut ran, mut judged_pairs) = (0, 0);
    for pair in pairs.filter(|pair| !pair.iter().all(|choice| choice.point() == "duplicates")) {
        let backend: Vec<Box<dyn Backend>> =
            vec![Box::new(Obeys { declares: pair.to_vec(), does: pair.to_vec() })];
        let before = ran;
        for name in TAKEN {
            let contract = Contract::from_name(name).expect("a contract");
            if !pair.iter().all(|choice| choice.concerns(&contract)) {
                continue;
            }
            for rest in rests(&contract, pair) {
                for family in ["special", "placed-special", "signed-zero", "small-int", "cancelling"] {
                    for seed in 0..3 {
                        let line = format!(
                            "{name}/uniform:rows=24,cols=24,density=0.2,seed=5/values={family},{seed}{rest}"
                        );
                        let case: Case = line.parse().expect("a legal line");
                        let loaded = case.origin.load().expect("generated");
                        let verdict = run_case(&case, &loaded, &backend).records.remove(0).verdict;
                        assert!(!verdict.is_finding(), "{pair:?}: {line}: {verdict:?}");
                        ran += usize::from(verdict.kind().ran());
                    }
                }
            }
        }
        judged_pairs += usize::from(ran > before);
    }
    assert!(judged_pairs >= 30, "{judged_pairs} pairs, {ran} cases");
}

/// Found by the test above: what a backend had declared to refuse was asked of it all the same, and its refusal was a finding; products
/// of a backend that rejects duplicates were not run at all.
#[test]
fn what_is_declared_to_be_refused_is_refused() {
    let verdict = |choice: Choice, does: Vec<Choice>, (contract, rest): (&str, &str)| {
        let backend: Vec<Box<dyn Backend>> = vec![Box::new(Obeys { declares: vec![choice], does })];
        let source = "uniform:rows=24,cols=24,density=0.2,seed=5/values=small-int,1";
        let case: Case = format!("{contract}/{source}{rest}").parse().expect("a legal line");
        let loaded = case.origin.load().expect("generated");
        run_case(&case, &loaded, &backend).records.remove(0).verdict.kind()
    };
    let (spmv, convert) = ("spmv.coo.f64_f64_f64_f64", "convert.coo.csr.f64");
    for (choice, contract, refused, taken) in [
        (Choice::OnlyAlphaOne, spmv, "/alpha=2", "/beta=2"),
        (Choice::OnlyBetaZeroOne, spmv, "/beta=0.5", "/beta=1"),
        (Choice::DuplicatesRejected, spmv, "/dups", ""),
        (Choice::DuplicatesRejected, convert, "/dups", ""),
    ] {
        let refused = (contract, refused);
        assert_eq!(verdict(choice, vec![choice], refused), VerdictKind::AgreedRefusal, "{refused:?}");
        assert_eq!(verdict(choice, vec![], refused), VerdictKind::LoneAcceptance, "{refused:?}");
        assert_eq!(verdict(choice, vec![choice], (contract, taken)), VerdictKind::Exact, "{contract}{taken}");
    }
}

/// Nothing is computed for a request that is refused, so that it shows no bug. Plans once drew such requests like any other: a backend
/// that takes only alpha = 1 computed 30 of 192 cases and was thin. Now it is asked for what it takes, and once for what it refuses.
#[test]
fn what_is_declared_to_be_refused_is_asked_once_and_counts_for_nothing() {
    let run = |declares: Choice, does: Vec<Choice>| {
        let contract = if declares == Choice::DuplicatesRejected { TAKEN[0] } else { TAKEN[1] };
        let backends: Vec<Box<dyn Backend>> = vec![Box::new(Obeys { declares: vec![declares], does })];
        let options = Options { contracts: vec![contract.to_owned()], ..Options::default() };
        campaign::run(&options, &backends, Environment::default(), &())
    };
    for (choice, key) in [
        (Choice::OnlyAlphaOne, "/alpha="),
        (Choice::OnlyBetaZeroOne, "/beta="),
        (Choice::DuplicatesRejected, "/dups"),
    ] {
        let honest = run(choice, vec![choice]);
        let found = honest.cases.iter().find(|record| record.verdict.is_finding());
        assert!(found.is_none() && honest.thin.is_empty(), "{choice:?}: {found:?}, {:?}", honest.thin);
        let of = |kind: VerdictKind| honest.cases.iter().filter(move |record| record.verdict.kind() == kind);
        let refused: Vec<&str> = of(VerdictKind::AgreedRefusal).map(|record| record.case.as_str()).collect();
        let legal: Vec<&&str> = refused.iter().filter(|case| !case.contains("/fault=")).collect();
        assert!(matches!(legal[..], [case] if case.contains(key)), "{choice:?}: {legal:?}");
        let ran = honest.cases.iter().filter(|record| record.verdict.kind().ran()).count();
        assert_eq!(honest.worth.iter().map(|row| row.judged).collect::<Vec<_>>(), [ran as u64 - 1]);

        // Who does not what is declared is found out.
        let accepts = run(choice, vec![]);
        let found: Vec<_> = accepts.cases.iter().filter(|record| record.verdict.is_finding()).collect();
        let accepted = |kind: VerdictKind| kind == VerdictKind::LoneAcceptance;
        assert!(matches!(found[..], [record] if accepted(record.verdict.kind())), "{choice:?}: {found:?}");
    }
}
