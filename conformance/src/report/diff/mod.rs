//! Two reports compared: what fails now and did not, what passes now, what else changed.
//!
//! ```text
//! (case, backend) in both   verdict, waiver, share of the bound, bits of inputs and output
//!                in one     only in the old, only in the new
//! findings that are about no case    by their words
//! ```
//! What fails now and did not fail before, or was not there, is a new finding; only that makes the comparison fail.

mod lists;
mod page;
mod text;

pub use page::to_html;
pub use text::to_text;

use crate::report::model::{self, CaseRecord, Report};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Value of [`Diff::schema`].
pub const SCHEMA_NAME: &str = "sparse-conformance-diff-1";
/// Shares below this one are all alike: the bound has a thousand times their room.
pub const SHARE_FLOOR: f64 = 1e-3;

/// What changed from an old report to a new one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Diff {
    /// Always [`SCHEMA_NAME`].
    pub schema: String,
    /// Differences in suite, plan and versions of backends. Where there are any, new and fixed findings may come from them and not
    /// from the kernels.
    pub setting: Vec<Setting>,
    /// Findings that the old report does not have.
    pub new_findings: Vec<NewFinding>,
    /// Findings, or waived ones, of the old report that pass now.
    pub fixed: Vec<Change>,
    /// Other changes of verdict.
    pub changed: Vec<Change>,
    /// Shares of a bound that grew or shrank by more than the factor.
    pub shares: Vec<ShareChange>,
    /// Cases whose verdict is the same but whose output has other bits, from the same inputs.
    pub other_bits: Vec<Place>,
    /// Cases whose line is the same but whose operands are not: the suite makes them differently.
    pub other_inputs: Vec<Place>,
    /// Cases that are in both reports, on the same backend.
    pub compared: u64,
    /// Cases of the old report only.
    pub only_old: Vec<Place>,
    /// Cases of the new report only.
    pub only_new: Vec<Place>,
    /// Cases run per backend and contract, where the numbers differ.
    pub coverage: Vec<Coverage>,
}

/// A fact of the run that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Setting {
    pub what: String,
    pub old: String,
    pub new: String,
}

/// A case on a backend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Place {
    pub backend: String,
    pub case: String,
}

/// A finding of the new report only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewFinding {
    /// Machine name of what was broken.
    pub rule: String,
    /// The backend.
    pub backend: String,
    /// What happened.
    pub message: String,
    /// The case, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The verdict of the old report, if it had the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The command that runs it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// Another verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Change {
    #[serde(flatten)]
    pub place: Place,
    pub old: String,
    pub new: String,
}

/// Another share of the bound.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ShareChange {
    #[serde(flatten)]
    pub place: Place,
    pub old: f64,
    pub new: f64,
}

/// Cases run of one contract on one backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Coverage {
    pub backend: String,
    pub contract: String,
    pub old: u64,
    pub new: u64,
}

type Key<'a> = (&'a str, &'a str);

fn key(record: &CaseRecord) -> Key<'_> {
    (&record.case, &record.backend)
}

fn place(record: &CaseRecord) -> Place {
    Place { backend: record.backend.clone(), case: record.case.clone() }
}

/// Compares two reports. Shares that change by more than `factor`, up or down, are listed.
#[must_use]
pub fn diff(old: &Report, new: &Report, factor: f64) -> Diff {
    let before: HashMap<Key<'_>, &CaseRecord> = old.cases.iter().map(|c| (key(c), c)).collect();
    let after: BTreeSet<Key<'_>> = new.cases.iter().map(key).collect();
    let mut diff = Diff {
        schema: SCHEMA_NAME.to_owned(),
        setting: setting(old, new),
        new_findings: new_findings(old, new, &before),
        fixed: Vec::new(),
        changed: Vec::new(),
        shares: Vec::new(),
        other_bits: Vec::new(),
        other_inputs: Vec::new(),
        compared: 0,
        only_old: old.cases.iter().filter(|c| !after.contains(&key(c))).map(place).collect(),
        only_new: Vec::new(),
        coverage: coverage(old, new),
    };
    for record in &new.cases {
        match before.get(&key(record)) {
            Some(earlier) => {
                diff.compared += 1;
                diff.compare(earlier, record, factor);
            }
            None => diff.only_new.push(place(record)),
        }
    }
    diff
}

