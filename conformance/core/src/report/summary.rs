//! Counts over a report: per backend, per contract and backend, per family; worst shares; histograms.
//!
//! One pass over the cases fills a [`Summary`]; every writer shows the same one.

use super::model::{CaseRecord, Report};
use super::show::counted;
use super::verdict::{Criterion, VerdictKind, VerdictRecord};
use std::collections::{BTreeMap, HashMap};

/// How often each verdict was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; VerdictKind::ALL.len()]);

impl Counts {
    /// Records with this verdict.
    #[must_use]
    pub fn get(&self, kind: VerdictKind) -> u64 {
        self.0[kind as usize]
    }

    /// Adds one verdict.
    pub fn add(&mut self, kind: VerdictKind) {
        self.0[kind as usize] += 1;
    }

    /// Kinds that occur, with their counts, in the order of [`VerdictKind::ALL`].
    pub fn present(&self) -> impl Iterator<Item = (VerdictKind, u64)> {
        VerdictKind::ALL.into_iter().map(|kind| (kind, self.get(kind))).filter(|&(_, count)| count > 0)
    }

    /// All records.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Records of cases that the backend was asked to run.
    #[must_use]
    pub fn ran(&self) -> u64 {
        self.sum(VerdictKind::ran)
    }

    /// Records that make the run fail.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.sum(VerdictKind::is_finding)
    }

    /// Records that ran and are neither a finding nor waived.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.ran() - self.findings() - self.get(VerdictKind::Waived)
    }

    /// Adds all counts of another group.
    pub fn merge(&mut self, other: &Counts) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    fn sum(&self, choose: impl Fn(VerdictKind) -> bool) -> u64 {
        VerdictKind::ALL.into_iter().filter(|&kind| choose(kind)).map(|kind| self.get(kind)).sum()
    }
}

/// The largest share of a bound, and the case that used it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Error over bound; above 1 only in a wrong case.
    pub share: f64,
    /// Index into [`Report::cases`].
    pub case: usize,
}

/// Shares of the bound in 20 bins that double in width: (1/2, 1], (1/4, 1/2], ... and all that is smaller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Cases per bin; the upper edge of bin `i` is 2^(i - 19), included; bin 0 also holds everything smaller.
    pub bins: [u64; 20],
    /// Cases that used nothing of the bound (also counted in bin 0).
    pub zero: u64,
    /// Cases beyond the bound.
    pub beyond: u64,
}

impl Histogram {
    /// Upper edge of a bin, as a share.
    #[must_use]
    pub fn upper_edge(bin: usize) -> f64 {
        2f64.powi(bin as i32 - 19)
    }

    /// Adds one share.
    pub fn add(&mut self, share: f64) {
        self.zero += u64::from(share == 0.0);
        match (0..self.bins.len()).find(|&bin| share <= Self::upper_edge(bin)) {
            Some(bin) => self.bins[bin] += 1,
            None => self.beyond += 1,
        }
    }

    /// All shares added.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.bins.iter().sum::<u64>() + self.beyond
    }
}

/// Verdicts of one group of records and their worst share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Verdicts.
    pub counts: Counts,
    /// Largest share of a bound, if any case has one.
    pub worst: Option<Worst>,
}

impl Cell {
    fn add(&mut self, index: usize, record: &CaseRecord) {
        self.counts.add(record.kind());
        let Some(share) = record.share_of_bound() else {
            return;
        };
        if self.worst.is_none_or(|worst| share > worst.share) {
            self.worst = Some(Worst { share, case: index });
        }
    }

    fn merge(&mut self, other: &Cell) {
        self.counts.merge(&other.counts);
        if let Some(theirs) = other.worst
            && self.worst.is_none_or(|mine| theirs.share > mine.share)
        {
            self.worst = Some(theirs);
        }
    }
}

/// One backend over the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackendSummary {
    /// Name.
    pub name: String,
    /// Verdicts and worst share.
    pub cell: Cell,
    /// Shares of the bound.
    pub shares: Histogram,
    /// Cases that pass and whose bits are, where they were compared (T2), those of the declared arithmetic.
    pub by_bits: u64,
    /// Unsupported cases by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// Cases that were not run, by reason.
    pub not_run: BTreeMap<String, u64>,
}

/// One row of the scoreboard, or all rows of an operation taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct ContractRow {
    /// Name of the contract, or of the operation.
    pub name: String,
    /// Its operation.
    pub operation: String,
    /// Case lines planned, for each backend.
    pub planned: u64,
    /// One cell per backend, in the report's order.
    pub cells: Vec<Cell>,
}

/// Everything that writers show beside the findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// All records.
    pub total: Cell,
    /// Case lines in the contract table, for each backend.
    pub planned: u64,
    /// Per backend, in the report's order.
    pub backends: Vec<BackendSummary>,
    /// Contract x backend, in the report's order.
    pub contracts: Vec<ContractRow>,
    /// Source family x backend.
    pub families: BTreeMap<String, Vec<Cell>>,
}

/// Cases that were not run for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRun<'a> {
    /// How many, over the backends below.
    pub cases: u64,
    /// The reason.
    pub reason: &'a str,
    /// The backends that it kept from them.
    pub backends: Vec<&'a str>,
}

