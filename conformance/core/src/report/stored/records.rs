//! From records to stamps and columns, and back.

use super::{Columns, Passing, Stamp, StoredCases};
use crate::report::model::CaseRecord;
use crate::report::verdict::VerdictRecord;
use data_encoding::BASE64;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use std::collections::HashMap;
use std::io::{Read, Write};

/// Bytes that reading may unpack, and make of stamps and columns: a small file must not fill the memory.
const MOST_BYTES: usize = 4 << 30;
/// Bytes of a content hash.
const HASH: usize = 16;

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
struct Line<'a> {
    case: &'a str,
    contract: &'a str,
    family: &'a str,
    degenerate: &'a [String],
    inputs: Option<&'a str>,
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
    fn record(&self, stamp: &Stamp, share: Option<f64>, output: Option<String>) -> Option<CaseRecord> {
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

    /// Bytes of one of its records, beside those of its stamp.
    fn bytes(&self) -> usize {
        let degenerate: usize = self.degenerate.iter().map(String::len).sum();
        self.case.len() + self.contract.len() + self.family.len() + degenerate + size_of::<CaseRecord>()
    }
}

/// The bytes of a content hash; none of a text that is not written as one.
fn hash(text: &str) -> Option<[u8; HASH]> {
    let number = u128::from_str_radix(text, 16).ok()?;
    (number > 0 && format!("{number:032x}") == text).then(|| number.to_be_bytes())
}

/// The hashes of a column; none for zeros.
fn hashes(text: &str) -> Result<Vec<Option<String>>, String> {
    let bytes = BASE64.decode(text.as_bytes()).map_err(|error| format!("its hashes: {error}"))?;
    let (hashes, []) = bytes.as_chunks::<HASH>() else {
        return Err(format!("its hashes do not have {HASH} bytes each"));
    };
    let hash = |bytes: &[u8; HASH]| Some(u128::from_be_bytes(*bytes)).filter(|&number| number > 0);
    Ok(hashes.iter().map(|bytes| hash(bytes).map(|number| format!("{number:032x}"))).collect())
}

fn contract_of(case: &str) -> &str {
    case.split('/').next().unwrap_or_default()
}

fn family_of(case: &str) -> &str {
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
        let unless = |said: &str, meant: &str| if said == meant { String::new() } else { said.to_owned() };
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

    /// The records, in their order.
    ///
    /// # Errors
    /// Where the columns do not unpack or do not fit together, or make more records than can be held.
    pub fn records(self) -> Result<Vec<CaseRecord>, String> {
        let columns = Columns::unpack(&self.packed)?;
        let inputs = hashes(&self.inputs)?;
        columns.check_lengths(inputs.len())?;
        let mut reader = ColumnReader {
            stamps: &self.stamps,
            whole: self.whole.into_iter(),
            shares: columns.shares.iter(),
            hashes: hashes(&self.outputs)?.into_iter(),
            bytes: 0,
            records: Vec::new(),
        };
        for (place, case) in columns.case.iter().enumerate() {
            let (contract, family) = (&columns.contract[place], &columns.family[place]);
            let line = Line {
                case,
                contract: if contract.is_empty() { contract_of(case) } else { contract },
                family: if family.is_empty() { family_of(case) } else { family },
                degenerate: &columns.degenerate[place],
                inputs: inputs[place].as_deref(),
            };
            let read = reader.read(&line, &columns.stamps[place], &columns.outputs[place]);
            read.map_err(|what| format!("{case}: {what}"))?;
        }
        let left = (reader.whole.next().is_some(), reader.shares.next(), reader.hashes.next());
        match left {
            (false, None, None) => Ok(reader.records),
            _ => Err("it has whole records, shares or outputs that belong to no case".to_owned()),
        }
    }
}

/// Columns in the making of records.
struct ColumnReader<'a, W, S, H> {
    stamps: &'a [Stamp],
    whole: W,
    shares: S,
    hashes: H,
    bytes: usize,
    records: Vec<CaseRecord>,
}

impl<'a, W, S, H> ColumnReader<'a, W, S, H>
where
    W: Iterator<Item = CaseRecord>,
    S: Iterator<Item = &'a f64>,
    H: Iterator<Item = Option<String>>,
{
    /// Reads the records of one case line.
    fn read(
        &mut self,
        line: &Line<'_>,
        stamps: &[Option<usize>],
        outputs: &[Option<usize>],
    ) -> Result<(), String> {
        let (mut outputs, mut seen) = (outputs.iter(), Vec::new());
        for stamp in stamps {
            let Some(place) = *stamp else {
                let record = self.whole.next().ok_or("a record is missing that is to be whole")?;
                if (&*record.case, &*record.contract, &*record.family)
                    != (line.case, line.contract, line.family)
                {
                    return Err(format!("the whole record in its place is of {}", record.case));
                }
                self.records.push(record);
                continue;
            };
            let stamp = self.stamps.get(place).ok_or("it has a stamp that there is not")?;
            self.bytes = self.bytes.saturating_add(line.bytes()).saturating_add(stamp.bytes());
            if self.bytes > MOST_BYTES {
                return Err(format!("the records up to here are more than {MOST_BYTES} bytes"));
            }
            let share = if stamp.verdict == Passing::Within { self.shares.next().copied() } else { None };
            let output = *outputs.next().ok_or("it has fewer outputs than stamps")?;
            if output == Some(seen.len()) {
                seen.push(self.hashes.next().flatten().ok_or("it has an output that there is not")?);
            }
            let output =
                output.map(|number| seen.get(number).cloned().ok_or("it has an output that there is not"));
            let record = line.record(stamp, share, output.transpose()?);
            self.records.push(record.ok_or("its share is missing")?);
        }
        outputs.next().map_or(Ok(()), |_| Err("it has more outputs than stamps".to_owned()))
    }
}

impl Columns {
    fn check_lengths(&self, inputs: usize) -> Result<(), String> {
        let lengths = [
            self.contract.len(),
            self.family.len(),
            self.degenerate.len(),
            self.stamps.len(),
            self.outputs.len(),
            inputs,
        ];
        match lengths.iter().all(|&length| length == self.case.len()) {
            true => Ok(()),
            false => Err(format!("its columns of {} cases have other lengths: {lengths:?}", self.case.len())),
        }
    }

    fn pack(&self) -> Result<String, serde_json::Error> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&serde_json::to_vec(self)?).map_err(serde_json::Error::io)?;
        Ok(BASE64.encode(&packed.finish().map_err(serde_json::Error::io)?))
    }

    fn unpack(text: &str) -> Result<Columns, String> {
        let packed =
            BASE64.decode(text.as_bytes()).map_err(|error| format!("its packed columns: {error}"))?;
        let mut columns = String::new();
        let mut unpacked = ZlibDecoder::new(packed.as_slice()).take(MOST_BYTES as u64);
        unpacked.read_to_string(&mut columns).map_err(|error| format!("its packed columns: {error}"))?;
        serde_json::from_str(&columns).map_err(|error| format!("its packed columns: {error}"))
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
