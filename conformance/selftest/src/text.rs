//! A scorecard for readers: the table of the command, and the one of `docs/self-test.md`.

use super::score::{Fate, Row, RowKind, Scorecard};
use std::fmt::Write;

/// Rows grouped by what they are about, as lines of a terminal.
#[must_use]
pub fn to_text(card: &Scorecard) -> String {
    let mut out = String::new();
    let width = card.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut family = "";
    for row in &card.rows {
        if row.family != family {
            family = &row.family;
            let _ = writeln!(out, "\n{family}");
        }
        let _ = writeln!(out, "  {:width$}  {}", row.name, ends(row));
        let decided = row.loosely.as_ref().unwrap_or(&row.fate);
        if let Some(at) = &decided.at {
            let _ = writeln!(out, "  {:width$}  {at}", "");
        }
    }
    out.push('\n');
    ending(card, &mut out);
    out
}

/// What became of a row, in a few words.
fn ends(row: &Row) -> String {
    let fate = fate(row, &row.fate);
    match &row.loosely {
        Some(loosely) => format!("{fate}; declaring no order: {}", self::fate(row, loosely)),
        None if row.bits_only => format!("{fate}; only bits show it"),
        None => fate,
    }
}

fn fate(row: &Row, fate: &Fate) -> String {
    let what = match row.sort {
        RowKind::Backend => "case",
        RowKind::Schedule => "input",
        RowKind::Comparator => "probe",
    };
    let plural = if fate.judged == 1 { "" } else { "s" };
    match &fate.killed_by {
        None if fate.judged == 0 => format!("not hunted, due in {}", row.due),
        None => format!("survives {} {what}{plural}, due in {}", fate.judged, row.due),
        Some(by) => {
            let tier = fate.tier.map_or(String::new(), |tier| format!(" ({tier})"));
            let misnamed = if fate.misnamed { ", which is not what it may be called" } else { "" };
            format!("{by}{tier} after {} {what}{plural}{misnamed}", fate.judged)
        }
    }
}

fn ending(card: &Scorecard, out: &mut String) {
    let of = |sort: RowKind| {
        let all: Vec<&Row> = card.rows.iter().filter(|row| row.sort == sort).collect();
        let killed = all.iter().filter(|row| row.is_killed()).count();
        format!("{killed} of {}", all.len())
    };
    let _ = writeln!(
        out,
        "backends {}, schedules {}, comparators {}",
        of(RowKind::Backend),
        of(RowKind::Schedule),
        of(RowKind::Comparator)
    );
    let bits = card.rows.iter().filter(|row| row.bits_only).count();
    let _ = writeln!(
        out,
        "{bits} of the backends are wrong in declared bits alone; all others are hunted declaring no order, too"
    );
    let _ = writeln!(
        out,
        "{} false alarms in {} cases on controls without the bug",
        card.false_alarms.len(),
        card.controls
    );
    for alarm in &card.false_alarms {
        let _ = writeln!(out, "  {alarm}");
    }
    for row in card.missed() {
        let _ = writeln!(out, "missed: {}: {}", row.name, ends(row));
    }
    for row in card.left_for_later() {
        let _ = writeln!(out, "not hunted: {}, due in the {} tier", row.name, row.due);
    }
    let _ = writeln!(out, "{}", card.score);
}

/// One table per family.
#[must_use]
pub fn to_markdown(card: &Scorecard) -> String {
    let mut out = String::new();
    let mut family = "";
    for row in &card.rows {
        if row.family != family {
            family = &row.family;
            let _ =
                write!(out, "\n### {family}\n\n| bug | what its author did | killed by |\n|---|---|---|\n");
        }
        let (name, story) = (cell(&row.name), cell(&row.story));
        let _ = writeln!(out, "| {name} | {story} | {} |", cell(&ends(row)));
    }
    out
}

/// Text that stays inside a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*").replace('_', "\\_")
}
