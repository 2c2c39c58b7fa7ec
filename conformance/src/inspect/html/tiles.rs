//! How full tiles are, and which entries are in none.

use crate::inspect::numbers::{Numbers, Split, Tiles};
use crate::inspect::survey::{Row, Survey};
use crate::inspect::text::{mean, percent};
use crate::report::show::count;
use maud::{Markup, html};

/// The table; nothing if no format has tiles.
pub(super) fn section(survey: &Survey) -> Markup {
    let rows: Vec<(&Row, &Tiles, Option<&Split>)> = survey.formats.iter().filter_map(tiled).collect();
    if rows.is_empty() {
        return html! {};
    }
    html! {
        section id="tiles" {
            h2 { "Tiles" }
            p.quiet {
                "Density is entries over positions of the stored tiles, means are over tiles and windows that are stored. "
                "Hybrid formats keep entries beside their tiles: for CUDA cores (RS-Tile, Libra), or the vector unit (LOOPS)."
            }
            p.key { span { i.swatch.tensor {} " in tiles" } span { i.swatch.beside {} " beside" } }
            div.scroll.boxed {
                table.board {
                    thead { tr {
                        th { "Format" } th { "Tile" } th.number { "Tiles" } th.number { "Windows" } th { "Density" } th.number { }
                        th.number { "Per tile" } th.number { "Per window" } th { "Split" } th.number { "In tiles" } th.number { "Beside" }
                    } }
                    tbody { @for (row, tiles, split) in rows { (line(survey, row, tiles, split)) } }
                }
            }
        }
    }
}

fn tiled(row: &Row) -> Option<(&Row, &Tiles, Option<&Split>)> {
    let numbers: &Numbers = row.numbers()?;
    Some((row, numbers.tiles.as_ref()?, numbers.split.as_ref()))
}

fn line(survey: &Survey, row: &Row, tiles: &Tiles, split: Option<&Split>) -> Markup {
    html! {
        tr {
            (super::name(survey, row))
            td { (tiles.height) " × " (tiles.width) }
            td.number { (count(tiles.count)) }
            td.number { (count(tiles.windows)) }
            td { (bar(&[("density", tiles.density.unwrap_or(0.0))])) }
            td.number { b { (percent(tiles.density)) } }
            td.number { (mean(tiles.per_tile)) }
            td.number { (mean(tiles.per_window)) }
            @match split {
                None => { td { } td.number { (count(tiles.entries)) } td.number { "-" } },
                Some(split) => {
                    @let share = split.tensor_share.unwrap_or(0.0);
                    td { (bar(&[("tensor", share), ("beside", split.tensor_share.map_or(0.0, |s| 1.0 - s))])) }
                    td.number { (count(split.tensor)) small { (percent(split.tensor_share)) } }
                    td.number { (count(split.cuda)) small { (percent(split.tensor_share.map(|s| 1.0 - s))) } }
                }
            }
        }
    }
}

/// Shares of a whole.
pub(super) fn bar(parts: &[(&'static str, f64)]) -> Markup {
    let mut start = 0.0;
    let mut rects = Vec::new();
    for &(class, share) in parts {
        rects.push((class, start * 100.0, share * 100.0));
        start += share;
    }
    html! {
        svg.ratio viewBox="0 0 100 14" width="100" height="14" aria-hidden="true" {
            rect.axis x="0" y="2" width="100" height="10" {}
            @for (class, x, width) in rects {
                rect class=(class) x=(format!("{x:.1}")) y="2" width=(format!("{width:.1}")) height="10" {}
            }
        }
    }
}
