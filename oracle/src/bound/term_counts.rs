//! What one part has to add up for one element: terms, and how they lie in blocks along k.

use crate::arithmetic::{Along, Order, Part};

/// Counts of one part's terms in one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TermCounts {
    /// Stored terms, explicit zeros and multiplied pads among them.
    pub terms: u64,
    /// Terms whose product is not zero (at most; fused sums lose nothing of a zero).
    pub products: u64,
    /// Blocks of the unit that hold such a product.
    pub blocks: u64,
    /// All blocks, up to the last one with a term.
    pub extent: u64,
}

impl TermCounts {
    /// `terms` terms, none of them zero, one after another in blocks of `block`; where the order is free, each in a
    /// block of its own.
    #[must_use]
    pub fn of(part: &Part, terms: u64) -> TermCounts {
        let blocks = match part.order {
            Order::Ascending => terms.div_ceil(part.block() as u64),
            Order::Free => terms,
        };
        TermCounts { terms, products: terms, blocks, extent: blocks }
    }

    /// The composition along k. An initial value that is not zero makes the first range one that is not empty.
    pub(super) fn ranges(&self, part: &Part, from_c: bool) -> RangeCounts {
        let passes = |blocks: u32, together: u64| {
            let length = u64::from(blocks.max(1));
            (length, self.extent.div_ceil(length), together)
        };
        let (length, count, together) = match part.along {
            Along::Chain => return RangeCounts { longest: self.blocks, above: 0, additions: 0 },
            Along::SplitK { parts } => {
                let parts = u64::from(parts.max(1));
                (self.extent.div_ceil(parts), parts, u64::MAX)
            }
            Along::TwoPass { blocks } => passes(blocks, u64::MAX),
            Along::ThreePass { blocks, segments } => passes(blocks, u64::from(segments.max(1))),
        };
        let longest = match part.order {
            Order::Ascending => length.min(self.blocks),
            Order::Free => self.blocks,
        };
        let filled = count.min(self.blocks + u64::from(from_c));
        let additions = filled.saturating_sub(1);
        // Of a group of ranges, then of the groups.
        let within_and_of_groups = additions.min(together - 1) + count.div_ceil(together).saturating_sub(1);
        let above = within_and_of_groups.min(additions);
        RangeCounts { longest, above, additions }
    }
}

/// What the composition along k adds to the roundings of the ranges. Adding an empty range is exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangeCounts {
    /// Most blocks with a product in one range.
    pub(super) longest: u64,
    /// Most IEEE additions above any one range.
    pub(super) above: u64,
    /// All of them.
    pub(super) additions: u64,
}
