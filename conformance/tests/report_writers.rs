//! Every file of a report says what the model says, survives hostile text, and keeps its size.

use crate::report_sample;

use quick_junit::{NonSuccessKind, TestCaseStatus};
use report_sample::sample;
use sparse_conformance::report::{
    Backend, CaseRecord, Colour, Defect, Environment, Plan, Report, Reproducer, VerdictKind, VerdictRecord,
    html, json, junit, markdown, show, text, to_text, write_all,
};
use sparse_conformance::shrink::Reason;
use sparse_oracle::contract::Op;
use std::collections::BTreeSet;
use std::path::Path;

/// How a report of the first schema began.
const OLD: &str =
    r#"{"schema":"sparse-conformance-report-1","suite_version":"0.1.0","cases":[{"case":"a/b"}]}"#;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[test]
fn all_files_are_written_and_json_reads_back() {
    let directory = tempfile::tempdir().unwrap();
    let report = sample(3);
    let paths = write_all(&report, &directory.path().join("new/deep")).unwrap();
    let names: Vec<_> = paths.iter().map(|p| p.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "report.json",
            "report.junit.xml",
            "report.md",
            "report.html",
            "report.sarif",
            "badge.svg",
            "badge.json",
            "history.jsonl"
        ]
    );
    for path in &paths {
        let is_short = ["badge", "history"].iter().any(|name| path.to_str().unwrap().contains(name));
        let least = if is_short { 100 } else { 1000 };
        assert!(std::fs::metadata(path).unwrap().len() > least, "{}", path.display());
    }

    let again = Report::read(&paths[0]).unwrap();
    assert_eq!(again, report);
    assert_eq!(json::to_json(&again).unwrap(), std::fs::read_to_string(&paths[0]).unwrap());
}

#[test]
fn only_environment_and_timings_depend_on_the_run() {
    let first = sample(2);
    let mut second = first.clone();
    second.cases.reverse();
    second.findings.clear();
    second.seal();
    second.environment = Environment::detect(99, vec!["other".to_owned()]);
    second.timings.total_seconds += 1.0;
    let (first, second) = (json::to_json(&first).unwrap(), json::to_json(&second).unwrap());
    let differing: Vec<&str> = first
        .lines()
        .zip(second.lines())
        .filter(|(a, b)| a != b)
        .map(|(a, _)| a.split(':').next().unwrap())
        .collect();
    assert_eq!(first.lines().count(), second.lines().count());
    assert_eq!(differing, ["\"environment\"", "\"timings\""]);
}

#[test]
fn files_that_are_no_report_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let good = json::to_json(&sample(1)).unwrap();
    let read = |text: &str| {
        let path = directory.path().join("report.json");
        std::fs::write(&path, text).unwrap();
        Report::read(&path).unwrap_err().to_string()
    };
    let cases = [
        ("".to_owned(), "EOF"),
        (good[..good.len() / 2].to_owned(), "line"),
        (good.replace("report-2", "report-3"), "schema is \"sparse-conformance-report-3\"; a newer version"),
        (OLD.to_owned(), "schema is \"sparse-conformance-report-1\"; an older version of the suite wrote it"),
        (good.replace("\"plan\":", "\"plans\":"), "unknown field `plans`"),
        (good.replace("\"width\":32", "\"width\":31"), "31 x 32 but has 1024 cells"),
        (good.replace("\"kind\":\"case\",\"index\":3}", "\"kind\":\"case\",\"index\":4}"), "findings"),
        (good.replacen("\"cells\":\"", "\"cells\":\"0", 1), "odd number"),
        (good.replacen("\"cells\":\"", "\"cells\":\"zz", 1), "no hex digit"),
    ];
    for (text, part) in cases {
        assert!(text != good, "the damage for {part:?} did not apply");
        let message = read(&text);
        assert!(message.contains(part) && message.contains("report.json"), "{message}");
    }
    let missing = Report::read(&directory.path().join("none.json")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read") && missing.contains("none.json"), "{missing}");
    let folder = Report::read(directory.path()).unwrap_err().to_string();
    assert!(folder.starts_with("cannot read"), "{folder}");
}

