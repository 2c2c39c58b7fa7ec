//! What a run is counted in. The same record serves all dataflows; what one has not, stays 0.

/// Cycles by stage, and from the first entry read to the last written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Reading operands and encoding them.
    pub encode: u64,
    /// The array: comparing indices and multiplying.
    pub multiply: u64,
    /// Address mapping, and writing C.
    pub map: u64,
    /// The array waits for a psum buffer that is full.
    pub stall: u64,
    /// All stages side by side, as far as the double buffers let them.
    pub total: u64,
}

/// Bytes between DRAM and chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// A read.
    pub a_read: u64,
    /// B read.
    pub b_read: u64,
    /// Sums of psums read back.
    pub psum_read: u64,
    /// Psums, or their sums, written before they are complete.
    pub psum_written: u64,
    /// C written.
    pub c_written: u64,
}

impl Traffic {
    /// All bytes read.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.a_read + self.b_read + self.psum_read
    }

    /// All bytes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.read() + self.psum_written + self.c_written
    }
}

/// The most entries that were ever held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HighWater {
    /// In one half of buffer A.
    pub tile_a: u64,
    /// In one half of buffer B.
    pub tile_b: u64,
    /// In all of buffer A: what stays, what is multiplied and what comes meanwhile.
    pub buffer_a: u64,
    /// In all of buffer B.
    pub buffer_b: u64,
    /// In the psum buffer of one element.
    pub psum: u64,
    /// Psums of one row: registers that sorting it needs.
    pub row: u64,
}

/// How often something was fuller than the partition expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflows {
    /// Tiles of A read in several pieces, or again though A stays.
    pub buffer_a: u64,
    /// The same of B.
    pub buffer_b: u64,
    /// Lanes of A with more entries than a length can say, continued in another piece.
    pub col_len: u64,
    /// The same of B.
    pub row_len: u64,
    /// Psum buffers that were full before their tile was done.
    pub psum: u64,
}

impl Overflows {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.buffer_a + self.buffer_b + self.col_len + self.row_len + self.psum
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Processing elements.
    pub elements: u64,
    /// Products of stored entries.
    pub products: u64,
    /// Multiplications, also those with zeros that are not stored.
    pub multiplies: u64,
    /// Additions.
    pub adds: u64,
    /// Operands fetched from the input buffers by the array; one that several elements share counts once.
    pub fetches: u64,
    /// Entries of C.
    pub outputs: u64,
    /// Time.
    pub cycles: Cycles,
    /// DRAM.
    pub dram: Traffic,
    /// Buffers.
    pub high: HighWater,
    /// Buffers that were too small.
    pub overflows: Overflows,
}

impl Counters {
    /// Products of stored entries over what the array could have multiplied while it worked or waited; `None` if it did
    /// neither.
    #[must_use]
    pub fn utilisation(&self) -> Option<f64> {
        share(self.products, self.elements * (self.cycles.multiply + self.cycles.stall))
    }

    /// The same over the whole run.
    #[must_use]
    pub fn overall_utilisation(&self) -> Option<f64> {
        share(self.products, self.elements * self.cycles.total)
    }

    /// Operands fetched in a cycle of the array.
    #[must_use]
    pub fn fetches_per_cycle(&self) -> Option<f64> {
        share(self.fetches, self.cycles.multiply)
    }
}

/// A quotient, unless it is of nothing.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Adds what two parts of a run counted, and keeps the higher of two marks.
pub(super) trait Join {
    fn join(&mut self, other: &Self);
}

macro_rules! join {
    ($type:ty, $with:expr; $($field:ident),*) => {
        impl Join for $type {
            fn join(&mut self, other: &Self) {
                let with: fn(u64, u64) -> u64 = $with;
                $(self.$field = with(self.$field, other.$field);)*
            }
        }
    };
}
join!(HighWater, u64::max; tile_a, tile_b, buffer_a, buffer_b, psum, row);
join!(Overflows, |a, b| a + b; buffer_a, buffer_b, col_len, row_len, psum);
