//! Runs into one folder: a line each, and what is new and gone between two of one plan.

use crate::report_sample::sample;
use sparse_conformance::report::history::{FILE, Moved, runs};
use sparse_conformance::report::{Report, write_all};
use std::path::Path;

/// A run that started at this second, without the finding of this number.
fn run(second: u32, left_out: Option<usize>) -> Report {
    let mut report = sample(3);
    report.environment.started = format!("2026-11-28T10:00:{second:02}Z");
    if let Some(number) = left_out {
        let at = report.cases.iter().enumerate().filter(|(_, case)| case.is_finding()).nth(number);
        let at = at.expect("the sample has findings").0;
        report.cases.remove(at);
    }
    report
}

fn page(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("report.html")).expect("written")
}

fn moved(report: &Report, folder: &Path) -> Vec<Option<Moved>> {
    runs(report, folder).windows(2).map(|pair| pair[1].since(&pair[0])).collect()
}

#[test]
fn runs_into_a_folder_are_compared_with_the_one_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let write = |report: &Report| drop(write_all(report, folder).expect("written"));
    write(&run(1, None));
    assert!(!page(folder).contains("Earlier runs"), "there is none");
    write(&run(2, Some(0)));
    assert_eq!(moved(&run(2, Some(0)), folder), [Some(Moved { new: 0, gone: 1 })]);
    assert!(page(folder).contains("Earlier runs"));
    // Another finding is gone, the first one is back; written twice, it is one run.
    let third = run(3, Some(1));
    write(&third);
    write(&third);
    assert_eq!(
        moved(&third, folder),
        [Some(Moved { new: 0, gone: 1 }), Some(Moved { new: 1, gone: 1 })],
        "{}",
        page(folder)
    );
    let text = std::fs::read_to_string(folder.join(FILE)).expect("written");
    assert_eq!(text.lines().count(), 3);

    // Another plan is listed, and not compared.
    let mut other = run(4, None);
    other.plan.digest = "another".to_owned();
    write(&other);
    assert_eq!(moved(&other, folder).last(), Some(&None));
    // So is another part of a plan.
    let mut part = other.clone();
    part.environment.started = "2026-11-28T10:00:05Z".to_owned();
    part.plan.shard = "1/3".parse().ok();
    write(&part);
    assert_eq!(moved(&part, folder).last(), Some(&None));
    // So are other backends.
    write(&run(6, None));
    let mut fewer = run(7, None);
    fewer.backends.pop();
    assert_eq!(moved(&fewer, folder).last(), Some(&None));
}

#[test]
fn what_is_no_line_of_a_run_is_left_out_and_the_file_does_not_grow_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for second in 1..=2 {
        write_all(&run(second, None), folder).expect("written");
    }
    let path = folder.join(FILE);
    let lines = std::fs::read_to_string(&path).expect("written");
    std::fs::write(&path, format!("torn {{\n{lines}\u{0}\n")).expect("written");
    let starts =
        |report: &Report| runs(report, folder).iter().map(|run| run.started.clone()).collect::<Vec<_>>();
    let all = ["2026-11-28T10:00:01Z", "2026-11-28T10:00:02Z", "2026-11-28T10:00:03Z"];
    assert_eq!(starts(&run(3, None)), all);
    std::fs::write(&path, lines.repeat(300)).expect("written");
    let kept = starts(&run(3, None));
    assert_eq!((kept.len(), kept.last().map(String::as_str)), (200, Some(all[2])));
    // A byte that is no UTF-8 costs its line; and no file at all.
    std::fs::write(&path, [&[0xff, b'\n'][..], lines.as_bytes()].concat()).expect("written");
    assert_eq!(starts(&run(3, None)), all);
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("made");
    assert_eq!(starts(&run(3, None)), all[2..]);
}
