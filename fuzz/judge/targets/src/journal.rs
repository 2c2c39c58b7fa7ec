//! The journal of an interrupted run, as resuming reads it.

use super::draft::drafted_or;
use super::json_edit::edited;
use super::{FuzzOutcome, Input, report, sample};
use serde_json::{Value, json};
use sparse_conformance::journal::{Done, FILE, Header, Journal, SCHEMA_NAME};
use sparse_conformance::report::CaseRecord;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Most lines of a draft.
const LINES: usize = 6;

/// The run that goes on.
fn header() -> Header {
    let (plan, backends) = sample::plan();
    Header {
        journal: SCHEMA_NAME.to_owned(),
        suite_version: "0.1.0".to_owned(),
        plan,
        repeats: "2 times, one case in 8".to_owned(),
        backends,
        content: [("this program".to_owned(), "hash 00".to_owned())].into(),
    }
}

/// Lines that a run writes, the header's first.
fn lines() -> Vec<Value> {
    let mut lines = vec![serde_json::to_value(header()).expect("a header is JSON")];
    lines.push(json!({"source": {"made": sample::source(), "content": null}}));
    lines.extend((0..10).map(|number| json!({"records": sample::records(number)})));
    lines.push(json!({"records": sample::records(3)[1..]}));
    let mut file = sample::source();
    file.spec = "no-such-file.mtx".to_owned();
    lines.push(json!({"source": {"made": file, "content": "hash 00"}}));
    lines
}

/// A journal's bytes: our header mostly, then edited lines, and sometimes a torn one.
fn drafted(input: &mut Input<'_>) -> Vec<u8> {
    let (all, words) = (lines(), report::words());
    let first = all.first().cloned().unwrap_or_default();
    let first = if input.one_in(8) { edited(input, first, &words) } else { first };
    let mut text = first.to_string() + "\n";
    for _ in 0..input.below(LINES + 1) {
        let line = all[input.below(all.len())].clone();
        let line = if input.one_in(2) { edited(input, line, &words) } else { line };
        text = text + &line.to_string() + "\n";
    }
    let mut bytes = text.into_bytes();
    if input.one_in(3) {
        let torn = input.word(2) as usize % 400;
        bytes.truncate(bytes.len().saturating_sub(torn));
    }
    if input.one_in(16) {
        bytes.push(input.byte());
    }
    bytes
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let whole: Vec<String> = lines().iter().take(6).map(|line| line.to_string() + "\n").collect();
    let mut seeds = vec![whole[0].clone().into_bytes(), whole.concat().into_bytes()];
    seeds.push(whole.concat().into_bytes()[..whole.concat().len() - 9].to_vec());
    seeds.extend(super::draft::seeds(&[], 60));
    // A header and each line once, unedited.
    seeds.extend((0..lines().len()).map(|at| vec![0, 0, 1, at as u8]));
    seeds
}

pub(super) fn words() -> Vec<String> {
    let mut words = report::words();
    words
        .extend(["{\"records\":[", "{\"source\":{\"made\":", "\"content\":", SCHEMA_NAME].map(str::to_owned));
    words
}

/// A folder in memory, where the system has such.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder can be made")
}

/// Any bytes are the journal of this run, or a typed error that leaves the file as it was. Resumed, the file is the whole lines of
/// what it was, holds the same again, and takes further lines.
///
/// # Panics
/// When one of this is not so.
pub fn journal(bytes: &[u8]) -> FuzzOutcome {
    let bytes = drafted_or(bytes, drafted);
    let bytes = bytes.as_ref();
    let (folder, header) = (folder(), header());
    let file = folder.path().join(FILE);
    fs::write(&file, bytes).expect("the journal can be written");
    let now = || fs::read(&file).expect("the journal is there");
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    match Journal::resume(folder.path(), &header) {
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("the journal"), "{text}");
            assert!(now() == bytes, "refused and changed: {text}");
            FuzzOutcome::Refused
        }
        Ok(None) => {
            assert_eq!(whole, 0, "a header is there");
            assert!(now() == bytes, "no journal, and changed");
            FuzzOutcome::Refused
        }
        Ok(Some((resumed, done))) => {
            assert!(now() == bytes[..whole], "not the whole lines");
            in_order(&done);
            goes_on(folder.path(), &header, resumed, done);
            FuzzOutcome::Accepted
        }
    }
}

/// Records of a case are of that case, on backends of the run, each once.
fn in_order(done: &Done) {
    for (case, records) in &done.records {
        let mut names: Vec<&str> = records.iter().map(|record| record.backend.as_str()).collect();
        assert!(!records.is_empty() && records.iter().all(|record| record.case == *case), "{case}");
        names.dedup();
        assert_eq!(names.len(), records.len(), "{case}");
        assert!(names.iter().all(|name| sample::BACKENDS.contains(name)), "{case}: {names:?}");
    }
}

fn goes_on(folder: &Path, header: &Header, resumed: Journal, done: Done) {
    let further: Vec<CaseRecord> = sample::records(7);
    let case = further.first().map(|record| record.case.clone()).unwrap_or_default();
    resumed.judged(&further);
    drop(resumed);
    let again = Journal::resume(folder, header).expect("what went on can be resumed");
    let (_, again) = again.expect("its header is there");
    assert!(done.sources == again.sources, "other matrices");
    let others = |mut records: HashMap<String, Vec<CaseRecord>>| {
        let noted = records.remove(&case);
        (noted, records)
    };
    let ((_, before), (noted, after)) = (others(done.records), others(again.records));
    assert!(noted == Some(further), "the line that was added");
    assert!(before == after, "other records");
}
