//! Memory of the device: allocations in a sparse space of 64-bit addresses.

use super::{Contents, DEVICE_BASE, Span};
use crate::program::Global;
use std::collections::BTreeMap;
use thiserror::Error;

/// Bytes between two allocations that belong to none.
const GAP: u64 = 1 << 20;
/// What every allocation is aligned to.
const ALIGN: u64 = 256;

/// What a device may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all allocations that live at once. The record of who touched them last takes 4 to 16 times as much again, and about 100
    /// bytes for each word that atomics touch; a launch of a program that has some keeps a copy of all of them while it runs.
    pub bytes: u64,
    /// How many allocations there may be in all, freed ones included.
    pub allocations: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 1 << 30, allocations: 1 << 20 }
    }
}

/// What the host asked of memory and cannot have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MemoryError {
    /// More than the limit.
    #[error(
        "{wanted} bytes more than the {used} in use pass the limit of {limit} bytes; free some, or raise the limit"
    )]
    Full {
        /// Asked for.
        wanted: u64,
        /// In use.
        used: u64,
        /// See [`Limits::bytes`].
        limit: u64,
    },
    /// Too many allocations.
    #[error("there were {0} allocations already, which is the limit; make a new device, or raise the limit")]
    TooMany(usize),
    /// Not a power of two.
    #[error("an alignment of {0} bytes is not a power of two up to 1 MiB")]
    Align(u64),
    /// Outside all allocations, or not wholly inside one.
    #[error("{bytes} bytes at {address:#x}: {place}")]
    Outside {
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u64,
        /// Where that lies.
        place: String,
    },
    /// No allocation begins there, or it was freed before.
    #[error("free of {address:#x}: {place}")]
    Free {
        /// What was given.
        address: u64,
        /// Where that lies.
        place: String,
    },
}

/// What [`Device::read_checked`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Which of them nobody stored something defined to: where they begin, counted from the first byte, and how many they are.
    pub undefined: Vec<(usize, usize)>,
}

impl Checked {
    /// For each byte, whether something defined was stored to it.
    #[must_use]
    pub fn defined(&self) -> Vec<bool> {
        let mut defined = vec![true; self.bytes.len()];
        for &(from, count) in &self.undefined {
            defined[from..from + count].fill(false);
        }
        defined
    }
}

/// An allocation that was not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leak {
    /// Its number, from 0 in the order of allocation.
    pub allocation: u32,
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// One allocation, also after it was freed.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) len: u64,
    pub(crate) freed: bool,
    /// Of a variable of a module: never a leak.
    owned: bool,
    /// What it is called, if it has a name.
    pub(super) name: Option<String>,
    pub(crate) span: Span,
}

/// Memory of a device.
#[derive(Debug)]
pub struct Device {
    limits: Limits,
    used: u64,
    next: u64,
    /// Sorted by their addresses, as these only grow.
    pub(crate) allocations: Vec<Allocation>,
    /// The time of accesses: see the shadow.
    pub(crate) stamp: u64,
}

impl Default for Device {
    fn default() -> Device {
        Device::new(Limits::default())
    }
}

impl Device {
    /// Nothing is allocated.
    #[must_use]
    pub fn new(limits: Limits) -> Device {
        Device { limits, used: 0, next: DEVICE_BASE, allocations: Vec::new(), stamp: 1 }
    }

    /// The address of `bytes` undefined bytes. They are aligned to 256 bytes at least.
    ///
    /// # Errors
    /// [`MemoryError`] for too much, or for an alignment that is no power of two.
    pub fn alloc(&mut self, bytes: u64, align: u64) -> Result<u64, MemoryError> {
        if !align.is_power_of_two() || align > GAP {
            return Err(MemoryError::Align(align));
        }
        let limit = self.limits.bytes.min(u64::from(u32::MAX));
        if bytes > limit.saturating_sub(self.used) {
            return Err(MemoryError::Full { wanted: bytes, used: self.used, limit });
        }
        let count = self.allocations.len();
        if count >= self.limits.allocations || u32::try_from(count).is_err() {
            return Err(MemoryError::TooMany(count));
        }
        let base = self.next.next_multiple_of(align.max(ALIGN));
        self.next = base + bytes + GAP;
        self.used += bytes;
        let span = Span::new(usize::try_from(bytes).unwrap_or(0));
        self.allocations.push(Allocation { base, len: bytes, freed: false, owned: false, name: None, span });
        Ok(base)
    }

    /// Puts a module's variables into memory; the addresses by name are what a launch wants.
    ///
    /// # Errors
    /// [`MemoryError`] as of [`alloc`](Self::alloc).
    pub fn load(&mut self, globals: &[Global]) -> Result<BTreeMap<String, u64>, MemoryError> {
        let mut addresses = BTreeMap::new();
        for global in globals {
            let address = self.alloc(global.bytes.len() as u64, u64::from(global.align.max(1)))?;
            self.write(address, &global.bytes)?;
            if let Some(last) = self.allocations.last_mut() {
                last.owned = true;
                last.name = Some(global.name.clone());
            }
            addresses.insert(global.name.clone(), address);
        }
        Ok(addresses)
    }

