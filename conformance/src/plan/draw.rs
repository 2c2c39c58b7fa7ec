//! Cases drawn for the backends at hand: for each contract that one claims, a covering array inside of what it takes.
//!
//! ```text
//! contract, backend -> levels it takes -> rows (cover) -> drafts -> matrix chosen, what it takes asked -> cases
//! the backend that takes least first; what is drawn for it counts for those that take it too
//! ```
//!
//! Pairs with a costly level are shared out among the contracts of one operation and format that a backend claims: their kernels differ in
//! the element type. A backend that claims one of them gets them all.

use super::cover::{Row, Space, State, Tuple, Tuples, complete};
use super::factors::{Axis, Draft, FAULT, axes, same_level};
use super::mix::Mix;
use super::sources::{Choice, GROUPS, Pool, group_of};
use super::{Options, Tier};
use crate::backend::{Backend, Support};
use crate::case::{Case, Fault, Filling, Params};
use crate::origin::Origin;
use crate::right::Right;
use crate::sequence::After;
use rayon::prelude::*;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::generator::{FAMILIES, Family};
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::SddmmMode;
use std::collections::{BTreeSet, HashMap};

/// What a run owes to one contract of one backend.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Place of the backend among those that the plan was made for.
    pub backend: usize,
    /// The contract.
    pub contract: Contract,
    /// Cases to be judged at least.
    pub floor: u64,
    /// Pairs (and triples) of levels that the plan has.
    pub tuples: Demanded,
}

/// Combinations of levels in the cases of a contract.
#[derive(Clone, Debug, Default)]
pub struct Demanded {
    axes: Vec<Axis>,
    wanted: Option<Tuples>,
    /// Levels that the backend excludes, by name.
    pub excluded_levels: Vec<String>,
    /// Combinations of levels it takes each of, that it excludes together.
    pub excluded_pairs: u64,
}

impl Demanded {
    /// Combinations that the plan has.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.wanted
            .iter()
            .map(|t| t.in_state(State::Open).count() as u64)
            .sum()
    }

    /// Those of them that none of these cases has; the first is given by name.
    #[must_use]
    pub fn missing<'a>(&self, cases: impl Iterator<Item = &'a Case>) -> (u64, Option<String>) {
        let Some(mut tuples) = self.wanted.clone() else {
            return (0, None);
        };
        for case in cases {
            if let Some(row) = row_of(&self.axes, case) {
                tuples.meet(&row);
            }
        }
        let mut open = tuples.in_state(State::Open);
        let first = open.next().map(|tuple| self.name(tuple));
        (open.count() as u64 + u64::from(first.is_some()), first)
    }

    /// The combinations that the plan has, as bits in hex, so that shards can be brought together.
    #[must_use]
    pub fn bits(&self) -> String {
        self.wanted.as_ref().map_or_else(String::new, Tuples::wanted_bits)
    }

    /// The combinations that [`bits`](Self::bits) tells of a contract; none for a text that is not about it.
    #[must_use]
    pub fn of_bits(contract: &Contract, bits: &str) -> Option<Demanded> {
        let axes = axes(contract);
        let wanted = match bits {
            "" => None,
            bits => Some(Tuples::of_bits(&space(&axes), bits)?),
        };
        Some(Demanded {
            axes,
            wanted,
            ..Demanded::default()
        })
    }

    fn name(&self, tuple: &Tuple) -> String {
        let level = |&(f, level): &(u8, u8)| Some(self.axes.get(usize::from(f))?.level_name(level));
        let names: Vec<String> = tuple.parts().iter().filter_map(level).collect();
        names.join(" with ")
    }
}

/// What a run over given matrices owes: cases enough, which a few matrices rarely give.
pub(crate) fn owed_on_files(
    options: &Options,
    contracts: &[Contract],
    backends: &[&dyn Backend],
) -> Vec<Demand> {
    let floor = Budget::of(options.tier).floor;
    let of = |&contract: &Contract| {
        let claiming = backends
            .iter()
            .enumerate()
            .filter(move |(_, backend)| backend.claims(&contract));
        claiming.map(move |(backend, _)| Demand {
            backend,
            contract,
            floor,
            tuples: Demanded::default(),
        })
    };
    contracts.iter().flat_map(of).collect()
}

