//! From records to stamps and lines, and back.

use super::{Passing, Stamp, StoredCase, StoredCases, StoredRecord};
use crate::report::model::CaseRecord;
use crate::report::verdict::VerdictRecord;
use std::collections::HashMap;

/// Bytes that reading may make of stamps and lines: a small file must not fill the memory.
const MOST_BYTES: usize = 4 << 30;

impl Passing {
    fn of(verdict: &VerdictRecord) -> Option<Passing> {
        match verdict {
            VerdictRecord::Exact => Some(Passing::Exact),
            VerdictRecord::Within { .. } => Some(Passing::Within),
            VerdictRecord::AgreedRefusal { refusal } => {
                Some(Passing::AgreedRefusal { refusal: refusal.clone() })
            }
            VerdictRecord::Unsupported { reason } => Some(Passing::Unsupported { reason: reason.clone() }),
            VerdictRecord::NotRun { reason } => Some(Passing::NotRun { reason: reason.clone() }),
            VerdictRecord::Wrong(_)
            | VerdictRecord::LoneRefusal { .. }
            | VerdictRecord::LoneAcceptance { .. }
            | VerdictRecord::Crashed { .. }
            | VerdictRecord::TimedOut { .. } => None,
        }
    }

    /// The verdict with its share; none where it lacks one or has one too many.
    fn verdict(&self, share: Option<f64>) -> Option<VerdictRecord> {
        match (self, share) {
            (Passing::Within, Some(share)) => Some(VerdictRecord::Within { share }),
            (Passing::Within, None) | (_, Some(_)) => None,
            (Passing::Exact, None) => Some(VerdictRecord::Exact),
            (Passing::AgreedRefusal { refusal }, None) => {
                Some(VerdictRecord::AgreedRefusal { refusal: refusal.clone() })
            }
            (Passing::Unsupported { reason }, None) => {
                Some(VerdictRecord::Unsupported { reason: reason.clone() })
            }
            (Passing::NotRun { reason }, None) => Some(VerdictRecord::NotRun { reason: reason.clone() }),
        }
    }
}

impl StoredCase {
    /// The line of records that are about one case, and who is asked about it.
    fn of(records: &[CaseRecord]) -> Option<StoredCase> {
        let first = records.first()?;
        let asked = records.iter().find(|r| Passing::of(&r.verdict).is_some() && r.verdict.kind().ran());
        let unless = |said: &str, meant: &str| (said != meant).then(|| said.to_owned());
        Some(StoredCase {
            contract: unless(&first.contract, contract_of(&first.case)),
            family: unless(&first.family, family_of(&first.case)),
            case: first.case.clone(),
            degenerate: asked.map(|r| r.degenerate.clone()).unwrap_or_default(),
            inputs: asked.and_then(|r| r.inputs.clone()),
            records: Vec::new(),
        })
    }

    /// The stamp of a record with which this line says all of it; none where it does not.
    fn stamp(&self, record: &CaseRecord) -> Option<Stamp> {
        let rare = record.selection.is_some()
            || record.waived.is_some()
            || record.asked_again
            || record.reproducer.is_some();
        let asked = record.verdict.kind().ran();
        let inputs = if asked { &self.inputs } else { &None };
        let degenerate: &[String] = if asked { &self.degenerate } else { &[] };
        let share = if let VerdictRecord::Within { share } = record.verdict { Some(share) } else { None };
        let verdict = Passing::of(&record.verdict)?;
        let said = record.share == share && record.inputs == *inputs && record.degenerate == degenerate;
        (said && !rare).then(|| Stamp {
            backend: record.backend.clone(),
            verdict,
            tiers: record.tiers.clone(),
            repeated: record.repeated,
        })
    }

    fn contract(&self) -> &str {
        self.contract.as_deref().unwrap_or_else(|| contract_of(&self.case))
    }

    fn family(&self) -> &str {
        self.family.as_deref().unwrap_or_else(|| family_of(&self.case))
    }

