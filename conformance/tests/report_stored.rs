//! Records come back from columns as they were, and columns that do not fit together are refused.

use crate::report_expectations::expected::expected_sample;
use data_encoding::BASE64;
use flate2::{Compression, write::ZlibEncoder};
use serde_json::json;
use sparse_conformance::report::stored::StoredCases;
use sparse_conformance::report::{CaseRecord, Same, VerdictRecord};
use std::io::Write;

fn stored(records: &[CaseRecord]) -> StoredCases {
    StoredCases::of(records).expect("compressed")
}

#[test]
fn records_come_back_in_their_order() {
    let records = expected_sample(8).cases;
    assert_eq!(stored(&records).records().expect("reads"), records);
    assert_eq!(stored(&[]).records().expect("reads"), []);
}

/// Whatever a stamp cannot say makes a record one that is written whole.
#[test]
fn what_columns_cannot_say_is_written_whole() {
    let records = expected_sample(4).cases;
    let within = records.iter().position(|r| matches!(r.verdict, VerdictRecord::Within { .. })).expect("one");
    let exact = records.iter().position(|r| matches!(r.verdict, VerdictRecord::Exact)).expect("one");
    type Edit = fn(&mut CaseRecord);
    let edits: [(usize, Edit); 9] = [
        (exact, |r| r.asked_again = true),
        (exact, |r| r.selection = Some("--exec ./mine".to_owned())),
        (exact, |r| r.share = Some(0.5)),
        (exact, |r| r.output = Some("beef".to_owned())),
        (exact, |r| r.output = Some("0".repeat(32))),
        (exact, |r| r.output = Some("+".to_owned() + &"1".repeat(31))),
        (exact, |r| r.degenerate = vec!["only here".to_owned()]),
        (within, |r| r.share = None),
        (within, |r| r.share = Some(0.125)),
    ];
    let least = stored(&records).whole.len();
    for (number, (place, edit)) in edits.into_iter().enumerate() {
        // Alone in its line, a record has its line's alternatives.
        let mut edited = records.clone();
        edit(&mut edited[place]);
        let stored = stored(&edited);
        assert!(stored.whole.len() > least, "edit {number} is not written whole");
        assert_eq!(stored.records().expect("reads"), edited, "edit {number}");
    }
    // A name that is empty is not one that the line says.
    let mut nameless = records.clone();
    nameless[exact].contract.clear();
    nameless[within].family.clear();
    assert_eq!(stored(&nameless).records().expect("reads"), nameless);
    // What a stamp, or a line, can say is no reason.
    let mut edited = records.clone();
    edited[exact].repeated = Some(sparse_conformance::report::Repeated { runs: Same::Same, threads: None });
    edited[exact].tiers.clear();
    assert_eq!(stored(&edited).whole.len(), least);
    assert_eq!(stored(&edited).records().expect("reads"), edited);
}

#[test]
fn columns_that_do_not_fit_together_are_refused() {
    let records = expected_sample(4).cases;
    let shorter = |text: &mut String| {
        let bytes = BASE64.decode(text.as_bytes()).expect("base64");
        *text = BASE64.encode(&bytes[..bytes.len() - 16]);
    };
    type Damage<'a> = &'a dyn Fn(&mut StoredCases);
    let damages: [(&str, Damage<'_>); 11] = [
        ("a stamp that there is not", &|s| s.stamps.truncate(1)),
        ("have other lengths", &|s| shorter(&mut s.inputs)),
        ("16 bytes each", &|s| s.inputs = "AAAA".to_owned()),
        ("its hashes", &|s| s.outputs = "?".to_owned()),
        ("an output that there is not", &|s| shorter(&mut s.outputs)),
        ("belong to no case", &|s| s.outputs += &BASE64.encode(&[1; 16])),
        ("its packed columns", &|s| s.packed = "AAAA".to_owned()),
        ("its packed columns", &|s| s.packed.truncate(s.packed.len() / 8 * 4)),
        ("a record is missing", &|s| drop(s.whole.pop())),
        ("the whole record in its place is of", &|s| s.whole.reverse()),
        ("belong to no case", &|s| s.whole.push(s.whole[0].clone())),
    ];
    for (words, damage) in damages {
        let mut damaged = stored(&records);
        damage(&mut damaged);
        let refusal = damaged.records().expect_err(words);
        assert!(refusal.contains(words), "{words}: {refusal}");
    }
}

/// Columns of so many case lines, compressed.
fn packed(columns: &serde_json::Value) -> String {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(columns.to_string().as_bytes()).expect("memory");
    BASE64.encode(&packed.finish().expect("memory"))
}

/// A file of 80 KB unpacked to 4 GiB before anybody looked; another one of 20 MB made records of 50 GB, whose empty alternatives were
/// counted as no bytes.
#[test]
fn small_files_that_would_fill_the_memory_are_refused() {
    let mut bomb = stored(&[]);
    bomb.packed = packed(&json!({ "case": [" ".repeat(80 << 20)] }));
    assert!(bomb.packed.len() < 200_000, "{}", bomb.packed.len());
    let refusal = bomb.records().expect_err("a bomb");
    assert!(refusal.contains("the suite packs none so tightly"), "{refusal}");

    let mut records = expected_sample(4).cases;
    records.truncate(1);
    let mut wide = stored(&records);
    let (texts, backends) = (vec![""; 1 << 20], vec![0; 1 << 10]);
    wide.inputs = BASE64.encode(&[0; 16]);
    wide.outputs.clear();
    wide.packed = packed(&json!({
        "case": ["a/b"], "contract": [null], "family": [null], "degenerate": [texts], "stamps": [backends],
        "outputs": [vec![None::<u8>; 1 << 10]], "shares": vec![0.5; 1 << 10],
    }));
    let refusal = wide.records().expect_err("records of 24 GiB");
    assert!(refusal.contains("are more than 4294967296 bytes"), "{refusal}");
}

/// What compresses too well is written as it is: no report that the suite writes is refused by its reader.
#[test]
fn columns_that_would_look_like_a_bomb_are_not_compressed() {
    let mut record = expected_sample(4).cases.remove(0);
    record.case = "x".repeat(80 << 20);
    let stored = stored(std::slice::from_ref(&record));
    assert!(stored.packed.len() > 80 << 20, "{}", stored.packed.len());
    assert_eq!(stored.records().expect("reads"), [record]);
}
