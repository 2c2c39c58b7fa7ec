//! A processing element in SSMM: psums at addresses, and the address mapping that makes sums of them.
//!
//! ```text
//! append    address  0   1   2   3      rows 0 1 0 0      the addresses of a row are its list
//! map       row 0: addresses 0 2 3 -> sorted by column, equal columns as they came -> added from the left
//! overflow  the buffer is mapped, its sums go to DRAM; a later psum of the same element of C goes on with the sum
//! ```
//!
//! Sorting takes a cycle per psum (one insertion into the shift registers), reading the sorted ones another; two sequences of
//! registers let one row be sorted while the one before is read.

use super::spilled::Spilled;
use super::value::Value;

/// A sum: row and column inside the groups, in 16 bits each, and its value.
pub(super) type Sum<T> = (u32, T);

/// What an element counts between two tiles of C.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ElementCounts {
    /// Most psums held.
    pub(super) psums: u64,
    /// Most psums of a row.
    pub(super) row: u64,
    /// Products made.
    pub(super) multiplies: u64,
    /// Psums added to a sum.
    pub(super) adds: u64,
    /// Times that the buffer was full.
    pub(super) overflows: u64,
    /// Sums written to DRAM before they were complete.
    pub(super) written: u64,
    /// And read back: each of them, once.
    pub(super) read: u64,
    /// The part of these that is read while the last buffer is mapped.
    pub(super) read_last: u64,
}

/// A processing element.
#[derive(Debug)]
pub(super) struct Element<T> {
    room: usize,
    rows: Vec<u16>,
    columns: Vec<u16>,
    values: Vec<T>,
    /// Row, column and address of every psum, sorted while it is mapped.
    keys: Vec<u64>,
    /// In DRAM.
    spilled: Spilled<T>,
    pub(super) counts: ElementCounts,
}

impl<T: Value> Element<T> {
    pub(super) fn new(room: usize) -> Element<T> {
        Element {
            room,
            rows: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            keys: Vec::new(),
            spilled: Spilled::default(),
            counts: ElementCounts::default(),
        }
    }

    /// Every product of a column of A with a row of B, by row, then column. Returns the cycles that the array waited.
    #[inline]
    pub(super) fn outer(&mut self, (rows, a): (&[u16], &[T]), (columns, b): (&[u16], &[T])) -> u64 {
        let mut waited = 0;
        for (&row, &a) in rows.iter().zip(a) {
            for (&column, &b) in columns.iter().zip(b) {
                if self.values.len() == self.room {
                    waited += self.overflow();
                }
                self.rows.push(row);
                self.columns.push(column);
                self.values.push(a.times(b));
                self.counts.multiplies += 1;
            }
        }
        waited
    }

    /// The buffer is full: its sums go to DRAM.
    #[cold]
    fn overflow(&mut self) -> u64 {
        self.counts.overflows += 1;
        let cycles = self.sort();
        self.spill();
        cycles
    }

    /// Sorts all psums by row, column and address; returns the cycles of mapping.
    fn sort(&mut self) -> u64 {
        self.counts.psums = self.counts.psums.max(self.values.len() as u64);
        let places = self.rows.iter().zip(&self.columns).zip(0u64..);
        let key = |((&row, &column), address)| u64::from(row) << 48 | u64::from(column) << 32 | address;
        self.keys.clear();
        self.keys.extend(places.map(key));
        self.keys.sort_unstable();
        let mut cycles = Registers::default();
        for row in self.keys.chunk_by(|a, b| a >> 48 == b >> 48) {
            self.counts.row = self.counts.row.max(row.len() as u64);
            cycles.row(row.len() as u64);
        }
        cycles.read
    }

    /// What was sorted goes to DRAM, and the sums that it goes on with come from there.
    fn spill(&mut self) {
        let (written, read) = self.spilled.write(psums(&self.keys, &self.values));
        self.counts.written += written;
        self.counts.read += read;
        self.clear();
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.columns.clear();
        self.values.clear();
    }

