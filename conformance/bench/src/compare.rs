//! One matrix, one operation, one set of element types: prepare, judge, time, put side by side.

use super::Options;
use super::contender::{Contender, Entrant};
use super::encoded::encoded;
use super::hybrid::{self, Variation};
use super::judging::{Judgement, judge};
use super::machine::Machine;
use super::operands::Shared;
use super::peers::Peers;
use super::report::{Comparison, Hybrid, Measured, Skipped, Speed};
use super::rounds::{Times, time};
use super::statistics::{median, ratio};
use sparse_conformance_core::backend::{Backend, Support};
use sparse_conformance_core::case::{Case, Params};
use sparse_conformance_core::record::verdict_record;
use sparse_conformance_core::report::replay_command;
use sparse_conformance_peers::OneKernel;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{FormatKind, Layout};
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

/// A contender, and after judging its judgement.
struct Entry<'e> {
    contender: Contender<'e>,
    judgement: Judgement,
    times: Option<Times>,
}

impl<'a> Comparing<'a> {
    pub(super) fn run(&self, kernels: &'a [&'a OneKernel]) -> Compared {
        let mut skipped = Vec::new();
        let mut skip = |what: &str, reason: String| {
            let on = self.shared.case.origin.to_string();
            skipped.push(Skipped { what: what.to_owned(), on, reason });
        };
        let ways = self.ways(kernels, &mut skip);
        let mut entrants = self.kernels(&ways, &mut skip);
        entrants.extend(self.subjects(&mut skip));
        entrants.extend(self.peers.backends().map(|backend| self.peer(backend)));
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for entrant in &entrants {
            match Contender::prepare(entrant) {
                Ok(mut contender) => {
                    let judgement = judge(&mut contender, self.options.judged_terms);
                    entries.push(Entry { contender, judgement, times: None });
                }
                Err(reason) => skip(entrant.backend.name(), reason),
            }
        }
        self.time(&mut entries);
        let comparison = self.comparison(&entries);
        let hybrids = hybrid::hybrids(&comparison, &ways);
        Compared { comparison, hybrids, skipped }
    }

    /// Every way that one of our kernels is timed in.
    fn ways(
        &self,
        kernels: &[&OneKernel],
        skip: &mut dyn FnMut(&str, String),
    ) -> Vec<(OneKernel, Variation)> {
        let mut ways = Vec::new();
        for &backend in kernels {
            match hybrid::variations(backend.kernel(), self.shared) {
                Ok(variations) => {
                    ways.extend(
                        variations.into_iter().map(|way| (backend.clone().with_split(way.split), way)),
                    );
                }
                Err(reason) => skip(&backend.kernel().name, reason),
            }
        }
        ways
    }

    /// Our kernels, each in every way that it is timed in.
    fn kernels<'w>(
        &self,
        ways: &'w [(OneKernel, Variation)],
        skip: &mut dyn FnMut(&str, String),
    ) -> Vec<Entrant<'w>> {
        let entrant = |(backend, way): &'w (OneKernel, Variation)| {
            let kernel = backend.kernel();
            let entrant = self.encoded(backend, kernel.contract.format, way);
            entrant.map_err(|reason| skip(&kernel.name, reason)).ok()
        };
        ways.iter().filter_map(entrant).collect()
    }

    /// What the user brought, in each format that it takes and that was asked for.
    fn subjects(&self, skip: &mut dyn FnMut(&str, String)) -> Vec<Entrant<'a>> {
        let mut entrants = Vec::new();
        for backend in &self.options.subjects {
            let case = &self.shared.case.contract;
            let fits = |asked: &&Contract| (asked.op, asked.types) == (case.op, case.types);
            for contract in self.options.asked.iter().filter(fits).filter(|asked| backend.claims(asked)) {
                match self.encoded(backend.as_ref(), contract.format, &Variation::default()) {
                    Ok(entrant) => entrants.push(entrant),
                    Err(reason) => skip(backend.name(), reason),
                }
            }
        }
        entrants
    }

    /// A backend on these operands in a format.
    fn encoded<'e>(
        &self,
        backend: &'e dyn Backend,
        format: FormatKind,
        variation: &Variation,
    ) -> Result<Entrant<'e>, String> {
        let (operands, seconds) = if format == FormatKind::Csr {
            (Arc::clone(&self.shared.operands), 0.0)
        } else {
            encoded(self.shared, format, variation.params)?
        };
        let mut case = self.shared.case.clone();
        case.contract.format = format;
        case.params.blocks = variation.params;
        Ok(Entrant {
            backend,
            peer: false,
            case,
            operands,
            split: variation.split,
            conversion: seconds + variation.seconds,
        })
    }

    /// A library on the CSR operands, with its dense ones by columns where it knows no others.
    fn peer(&self, backend: &'a dyn Backend) -> Entrant<'a> {
        let mut case = self.shared.case.clone();
        let mut operands = Arc::clone(&self.shared.operands);
        let takes =
            |case: &Case| matches!(backend.support(&case.contract, &case.params), Support::Supported { .. });
        let by_columns = Params { layout_b: Layout::ColMajor, layout_c: Layout::ColMajor, ..case.params };
        let turned = Case { params: by_columns, ..case.clone() };
        if !takes(&case) && takes(&turned) {
            (case, operands) = (turned, Arc::new(self.shared.by_columns()));
        }
        Entrant { backend, peer: true, case, operands, split: None, conversion: 0.0 }
    }

    /// Times all that are right. One that fails now, though it was right, is wrong; the others are timed again.
    fn time(&self, entries: &mut [Entry<'_>]) {
        loop {
            let right = |e: &Entry<'_>| e.judgement.is_right();
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
            entries[places[error.0]].judgement.verdict = Verdict::Crashed { message: error.1 };
        }
    }

    fn comparison(&self, entries: &[Entry<'_>]) -> Comparison {
        let shared = self.shared;
        let (rows, cols) = shared.operands.a.shape();
        let peers: Vec<(&str, &Times)> = entries
            .iter()
            .filter(|e| e.contender.entrant.peer)
            .filter_map(|e| Some((e.contender.entrant.backend.name(), e.times.as_ref()?)))
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
            contenders: entries.iter().map(|e| self.measured(e, &peers)).collect(),
        }
    }

    fn measured(&self, entry: &Entry<'_>, peers: &[(&str, &Times)]) -> Measured {
        let Entry { contender, judgement, times } = entry;
        let entrant = contender.entrant;
        let bytes = contender.sparse_bytes() + self.shared.dense_bytes();
        Measured {
            name: entrant.backend.name().to_owned(),
            peer: entrant.peer,
            parameters: contender.parameters().into_iter().collect(),
            verdict: verdict_record(judgement.verdict.clone()),
            tiers: judgement.tiers.iter().map(|tier| format!("{tier:?}")).collect(),
            judged: judgement.share,
            replay: if judgement.is_right() { None } else { replay(entrant) },
            preparation: contender.preparation,
            bytes,
            speed: times.as_ref().map(|times| self.speed(entrant.peer, times, bytes, peers)),
        }
    }

    fn speed(&self, peer: bool, times: &Times, bytes: u64, peers: &[(&str, &Times)]) -> Speed {
        let middle = median(&times.rounds);
        let gflops = self.shared.operations() as f64 / middle / 1e9;
        let peak = match self.shared.case.contract.types.acc {
            Precision::F64 => self.machine.peak_f64,
            Precision::F32 => self.machine.peak_f32,
            _ => f64::INFINITY,
        };
        let against: BTreeMap<_, _> = peers
            .iter()
            .filter(|_| !peer)
            .map(|(name, other)| ((*name).to_owned(), ratio(&times.rounds, &other.rounds)))
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

/// The command that runs and judges an entrant on these operands again.
fn replay(entrant: &Entrant<'_>) -> Option<String> {
    let selection = entrant.backend.selection();
    let line = entrant.case.to_string();
    (!selection.is_empty()).then(|| replay_command(&line, &selection))
}
