//! A survey as one page that needs no network.
//!
//! ```text
//! matrix                              header (here)
//! bytes of every format, with bars    sizes
//! tiles, and who does what            tiles
//! hybrid or one unit, thresholds      costs
//! where blocks are dense              picture
//! ```

mod costs;
mod picture;
mod sizes;
mod tiles;

use super::survey::{Row, Survey};
use crate::report::show::{count, counted};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The report's style, and what these pages add.
const STYLE: [&str; 2] = [crate::report::STYLE, include_str!("inspect.css")];
/// The page may load nothing from anywhere and runs nothing; a browser enforces it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The survey as one HTML page.
#[must_use]
pub fn to_html(survey: &Survey) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (survey.source) " - sparse formats" }
                style { @for part in STYLE { (PreEscaped(part)) } }
            }
            body {
                (header(survey))
                main {
                    (sizes::section(survey))
                    (tiles::section(survey))
                    (costs::section(survey))
                    (picture::section(survey))
                }
                footer { "sparse-conformance " (env!("CARGO_PKG_VERSION")) ", " (survey.schema) ". The same numbers: conformance inspect --json." }
            }
        }
    };
    page.into_string()
}

/// A format's name and what is special about its row, as a table's first cell.
fn name(survey: &Survey, row: &Row) -> Markup {
    html! {
        th scope="row" { (row.format) @for remark in row.remarks(&survey.values) { " " small { (remark) } } }
    }
}

fn header(survey: &Survey) -> Markup {
    let taken = survey.formats.iter().filter(|row| row.numbers().is_some() && !row.pruned).count();
    let asked = survey.formats.iter().filter(|row| !row.pruned).count();
    let positions = survey.rows as f64 * survey.cols as f64;
    let density =
        if positions > 0.0 { format!("{:.3e}", survey.entries as f64 / positions) } else { "-".to_owned() };
    let facts = [
        ("Shape", format!("{} × {}", count(survey.rows), count(survey.cols))),
        ("Entries", count(survey.entries)),
        ("Density", density),
        ("Values", survey.values.clone()),
    ];
    html! {
        header {
            p.brand { "Sparse formats" }
            h1 { (survey.source) }
            p.lead {
                (counted(asked as u64, "encoding")) " asked for, " b { (count(taken as u64)) } " made. A format that cannot hold the matrix says why."
            }
            dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
        }
    }
}
