//! Seeded bugs that a plan does not show at all: no case of it gives another result with the bug than without it.
//!
//! ```sh
//! cargo run -p sparse-conformance --example survivors -- SEED FAMILY..
//! ```
//!
//! Nothing is judged: a bug that is not printed changes some bits, and whether they count is the self-test's to say. What a bug does to
//! operands is looked at once for each matrix, format and transpose; what only a run tells, on the first [`RUNS`] cases that
//! it concerns and that have no more than [`LARGE`] multiplications. Lines of the second kind end in `(sampled)`.

use sparse_conformance::backend::{Backend, Failure, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::execute::{Before, Came, execute};
use sparse_conformance::operands::{Operands, build};
use sparse_conformance::plan::{Options, plan};
use sparse_conformance::selftest::{Bug, Effect, Seeded, bugs};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::FormatKind;
use sparse_oracle::task::{Answer, Task};
use std::sync::Mutex;
use std::time::Duration;

/// Most multiplications of a case that is run.
const LARGE: usize = 5_000;

/// Cases that a bug is run on.
const RUNS: usize = 300;

/// Asks a bug about the request, and computes nothing.
struct Asks(&'static Bug, Mutex<Option<bool>>);

impl Backend for Asks {
    fn name(&self) -> &str {
        self.0.name
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &str {
        self.0.story
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Seeded::control(self.0).support(contract, params)
    }

    fn run(&self, _: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        if let Ok(mut answer) = self.1.lock() {
            *answer = self.0.touches(&task);
        }
        Ok(Answer::Written)
    }
}

/// A bug that nothing has shown so far, with its kernels: they keep what they remember from case to case.
struct Hidden {
    bug: &'static Bug,
    sick: Seeded,
    control: Seeded,
    /// Format and transpose of the cases of this matrix that were looked at.
    seen: Vec<(FormatKind, bool)>,
    runs: usize,
}

impl Hidden {
    fn is_shown_by(&mut self, case: &Case, operands: &Operands) -> bool {
        let kind = (case.contract.format, case.params.transpose_a);
        // Factors and columns are the case's, not the matrix's.
        let of_case = matches!(self.bug.effect, Effect::Factors(_) | Effect::LosesColumns(_));
        if self.runs == 0 && !of_case && self.seen.contains(&kind) || self.runs >= RUNS {
            return false;
        }
        self.seen.push(kind);
        let mut spent = Duration::ZERO;
        let asks = Asks(self.bug, Mutex::new(None));
        let _ = execute(case, operands, &asks, Before::Poison, &mut spent);
        if let Ok(Some(touched)) = asks.1.into_inner() {
            return touched;
        }
        self.runs += 1;
        if operands.a.nnz() * case.params.n.max(1) > LARGE {
            return false;
        }
        let starts = if case.reads_c() { 2 } else { 1 };
        (0..starts).any(|variant| {
            let c = &operands.c[variant];
            let before = || {
                if case.reads_c() {
                    Before::Values(c)
                } else {
                    Before::Poison
                }
            };
            let mut spent = Duration::ZERO;
            let mut run = |backend: &Seeded| shown(&execute(case, operands, backend, before(), &mut spent));
            run(&self.sick) != run(&self.control)
        })
    }
}

/// What came back, as text to compare.
fn shown(came: &Came) -> String {
    match came {
        Came::Dense(result) => format!("{:?}", result.found()),
        other => format!("{other:?}"),
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let families: Vec<String> = args.collect();
    let wanted = |bug: &&'static Bug| families.is_empty() || families.iter().any(|f| bug.family.name() == f);
    let mut hidden: Vec<Hidden> = bugs()
        .filter(wanted)
        .map(|bug| Hidden {
            bug,
            sick: Seeded::sick(bug),
            control: Seeded::control(bug),
            seen: Vec::new(),
            runs: 0,
        })
        .collect();
    for group in plan(&Options {
        seed,
        ..Options::default()
    }) {
        let Ok(loaded) = group.origin.load() else {
            continue;
        };
        hidden.iter_mut().for_each(|h| h.seen.clear());
        for case in group.cases.iter().filter(|case| case.params.fault.is_none()) {
            if hidden.iter().any(|h| (h.bug.concerns)(case))
                && let Ok(operands) = build(case, &loaded)
            {
                hidden.retain_mut(|h| !((h.bug.concerns)(case) && h.is_shown_by(case, &operands)));
            }
        }
    }
    for h in hidden {
        println!("{}{}", h.bug.name, if h.runs > 0 { " (sampled)" } else { "" });
    }
}
