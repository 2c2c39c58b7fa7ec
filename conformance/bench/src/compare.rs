//! One matrix, one operation, one set of element types: prepare, judge, time, put side by side.

use super::Options;
use super::contender::{About, Absent, Contender, Given, KernelContender, encoded};
use super::hybrid::{self, Variation};
use super::judging::{Expectations, Judgement};
use super::machine::Machine;
use super::operands::Shared;
use super::peers::Peers;
use super::report::{Comparison, Hybrid, Measured, Skipped, Speed};
use super::rounds::{Times, time};
use super::statistics::{median, ratio};
use sparse_conformance_core::case::{Case, Params};
use sparse_conformance_core::operands::Operands;
use sparse_conformance_core::record::verdict_record;
use sparse_kernels::registry::Kernel;
use sparse_oracle::format::{FormatKind, FormatParams};
use sparse_oracle::scalar::Precision;
use sparse_oracle::verdict::Verdict;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a comparison needs.
pub(super) struct Comparing<'a> {
    pub(super) shared: &'a Shared,
    pub(super) peers: &'a Peers,
    pub(super) options: &'a Options,
    pub(super) machine: &'a Machine,
}

/// What it gave.
pub(super) struct Compared {
    pub(super) comparison: Comparison,
    pub(super) hybrids: Vec<Hybrid>,
    pub(super) skipped: Vec<Skipped>,
}

/// A contender with its operands, and after judging its judgement.
struct Entry<'p> {
    contender: Box<dyn Contender + 'p>,
    operands: Arc<Operands>,
    params: FormatParams,
    format: FormatKind,
    judgement: Option<Judgement>,
    times: Option<Times>,
}

