//! SME kernels keep to the rules of the platform: registers that a callee must save, streaming mode and ZA off on return, ZA of a caller
//! untouched; no byte outside of any buffer is read or written; and what the machine lacks is refused.
#![cfg(target_arch = "aarch64")]

use crate::arm_support;
use crate::support;

use arm_support::{LENGTHS, at_length, has_sme, kernel};
use sparse_kernels::{Feature, Kernel, all_kernels};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Entries, FormatParams};
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::{EngineError, Refusal};
use sparse_oracle::task::{Answer, Task};
use std::alloc::{GlobalAlloc, Layout, System};
use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use support::{Dense, LAYOUTS, Rng, entries};

/// The SME kernels, and the NEON ones of the same format.
fn kernels() -> impl Iterator<Item = &'static Kernel> {
    all_kernels().iter().filter(|k| matches!(k.engine, "sme" | "neon"))
}

/// One product on fresh operands.
struct Work {
    a: AnySparse,
    b: Dense,
    c: Dense,
}

impl Work {
    fn new(kernel: &Kernel, seed: u64, (rows, cols, n): (usize, usize, usize), br: u32) -> Work {
        let mut rng = Rng(seed);
        let types = kernel.contract.types;
        let params = FormatParams { br, boundary: Some(rows as u32 / 3), ..FormatParams::DEFAULT };
        let e: Entries<f64> = entries(&mut rng, rows, cols, 50, Rng::real);
        let a = AnySparse::from_f64(types.a, kernel.contract.format, params, &e).expect("encodes");
        Work {
            a,
            b: Dense::new(types.b, (cols, n), LAYOUTS[0], 0, || rng.real()),
            c: Dense::new(types.out, (rows, n), LAYOUTS[0], 0, || rng.real()),
        }
    }

    fn run(&mut self, kernel: &Kernel) -> Result<Answer, Refusal> {
        (kernel.run)(Task::Spmm {
            a: &self.a,
            transpose_a: false,
            b: self.b.as_ref(),
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            c: self.c.as_mut(),
        })
    }
}

fn sme_kernels() -> Vec<&'static Kernel> {
    let here = kernels().filter(|k| k.engine == "sme" && k.missing().is_none());
    let found: Vec<&Kernel> = here.collect();
    if found.is_empty() {
        println!("SKIPPED: this machine has no SME");
    }
    found
}

/// A call that the assembly below makes: what to run, and what came of it.
struct Called<'a> {
    kernel: &'a Kernel,
    work: &'a mut Work,
    answer: Option<Result<Answer, Refusal>>,
}

