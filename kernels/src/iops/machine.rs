//! What the accelerator is made of. The defaults are the paper's, and where its text has lost them, what table X implies.
//!
//! | parameter | default | where from |
//! |---|---|---|
//! | elements | 8 x 8 | table VIII |
//! | clock | 800 MHz | table VIII |
//! | buffers A, B | 2 x 16,384 entries | implied by table X (SEMANTICS 9.12); table VII has lost its cells |
//! | psums of an element | 2 x 512 | implied by table X |
//! | reserve | 25 % | implied by table X |
//! | encoders | 8 entries a cycle each | not in the paper: one for each group |
//! | DRAM | 160 bytes a cycle | our assumption, the paper gives no bandwidth: 128 GB/s at this clock, which is what the papers of OuterSPACE and SpArch give for their HBM (16 channels of 8 GB/s) |

use sparse_types::refusal::{Refusal, RequestError};

/// Most groups: bits of a group bitmap.
pub(super) const GROUPS: usize = 64;
/// What 16 bits of location can count.
pub(super) const EXTENT: usize = 1 << 16;
/// What 8 bits of length can say.
pub(super) const LANE: usize = 255;
/// Bytes of a location in DRAM.
pub(super) const LOCATION: u64 = 4;
/// Bytes of a length in DRAM.
pub(super) const LENGTH: u64 = 2;

/// The accelerator. Capacities are in entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Groups of rows of A: rows of processing elements.
    pub groups_a: usize,
    /// Groups of columns of B: columns of processing elements.
    pub groups_b: usize,
    /// Buffer A, both halves of it.
    pub buffer_a: u64,
    /// Buffer B, both halves of it.
    pub buffer_b: u64,
    /// Psums of one processing element, one of its two sets of buffers.
    pub psum: u64,
    /// Share of the buffers that the partition leaves free because real densities vary, in percent.
    pub reserve: u32,
    /// Clock in MHz.
    pub clock_mhz: u32,
    /// Entries that each encoder takes in a cycle.
    pub encode_rate: u32,
    /// Bytes that DRAM delivers or takes in a cycle.
    pub dram_bytes: u32,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            groups_a: 8,
            groups_b: 8,
            buffer_a: 32_768,
            buffer_b: 32_768,
            psum: 512,
            reserve: 25,
            clock_mhz: 800,
            encode_rate: 8,
            dram_bytes: 160,
        }
    }
}

impl Machine {
    /// Processing elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        (self.groups_a * self.groups_b) as u64
    }

    /// Seconds of so many cycles.
    #[must_use]
    pub fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (f64::from(self.clock_mhz) * 1e6)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`RequestError::Zero`] and [`RequestError::TooLarge`] name the first that no machine can have: a size of 0, a buffer of one
    /// entry (there are two halves), more groups than a bitmap has bits, a reserve that leaves nothing.
    pub fn check(&self) -> Result<(), Refusal> {
        for (field, value) in [
            ("groups_a", self.groups_a as u64),
            ("groups_b", self.groups_b as u64),
            ("buffer_a", self.buffer_a),
            ("buffer_b", self.buffer_b),
            ("psum", self.psum),
            ("clock_mhz", u64::from(self.clock_mhz)),
            ("encode_rate", u64::from(self.encode_rate)),
            ("dram_bytes", u64::from(self.dram_bytes)),
        ] {
            if value == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        for (field, buffer) in [("buffer_a", self.buffer_a), ("buffer_b", self.buffer_b)] {
            if buffer < 2 {
                return Err(Refusal::Request(RequestError::Parameter {
                    field,
                    expected: "at least 2 entries, one in each half",
                    found: buffer,
                }));
            }
        }
        for (field, found, limit) in [
            ("groups_a", self.groups_a as u64, GROUPS as u64),
            ("groups_b", self.groups_b as u64, GROUPS as u64),
            ("buffer_a", self.buffer_a, u64::from(u32::MAX)),
            ("buffer_b", self.buffer_b, u64::from(u32::MAX)),
            ("psum", self.psum, u64::from(u32::MAX)),
            ("reserve", u64::from(self.reserve), 99),
        ] {
            if found > limit {
                let found = u128::from(found);
                return Err(RequestError::TooLarge { field, found, limit }.into());
            }
        }
        Ok(())
    }

    /// Cycles that DRAM needs for so many bytes.
    pub(super) fn transfer(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.dram_bytes))
    }

    /// Cycles that an encoder needs for so many entries.
    pub(super) fn encoding(&self, entries: u64) -> u64 {
        entries.div_ceil(u64::from(self.encode_rate))
    }
}