    /// Bytes of a record beside those of its stamp.
    fn bytes(&self) -> usize {
        let degenerate: usize = self.degenerate.iter().map(String::len).sum();
        self.case.len() * 2
            + self.inputs.as_ref().map_or(0, String::len)
            + degenerate
            + size_of::<CaseRecord>()
    }

    fn record(&self, stamp: &Stamp, share: Option<f64>, output: Option<String>) -> Option<CaseRecord> {
        let verdict = stamp.verdict.verdict(share)?;
        let asked = verdict.kind().ran();
        Some(CaseRecord {
            case: self.case.clone(),
            contract: self.contract().to_owned(),
            family: self.family().to_owned(),
            backend: stamp.backend.clone(),
            verdict,
            tiers: stamp.tiers.clone(),
            share,
            degenerate: if asked { self.degenerate.clone() } else { Vec::new() },
            inputs: if asked { self.inputs.clone() } else { None },
            output,
            selection: None,
            waived: None,
            asked_again: false,
            repeated: stamp.repeated,
            reproducer: None,
        })
    }
}

fn contract_of(case: &str) -> &str {
    case.split('/').next().unwrap_or_default()
}

fn family_of(case: &str) -> &str {
    let rest = case.split_once('/').map_or("", |(_, rest)| rest);
    rest.split([':', '/']).next().unwrap_or_default()
}

impl StoredCases {
    /// Records as they are stored, in their order.
    #[must_use]
    pub fn of(records: &[CaseRecord]) -> StoredCases {
        let mut places: HashMap<Stamp, usize> = HashMap::new();
        let mut stamps = Vec::new();
        let about_one = |a: &CaseRecord, b: &CaseRecord| {
            (&a.case, &a.contract, &a.family) == (&b.case, &b.contract, &b.family)
        };
        let mut line = |records: &[CaseRecord]| {
            let mut line = StoredCase::of(records)?;
            for record in records {
                let Some(stamp) = line.stamp(record) else {
                    line.records.push(StoredRecord::Whole(Box::new(record.clone())));
                    continue;
                };
                let place = *places.entry(stamp).or_insert_with_key(|stamp| {
                    stamps.push(stamp.clone());
                    stamps.len() - 1
                });
                let (share, output) = (record.share, record.output.clone());
                line.records.push(StoredRecord::Stamped { stamp: place, share, output });
            }
            Some(line)
        };
        let lines = records.chunk_by(about_one).filter_map(&mut line).collect();
        StoredCases { stamps, lines }
    }

    /// The records, in their order.
    ///
    /// # Errors
    /// Where numbers point nowhere, a record stands in the line of another case, or the texts are too many to be held.
    pub fn records(self) -> Result<Vec<CaseRecord>, String> {
        let mut bytes = 0usize;
        let mut records = Vec::new();
        for mut line in self.lines {
            for stored in std::mem::take(&mut line.records) {
                let record = match stored {
                    StoredRecord::Stamped { stamp, share, output } => {
                        let found = self.stamps.get(stamp).ok_or_else(|| {
                            format!("{} has the stamp {stamp} of {}", line.case, self.stamps.len())
                        })?;
                        bytes = bytes.saturating_add(line.bytes()).saturating_add(found.bytes());
                        if bytes > MOST_BYTES {
                            return Err(format!("its cases are more than {MOST_BYTES} bytes"));
                        }
                        line.record(found, share, output).ok_or_else(|| {
                            format!("{} has a share where its stamp {stamp} has none, or none", line.case)
                        })?
                    }
                    StoredRecord::Whole(record) => *record,
                };
                if (record.case.as_str(), record.contract.as_str(), record.family.as_str())
                    != (line.case.as_str(), line.contract(), line.family())
                {
                    return Err(format!("{} stands in the line of {}", record.case, line.case));
                }
                records.push(record);
            }
        }
        Ok(records)
    }
}

impl Stamp {
    fn bytes(&self) -> usize {
        let reason = match &self.verdict {
            Passing::Exact | Passing::Within => 0,
            Passing::AgreedRefusal { refusal: text }
            | Passing::Unsupported { reason: text }
            | Passing::NotRun { reason: text } => text.len(),
        };
        self.backend.len() + reason + self.tiers.len()
    }
}
