//! Files of known deviations: TOML that people write.

use super::draft::{draft, drafts};
use super::{FuzzOutcome, report};
use jiff::ToSpan;
use jiff::civil::{Date, date};
use serde_json::{Value, json};
use sparse_conformance::expectations::{ExpectationError, parse};
use sparse_conformance::report::{Expectation, Expected};
use std::path::Path;
use wildmatch::WildMatch;

/// The day on which the files are read.
const TODAY: Date = date(2026, 11, 25);

/// A case that nobody described: what waives this one waives whatever goes wrong.
const NAMELESS: (&str, &str) = ("!.!.!", "!.!.!/!/!=!");

/// Files as JSON, from which others are drafted.
fn texts() -> Vec<String> {
    let plain = json!({
        "backend": "sprs", "contract": "spmm.csr.f32_*", "verdict": "wrong", "defect": "value",
        "reason": "beta is ignored", "link": "https://example.org/issue/7", "expires": "2027-01-31",
        "occurs": "sometimes", "tier": "full",
    });
    let case = json!({
        "backend": "mine", "case": "*/alpha=*", "verdict": "lone_refusal", "reason": "no alpha", "expires": "2027-12-30",
    });
    let both = json!({
        "backend": "mine", "case": "*", "contract": "convert.csr.ell.*", "verdict": "crashed", "reason": "r",
        "expires": "2020-02-29",
    });
    let late = json!({
        "backend": "mine", "contract": "spmv.*.f64*", "case": "spm?.?oo.*", "verdict": "timed_out", "reason": "r",
        "expires": "2027-12-31",
    });
    let files = [
        json!({}),
        json!({"expect": []}),
        json!({"expect": [plain]}),
        json!({"expect": [case]}),
        json!({"expect": [both]}),
        json!({"expect": [late]}),
        json!({"expect": [plain, case, both]}),
    ];
    files.iter().map(Value::to_string).collect()
}

/// As TOML, which has dates of its own: every other time they stand without quotes.
fn toml_text(value: &Value, dates: bool) -> Option<String> {
    let text = toml::to_string(value).ok()?;
    let unquoted = |line: &str| match line.strip_prefix("expires = ") {
        Some(date) if dates => format!("expires = {}", date.trim_matches('"')),
        _ => line.to_owned(),
    };
    Some(text.lines().map(|line| unquoted(line) + "\n").collect())
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let texts = texts();
    let mut seeds = super::draft::seeds(&texts, 60);
    seeds.retain(|seed| !seed.starts_with(b"{"));
    let values = texts.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let files = values.filter_map(|value| toml_text(&value, true)).filter(|text| !text.is_empty());
    seeds.extend(files.map(String::into_bytes));
    seeds
}

pub(super) fn words() -> Vec<String> {
    let mut words = report::words();
    let own = [
        "2027-12-30",
        "2027-12-31",
        "9999-12-31",
        "-009999-01-01",
        "2026-11-24",
        "2027-01-31T00:00:00Z",
        "*/?*",
        "?*.?*",
        "spmm.csr.*",
        "s?mm.*",
        "*/n=1*",
        "lone_acceptance",
        "timed_out",
        "[[expect]]\n",
        "expires = ",
        "backend = \"",
    ];
    words.extend(own.map(str::to_owned));
    words
}

/// Any text is a typed error that names the file (and the entry), or entries each of which waives the cases that it names, for 400
/// days at most.
///
/// # Panics
/// When it is not.
pub fn expectations(bytes: &[u8]) -> FuzzOutcome {
    let text = match drafts(bytes) {
        Some(mut input) => {
            let dates = input.one_in(2);
            match toml_text(&draft(&mut input, &texts(), &words()), dates) {
                Some(text) => text,
                None => return FuzzOutcome::Refused,
            }
        }
        None => String::from_utf8_lossy(bytes).into_owned(),
    };
    match parse(Path::new("a/known.toml"), &text, TODAY) {
        Ok(entries) => {
            entries.iter().zip(1..).for_each(|(entry, number)| check(entry, number));
            FuzzOutcome::Accepted
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("a/known.toml"), "{said}");
            if let ExpectationError::Entry { entry, reason, .. } = error {
                assert!(said.contains(&format!("entry {entry}")) && !reason.is_empty(), "{said}");
                assert!(entry > 0, "{said}");
            }
            FuzzOutcome::Refused
        }
    }
}

fn check(entry: &Expectation, number: usize) {
    assert_eq!(entry.from, format!("known.toml entry {number}"));
    let last = TODAY.checked_add(400.days()).expect("a day");
    let expires: Date = entry.expires.parse().expect("a date");
    assert!(expires <= last, "it holds too long: {entry:?}");
    assert_eq!(entry.expired, expires < TODAY, "{entry:?}");
    assert!(!entry.backend.trim().is_empty() && !entry.reason.trim().is_empty(), "{entry:?}");
    assert!(entry.defect.is_none() || entry.verdict == Expected::Wrong, "{entry:?}");
    let fits = |pattern: &Option<String>, text: &str| {
        pattern.as_deref().is_none_or(|p| WildMatch::new(p).matches(text))
    };
    let (contract, case) = NAMELESS;
    assert!(
        !(fits(&entry.contract, contract) && fits(&entry.case, case)),
        "it waives whatever goes wrong: {entry:?}"
    );
    let text = serde_json::to_string(entry).expect("a report holds it");
    let again: Expectation = serde_json::from_str(&text).expect("a report gives it back");
    assert_eq!(*entry, again);
}
