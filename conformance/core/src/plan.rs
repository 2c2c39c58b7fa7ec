//! Which cases a run consists of. One function per tier decides the budget; the same options and backends give the same
//! cases, in the same order, on every machine.
//!
//! ```text
//! for each contract that a backend claims: every pair of levels of the factors (`factors`), inside of what it takes (`draw`),
//! and at least so many cases: quick 150, full 1,500, extensive 10,000; embedded matrices besides; from full on, a wide matrix
//! ```

mod attacks;
mod axis;
mod cover;
mod demand;
mod draw;
mod factors;
mod file;
mod make;
mod mix;
mod number;
mod refused;
mod shown;
mod sources;
mod tiled;
mod wide;

pub use self::demand::{Demand, Demanded};

use self::make::takes;
use self::mix::Mix;
use crate::backend::Backend;
use crate::case::{Case, Params};
use crate::determinism::Repeats;
use crate::origin::Origin;
use crate::shard::Shard;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::embedded;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use wildmatch::WildMatch;

/// How much to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Seconds for a kernel, minutes for all: every pair of what cases vary in, for every contract.
    #[default]
    Quick,
    /// Minutes.
    Full,
    /// Hours.
    Extensive,
}

impl Tier {
    /// All tiers, smallest first.
    pub const ALL: [Tier; 3] = [Tier::Quick, Tier::Full, Tier::Extensive];

    /// Machine name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Quick => "quick",
            Tier::Full => "full",
            Tier::Extensive => "extensive",
        }
    }

    /// How long it takes, and what it asks.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Tier::Quick => {
                "Seconds for a kernel, minutes for all: every pair of what cases vary in, for every contract"
            }
            Tier::Full => "Minutes",
            Tier::Extensive => "Hours",
        }
    }

    /// The tier of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Budget.
    pub tier: Tier,
    /// Seed of every random choice.
    pub seed: u64,
    /// Operations; empty for all.
    pub ops: Vec<Op>,
    /// Element types of A; empty for all.
    pub precisions: Vec<Precision>,
    /// Patterns of contracts' names (`*` is any text); empty for all.
    pub contracts: Vec<String>,
    /// A backend that runs no case is no finding (a filter may leave nothing that it supports).
    pub optional: bool,
    /// Matrices; when there are any, only they are run.
    pub matrices: Vec<Origin>,
    /// Which passing cases are run again to see whether their bits stay.
    pub repeats: Repeats,
    /// Run only this part of the plan.
    pub shard: Option<Shard>,
}

impl Options {
    /// True where operations, element types, contracts or matrices were chosen: then less than the tier's plan is run.
    #[must_use]
    pub fn are_filtered(&self) -> bool {
        let contracts = self.ops.is_empty() && self.precisions.is_empty() && self.contracts.is_empty();
        !(contracts && self.matrices.is_empty())
    }
}

/// All cases on one matrix, so that it is made once.
#[derive(Clone, Debug)]
pub struct Group {
    /// The matrix.
    pub origin: Origin,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// The cases of a plan, and what it owes to whom.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Cases by matrix, all lines distinct.
    pub groups: Vec<Group>,
    /// One for each contract that a backend claims, in the order of contracts.
    pub demands: Vec<Demand>,
}

/// The whole plan for these backends; [`shard`] takes a part of it.
#[must_use]
pub fn plan(options: &Options, backends: &[&dyn Backend]) -> Plan {
    let contracts = selected(options);
    let mut plan = if options.matrices.is_empty() {
        generated(options, &contracts, backends)
    } else {
        let contracts: Vec<(u64, Contract)> =
            contracts.into_iter().filter(|(_, c)| backends.iter().any(|b| b.claims(c))).collect();
        let groups = file::groups(options, &contracts);
        let asked: HashSet<Contract> =
            groups.iter().flat_map(|g| &g.cases).map(|case| case.contract).collect();
        let asked: Vec<Contract> = contracts.iter().map(|(_, c)| *c).filter(|c| asked.contains(c)).collect();
        Plan { demands: demand::owed_on_files(options, &asked, backends), groups }
    };
    let mut seen = HashSet::new();
    for group in &mut plan.groups {
        group.cases.retain(|case| seen.insert(case.to_string()));
    }
    plan.groups.retain(|group| !group.cases.is_empty());
    plan
}

/// The cases of a shard, in the plan's order. Groups that keep none are left out.
#[must_use]
pub fn shard(mut groups: Vec<Group>, shard: Option<Shard>) -> Vec<Group> {
    if let Some(shard) = shard {
        for group in &mut groups {
            group.cases.retain(|case| shard.takes(&case.to_string()));
        }
        groups.retain(|group| !group.cases.is_empty());
    }
    groups
}

/// The contracts that the options select, with their place in the table.
#[must_use]
pub fn selected(options: &Options) -> Vec<(u64, Contract)> {
    let patterns: Vec<WildMatch> = options.contracts.iter().map(|p| WildMatch::new(p)).collect();
    let table = all_contracts().iter().copied().enumerate();
    table
        .filter(|(_, c)| options.ops.is_empty() || options.ops.contains(&c.op))
        .filter(|(_, c)| options.precisions.is_empty() || options.precisions.contains(&c.types.a))
        .filter(|(_, c)| patterns.is_empty() || patterns.iter().any(|p| p.matches(&c.to_string())))
        .map(|(i, c)| (i as u64, c))
        .collect()
}

