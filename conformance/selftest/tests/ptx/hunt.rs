//! Which cases launch which entry, and which of them convicts a mutant.
//!
//! ```text
//! quick tier x kernels, clean texts -> entry -> (kernel, case) that launch it
//! line   -> the first of its entry's cases that comes to it, by a fault that shows whenever it is executed
//! mutant -> the cases from there, until a finding of the machine or of the judge
//! ```

use super::mutant::Mutant;
use super::played::Alone;
use rayon::prelude::*;
use sparse_conformance_core::backend::Backend;
use sparse_conformance_core::case::Case;
use sparse_conformance_core::operands::{Operands, build};
use sparse_conformance_core::plan::{Options, plan};
use sparse_conformance_core::runner::Ready;
use sparse_conformance_selftest::HuntPlan;
use sparse_kernels::cuda::{GpuKernel, played_kernels};
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::check::Kind;
use sparse_ptx_device::{Counted, TextError, Texts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No case of the plan launches its entry.
    NotLaunched,
    /// None of the cases that launch its entry comes to its line.
    NotReached,
    /// The text is not taken any more.
    Refused,
    /// The machine or the judge had a finding.
    Convicted,
    /// None of so many cases had one; some come to its line.
    Survived(usize),
}

/// Kernels, and the cases of a plan for them.
pub(crate) struct Field {
    architecture: Architecture,
    pub(crate) kernels: Vec<GpuKernel>,
    pub(crate) plan: HuntPlan,
    /// The texts as they are, each decoded once.
    pub(crate) texts: Texts,
}

/// The cases, ready, and which launch what.
pub(crate) struct Ground<'f> {
    field: &'f Field,
    ready: Vec<Ready<'f>>,
    launches: BTreeMap<String, Vec<(usize, usize)>>,
    /// Kernels on their cases.
    pub(crate) runs: usize,
    /// Those that take too many steps.
    pub(crate) left_out: usize,
}

impl Field {
    /// The plan of these options for all kernels of an architecture.
    pub(crate) fn new(architecture: Architecture, options: &Options) -> Field {
        let kernels = played_kernels(architecture);
        let texts = Texts::committed();
        let alone: Vec<Alone<'_>> =
            kernels.iter().map(|k| Alone::new(k, architecture, texts.clone())).collect();
        let backends: Vec<&dyn Backend> = alone.iter().map(|alone| alone as &dyn Backend).collect();
        let plan = HuntPlan::of(plan(options, &backends).groups);
        Field { architecture, kernels, plan, texts }
    }

    /// What is launched on `sm_90` alone: 2:4 of 16-bit elements.
    pub(crate) fn of_groups() -> Field {
        let contracts = ["spmm.two_four.f16*", "spmm.two_four.bf16*"].map(str::to_owned).to_vec();
        Field::new(Architecture::Sm90, &Options { contracts, ..Options::default() })
    }

    /// A kernel on a GPU that plays these texts.
    pub(crate) fn alone<'k>(&self, kernel: &'k GpuKernel, texts: Texts) -> Alone<'k> {
        Alone::new(kernel, self.architecture, texts)
    }

    /// The cases with their operands.
    pub(crate) fn cases(&self) -> Vec<(&Case, Operands)> {
        let cases: Vec<_> = self.plan.cases(|_| true).collect();
        cases.par_iter().map(|(case, loaded)| (*case, build(case, loaded).expect("operands"))).collect()
    }

    /// Runs every kernel on each of its cases as it is; those that take too many steps are left out.
    ///
    /// # Panics
    /// If one of them is not clean: then nothing that a mutant does says anything.
    pub(crate) fn ground<'f>(&'f self, cases: &'f [(&'f Case, Operands)]) -> Ground<'f> {
        let ready: Vec<Ready<'_>> = cases.iter().map(|(case, operands)| Ready::new(case, operands)).collect();
        let concerned =
            |(k, c): &(usize, usize)| self.kernels[*k].kernel.contract == ready[*c].case().contract;
        let pairs = (0..self.kernels.len()).flat_map(|k| (0..ready.len()).map(move |c| (k, c)));
        let pairs: Vec<(usize, usize)> = pairs.filter(concerned).collect();
        let run = |&(k, c): &(usize, usize)| {
            let counted = Counted::default();
            let asked =
                ready[c].ask_once(&self.alone(&self.kernels[k], self.texts.clone()).counting(&counted));
            let verdict = &asked.record.verdict;
            if verdict.is_finding() && verdict.to_string().contains(Kind::StepLimit.name()) {
                return None;
            }
            let name = &self.kernels[k].kernel.name;
            assert!(!verdict.is_finding(), "{name} is not clean itself: {}: {verdict}", ready[c].case());
            let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
            Some(counted.iter().map(|(entry, _)| entry.clone()).collect::<BTreeSet<String>>())
        };
        let launched: Vec<_> = pairs.par_iter().map(run).collect();
        let left_out = launched.iter().filter(|launched| launched.is_none()).count();
        let runs = pairs.len() - left_out;
        let mut launches: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (pair, entries) in pairs.into_iter().zip(launched) {
            for entry in entries.into_iter().flatten() {
                launches.entry(entry).or_default().push(pair);
            }
        }
        Ground { field: self, ready, launches, runs, left_out }
    }
}

impl Ground<'_> {
    /// True where some case launches the entry.
    pub(crate) fn launches(&self, entry: &str) -> bool {
        self.launches.contains_key(entry)
    }

    /// Hunts the mutants of one line.
    pub(crate) fn fates(&self, mutants: &[Mutant], lines: &[&str]) -> Vec<Fate> {
        let Some(first) = mutants.first() else { return Vec::new() };
        let Some(pairs) = self.launches.get(&first.entry) else {
            return vec![Fate::NotLaunched; mutants.len()];
        };
        let Some(reached) = self.convicted_at(&first.probe(lines), lines, pairs).expect("the probe is PTX")
        else {
            return vec![Fate::NotReached; mutants.len()];
        };
        // Cases before the first that comes to the line tell nothing.
        let of = |mutant| match self.convicted_at(mutant, lines, &pairs[reached..]) {
            Ok(Some(_)) => Fate::Convicted,
            Ok(None) => Fate::Survived(pairs.len()),
            Err(_) => Fate::Refused,
        };
        mutants.iter().map(of).collect()
    }

    /// The first of these kernels and cases that has a finding.
    fn convicted_at(
        &self,
        mutant: &Mutant,
        lines: &[&str],
        pairs: &[(usize, usize)],
    ) -> Result<Option<usize>, TextError> {
        let texts = self.field.texts.clone().replaced(mutant.source, &mutant.text(lines))?;
        let convicts = |&(k, c): &(usize, usize)| {
            let asked = self.ready[c].ask_once(&self.field.alone(&self.field.kernels[k], texts.clone()));
            asked.record.verdict.is_finding()
        };
        Ok(pairs.iter().position(convicts))
    }
}