#[test]
fn writing_names_what_stands_in_the_way() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("taken");
    std::fs::write(&file, "x").unwrap();
    let message = write_all(&sample(1), &file).unwrap_err().to_string();
    assert!(
        message.starts_with("cannot create the report directory") && message.contains("taken"),
        "{message}"
    );

    std::fs::create_dir(directory.path().join("report.md")).unwrap();
    let message = write_all(&sample(1), directory.path()).unwrap_err().to_string();
    assert!(message.starts_with("cannot write") && message.contains("report.md"), "{message}");

    let mut report = sample(1);
    report.cases[0].verdict = VerdictRecord::Within { share: f64::NAN };
    let message = write_all(&report, &directory.path().join("nan")).unwrap_err().to_string();
    assert!(message.contains("report.json") && message.contains("NaN"), "{message}");
}

#[test]
fn exit_code_follows_the_verdicts() {
    let record = |verdict| CaseRecord {
        case: "c".to_owned(),
        contract: "c".to_owned(),
        family: "f".to_owned(),
        backend: "b".to_owned(),
        verdict,
        tiers: Vec::new(),
        share: None,
        degenerate: Vec::new(),
        inputs: None,
        output: None,
        selection: None,
        waived: None,
        repeated: None,
        asked_again: false,
        reproducer: None,
    };
    let backend = |required| Backend { name: "b".to_owned(), required, ..Backend::default() };
    let mut seen = BTreeSet::new();
    for verdict in sample(8).cases.into_iter().map(|c| c.verdict) {
        let mut report = Report::new(Plan::default(), Environment::default());
        report.backends = vec![backend(false)];
        report.cases = vec![record(verdict.clone())];
        // Skip is not pass, whether or not the backend had to run something.
        let code = match (verdict.kind().ran(), verdict.is_finding()) {
            (false, _) => 2,
            (true, finding) => u8::from(finding),
        };
        for required in [false, true] {
            report.backends = vec![backend(required)];
            assert_eq!(report.exit_code(), code, "{verdict}");
        }
        seen.insert(verdict.kind());
    }
    // No backend earns "waived": an expectation makes it of a finding.
    let earned = VerdictKind::ALL.len() - 1;
    assert_eq!(seen.len(), earned, "the sample lacks a verdict");
    assert!(!seen.contains(&VerdictKind::Waived));
    let findings = VerdictKind::ALL.iter().filter(|kind| kind.is_finding()).count();
    assert_eq!(findings, 5);
}

#[test]
fn summary_counts_every_record_once() {
    let report = sample(5);
    let summary = report.summary();
    assert_eq!(summary.total.counts.total(), report.cases.len() as u64);
    let rows = summary.contracts.iter().flat_map(|row| &row.cells);
    assert_eq!(rows.map(|cell| cell.counts.total()).sum::<u64>(), report.cases.len() as u64);
    let families = summary.families.values().flatten();
    assert_eq!(families.map(|cell| cell.counts.total()).sum::<u64>(), report.cases.len() as u64);
    let operations = summary.operations();
    assert_eq!(operations.iter().map(|row| row.planned).sum::<u64>(), summary.planned);
    assert_eq!(operations.len(), Op::ALL.len());
    for backend in &summary.backends {
        let expected =
            report.cases.iter().filter(|c| c.backend == backend.name && c.share_of_bound().is_some());
        assert_eq!(backend.shares.total(), expected.count() as u64);
    }
}

