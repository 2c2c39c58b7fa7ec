//! The published score is what a self-test of the quick tier finds now.

use sparse_conformance::plan::Options;
use sparse_conformance::selftest::{Scorecard, run, to_markdown, to_text};
use std::path::Path;

#[test]
fn the_quick_tier_kills_what_it_must_and_the_published_scorecard_says_so() {
    let card = run(&Options::default(), None, &|_, _| ());
    println!("{}", to_text(&card));
    assert!(card.is_clean(), "{}", to_text(&card));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published = std::fs::read_to_string(root.join("selftest/score.json")).expect("checked in");
    let published: Scorecard = serde_json::from_str(&published).expect("a scorecard");
    let advice =
        "run `conformance self-test --json conformance/selftest/score.json` and review the difference";
    assert_eq!(published, card, "{advice}");
    let page = std::fs::read_to_string(root.join("../docs/self-test.md")).expect("checked in");
    let tables = page.split_once("<!-- tables -->\n").expect("a page with tables").1;
    assert_eq!(tables, to_markdown(&card), "docs/self-test.md: see its own text for the command");
}

/// A smaller run gives the same rows: hunts do not depend on one another.
#[test]
fn a_row_alone_is_the_row_of_the_whole() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("selftest/score.json");
    let published: Scorecard =
        serde_json::from_str(&std::fs::read_to_string(published).expect("checked in")).expect("a scorecard");
    let alone = run(&Options::default(), Some("reuse: previous"), &|_, _| ());
    assert_eq!(alone.rows.len(), 2);
    for row in &alone.rows {
        assert!(published.rows.contains(row), "{row:?}");
    }
}