impl Summary {
    /// Contracts of which the plan has a case: those that a backend of the run takes.
    #[must_use]
    pub fn contracts_planned(&self) -> u64 {
        self.contracts.iter().filter(|contract| contract.planned > 0).count() as u64
    }

    /// Why cases were not run, the most frequent reason first.
    #[must_use]
    pub fn not_run(&self) -> Vec<NotRun<'_>> {
        let mut reasons: BTreeMap<&str, NotRun<'_>> = BTreeMap::new();
        for backend in &self.backends {
            for (reason, &cases) in &backend.not_run {
                let entry = reasons.entry(reason).or_insert_with(|| NotRun {
                    cases: 0,
                    reason,
                    backends: Vec::new(),
                });
                entry.cases += cases;
                entry.backends.push(&backend.name);
            }
        }
        let mut reasons: Vec<NotRun<'_>> = reasons.into_values().collect();
        reasons.sort_by_key(|entry| std::cmp::Reverse(entry.cases));
        reasons
    }

    /// The scoreboard with one row per operation, in the order of their first contracts.
    #[must_use]
    pub fn operations(&self) -> Vec<ContractRow> {
        let mut rows: Vec<ContractRow> = Vec::new();
        for contract in &self.contracts {
            let Some(row) = rows.iter_mut().find(|row| row.operation == contract.operation) else {
                rows.push(ContractRow { name: contract.operation.clone(), ..contract.clone() });
                continue;
            };
            row.planned += contract.planned;
            for (mine, theirs) in row.cells.iter_mut().zip(&contract.cells) {
                mine.merge(theirs);
            }
        }
        rows
    }
}

impl Report {
    /// Counts everything once. Records that name an unknown backend or contract count in the total only.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = self.empty_summary();
        let backends: HashMap<&str, usize> =
            self.backends.iter().enumerate().map(|(i, b)| (b.name.as_str(), i)).collect();
        let contracts: HashMap<&str, usize> =
            self.contracts.iter().enumerate().map(|(i, c)| (c.name.as_str(), i)).collect();
        for (index, record) in self.cases.iter().enumerate() {
            summary.total.add(index, record);
            let Some(&backend) = backends.get(record.backend.as_str()) else {
                continue;
            };
            summary.backends[backend].add(index, record);
            let none = || vec![Cell::default(); self.backends.len()];
            summary.families.entry(record.family.clone()).or_insert_with(none)[backend].add(index, record);
            if let Some(&row) = contracts.get(record.contract.as_str()) {
                summary.contracts[row].cells[backend].add(index, record);
            }
        }
        summary
    }

    fn empty_summary(&self) -> Summary {
        let row = |contract: &super::model::Contract| ContractRow {
            name: contract.name.clone(),
            operation: contract.operation().to_owned(),
            planned: contract.cases_planned,
            cells: vec![Cell::default(); self.backends.len()],
        };
        let backend = |backend: &super::model::Backend| BackendSummary {
            name: backend.name.clone(),
            ..BackendSummary::default()
        };
        Summary {
            total: Cell::default(),
            planned: self.contracts.iter().fold(0, |sum, c| sum.saturating_add(c.cases_planned)),
            backends: self.backends.iter().map(backend).collect(),
            contracts: self.contracts.iter().map(row).collect(),
            families: BTreeMap::new(),
        }
    }
}

impl BackendSummary {
    /// In how many cases bits were compared and right, in words; none where they were in no case.
    #[must_use]
    pub fn bits_held(&self) -> Option<String> {
        let cases = counted(self.by_bits, "case");
        (self.by_bits > 0).then(|| format!("in {cases} the very bits that it declares (T2)"))
    }

    fn add(&mut self, index: usize, record: &CaseRecord) {
        self.cell.add(index, record);
        if let Some(share) = record.share_of_bound() {
            self.shares.add(share);
        }
        let passes = matches!(record.kind(), VerdictKind::Exact | VerdictKind::Within);
        self.by_bits += u64::from(passes && record.tiers.contains(&Criterion::T2));
        match &record.verdict {
            VerdictRecord::Unsupported { reason } => {
                *self.unsupported.entry(reason.clone()).or_default() += 1;
            }
            VerdictRecord::NotRun { reason } => *self.not_run.entry(reason.clone()).or_default() += 1,
            VerdictRecord::Exact
            | VerdictRecord::Within { .. }
            | VerdictRecord::Wrong(_)
            | VerdictRecord::AgreedRefusal { .. }
            | VerdictRecord::LoneRefusal { .. }
            | VerdictRecord::LoneAcceptance { .. }
            | VerdictRecord::Crashed { .. }
            | VerdictRecord::TimedOut { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fall_into_the_bin_whose_upper_edge_includes_them() {
        let mut histogram = Histogram::default();
        for share in [0.0, 1e-30, 0.5, 0.500_001, 1.0, 1.000_001, f64::INFINITY] {
            histogram.add(share);
        }
        assert_eq!((histogram.bins[0], histogram.bins[18], histogram.bins[19]), (2, 1, 2));
        assert_eq!((histogram.zero, histogram.beyond, histogram.total()), (1, 2, 7));
    }

    #[test]
    fn kinds_index_their_counts() {
        for (place, kind) in VerdictKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
