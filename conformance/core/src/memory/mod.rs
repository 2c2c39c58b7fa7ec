//! What the judge's own process may take: a budget in bytes, asked before anything large is allocated.
//!
//! ```text
//! need of a matrix: its first lines, or its generator's parameters      need of a case: extents, entries, N, element type, formats
//!      need <= limit?                    no: the case is not run, and says so
//!      need + what others hold <= limit? no: it is put off until nothing else is at work
//!      the system has that much?         no: put off as well; alone, the case is not run. A failing allocation would end the whole run
//! ```
//!
//! Nobody waits for room. A thread of the pool that waits inside of a case may have another case below it on its stack, which can't
//! give back what it holds before the upper one returns.

mod machine;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why something is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRoom {
    /// It needs more than there may ever be.
    #[error(
        "it needs about {} MiB of memory, the judge has {} MiB; allow more with --judge-memory MIB, if the machine has it",
        mib(*need), limit >> 20
    )]
    Limit {
        /// Bytes needed, at most about.
        need: u128,
        /// Bytes that the judge may have.
        limit: u64,
    },
    /// The budget has room; the system has none.
    #[error(
        "the system does not give the about {} MiB of memory that it needs, within the {} MiB of --judge-memory; see `ulimit -v` and what \
         else runs",
        mib(u128::from(*need)), limit >> 20
    )]
    System {
        /// Bytes needed, at most about.
        need: u64,
        /// Bytes that the judge may have.
        limit: u64,
    },
}

fn mib(bytes: u128) -> u128 {
    bytes.div_ceil(1 << 20)
}

/// Needs from here on are tried with the system. Smaller ones come from what the allocator has.
const TRIED: u64 = 16 << 20;

/// How much memory may be held, and how much is.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    held: AtomicU64,
}

/// Room that is held; given back when dropped.
#[derive(Debug)]
pub struct Held<'a> {
    budget: &'a MemoryBudget,
    bytes: u64,
}

static PROCESS: OnceLock<MemoryBudget> = OnceLock::new();

impl NoRoom {
    /// True where there may be room when nothing else is at work: others take from the system, too.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, NoRoom::System { .. })
    }
}

impl MemoryBudget {
    /// A budget of so many bytes.
    #[must_use]
    pub const fn new(limit: u64) -> MemoryBudget {
        MemoryBudget { limit, held: AtomicU64::new(0) }
    }

    /// That of this process: as [`set_process`](Self::set_process) said before, else three quarters of what the machine, its control group
    /// and the limits of the process leave.
    pub fn process() -> &'static MemoryBudget {
        PROCESS.get_or_init(|| MemoryBudget::new(machine::memory() / 4 * 3))
    }

    /// Sets the budget of this process. False where it is in use already.
    pub fn set_process(limit: u64) -> bool {
        PROCESS.set(MemoryBudget::new(limit)).is_ok()
    }

    /// Bytes that may be held.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Can so much ever be held, and has the system that much now?
    ///
    /// # Errors
    /// [`NoRoom`].
    pub fn check(&self, need: u128) -> Result<u64, NoRoom> {
        self.check_beside(need, 0)
    }

    /// Can so much ever be held `beside` so much that whoever asks holds already, and has the system the rest now?
    ///
    /// # Errors
    /// [`NoRoom`]; its need is the sum.
    pub fn check_beside(&self, need: u128, beside: u64) -> Result<u64, NoRoom> {
        let (limit, sum) = (self.limit, need.saturating_add(beside.into()));
        let Some(bytes) = u64::try_from(sum).ok().filter(|&sum| sum <= limit).map(|sum| sum - beside) else {
            return Err(NoRoom::Limit { need: sum, limit });
        };
        // Rust ends the process where an allocation fails. One that is asked for in this way only says so.
        let tried = || Vec::<u8>::new().try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX));
        if bytes >= TRIED && tried().is_err() {
            Err(NoRoom::System { need: bytes, limit })
        } else {
            Ok(bytes)
        }
    }

    /// Holds so much, unless others hold too much of the rest just now.
    #[must_use]
    pub fn take(&self, bytes: u64) -> Option<Held<'_>> {
        let more = |held: u64| held.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Held { budget: self, bytes })
    }

    /// Holds so much whatever others do: for who is known to be alone.
    #[must_use]
    pub fn take_alone(&self, bytes: u64) -> Held<'_> {
        self.held.fetch_add(bytes, Ordering::AcqRel);
        Held { budget: self, bytes }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: cases side by side each took what one of them may take, and the system ended the run.
    #[test]
    fn what_is_held_at_once_stays_within_the_limit() {
        let budget = MemoryBudget::new(100);
        let first = budget.take(60).expect("room");
        assert!(budget.take(41).is_none(), "only 40 are left");
        let second = budget.take(40).expect("room");
        assert!(budget.take(1).is_none());
        drop(first);
        assert!(budget.take(61).is_none());
        drop(second);
        drop(budget.take(100).expect("given back"));
        // Whoever is alone need not ask; what it holds counts.
        let alone = budget.take_alone(70);
        assert!(budget.take(31).is_none());
        drop(alone);
        assert!(budget.take(u64::MAX).is_none(), "no overflow");
    }

    #[test]
    fn what_never_fits_says_what_it_needs_and_what_to_do() {
        let budget = MemoryBudget::new(64 << 20);
        assert_eq!(budget.check(64 << 20), Ok(64 << 20));
        let error = budget.check((64 << 20) + 1).expect_err("a byte too many").to_string();
        assert!(error.contains("about 65 MiB") && error.contains("has 64 MiB"), "{error}");
        assert!(error.contains("--judge-memory"), "{error}");
        assert!(budget.check(u128::MAX).is_err());
    }

    /// Story: the matrix was counted twice, once held and once more in what was asked of the system beside it.
    #[test]
    fn what_is_held_already_is_not_asked_of_the_system_again() {
        let budget = MemoryBudget::new(u64::MAX);
        assert_eq!(
            budget.check_beside(64 << 20, 1 << 62),
            Ok(64 << 20),
            "no machine has the sum, but the rest"
        );
        assert!(budget.check_beside(1 << 62, 64 << 20).is_err_and(|no| no.may_pass()));
        let budget = MemoryBudget::new(100);
        let no = budget.check_beside(41, 60).expect_err("a byte too many");
        assert_eq!(no, NoRoom::Limit { need: 101, limit: 100 });
        assert!(!no.may_pass());
    }

    /// Story: an allocation that the system refused ended the run, with all that was judged.
    #[test]
    fn what_the_system_does_not_have_is_an_error() {
        let budget = MemoryBudget::new(u64::MAX);
        let error = budget.check(1 << 62).expect_err("no machine has it");
        assert!(matches!(error, NoRoom::System { .. }), "{error}");
        assert!(error.to_string().contains("ulimit -v"), "{error}");
    }
}
