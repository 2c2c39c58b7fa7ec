//! A survey as text for a terminal: four tables.

use super::cost::Costs;
use super::numbers::{Numbers, Split, Tiles};
use super::survey::{EncodingOutcome, Row, Survey};
use crate::report::show::count;
use std::fmt::Write as _;

/// Width of the first column.
const NAME: usize = 24;

/// The survey as text: sizes of every format, tiles, costs of hybrids, RS-Tile's threshold.
#[must_use]
pub fn to_text(survey: &Survey) -> String {
    let mut text = sizes(survey);
    text.push('\n');
    text += &tiles(survey);
    text.push('\n');
    text += &costs(survey);
    text.push('\n');
    text += &partitions(survey);
    text
}

fn sizes(survey: &Survey) -> String {
    let head = ["index bytes", "of COO", "total bytes", "of COO", "slots", "pads"];
    let mut text = line("format", &head.map(str::to_owned));
    for row in &survey.formats {
        text += &match &row.outcome {
            EncodingOutcome::Encoded(numbers) => line(&name(survey, row), &size_cells(numbers)),
            EncodingOutcome::Refused(reason) => format!("  {:NAME$} refused: {reason}\n", name(survey, row)),
        };
    }
    text
}

fn size_cells(n: &Numbers) -> [String; 6] {
    [
        count(n.index_bytes),
        share(n.index_to_coo),
        count(n.total_bytes),
        share(n.total_to_coo),
        count(n.slots),
        count(n.pads),
    ]
}

fn tiles(survey: &Survey) -> String {
    let head = ["tiles", "windows", "density", "per tile", "per window", "in tiles", "beside"];
    let mut text = line("entries in tiles", &head.map(str::to_owned));
    for row in &survey.formats {
        let Some(Numbers { tiles: Some(tiles), split, .. }) = row.numbers() else {
            continue;
        };
        let name = format!("{} {}x{}", name(survey, row), tiles.height, tiles.width);
        text += &line(&name, &tile_cells(tiles, split.as_ref()));
    }
    text
}

fn tile_cells(tiles: &Tiles, split: Option<&Split>) -> [String; 7] {
    let beside = split.map_or("-".to_owned(), |split| {
        let share = split.tensor_share.map(|share| 1.0 - share);
        format!("{} ({})", count(split.cuda), percent(share))
    });
    [
        count(tiles.count),
        count(tiles.windows),
        percent(tiles.density),
        mean(tiles.per_tile),
        mean(tiles.per_window),
        count(tiles.entries),
        beside,
    ]
}

fn costs(survey: &Survey) -> String {
    let head = ["tensor", "CUDA", "blocks", "utilisation", "data access", "of CUDA only"];
    let mut text = line("hybrid or one unit", &head.map(str::to_owned));
    let costs = match &survey.costs {
        Costs::Counted(costs) => costs,
        Costs::Refused(reason) => return format!("{text}  refused: {reason}\n"),
    };
    for (cost, mode) in costs.iter().flat_map(|cost| cost.modes.iter().map(move |mode| (cost, mode))) {
        let cells = [
            count(mode.tensor),
            count(mode.cuda),
            count(mode.blocks),
            percent(mode.utilisation),
            count(mode.access),
            share(mode.access_to_cuda),
        ];
        text += &line(&format!("{} {}", cost.op, mode.mode), &cells);
    }
    text
}

fn partitions(survey: &Survey) -> String {
    let head = ["described: tile", "window", "CUDA", "printed: tile", "window", "CUDA"];
    let mut text = line("rs_tile by threshold", &head.map(str::to_owned));
    for step in &survey.partitions {
        let cells = [&step.as_described, &step.as_printed]
            .map(|p| [mean(Some(p.per_tile)), mean(Some(p.per_window)), percent(Some(p.cuda_share))]);
        text += &line(&format!("tau={}", step.tau), &cells.concat());
    }
    text
}

/// The format and what is special about its row.
fn name(survey: &Survey, row: &Row) -> String {
    let mut name = vec![row.format];
    name.extend(row.remarks(&survey.values));
    name.join(" ")
}

/// One line: a name, then cells of equal width.
fn line(name: &str, cells: &[String]) -> String {
    let mut text = format!("  {name:NAME$}");
    for cell in cells {
        // Writing to a String cannot fail.
        let _ = write!(text, " {cell:>15}");
    }
    text.push('\n');
    text
}

/// 0.504, or a dash for a share of nothing.
#[must_use]
pub fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// 12.3 %, or a dash.
#[must_use]
pub fn percent(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{:.1} %", value * 100.0))
}

/// 22.53, or a dash.
#[must_use]
pub fn mean(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}
