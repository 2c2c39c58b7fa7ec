//! Seeded bugs against the cases of a plan: each judged until its first finding, beside its control.
//!
//! ```text
//! plan -> (hash of the case line) order -> a few cases made ready -> each bug that they concern: finding?   its control: silent?
//! ```
//!
//! The order depends on the lines alone, so a hunt repeats exactly, on any number of threads.

use super::bug::{Bug, Symptom};
use super::seeded::Seeded;
use rayon::prelude::*;
use sparse_conformance_core::case::Case;
use sparse_conformance_core::memory::MemoryBudget;
use sparse_conformance_core::operands::{Operands, build, need};
use sparse_conformance_core::origin::Loaded;
use sparse_conformance_core::plan::{self, Group, Options, plan};
use sparse_conformance_core::report::{CaseRecord, Criterion, Defect, VerdictRecord};
use sparse_conformance_core::runner::{Asked, Ready};
use sparse_conformance_core::sequence::After;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::Contract;
use std::iter::Peekable;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_64;

/// A plan in hunting order, its matrices made when first needed.
#[derive(Debug)]
pub struct HuntPlan {
    groups: Vec<Group>,
    loaded: Vec<OnceLock<Option<Arc<Loaded>>>>,
    /// Group and number of each case.
    order: Vec<(usize, usize)>,
}

impl HuntPlan {
    /// The plan of these options for a backend that takes everything.
    #[must_use]
    pub fn new(options: &Options) -> HuntPlan {
        let groups = plan(options, &[&Portable]).groups;
        HuntPlan::of(groups)
    }

    /// These cases.
    #[must_use]
    pub fn of(groups: Vec<Group>) -> HuntPlan {
        let mut order: Vec<(u64, String, usize, usize)> = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            for (k, case) in group.cases.iter().enumerate() {
                let line = case.to_string();
                order.push((xxh3_64(line.as_bytes()), line, g, k));
            }
        }
        order.sort();
        HuntPlan {
            loaded: groups.iter().map(|_| OnceLock::new()).collect(),
            order: order.into_iter().map(|(_, _, g, k)| (g, k)).collect(),
            groups,
        }
    }

    /// The cases for which `concerns` holds, with their matrices. A matrix that cannot be made is left out: the run itself
    /// reports it.
    pub fn cases(&self, concerns: impl Fn(&Case) -> bool) -> impl Iterator<Item = (&Case, Arc<Loaded>)> {
        let chosen = self.order.iter().map(|&(g, k)| (g, &self.groups[g].cases[k]));
        chosen.filter(move |(_, case)| concerns(case)).filter_map(|(g, case)| {
            let load = || self.groups[g].origin.load().ok().map(Arc::new);
            Some((case, self.loaded[g].get_or_init(load).clone()?))
        })
    }

    /// True where some case concerns the bug.
    #[must_use]
    pub fn concerns(&self, bug: &Bug) -> bool {
        let mut cases = self.groups.iter().flat_map(|group| &group.cases);
        cases.any(|case| (bug.concerns)(case))
    }

    /// The chosen cases of a contract with their matrices, small ones first. A matrix that cannot be made is left out.
    pub fn in_order_of_cost(
        &self,
        chosen: impl Fn(&Case) -> bool,
        contract: Contract,
    ) -> Vec<(&Case, Arc<Loaded>)> {
        let of_contract = self.order.iter().map(|&(g, k)| (g, &self.groups[g].cases[k]));
        let mine = of_contract.filter(|(_, case)| case.contract == contract && chosen(case));
        let mut cases: Vec<(&Case, Arc<Loaded>)> = mine
            .filter_map(|(g, case)| {
                let load = || self.groups[g].origin.load().ok().map(Arc::new);
                Some((case, self.loaded[g].get_or_init(load).clone()?))
            })
            .collect();
        // Stable: cases that cost the same stay in hunting order.
        cases.sort_by_key(|(case, loaded)| {
            let calls = match case.params.after {
                Some(After::Many) => 300,
                Some(After::Myriad) => 70_000,
                Some(_) => 4,
                None => 1,
            };
            calls * (1 + loaded.coo.rows + loaded.coo.nnz()) * (1 + case.params.n)
        });
        cases
    }

    /// Number of cases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

/// What ended a hunt.
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    /// What the finding is called.
    pub symptom: Symptom,
    /// The tier that decided, where values were judged.
    pub tier: Option<Criterion>,
    /// The declared bits (T2) were compared there, too: a stronger statement may have spoken first.
    pub by_bits: bool,
    /// The case.
    pub case: String,
    /// True where a call before the judged one was found wrong: another request, whose finding may be called otherwise.
    pub earlier: bool,
}