fn space(axes: &[Axis]) -> Space {
    let strong = (0..axes.len()).filter(|&f| axes[f].is_strong());
    Space {
        levels: axes.iter().map(Axis::levels).collect(),
        strong: strong.collect(),
        masks: masks(axes),
    }
}

/// Levels under which a case shows nothing of its other factors.
fn masks(axes: &[Axis]) -> Vec<(usize, u8)> {
    let of = |(f, axis): (usize, &Axis)| {
        axis.masking()
            .iter()
            .map(move |&level| (f, level))
            .collect::<Vec<_>>()
    };
    axes.iter().enumerate().flat_map(of).collect()
}

/// The levels of a case; none where a factor has a value that no plan draws.
fn row_of(axes: &[Axis], case: &Case) -> Option<Row> {
    axes.iter().map(|axis| axis.of(case)).collect()
}

/// How much a plan of a tier holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Cases of a contract that a backend claims, at least.
    pub floor: u64,
    /// Elements of a result at most, as far as the size of a case is chosen.
    pub elements: u128,
    /// Matrices of each generator and class of shapes.
    pub variants: usize,
}

impl Budget {
    pub(crate) const fn of(tier: Tier) -> Budget {
        let (floor, elements, variants) = match tier {
            Tier::Quick => (150, 1_500, 3),
            Tier::Full => (1_500, 20_000, 10),
            Tier::Extensive => (10_000, 100_000, 40),
        };
        Budget {
            floor,
            elements,
            variants,
        }
    }
}

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
        let maker = Maker {
            contract,
            axes,
            pool: &pool,
            budget,
        };
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

/// Makes rows into cases of one contract.
struct Maker<'a> {
    contract: Contract,
    axes: Vec<Axis>,
    pool: &'a Pool,
    budget: Budget,
}