    /// Gives an allocation back. Its addresses stay known as freed.
    ///
    /// # Errors
    /// [`MemoryError::Free`] where none begins there or it was freed before.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let found = self.allocations.binary_search_by_key(&address, |a| a.base).ok();
        let Some(allocation) = found.map(|i| &mut self.allocations[i]).filter(|a| !a.freed) else {
            return Err(MemoryError::Free { address, place: self.place(address, 1) });
        };
        allocation.freed = true;
        allocation.span = Span::default();
        self.used -= allocation.len;
        Ok(())
    }

    /// Copies from the host; the bytes are defined then.
    ///
    /// # Errors
    /// [`MemoryError::Outside`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let (span, at) = self.part(address, bytes.len())?;
        span.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        span.define_range(at, bytes.len(), true);
        Ok(())
    }

    /// Sets `len` bytes to one value.
    ///
    /// # Errors
    /// [`MemoryError::Outside`].
    pub fn fill(&mut self, address: u64, len: usize, value: u8) -> Result<(), MemoryError> {
        let (span, at) = self.part(address, len)?;
        span.bytes[at..at + len].fill(value);
        span.define_range(at, len, true);
        Ok(())
    }

    /// Copies to the host, undefined bytes as they are.
    ///
    /// # Errors
    /// [`MemoryError::Outside`].
    pub fn read(&mut self, address: u64, len: usize) -> Result<Vec<u8>, MemoryError> {
        let (span, at) = self.part(address, len)?;
        Ok(span.bytes[at..at + len].to_vec())
    }

    /// Copies to the host and says which bytes are undefined: never stored to, or stored to from an undefined register.
    ///
    /// # Errors
    /// [`MemoryError::Outside`].
    pub fn read_checked(&mut self, address: u64, len: usize) -> Result<Checked, MemoryError> {
        let (span, at) = self.part(address, len)?;
        let undefined =
            span.undefined_ranges(at, len).into_iter().map(|(from, count)| (from - at, count)).collect();
        Ok(Checked { bytes: span.bytes[at..at + len].to_vec(), undefined })
    }

    /// What is allocated still; variables of modules do not count.
    #[must_use]
    pub fn leaks(&self) -> Vec<Leak> {
        let living = self.allocations.iter().enumerate().filter(|(_, a)| !a.freed && !a.owned);
        let leak = |(i, a): (usize, &Allocation)| Leak {
            allocation: u32::try_from(i).unwrap_or(u32::MAX),
            address: a.base,
            bytes: a.len,
        };
        living.map(leak).collect()
    }

    /// Bytes of all allocations that live.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Bytes that may be in use.
    pub(crate) fn limit(&self) -> u64 {
        self.limits.bytes
    }

    /// The next stamp of accesses.
    #[inline]
    pub(crate) fn tick(&mut self) -> u64 {
        self.stamp += 1;
        self.stamp
    }

    /// Makes sure that so many stamps follow below `end`: if not, what was touched by earlier launches is forgotten.
    pub(crate) fn reserve_stamps(&mut self, count: u64, end: u64) {
        if self.stamp + count >= end {
            self.stamp = 1;
            self.allocations.iter_mut().for_each(|a| a.span.shadow.clear());
        }
    }

    /// What all allocations hold.
    pub(crate) fn contents(&self) -> Vec<Contents> {
        self.allocations.iter().map(|a| a.span.contents()).collect()
    }

    /// All hold again what they held; a launch allocates and frees nothing.
    pub(crate) fn put_back(&mut self, contents: &[Contents]) {
        self.allocations.iter_mut().zip(contents).for_each(|(a, contents)| a.span.put_back(contents));
    }

    /// The last allocation that begins at or before the address.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<usize> {
        self.allocations.partition_point(|a| a.base <= address).checked_sub(1)
    }

    /// The span and offset of a range that lies in one living allocation.
    fn part(&mut self, address: u64, len: usize) -> Result<(&mut Span, usize), MemoryError> {
        let fits = |a: &Allocation| {
            let offset = address - a.base;
            !a.freed && offset <= a.len && len as u64 <= a.len - offset
        };
        match self.find(address).filter(|&i| fits(&self.allocations[i])) {
            Some(i) => {
                let a = &mut self.allocations[i];
                Ok((&mut a.span, usize::try_from(address - a.base).unwrap_or(usize::MAX)))
            }
            None => Err(MemoryError::Outside {
                address,
                bytes: len as u64,
                place: self.place(address, len as u64),
            }),
        }
    }
}
