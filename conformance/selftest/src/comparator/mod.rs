//! Comparators with one bug each: every one that was found in a real suite, and the usual shortcuts.
//!
//! ```text
//! probe: case + edit of an honest result + is it right?  ->  view: expected, found, positions
//! comparator(view) -> accept?    misjudges a probe = killed         our own judge, through run_case, misjudges none
//! ```
//!
//! A comparator sees what such code sees: the correctly rounded result, what came back, and shapes. It is killed by
//! accepting a wrong result or by refusing a right one.

mod probes;
mod table;
mod view;

pub use probes::PROBES;
pub use table::ALL;
pub use view::View;

use sparse_conformance_core::report::VerdictRecord;

/// A comparator with a bug.
#[derive(Clone, Copy, Debug)]
pub struct Comparator {
    /// Name.
    pub name: &'static str,
    /// Whose it was, and what it does.
    pub story: &'static str,
    /// True where it takes the result for right.
    pub accepts: fn(&View) -> bool,
}

/// One comparison with a known answer.
#[derive(Debug)]
pub struct Probe {
    /// What was done to the result.
    pub name: &'static str,
    /// True where the result is right.
    pub right: bool,
    /// What a comparator sees.
    pub view: View,
    /// What the suite's own judge says.
    pub verdict: VerdictRecord,
}

/// A probe that somebody got wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misjudged {
    /// Which one.
    pub probe: String,
    /// What was said about it.
    pub said: String,
}

/// Runs every probe's case once.
///
/// A probe whose case cannot be run has a verdict that says so, which counts as misjudged by the suite.
#[must_use]
pub fn probes() -> Vec<Probe> {
    PROBES.iter().map(view::run).collect()
}

impl Probe {
    /// What the suite's own judge got wrong, if it did.
    #[must_use]
    pub fn misjudged_by_the_suite(&self) -> Option<Misjudged> {
        let judged = self.verdict.kind().ran() && self.verdict.is_finding() != self.right;
        (!judged).then(|| Misjudged { probe: self.name.to_owned(), said: self.verdict.to_string() })
    }
}

impl Comparator {
    /// Probes looked at until the first one misjudged, and that one.
    #[must_use]
    pub fn hunt(&self, probes: &[Probe]) -> (u64, Option<Misjudged>) {
        let at = probes.iter().position(|probe| (self.accepts)(&probe.view) != probe.right);
        let found = at.map(|at| Misjudged {
            probe: probes[at].name.to_owned(),
            said: if probes[at].right { "refuses what is right" } else { "accepts what is wrong" }.to_owned(),
        });
        (at.map_or(probes.len(), |at| at + 1) as u64, found)
    }
}
