//! Bytes of every format against COO: a table whose bars share one scale.

use crate::inspect::numbers::Numbers;
use crate::inspect::survey::{EncodingOutcome, Row, Survey};
use crate::inspect::text::share;
use crate::report::show::{count, percent};
use maud::{Markup, html};

/// Length of a bar's axis.
const AXIS: f64 = 150.0;

/// Bars past this many times COO are cut.
const MOST: f64 = 3.0;

/// The table.
pub(super) fn section(survey: &Survey) -> Markup {
    let ratios = |of: fn(&Numbers) -> Option<f64>| {
        let all = survey.formats.iter().filter_map(Row::numbers).filter_map(of);
        all.fold(1.0, f64::max).min(MOST)
    };
    let scales = [ratios(|n| n.index_to_coo), ratios(|n| n.total_to_coo)];
    html! {
        section id="sizes" {
            h2 { "Bytes" }
            p.quiet {
                "Index arrays (offsets, indices, bitmaps) and all arrays, over those of COO, which is the line. "
                "Structured formats hold only matrices of their pattern: where they refuse, the pruned matrix is measured too, over COO of what was kept."
            }
            p.key { span { i.swatch.index {} " index" } span { i.swatch.value {} " values, pads included" } }
            div.scroll.boxed {
                table.board.bytes {
                    thead { tr {
                        th { "Format" } th { "Index / COO" } th.number { } th.number { "Index bytes" }
                        th { "Total / COO" } th.number { } th.number { "Total bytes" } th.number { "Slots" } th.number { "Pads" }
                    } }
                    tbody { @for row in &survey.formats { (line(survey, row, scales)) } }
                }
            }
        }
    }
}

fn line(survey: &Survey, row: &Row, scales: [f64; 2]) -> Markup {
    html! {
        tr {
            (super::name(survey, row))
            @match &row.outcome {
                EncodingOutcome::Refused(reason) => td.refused colspan="8" { "refused: " (reason) },
                EncodingOutcome::Encoded(numbers) => (cells(numbers, scales)),
            }
        }
    }
}

fn cells(n: &Numbers, scales: [f64; 2]) -> Markup {
    let index = n.index_to_coo.unwrap_or(0.0);
    let total = n.total_to_coo.unwrap_or(0.0);
    let of_total = if n.total_bytes > 0 { total * n.index_bytes as f64 / n.total_bytes as f64 } else { 0.0 };
    html! {
        td { (bar(&[("index", index)], scales[0])) }
        td.number { b { (share(n.index_to_coo)) } }
        td.number { (count(n.index_bytes)) }
        td { (bar(&[("index", of_total), ("value", total - of_total)], scales[1])) }
        td.number { b { (share(n.total_to_coo)) } }
        td.number { (count(n.total_bytes)) }
        td.number { (count(n.slots)) }
        td.number { (count(n.pads)) @if n.pads > 0 { small { (percent(n.pads, n.slots)) } } }
    }
}

/// Parts of one bar as multiples of COO; the line is COO. A bar past the axis ends in a notch.
fn bar(parts: &[(&'static str, f64)], scale: f64) -> Markup {
    let unit = AXIS / scale;
    let mut start = 0.0;
    let mut rects = Vec::new();
    for &(class, length) in parts {
        let end = (start + length).min(scale);
        if end > start {
            rects.push((class, start * unit, (end - start) * unit));
        }
        start += length;
    }
    let cut = start > scale * 1.0001;
    html! {
        svg.ratio viewBox={ "0 0 " (AXIS + 6.0) " 14" } width=(AXIS + 6.0) height="14" aria-hidden="true" {
            @for (class, x, width) in rects {
                rect class=(class) x=(format!("{x:.1}")) y="2" width=(format!("{width:.1}")) height="10" {}
            }
            @if cut { path.cut d={ "M" (AXIS - 7.0) " 14l4 -14h3l-4 14z" } {} }
            line.one x1=(format!("{unit:.1}")) x2=(format!("{unit:.1}")) y1="0" y2="14" {}
        }
    }
}
