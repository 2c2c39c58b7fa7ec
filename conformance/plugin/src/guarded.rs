//! Memory that C code may touch, between guards.
//!
//! ```text
//! base                data                      data + len
//! | guard, 256 bytes  | elements, 64-aligned    | guard, 256 bytes or a few more |
//! ```
//!
//! Guards hold the type's pattern ([`crate::element::pattern`]). The memory is never a Rust value while the library runs:
//! what a `&[T]` holds is copied in before and out after, so that a library that writes where it may not breaks a copy.

use crate::element::{Plain, output_guard, pattern, size};
use std::alloc::{Layout, alloc, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

/// Bytes of guard on either side; a multiple of [`ALIGN`].
const GUARD: usize = 256;
/// Alignment of the elements, in bytes.
const ALIGN: usize = 64;

/// One array that C code is given.
#[derive(Debug)]
pub(crate) struct Guarded {
    base: NonNull<u8>,
    layout: Layout,
    /// Bytes of the elements.
    len: usize,
    /// What the guards hold.
    pattern: [u8; 8],
}

impl Guarded {
    /// Room for `count` elements of a type by its number, holding its pattern; `None` when there is no memory.
    pub(crate) fn fresh(code: i32, count: usize) -> Option<Guarded> {
        let memory = Guarded::allocate(count.checked_mul(size(code))?, output_guard(code))?;
        let blank = pattern(code).to_le_bytes();
        for at in (0..memory.len).step_by(8) {
            let bytes = (memory.len - at).min(8);
            // SAFETY: `at + bytes` is at most `len`, and the pattern has 8 bytes.
            unsafe {
                memory.data().add(at).copy_from_nonoverlapping(blank.as_ptr(), bytes);
            };
        }
        Some(memory)
    }

    /// A copy of an input's `elements`, with NaN around them that shows in what is computed from them; `None` when there is no
    /// memory.
    pub(crate) fn holding<T: Plain>(elements: &[T]) -> Option<Guarded> {
        Guarded::copy(elements, pattern(T::CODE))
    }

    /// A copy of an output's `elements`, with guards around them that a sum changes too.
    pub(crate) fn output<T: Plain>(elements: &[T]) -> Option<Guarded> {
        Guarded::copy(elements, output_guard(T::CODE))
    }

    fn copy<T: Plain>(elements: &[T], guard: u64) -> Option<Guarded> {
        let memory = Guarded::allocate(size_of_val(elements), guard)?;
        // SAFETY: both sides are `len` bytes long, and the allocation is new, so they do not overlap. Source bytes are
        // initialised because a `Plain` type has no padding.
        unsafe {
            memory.data().copy_from_nonoverlapping(elements.as_ptr().cast(), memory.len);
        };
        Some(memory)
    }

    /// Guards written, elements not yet.
    fn allocate(len: usize, guard: u64) -> Option<Guarded> {
        let layout = Layout::from_size_align(len.checked_add(2 * GUARD)?, ALIGN).ok()?;
        // SAFETY: the size is at least 2 * GUARD, not zero.
        let base = NonNull::new(unsafe { alloc(layout) })?;
        let pattern = guard.to_le_bytes();
        let memory = Guarded { base, layout, len, pattern };
        for start in [0, GUARD + len] {
            for at in (0..GUARD).step_by(8) {
                // SAFETY: `start + at + 8` is at most `len + 2 * GUARD`, the size of the allocation.
                unsafe {
                    base.add(start + at).as_ptr().copy_from_nonoverlapping(memory.pattern.as_ptr(), 8);
                };
            }
        }
        Some(memory)
    }

    /// The first element.
    pub(crate) fn data(&self) -> *mut u8 {
        // SAFETY: GUARD is less than the size of the allocation.
        unsafe { self.base.add(GUARD) }.as_ptr()
    }

    /// Bytes of the elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first guard byte that changed, counted from the first element (negative: before it).
    pub(crate) fn broken(&self) -> Option<i64> {
        let guard = |start: usize| {
            // SAFETY: `start + GUARD` is at most the size of the allocation, and `allocate` wrote these bytes. Nobody else
            // writes to them now: the library has returned, and its header forbids threads that go on.
            unsafe { std::slice::from_raw_parts(self.base.add(start).as_ptr(), GUARD) }
        };
        for start in [0, GUARD + self.len] {
            let bytes = guard(start);
            if bytes.chunks_exact(8).all(|chunk| chunk == self.pattern) {
                continue;
            }
            let at = (0..GUARD).find(|at| bytes[*at] != self.pattern[at % 8])?;
            return Some((start + at) as i64 - GUARD as i64);
        }
        None
    }

    /// The elements, `T` being what they were written as.
    fn elements<T: Plain>(&self) -> &[T] {
        // SAFETY: `data` is aligned to 64 bytes, more than any `Plain` type asks for; `len` bytes behind it are
        // initialised by `fresh` or `holding`; every bit pattern is a `T`. Nobody writes to them now (see `broken`).
        unsafe { std::slice::from_raw_parts(self.data().cast(), self.len / size_of::<T>()) }
    }

    /// The first element that is not, bit for bit, what was copied in.
    pub(crate) fn differs<T: Plain>(&self, original: &[T]) -> Option<usize> {
        self.differs_in(original, 0..original.len())
    }

    /// The first element of a range that is not, bit for bit, what was copied in.
    pub(crate) fn differs_in<T: Plain>(&self, original: &[T], range: Range<usize>) -> Option<usize> {
        // SAFETY: `size_of_val` bytes of a slice of a type without padding are initialised, and u8 needs no alignment.
        let original =
            unsafe { std::slice::from_raw_parts(original.as_ptr().cast::<u8>(), size_of_val(original)) };
        let bytes = range.start * size_of::<T>()..range.end * size_of::<T>();
        let (held, original) = (self.elements::<u8>().get(bytes.clone())?, original.get(bytes)?);
        if held == original {
            return None;
        }
        let at = held.iter().zip(original).position(|(a, b)| a != b)?;
        Some(range.start + at / size_of::<T>())
    }

    /// The elements, copied out.
    pub(crate) fn to_vec<T: Plain>(&self) -> Vec<T> {
        self.elements().to_vec()
    }

    /// Copies the elements to where they came from. Lengths are equal by construction.
    pub(crate) fn copy_to<T: Plain>(&self, target: &mut [T]) {
        target.copy_from_slice(self.elements());
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout by `allocate`, and freed once.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_on_either_side_is_found_where_it_was() {
        for count in [0usize, 1, 3, 7, 64] {
            for at in [-256i64, -1, count as i64 * 4, count as i64 * 4 + 255] {
                let memory = Guarded::holding(&vec![7u32; count]).expect("memory");
                assert_eq!(memory.broken(), None);
                // SAFETY: within the guards.
                unsafe {
                    let byte = memory.data().offset(at as isize);
                    byte.write(byte.read() ^ 1);
                }
                assert_eq!(memory.broken(), Some(at), "{count} elements");
            }
        }
    }

    #[test]
    fn elements_come_back_and_a_changed_one_is_named() {
        let memory = Guarded::holding(&[1.0f64, f64::NAN, -0.0]).expect("memory");
        assert_eq!(memory.differs(&[1.0f64, f64::NAN, -0.0]), None);
        assert_eq!(memory.differs(&[1.0f64, f64::NAN, 0.0]), Some(2));
        assert_eq!(memory.to_vec::<f64>()[0], 1.0);
        assert_eq!(memory.data() as usize % ALIGN, 0);
    }

    #[test]
    fn fresh_memory_holds_the_pattern_and_what_is_too_much_is_no_panic() {
        let memory = Guarded::fresh(u16::CODE, 5).expect("memory");
        assert_eq!(memory.to_vec::<u16>(), [0xa64d; 5]);
        assert!(Guarded::fresh(u64::CODE, usize::MAX / 4).is_none());
        assert!(Guarded::fresh(u64::CODE, usize::MAX / 16).is_none());
    }
}
