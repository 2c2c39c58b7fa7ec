//! The registers of a warp: 32 lanes side by side.
//!
//! ```text
//! narrow[slot] = [u32; 32]     values of 8, 16 and 32 bits, in the low bits; the bits above a narrower value are zero
//! wide[slot]   = [u64; 32]
//! predicates[slot] = u32       bit i is lane i
//! ```
//!
//! Constants, parameters' addresses and special registers are slots too, written once a warp, so that every source is a slot.
//! For each slot a mask says which lanes have been written with something defined.

/// Threads of a warp.
pub const LANES: usize = 32;
/// Lanes of a warp; bit i is lane i.
pub type Mask = u32;
/// All lanes.
pub const ALL: Mask = u32::MAX;

/// Which array of [`Registers`] a register lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One bit a lane.
    Predicate,
    /// Up to 32 bits a lane.
    Narrow,
    /// 64 bits a lane.
    Wide,
}

/// A register of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// Which array.
    pub class: Class,
    /// Where in it.
    pub index: u16,
}

/// How many slots of each class there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Predicates.
    pub predicates: usize,
    /// Registers of up to 32 bits.
    pub narrow: usize,
    /// Registers of 64 bits.
    pub wide: usize,
}

/// One array a class.
#[derive(Clone, Debug)]
pub struct Registers {
    /// A mask of lanes a predicate.
    pub predicates: Vec<Mask>,
    /// Values of up to 32 bits.
    pub narrow: Vec<[u32; LANES]>,
    /// Values of 64 bits.
    pub wide: Vec<[u64; LANES]>,
    defined: [Vec<Mask>; 3],
}

impl Registers {
    /// What a lane holds, as a number; the register is no predicate.
    #[inline]
    pub(crate) fn number(&self, slot: Slot, lane: usize) -> u64 {
        let index = usize::from(slot.index);
        match slot.class {
            Class::Wide => self.wide[index][lane],
            Class::Narrow | Class::Predicate => u64::from(self.narrow[index][lane]),
        }
    }

    /// All zero, none defined.
    #[must_use]
    pub fn new(extent: Extent) -> Registers {
        let Extent { predicates, narrow, wide } = extent;
        Registers {
            predicates: vec![0; predicates],
            narrow: vec![[0; LANES]; narrow],
            wide: vec![[0; LANES]; wide],
            defined: [vec![0; predicates], vec![0; narrow], vec![0; wide]],
        }
    }

    /// Becomes a copy of registers of the same extent, without new memory.
    pub fn copy_from(&mut self, other: &Registers) {
        self.predicates.clone_from(&other.predicates);
        self.narrow.clone_from(&other.narrow);
        self.wide.clone_from(&other.wide);
        self.defined.clone_from(&other.defined);
    }

    /// The lanes of a register that hold something defined.
    #[must_use]
    #[inline]
    pub fn defined(&self, slot: Slot) -> Mask {
        self.defined[slot.class as usize][usize::from(slot.index)]
    }

    /// Says for the lanes in `lanes` whether they are defined now.
    #[inline]
    pub fn define(&mut self, slot: Slot, lanes: Mask, defined: Mask) {
        let mask = &mut self.defined[slot.class as usize][usize::from(slot.index)];
        *mask = (*mask & !lanes) | (defined & lanes);
    }
}

/// What changes registers and nothing else: for the lanes of the mask, destinations from sources.
pub type LaneFn = fn(&mut Registers, &Operands, Mask);

/// What an atomic makes of the old value and its two operands.
pub type UpdateFn = fn(u64, u64, u64) -> u64;

/// Registers of a [`LaneFn`], in the order of the instruction's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Where the result goes.
    pub d: Slot,
    /// Where a second result goes (`setp p|q`).
    pub second: Option<Slot>,
    /// The sources; the first `count` of them count.
    pub sources: [Slot; 4],
    /// How many sources there are.
    pub count: u8,
}
