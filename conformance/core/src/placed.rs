//! Elements that start at a chosen distance from a multiple of 64 bytes, without unsafe code: more room is allocated than
//! they need, and they start at the right element of it.
//!
//! ```text
//! memory  | margin, what lies outside | elements, `len` of them | margin and room |
//!                                     ^ `shift` elements past a multiple of 64 bytes
//! ```

use rayon::prelude::*;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element, Precision, Scalar, Values};
use sparse_oracle::{each_precision, with_scalar};
use std::sync::Arc;

/// What a shift is counted from, in bytes: a line of the cache, and the widest vector.
pub const LINE: usize = 64;

/// Elements that a thread takes at a time, of arrays of more than [`LARGE`].
pub(crate) const PIECE: usize = 1 << 16;

/// Arrays up to this many elements are gone over by one thread, which then does nothing else in between.
pub(crate) const LARGE: usize = 1 << 20;

/// Elements in memory, and where they start.
#[derive(Debug)]
pub struct Placed {
    memory: Arc<Values>,
    start: usize,
    len: usize,
    /// `None`: wherever the allocator put them.
    shift: Option<usize>,
}

/// Memory with room for elements, which are left to whoever asks for it: pages are touched for the first time where they are written.
/// What lies around them holds `outside`.
fn room<T: Scalar>(elements: usize, (margin, shift): (usize, usize), outside: T) -> (Vec<T>, usize) {
    let size = size_of::<T>();
    let line = LINE / size;
    let mut memory = vec![T::default(); elements + 2 * margin + line];
    let address = memory.as_ptr() as usize;
    let wanted = shift * size % LINE;
    let fits = |at: &usize| (address % LINE + at * size) % LINE == wanted;
    // Types are aligned to their size, so that one of the elements of a line always fits.
    let start = (margin..margin + line).find(fits).unwrap_or(margin);
    memory[..start].fill(outside);
    memory[start + elements..].fill(outside);
    (memory, start)
}

/// Large memory side by side: its pages are mostly touched for the first time.
fn fill<T: Scalar>(memory: &mut [T], with: T) {
    if memory.len() <= LARGE {
        memory.fill(with);
    } else {
        memory.par_chunks_mut(PIECE).for_each(|piece| piece.fill(with));
    }
}

impl Placed {
    /// `len` elements that hold `inside`, and at least `margin` of them on either side that hold `outside`.
    #[must_use]
    pub fn filled(
        precision: Precision,
        len: usize,
        (margin, shift): (usize, usize),
        (inside, outside): (u64, u64),
    ) -> Placed {
        with_scalar!(precision, T => {
            let (mut memory, start) = room::<T>(len, (margin, shift), T::from_bits64(outside));
            fill(&mut memory[start..start + len], T::from_bits64(inside));
            Placed { memory: Arc::new(<T as Element>::wrap(memory)), start, len, shift: Some(shift) }
        })
    }

    /// Numbers rounded to the nearest element, with NaN around them.
    #[must_use]
    pub fn from_f64(precision: Precision, numbers: &[f64], shift: usize) -> Placed {
        with_scalar!(precision, T => Placed::made(numbers.len(), shift, |elements: &mut [T]| {
            elements.iter_mut().zip(numbers).for_each(|(to, &number)| *to = T::from_f64(number));
        }))
    }

    /// `len` elements as `fill` leaves them, zeros before, with NaN around them.
    pub(crate) fn made<T: Element>(len: usize, shift: usize, fill: impl FnOnce(&mut [T])) -> Placed {
        let (mut memory, start) = room::<T>(len, (0, shift), T::from_f64(f64::NAN));
        fill(&mut memory[start..start + len]);
        Placed { memory: Arc::new(T::wrap(memory)), start, len, shift: Some(shift) }
    }

    /// The same elements in the same memory, until one of both is written.
    #[must_use]
    pub(crate) fn shared(&self) -> Placed {
        Placed { memory: Arc::clone(&self.memory), ..*self }
    }

    /// The memory, to be written: nobody else's, and where the elements start in it.
    fn own(&mut self) -> (&mut Values, usize) {
        if Arc::get_mut(&mut self.memory).is_none() {
            *self = self.clone();
        }
        (Arc::make_mut(&mut self.memory), self.start)
    }

    /// The same elements in memory that has room for `len` of them, if that is more.
    #[must_use]
    pub fn with_room(&self, len: usize) -> Placed {
        each_precision!(Values, &*self.memory, v => self.copied(v, len.max(self.len)))
    }

    fn copied<T: Element>(&self, from: &[T], len: usize) -> Placed {
        let elements = &from[self.start..self.start + self.len];
        let (mut memory, start) = room::<T>(len, (0, self.shift.unwrap_or(0)), T::from_f64(f64::NAN));
        memory[start..start + self.len].copy_from_slice(elements);
        memory[start + self.len..start + len].fill(T::from_f64(f64::NAN));
        Placed { memory: Arc::new(T::wrap(memory)), start, len: self.len, shift: self.shift }
    }

