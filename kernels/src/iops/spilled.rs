//! Sums in DRAM that a full psum buffer has left there, and what later psums make of them.
//!
//! ```text
//! DRAM of the machine    sums: element 3 -> 1.5, 7 -> 2.0    a buffer is written: sums that it goes on with are read, added
//!                                                            to in the order of the psums, and written again
//! here                   sums + log: psums of later buffers, appended; merged into the sums when there are as many
//! ```
//!
//! Adding is put off, never reordered: the log is sorted by element, equal elements as they came. So a psum costs a sort's
//! share, however many sums lie in DRAM.

use super::element::{Sum, add_up};
use super::value::Value;

/// Psums that are merged at once, at least.
const LOG: usize = 4096;

/// A psum of the log: element of C, which buffer it was in, value.
type Logged<T> = (u32, u32, T);

/// Sums in DRAM, of one processing element.
#[derive(Clone, Debug, Default)]
pub(super) struct Spilled<T> {
    /// Ascending.
    sums: Vec<Sum<T>>,
    log: Vec<Logged<T>>,
    /// Buffers written.
    buffers: u32,
    /// Additions made.
    adds: u64,
    /// Sums while they are merged.
    spare: Vec<Sum<T>>,
}

impl<T: Value> Spilled<T> {
    /// Whether no buffer was written.
    pub(super) fn is_empty(&self) -> bool {
        self.buffers == 0
    }

    /// A buffer's psums, element by element. Returns sums written, and sums found to have been read by now.
    pub(super) fn write(
        &mut self,
        psums: impl Iterator<Item = (u32, impl Iterator<Item = T>)>,
    ) -> (u64, u64) {
        let (buffer, mut written) = (self.buffers, 0);
        for (element, values) in psums {
            self.log.extend(values.map(|value| (element, buffer, value)));
            written += 1;
        }
        self.buffers += 1;
        let due = self.log.len() >= self.sums.len().max(LOG);
        (written, if due { self.merge() } else { 0 })
    }

    /// Adds the log to the sums; returns the sums that its buffers read.
    fn merge(&mut self) -> u64 {
        self.log.sort_by_key(|&(element, ..)| element);
        let (mut merged, mut read) = (std::mem::take(&mut self.spare), 0);
        let mut sums = self.sums.drain(..).peekable();
        for psums in self.log.chunk_by(|a, b| a.0 == b.0) {
            let element = psums[0].0;
            while let Some(sum) = sums.next_if(|sum| sum.0 < element) {
                merged.push(sum);
            }
            let before = sums.next_if(|sum| sum.0 == element);
            let buffers = psums.chunk_by(|a, b| a.1 == b.1).count() as u64;
            // The first buffer reads what was there; each later one what the one before has written.
            read += buffers - u64::from(before.is_none());
            let values = psums.iter().map(|psum| psum.2);
            let (sum, adds) = add_up(before.map_or(T::default(), |sum| sum.1), values);
            self.adds += adds;
            merged.push((element, sum));
        }
        merged.extend(sums);
        self.log.clear();
        self.spare = std::mem::replace(&mut self.sums, merged);
        read
    }

    /// Sums that lie in DRAM, and sums found to have been read by now.
    pub(super) fn settle(&mut self) -> (u64, u64) {
        let read = self.merge();
        (self.sums.len() as u64, read)
    }

    /// All sums, ascending, and the additions that they took; nothing is left.
    pub(super) fn drain(&mut self) -> (impl Iterator<Item = Sum<T>>, u64) {
        self.merge();
        self.buffers = 0;
        let adds = std::mem::take(&mut self.adds);
        (self.sums.drain(..), adds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Buffers of `size` psums, of elements drawn from `elements`, against a map that does as the machine does.
    fn compare(elements: u64, size: usize, buffers: usize) {
        let mut state = 1u64;
        let mut draw = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let mut spilled = Spilled::default();
        let mut expected: BTreeMap<u32, f64> = BTreeMap::new();
        let (mut found, mut counted) = ((0, 0), (0, 0));
        for _ in 0..buffers {
            let mut buffer: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for _ in 0..size {
                let element = (draw() % elements) as u32;
                // Sums round, so that their order shows.
                buffer.entry(element).or_default().push(draw() as f64 / 3.0);
            }
            counted.0 += buffer.len() as u64;
            for (&element, psums) in &buffer {
                counted.1 += u64::from(expected.contains_key(&element));
                let sum = expected.entry(element).or_default();
                *sum = psums.iter().fold(*sum, |sum, psum| sum + psum);
            }
            let (written, read) = spilled.write(buffer.into_iter().map(|(e, p)| (e, p.into_iter())));
            found = (found.0 + written, found.1 + read);
        }
        let (lying, read) = spilled.settle();
        assert_eq!((found.0, found.1 + read), counted);
        assert_eq!(lying, expected.len() as u64);
        let (sums, adds) = spilled.drain();
        let sums: Vec<Sum<f64>> = sums.collect();
        assert_eq!(sums, expected.into_iter().collect::<Vec<_>>());
        assert_eq!(adds, (size * buffers) as u64);
        assert!(spilled.is_empty() && spilled.drain().0.next().is_none());
    }

    /// A log that is merged once, at the end, and one that is merged many times; few elements and many.
    #[test]
    fn sums_and_counts_are_those_of_a_map() {
        for (elements, size, buffers) in [(1, 1, 9), (10, 7, 20), (40, 512, 60), (30_000, 512, 90)] {
            compare(elements, size, buffers);
        }
    }
}
