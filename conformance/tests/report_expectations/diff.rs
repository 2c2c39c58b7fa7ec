//! What comparing two reports makes of known deviations.

use super::expected::{expectation, expected_sample};
use super::{few_wrong, only, wrong_value};
use crate::report_sample::sample;
use sparse_conformance::report::{
    CaseRecord, Defect, Expectation, Expected, Report, VerdictKind, VerdictRecord, diff, show,
};

#[test]
fn a_report_does_not_differ_from_itself() {
    let report = expected_sample(4);
    let same = diff::diff(&report, &report, 2.0);
    assert_eq!(diff::to_text(&same), "no new finding\n");
    assert_eq!(same.exit_code(), 0);
}

#[test]
fn diff_tells_new_findings_from_old_news() {
    let old = sample(8);
    let mut new = old.clone();
    let of = |kind: VerdictKind, report: &Report| {
        report.cases.iter().position(|c| c.verdict.kind() == kind && c.backend == "portable").unwrap()
    };
    let (exact, within) = (of(VerdictKind::Exact, &old), of(VerdictKind::Within, &old));
    let crash = VerdictRecord::Crashed { message: "signal 11".to_owned() };
    new.cases[exact].verdict = crash.clone();
    let VerdictRecord::Within { share } = new.cases[within].verdict else { panic!() };
    new.cases[within].verdict = VerdictRecord::Within { share: share * 4.0 };
    new.cases[within].share = Some(share * 4.0);
    let mended = new.cases.iter().position(wrong_value).unwrap();
    new.cases[mended].verdict = VerdictRecord::Exact;
    new.cases[mended].share = None;
    let other_kind = new.cases.iter().position(|c| c.verdict.kind() == VerdictKind::LoneRefusal).unwrap();
    new.cases[other_kind].verdict = crash;
    let gone = new.cases.iter().position(|c| c.backend == "sprs").unwrap();
    let gone = new.cases.remove(gone);
    new.seal();
    let last = new.cases.iter().rposition(|c| c.output.is_some() && c.backend == "portable").unwrap();
    new.cases[last].output = Some("0".repeat(32));

    let found = diff::diff(&old, &new, 2.0);
    assert_eq!(found.exit_code(), 1);
    assert_eq!(found.new_findings.len(), 1);
    let finding = &found.new_findings[0];
    assert_eq!((finding.rule.as_str(), finding.before.as_deref()), ("crashed", Some("exact")));
    assert!(finding.replay.as_ref().unwrap().contains(&old.cases[exact].case));
    assert_eq!((found.fixed.len(), found.changed.len(), found.shares.len()), (1, 1, 1));
    assert_eq!(found.changed[0].old, "lone-refusal");
    assert_eq!(found.shares[0].new, share * 4.0);
    assert_eq!((found.only_old.len(), found.only_new.len()), (1, 0));
    assert_eq!(found.only_old[0].case, gone.case);
    assert_eq!((found.other_bits.len(), found.other_inputs.len()), (1, 0));
    assert!(diff::diff(&old, &new, 5.0).shares.is_empty());
    // The other way round it is no worse but for what the crash was.
    let back = diff::diff(&new, &old, 2.0);
    assert_eq!(back.new_findings.len(), 1, "the mended one fails again");
    assert_eq!(back.only_new.len(), 1);
    let text = diff::to_text(&found);
    assert!(text.contains("newly failing: 1\n  crashed on portable (was exact)"), "{text}");
}

#[test]
fn a_waiver_that_ends_is_a_new_finding() {
    let expect = vec![expectation(1, Expected::Wrong, Some(Defect::Value))];
    let waived = only(few_wrong, expect.clone());
    let live = only(few_wrong, Vec::new());
    assert_eq!(diff::diff(&waived, &live, 2.0).new_findings.len(), 3);
    assert_eq!(diff::diff(&live, &waived, 2.0).exit_code(), 0);
    let expired = only(few_wrong, vec![Expectation { expired: true, ..expect[0].clone() }]);
    let found = diff::diff(&waived, &expired, 2.0);
    assert_eq!(found.new_findings.len(), 4, "three cases, and the expectation");
    assert!(diff::diff(&expired, &expired, 2.0).new_findings.is_empty());
}

/// It said `backend sprs: "" -> "0.11.6"`, and listed every case.
#[test]
fn a_backend_of_one_report_only_is_one_line_of_the_comparison() {
    let both = sample(4);
    let mut one = both.clone();
    one.backends.retain(|b| b.name != "sprs");
    one.cases.retain(|c| c.backend != "sprs");
    one.seal();
    let cases = both.cases.len() - one.cases.len();
    for (old, new, which) in [(&one, &both, "new"), (&both, &one, "old")] {
        let found = diff::diff(old, new, 2.0);
        assert_eq!(found.only_old.len() + found.only_new.len(), cases, "--json has all");
        let text = diff::to_text(&found);
        let line = format!("only in the {which} report: backend sprs, {} cases\n", show::count(cases as u64));
        assert_eq!(text, format!("{line}no new finding\n"));
    }
}

/// Two runs with different seeds had "no new finding", behind two lists of all their cases.
#[test]
fn reports_without_a_case_in_common_are_not_called_alike() {
    let mut old = sample(4);
    old.cases.retain(|case| !case.is_finding());
    old.seal();
    let mut new = old.clone();
    new.plan.seed += 1;
    new.cases.iter_mut().for_each(|case| case.case.push_str("/align=2"));
    new.seal();
    let found = diff::diff(&old, &new, 2.0);
    let text = diff::to_text(&found);
    assert_eq!((found.compared, found.exit_code()), (0, 2));
    assert!(
        text.ends_with("\nnothing was compared: no case is in both reports on the same backend\n"),
        "{text}"
    );
    assert_eq!(diff::diff(&old, &old, 2.0).compared, old.cases.len() as u64);
}

/// The page says what the text says, and nothing of it is markup or comes from elsewhere.
#[test]
fn the_comparison_is_a_page() {
    let old = sample(8);
    let mut new = old.clone();
    let exact = |c: &&mut CaseRecord| c.verdict.kind() == VerdictKind::Exact && c.backend == "portable";
    for record in new.cases.iter_mut().filter(exact).take(40) {
        record.verdict = VerdictRecord::Crashed { message: "<b>signal</b> 11".to_owned() };
    }
    new.backends.retain(|b| b.name != "sprs");
    new.cases.retain(|c| c.backend != "sprs");
    new.seal();
    let found = diff::diff(&old, &new, 2.0);
    let page = diff::to_html(&found);
    assert!(page.contains("<header class=\"dirty\"") && page.contains("40 new findings</h1>"));
    assert!(page.contains("Only in the old report: backend sprs, "));
    for finding in &found.new_findings {
        let replay = finding
            .replay
            .as_ref()
            .expect("of a case")
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        assert!(page.contains(&replay), "{replay}");
    }
    for outside in ["http:", "https:", "src=", "url(", "<link", "<b>signal"] {
        assert!(!page.contains(outside), "the page holds {outside}");
    }
    let same = diff::to_html(&diff::diff(&old, &old, 2.0));
    assert!(same.contains("<header class=\"clean\"") && same.contains("Nothing differs."));
}