/// The outcome for one bug.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The bug.
    pub bug: &'static Bug,
    /// The first finding; `None` for a survivor.
    pub kill: Option<Kill>,
    /// Cases judged, that of the kill included.
    pub judged: usize,
    /// Cases judged on the control.
    pub controlled: usize,
    /// Findings about the control: each a false alarm.
    pub alarms: Vec<String>,
}

impl Hunt {
    /// True where it was found, and the finding, where it is about the judged call, is called what it may be called.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.kill.as_ref().is_some_and(|kill| kill.earlier || self.bug.right.contains(&kill.symptom))
    }
}

/// Cases on which a control is judged at least, as far as the plan has them.
pub const CONTROLLED: usize = 12;

/// Cases that are made ready together.
const WINDOW: usize = 48;

/// What is told of hunts: how many are over, and of how many.
pub type HuntTold<'a> = &'a dyn Fn(usize, usize);

/// Hunts these bugs over these cases, each until its first finding and until its control was judged on `controlled` cases; `loosely`, as
/// backends that declare no order of additions. What a case's result must be is worked out once for all bugs. A bug that only a larger
/// tier than `tier` has to catch counts as a survivor without a hunt, which would go over all cases.
#[must_use]
pub fn hunt<'c>(
    bugs: impl Iterator<Item = &'static Bug>,
    cases: impl Iterator<Item = (&'c Case, Arc<Loaded>)>,
    tier: plan::Tier,
    loosely: bool,
    controlled: usize,
    told: HuntTold<'_>,
) -> Vec<Hunt> {
    let mut chases: Vec<Chase> = bugs.map(|bug| Chase::new(bug, tier, loosely)).collect();
    let mut cases = cases.peekable();
    while cases.peek().is_some() {
        let asked = |case: &Case| {
            let mut open = chases.iter().filter(|chase| !chase.is_over(controlled));
            open.any(|chase| (chase.hunt.bug.concerns)(case))
        };
        let window = window(&mut cases, asked);
        let made = window.par_iter().map(|(case, loaded)| Some((*case, build(case, loaded).ok()?)));
        let made: Vec<(&Case, Operands)> = made.flatten().collect();
        let ready: Vec<Ready<'_>> = made.iter().map(|(case, operands)| Ready::new(case, operands)).collect();
        let open = chases.par_iter_mut().filter(|chase| !chase.is_over(controlled));
        open.for_each(|chase| chase.over(&ready, controlled));
        let over = chases.iter().filter(|chase| chase.is_over(controlled)).count();
        told(over, chases.len());
        if over == chases.len() {
            break;
        }
    }
    // What is not caught is over as well.
    told(chases.len(), chases.len());
    chases.into_iter().map(|chase| chase.hunt).collect()
}

/// The next cases that are asked, as many as there is memory for beside the hunts of other threads; one at least.
fn window<'c, I: Iterator<Item = (&'c Case, Arc<Loaded>)>>(
    cases: &mut Peekable<I>,
    asked: impl Fn(&Case) -> bool,
) -> Vec<(&'c Case, Arc<Loaded>)> {
    let room = u128::from(MemoryBudget::process().limit()) / (4 * rayon::current_num_threads() as u128);
    let (mut window, mut taken) = (Vec::new(), 0u128);
    while window.len() < WINDOW {
        let fits = |(case, loaded): &(&Case, Arc<Loaded>)| {
            if !asked(case) {
                return true;
            }
            taken = taken.saturating_add(need(case, loaded));
            window.is_empty() || taken <= room
        };
        let Some(next) = cases.next_if(fits) else { break };
        if asked(next.0) {
            window.push(next);
        }
    }
    window
}

/// A hunt that goes on.
struct Chase {
    is_due: bool,
    sick: Seeded,
    control: Seeded,
    hunt: Hunt,
}

impl Chase {
    fn new(bug: &'static Bug, tier: plan::Tier, loosely: bool) -> Chase {
        let declared = |seeded: Seeded| if loosely { seeded.loosely() } else { seeded };
        Chase {
            is_due: bug.killed_in <= tier,
            sick: declared(Seeded::sick(bug)),
            control: declared(Seeded::control(bug)),
            hunt: Hunt { bug, kill: None, judged: 0, controlled: 0, alarms: Vec::new() },
        }
    }

