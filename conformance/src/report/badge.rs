//! `badge.svg` and `badge.json`: the verdict on one line, to stand in a README.
//!
//! The picture is drawn here, so that nobody has to be asked over a network; the JSON is for those who have a server
//! draw it (<https://shields.io/badges/endpoint-badge>, schema version 1).

use crate::report::model::Report;
use crate::report::outcome::Outcome;
use crate::report::show::count;
use maud::{Markup, html};
use serde_json::json;

const LABEL: &str = "sparse conformance";
/// Height of the picture, and the widths of a letter and of the margins beside a text, in units of the picture.
const HEIGHT: usize = 20;
const LETTER: usize = 7;
const MARGIN: usize = 8;

/// What is said, and the colour that says it too.
struct BadgeText {
    message: String,
    name: &'static str,
    hex: &'static str,
}

fn said(report: &Report) -> BadgeText {
    let waived = report.waived().count() as u64;
    let shard = report.plan.shard.map(|shard| format!(" (shard {shard})"));
    let part = shard.unwrap_or_default();
    let outcome = report.outcome();
    let (name, hex) = outcome.colour();
    let (message, name) = match outcome {
        Outcome::Clean if waived > 0 => (format!("clean, {} waived", count(waived)), "green"),
        Outcome::Findings => (report.headline(), name),
        Outcome::Clean | Outcome::Thin | Outcome::NothingJudged => (outcome.word().to_owned(), name),
    };
    BadgeText { message: message + &part, name, hex }
}

/// The picture.
#[must_use]
pub fn to_svg(report: &Report) -> String {
    let said = said(report);
    let width = |text: &str| text.chars().count() * LETTER + 2 * MARGIN;
    let (left, right) = (width(LABEL), width(&said.message));
    let alone = format!("{LABEL}: {}", said.message);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height=(HEIGHT) role="img" aria-label=(alone) {
            title { (alone) }
            rect width=(left) height=(HEIGHT) fill="#3d4450" {}
            rect x=(left) width=(right) height=(HEIGHT) fill=(said.hex) {}
            (text(LABEL, 0, left))
            (text(&said.message, left, right))
        }
    };
    format!("{}\n", picture.into_string())
}

/// Text in the middle of a field; its length is fixed, so that any font fits.
fn text(text: &str, x: usize, width: usize) -> Markup {
    html! {
        text x=(x + width / 2) y="14" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"
            text-anchor="middle" textLength=(width - 2 * MARGIN) { (text) }
    }
}

/// The answer that a badge server asks an endpoint for.
#[must_use]
pub fn to_json(report: &Report) -> String {
    let said = said(report);
    let badge = json!({
        "schemaVersion": 1,
        "label": LABEL,
        "message": said.message,
        "color": said.name,
        "isError": matches!(report.outcome(), Outcome::Findings | Outcome::NothingJudged),
    });
    format!("{badge:#}\n")
}
