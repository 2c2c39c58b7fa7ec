//! Ratios by matrix as inline SVG: one card for each kernel and peer, a dot and its interval for each matrix.
//!
//! The scale is logarithmic, so that twice as fast is as far from the line at 1 as half as fast.

use super::super::report::BenchReport;
use super::super::statistics::Ratio;
use maud::{Markup, html};

const LEFT: f64 = 190.0;
const WIDTH: f64 = 560.0;
const ROW: f64 = 17.0;
const TOP: f64 = 8.0;
/// Lines of the scale.
const MARKS: [f64; 12] = [0.125, 0.25, 0.5, 0.8, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

type Dot<'a> = (&'a str, Ratio);

pub(super) fn section(report: &BenchReport) -> Markup {
    let cards = cards(report);
    html! {
        @if !cards.is_empty() {
            section id="ratios" {
                h2 { "Ratios by matrix" }
                p.quiet { "Right of the line at 1 the kernel is faster. Logarithmic; bars are 95 % intervals." }
                div.cards.wide { @for (title, dots) in &cards {
                    article.card { h3 { (title) } (plot(title, dots)) }
                } }
            }
        }
    }
}

/// For each kernel (with its parameters' names, not their values) and peer: the matrices and their ratios.
fn cards(report: &BenchReport) -> Vec<(String, Vec<Dot<'_>>)> {
    let mut cards: Vec<(String, Vec<Dot<'_>>)> = Vec::new();
    for comparison in &report.comparisons {
        for measured in comparison.kernels() {
            let kind = super::super::summary::kind(comparison, measured);
            for (peer, ratio) in measured.speed.iter().flat_map(|speed| &speed.against) {
                let title = format!("{kind} over {peer}");
                let dot = (comparison.matrix.as_str(), *ratio);
                match cards.iter_mut().find(|card| card.0 == title) {
                    Some(card) => card.1.push(dot),
                    None => cards.push((title, vec![dot])),
                }
            }
        }
    }
    cards
}

fn plot(title: &str, dots: &[Dot<'_>]) -> Markup {
    let ends = dots.iter().flat_map(|(_, r)| [r.low, r.high]).filter(|v| v.is_finite() && *v > 0.0);
    let (low, high) = ends.fold((0.5f64, 2.0f64), |(low, high), v| (low.min(v), high.max(v)));
    let (low, high) = ((low / 1.1).ln(), (high * 1.1).ln());
    let x = |ratio: f64| {
        let at = (ratio.max(1e-9).ln().clamp(low, high) - low) / (high - low);
        format!("{:.1}", LEFT + at * (WIDTH - LEFT - 10.0))
    };
    let y = |row: usize| TOP + (row as f64 + 0.5) * ROW;
    let bottom = TOP + dots.len() as f64 * ROW;
    html! {
        svg.ratios viewBox={ "0 0 " (WIDTH) " " (bottom + 20.0) } role="img" aria-label=(title) {
            @for mark in MARKS.into_iter().filter(|m| (low..=high).contains(&m.ln())) {
                line class=(if mark == 1.0 { "one" } else { "grid" }) x1=(x(mark)) x2=(x(mark)) y1=(TOP) y2=(bottom) {}
                text.axis x=(x(mark)) y=(bottom + 14.0) { (mark) }
            }
            @for (row, (matrix, ratio)) in dots.iter().enumerate() {
                text.label x=(LEFT - 6.0) y=(y(row) + 4.0) { (short(matrix)) }
                line.interval x1=(x(ratio.low)) x2=(x(ratio.high)) y1=(y(row)) y2=(y(row)) {}
                circle class=(if ratio.ratio >= 1.0 { "faster" } else { "slower" }) cx=(x(ratio.ratio)) cy=(y(row)) r="4" {
                    title { (matrix) ": " (format!("{:.2}x [{:.2}, {:.2}]", ratio.ratio, ratio.low, ratio.high)) }
                }
            }
        }
    }
}

/// A matrix's name that fits beside its dot: no folder, no extension, no seed.
fn short(matrix: &str) -> &str {
    let inner = matrix.strip_prefix("file:[").and_then(|m| m.strip_suffix(']')).unwrap_or(matrix);
    let name = inner.rsplit('/').next().unwrap_or(inner);
    let name = name.split(".mtx").next().unwrap_or(name);
    let name = name.split(",seed=").next().unwrap_or(name);
    name.char_indices().nth(28).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit() {
        assert_eq!(short("file:[/data/open/cnr-2000.mtx.gz]"), "cnr-2000");
        assert_eq!(short("synth:webbase-1M,seed=1"), "synth:webbase-1M");
    }
}
