//! From stamps and columns back to records.

use super::records::{HASH, Line, contract_of, family_of};
use super::{Columns, Passing, Stamp, StoredCases};
use crate::report::model::CaseRecord;
use data_encoding::BASE64;
use flate2::read::ZlibDecoder;
use std::io::Read;

/// Bytes that the records of stamps and columns may take: a small file must not fill the memory.
const MOST_BYTES: u64 = 4 << 30;
/// Bytes of columns that so many packed bytes may be: those of a quick tier are five for each, and zlib can make a thousand of one.
pub(super) fn most_unpacked(packed: usize) -> u64 {
    (16 << 20) + 100 * packed as u64
}

impl StoredCases {
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
                contract: contract.as_deref().unwrap_or_else(|| contract_of(case)),
                family: family.as_deref().unwrap_or_else(|| family_of(case)),
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
    bytes: u64,
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
        // Before the first of them is made.
        let each = line.bytes();
        let stamped = stamps.iter().flatten().filter_map(|&place| self.stamps.get(place));
        self.bytes += stamped.map(|stamp| (each + stamp.bytes()) as u64).sum::<u64>();
        if self.bytes > MOST_BYTES {
            return Err(format!("the records up to here are more than {MOST_BYTES} bytes"));
        }
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

    fn unpack(text: &str) -> Result<Columns, String> {
        let packed =
            BASE64.decode(text.as_bytes()).map_err(|error| format!("its packed columns: {error}"))?;
        let most = most_unpacked(packed.len());
        let mut columns = String::new();
        let mut unpacked = ZlibDecoder::new(packed.as_slice()).take(most + 1);
        unpacked.read_to_string(&mut columns).map_err(|error| format!("its packed columns: {error}"))?;
        if columns.len() as u64 > most {
            return Err(format!(
                "its {} bytes of packed columns unpack to more than {most}: the suite packs none so tightly",
                packed.len()
            ));
        }
        serde_json::from_str(&columns).map_err(|error| format!("its packed columns: {error}"))
    }
}

impl Line<'_> {
    /// Bytes of one of its records, beside those of its stamp.
    fn bytes(&self) -> usize {
        let degenerate: usize = self.degenerate.iter().map(|text| size_of::<String>() + text.len()).sum();
        self.case.len() + self.contract.len() + self.family.len() + degenerate + size_of::<CaseRecord>()
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

/// The hashes of a column; none for zeros.
fn hashes(text: &str) -> Result<Vec<Option<String>>, String> {
    let bytes = BASE64.decode(text.as_bytes()).map_err(|error| format!("its hashes: {error}"))?;
    let (hashes, []) = bytes.as_chunks::<HASH>() else {
        return Err(format!("its hashes do not have {HASH} bytes each"));
    };
    let hash = |bytes: &[u8; HASH]| Some(u128::from_be_bytes(*bytes)).filter(|&number| number > 0);
    Ok(hashes.iter().map(|bytes| hash(bytes).map(|number| format!("{number:032x}"))).collect())
}
