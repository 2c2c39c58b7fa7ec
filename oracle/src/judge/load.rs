//! What each declared part has to do for one element, counted where its terms lie: what the bound depends on besides the gauge.

use super::problem::ElementInput;
use crate::arithmetic::{Along, Arithmetic, Order, Part, Parts, Reduction, Slot};
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
            Along::TwoPass { blocks } | Along::ThreePass { blocks, .. } => Some(u64::from(blocks)),
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

    /// True where the number of terms says all, of an element with so many `slots`, multiplied pads among them; `placed`: a layout gives them
    /// places.
    pub(super) fn is_by_number(&self, slots: usize, placed: bool) -> bool {
        let fits = |most| most == u64::MAX || !placed && slots as u64 <= most;
        self.on_one_chain.is_some_and(fits)
    }

    /// The counts of each part for an element of so many terms and, pads among them, products; `products` says which of these are not zero.
    pub(super) fn census<P: Iterator<Item = bool>>(
        &self,
        arithmetic: &Arithmetic,
        (terms, all): (u64, usize),
        products: impl Fn() -> P,
        slots: Option<&[Slot]>,
    ) -> [TermCounts; 2] {
        if self.is_by_number(all, slots.is_some()) {
            return [TermCounts::of(arithmetic.part(), terms), TermCounts::default()];
        }
        let hybrid = arithmetic.parts.second().is_some();
        let mut counts = [TermCounts::default(); 2];
        for (counts, part) in counts.iter_mut().zip(arithmetic.parts.iter()) {
            *counts = census(part, products(), slots, hybrid);
        }
        counts
    }

    /// Counts `site`.
    pub(super) fn load(&self, arithmetic: &Arithmetic, site: &ElementInput<'_>) -> ElementCounts {
        let products = || site.terms.iter().map(|(a, b)| a != 0.0 && b != 0.0);
        let census = self.census(arithmetic, (site.sum.terms, site.terms.len()), products, site.slots);
        let mut load = ElementCounts { census, ..ElementCounts::default() };
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
fn census(
    part: &Part,
    products: impl Iterator<Item = bool>,
    slots: Option<&[Slot]>,
    hybrid: bool,
) -> TermCounts {
    let block = part.block() as u32;
    // Blocks that hold a product; slots mostly ascend, so that looking at the last one finds nearly all repetitions.
    let mut blocks: Vec<u32> = Vec::new();
    let mut census = TermCounts::default();
    for (index, is_product) in (0u32..).zip(products) {
        let slot = slots.and_then(|slots| slots.get(index as usize));
        if slot.is_some_and(|slot| !slot.is_of(part.selects)) {
            continue;
        }
        let at = slot.map_or(index, |slot| slot.at) / block;
        census.terms += 1;
        census.extent = census.extent.max(u64::from(at) + 1);
        if is_product {
            census.products += 1;
            if blocks.last() != Some(&at) {
                blocks.push(at);
            }
        }
    }
    let known = part.order == Order::Ascending && (slots.is_some() || !hybrid);
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
    if slots.is_some() && matches!(part.along, Along::SplitK { .. }) {
        census.extent = u64::MAX;
    }
    census
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Precision::F32;

    /// Found by mutation: an element that is counted term by term, where its number of terms says all, is counted the same.
    #[test]
    fn the_number_of_terms_says_all_of_one_chain() {
        let chain = Arithmetic::chain(Reduction::FmaChain, F32, F32);
        let by_number = |along| {
            let counting = Counting::new(&chain.along(along));
            let asked = [(3, false), (4, false), (3, true), (4, true)];
            (asked.map(|(slots, placed)| counting.is_by_number(slots, placed)), counting.always_by_number())
        };
        assert_eq!(by_number(Along::Chain), ([true; 4], true));
        assert_eq!(by_number(Along::TwoPass { blocks: 3 }), ([true, false, false, false], false));
        assert_eq!(by_number(Along::SplitK { parts: 3 }), ([false; 4], false));
    }

    /// Found by mutation: ranges that are cut from blocks which no slot tells, and those that are not, were never counted apart.
    #[test]
    fn only_slots_leave_open_where_ranges_are_cut() {
        let chain = Arithmetic::chain(Reduction::FmaChain, F32, F32);
        let slots = [2, 5].map(|at| Slot { in_tile: true, at });
        let extent = |along, slots: Option<&[Slot]>| {
            let arithmetic = chain.along(along);
            let products = || [true, true].into_iter();
            let [counts, _] = Counting::new(&arithmetic).census(&arithmetic, (2, 2), products, slots);
            counts.extent
        };
        let (two, split) = (Along::TwoPass { blocks: 1 }, Along::SplitK { parts: 2 });
        assert_eq!([extent(two, None), extent(two, Some(&slots))], [2, 6]);
        assert_eq!([extent(split, None), extent(split, Some(&slots))], [2, u64::MAX]);
    }
}
