//! What an element may be: exact value, T0, and where the bound of T1 comes from.

use super::number::{counted, labelled};
use crate::case::Case;
use crate::element::Element;
use anyhow::Result;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::bound::{roundings, tolerance};
use sparse_oracle::model::tensor_core::{FinalRounding, TensorCore};
use sparse_oracle::scalar::{Precision, brief, decimal};
use std::collections::BTreeSet;
use std::io::Write;

/// Prints the exact value and what tiers T0 and T1 say.
pub(super) fn tiers(
    out: &mut dyn Write,
    case: &Case,
    element: &Element,
    arithmetic: &Arithmetic,
) -> Result<()> {
    let accepted = &element.accepted;
    let exact = &accepted.exact;
    let in_full = exact.value.to_dyadic().map_or(String::new(), |v| format!(" = {v:x}"));
    let in_full = if in_full.len() > 50 { String::new() } else { in_full };
    let (value, gauge) = (exact.value.approx(), exact.gauge.approx());
    let (value, gauge) = (decimal(value, Precision::F64), brief(gauge));
    let text = format!("{value}{in_full}, gauge (sum of magnitudes) {gauge}");
    labelled(out, "exact", &text)?;
    let t0 = if accepted.order_free {
        "every order of summation gives this value, which is rounded once to the result's type"
    } else {
        "does not apply: some order may round"
    };
    writeln!(out, "  T0         {t0}")?;
    match (accepted.bound(), accepted.tolerance()) {
        (Some(bound), Some(tolerance)) => {
            let (bound, rel, abs) = (brief(bound), brief(tolerance.relative()), brief(tolerance.absolute()));
            writeln!(out, "  T1         may differ by {bound} = {rel} * gauge + {abs}")?;
            labelled(out, "", &derivation(element, arithmetic))?;
        }
        _ => writeln!(out, "  T1         no bound: the exact value is not finite, or nothing is promised")?,
    }
    weakest(out, case, element)?;
    if accepted.may_overflow() {
        writeln!(out, "             an intermediate may overflow, so Inf and NaN are right too")?;
    }
    Ok(())
}

/// Where the bound comes from, in one sentence.
fn derivation(element: &Element, arithmetic: &Arithmetic) -> String {
    let part = arithmetic.part();
    let n = element.terms.len() as u64;
    let count = roundings(arithmetic, n, element.alpha, element.beta);
    let output = match count.output {
        true => format!(", one to {}", arithmetic.out),
        false => String::new(),
    };
    let core = match part.reduction {
        Reduction::Mma { architecture: Some(architecture), instruction } => {
            TensorCore::new(architecture, instruction).ok()
        }
        _ => None,
    };
    let Some((core, sum)) = core.and_then(|core| Some((core, core.fused_sum()?))) else {
        let place = 1 - part.acc.spec().significand as i32;
        let nearest = match part.reduction {
            Reduction::Cpu(unit) => part.nearest && unit.rounds_to_nearest(),
            _ => part.nearest,
        };
        let share = if nearest { "half of" } else { "up to" };
        let times = match (&element.slots, part.block()) {
            (Some(_), 2..) => "every block that holds a term rounds".to_owned(),
            _ => format!("at most {} of any one term", counted(count.depth, "rounding")),
        };
        return format!("{times}, in {} ({share} 2^{place} each){output}", part.acc);
    };
    let links = (blocks(element, part.block() as u32) * core.links() as u64).min(n);
    let toward = match sum.output {
        FinalRounding::F16NearestEven => "to nearest",
        FinalRounding::F32TowardZero | FinalRounding::E8m13TowardZero => "toward zero",
    };
    let after = match count.depth {
        0 => output,
        depth => format!("; at most {} of sums after that{output}", counted(depth, "rounding")),
    };
    format!(
        "{} in at most {}: each term cut below 2^-{} of the largest, each sum rounded {toward} to {} bits{after}",
        counted(n, "product"),
        counted(links, "fused sum"),
        sum.fraction,
        sum.output.significand()
    )
}

/// Blocks of the unit that hold a term.
fn blocks(element: &Element, block: u32) -> u64 {
    match &element.slots {
        None => (element.terms.len() as u64).div_ceil(u64::from(block)),
        Some(slots) => {
            let of_tile = slots.iter().map(|slot| (slot.in_tile, slot.at / block));
            of_tile.collect::<BTreeSet<_>>().len() as u64
        }
    }
}

/// The bound of the contract's weakest arithmetic, for comparison.
fn weakest(out: &mut dyn Write, case: &Case, element: &Element) -> Result<()> {
    let weakest = case.contract.weakest();
    let n = element.terms.len() as u64;
    let gauge = element.accepted.exact.gauge.approx();
    let Some(widest) = tolerance(&weakest, n, element.alpha, element.beta, element.other_max) else {
        let terms = counted(n, "term");
        writeln!(out, "  weakest    the contract's weakest arithmetic promises nothing for {terms}")?;
        return Ok(());
    };
    if element.accepted.exact.value.is_finite() {
        let bound = widest.relative() * gauge + widest.absolute();
        writeln!(
            out,
            "  weakest    any order in {} may differ by {}",
            case.contract.types.acc,
            brief(bound)
        )?;
    }
    Ok(())
}
