//! The operations of an element, the ones that matter of many.
//!
//! ```text
//!   step 0     fused sum, E = 0, unit 2^(0 - 24) = 2^-24
//!     k = 3    1.000000000000000000000000|          16777216 units
//!     k = 9    0.000000000000000000000001|1                1 units, cut -0.500
//! ```

use super::number::{counted, float, hex, in_units, labelled, ratio, signed, ulp};
use sparse_oracle::exact::Dyadic;
use sparse_oracle::model::trace::{Addend, Frame, Kind, Source, Step, Trace};
use sparse_oracle::scalar::Rounding;
use std::io::{Result, Write};

/// Steps shown from either end, and of those with the largest error: fused sums, which take several lines; others.
const FUSED_SHOWN: usize = 1;
const OTHERS_SHOWN: usize = 4;

/// Places behind the last kept one that are drawn.
const CUT_SHOWN: i64 = 10;

/// Prints the steps; `name` says what a term is called.
pub(super) fn print(out: &mut dyn Write, trace: &Trace, name: &dyn Fn(usize) -> String) -> Result<()> {
    let busy: Vec<usize> = (0..trace.steps.len()).filter(|&i| !trace.steps[i].is_idle()).collect();
    let shown = chosen(trace, &busy);
    let idle = trace.steps.len() - busy.len();
    let and_idle = if idle == 0 {
        String::new()
    } else {
        format!(", besides {idle} on places without terms that change nothing")
    };
    writeln!(out, "  steps      {} in the declared order{and_idle}", busy.len())?;
    if trace.steps.iter().any(|step| step.frame.is_some()) {
        let legend = "terms of fused sums in binary, behind the bar what is cut off; then the units kept";
        labelled(out, "", legend)?;
    }
    let mut left_out: Vec<usize> = Vec::new();
    let mut in_table = false;
    for &index in &busy {
        let step = &trace.steps[index];
        if !shown.contains(&index) {
            left_out.push(index);
            continue;
        }
        gap(out, trace, &mut left_out)?;
        match &step.frame {
            Some(frame) => {
                fused(out, index, step, frame, name)?;
                in_table = false;
            }
            None => {
                if !in_table {
                    writeln!(
                        out,
                        "{:>6}  {:22} {:14} {:>22} {:18} {:>10}",
                        "step", "operation", "on", "result", "", "error, ulp"
                    )?;
                }
                in_table = true;
                plain(out, index, step, name)?;
            }
        }
    }
    gap(out, trace, &mut left_out)
}

/// The first, the last, and those with the largest errors.
fn chosen(trace: &Trace, busy: &[usize]) -> Vec<usize> {
    let fused = busy.iter().any(|&i| trace.steps[i].frame.is_some());
    let many = if fused { FUSED_SHOWN } else { OTHERS_SHOWN };
    let sums: Vec<usize> =
        busy.iter().copied().filter(|&i| !fused || trace.steps[i].frame.is_some()).collect();
    let mut by_error: Vec<(Dyadic, usize)> = sums
        .iter()
        .filter_map(|&i| Some((weighted(&trace.steps[i])?.abs(), i)))
        .filter(|(error, _)| !error.is_zero())
        .collect();
    by_error.sort_by(|x, y| y.cmp(x));
    let mut shown: Vec<usize> = by_error.into_iter().take(many).map(|(_, i)| i).collect();
    shown.extend(sums.iter().take(many).chain(sums.iter().rev().take(many)));
    // What joins sums is always of interest, up to a limit of its own; so is what first is no number.
    let joins: Vec<usize> = busy.iter().copied().filter(|i| !sums.contains(i)).collect();
    shown.extend(joins.iter().take(OTHERS_SHOWN).chain(joins.iter().rev().take(OTHERS_SHOWN)));
    shown.extend(busy.iter().find(|&&i| !trace.steps[i].result().is_finite()));
    shown
}

fn weighted(step: &Step) -> Option<Dyadic> {
    Some(step.weight.as_ref()? * &step.error()?)
}

/// Says how many steps are left out here, and what they lost together.
fn gap(out: &mut dyn Write, trace: &Trace, left_out: &mut Vec<usize>) -> Result<()> {
    if left_out.is_empty() {
        return Ok(());
    }
    let errors: Option<Vec<Dyadic>> = left_out.iter().map(|&i| weighted(&trace.steps[i])).collect();
    let together = errors.map_or_else(
        || "not all finite".to_owned(),
        |errors| format!("their errors add up to {}", signed(&errors.into_iter().sum())),
    );
    writeln!(out, "   ...  {} left out, {together}", counted(left_out.len() as u64, "step"))?;
    left_out.clear();
    Ok(())
}

