//! How much of their bounds the cases of each backend used, as inline SVG.
//!
//! A sound bound is used in part by most cases and never exceeded. A histogram crowded at the right says that the
//! bound is tight or the kernel near the edge; everything at the left, that the bound has room.

use crate::report::show::count;
use crate::report::summary::{BackendSummary, Histogram, Summary};
use maud::{Markup, html};

const BINS: usize = 20;
const STEP: usize = 19;
const HEIGHT: u64 = 110;
const BASE: u64 = 132;
const WIDTH: usize = (BINS + 1) * STEP + 14;

/// One histogram per backend that has shares.
pub(super) fn section(summary: &Summary) -> Markup {
    html! {
        section id="shares" {
            h2 { "Shares of bounds" }
            p.quiet {
                "Error of the worst element over its own bound, per case. Each bin is half as wide as the one to its right; \
                 cases that used nothing of their bound are told apart. Bars of one backend share one linear scale."
            }
            div.cards.wide { @for backend in &summary.backends { @if backend.shares.total() > 0 { (card(backend)) } } }
        }
    }
}

fn card(backend: &BackendSummary) -> Markup {
    let shares = &backend.shares;
    html! {
        article.card {
            h3 { (backend.name) }
            (plot(&backend.name, shares))
            p.quiet {
                b { (count(shares.total())) } " cases with a share: "
                b { (count(shares.zero)) } " used nothing of the bound, "
                b { (count(shares.total() - shares.zero - shares.beyond)) } " a part of it, "
                @if shares.beyond > 0 { b.alarm { (count(shares.beyond)) " more than all of it" } }
                @else { "none more than all of it" }
            }
        }
    }
}

/// Counts of the bars: 20 bins without the zeros, then what lies beyond the bound.
fn bars(shares: &Histogram) -> Vec<u64> {
    let mut bars = shares.bins.to_vec();
    bars[0] -= shares.zero;
    bars.push(shares.beyond);
    bars
}

fn plot(name: &str, shares: &Histogram) -> Markup {
    let bars = bars(shares);
    let most = bars.iter().copied().max().unwrap_or(0).max(1);
    html! {
        svg.histogram viewBox={ "0 0 " (WIDTH) " 168" } role="img" aria-label={ "shares of bounds of " (name) } {
            @for percent in [0u64, 50, 100] {
                @let y = BASE - HEIGHT * percent / 100;
                line.grid x1="6" x2=(WIDTH - 6) y1=(y) y2=(y) {}
            }
            @for (place, &number) in bars.iter().enumerate() { @if number > 0 { (bar(place, number, most)) } }
            @for (place, label) in [(0, "≤2⁻¹⁹"), (4, "2⁻¹⁵"), (9, "2⁻¹⁰"), (14, "2⁻⁵"), (17, "¼"), (18, "½"), (19, "1"), (20, ">1")] {
                text.axis x=(middle(place)) y=(BASE + 15) { (label) }
            }
            text.axis x=(WIDTH / 2) y=(BASE + 31) { "share of the bound (upper edge of the bin)" }
        }
    }
}

fn bar(place: usize, number: u64, most: u64) -> Markup {
    let height = (number * HEIGHT / most).max(2);
    let range = match place {
        0 => format!("at most {:.1e}, but not 0", Histogram::upper_edge(0)),
        BINS => "beyond the bound".to_owned(),
        _ => format!("{:.2e} to {:.2e}", Histogram::upper_edge(place - 1), Histogram::upper_edge(place)),
    };
    let class = match place {
        BINS => "bad",
        19 => "mid",
        _ => "low",
    };
    html! {
        rect class=(class) x=(left(place)) y=(BASE - height) width=(STEP - 3) height=(height) rx="2" {
            title { (range) ": " (count(number)) }
        }
        text.value x=(middle(place)) y=(BASE - height - 4) { (short(number)) }
    }
}

/// The last bar stands apart.
fn left(place: usize) -> usize {
    6 + place * STEP + if place == BINS { 5 } else { 0 }
}

fn middle(place: usize) -> usize {
    left(place) + (STEP - 3) / 2
}

/// A count that fits over a bar.
fn short(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..10_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{}k", number / 1000),
    }
}