fn generated(options: &Options, contracts: &[(u64, Contract)], backends: &[&dyn Backend]) -> Plan {
    let (mut cases, mut demands) = (Vec::new(), Vec::new());
    for (drawn, owed) in draw::contracts(options, contracts, backends) {
        cases.extend(drawn);
        demands.extend(owed);
    }
    cases.extend(embedded(options, contracts, backends));
    cases.extend(wide::cases(options, contracts, backends));
    Plan { groups: by_matrix(cases), demands }
}

/// Cases of one matrix together, in the order in which matrices first occur.
#[must_use]
pub fn by_matrix(cases: Vec<Case>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for case in cases {
        let place = *places.entry(case.origin.to_string()).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { origin: case.origin.clone(), cases: Vec::new() });
        }
        groups[place].cases.push(case);
    }
    groups
}

/// Each contract on a few matrices of the embedded pack that its formats hold, in turn, for each backend that claims it.
fn embedded(options: &Options, contracts: &[(u64, Contract)], backends: &[&dyn Backend]) -> Vec<Case> {
    let all: Vec<Origin> =
        embedded::all().iter().map(|matrix| Origin::Embedded(matrix.name.to_owned())).collect();
    let (short, square): (OnceCell<Vec<Origin>>, OnceCell<Vec<Origin>>) = Default::default();
    let mut cases: Vec<Case> = Vec::new();
    for &(i, contract) in contracts {
        let pack = if make::is_narrow(&contract) {
            let fits = |origin: &&Origin| is_held(origin, &contract);
            short.get_or_init(|| all.iter().filter(fits).cloned().collect())
        } else if contract.op.signature().is_square() {
            square.get_or_init(|| all.iter().filter(|origin| is_square(origin)).cloned().collect())
        } else {
            &all
        };
        let share = match options.tier {
            Tier::Quick => 1,
            Tier::Full => 4,
            Tier::Extensive => pack.len() as u64,
        };
        for (m, origin) in pack.iter().enumerate() {
            if (i + m as u64 + options.seed) % (pack.len() as u64) >= share {
                continue;
            }
            let key = [options.seed, i, 1000 + m as u64];
            cases.extend(taken_by_all(contract, origin, backends, &key, |_| ()));
        }
    }
    cases
}

fn is_square(origin: &Origin) -> bool {
    origin.load().is_ok_and(|loaded| loaded.coo.rows == loaded.coo.cols)
}

/// True where the formats of a contract hold the matrix, whichever way it is transposed and cut.
fn is_held(origin: &Origin, contract: &Contract) -> bool {
    let Ok(loaded) = origin.load() else { return false };
    let matrix = &loaded.coo;
    let longest = |indices: &[u32], extent: usize| {
        let mut lengths = vec![0; extent];
        indices.iter().for_each(|&at| lengths[at as usize] += 1);
        lengths.into_iter().max().unwrap_or(0)
    };
    let (rows, cols) = (matrix.rows, matrix.cols);
    let most = longest(&matrix.row_idx, rows).max(longest(&matrix.col_idx, cols));
    make::holds(contract, most, rows.max(cols) as u64)
}

/// A case on this matrix for each backend that claims the contract, where an earlier one's is not taken; `change` is made to it, as far as
/// the backend takes it: all of it, or else its width and its values alone.
fn taken_by_all(
    contract: Contract,
    origin: &Origin,
    backends: &[&dyn Backend],
    key: &[u64],
    change: impl Fn(&mut Case),
) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for backend in backends.iter().filter(|backend| backend.claims(&contract)) {
        if cases.iter().any(|case| takes(*backend, case)) {
            continue;
        }
        let drawn = make::on_matrix(contract, origin, Some(*backend), &mut Mix::new(key));
        cases.extend(drawn.map(|case| {
            let mut changed = case.clone();
            change(&mut changed);
            let params = Params { n: changed.params.n, ..case.params };
            let lesser = Case { filling: changed.filling, params, ..case.clone() };
            [changed, lesser].into_iter().find(|case| takes(*backend, case)).unwrap_or(case)
        }));
    }
    cases
}

/// Contracts of one backend that are all measured by seeded bugs.
const ALL_MEASURED: usize = 16;

/// The contracts on which a backend is measured by seeded bugs: all where it claims few, else one of each operation and format, drawn by the
/// seed, so that their element types differ. Kernels of one format differ in the element type, and hunting on each would cost more than the
/// run. Accumulators of 16 bits are left to those who have no other: the bounds of an unknown order hide there what a bug changes.
pub fn measured(backend: &dyn Backend, seed: u64) -> Vec<Contract> {
    let claimed: Vec<Contract> = all_contracts().iter().copied().filter(|c| backend.claims(c)).collect();
    if claimed.len() <= ALL_MEASURED {
        return claimed;
    }
    let mut groups: BTreeMap<(Op, FormatKind, Option<FormatKind>), Vec<Contract>> = BTreeMap::new();
    for c in claimed {
        groups.entry((c.op, c.format, c.to)).or_default().push(c);
    }
    let wide = |c: &Contract| c.types.acc.bytes() > 2;
    let drawn = |(place, mut of): (usize, Vec<Contract>)| {
        if of.iter().any(wide) {
            of.retain(wide);
        }
        of[(seed.wrapping_add(place as u64) % of.len() as u64) as usize]
    };
    groups.into_values().enumerate().map(drawn).collect()
}