    /// Overwrites the elements in place; what is no longer one holds NaN. False, and nothing done, where there is no room or the
    /// type is another.
    #[must_use]
    pub fn overwrite(&mut self, with: AnySlice<'_>) -> bool {
        fn write<T: Element>(memory: &mut [T], with: AnySlice<'_>) -> bool {
            let Some(with) = T::unwrap_slice(with).filter(|with| with.len() <= memory.len()) else {
                return false;
            };
            let (elements, rest) = memory.split_at_mut(with.len());
            elements.copy_from_slice(with);
            rest.fill(T::from_f64(f64::NAN));
            true
        }
        let (memory, start) = self.own();
        let written = each_precision!(Values, memory, v => write(&mut v[start..], with));
        if written {
            self.len = with.len();
        }
        written
    }

    /// The elements as numbers, exactly.
    #[must_use]
    pub fn to_f64(&self) -> Vec<f64> {
        let held = self.as_slice();
        let number = |at| sparse_oracle::scalar::decode(held.bits(at), held.precision());
        (0..held.len()).map(number).collect()
    }

    /// The elements.
    #[must_use]
    pub fn as_slice(&self) -> AnySlice<'_> {
        let (start, end) = (self.start, self.start + self.len);
        each_precision!(Values, &*self.memory, v => Element::wrap_slice(&v[start..end]))
    }

    /// The elements, to be written.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> AnySliceMut<'_> {
        self.first_mut(self.len)
    }

    /// The first `count` elements (all, where there are fewer), to be written.
    #[must_use]
    pub fn first_mut(&mut self, count: usize) -> AnySliceMut<'_> {
        let count = count.min(self.len);
        let (memory, start) = self.own();
        each_precision!(Values, memory, v => Element::wrap_slice_mut(&mut v[start..start + count]))
    }

    /// The first bit pattern outside the elements that is not `outside`, as an offset from the first element (negative: before it).
    #[must_use]
    pub fn changed_outside(&self, outside: u64) -> Option<i64> {
        let slice = self.memory.as_slice();
        let mut around = (0..self.start).chain(self.start + self.len..slice.len());
        let at = around.find(|&at| slice.bits(at) != outside)?;
        Some(at as i64 - self.start as i64)
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element type.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.memory.precision()
    }
}

/// A copy starts where its original must.
impl Clone for Placed {
    fn clone(&self) -> Placed {
        self.with_room(self.len)
    }
}

/// Values where they are, whatever their address.
impl From<Values> for Placed {
    fn from(memory: Values) -> Placed {
        Placed { len: memory.len(), memory: Arc::new(memory), start: 0, shift: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(slice: AnySlice<'_>) -> usize {
        each_precision!(AnySlice, slice, v => v.as_ptr() as usize)
    }

    #[test]
    fn every_type_starts_at_every_distance_that_its_elements_allow() {
        for precision in Precision::ALL {
            let size = precision.bytes();
            for shift in 0..LINE {
                for len in [0, 1, 7, 1000] {
                    let numbers = vec![1.0; len];
                    let placed = Placed::from_f64(precision, &numbers, shift);
                    let filled = Placed::filled(precision, len, (16, shift), (3, 3));
                    for placed in [&placed, &placed.clone(), &placed.with_room(3 * len), &filled] {
                        let found = address(placed.as_slice()) % LINE;
                        assert_eq!(found, shift * size % LINE, "{precision} {shift} {len}");
                        assert_eq!(placed.len(), len);
                    }
                    assert_eq!(filled.changed_outside(3), None);
                }
            }
        }
    }

    #[test]
    fn overwriting_keeps_the_address_and_leaves_nothing_of_before() {
        let mut placed = Placed::from_f64(Precision::F32, &[1.0; 3], 5).with_room(9);
        let before = address(placed.as_slice());
        let nine = Values::from_f64(Precision::F32, &[2.0; 9]);
        assert!(placed.overwrite(nine.as_slice()));
        assert_eq!((address(placed.as_slice()), placed.len()), (before, 9));
        let two = Values::from_f64(Precision::F32, &[3.0; 2]);
        assert!(placed.overwrite(two.as_slice()));
        assert_eq!((address(placed.as_slice()), placed.as_slice()), (before, two.as_slice()));
        let many = Values::from_f64(Precision::F32, &[4.0; 4000]);
        assert!(!placed.overwrite(many.as_slice()));
        assert!(!placed.overwrite(Values::from_f64(Precision::F64, &[1.0]).as_slice()));
        assert_eq!(placed.as_slice(), two.as_slice());
    }

    #[test]
    fn shared_memory_is_nobody_elses_once_it_is_written() {
        let placed = Placed::from_f64(Precision::F32, &[1.0; 3], 5);
        let mut other = placed.shared();
        assert_eq!(address(other.as_slice()), address(placed.as_slice()), "nothing is copied");
        let two = Values::from_f64(Precision::F32, &[2.0; 3]);
        assert!(other.overwrite(two.as_slice()));
        assert_eq!((placed.to_f64(), other.to_f64()), (vec![1.0; 3], vec![2.0; 3]));
        assert_eq!(address(other.as_slice()) % LINE, 5 * size_of::<f32>(), "it starts where it must");
    }

    #[test]
    fn a_write_outside_is_found_where_it_was() {
        for at in [-16i64, -1, 5, 20] {
            let mut placed = Placed::filled(Precision::F16, 5, (16, 3), (3, 3));
            let (memory, start) = placed.own();
            let Values::F16(memory) = memory else {
                panic!("of the type asked for");
            };
            memory[(start as i64 + at) as usize] = Scalar::from_bits64(7);
            assert_eq!(placed.changed_outside(3), Some(at));
        }
    }
}
