//! What each declared part has to do for one element, counted where its terms lie: what the bound depends on besides the gauge.

use super::problem::ElementInput;
use crate::arithmetic::{Along, Arithmetic, Order, Part, Parts, Reduction};
use crate::bound::{SubnormalSums, SubnormalThresholds, TermCounts};

/// How the elements of a case are counted, prepared once.
#[derive(Debug)]
pub(super) struct Counting {
    /// One part of single IEEE operations: the number of terms says all, up to so many on one chain.
    on_one_chain: Option<u64>,
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
        let on_one_chain = match part.along {
            Along::Chain => Some(u64::MAX),
            Along::TwoPass { blocks } => Some(u64::from(blocks)),
            Along::SplitK { .. } => None,
        };
        Counting {
            on_one_chain: on_one_chain.filter(|_| ieee && matches!(arithmetic.parts, Parts::One(_))),
            thresholds: [thresholds(part), arithmetic.parts.second().and_then(thresholds)],
        }
    }

    /// True where the number of terms of any element says all.
    pub(super) fn always_by_number(&self) -> bool {
        self.on_one_chain == Some(u64::MAX)
    }

    /// The counts of an element of `terms` terms and so many `slots`, multiplied pads among them, where their number says all; `placed`: a
    /// layout gives places.
    pub(super) fn by_number(
        &self,
        arithmetic: &Arithmetic,
        terms: u64,
        (slots, placed): (usize, bool),
    ) -> Option<[TermCounts; 2]> {
        let most = self.on_one_chain?;
        let on_one_chain = most == u64::MAX || !placed && slots as u64 <= most;
        on_one_chain.then(|| [TermCounts::of(arithmetic.part(), terms), TermCounts::default()])
    }

    /// Counts `site`.
    pub(super) fn load(&self, arithmetic: &Arithmetic, site: &ElementInput<'_>) -> ElementCounts {
        let mut load = ElementCounts::default();
        let layout = (site.terms.len(), site.slots.is_some());
        if let Some(counts) = self.by_number(arithmetic, site.sum.terms, layout) {
            load.census = counts;
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
