//! What each declared part has to do for one element, counted where its terms lie: what the bound depends on besides the gauge.

use super::problem::ElementInput;
use crate::arithmetic::{Along, Arithmetic, Order, Part, Parts, Reduction};
use crate::bound::{SubnormalSums, SubnormalThresholds, TermCounts};

/// How the elements of a case are counted, prepared once.
#[derive(Debug)]
pub(super) struct Counting {
    /// One part of single IEEE operations on one chain: its number of terms says all.
    plain: bool,
    thresholds: [Option<SubnormalThresholds>; 2],
}

/// The counts of one element.
#[derive(Clone, Debug, Default)]
pub(super) struct ElementCounts {
    /// Of the first part and of the second.
    pub(super) census: [TermCounts; 2],
    /// What subnormal operands change.
    pub(super) operands: SubnormalSums,
    /// A subnormal operand that may be flushed meets an infinity: 0 * Inf is NaN.
    pub(super) flush_meets_inf: bool,
}

impl Counting {
    pub(super) fn new(arithmetic: &Arithmetic) -> Counting {
        let part = arithmetic.part();
        let ieee = matches!(part.reduction, Reduction::FmaChain | Reduction::MulAddChain | Reduction::Any);
        let thresholds =
            |part: &Part| Some(SubnormalThresholds::new(arithmetic, part)).filter(|t| !t.is_idle());
        Counting {
            plain: ieee && part.along == Along::Chain && matches!(arithmetic.parts, Parts::One(_)),
            thresholds: [thresholds(part), arithmetic.parts.second().and_then(thresholds)],
        }
    }

    /// True where the number of terms says all.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Counts `site`.
    pub(super) fn load(&self, arithmetic: &Arithmetic, site: &ElementInput<'_>) -> ElementCounts {
        let mut load = ElementCounts::default();
        if self.plain {
            load.census[0] = TermCounts::of(arithmetic.part(), site.sum.terms);
        } else {
            for (index, part) in arithmetic.parts.iter().enumerate() {
                load.census[index] = census(part, site, arithmetic.parts.second().is_some());
            }
        }
        for thresholds in self.thresholds.iter().flatten() {
            // Both parts of a hybrid count every term: a term of one is at most counted for the other too.
            for (a, b) in site.terms.iter() {
                load.operands.add(thresholds, a, b);
                load.flush_meets_inf |=
                    thresholds.may_flush(a) && b.is_infinite() || thresholds.may_flush(b) && a.is_infinite();
            }
        }
        load
    }
}

/// The terms of one part. A hybrid without slots may have any of them in either.
fn census(part: &Part, site: &ElementInput<'_>, hybrid: bool) -> TermCounts {
    let block = part.block() as u32;
    // Blocks that hold a product; slots mostly ascend, so that looking at the last one finds nearly all repetitions.
    let mut blocks: Vec<u32> = Vec::new();
    let mut census = TermCounts::default();
    for (index, (a, b)) in (0u32..).zip(site.terms.iter()) {
        let slot = site.slots.and_then(|slots| slots.get(index as usize));
        if slot.is_some_and(|slot| !slot.is_of(part.selects)) {
            continue;
        }
        let at = slot.map_or(index, |slot| slot.at) / block;
        census.terms += 1;
        census.extent = census.extent.max(u64::from(at) + 1);
        if a != 0.0 && b != 0.0 {
            census.products += 1;
            if blocks.last() != Some(&at) {
                blocks.push(at);
            }
        }
    }
    let known = part.order == Order::Ascending && (site.slots.is_some() || !hybrid);
    if known {
        if !blocks.is_sorted() {
            blocks.sort_unstable();
            blocks.dedup();
        }
        census.blocks = blocks.len() as u64;
    } else {
        census.blocks = census.products;
        census.extent = census.extent.max(census.products);
    }
    // Ranges are cut from all blocks of a tile: those of this element may all lie in one.
    if site.slots.is_some() && matches!(part.along, Along::SplitK { .. }) {
        census.extent = u64::MAX;
    }
    census
}
