//! Who was touched by a fault: the process still dies of it, and says before which array of which operand it had no access to.
//!
//! ```text
//! SIGSEGV or SIGBUS at an address -> an array's mapping that holds it? one line on standard error -> the signal's own effect
//! ```
//!
//! The handler runs where anything may be broken: it allocates nothing, locks nothing, and reads a fixed table.

use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

/// Most arrays that are watched at once: those of four calls on operands of a dozen arrays each.
const MOST: usize = 64;

/// A watched mapping; free while `low` is 0.
struct Row {
    low: AtomicUsize,
    high: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    operand: Name,
    array: Name,
}

/// A static string in two words.
struct Name {
    text: AtomicPtr<u8>,
    length: AtomicUsize,
}

impl Name {
    const fn none() -> Name {
        Name { text: AtomicPtr::new(std::ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    fn set(&self, name: &'static str) {
        self.text.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
        self.length.store(name.len(), Ordering::Relaxed);
    }

    fn write(&self) {
        // SAFETY: only static strings are stored; a torn pair is of a row that is being given away, whose mapping is no longer touched.
        unsafe {
            libc::write(2, self.text.load(Ordering::Relaxed).cast(), self.length.load(Ordering::Relaxed))
        };
    }
}

impl Row {
    const fn free() -> Row {
        Row {
            low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            operand: Name::none(),
            array: Name::none(),
        }
    }
}

/// A row that is being written.
const TAKEN: usize = usize::MAX;

static ROWS: [Row; MOST] = [const { Row::free() }; MOST];

/// A row of the table; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Watched(usize);

/// Notes a mapping and where its elements are; `None` where the table is full: a fault there has no name.
pub(crate) fn watch(
    mapping: Range<usize>,
    elements: Range<usize>,
    operand: &'static str,
    array: &'static str,
) -> Option<Watched> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    let take = |row: &Row| row.low.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
    let at = ROWS.iter().position(take)?;
    let row = &ROWS[at];
    row.high.store(mapping.end, Ordering::Relaxed);
    row.start.store(elements.start, Ordering::Relaxed);
    row.end.store(elements.end, Ordering::Relaxed);
    row.operand.set(operand);
    row.array.set(array);
    row.low.store(mapping.start, Ordering::Release);
    Some(Watched(at))
}

impl Drop for Watched {
    fn drop(&mut self) {
        ROWS[self.0].low.store(0, Ordering::Release);
    }
}

/// What handled the two signals before, Rust's own handler of stack overflows among it.
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Puts the handler before whatever handles these signals.
fn install() {
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        // SAFETY: zeroed, both are valid; `told` has the signature that SA_SIGINFO asks for, and does only what a handler may do. What it
        // replaces is in its place in `BEFORE` first.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            before.get_or_init(|| old);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = told as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// # Safety
/// Called by the system as a handler that `SA_SIGINFO` asks for.
unsafe extern "C" fn told(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid `info`, and these signals have an address.
    let address = unsafe { (*info).si_addr() } as usize;
    for row in &ROWS {
        let low = row.low.load(Ordering::Acquire);
        if low != 0 && low != TAKEN && (low..row.high.load(Ordering::Relaxed)).contains(&address) {
            say(row, address);
            break;
        }
    }
    let before = SIGNALS.iter().position(|&s| s == signal).and_then(|at| BEFORE[at].get());
    let before = before.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: what was there before handles the signal when the instruction is run once more; without it, the default.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::sigaction(signal, before, std::ptr::null_mut());
    };
}

/// One line: `conformance: it touched memory 12 bytes past the end of B, data, which has 4096 bytes`.
fn say(row: &Row, address: usize) {
    let (start, end) = (row.start.load(Ordering::Relaxed), row.end.load(Ordering::Relaxed));
    text("conformance: it touched memory ");
    if address >= end {
        number(address - end);
        text(" bytes past the end of ");
    } else {
        number(start.wrapping_sub(address));
        text(" bytes before the start of ");
    }
    row.operand.write();
    text(", ");
    row.array.write();
    text(", which has ");
    number(end - start);
    text(" bytes\n");
}

fn text(words: &str) {
    // SAFETY: a pointer and the length of what it points to.
    unsafe { libc::write(2, words.as_ptr().cast(), words.len()) };
}

fn number(mut value: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 || at == 0 {
            break;
        }
    }
    // SAFETY: the digits from `at` on.
    unsafe { libc::write(2, digits.as_ptr().add(at).cast(), digits.len() - at) };
}