#[test]
fn junit_agrees_with_the_summary() {
    let report = sample(4);
    let text = junit::to_junit(&report).unwrap();
    let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let summary = report.summary();
    for (place, backend) in summary.backends.iter().enumerate() {
        let of = |name: String| read.test_suites.iter().find(|suite| suite.name.as_str() == name);
        let own = of(backend.name.clone()).expect("a suite of each backend");
        let counts = &backend.cell.counts;
        let skipped = counts.get(VerdictKind::Unsupported) + counts.get(VerdictKind::NotRun);
        let idle = usize::from(counts.ran() == 0);
        assert_eq!((own.skipped, own.failures, own.errors), (skipped as usize, idle, 0));
        assert_eq!(own.tests, skipped as usize + idle);
        let reasons = backend.unsupported.len() + backend.not_run.len();
        assert_eq!(own.test_cases.len(), reasons + idle, "each reason once");
        for row in &summary.contracts {
            let counts = &row.cells[place].counts;
            let Some(suite) = of(format!("{}.{}", backend.name, row.name)) else {
                assert_eq!(counts.ran(), 0, "{} on {}", row.name, backend.name);
                continue;
            };
            let number = |kinds: &[VerdictKind]| kinds.iter().map(|&kind| counts.get(kind)).sum::<u64>();
            let errors = number(&[VerdictKind::Crashed, VerdictKind::TimedOut]);
            let failures = counts.findings() - errors;
            let found = [suite.tests, suite.errors, suite.failures, suite.skipped].map(|n| n as u64);
            assert_eq!(found, [counts.ran(), errors, failures, 0]);
            let passed = usize::from(counts.passed() > 0);
            assert_eq!(
                suite.test_cases.len() as u64,
                passed as u64 + counts.findings(),
                "passes are one element"
            );
        }
    }
    // Two reasons for five cases each were two elements of one name; and names with numbers are other tests in the next run.
    for suite in &read.test_suites {
        let names: BTreeSet<&str> = suite.test_cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), suite.test_cases.len(), "{names:?}");
        assert!(!names.iter().any(|name| name.ends_with("passed") && *name != "passed"), "{names:?}");
    }
    for record in report.failures() {
        let name = format!("{}.{}", record.backend, record.contract);
        let suite = read.test_suites.iter().find(|s| s.name.as_str() == name).unwrap();
        let case = suite.test_cases.iter().find(|c| c.name.as_str() == record.case).unwrap();
        let TestCaseStatus::NonSuccess { kind, description, .. } = &case.status else {
            panic!("{} did not fail", record.case);
        };
        let died = matches!(record.verdict.kind(), VerdictKind::Crashed | VerdictKind::TimedOut);
        assert_eq!(*kind == NonSuccessKind::Error, died);
        assert!(description.as_ref().unwrap().as_str().ends_with(&report.replay(record)));
    }
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()));
}

#[test]
fn markdown_tables_are_whole_and_short() {
    let mut report = sample(8);
    let text = markdown::to_markdown(&report);
    let mut columns = 0;
    let mut rows = 0;
    for line in text.lines() {
        let separators = line.replace("\\|", "").matches('|').count();
        if line.starts_with('|') {
            assert!(columns == 0 || separators == columns, "{line}");
            (columns, rows) = (separators, rows + 1);
        } else {
            columns = 0;
        }
    }
    // Backends, operations, and the one reason for which a case was not run.
    assert_eq!(rows, (2 + report.backends.len()) + (2 + Op::ALL.len()) + (2 + 1));
    assert!(!text.contains("<b>"), "markup of a backend's message is live");
    let failure = report.failures().next().unwrap().clone();
    assert!(text.contains(&format!("```sh\n  {}\n  ```", report.replay(&failure))));

    report.cases.iter_mut().for_each(|c| c.verdict = failure.verdict.clone());
    report.seal();
    let text = markdown::to_markdown(&report);
    assert!(text.len() < 100_000, "{} bytes", text.len());
    let more = report.find().len() - markdown::FINDINGS_SHOWN;
    assert!(more > 10_000);
    assert!(text.contains(&format!("{} more in", show::count(more as u64))), "{text}");
}

#[test]
fn page_is_self_contained_and_escaped() {
    let report = sample(8);
    let page = html::to_html(&report, Path::new(""));
    for outside in ["http:", "https:", "src=\"/", "url(", "@import", "<link", "<b>markup"] {
        assert!(!page.contains(outside), "the page holds {outside}");
    }
    for record in report.failures() {
        assert!(page.contains(&escaped(&report.replay(record))), "{} has no replay line", record.case);
    }
    for text in
        VerdictKind::ALL.map(VerdictKind::explanation).into_iter().chain(Defect::ALL.map(Defect::explanation))
    {
        assert!(page.contains(&escaped(text)), "the legend lacks {text:?}");
    }
    for contract in &report.contracts {
        assert!(page.contains(&contract.name), "{} is not on the page", contract.name);
    }
    for fact in
        ["0x3eaaaaab", "0.33203125", "0x3eaa0000", "3.5e-8", "no ELL type", "its product has no scaling"]
    {
        assert!(page.contains(fact), "{fact} is not on the page");
    }
    assert!(page.chars().all(|letter| letter == '\n' || !letter.is_control()));
}

