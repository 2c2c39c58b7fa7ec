//! What a plan owes: cases enough of each contract that a backend claims, and combinations of levels.

use super::axis::{Axis, axes};
use super::cover::{Row, Space, State, Tuple, Tuples};
use super::{Options, Tier};
use crate::backend::Backend;
use crate::case::Case;
use crate::report::Worth;
use sparse_oracle::contract::Contract;

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
        Budget { floor, elements, variants }
    }
}

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
    pub(super) axes: Vec<Axis>,
    pub(super) wanted: Option<Tuples>,
    /// Levels that the backend excludes, by name.
    pub excluded_levels: Vec<String>,
    /// Combinations of levels it takes each of, that it excludes together.
    pub excluded_pairs: u64,
}

impl Demanded {
    /// Combinations that the plan has.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.wanted.iter().map(|t| t.in_state(State::Open).count() as u64).sum()
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

    /// What stands behind verdicts on these cases of a contract of a backend, of which so many were owed.
    #[must_use]
    pub fn worth(&self, (backend, contract): (&str, &Contract), floor: u64, judged: &[&Case]) -> Worth {
        let (pairs_missing, missing) = self.missing(judged.iter().copied());
        Worth {
            backend: backend.to_owned(),
            contract: contract.to_string(),
            judged: judged.len() as u64,
            floor,
            pairs: self.total(),
            pairs_missing,
            missing,
            excluded: self.excluded_levels.clone(),
            excluded_pairs: self.excluded_pairs,
            ..Worth::default()
        }
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
        Some(Demanded { axes, wanted, ..Demanded::default() })
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
        let claiming = backends.iter().enumerate().filter(move |(_, backend)| backend.claims(&contract));
        claiming.map(move |(backend, _)| Demand { backend, contract, floor, tuples: Demanded::default() })
    };
    contracts.iter().flat_map(of).collect()
}

pub(super) fn space(axes: &[Axis]) -> Space {
    let strong = (0..axes.len()).filter(|&f| axes[f].is_strong());
    Space { levels: axes.iter().map(Axis::levels).collect(), strong: strong.collect(), masks: masks(axes) }
}

/// Levels under which a case shows nothing of its other factors.
fn masks(axes: &[Axis]) -> Vec<(usize, u8)> {
    let of =
        |(f, axis): (usize, &Axis)| axis.masking().iter().map(move |&level| (f, level)).collect::<Vec<_>>();
    axes.iter().enumerate().flat_map(of).collect()
}

/// The levels of a case; none where a factor of the table has a value that no plan draws.
pub(super) fn row_of(axes: &[Axis], case: &Case) -> Option<Row> {
    axes.iter().map(|axis| axis.of(case)).collect()
}
