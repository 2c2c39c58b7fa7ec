//! One output element, from its terms to a sentence about it.

use super::number::{counted, fields, float, hex, labelled, marks, signed};
use super::steps;
use super::tiers::tiers;
use crate::case::Case;
use crate::element::Element;
use anyhow::Result;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::exact::Dyadic;
use sparse_oracle::judge::ElementVerdict;
use sparse_oracle::model::trace::{Question, Source, Spoiler, Trace, TraceError};
use sparse_oracle::scalar::{Precision, Rounding, brief, decimal, decode, encode};
use sparse_oracle::verdict::Criterion;
use std::io::Write;

/// Terms printed of one element.
const TERMS_SHOWN: usize = 16;

/// Who the element is of.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    /// The declared arithmetic.
    pub(super) arithmetic: &'a Arithmetic,
    /// False where nothing ran: then it is about what would be.
    pub(super) ran: bool,
}

/// Prints the element.
pub(super) fn follow(out: &mut dyn Write, case: &Case, element: &Element, who: Who<'_>) -> Result<()> {
    terms(out, case, element)?;
    let question = Question {
        terms: &element.terms,
        slots: element.slots.as_deref(),
        alpha: element.alpha,
        beta: element.beta,
        c: element.c,
        computes_zero: element.computes_zero,
    };
    let trace = match element.accepted.modelled {
        Some(_) => Trace::new(who.arithmetic, &question).map(Some),
        None if who.arithmetic.is_deterministic() => Ok(None),
        None => Err(TraceError::NotDeterministic),
    };
    match &trace {
        Ok(Some(trace)) => {
            steps::print(out, trace, &|term| name(element, term))?;
            causes(out, element, trace)?;
        }
        Ok(None) => writeln!(
            out,
            "  steps      the model does not speak here: 0 times what is not finite, or no slots"
        )?,
        Err(TraceError::NotDeterministic) => writeln!(
            out,
            "  steps      not shown: the declared order is free. For a look at one: --arithmetic fma"
        )?,
        Err(error) => writeln!(out, "  steps      not shown: {error}")?,
    }
    tiers(out, case, element, who.arithmetic)?;
    found(out, case, element, who)
}

/// What a term is called.
fn name(element: &Element, term: usize) -> String {
    match element.inner.get(term) {
        Some(k) => format!("k = {k}"),
        None => format!("term {term}"),
    }
}

fn terms(out: &mut dyn Write, case: &Case, element: &Element) -> Result<()> {
    let (at, count) = (element.at, element.terms.len());
    let all = counted(count as u64, "term");
    let position = element.position.map_or(String::new(), |(i, j)| format!(" = row {i}, column {j} of S"));
    writeln!(out, "  element    ({}, {}){position}, {all} (a * b):", at.0, at.1)?;
    let types = case.contract.types;
    // 16 digits of bits say no more than the decimals.
    let is_wide = types.a == Precision::F64;
    let bits = |v: f64, p: Precision| {
        if is_wide { String::new() } else { format!(" {:10}", hex(encode(v, p, Rounding::NearestEven), p)) }
    };
    let width = if is_wide { 24 } else { 15 };
    for (term, &(a, b)) in element.terms.iter().take(TERMS_SHOWN).enumerate() {
        let slot = element.slots.as_ref().and_then(|slots| slots.get(term));
        let slot = slot.map_or(String::new(), |slot| format!(" slot {}", slot.at));
        let exact = Dyadic::from_f64(a).zip(Dyadic::from_f64(b)).map(|(a, b)| &a * &b);
        let product = match &exact {
            Some(exact) if !is_wide => format!("{exact:x}"),
            Some(exact) => format!("{:.6e}", exact.to_f64(Rounding::NearestEven)),
            None => float(a * b),
        };
        writeln!(
            out,
            "{:>11}{slot}  {:>width$}{} * {:>width$}{} = {product}",
            name(element, term),
            float(a),
            bits(a, types.a),
            float(b),
            bits(b, types.b),
        )?;
    }
    if count > TERMS_SHOWN {
        writeln!(out, "             ... and {} more", count - TERMS_SHOWN)?;
    }
    if element.is_second {
        writeln!(
            out,
            "  C          of the second call, from other values: what the first returned is no worse"
        )?;
    }
    let added = if element.beta == 0.0 {
        String::new()
    } else {
        format!(
            ", c = {} {}",
            float(element.c),
            hex(encode(element.c, types.out, Rounding::NearestEven), types.out)
        )
    };
    let factor = element.factor.map_or(String::new(), |factor| format!(" (S holds {})", float(factor)));
    writeln!(out, "  scaled by  alpha = {}{factor}, beta = {}{added}", element.alpha, element.beta)?;
    Ok(())
}