/// One line for an operation of IEEE kind.
fn plain(out: &mut dyn Write, index: usize, step: &Step, name: &dyn Fn(usize) -> String) -> Result<()> {
    let unit = ulp(step.result(), step.to, step.significand);
    let vanishes = step.flushes && step.result() == 0.0 && step.sum().is_some_and(|sum| !sum.is_zero());
    let cuts = step.cut().is_some_and(|cut| !cut.is_zero());
    let error = match step.error() {
        _ if vanishes || cuts => "flushed".to_owned(),
        Some(error) => ratio(&error, unit.as_ref()),
        None => "-".to_owned(),
    };
    writeln!(
        out,
        "{index:>6}  {:22} {:14} {:>22} {:18} {error:>10}",
        operation(step),
        on(step, name),
        float(step.result()),
        hex(step.bits, step.to),
    )
}

fn operation(step: &Step) -> String {
    let mode = match step.rounding {
        Rounding::ToOdd => ", to odd",
        Rounding::TowardZero => ", to zero",
        _ => "",
    };
    format!("{}{mode}", step.kind.name())
}

/// What a step adds to what there is.
fn on(step: &Step, name: &dyn Fn(usize) -> String) -> String {
    let terms: Vec<String> = step
        .addends
        .iter()
        .filter_map(|addend| match addend.source {
            Source::Term(term) => Some(name(term)),
            Source::C => Some("c".to_owned()),
            _ => None,
        })
        .collect();
    match (terms.is_empty(), step.kind) {
        (true, Kind::Output) => step.to.to_string(),
        _ if terms.len() > 2 => format!("{} terms", terms.len()),
        _ => terms.join(", "),
    }
}

/// A fused sum: a picture of what is aligned, then the rounding.
fn fused(
    out: &mut dyn Write,
    index: usize,
    step: &Step,
    frame: &Frame,
    name: &dyn Fn(usize) -> String,
) -> Result<()> {
    let Frame { sum, exponent, unit, .. } = *frame;
    let largest = match frame.at_floor {
        true => format!("E = {exponent}, the least there is"),
        false => format!("largest exponent E = {exponent}"),
    };
    writeln!(
        out,
        "{index:>6}  fused sum: {largest}; below the unit, 2^(E - {}) = 2^{unit}, all is cut off",
        sum.fraction
    )?;
    let zeros = step.addends.iter().filter(|addend| !is_drawn(addend)).count();
    for addend in step.addends.iter().filter(|addend| is_drawn(addend)) {
        let what = match addend.source {
            Source::Term(term) => name(term),
            Source::Sum => "sum before".to_owned(),
            Source::C => "c".to_owned(),
            Source::Zero | Source::Pad => "0".to_owned(),
        };
        let cut = addend.cut().unwrap_or_default();
        let lost = if cut.is_zero() { String::new() } else { format!("  cut {}", in_units(&cut, unit)) };
        let units = addend.aligned.map_or(0, |aligned| aligned.0);
        let picture = picture(&addend.exact().unwrap_or_default(), exponent, unit);
        writeln!(out, "{:8}{what:>11} {picture} {units:>11}{lost}", "")?;
    }
    if zeros > 0 {
        writeln!(out, "{:8}{:>11}  {zeros} that are zero", "", "and")?;
    }
    let rounded = step.rounded().unwrap_or_default();
    let mode = match step.rounding {
        Rounding::TowardZero => "toward zero",
        _ => "to nearest",
    };
    let total = in_units(&rounded, unit);
    writeln!(
        out,
        "{:8}{:>11}  {}, {mode} to {} bits: {} = {}, {}",
        "",
        "sum",
        frame.total,
        step.significand,
        hex(step.bits, step.to),
        float(step.result()),
        if rounded.is_zero() { "exact".to_owned() } else { format!("rounding {total}") }
    )
}

fn is_drawn(addend: &Addend) -> bool {
    addend.exact().is_some_and(|exact| !exact.is_zero())
}

/// The bits of a term from 2^(E + 1) on, a bar behind the last kept place, then some of those that are cut.
fn picture(term: &Dyadic, exponent: i32, unit: i32) -> String {
    let (top, unit) = (i64::from(exponent) + 1, i64::from(unit));
    let msb = term.msb_exponent().unwrap_or(i64::MIN);
    let lsb = term.lsb_exponent().unwrap_or(i64::MAX);
    let mut text = String::from(if term.is_negative() { "-" } else { " " });
    for place in (unit - CUT_SHOWN..=top).rev() {
        text.push(match term.has_bit(place) {
            true => '1',
            false if place < msb && place >= lsb.min(unit) => '0',
            false if place < lsb && place < unit => ' ',
            false => '.',
        });
        if place == unit {
            text.push('|');
        }
    }
    text.push(if lsb < unit - CUT_SHOWN { '+' } else { ' ' });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_show_what_survives() {
        let number = |v: f64| Dyadic::from_f64(v).expect("finite");
        let drawn = |v: f64| picture(&number(v), 0, -4).trim_end().to_owned();
        assert_eq!(drawn(1.0), " .10000|");
        assert_eq!(drawn(-2.25), "-100100|");
        assert_eq!(drawn(0.09375), " .....1|1");
        assert_eq!(drawn(2f64.powi(-7)), " ......|..1");
        assert_eq!(drawn(2f64.powi(-20)), " ......|..........+");
    }
}
