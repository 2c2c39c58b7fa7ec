//! What is said, as text.

use crate::ptx::{COUNTERS, Said, Shape, ShownBuffer};
use anyhow::Result;
use std::collections::BTreeMap;
use std::io::Write;

/// The launch, in a line.
pub(super) fn shape(out: &mut impl Write, shape: &Shape) -> Result<()> {
    let sides = |sides: [u32; 3]| sides.map(|side| side.to_string()).join(" x ");
    let alone = if shape.block == [1; 3] { " (one thread a block)" } else { "" };
    let orders = match shape.orders.as_slice() {
        [first, .., last] => format!("orders {first} to {last}"),
        [only] => format!("order {only}"),
        [] => "no order".to_owned(),
    };
    writeln!(
        out,
        "{} (.target {}) as {}: grid {}, block {}{alone}, shared memory {} + {} bytes dynamic, {orders}",
        shape.entry,
        shape.target,
        shape.architecture,
        sides(shape.grid),
        sides(shape.block),
        shape.static_shared,
        shape.dynamic_shared,
    )?;
    Ok(())
}

/// What was found; where `ordered`, with the order in which it was seen first.
pub(super) fn findings(out: &mut impl Write, said: &Said, ordered: bool) -> Result<()> {
    for finding in &said.findings {
        let note = if finding.severity == "note" { "note: " } else { "" };
        let order = if ordered { format!(" (first seen in order {})", finding.order) } else { String::new() };
        writeln!(out, "{note}{}{order}", finding.text)?;
    }
    Ok(())
}

/// That nothing was found.
pub(super) fn clean(out: &mut impl Write, said: &Said) -> Result<()> {
    if said.clean {
        writeln!(out, "clean: {} warp instructions", said.instructions)?;
    }
    Ok(())
}

/// The first elements of each buffer.
pub(super) fn buffers(out: &mut impl Write, buffers: &[ShownBuffer]) -> Result<()> {
    for ShownBuffer { name, kind, count, shown } in buffers {
        let elements: Vec<&str> = shown.iter().map(|element| element.as_deref().unwrap_or("-")).collect();
        let more = if *count > elements.len() as u64 { ", .." } else { "" };
        match elements.as_slice() {
            [] => writeln!(out, "{name} ({count} x {kind})")?,
            all => writeln!(out, "{name} ({count} x {kind}): {}{more}", all.join(", "))?,
        }
    }
    Ok(())
}

/// A line a counter.
pub(super) fn counters(out: &mut impl Write, counts: &BTreeMap<&'static str, u64>) -> Result<()> {
    for counter in COUNTERS {
        let count = |key: &str| counts.get(key).copied().unwrap_or_default();
        let each = match counter.each.map(count) {
            Some(of @ 1..) => format!(" ({:.2} each)", count(counter.key) as f64 / of as f64),
            Some(0) | None => String::new(),
        };
        writeln!(out, "{:<26} {:>14}{each}", counter.label, count(counter.key))?;
    }
    Ok(())
}
