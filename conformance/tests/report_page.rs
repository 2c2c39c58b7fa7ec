//! The page has every finding, grouped and counted, and stays a page.

use crate::report_sample::sample;
use data_encoding::BASE64;
use flate2::read::ZlibDecoder;
use sparse_conformance::report::{
    CaseRecord, Colour, Criterion, Report, VerdictKind, VerdictRecord, WrongElements, html, markdown, to_text,
};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// The findings that the page's script shows: what they are counted by, and their elements.
pub(crate) fn unpacked(page: &str) -> Vec<(Vec<&'static str>, String)> {
    let (_, rest) = page.split_once("<script type=\"text/plain\" id=\"finding-data\">").expect("data");
    let packed = rest.split("</script>").next().expect("its end");
    let bytes = BASE64.decode(packed.as_bytes()).expect("base64");
    let mut text = String::new();
    ZlibDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("compressed text");
    let text: &'static str = text.leak();
    let finding = |line: &'static str| {
        let mut fields: Vec<&'static str> = line.split('\t').collect();
        let element = fields.pop().expect("an element").to_owned();
        (fields, element)
    };
    text.lines().map(finding).collect()
}

/// A report in which everything that ran failed, with long messages.
fn all_failed(per_contract: usize) -> Report {
    let mut report = sample(per_contract);
    let bad = report.failures().next().expect("a finding").verdict.clone();
    for record in report.cases.iter_mut().filter(|record| record.verdict.kind().ran()) {
        let VerdictRecord::Wrong(mut mismatch) = bad.clone() else { panic!("the first is wrong") };
        mismatch.message = "long ".repeat(2000);
        record.verdict = VerdictRecord::Wrong(mismatch);
    }
    report.seal();
    report
}

/// The page ended after 400.
#[test]
fn every_finding_is_on_the_page() {
    let report = all_failed(4);
    let page = html::to_html(&report, Path::new(""));
    let findings = unpacked(&page);
    assert!(findings.len() > 2000);
    assert_eq!(findings.len(), report.findings.len());
    let mut names = BTreeSet::new();
    for (_, element) in &findings {
        let (_, rest) =
            element.split_once("<article class=\"finding\" id=\"").expect("an element with a name");
        names.insert(rest.split('"').next().expect("a name"));
    }
    assert_eq!(names.len(), findings.len(), "each has a name of its own");
    let line = |(_, element): &'_ (Vec<&str>, String)| {
        let (_, rest) = element.split_once("<div class=\"replay\"><code>")?;
        Some(rest.split_once("</code>")?.0.to_owned())
    };
    let lines: BTreeSet<String> = findings.iter().filter_map(line).collect();
    for record in report.failures() {
        let replay = report.replay(record).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(lines.contains(&replay), "{replay}");
    }
    // The first are elements from the start, and the page says how many need its script.
    let first: Vec<_> = findings.iter().take_while(|(_, element)| page.contains(element)).collect();
    assert_eq!(first.len(), 25);
    assert!(page.contains("further findings need JavaScript"));
}

/// A picture for each result of which the report holds one, and none for a text that is none.
#[test]
fn wrong_elements_are_drawn() {
    let mut report = sample(2);
    let elements = |cells: &str| {
        let within = "rows 16 to 31 of 40 and columns 0 to 2 of 3".to_owned();
        Some(WrongElements { count: 48, within, rows: 40, columns: 3, cells: cells.to_owned() })
    };
    let mut texts = ["13*0 12*7 7*5", "13*0 12*7"].into_iter();
    for record in &mut report.cases {
        if let VerdictRecord::Wrong(mismatch) = &mut record.verdict {
            mismatch.elements = texts.next().and_then(elements);
        }
    }
    report.seal();
    let page = html::to_html(&report, Path::new(""));
    assert_eq!(page.matches("<figure class=\"wrongs\">").count(), 1);
    let figure =
        page.split("<figure class=\"wrongs\">").nth(1).and_then(|rest| rest.split("</figure>").next());
    let figure = figure.expect("a picture");
    assert!(
        figure.contains("wrong elements: 48, in rows 16 to 31 of 40 and columns 0 to 2 of 3"),
        "{figure}"
    );
    // The whole rows, and of the others two cells each; lines before rows 16 and 32 of 40.
    assert!(figure.contains("M0 13h3v1h-3z") && figure.contains("M0 25h1v1h-1zM2 25h1v1h-1z"), "{figure}");
    assert!(figure.contains("d=\"M0 12.8h3M0 25.6h3\""), "{figure}");
    assert!(
        figure.contains("a square is about 2 x 1 elements; lines every 16 rows and 16 columns"),
        "{figure}"
    );
}

/// A picture of a vector was a bar of a few pixels.
#[test]
fn a_result_of_one_row_or_one_column_is_not_drawn() {
    let drawn = |rows: u64, columns: u64, cells: &str| {
        let mut report = sample(2);
        for record in &mut report.cases {
            if let VerdictRecord::Wrong(mismatch) = &mut record.verdict {
                let within = "somewhere".to_owned();
                mismatch.elements =
                    Some(WrongElements { count: 2, within, rows, columns, cells: cells.to_owned() });
            }
        }
        html::to_html(&report, Path::new("")).contains("<figure class=\"wrongs\">")
    };
    assert!(drawn(2, 2, "2*3"));
    assert!(!drawn(1, 2, "3") && !drawn(2, 1, "2*1"));
}