extern "C" fn call(context: *mut c_void) {
    // SAFETY: the tests below pass a `Called` that outlives the call.
    let called = unsafe { &mut *context.cast::<Called<'_>>() };
    called.answer = Some(called.work.run(called.kernel));
}

/// Runs a kernel with known numbers in d8 to d15; returns what is there afterwards, and SVCR (bit 0: streaming mode, bit 1: ZA).
fn registers_after(kernel: &Kernel, work: &mut Work) -> ([u64; 8], u64) {
    let mut called = Called { kernel, work, answer: None };
    let mut kept: [u64; 8] = std::array::from_fn(|i| 0x1111_1111_1111_1111 * (i as u64 + 1));
    let svcr: u64;
    // SAFETY: `call` is a C function of one argument; d8 to d15 are saved around it by the compiler, since they are named as
    // clobbered; the array has eight elements. SVCR may be read where there is SME.
    unsafe {
        asm!(
            "ldp d8, d9, [x20]",
            "ldp d10, d11, [x20, #16]",
            "ldp d12, d13, [x20, #32]",
            "ldp d14, d15, [x20, #48]",
            "blr {call}",
            "stp d8, d9, [x20]",
            "stp d10, d11, [x20, #16]",
            "stp d12, d13, [x20, #32]",
            "stp d14, d15, [x20, #48]",
            "mrs x0, S3_3_C4_C2_2",
            call = in(reg) call as extern "C" fn(*mut c_void),
            inout("x0") (&raw mut called).cast::<c_void>() => svcr,
            in("x20") &raw mut kept,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            clobber_abi("C"),
        );
    }
    assert_eq!(called.answer, Some(Ok(Answer::Written)), "{}", kernel.name);
    (kept, svcr)
}

#[test]
fn registers_of_the_caller_are_kept_and_streaming_mode_and_za_are_off() {
    for kernel in sme_kernels() {
        let mut tried = 0;
        for bytes in LENGTHS {
            let mut work = Work::new(kernel, 3, (30, 20, 25), 8);
            // One thread, so that the kernel runs on the very one whose registers are looked at.
            let found = at_length(bytes, 1, || registers_after(kernel, &mut work));
            let Some((kept, svcr)) = found else { continue };
            for (i, &d) in kept.iter().enumerate() {
                assert_eq!(d, 0x1111_1111_1111_1111 * (i as u64 + 1), "{}: d{}", kernel.name, i + 8);
            }
            assert_eq!(svcr, 0, "{}", kernel.name);
            tried += 1;
        }
        println!("{}: {tried} lengths", kernel.name);
    }
}

/// Reads and writes TPIDR2_EL0, where the platform keeps a pointer to a caller's lazily saved ZA.
fn set_tpidr2(value: u64) {
    // SAFETY: the register is the program's own where there is SME; nothing in this test uses ZA besides the kernels.
    unsafe { asm!("msr S3_3_C13_C0_5, {}", in(reg) value) };
}

#[test]
fn za_of_a_caller_is_left_alone() {
    for kernel in sme_kernels() {
        let mut work = Work::new(kernel, 4, (12, 9, 7), 8);
        let before = work.c.data.clone();
        let answer = at_length(LENGTHS[0], 1, || {
            set_tpidr2(8);
            let answer = work.run(kernel);
            set_tpidr2(0);
            answer
        });
        let Some(answer) = answer else { continue };
        assert!(
            matches!(answer, Err(Refusal::Engine(EngineError::Unavailable { .. }))),
            "{}: {answer:?}",
            kernel.name
        );
        let m = 12 / 3;
        let tiles = |c: &Dense| {
            (m..12).flat_map(|i| (0..7).map(move |j| (i, j))).map(|(i, j)| c.bits(i, j)).collect::<Vec<_>>()
        };
        let mut untouched = work.c.clone();
        untouched.data = before;
        assert_eq!(tiles(&work.c), tiles(&untouched), "{}", kernel.name);
    }
}

#[test]
fn what_the_machine_lacks_is_refused_by_name() {
    let mut refused = 0;
    for kernel in kernels() {
        let Some(feature) = kernel.missing() else { continue };
        let mut work = Work::new(kernel, 5, (6, 5, 4), 8);
        let wanted = Err(Refusal::Engine(EngineError::Unavailable { feature: feature.name() }));
        assert_eq!(work.run(kernel), wanted, "{}", kernel.name);
        refused += 1;
    }
    println!("{refused} of {} kernels refused; SME here: {}", kernels().count(), has_sme());
    assert_eq!(refused == 0, has_sme() && Feature::SmeF64F64.is_here() && Feature::SmeF16F32.is_here());
}

#[test]
fn rows_are_named_by_the_grammar_and_need_what_they_use() {
    let names: Vec<&str> = kernels().map(|k| k.name.as_str()).collect();
    assert_eq!(names.len(), 12);
    for kernel in kernels() {
        assert_eq!(kernel.contract.op, Op::Spmm);
        assert_eq!(kernel.needs.contains(&Feature::Sme), kernel.engine == "sme", "{}", kernel.name);
    }
    let needs = |name: &str| self::kernel(name).needs;
    assert!(needs("spmm_loops_f64_f64_f64_f64__sme_fmopa").contains(&Feature::SmeF64F64));
    assert!(needs("spmm_loops_f16_f16_f32_f32__sme_fmopa_2way").contains(&Feature::SmeF16F32));
}

/// While on, every allocation lies between two pages that may not be touched, flush against one of them; freed memory may not be
/// touched either.
struct Guarded;

#[global_allocator]
static GUARDED: Guarded = Guarded;

/// 0: as usual; 1: flush against the end; 2: flush against the start.
static MODE: AtomicUsize = AtomicUsize::new(0);
static BASE: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);

