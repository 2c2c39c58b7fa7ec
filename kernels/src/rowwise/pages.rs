//! Huge pages for large arrays that are written once: a page fault for 2 MiB instead of one for 4 KiB.

use std::mem::MaybeUninit;

/// Asks for huge pages where the system gives them on request only; what it answers changes nothing but speed.
pub(super) fn advise_huge<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    linux::advise(memory.as_mut_ptr().cast(), size_of_val(memory));
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = memory;
}

#[cfg(all(target_os = "linux", not(miri)))]
#[expect(unsafe_code, reason = "the system takes advice through a C function")]
mod linux {
    use std::ffi::{c_int, c_void};

    /// Of huge pages on x86-64, and on Arm with pages of 4 KiB; elsewhere the advice is for fewer bytes than there could be.
    const HUGE: usize = 1 << 21;
    const MADV_HUGEPAGE: c_int = 14;

    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    /// For the huge pages that lie inside.
    pub(super) fn advise(start: *mut c_void, bytes: usize) {
        let before = start.addr().next_multiple_of(HUGE) - start.addr();
        let inside = bytes.saturating_sub(before) / HUGE * HUGE;
        if inside > 0 {
            // SAFETY: this advice changes no byte at any address; where the range is not mapped the system answers with an error.
            unsafe { madvise(start.wrapping_byte_add(before), inside, MADV_HUGEPAGE) };
        }
    }
}