impl Comparing<'_> {
    pub(super) fn run(&self, kernels: &[&Kernel]) -> Compared {
        let mut skipped = Vec::new();
        let mut skip = |what: String, reason: String| {
            let on = self.shared.case.origin.to_string();
            skipped.push(Skipped { what, on, reason });
        };
        let mut entries: Vec<Entry<'_>> = Vec::new();
        let mut chosen = hybrid::Chosen::new();
        for kernel in kernels {
            let variations = match hybrid::variations(kernel, self.shared) {
                Ok(variations) => variations,
                Err(reason) => {
                    skip(kernel.name.clone(), reason);
                    continue;
                }
            };
            for variation in variations {
                match self.prepared(kernel, &variation) {
                    Ok(entry) => entries.push(entry),
                    Err(reason) => skip(kernel.name.clone(), reason),
                }
                if let (Some(by), Some(boundary)) = (variation.chosen_by, variation.params.boundary) {
                    chosen.push((kernel.name.clone(), u64::from(boundary), by));
                }
            }
        }
        let contract = &self.shared.case.contract;
        let given = Given { contract, operands: &self.shared.operands };
        for (peer, made) in self.peers.contenders(given) {
            match made {
                Ok(contender) => entries.push(self.entry(contender, &self.shared.operands, FormatKind::Csr)),
                Err(Absent::Lacks(reason)) => skip(peer.name().to_owned(), reason.to_owned()),
                Err(Absent::Failed(reason)) => skip(peer.name().to_owned(), reason),
            }
        }
        let mut expectations = Expectations::default();
        for entry in &mut entries {
            let limit = self.options.judged_terms;
            let judged = expectations.judge(entry.contender.as_mut(), self.shared, &entry.operands, limit);
            entry.judgement = Some(judged);
        }
        drop(expectations);
        self.time(&mut entries);
        let comparison = self.comparison(&entries);
        let hybrids = hybrid::hybrids(&comparison, &chosen);
        Compared { comparison, hybrids, skipped }
    }

    fn prepared<'p>(&self, kernel: &Kernel, variation: &Variation) -> Result<Entry<'p>, String> {
        let (format, params) = (kernel.contract.format, variation.params);
        let (operands, seconds) = if format == FormatKind::Csr {
            (Arc::clone(&self.shared.operands), 0.0)
        } else {
            encoded(self.shared, format, params)?
        };
        let contender = KernelContender::new(kernel, &operands, params, seconds + variation.seconds);
        Ok(Entry { params, ..self.entry(Box::new(contender), &operands, format) })
    }

    fn entry<'p>(
        &self,
        contender: Box<dyn Contender + 'p>,
        operands: &Arc<Operands>,
        format: FormatKind,
    ) -> Entry<'p> {
        Entry {
            contender,
            operands: Arc::clone(operands),
            params: FormatParams::default(),
            format,
            judgement: None,
            times: None,
        }
    }

    /// Times all that are right. One that fails now, though it was right, is wrong; the others are timed again.
    fn time(&self, entries: &mut [Entry<'_>]) {
        loop {
            let right = |e: &Entry<'_>| e.judgement.as_ref().is_some_and(Judgement::is_right);
            let places: Vec<usize> = (0..entries.len()).filter(|&at| right(&entries[at])).collect();
            let mut timed: Vec<_> =
                entries.iter_mut().filter(|e| right(e)).map(|e| &mut e.contender).collect();
            let error = match time(&mut timed, self.options.time) {
                Ok(times) => {
                    for (at, times) in places.into_iter().zip(times) {
                        entries[at].times = Some(times);
                    }
                    return;
                }
                Err(error) => error,
            };
            if let Some(judgement) = &mut entries[places[error.0]].judgement {
                judgement.verdict = Verdict::Crashed { message: error.1 };
            }
        }
    }

    fn comparison(&self, entries: &[Entry<'_>]) -> Comparison {
        let shared = self.shared;
        let (rows, cols) = shared.operands.a.shape();
        let peers: Vec<(&str, &Times)> = entries
            .iter()
            .filter(|e| e.contender.about().peer)
            .filter_map(|e| Some((e.contender.about().name.as_str(), e.times.as_ref()?)))
            .collect();
        Comparison {
            matrix: shared.case.origin.to_string(),
            op: shared.case.contract.op.name().to_owned(),
            types: shared.case.contract.types.to_string(),
            case: shared.case.to_string(),
            rows: rows as u64,
            cols: cols as u64,
            nnz: shared.nnz as u64,
            operations: shared.operations(),
            rounds: entries
                .iter()
                .filter_map(|e| e.times.as_ref())
                .map(|t| t.rounds.len() as u64)
                .max()
                .unwrap_or(0),
            contenders: entries.iter().filter_map(|e| self.measured(e, &peers)).collect(),
        }
    }

    fn measured(&self, entry: &Entry<'_>, peers: &[(&str, &Times)]) -> Option<Measured> {
        let about = entry.contender.about();
        let judgement = entry.judgement.clone()?;
        let right = judgement.is_right();
        let bytes = about.sparse_bytes + self.shared.dense_bytes();
        Some(Measured {
            name: about.name.clone(),
            peer: about.peer,
            parameters: about.parameters.iter().cloned().collect(),
            verdict: verdict_record(judgement.verdict),
            tiers: judgement.tiers.iter().map(|tier| format!("{tier:?}")).collect(),
            judged: judgement.share,
            replay: (!right).then(|| self.replay(about, entry)).flatten(),
            preparation: about.preparation,
            bytes,
            speed: entry.times.as_ref().map(|times| self.speed(about, times, bytes, peers)),
        })
    }

    /// The command that runs and judges this contender on these operands again.
    fn replay(&self, about: &About, entry: &Entry<'_>) -> Option<String> {
        let selection = about.selection.as_ref()?;
        let mut contract = self.shared.case.contract;
        contract.format = entry.format;
        let params = Params { blocks: entry.params, ..self.shared.case.params };
        let case = Case { contract, params, ..self.shared.case.clone() };
        let line = case.to_string();
        Some(format!("conformance replay {} {selection}", shell_words::quote(&line)))
    }

    fn speed(&self, about: &About, times: &Times, bytes: u64, peers: &[(&str, &Times)]) -> Speed {
        let middle = median(&times.rounds);
        let gflops = self.shared.operations() as f64 / middle / 1e9;
        let peak = match self.shared.case.contract.types.acc {
            Precision::F64 => self.machine.peak_f64,
            Precision::F32 => self.machine.peak_f32,
            _ => f64::INFINITY,
        };
        let against: BTreeMap<_, _> = peers
            .iter()
            .filter(|_| !about.peer)
            .map(|(name, peer)| ((*name).to_owned(), ratio(&times.rounds, &peer.rounds)))
            .collect();
        Speed {
            median: middle,
            fastest: times.rounds.iter().copied().fold(f64::INFINITY, f64::min),
            gflops,
            bandwidth_share: bytes as f64 / middle / 1e9 / self.machine.bandwidth,
            peak_share: gflops / peak,
            calls: times.calls as u64,
            rounds: times.rounds.clone(),
            against,
        }
    }
}