/// A backend that claims the contract, and the levels that it takes.
struct Claim<'a> {
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
        let mut claims: Vec<Claim<'_>> = Vec::new();
        for (place, backend) in backends.iter().enumerate() {
            let Some(&share) = shares[place].get(&self.contract) else {
                continue;
            };
            let (backend, allowed) = (*backend, self.allowed(Some(*backend), &mut mix));
            claims.push(Claim {
                place,
                backend,
                allowed: allowed.unwrap_or_default(),
                share,
            });
        }
        let freedom = |claim: &Claim<'_>| claim.allowed.iter().map(Vec::len).sum::<usize>();
        claims.sort_by_key(freedom);
        let (mut cases, mut demands) = (Drawn::default(), Vec::new());
        for claim in &claims {
            demands.push(self.claimed(claim, possible.as_deref(), &mut cases, &mut mix));
        }
        demands.sort_by_key(|demand| demand.backend);
        (cases.list.into_iter().map(|(_, case)| case).collect(), demands)
    }

    /// Adds what one backend's covering array and floor need.
    fn claimed(
        &self,
        claim: &Claim<'_>,
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
        // It claims the contract, and none of the cases tried: there is nothing to draw, which the floor will say.
        if claim.allowed.is_empty() {
            return demand;
        }
        let demanded = |tuple: &Tuple| self.is_demanded(tuple, claim.share);
        let mut tuples = Tuples::new(&space(&self.axes), demanded);
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
            self.make(row, Some(claim.backend), turn.get(), mix)
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
        for _ in 0..20 * self.budget.floor {
            // A few more, for what turns out not to be run.
            if count >= self.budget.floor + self.budget.floor / 32 {
                break;
            }
            let row = self.blind(&claim.allowed, None, mix);
            if let Some((row, case)) = make(&row, mix) {
                count += u64::from(cases.push(row, case));
            }
        }
        demand.tuples = self.demanded(wanted, &tuples, claim, possible, mix);
        demand
    }

    /// A costly tuple falls to one contract of those that share them.
    fn is_demanded(&self, tuple: &Tuple, share: Share) -> bool {
        let heavy = |&(f, level): &(u8, u8)| self.axes[usize::from(f)].is_heavy(level);
        if !tuple.parts().iter().any(heavy) {
            return true;
        }
        let key: Vec<u64> = tuple
            .parts()
            .iter()
            .map(|&(f, l)| u64::from(f) << 8 | u64::from(l))
            .collect();
        Mix::new(&key).below(share.of) == share.index
    }

    /// What the finished plan owes: the tuples that it has, and what the backend excludes.
    fn demanded(
        &self,
        wanted: Tuples,
        tuples: &Tuples,
        claim: &Claim<'_>,
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
        let holds = |row: &[u8]| {
            tuple
                .parts()
                .iter()
                .all(|&(f, level)| row[usize::from(f)] == level)
        };
        (0..12).any(|turn| {
            let row = self.blind(possible, Some(tuple), mix);
            self.make(&row, None, turn, mix)
                .is_some_and(|(row, _)| holds(&row))
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
        // A case that shows nothing is drawn where it is asked for.
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
        let all: Vec<Vec<u8>> = self
            .axes
            .iter()
            .map(|axis| (0..axis.levels()).collect())
            .collect();
        let mut found: Vec<BTreeSet<u8>> = vec![BTreeSet::new(); self.axes.len()];
        let note = |found: &mut Vec<BTreeSet<u8>>, row: &[u8]| {
            found
                .iter_mut()
                .zip(row)
                .for_each(|(levels, &level)| _ = levels.insert(level));
        };
        // From a small case that shows something, so that levels are not judged beside an empty matrix or a thousand columns.
        let plain: Vec<Vec<u8>> = self.axes.iter().map(Axis::plain).collect();
        let drawn = |levels: &[Vec<u8>], turns: u64, mix: &mut Mix| {
            (0..turns).find_map(|turn| self.make(&self.blind(levels, None, mix), backend, turn, mix))
        };
        let showing: Vec<Vec<u8>> = self.axes.iter().map(Axis::showing).collect();
        let small = drawn(&plain, 2000, mix);
        let showing = || drawn(&showing, 2000, mix);
        let (anchor, _) = small.or_else(showing).or_else(|| drawn(&all, 4000, mix))?;
        note(&mut found, &anchor);
        // A second time for what goes only with a level that was found later.
        for f in (0..self.axes.len()).chain(0..self.axes.len()) {
            for &level in &all[f] {
                for attempt in 0..40 {
                    if found[f].contains(&level) {
                        break;
                    }
                    let narrowed: Vec<Vec<u8>> = found.iter().map(|s| s.iter().copied().collect()).collect();
                    let mut row = if attempt < 4 {
                        anchor.clone()
                    } else {
                        self.blind(&narrowed, None, mix)
                    };
                    row[f] = level;
                    if let Some((row, _)) = self.make(&row, backend, attempt, mix) {
                        note(&mut found, &row);
                    }
                }
            }
        }
        Some(
            found
                .into_iter()
                .map(|levels| levels.into_iter().collect())
                .collect(),
        )
    }

    /// A case of these levels, with the levels that it really has.
    fn make(
        &self,
        row: &[u8],
        backend: Option<&dyn Backend>,
        turn: u64,
        mix: &mut Mix,
    ) -> Option<(Row, Case)> {
        let mut draft = Draft {
            contract: self.contract,
            params: Params::default(),
            group: 0,
            shape: 2,
            values: ValueFamily::NearOne,
            turn,
        };
        for (axis, &level) in self.axes.iter().zip(row) {
            axis.set(&mut draft, level, mix);
        }
        if let Some(backend) = backend {
            name_factors(&mut draft, backend, mix);
        }
        let case = self.finish(draft, None, mix)?;
        if backend.is_some_and(|backend| !takes(backend, &case)) {
            return None;
        }
        Some((row_of(&self.axes, &case)?, case))
    }

    /// Chooses the matrix, if there is one that fits the rest.
    fn finish(&self, mut draft: Draft, family: Option<Family>, mix: &mut Mix) -> Option<Case> {
        settle(&mut draft.params, self.contract);
        if !means_something(&draft) {
            return None;
        }
        // What alpha = 0 must not read shows beside NaN and Inf only, and beside -0 what compares bits.
        if draft.params.alpha == 0.0
            && matches!(draft.values, ValueFamily::Special | ValueFamily::PlacedSpecial)
        {
            draft.params.alpha = -0.0;
        }
        let fits = |choice: &Choice| self.fits(&draft, choice);
        let place = (draft.group, draft.shape);
        let choice = match family {
            None => self.pool.choose(place, draft.turn, fits),
            Some(family) => self.pool.of_family(family, draft.shape, draft.turn, fits),
        }?;
        Some(Case {
            contract: self.contract,
            origin: Origin::Spec(choice.spec),
            filling: Filling::Drawn(draft.values, mix.below(1 << 20)),
            params: draft.params,
        })
    }

    /// True where the formats hold the matrix, a fault is one, and the case costs no more than the budget allows.
    fn fits(&self, draft: &Draft, choice: &Choice) -> bool {
        let (rows, cols, nnz) = (
            u128::from(choice.rows),
            u128::from(choice.cols),
            u128::from(choice.nnz),
        );
        let (m, k) = if draft.params.transpose_a {
            (cols, rows)
        } else {
            (rows, cols)
        };
        let (n, most) = (draft.params.n as u128, self.budget.elements);
        let formats = [Some(self.contract.format), self.contract.to];
        let padded = formats.into_iter().flatten().any(FormatKind::pads_with_zeros);
        if padded && draft.shape >= 8 || !holds(&formats, choice) {
            return false;
        }
        if draft
            .params
            .fault
            .is_some_and(|fault| !applies(fault, draft, choice))
        {
            return false;
        }
        // Calls before the judged one cost as much each.
        let (rare, most) = match draft.params.after {
            None => (false, most),
            Some(After::Many | After::Myriad) => (true, most / 16),
            Some(_) => (draft.shape >= 8, most / 4),
        };
        if rare && draft.shape > 4 || draft.params.right == Right::Same && rows != cols {
            return false;
        }
        match self.contract.op {
            // A far matrix has a whole column of C to itself.
            Op::Spmm if draft.shape == 8 => n <= 1 && k <= 64 * most,
            Op::Spmm => m * n <= most && k * n <= 64 * most && nnz * n <= 64 * most,
            Op::Spmv => k <= 64 * most && (draft.shape == 8 || m <= most),
            Op::Sddmm => nnz * n <= 32 * most && nnz <= most && (m + k) * n <= 64 * most,
            Op::Spgemm => nnz <= 2 * most && m <= 4 * most && k <= 64 * most,
            Op::Transpose | Op::Convert => nnz <= 16 * most,
        }
    }

    /// Generators that no case of a backend has yet.
    fn absent_families(&self, claim: &Claim<'_>, cases: &Drawn) -> Vec<Family> {
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

    fn of_family(&self, family: Family, claim: &Claim<'_>, mix: &mut Mix) -> Option<(Row, Case)> {
        let group = group_of(family).filter(|&group| group < GROUPS.len())? as u8;
        let at = self.axes.iter().position(|axis| axis.name() == "pattern")?;
        (0..3000).find_map(|turn| {
            let mut row = self.blind(&claim.allowed, None, mix);
            row[at] = group;
            // A generator may have large matrices only: few columns of C go with them.
            if let Some(n) = self.axes.iter().position(|axis| axis.name() == "n")
                && turn % 2 == 1
                && claim.allowed[n].contains(&1)
            {
                row[n] = 1;
            }
            let mut draft = Draft {
                contract: self.contract,
                params: Params::default(),
                group: usize::from(group),
                shape: 2,
                values: ValueFamily::NearOne,
                turn,
            };
            for (axis, &level) in self.axes.iter().zip(&row) {
                axis.set(&mut draft, level, mix);
            }
            name_factors(&mut draft, claim.backend, mix);
            let case = self.finish(draft, Some(family), mix)?;
            takes(claim.backend, &case).then(|| Some((row_of(&self.axes, &case)?, case)))?
        })
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

/// True where a backend says that it answers.
fn takes(backend: &dyn Backend, case: &Case) -> bool {
    matches!(
        backend.support(&case.contract, &case.params),
        Support::Supported { .. }
    )
}

/// Factors that a manifest names stand for their level.
fn name_factors(draft: &mut Draft, backend: &dyn Backend, mix: &mut Mix) {
    let (alphas, betas) = backend.named_factors();
    let acc = draft.contract.types.acc;
    let of_level = |named: &[f64], drawn: f64, mix: &mut Mix| {
        let fits =
            |v: &f64| same_level(*v, drawn) && decode(encode(*v, acc, Rounding::NearestEven), acc) == *v;
        let same: Vec<f64> = named.iter().copied().filter(fits).collect();
        if same.is_empty() { drawn } else { mix.pick(&same) }
    };
    draft.params.alpha = of_level(&alphas, draft.params.alpha, mix);
    draft.params.beta = of_level(&betas, draft.params.beta, mix);
}

/// Writes a request one way only: what does not differ is not said, what an operation does not have stays at its default.
fn settle(p: &mut Params, contract: Contract) {
    p.layout_y = p.layout_y.filter(|&y| y != p.layout_b);
    p.pad_y = p.pad_y.filter(|&y| y != p.pad_b);
    let default = Params::default();
    if !matches!(contract.op, Op::Spmm | Op::Spmv | Op::Sddmm) {
        (p.alpha, p.beta) = (default.alpha, default.beta);
    }
}

/// False for a request that no operation is defined for.
fn means_something(draft: &Draft) -> bool {
    let p = &draft.params;
    // The calls of a sequence are legal; A * A has one extent and no further row.
    if p.fault.is_some() && (p.after.is_some() || p.right == Right::Same) {
        return false;
    }
    if draft.contract.op == Op::Sddmm {
        // S multiplies with alpha = 1 only, and only an added S has a factor.
        let scales = p.mode != SddmmMode::Scale || p.alpha == 1.0;
        let adds = p.mode == SddmmMode::AddS || p.beta == 0.0;
        return scales && adds && p.fault.is_none_or(|fault| fault.concerns(Op::Sddmm));
    }
    p.fault.is_none_or(|fault| fault.concerns(draft.contract.op))
}

/// False for a matrix that one of the formats has no room for: lengths of 8 bits, extents of 16.
fn holds(formats: &[Option<FormatKind>; 2], choice: &Choice) -> bool {
    let narrow = formats
        .iter()
        .any(|f| matches!(f, Some(FormatKind::RpCsc | FormatKind::CpCsr)));
    let lengths = choice.longest_row.max(choice.longest_col);
    !narrow || lengths < 256 && choice.rows.max(choice.cols) <= 1 << 16
}

/// A fault is only one where it breaks the request: a short output or ldc needs an output to shorten.
fn applies(fault: Fault, draft: &Draft, choice: &Choice) -> bool {
    let (p, op) = (&draft.params, draft.contract.op);
    let (rows, cols) = if p.transpose_a {
        (choice.cols, choice.rows)
    } else {
        (choice.rows, choice.cols)
    };
    match fault {
        Fault::AlphaNan | Fault::BetaInfinite | Fault::InnerShape => true,
        Fault::ShortOutput if op == Op::Sddmm => choice.nnz > 0,
        Fault::ShortOutput => rows > 0 && p.n > 0,
        Fault::SmallLdc => op == Op::Spmm && rows > 0 && p.n > 0 && cols > 0,
    }
}

/// A case with drawn parameters on a given matrix, which a backend takes (any, where none is asked); the matrix is not looked at.
pub(crate) fn on_matrix(
    contract: Contract,
    origin: &Origin,
    backend: Option<&dyn Backend>,
    mix: &mut Mix,
) -> Option<Case> {
    let axes: Vec<Axis> = axes(&contract);
    (0..400).find_map(|turn| {
        let mut draft = Draft {
            contract,
            params: Params::default(),
            group: 0,
            shape: 2,
            values: ValueFamily::NearOne,
            turn,
        };
        for axis in axes.iter().filter(|axis| axis.name() != FAULT) {
            // The costly levels are for matrices whose size is chosen.
            let light: Vec<u8> = (0..axis.levels())
                .filter(|&level| !axis.is_heavy(level))
                .collect();
            let level = if mix.one_in(3) { 0 } else { mix.pick(&light) };
            axis.set(&mut draft, level, mix);
        }
        if let Some(backend) = backend {
            name_factors(&mut draft, backend, mix);
        }
        settle(&mut draft.params, contract);
        let case = Case {
            contract,
            origin: origin.clone(),
            filling: Filling::Drawn(draft.values, mix.below(1 << 20)),
            params: draft.params,
        };
        // Only a square matrix has a product with itself.
        let possible = means_something(&draft) && draft.params.right != Right::Same;
        (possible && backend.is_none_or(|b| takes(b, &case))).then_some(case)
    })
}