const PAGE: usize = 1 << 16;
const REGION: usize = 1 << 36;
const NONE: c_int = 0;
const READ_WRITE: c_int = 3;

unsafe extern "C" {
    fn mmap(
        at: *mut c_void,
        len: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn mprotect(at: *mut c_void, len: usize, protection: c_int) -> c_int;
}

/// Reserves the address space.
fn reserve() -> bool {
    const PRIVATE_ANONYMOUS_NORESERVE: c_int = 0x2 | 0x20 | 0x4000;
    if !cfg!(target_os = "linux") {
        return false;
    }
    // SAFETY: a new mapping at an address of the system's choice.
    let at = unsafe { mmap(std::ptr::null_mut(), REGION, NONE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0) };
    let found = at as isize != -1;
    if found {
        // Pages of the system are smaller: the region is used from a multiple of ours on, and one less of it.
        BASE.store((at as usize).next_multiple_of(PAGE), SeqCst);
    }
    found
}

// SAFETY: memory is either the system allocator's, or pages of the region that are handed out once and never again, large enough and
// aligned (alignments are at most a page's).
unsafe impl GlobalAlloc for Guarded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mode = MODE.load(SeqCst);
        if mode == 0 {
            // SAFETY: the caller promises a layout that is not empty.
            return unsafe { System.alloc(layout) };
        }
        let pages = layout.size().div_ceil(PAGE).max(1) * PAGE;
        let at = USED.fetch_add(pages + PAGE, SeqCst);
        if at + pages + 2 * PAGE > REGION || layout.align() > PAGE {
            return std::ptr::null_mut();
        }
        // The page before is never handed out: it is the end of the allocation before, or the start of the region.
        let start = BASE.load(SeqCst) + PAGE + at;
        // SAFETY: inside the reserved region.
        if unsafe { mprotect(start as *mut c_void, pages, READ_WRITE) } != 0 {
            return std::ptr::null_mut();
        }
        let shift = if mode == 1 { pages - layout.size() } else { 0 };
        (start + shift / layout.align() * layout.align()) as *mut u8
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let (address, base) = (at as usize, BASE.load(SeqCst));
        if base == 0 || address < base || address >= base + REGION {
            // SAFETY: it came from there.
            return unsafe { System.dealloc(at, layout) };
        }
        let start = address / PAGE * PAGE;
        let pages = layout.size().div_ceil(PAGE).max(1) * PAGE;
        // SAFETY: these pages are the allocation's own, which starts in the first of them.
        unsafe { mprotect(start as *mut c_void, pages, NONE) };
    }
}

#[test]
fn no_byte_outside_of_any_buffer_is_touched() {
    if !reserve() {
        println!("SKIPPED: guard pages are known for Linux only");
        return;
    }
    let mut products = 0;
    for kernel in kernels().filter(|k| k.missing().is_none()) {
        for bytes in LENGTHS {
            if kernel.engine == "neon" && bytes != LENGTHS[0] {
                continue;
            }
            for (round, shape) in [(1, 1, 1), (13, 7, 5), (40, 9, 37), (35, 6, 64)].into_iter().enumerate() {
                for mode in [1, 2] {
                    let run = || {
                        MODE.store(mode, SeqCst);
                        let br = [1, 8, 16, 32][round];
                        let mut work = Work::new(kernel, round as u64, shape, br);
                        let answer = work.run(kernel);
                        drop(work);
                        MODE.store(0, SeqCst);
                        answer
                    };
                    let answer = if kernel.engine == "sme" { at_length(bytes, 1, run) } else { Some(run()) };
                    let Some(answer) = answer else { continue };
                    assert_eq!(answer, Ok(Answer::Written), "{}", kernel.name);
                    products += 1;
                }
            }
        }
    }
    println!("{products} products between guard pages");
    assert!(products > 0);
}
