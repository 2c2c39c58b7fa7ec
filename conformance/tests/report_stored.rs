//! Records come back from columns as they were, and columns that do not fit together are refused.

use crate::report_expectations::expected::expected_sample;
use data_encoding::BASE64;
use sparse_conformance::report::stored::StoredCases;
use sparse_conformance::report::{CaseRecord, Same, VerdictRecord};

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
