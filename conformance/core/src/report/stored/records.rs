//! From records to stamps and columns.

use super::reader::most_unpacked;
use super::{Columns, Passing, Stamp, StoredCases};
use crate::report::model::CaseRecord;
use crate::report::verdict::VerdictRecord;
use data_encoding::BASE64;
use flate2::{Compression, write::ZlibEncoder};
use std::collections::HashMap;
use std::io::Write;

/// Bytes of a content hash.
pub(super) const HASH: usize = 16;

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

/// What the records of one case line have in common.
pub(super) struct Line<'a> {
    pub(super) case: &'a str,
    pub(super) contract: &'a str,
    pub(super) family: &'a str,
    pub(super) degenerate: &'a [String],
    pub(super) inputs: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(records: &'a [CaseRecord]) -> Option<Line<'a>> {
        let first = records.first()?;
        let passing = || records.iter().filter(|r| Passing::of(&r.verdict).is_some());
        let asked = passing().find(|r| r.verdict.kind().ran());
        Some(Line {
            case: &first.case,
            contract: &first.contract,
            family: &first.family,
            degenerate: asked.or(passing().next()).map_or(&[], |r| r.degenerate.as_slice()),
            inputs: asked.and_then(|r| r.inputs.as_deref()).filter(|text| hash(text).is_some()),
        })
    }

    /// The stamp of a record of which this line, a share and an output say all else; none where they do not.
    fn stamp(&self, record: &CaseRecord) -> Option<Stamp> {
        let share = if let VerdictRecord::Within { share } = record.verdict { Some(share) } else { None };
        let stamp = Stamp {
            backend: record.backend.clone(),
            verdict: Passing::of(&record.verdict)?,
            tiers: record.tiers.clone(),
            repeated: record.repeated,
        };
        let is_number = share.is_none_or(f64::is_finite);
        let is_hash = record.output.as_deref().is_none_or(|text| hash(text).is_some());
        let said = is_number && is_hash && self.record(&stamp, share, record.output.clone())? == *record;
        said.then_some(stamp)
    }

    /// The record; none where its stamp wants a share, or wants none.
    pub(super) fn record(
        &self,
        stamp: &Stamp,
        share: Option<f64>,
        output: Option<String>,
    ) -> Option<CaseRecord> {
        let verdict = stamp.verdict.verdict(share)?;
        let asked = verdict.kind().ran();
        Some(CaseRecord {
            case: self.case.to_owned(),
            contract: self.contract.to_owned(),
            family: self.family.to_owned(),
            backend: stamp.backend.clone(),
            verdict,
            tiers: stamp.tiers.clone(),
            share,
            degenerate: self.degenerate.to_vec(),
            inputs: self.inputs.filter(|_| asked).map(str::to_owned),
            output,
            selection: None,
            waived: None,
            asked_again: false,
            repeated: stamp.repeated,
            reproducer: None,
        })
    }
}

/// The bytes of a content hash; none of a text that is not written as one.
fn hash(text: &str) -> Option<[u8; HASH]> {
    let number = u128::from_str_radix(text, 16).ok()?;
    (number > 0 && format!("{number:032x}") == text).then(|| number.to_be_bytes())
}

pub(super) fn contract_of(case: &str) -> &str {
    case.split('/').next().unwrap_or_default()
}

pub(super) fn family_of(case: &str) -> &str {
    let rest = case.split_once('/').map_or("", |(_, rest)| rest);
    rest.split([':', '/']).next().unwrap_or_default()
}

/// Records in the making of columns.
#[derive(Default)]
struct ColumnWriter {
    stamps: Vec<Stamp>,
    places: HashMap<Stamp, usize>,
    columns: Columns,
    inputs: Vec<u8>,
    outputs: Vec<u8>,
    whole: Vec<CaseRecord>,
}

impl ColumnWriter {
    fn of(records: &[CaseRecord]) -> ColumnWriter {
        let about_one = |a: &CaseRecord, b: &CaseRecord| {
            (&a.case, &a.contract, &a.family) == (&b.case, &b.contract, &b.family)
        };
        let mut writer = ColumnWriter::default();
        for records in records.chunk_by(about_one) {
            if let Some(line) = Line::of(records) {
                writer.add(&line, records);
            }
        }
        writer
    }

    /// Adds the records of one case line.
    fn add(&mut self, line: &Line<'_>, records: &[CaseRecord]) {
        let (mut stamps, mut outputs, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for record in records {
            let Some(stamp) = line.stamp(record) else {
                stamps.push(None);
                self.whole.push(record.clone());
                continue;
            };
            let place = *self.places.entry(stamp).or_insert_with_key(|stamp| {
                self.stamps.push(stamp.clone());
                self.stamps.len() - 1
            });
            stamps.push(Some(place));
            self.columns.shares.extend(record.share);
            outputs.push(record.output.as_deref().and_then(hash).map(|hash| {
                seen.iter().position(|known| *known == hash).unwrap_or_else(|| {
                    seen.push(hash);
                    seen.len() - 1
                })
            }));
        }
        let unless = |said: &str, meant: &str| (said != meant).then(|| said.to_owned());
        self.columns.case.push(line.case.to_owned());
        self.columns.contract.push(unless(line.contract, contract_of(line.case)));
        self.columns.family.push(unless(line.family, family_of(line.case)));
        self.columns.degenerate.push(line.degenerate.to_vec());
        self.columns.stamps.push(stamps);
        self.columns.outputs.push(outputs);
        self.inputs.extend(line.inputs.and_then(hash).unwrap_or_default());
        self.outputs.extend(seen.concat());
    }
}

impl StoredCases {
    /// Records as they are stored, in their order.
    ///
    /// # Errors
    /// Those of the compression.
    pub fn of(records: &[CaseRecord]) -> Result<StoredCases, serde_json::Error> {
        let writer = ColumnWriter::of(records);
        Ok(StoredCases {
            stamps: writer.stamps,
            inputs: BASE64.encode(&writer.inputs),
            outputs: BASE64.encode(&writer.outputs),
            packed: writer.columns.pack()?,
            whole: writer.whole,
        })
    }

    /// The stamps that these records have, and of each record whether it is stored whole: what can be told without compressing.
    pub(in crate::report) fn outline(records: &[CaseRecord]) -> (Vec<Stamp>, Vec<bool>) {
        let ColumnWriter { stamps, columns, .. } = ColumnWriter::of(records);
        (stamps, columns.stamps.into_iter().flatten().map(|stamp| stamp.is_none()).collect())
    }
}

impl Columns {
    /// Compressed, unless the reader would take that for an attack.
    fn pack(&self) -> Result<String, serde_json::Error> {
        let columns = serde_json::to_vec(self)?;
        let pack = |level| {
            let mut packed = ZlibEncoder::new(Vec::new(), level);
            packed.write_all(&columns).and_then(|()| packed.finish()).map_err(serde_json::Error::io)
        };
        let mut packed = pack(Compression::best())?;
        if columns.len() as u64 > most_unpacked(packed.len()) {
            packed = pack(Compression::none())?;
        }
        Ok(BASE64.encode(&packed))
    }
}
