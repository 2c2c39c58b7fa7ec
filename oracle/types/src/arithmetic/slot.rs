//! Where a stored term sits along k: what a tiled layout adds to the order of columns.
//!
//! ```text
//! columns of a row     2   3         9      14          slots of a part are counted from 0, k to a block:
//! tiles of k = 4      [2   3   .   .][9   14  .   .]    2 -> 0, 3 -> 1, 9 -> 4, 14 -> 5; slots without a term are 0 * 0
//! ```

use super::Selects;

/// The place of one term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// True for a term of the tiles, false for the rest. A declaration of one part takes both.
    pub in_tile: bool,
    /// The position along k within its part; no two terms of one part and element share one.
    pub at: u32,
}

impl Slot {
    /// True if a part that selects so takes the term.
    #[must_use]
    pub const fn is_of(self, selects: Selects) -> bool {
        match selects {
            Selects::All => true,
            Selects::Tiles => self.in_tile,
            Selects::Rest => !self.in_tile,
        }
    }
}
