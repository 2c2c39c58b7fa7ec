//! Cases drawn for the backends at hand: for each contract that one claims, a covering array inside of what it takes.
//!
//! ```text
//! contract, backend -> levels it takes -> rows (cover) -> drafts -> matrix chosen, what it takes asked -> cases
//! the backend that takes least first; what is drawn for it counts for those that take it too
//! ```
//!
//! Pairs with a costly level are shared out among the contracts of one operation and format that a backend claims: their kernels differ in
//! the element type. A backend that claims one of them gets them all.

use super::Options;
use super::axis::{Axis, FAULT, axes};
use super::cover::{Row, State, Tuple, Tuples, complete};
use super::demand::{Budget, Demand, Demanded, space};
use super::make::{CaseWish, Maker, takes};
use super::mix::Mix;
use super::refused::refused;
use super::shown::{ENOUGH, Shown};
use super::sources::{GROUPS, Pool, group_of};
use crate::backend::Backend;
use crate::case::Case;
use crate::origin::Origin;
use rayon::prelude::*;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::FormatKind;
use sparse_oracle::source::generator::{FAMILIES, Family};
use std::collections::{BTreeSet, HashMap};

/// The drawn cases of one contract, and what they are owed to.
pub(crate) type OfContract = (Vec<Case>, Vec<Demand>);

/// Draws the cases of every selected contract, in the order of the table.
pub(crate) fn contracts(
    options: &Options,
    selected: &[(u64, Contract)],
    backends: &[&dyn Backend],
) -> Vec<OfContract> {
    let budget = Budget::of(options.tier);
    let pool = Pool::new(options.seed, budget.variants);
    let shares: Vec<HashMap<Contract, Share>> = backends.iter().map(|b| shares(*b)).collect();
    let of = |&(index, contract): &(u64, Contract)| {
        let axes = axes(&contract);
        let maker = Maker { contract, axes, pool: &pool, budget };
        maker.draw(options.seed, index, backends, &shares)
    };
    selected.par_iter().map(of).collect()
}

/// Which part of the costly pairs falls to a contract: one of so many.
#[derive(Clone, Copy, Debug)]
struct Share {
    index: u64,
    of: u64,
}

fn shares(backend: &dyn Backend) -> HashMap<Contract, Share> {
    let mut groups: HashMap<(Op, FormatKind, Option<FormatKind>), Vec<Contract>> = HashMap::new();
    for c in all_contracts().iter().filter(|c| backend.claims(c)) {
        groups.entry((c.op, c.format, c.to)).or_default().push(*c);
    }
    let share = |group: Vec<Contract>| {
        let of = group.len() as u64;
        let numbered = group.into_iter().zip(0..);
        numbered.map(move |(contract, index)| (contract, Share { index, of }))
    };
    groups.into_values().flat_map(share).collect()
}

/// A backend that claims the contract, and the levels that it takes.
struct Claimant<'a> {
    place: usize,
    backend: &'a dyn Backend,
    allowed: Vec<Vec<u8>>,
    share: Share,
}