/// The page called exact what has the declared bits, and "within" the case beside it, whose bits had been compared.
#[test]
fn a_report_says_in_how_many_cases_bits_were_compared_and_right() {
    let mut report = sample(2);
    let said = "in 3 cases the very bits that it declares (T2)";
    let shown = |report: &Report| [html::to_html(report, Path::new("")), to_text(report, &[], Colour::Plain)];
    assert!(shown(&report).iter().all(|text| !text.contains("the very bits")));
    let passing = |record: &&mut CaseRecord| {
        record.backend == "portable" && record.verdict.kind() == VerdictKind::Within
    };
    for record in report.cases.iter_mut().filter(passing).take(3) {
        record.tiers = vec![Criterion::T1, Criterion::T2];
    }
    let wrong = report.cases.iter_mut().find(|record| record.verdict.kind() == VerdictKind::Wrong);
    wrong.expect("one").tiers = vec![Criterion::T2];
    for text in shown(&report) {
        assert_eq!(text.matches("the very bits").count(), 1);
        assert!(text.contains(said), "{said}");
    }
}

/// A plug-in of four contracts was judged "in 587 contracts", the size of the table.
#[test]
fn contracts_without_a_case_are_not_counted_and_hidden_for_one_backend() {
    let mut report = sample(2);
    let page = html::to_html(&report, Path::new(""));
    assert!(
        page.contains("<input type=\"checkbox\" id=\"only-ran\">"),
        "of several backends all rows are shown"
    );
    report.contracts[1..].iter_mut().for_each(|contract| contract.cases_planned = 0);
    report.backends.truncate(1);
    let page = html::to_html(&report, Path::new(""));
    assert!(
        page.contains(" in 1 contract, offered to 1 backend"),
        "{}",
        &page[..page.find("<main>").unwrap_or(0)]
    );
    assert!(markdown::to_markdown(&report).contains(" in 1 contract, offered to 1 backend"));
    assert!(page.contains("<input type=\"checkbox\" id=\"only-ran\" checked>"));
}

/// Element types that came to the table later had rows of their own, without a word on what sets them apart.
#[test]
fn the_map_has_one_row_for_an_operation_and_format() {
    let page = html::to_html(&sample(1), Path::new(""));
    let (_, map) = page.split_once("<table class=\"map\">").expect("a map");
    let (map, _) = map.split_once("</table>").expect("its end");
    let names: Vec<&str> =
        map.split("<th scope=\"row\">").skip(1).filter_map(|row| Some(row.split_once("</th>")?.0)).collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert!(names.len() > 20 && names.len() == distinct.len(), "{names:?}");
}

/// What a button says is what it leaves.
#[test]
fn buttons_count_the_findings_that_they_leave() {
    let page = html::to_html(&sample(8), Path::new(""));
    let findings = unpacked(&page);
    let mut buttons = 0;
    for button in page.split("<button ").skip(1).filter(|rest| rest.contains("data-facet=\"")) {
        let attribute = |name: &str| {
            let (_, rest) = button.split_once(&format!("{name}=\"")).expect("an attribute");
            rest.split('"').next().expect("its value")
        };
        let facet: usize = attribute("data-facet").parse().expect("a number");
        let value = attribute("data-value");
        let (_, rest) = button.split_once("<b>").expect("a count");
        let said: usize =
            rest.split("</b>").next().expect("a count").replace(',', "").parse().expect("a number");
        assert_eq!(findings.iter().filter(|(values, _)| values[facet] == value).count(), said, "{button}");
        buttons += 1;
    }
    assert!(buttons > 20, "{buttons}");
    assert!(page.contains("18 of 18 match"));
}

/// What the page says of the group of cases that are wrong: those for which `change` makes something of the line and says so.
fn said_of(mut change: impl FnMut(&mut String) -> bool) -> String {
    let mut report = sample(24);
    let bad = report.failures().next().expect("a finding").verdict.clone();
    let (contract, backend) = ("spmm.csr.f64_f64_f64_f64", "portable");
    for record in report.cases.iter_mut().filter(|c| c.contract == contract && c.backend == backend) {
        if change(&mut record.case) {
            record.verdict = bad.clone();
        }
    }
    report.seal();
    let page = html::to_html(&report, Path::new(""));
    let (_, rest) = page.split_once("on portable in spmm.csr</button>").expect("its group");
    rest.split("</li>").next().expect("its end").to_owned()
}

/// A kernel that ignores one parameter: the page says which.
#[test]
fn a_group_says_what_its_cases_have_in_common() {
    let said = said_of(|case| case.contains("/n=33/"));
    assert!(said.contains("all have ") && said.contains("<code>n=33</code> (as have "), "{said}");
    assert!(said.contains("<code>f64_f64_f64_f64</code>"), "{said}");
}

/// A kernel that ignored beta where alpha is 0 had nothing in common, since half of its cases said `alpha=-0`; one that ignored a
/// parameter, whatever it was, neither.
#[test]
fn a_group_names_a_zero_of_either_sign_and_a_parameter_of_any_value() {
    let group = |values: [&'static str; 4]| {
        let mut values = values.into_iter();
        said_of(|case| values.next().map(|value| case.push_str(value)).is_some())
    };
    let zero = group(["/alpha=0", "/alpha=-0", "/alpha=0", "/alpha=-0"]);
    assert!(
        zero.contains("<code>alpha=0</code> (as have ") && !zero.contains("<code>alpha=</code>"),
        "{zero}"
    );
    let any = group(["/ldc=+1", "/ldc=+2", "/ldc=+3", "/ldc=+4"]);
    assert!(any.contains("<code>ldc=</code>… (as have "), "{any}");
}

#[test]
fn the_page_stays_small_however_much_fails() {
    let mut report = all_failed(40);
    report.sources = report.sources.into_iter().cycle().take(1000).collect();
    report.seal();
    assert!(report.findings.len() > 20_000, "{}", report.findings.len());
    let page = html::to_html(&report, Path::new(""));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}