/// Story: one case took 220 of the 230 seconds of a run, and no report said which.
#[test]
fn a_case_that_took_a_tenth_of_the_run_is_named() {
    let mut report = sample(3);
    let slow = report.timings.slowest.values().map(|slow| slow.case.clone()).next().unwrap();
    let [text, page, summary] = [
        to_text(&report, &[], Colour::Plain),
        html::to_html(&report, Path::new(".")),
        markdown::to_markdown(&report),
    ];
    let name = report.backends[0].name.clone();
    assert!(text.contains(&format!("slowest case of {name}: 2.4 s, {slow}\n")), "{text}");
    assert!(page.contains(&format!("of {name}: 2.4 s, {slow}")));
    assert!(summary.contains(&format!("- slowest case of {name}: 2.4 s, `{slow}`\n")), "{summary}");
    assert!([text, page, summary].iter().all(|said| !said.contains(": 0.9 s,")));

    report.timings.total_seconds = 25.0;
    assert_eq!(report.timings.conspicuous(), [], "less than a tenth");

    // What a file's name may bring along stays in its place; of two, the longer one comes first.
    let others = report.backends[1].name.clone();
    report.timings.total_seconds = 21.4;
    report.timings.note(&others, 3.0, || "spmm.csr.f32/file:[`` <b>]\n# x".to_owned());
    report.timings.note(&others, 2.5, || unreachable!("it took longer for another"));
    let summary = markdown::to_markdown(&report);
    let both = format!(
        "- slowest case of {others}: 3.0 s, ``` spmm.csr.f32/file:[`` <b>] # x ```\n- slowest case of {name}: 2.4 s, `{slow}`\n"
    );
    assert!(summary.contains(&both), "{summary}");
}

#[test]
fn terminal_text_names_findings_files_and_what_did_not_run() {
    let mut report = sample(8);
    let files = ["a/report.json".into(), "a/report.html".into()];
    let plain = to_text(&report, &files, Colour::Plain);
    assert!(
        plain.chars().all(|letter| letter == '\n' || !letter.is_control()),
        "a control character got through"
    );
    for finding in show::shrunk_first(&report).iter().take(text::FINDINGS_SHOWN) {
        assert!(plain.contains(&report.describe(finding).replay.unwrap()));
    }
    assert!(plain.contains("wrote a/report.json\nwrote a/report.html\n"));
    let counts = report.summary().total.counts;
    assert!(counts.ran() > 5000 && counts.get(VerdictKind::Unsupported) > 1000);
    assert!(
        plain.ends_with(&format!(
            "18 findings: {} cases run, {} unsupported, 1 not run in 21.4 s\n",
            show::count(counts.ran()),
            show::count(counts.get(VerdictKind::Unsupported))
        )),
        "{plain}"
    );
    assert!(to_text(&report, &files, Colour::Ansi).contains("\u{1b}[31m"));

    report.backends.retain(|b| b.name != "idle");
    report.cases.retain(|c| !c.verdict.is_finding());
    report.seal();
    assert_eq!(report.exit_code(), 0);
    let clean = to_text(&report, &[], Colour::Plain);
    assert!(clean.contains("\nclean: ") && !clean.contains("finding"), "{clean}");
}

#[test]
fn replay_lines_survive_a_shell() {
    let report = sample(1);
    let mut record = report.cases[0].clone();
    record.case = "spmm/file:it's $HOME; `x`.mtx".to_owned();
    record.backend = "b".to_owned();
    let script = format!("conformance() {{ printf '%s\\n' \"$@\"; }}; {}", report.replay(&record));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert_eq!(words.lines().collect::<Vec<_>>(), ["replay", &record.case, "--backend", "b"]);
}

