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

    /// Most blocks with a product in one range of the composition along k, and the IEEE additions above any one
    /// range (adding an empty range is exact). An initial value that is not zero makes the first range one that is not empty.
    pub(super) fn ranges(&self, part: &Part, from_c: bool) -> (u64, u64) {
        let (length, count) = match part.along {
            Along::Chain => return (self.blocks, 0),
            Along::SplitK { parts } => {
                let parts = u64::from(parts.max(1));
                (self.extent.div_ceil(parts), parts)
            }
            Along::TwoPass { blocks } => {
                let length = u64::from(blocks.max(1));
                (length, self.extent.div_ceil(length))
            }
        };
        let longest = match part.order {
            Order::Ascending => length.min(self.blocks),
            Order::Free => self.blocks,
        };
        let filled = count.min(self.blocks + u64::from(from_c));
        (longest, filled.saturating_sub(1))
    }
}
