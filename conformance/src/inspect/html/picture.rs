//! Maps as inline SVG: the matrix by the density of the blocks that its entries went to, and the windows squeezed.

use crate::inspect::map::{BESIDE, CLASSES, Grid, Map};
use crate::inspect::survey::Survey;
use crate::report::show::{count, counted};
use maud::{Markup, html};

/// Width of a picture, and the bounds of its height, in CSS pixels.
const WIDTH: f64 = 280.0;
const HEIGHTS: (f64, f64) = (60.0, 400.0);

/// The pictures; nothing if no format has any.
pub(super) fn section(survey: &Survey) -> Markup {
    if survey.maps.is_empty() {
        return html! {};
    }
    html! {
        section id="maps" {
            h2 { "Where blocks are dense" }
            p.quiet {
                "Left: the matrix; each cell has the mean density of the blocks that its entries went to, or says that most are in none. "
                "Right: the same rows; the blocks of a window from left to right, squeezed, and at the edge the share of entries in none."
            }
            p.key {
                @for (class, words) in CLASSES { span { i class={ "swatch k" (class) } {} " " (words) } }
                span { i class={ "swatch k" (BESIDE) } {} " beside the blocks" }
            }
            div.maps { @for map in &survey.maps { (figure(map)) } }
        }
    }
}

fn figure(map: &Map) -> Markup {
    let (rows, cols) = map.shape;
    let height = (WIDTH * rows as f64 / (cols as f64).max(1.0)).clamp(HEIGHTS.0, HEIGHTS.1);
    html! {
        article.card.map-card {
            h3 { (map.kind.name()) " " small { "blocks of " (map.block.0) " × " (map.block.1) } }
            div.pair {
                figure.plain {
                    (picture(&map.plane, &[], height, "the matrix"))
                    figcaption { (count(rows as u64)) " rows, " (count(cols as u64)) " columns" }
                }
                figure.plain {
                    (picture(&map.squeezed, &map.beside, height, "windows squeezed"))
                    figcaption { "at most " (counted(map.longest as u64, "block")) " in a window" }
                }
            }
        }
    }
}

/// A grid, stretched to the same height as its neighbour; shares as bars in a margin of an eighth of its width.
fn picture(grid: &Grid, shares: &[f64], height: f64, what: &str) -> Markup {
    let margin = if shares.is_empty() { 0.0 } else { grid.width as f64 / 8.0 };
    let width = grid.width as f64 + margin;
    html! {
        svg.grid-map viewBox={ "0 0 " (width) " " (grid.height) } width=(WIDTH) height=(format!("{height:.0}"))
            preserveAspectRatio="none" shape-rendering="crispEdges" role="img" aria-label=(what) {
            @if margin > 0.0 { rect.edge x=(grid.width) y="0" width=(margin) height=(grid.height) {} }
            @for (class, path) in grid.paths() { path class={ "k" (class) } d=(path) {} }
            @for (line, share) in shares.iter().enumerate() { @if *share > 0.0 {
                rect class={ "k" (BESIDE) } x=(grid.width) y=(line) width=(format!("{:.3}", share * margin)) height="1" {}
            } }
        }
    }
}