/// The page once had findings in the order of the cases, so that a page of one bug's hid the other bugs; the console and
/// report.md did not.
#[test]
fn every_file_shows_the_first_of_each_reason_first_and_those_that_were_shrunk() {
    let mut report = sample(8);
    let last = report.cases.iter().rposition(CaseRecord::is_finding).unwrap();
    let again = report.cases.iter().position(|c| c.backend == "my-kernel" && !c.is_finding()).unwrap();
    report.cases[again].verdict = report.cases[last].verdict.clone();
    report.cases[last].reproducer = Some(Reproducer {
        path: Some("reproducers/one".to_owned()),
        case: Some("a/minimal/case".to_owned()),
        summary: "shrunk".to_owned(),
        candidates: 1,
        rows: 1,
        cols: 1,
        nnz: 1,
        n: 1,
    });
    report.seal();
    let order = show::shrunk_first(&report);
    let records: Vec<&CaseRecord> =
        order.iter().filter_map(|finding| report.describe(finding).record).collect();
    assert!(records[0].reproducer.is_some(), "the shrunk one of its reason");
    let reasons: BTreeSet<_> = records.iter().map(|c| Reason::of_record(c)).collect();
    let first: BTreeSet<_> = records[..reasons.len()].iter().map(|c| Reason::of_record(c)).collect();
    assert!(reasons.len() > 10 && reasons.len() < records.len());
    assert_eq!(first.len(), reasons.len());
    let page = html::to_html(&report, Path::new(""));
    let places: Vec<_> = records.iter().map(|c| page.find(&escaped(&report.replay(c)))).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
}

/// With ten findings shown, nobody knew whether the others were of the same bug, or where they are.
#[test]
fn findings_that_are_not_shown_are_counted_by_rule_and_placed() {
    let report = sample(8);
    let text = to_text(&report, &["out/report.json".into()], Colour::Plain);
    let line = text.lines().find(|line| line.starts_with("... and ")).unwrap();
    assert!(line.starts_with("... and 8 further findings: 1 "), "{line}");
    assert!(
        line.contains("1 idle-backend on idle") && line.ends_with("all are in out/report.json"),
        "{line}"
    );
    assert!(text.contains("finding: my-kernel: "), "several backends: {text}");
}

/// A page of traceback stood in one line of the console; its last line says what happened.
#[test]
fn the_console_has_the_last_line_of_a_traceback_and_the_files_all_of_it() {
    let mut report = sample(1);
    report.cases.retain(CaseRecord::is_finding);
    report.cases.truncate(1);
    let trace = "Traceback (most recent call last):\n  File \"a.py\", line 3, in run\n    x[9]\nIndexError: out of range";
    report.cases[0].verdict = VerdictRecord::Crashed {
        message: format!("exited with status 70 without an answer; its standard error ends:\n{trace}"),
    };
    report.seal();
    let text = to_text(&report, &[], Colour::Plain);
    assert!(
        text.contains("crashed: exited with status 70") && text.contains("IndexError: out of range"),
        "{text}"
    );
    assert!(!text.contains("a.py"), "{text}");
    assert!(markdown::to_markdown(&report).contains("a.py"));
}

/// The bar of a backend that ran 686 of 23,158 cases was green from end to end.
#[test]
fn what_is_unsupported_is_drawn_in_the_bar_and_folded() {
    let report = sample(8);
    let page = html::to_html(&report, Path::new(""));
    let bars: Vec<&str> =
        page.split("<div class=\"bar\"").skip(1).map(|rest| rest.split("</div>").next().unwrap()).collect();
    assert_eq!(bars.len(), report.backends.len());
    for (bar, backend) in bars.iter().zip(report.summary().backends) {
        let counts = &backend.cell.counts;
        let number = counts.get(VerdictKind::Unsupported);
        let weight = (number * 1000 / counts.total().max(1)).max(3);
        let drawn = format!("class=\"none\" style=\"flex-grow:{weight}\"");
        assert_eq!(bar.contains(&drawn), number > 0, "{}: {bar}", backend.name);
    }
    assert!(bars.iter().any(|bar| bar.contains("class=\"none\"")));
    assert!(page.contains("</b> unsupported</li>") && page.contains("id=\"only-ran\""));
    assert!(page.contains("class=\"idle\""), "rows in which nothing ran can be hidden");
}