/// Error of the declared order by what caused it; or what made it infinite or NaN.
fn causes(out: &mut dyn Write, element: &Element, trace: &Trace) -> Result<()> {
    writeln!(out, "  gives      {} = {}", hex(trace.bits, trace.out), decimal(trace.result(), trace.out))?;
    match trace.spoiler() {
        Some(Spoiler::Overflow { step }) => writeln!(
            out,
            "  because    step {step} overflows: its exact sum is beyond {}",
            trace.steps[step].to
        )?,
        Some(Spoiler::Operand { step, addend }) => {
            let addend = &trace.steps[step].addends[addend];
            let whose = match addend.source {
                Source::Term(term) => name(element, term),
                Source::C => "c".to_owned(),
                _ => "a factor of the sum".to_owned(),
            };
            let (a, b, product) = (float(addend.a), float(addend.b), addend.a * addend.b);
            let torn = trace.steps[step].result().is_nan() && !product.is_nan();
            let beside = if torn { ", and an infinity of the other sign" } else { "" };
            let text = format!("step {step} takes {whose}: {a} * {b} = {}{beside}", float(product));
            labelled(out, "because", &text)?;
        }
        None => {}
    }
    let (Some(causes), Some(exact)) = (trace.causes(), element.accepted.exact.value.to_dyadic()) else {
        return Ok(());
    };
    let total = &Dyadic::from_f64(trace.result()).unwrap_or_default() - &exact;
    let mut parts: Vec<String> = [
        ("alignment", &causes.alignment),
        ("flush", &causes.flush),
        ("rounding", &causes.rounding),
        ("result type", &causes.output),
    ]
    .into_iter()
    .filter(|(_, error)| !error.is_zero())
    .map(|(cause, error)| format!("{cause} {}", signed(error)))
    .collect();
    // alpha times a stored value is one f64 here.
    let rest = &total - &causes.total();
    if !rest.is_zero() {
        let cause = match element.factor {
            Some(_) => "alpha times the value of S as one f64",
            None => "unexplained, a bug of the suite",
        };
        parts.push(format!("{cause} {}", signed(&rest)));
    }
    match parts.is_empty() {
        true => labelled(out, "error", "0: nothing is lost in this order")?,
        false => labelled(out, "error", &format!("{} = {}", signed(&total), parts.join(", ")))?,
    }
    Ok(())
}

fn found(out: &mut dyn Write, case: &Case, element: &Element, who: Who<'_>) -> Result<()> {
    let precision = case.contract.types.out;
    let accepted = &element.accepted;
    match accepted.modelled {
        Some(bits) => {
            writeln!(
                out,
                "  T2         must be {} = {}",
                hex(bits, precision),
                decimal(decode(bits, precision), precision)
            )?;
        }
        None if who.arithmetic.is_deterministic() => {
            writeln!(out, "  T2         does not apply: the model has no answer here")?;
        }
        None => writeln!(out, "  T2         does not apply: the declared order is free")?,
    }
    if who.ran {
        let bits = element.found;
        writeln!(
            out,
            "  found      {} = {}",
            hex(bits, precision),
            decimal(decode(bits, precision), precision)
        )?;
        let expected = accepted.expected_bits();
        if bits != expected {
            let whose = if accepted.modelled.is_some() { "T2" } else { "nearest" };
            writeln!(out, "{:>13}{}", "found  ", fields(bits, precision))?;
            writeln!(out, "{:>13}{}", format!("{whose}  "), fields(expected, precision))?;
            writeln!(out, "{:13}{}", "", marks(bits, expected, precision))?;
        }
    }
    let verdict = accepted.judge(element.found);
    labelled(out, "verdict", &sentence(verdict, decode(element.found, precision), who.ran))?;
    Ok(())
}

/// The verdict for someone who has read nothing above it.
fn sentence(verdict: ElementVerdict, found: f64, ran: bool) -> String {
    let what = if ran { "the value found" } else { "what this order would give" };
    match verdict {
        ElementVerdict::Exact => format!("right: {what} is the exact result"),
        ElementVerdict::Within(_) if !found.is_finite() => {
            format!(
                "right: {what} is none that an error has; a step may be past the largest number of its type"
            )
        }
        ElementVerdict::Within(share) => format!(
            "right: {what} differs from the exact result by {:.1} % of what this arithmetic may lose",
            share * 100.0
        ),
        ElementVerdict::Unjudged => {
            "not judged: the declared arithmetic promises nothing for so many terms".to_owned()
        }
        ElementVerdict::Wrong(Criterion::T0, _) => {
            format!("wrong: every order gives the exact result here, and {what} is another")
        }
        ElementVerdict::Wrong(Criterion::T1, Some((error, bound))) => {
            format!(
                "wrong: {what} is off by {}, which is {} times what this arithmetic may lose",
                brief(error),
                brief(error / bound)
            )
        }
        ElementVerdict::Wrong(Criterion::T1, None) => {
            format!("wrong: {what} is no number where the exact result is one, or another infinity")
        }
        ElementVerdict::Wrong(Criterion::T2, Some((error, bound))) if error <= bound => format!(
            "wrong: {what} is within the bound ({:.1} %), but not what the declared order gives",
            100.0 * error / bound
        ),
        ElementVerdict::Wrong(Criterion::T2, Some((error, bound))) => format!(
            "wrong: {what} is not what the declared order gives, and off by {} times what that may lose",
            brief(error / bound)
        ),
        ElementVerdict::Wrong(Criterion::T2, None) => {
            format!("wrong: {what} is not what the declared order gives")
        }
    }
}