    fn is_over(&self, controlled: usize) -> bool {
        !self.is_due || self.hunt.kill.is_some() && self.hunt.controlled >= controlled
    }

    /// Goes over some cases in their order. After the kill only the control goes on.
    fn over(&mut self, cases: &[Ready<'_>], controlled: usize) {
        let concerns = |ready: &&Ready<'_>| (self.hunt.bug.concerns)(ready.case());
        let mine: Vec<&Ready<'_>> = cases.iter().filter(concerns).collect();
        let mut rest = mine.as_slice();
        while !rest.is_empty() && !self.is_over(controlled) {
            let (next, later) = rest.split_at(self.stride().min(rest.len()));
            rest = later;
            let wanted = self.hunt.kill.is_none();
            let ask = |ready: &&Ready<'_>| {
                (
                    wanted.then(|| answer(&self.sick, ready)),
                    (controlled > 0).then(|| answer(&self.control, ready)),
                )
            };
            // One case alone, so that what the kernel remembers is of the thread that asks it.
            let asked: Vec<_> = match next {
                [one] => vec![ask(one)],
                several => several.par_iter().map(ask).collect(),
            };
            for (ready, (sick, control)) in next.iter().zip(asked) {
                if self.is_over(controlled) {
                    break;
                }
                if let Some(sick) = sick.filter(|_| self.hunt.kill.is_none()) {
                    self.hunt.look(ready.case(), &sick);
                }
                if let Some(control) = control {
                    self.hunt.check(ready.case(), &control.record);
                }
            }
        }
    }

    /// How many cases are asked at once: few at first, since most bugs are found by the first ones. What comes of it does not depend on it.
    fn stride(&self) -> usize {
        if self.sick.remembers() {
            return 1;
        }
        (self.hunt.judged / 4).clamp(1, 2 * rayon::current_num_threads())
    }
}

/// Asks a kernel for a case.
fn answer(kernel: &Seeded, ready: &Ready<'_>) -> Asked {
    let op = ready.case().contract.op;
    if kernel.remembers() {
        kernel.about(op);
        return ready.ask(kernel);
    }
    // What remembers nothing is the same as a new one, which other threads do not tell of their cases.
    let kernel = kernel.anew();
    kernel.about(op);
    ready.ask_once(&kernel)
}

impl Hunt {
    fn look(&mut self, case: &Case, asked: &Asked) {
        let record = &asked.record;
        let verdict = &record.verdict;
        if !verdict.kind().ran() {
            return;
        }
        self.judged += 1;
        let earlier = asked.in_call.is_some();
        let tier = deciding_tier(verdict).filter(|_| !earlier);
        self.kill = Symptom::of(verdict).map(|symptom| Kill {
            symptom,
            tier,
            by_bits: tier.is_some() && record.tiers.contains(&Criterion::T2),
            case: case.to_string(),
            earlier,
        });
    }

    fn check(&mut self, case: &Case, control: &CaseRecord) {
        let verdict = &control.verdict;
        self.controlled += usize::from(verdict.kind().ran());
        if verdict.is_finding() {
            self.alarms.push(format!("{case}: {verdict}"));
        }
    }
}

/// The tier of a mismatch of values; other defects are not about rounding, and moved bits, which are no elements, about no tier. Words on
/// what C held may stand before the element.
fn deciding_tier(verdict: &VerdictRecord) -> Option<Criterion> {
    match verdict {
        VerdictRecord::Wrong(m) if m.what == Defect::Value && m.message.contains("element (") => Some(m.tier),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_conformance_core::report::Mismatch;
    use sparse_conformance_core::report::reason::SECOND_CALL;

    /// Found by a reader: words before the element hid that it was one, so that a bug that only bits convict counted as convicted by more.
    #[test]
    fn words_before_the_element_do_not_hide_its_tier() {
        let tier = |what, message: &str| {
            deciding_tier(&VerdictRecord::Wrong(Mismatch::new(Criterion::T2, what, message)))
        };
        let element =
            "element (1, 2): expected 3 (0x3), found 4 (0x4): the declared reduction gives other bits";
        assert_eq!(tier(Defect::Value, element), Some(Criterion::T2));
        let second = format!("{SECOND_CALL}: {element}");
        assert_eq!(tier(Defect::Value, &second), Some(Criterion::T2));
        assert_eq!(tier(Defect::Stale, element), None);
        assert_eq!(tier(Defect::Value, "stored entry 3: expected (0, 1) = 0x1, found (0, 1) = 0x2"), None);
    }
}
