//! Memory that C code may touch, between guards.
//!
//! ```text
//! base                                                                                        base + size
//! | no access, 16 MiB | lead: pattern | elements, 64-aligned | tail: pattern | no access, 16 MiB |
//!
//! of three requests in four: lead of 256 bytes or more, tail of less than 64: what is read or written past the end faults
//! of the fourth:            no lead, tail of 256 bytes or more:              what is read or written before the start faults
//! ```
//!
//! Lead and tail hold the type's pattern ([`crate::element::pattern`]). The memory is never a Rust value while the library runs:
//! what a `&[T]` holds is copied in before and out after, so that a library that writes where it may not breaks a copy. Who was
//! touched by a fault is said by [`crate::fault`].

use crate::element::{Plain, output_guard, pattern, size};
use crate::fault::{self, Watched};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of pattern on the side that does not end in memory without access; a multiple of [`ALIGN`].
const GUARD: usize = 256;
/// Alignment of the elements, in bytes.
const ALIGN: usize = 64;
/// Bytes without access on either side: address space, no memory.
const CLOSED: usize = 16 << 20;

/// Arrays of the request that is served start at memory without access, instead of ending there.
static AT_START: AtomicBool = AtomicBool::new(false);

/// A call begins, of a request that these numbers and names tell from others: asked again, it has the same memory.
pub(crate) fn turn(request: impl Hash) {
    let mut hasher = DefaultHasher::new();
    request.hash(&mut hasher);
    AT_START.store(hasher.finish().is_multiple_of(4), Ordering::Relaxed);
}

fn at_end() -> bool {
    !AT_START.load(Ordering::Relaxed)
}

/// One array that C code is given.
#[derive(Debug)]
pub(crate) struct Guarded {
    base: NonNull<u8>,
    /// Bytes of the whole mapping.
    size: usize,
    /// Bytes from `base` to the first one with access, to the elements, past them, and past the last one with access.
    open: usize,
    start: usize,
    end: usize,
    close: usize,
    /// What lead and tail hold.
    pattern: [u8; 8],
    _watched: Option<Watched>,
}

// SAFETY: the mapping is owned by this value alone, and nothing about it belongs to a thread.
unsafe impl Send for Guarded {}

impl Guarded {
    /// Room for `count` elements of a type by its number, holding its pattern; `None` when there is no memory.
    pub(crate) fn fresh(code: i32, count: usize) -> Option<Guarded> {
        let mut memory = Guarded::allocate(count.checked_mul(size(code))?, output_guard(code), at_end())?;
        memory.fill(memory.start..memory.end, pattern(code).to_le_bytes());
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

    /// The same memory, with names for who faults beside it.
    pub(crate) fn named(mut self, operand: &'static str, array: &'static str) -> Guarded {
        let base = self.base.as_ptr() as usize;
        let elements = base + self.start..base + self.end;
        self._watched = fault::watch(base..base + self.size, elements, operand, array);
        self
    }

    fn copy<T: Plain>(elements: &[T], guard: u64) -> Option<Guarded> {
        Guarded::copy_at(elements, guard, at_end())
    }

    fn copy_at<T: Plain>(elements: &[T], guard: u64, at_end: bool) -> Option<Guarded> {
        let memory = Guarded::allocate(size_of_val(elements), guard, at_end)?;
        // SAFETY: both sides are `len` bytes long, and the mapping is new, so they do not overlap. Source bytes are
        // initialised because a `Plain` type has no padding.
        unsafe {
            memory.data().copy_from_nonoverlapping(elements.as_ptr().cast(), memory.len());
        };
        Some(memory)
    }

    /// Lead and tail written, elements zero.
    fn allocate(len: usize, guard: u64, at_end: bool) -> Option<Guarded> {
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let room = len.checked_next_multiple_of(ALIGN)?.checked_add(GUARD)?.checked_next_multiple_of(page)?;
        let closed = CLOSED.next_multiple_of(page);
        let size = room.checked_add(2 * closed)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast::<u8>())?;
        let (open, close) = (closed, closed + room);
        let start = if at_end { close - len.next_multiple_of(ALIGN) } else { open };
        let (end, pattern) = (start + len, guard.to_le_bytes());
        let mut memory = Guarded { base, size, open, start, end, close, pattern, _watched: None };
        // SAFETY: these pages are of the mapping that was just made.
        let access = unsafe {
            libc::mprotect(base.as_ptr().add(open).cast(), room, libc::PROT_READ | libc::PROT_WRITE)
        };
        if access != 0 {
            return None;
        }
        memory.fill(open..start, pattern);
        memory.fill(end..close, pattern);
        Some(memory)
    }