impl Diff {
    fn compare(&mut self, old: &CaseRecord, new: &CaseRecord, factor: f64) {
        let change = || Change {
            place: place(new),
            old: old.kind().label().to_owned(),
            new: new.kind().label().to_owned(),
        };
        let differ = |old: &Option<String>, new: &Option<String>| {
            old.as_ref().zip(new.as_ref()).is_some_and(|(old, new)| old != new)
        };
        let failed = old.verdict.is_finding();
        let passes = new.verdict.kind().ran() && !new.verdict.is_finding();
        if failed && passes {
            self.fixed.push(change());
        } else if old.rule() != new.rule() || old.kind() != new.kind() {
            // One that became a finding stands among the findings.
            if !new.is_finding() || old.is_finding() {
                self.changed.push(Change {
                    old: old.rule() + waived(old),
                    new: new.rule() + waived(new),
                    ..change()
                });
            }
        } else if let (Some(old), Some(new_share)) = (old.share_of_bound(), new.share_of_bound()) {
            let (low, high) = (old.min(new_share).max(SHARE_FLOOR), old.max(new_share));
            if high > low * factor {
                self.shares.push(ShareChange { place: place(new), old, new: new_share });
            }
        }
        if differ(&old.inputs, &new.inputs) {
            self.other_inputs.push(place(new));
        } else if old.kind() == new.kind() && differ(&old.output, &new.output) {
            self.other_bits.push(place(new));
        }
    }

    /// 1 with new findings, else 0; 2 where there is nothing to compare.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match (self.new_findings.len(), self.compared) {
            (1.., _) => 1,
            (0, 0) => 2,
            (0, 1..) => 0,
        }
    }
}

fn waived(record: &CaseRecord) -> &'static str {
    if record.waived.is_some() { " (waived)" } else { "" }
}

fn setting(old: &Report, new: &Report) -> Vec<Setting> {
    let facts = |r: &Report| {
        let mut facts: BTreeMap<String, String> = [
            ("suite", r.suite_version.clone()),
            ("tier", r.plan.tier.clone()),
            ("seed", r.plan.seed.to_string()),
            ("shard", r.plan.shard.map(|s| s.to_string()).unwrap_or_default()),
            ("operations", r.plan.operations.join(" ")),
            ("element types", r.plan.precisions.join(" ")),
            ("matrices", r.plan.matrices.join(" ")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        // No version is not no backend.
        let version =
            |b: &model::Backend| if b.version.is_empty() { "no version" } else { &b.version }.to_owned();
        facts.extend(r.backends.iter().map(|b| (format!("{BACKEND}{}", b.name), version(b))));
        facts
    };
    let (old, new) = (facts(old), facts(new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |of: &BTreeMap<String, String>, name: &str| of.get(name).cloned().unwrap_or_default();
    names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| Setting { what: name.clone(), old: value(&old, name), new: value(&new, name) })
        .collect()
}

fn new_findings(old: &Report, new: &Report, before: &HashMap<Key<'_>, &CaseRecord>) -> Vec<NewFinding> {
    let known = old.find();
    let rules: BTreeSet<(String, &str, String)> = known
        .iter()
        .map(|finding| old.describe(finding))
        .filter(|d| d.record.is_none() || d.rule == "unexpected-pass")
        .map(|d| (d.rule, d.backend, d.details.into_iter().map(|(_, text)| text).collect()))
        .collect();
    let found = new.find();
    let mut list = Vec::new();
    for described in found.iter().map(|finding| new.describe(finding)) {
        let of_case = described.record.filter(|record| record.is_finding());
        let earlier = described.record.and_then(|record| before.get(&key(record)));
        let old_news = match of_case {
            Some(_) => earlier.is_some_and(|earlier| earlier.is_finding()),
            None => {
                let words = described.details.iter().map(|(_, text)| text.as_str()).collect();
                rules.contains(&(described.rule.clone(), described.backend, words))
            }
        };
        if !old_news {
            list.push(NewFinding {
                rule: described.rule,
                backend: described.backend.to_owned(),
                message: described.message,
                case: described.record.map(|record| record.case.clone()),
                before: earlier.map(|earlier| earlier.rule() + waived(earlier)),
                replay: described.replay,
            });
        }
    }
    list
}

fn coverage(old: &Report, new: &Report) -> Vec<Coverage> {
    let mut ran: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for (place, report) in [old, new].into_iter().enumerate() {
        for record in report.cases.iter().filter(|c| c.verdict.kind().ran()) {
            ran.entry((&record.backend, &record.contract)).or_default()[place] += 1;
        }
    }
    ran.into_iter()
        .filter(|(_, [old, new])| old != new)
        .map(|((backend, contract), [old, new])| Coverage {
            backend: backend.to_owned(),
            contract: contract.to_owned(),
            old,
            new,
        })
        .collect()
}

/// What the name of a backend's setting begins with.
const BACKEND: &str = "backend ";