impl Maker<'_> {
    fn draw(
        &self,
        seed: u64,
        index: u64,
        backends: &[&dyn Backend],
        shares: &[HashMap<Contract, Share>],
    ) -> OfContract {
        let mut mix = Mix::new(&[seed, index, 0xc0e5]);
        // What can be made at all, whatever a backend says.
        let possible = self.allowed(None, &mut mix);
        let mut claims: Vec<Claimant<'_>> = Vec::new();
        for (place, backend) in backends.iter().enumerate() {
            let Some(&share) = shares[place].get(&self.contract) else {
                continue;
            };
            let (backend, allowed) = (*backend, self.allowed(Some(*backend), &mut mix));
            claims.push(Claimant { place, backend, allowed: allowed.unwrap_or_default(), share });
        }
        let freedom = |claim: &Claimant<'_>| claim.allowed.iter().map(Vec::len).sum::<usize>();
        claims.sort_by_key(freedom);
        let (mut cases, mut demands) = (Drawn::default(), Vec::new());
        for claim in &claims {
            demands.push(self.claimed(claim, possible.as_deref(), &mut cases, &mut mix));
        }
        demands.sort_by_key(|demand| demand.backend);
        let mut drawn: Vec<Case> = cases.list.into_iter().map(|(_, case)| case).collect();
        for claim in &claims {
            let further = refused(claim.backend, &drawn);
            drawn.extend(further.into_iter().filter(|case| cases.lines.insert(case.to_string())));
        }
        (drawn, demands)
    }

    /// Adds what one backend's covering array and floor need.
    fn claimed(
        &self,
        claim: &Claimant<'_>,
        possible: Option<&[Vec<u8>]>,
        cases: &mut Drawn,
        mix: &mut Mix,
    ) -> Demand {
        let mut demand = Demand {
            backend: claim.place,
            contract: self.contract,
            floor: self.budget.floor,
            tuples: Demanded::default(),
        };
        // The backend claims the contract, but took none of the cases that were tried. Nothing is drawn; the missing cases are
        // reported as fewer than the floor.
        if claim.allowed.is_empty() {
            return demand;
        }
        let demanded = |tuple: &Tuple| self.is_demanded(tuple, claim.share);
        let space = space(&self.axes);
        let mut tuples = Tuples::new(&space, demanded);
        let wanted = tuples.clone();
        let mut count = 0;
        for (row, case) in &cases.list {
            if takes(claim.backend, case) {
                tuples.meet(row);
                count += 1;
            }
        }
        let turn = std::cell::Cell::new(mix.below(1 << 16));
        let make = |row: &[u8], mix: &mut Mix| {
            turn.set(turn.get() + 1);
            self.make(row, CaseWish::default(), Some(claim.backend), turn.get(), mix)
        };
        let made = complete(&mut tuples, &claim.allowed, mix, |row, mix| {
            let (row, case) = make(row, mix)?;
            (!cases.lines.contains(&case.to_string())).then(|| (row.clone(), (row, case)))
        });
        for (row, case) in made {
            count += u64::from(cases.push(row, case));
        }
        for family in self.absent_families(claim, cases) {
            if let Some((row, case)) = self.of_family(family, claim, mix) {
                count += u64::from(cases.push(row, case));
            }
        }
        self.fill(claim, count, cases, mix);
        demand.tuples = self.demanded(wanted, &tuples, claim, possible, mix);
        demand
    }

    /// Adds cases up to the floor, and until every family of values shows in one; `count` are there already.
    fn fill(&self, claim: &Claimant<'_>, mut count: u64, cases: &mut Drawn, mix: &mut Mix) {
        let mut shown = Shown::new(&self.axes, &claim.allowed);
        let mine = cases.list.iter().filter(|(_, case)| takes(claim.backend, case));
        mine.for_each(|(row, case)| _ = shown.note(row, case));
        let first = mix.below(1 << 16);
        for turn in first..first + 20 * self.budget.floor {
            // A few more than the floor, since some cases may turn out not to be run.
            let is_enough = count >= self.budget.floor + self.budget.floor / 32;
            let rarest = shown.rarest();
            if is_enough && rarest.is_none_or(|(_, cases)| cases >= ENOUGH) {
                break;
            }
            // In one turn of four the rarest view is not asked for, because it may be impossible with most levels.
            let (row, values) = match rarest.filter(|_| !mix.one_in(4)) {
                Some((view, _)) => {
                    let mut row = self.blind(shown.clear(), None, mix);
                    shown.set(&mut row, view);
                    (row, Some(view.values))
                }
                None => (self.blind(&claim.allowed, None, mix), None),
            };
            let asked = CaseWish { values, ..CaseWish::default() };
            if let Some((row, case)) = self.make(&row, asked, Some(claim.backend), turn, mix)
                && (shown.note(&row, &case) || !is_enough)
            {
                count += u64::from(cases.push(row, case));
            }
        }
    }

    /// A costly tuple falls to one contract of those that share them.
    fn is_demanded(&self, tuple: &Tuple, share: Share) -> bool {
        let heavy = |&(f, level): &(u8, u8)| self.axes[usize::from(f)].is_heavy(level);
        if !tuple.parts().iter().any(heavy) {
            return true;
        }
        let key: Vec<u64> = tuple.parts().iter().map(|&(f, l)| u64::from(f) << 8 | u64::from(l)).collect();
        Mix::new(&key).below(share.of) == share.index
    }

    /// What the finished plan owes: the tuples that it has, and what the backend excludes.
    fn demanded(
        &self,
        wanted: Tuples,
        tuples: &Tuples,
        claim: &Claimant<'_>,
        possible: Option<&[Vec<u8>]>,
        mix: &mut Mix,
    ) -> Demanded {
        let possible = possible.unwrap_or(&claim.allowed);
        let mut excluded_levels = Vec::new();
        for (axis, (may, takes)) in self.axes.iter().zip(possible.iter().zip(&claim.allowed)) {
            let left_out = may.iter().filter(|level| !takes.contains(level));
            excluded_levels.extend(left_out.map(|&level| axis.level_name(level)));
        }
        let inside = |&(f, level): &(u8, u8)| claim.allowed[usize::from(f)].contains(&level);
        let mut excluded_pairs = 0;
        for tuple in tuples.in_state(State::Impossible) {
            if tuple.parts().iter().all(inside) && self.can_be_made(tuple, possible, mix) {
                excluded_pairs += 1;
            }
        }
        Demanded {
            axes: self.axes.clone(),
            wanted: Some(wanted.without(tuples, State::Impossible)),
            excluded_levels,
            excluded_pairs,
        }
    }

    /// True where a case has the tuple, if no backend is asked.
    fn can_be_made(&self, tuple: &Tuple, possible: &[Vec<u8>], mix: &mut Mix) -> bool {
        let holds = |row: &[u8]| tuple.parts().iter().all(|&(f, level)| row[usize::from(f)] == level);
        (0..12).any(|turn| {
            let row = self.blind(possible, Some(tuple), mix);
            self.make(&row, CaseWish::default(), None, turn, mix).is_some_and(|(row, _)| holds(&row))
        })
    }

    /// Levels drawn blindly: every second factor at its first level, so that what backends commonly take is met often.
    fn blind(&self, allowed: &[Vec<u8>], tuple: Option<&Tuple>, mix: &mut Mix) -> Row {
        let level = |levels: &Vec<u8>| match levels.first() {
            Some(&first) if mix.one_in(3) => first,
            Some(_) => mix.pick(levels),
            None => 0,
        };
        let mut row: Row = allowed.iter().map(level).collect();
        // Levels that mask the other factors are mostly redrawn; whoever needs one sets it in `tuple`.
        for (f, axis) in self.axes.iter().enumerate() {
            while axis.masking().contains(&row[f]) && !mix.one_in(12) {
                match allowed[f].iter().find(|level| !axis.masking().contains(level)) {
                    Some(_) => row[f] = mix.pick(&allowed[f]),
                    None => break,
                }
            }
        }
        for &(f, level) in tuple.iter().flat_map(|t| t.parts()) {
            row[usize::from(f)] = level;
        }
        row
    }

    /// The levels that occur in cases that can be made (and that a backend takes); none where there is no case.
    fn allowed(&self, backend: Option<&dyn Backend>, mix: &mut Mix) -> Option<Vec<Vec<u8>>> {
        let all: Vec<Vec<u8>> = self.axes.iter().map(|axis| (0..axis.levels()).collect()).collect();
        let mut found: Vec<BTreeSet<u8>> = vec![BTreeSet::new(); self.axes.len()];
        let note = |found: &mut Vec<BTreeSet<u8>>, row: &[u8]| {
            found.iter_mut().zip(row).for_each(|(levels, &level)| _ = levels.insert(level));
        };
        // Each level is tried in a small case that has a result to judge, not in one with an empty matrix or a thousand columns.
        let plain: Vec<Vec<u8>> = self.axes.iter().map(Axis::plain).collect();
        let drawn = |levels: &[Vec<u8>], turns: u64, mix: &mut Mix| {
            (0..turns).find_map(|turn| {
                self.make(&self.blind(levels, None, mix), CaseWish::default(), backend, turn, mix)
            })
        };
        let showing: Vec<Vec<u8>> = self.axes.iter().map(Axis::showing).collect();
        let small = drawn(&plain, 2000, mix);
        let showing = || drawn(&showing, 2000, mix);
        let (anchor, _) = small.or_else(showing).or_else(|| drawn(&all, 4000, mix))?;
        note(&mut found, &anchor);
        // Twice, because a level may be possible only together with one that is found later.
        for f in (0..self.axes.len()).chain(0..self.axes.len()) {
            for &level in &all[f] {
                for attempt in 0..40_u64 {
                    if found[f].contains(&level) {
                        break;
                    }
                    let narrowed: Vec<Vec<u8>> = found.iter().map(|s| s.iter().copied().collect()).collect();
                    let mut row = match attempt.checked_sub(4) {
                        None => anchor.clone(),
                        Some(group) if group < GROUPS.len() as u64 => self.lightest(&anchor, group),
                        Some(group) => {
                            let row = self.blind(&narrowed, None, mix);
                            if group.is_multiple_of(2) { self.unscaled(&row) } else { row }
                        }
                    };
                    row[f] = level;
                    if let Some((row, _)) = self.make(&row, CaseWish::default(), backend, attempt, mix) {
                        note(&mut found, &row);
                    }
                }
            }
        }
        Some(found.into_iter().map(|levels| levels.into_iter().collect()).collect())
    }

    /// The row made as cheap as possible (few columns, no calls before, no fault), on a pattern of this group. A matrix of very large
    /// extents is within the budget only so.
    fn lightest(&self, row: &[u8], group: u64) -> Row {
        self.with_levels(row, |name| match name {
            "n" => Some(1),
            "after" | FAULT => Some(0),
            "pattern" => Some(group as u8),
            _ => None,
        })
    }

    /// The row with alpha = 1 and beta = 0, which some levels go with alone, and which are rarely drawn together.
    fn unscaled(&self, row: &[u8]) -> Row {
        self.with_levels(row, |name| match name {
            "alpha" => Some(0),
            "beta" => Some(1),
            _ => None,
        })
    }

    /// The row with other levels of the factors of some names.
    fn with_levels(&self, row: &[u8], level_of: impl Fn(&str) -> Option<u8>) -> Row {
        let levels = row.iter().zip(&self.axes);
        levels.map(|(&level, axis)| level_of(axis.name()).unwrap_or(level)).collect()
    }

    /// Generators that no case of a backend has yet.
    fn absent_families(&self, claim: &Claimant<'_>, cases: &Drawn) -> Vec<Family> {
        let mine = cases.list.iter().filter(|(_, case)| takes(claim.backend, case));
        let met: BTreeSet<Family> = mine
            .filter_map(|(_, case)| match &case.origin {
                Origin::Spec(spec) => Some(spec.family()),
                _ => None,
            })
            .collect();
        let all = FAMILIES.iter().map(|info| info.family);
        all.filter(|family| !met.contains(family)).collect()
    }

    fn of_family(&self, family: Family, claim: &Claimant<'_>, mix: &mut Mix) -> Option<(Row, Case)> {
        let group = group_of(family).filter(|&group| group < GROUPS.len())? as u8;
        let pattern = self.axis("pattern")?;
        let asked = CaseWish { generator: Some(family), ..CaseWish::default() };
        (0..3000).find_map(|turn| {
            let mut row = self.blind(&claim.allowed, None, mix);
            row[pattern] = group;
            // A generator may have large matrices only: few columns of C go with them.
            if let Some(n) = self.axis("n")
                && turn % 2 == 1
                && claim.allowed[n].contains(&1)
            {
                row[n] = 1;
            }
            self.make(&row, asked, Some(claim.backend), turn, mix)
        })
    }

    /// Place of a factor among those of the contract.
    fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name() == name)
    }
}

/// The cases of a contract so far.
#[derive(Default)]
struct Drawn {
    list: Vec<(Row, Case)>,
    lines: BTreeSet<String>,
}

impl Drawn {
    /// True where it was not there yet.
    fn push(&mut self, row: Row, case: Case) -> bool {
        let is_new = self.lines.insert(case.to_string());
        if is_new {
            self.list.push((row, case));
        }
        is_new
    }
}