    /// Writes a pattern to bytes with access, counted from `base`; it lies as if it had started at `base`.
    fn fill(&mut self, range: Range<usize>, mut pattern: [u8; 8]) {
        assert!(self.open <= range.start && range.end <= self.close, "bytes with access");
        pattern.rotate_left(range.start % 8);
        // SAFETY: the range has access, as was just checked, and `&mut self` is the only way to it.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(self.base.add(range.start).as_ptr(), range.len()) };
        bytes.chunks_mut(8).for_each(|some| some.copy_from_slice(&pattern[..some.len()]));
    }

    /// Writes as a library would, from a byte that counts from the first element; what falls where nobody has access is left out.
    pub(crate) fn write(&mut self, at: i64, content: &[u8]) {
        let to = i64::try_from(self.start).unwrap_or(i64::MAX).saturating_add(at);
        for (to, &byte) in (to..).zip(content) {
            if let Ok(to) = usize::try_from(to)
                && (self.open..self.close).contains(&to)
            {
                // SAFETY: the byte has access, as was just checked, and `&mut self` is the only way to it.
                unsafe { self.base.add(to).write(byte) };
            }
        }
    }

    /// Bytes with access, counted from `base`.
    fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(self.open <= range.start && range.end <= self.close, "bytes with access");
        // SAFETY: the range has access, as was just checked, and `allocate` initialised it (the kernel gives zeros). Nobody writes to it now: the
        // library has returned, and its header forbids threads that go on.
        unsafe { std::slice::from_raw_parts(self.base.add(range.start).as_ptr(), range.len()) }
    }

    /// The first element.
    pub(crate) fn data(&self) -> *mut u8 {
        // SAFETY: `start` is within the mapping.
        unsafe { self.base.add(self.start) }.as_ptr()
    }

    /// Bytes of the elements.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The first byte of lead or tail that changed, counted from the first element (negative: before it).
    pub(crate) fn broken(&self) -> Option<i64> {
        for part in [self.open..self.start, self.end..self.close] {
            let first = part.start;
            let wrong = |(at, byte): (usize, &u8)| *byte != self.pattern[(first + at) % 8];
            if let Some(at) = self.bytes(part).iter().enumerate().position(wrong) {
                return Some((first + at) as i64 - self.start as i64);
            }
        }
        None
    }

    /// The elements, `T` being what they were written as.
    fn elements<T: Plain>(&self) -> &[T] {
        // SAFETY: `data` is aligned to 64 bytes, more than any `Plain` type asks for; `len` bytes behind it are
        // initialised by `fresh` or `holding`; every bit pattern is a `T`. Nobody writes to them now (see `bytes`).
        unsafe { std::slice::from_raw_parts(self.data().cast(), self.len() / size_of::<T>()) }
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
        // SAFETY: mapped with this size by `allocate`, and unmapped once.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_on_either_side_is_found_where_it_was() {
        let mut sides = [0, 0];
        for count in [0usize, 1, 3, 7, 64] {
            for at in [-256i64, -1, count as i64 * 4, count as i64 * 4 + 255] {
                for at_end in [true, false] {
                    let elements = vec![7u32; count];
                    let memory = Guarded::copy_at(&elements, pattern(u32::CODE), at_end).expect("memory");
                    assert_eq!(memory.broken(), None);
                    let place = memory.start as i64 + at;
                    // What has no access faults; see tests/plugin.
                    if place < memory.open as i64 || place >= memory.close as i64 {
                        continue;
                    }
                    sides[usize::from(at >= 0)] += 1;
                    // SAFETY: with access.
                    unsafe {
                        let byte = memory.data().offset(at as isize);
                        byte.write(byte.read() ^ 1);
                    }
                    assert_eq!(memory.broken(), Some(at), "{count} elements");
                }
            }
        }
        assert!(sides.iter().all(|&n| n >= 8), "{sides:?}");
    }

    #[test]
    fn arrays_lie_at_either_end() {
        let both = [true, false].map(|at_end| {
            let memory = Guarded::copy_at(&[1u8; 100], pattern(u8::CODE), at_end).expect("memory");
            (memory.start - memory.open, memory.close - memory.end)
        });
        let [(lead, tail), (none, long)] = both;
        assert!(lead >= GUARD && tail < ALIGN && none == 0 && long >= GUARD, "{both:?}");
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