    /// Maps what is left and hands over all sums, by row, then column; returns the cycles.
    pub(super) fn finish(&mut self, mut take: impl FnMut(Sum<T>)) -> u64 {
        let cycles = self.sort();
        if self.spilled.is_empty() {
            for (element, psums) in psums(&self.keys, &self.values) {
                let (sum, adds) = add_up(T::default(), psums);
                self.counts.adds += adds;
                take((element, sum));
            }
            self.clear();
            return cycles;
        }
        // What lies in DRAM is not C yet: all of it comes back, also what no psum of the last buffer goes on with.
        let (lying, read) = self.spilled.settle();
        self.counts.read += read + lying;
        self.counts.read_last += lying;
        self.spilled.write(psums(&self.keys, &self.values));
        self.clear();
        let (sums, adds) = self.spilled.drain();
        self.counts.adds += adds;
        sums.for_each(take);
        cycles
    }
}

/// Psums by sorted keys, element by element of C, each with its psums as they came.
fn psums<T: Value>(keys: &[u64], values: &[T]) -> impl Iterator<Item = (u32, impl Iterator<Item = T>)> {
    let equal = keys.chunk_by(|a, b| a >> 32 == b >> 32);
    equal.map(move |keys| {
        let values = keys.iter().map(|&key| values[key as u32 as usize]);
        ((keys[0] >> 32) as u32, values)
    })
}

/// `before` and all `values`, from the left, and how many additions that took.
pub(super) fn add_up<T: Value>(before: T, values: impl Iterator<Item = T>) -> (T, u64) {
    values.fold((before, 0), |(sum, adds), value| (sum.plus(value), adds + 1))
}

/// When the shift registers are free: two sequences, one sorting, one being read.
#[derive(Default)]
struct Registers {
    sorted: u64,
    read: u64,
    read_before: u64,
}

impl Registers {
    /// The next row, of so many psums.
    fn row(&mut self, psums: u64) {
        self.sorted = self.sorted.max(self.read_before) + psums;
        (self.read_before, self.read) = (self.read, self.sorted.max(self.read) + psums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(element: &mut Element<f64>) -> Vec<Sum<f64>> {
        let mut found = Vec::new();
        element.finish(|sum| found.push(sum));
        found
    }

    /// Rows 1 and 0, columns 2 and 0: sorted by row and column, and equal ones added.
    #[test]
    fn psums_become_sums_by_row_and_column() {
        let mut element = Element::new(16);
        element.outer((&[1], &[2.0]), (&[2], &[3.0]));
        element.outer((&[0, 1], &[5.0, 7.0]), (&[0, 2], &[1.0, 10.0]));
        let at = |row: u32, column: u32| row << 16 | column;
        let expected = [(at(0, 0), 5.0), (at(0, 2), 50.0), (at(1, 0), 7.0), (at(1, 2), 76.0)];
        assert_eq!(sums(&mut element), expected);
        assert_eq!((element.counts.psums, element.counts.row), (5, 3));
        assert_eq!((element.counts.multiplies, element.counts.adds), (5, 5));
    }

    /// A buffer of one psum spills each, and reads a sum back for every psum but the first.
    #[test]
    fn a_full_buffer_goes_on_with_the_sum() {
        let mut element = Element::new(1);
        for value in [1e16, 1.0, -1e16, 3.0] {
            element.outer((&[4], &[value]), (&[7], &[1.0]));
        }
        // In this order 1e16 + 1 rounds to 1e16.
        assert_eq!(sums(&mut element), [(4 << 16 | 7, 3.0)]);
        let counts = element.counts;
        assert_eq!((counts.overflows, counts.written, counts.read), (3, 3, 3));
        assert_eq!((counts.multiplies, counts.adds), (4, 4));
        assert_eq!(sums(&mut element), [], "nothing is left");
    }

    /// Two sums go to DRAM; the last psum goes on with one of them, but both are C and must come back.
    #[test]
    fn what_was_written_is_read_back() {
        let mut element = Element::new(2);
        element.outer((&[0], &[1.0]), (&[0, 1], &[1.0, 2.0]));
        element.outer((&[0], &[1.0]), (&[1], &[4.0]));
        assert_eq!(sums(&mut element), [(0, 1.0), (1, 6.0)]);
        let counts = element.counts;
        assert_eq!((counts.written, counts.read, counts.read_last), (2, 2, 2));
    }

    /// Sorted while the row before is read: 3, then max(3, 2), then 2.
    #[test]
    fn rows_of_the_registers_overlap() {
        let mut registers = Registers::default();
        registers.row(3);
        registers.row(2);
        assert_eq!(registers.read, 3 + 3 + 2);
        assert_eq!(Registers::default().read, 0);
    }
}
