//! No x86 kernel reads or writes outside of any buffer: every allocation of a run, operands and buffers alike, is put flush
//! against a page that must not be touched.
//!
//! ```text
//! after:    | .. free ..  [ allocation ]|#### no access ####|
//! before:   |#### no access ####|[ allocation ]  .. free .. |
//! ```
//!
//! One access outside ends the process with SIGSEGV. Prefetches may name any address, and do.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod support;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, FormatParams, Layout};
use sparse_oracle::scalar::Values;
use sparse_oracle::task::{Answer, Task};
use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use support::{Dense, Rng, encode, entries, fitting};

/// Where the page without access lies.
const OFF: u8 = 0;
const AFTER: u8 = 1;
const BEFORE: u8 = 2;

const PAGE: usize = 4096;

/// Address space that guarded allocations come from, in order, once each.
const ARENA: usize = 1 << 38;

static MODE: AtomicU8 = AtomicU8::new(OFF);
static NEXT: AtomicUsize = AtomicUsize::new(0);

struct Guarded;

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

/// First address of the arena; no page of it can be accessed at first.
fn arena() -> usize {
    static ARENA_AT: OnceLock<usize> = OnceLock::new();
    *ARENA_AT.get_or_init(|| {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the system chooses.
        let mapped = unsafe { mmap_anonymous(ptr::null_mut(), ARENA, ProtFlags::empty(), flags) };
        mapped.expect("address space") as usize
    })
}

fn pages(size: usize) -> usize {
    size.max(1).next_multiple_of(PAGE)
}

// SAFETY: blocks of the arena are used once, are as long as asked for and aligned; all others are the system's.
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        let mode = MODE.load(SeqCst);
        if mode == OFF || memory.align() > PAGE {
            // SAFETY: the caller promises a layout that is not empty.
            return unsafe { System.alloc(memory) };
        }
        let length = pages(memory.size());
        // One page without access on either side.
        let start = arena() + NEXT.fetch_add(length + PAGE, SeqCst) + PAGE;
        if start + length + PAGE > arena() + ARENA {
            return ptr::null_mut();
        }
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: these pages of the arena are given to this allocation only.
        if unsafe { mprotect(start as *mut c_void, length, access) }.is_err() {
            return ptr::null_mut();
        }
        let at = if mode == AFTER {
            // Sizes that the alignment does not divide leave a gap smaller than the alignment.
            (start + length - memory.size()) & !(memory.align() - 1)
        } else {
            start
        };
        at as *mut u8
    }

    unsafe fn dealloc(&self, at: *mut u8, memory: Memory) {
        let first = arena();
        if !(first..first + ARENA).contains(&(at as usize)) {
            // SAFETY: it came from the system, in `alloc`.
            unsafe { System.dealloc(at, memory) };
            return;
        }
        let start = at as usize & !(PAGE - 1);
        // SAFETY: the pages are those of this allocation; nobody uses them again.
        let _ = unsafe { mprotect(start as *mut c_void, pages(memory.size()), MprotectFlags::empty()) };
    }
}

/// Runs `work` with every allocation guarded.
fn guarded<R>(mode: u8, work: impl FnOnce() -> R) -> R {
    MODE.store(mode, SeqCst);
    let result = work();
    MODE.store(OFF, SeqCst);
    result
}

fn run(kernel: &Kernel, a: &AnySparse, transpose_a: bool, b: &Dense, mut c: Dense) -> Values {
    let task = if kernel.contract.op == Op::Spmv {
        Task::Spmv { a, transpose_a, x: b.data.as_slice(), alpha: 1.0, beta: 0.5, y: c.data.as_mut_slice() }
    } else {
        Task::Spmm { a, transpose_a, b: b.as_ref(), transpose_b: false, alpha: 1.0, beta: 0.5, c: c.as_mut() }
    };
    assert_eq!((kernel.run)(task), Ok(Answer::Written), "{}", kernel.name);
    c.data
}

/// Every kernel in every mode gives what it gives without guards.
#[test]
fn no_access_outside_of_any_buffer() {
    arena();
    let mut rng = Rng(11);
    let (rows, cols) = (37, 29);
    let mut runs = 0;
    let products = |k: &&Kernel| k.engine.starts_with("avx") && [Op::Spmm, Op::Spmv].contains(&k.contract.op);
    for kernel in kernels_here().filter(products) {
        let (types, format) = (kernel.contract.types, kernel.contract.format);
        let params = FormatParams::default();
        let e = fitting(types.a, format, &params, &entries(&mut rng, rows, cols, 25, Rng::integer));
        let a = encode(&mut rng, types.a, format, params, &e);
        let widths: &[usize] = if kernel.contract.op == Op::Spmv { &[1] } else { &[1, 7, 16, 47] };
        for (&n, transpose_a) in widths.iter().zip([false, true, false, false]) {
            let (m, k) = if transpose_a { (cols, rows) } else { (rows, cols) };
            let b = Dense::new(types.b, (k, n), Layout::RowMajor, 0, || rng.integer());
            let c = Dense::new(types.out, (m, n), Layout::RowMajor, 0, || rng.integer());
            let expected = run(kernel, &a, transpose_a, &b, c.clone());
            for mode in [AFTER, BEFORE] {
                // Cloned under guard: all arrays of all operands.
                let found = guarded(mode, || run(kernel, &a.clone(), transpose_a, &b.clone(), c.clone()));
                assert_eq!(found, expected, "{} n = {n}", kernel.name);
                runs += 1;
            }
        }
    }
    eprintln!("{runs} runs between guard pages");
    assert!(runs > 0 || kernels_here().all(|k| k.engine != "avx2"), "nothing ran");
}

/// The guards are there: a child that reads one element past a buffer dies by a signal.
#[test]
fn a_read_outside_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    const WHICH: &str = "SPARSE_GUARD_PAGE_CHILD";
    if let Ok(mode) = std::env::var(WHICH) {
        let mode: u8 = mode.parse().expect("a mode");
        let buffer = guarded(mode, || vec![1.0f32; 100]);
        let outside = if mode == AFTER { 100 } else { -1 };
        // SAFETY: none. The read is out of bounds on purpose, in a process that must die of it.
        let read = unsafe { ptr::read_volatile(buffer.as_ptr().wrapping_offset(outside)) };
        eprintln!("read {read}");
        return;
    }
    for mode in [AFTER, BEFORE] {
        let child = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["a_read_outside_ends_the_process", "--exact"])
            .env(WHICH, mode.to_string())
            .output()
            .expect("runs");
        assert_eq!(child.status.signal(), Some(11), "mode {mode}: {:?}", child.status);
    }
}
