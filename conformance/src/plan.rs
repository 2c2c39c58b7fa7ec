//! Which cases a run consists of. One function per tier decides the budget; the same options give the same cases, in
//! the same order, on every machine.
//!
//! ```text
//! round r:  every contract x every source family, with values and parameters mixed from (contract, family, r, seed)
//! quick 3 rounds of arithmetic, 1 of moves      full 24 and 8      extensive 160 and 40; from full on, a wide matrix
//! ```

mod file;
mod wide;

use crate::case::{Case, Fault, Filling, Params};
use crate::determinism::Repeats;
use crate::origin::Origin;
use crate::shard::Shard;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::{FormatKind, FormatParams, Layout, PARAMETERS};
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::embedded;
use sparse_oracle::source::generator::quick_specs;
use sparse_oracle::source::values::VALUE_FAMILIES;
use sparse_oracle::task::SddmmMode;
use std::collections::HashSet;
use std::path::PathBuf;
use wildmatch::WildMatch;

/// How much to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Tier {
    /// Seconds: every contract with every source family.
    #[default]
    Quick,
    /// Minutes.
    Full,
    /// Hours.
    Extensive,
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
    /// Matrix files; when there are any, only they are run.
    pub matrices: Vec<PathBuf>,
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

/// Rounds over the arithmetic contracts and over conversions and transposes.
const fn rounds(tier: Tier) -> (u64, u64) {
    match tier {
        Tier::Quick => (3, 1),
        Tier::Full => (24, 8),
        Tier::Extensive => (160, 40),
    }
}

/// Matrices of one family that the contracts of one round are spread over.
const SPREAD: u64 = 8;

/// The cases of the whole plan, grouped by matrix, all lines distinct; [`shard`] takes a part of them.
#[must_use]
pub fn plan(options: &Options) -> Vec<Group> {
    let mut groups = if options.matrices.is_empty() {
        generated(options)
    } else {
        file::groups(options, &selected(options))
    };
    let mut seen = HashSet::new();
    for group in &mut groups {
        group.cases.retain(|case| seen.insert(case.to_string()));
    }
    groups.retain(|group| !group.cases.is_empty());
    groups
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

fn generated(options: &Options) -> Vec<Group> {
    let contracts = selected(options);
    let (arithmetic, moves) = rounds(options.tier);
    let mut groups = Vec::new();
    for round in 0..arithmetic {
        for slot in 0..SPREAD {
            let index = (options.seed.wrapping_mul(1_000_003)).wrapping_add(round * SPREAD + slot);
            for (family, spec) in quick_specs(index).into_iter().enumerate() {
                let mine = contracts.iter().filter(|(i, c)| {
                    (i + family as u64) % SPREAD == slot && (round < moves || !c.op.is_exact())
                });
                let origin = Origin::Spec(spec);
                let cases = mine.map(|&(i, contract)| {
                    let mix = Mix::new(&[options.seed, i, family as u64, round]);
                    mixed_case(contract, origin.clone(), mix)
                });
                groups.push(Group {
                    cases: cases.collect(),
                    origin,
                });
            }
        }
    }
    groups.extend(embedded_groups(options, &contracts));
    groups.extend(wide::groups(options, &contracts));
    groups
}

/// Each contract on a few matrices of the embedded pack, in turn.
fn embedded_groups(options: &Options, contracts: &[(u64, Contract)]) -> Vec<Group> {
    let pack = embedded::all();
    let share = match options.tier {
        Tier::Quick => 1,
        Tier::Full => 4,
        Tier::Extensive => pack.len() as u64,
    };
    let group = |(m, matrix): (usize, &embedded::Embedded)| {
        let origin = Origin::Embedded(matrix.name.to_owned());
        let takes = |i: u64| (i + m as u64) % (pack.len() as u64) < share;
        let cases = contracts.iter().filter(|(i, _)| takes(*i)).map(|&(i, contract)| {
            mixed_case(
                contract,
                origin.clone(),
                Mix::new(&[options.seed, i, 1000 + m as u64]),
            )
        });
        Group {
            cases: cases.collect(),
            origin,
        }
    };
    pack.iter().enumerate().map(group).collect()
}

/// A case whose values and parameters are drawn.
fn mixed_case(contract: Contract, origin: Origin, mut mix: Mix) -> Case {
    let family = mix.pick(&VALUE_FAMILIES).family;
    let filling = Filling::Drawn(family, mix.below(1 << 20));
    let blocked = |f| matches!(f, FormatKind::Bcsr | FormatKind::BlockedEll);
    let mut p = Params::default();
    if blocked(contract.format) || contract.to.is_some_and(blocked) {
        let (block_rows, block_cols) = mix.pick(&[(4, 4), (1, 1), (2, 3), (8, 1), (3, 5), (1, 8), (16, 16)]);
        p.blocks = FormatParams::blocks(block_rows, block_cols);
    }
    for parameter in PARAMETERS.iter().filter(|p| !p.name.starts_with("block_")) {
        if contract.reads(parameter) && mix.one_in(2) {
            (parameter.set)(&mut p.blocks, mix.pick(parameter.samples));
        }
    }
    // The encoder must refuse what has not the pattern, now and then; a decoder needs a matrix that has it.
    p.unpruned = contract.to.is_some_and(FormatKind::is_structured) && mix.one_in(8);
    p.duplicates = contract.format == FormatKind::Coo && contract.op != Op::Sddmm && mix.one_in(2);
    match contract.op {
        Op::Spmm => {
            p.n = mix.pick(&[1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33]);
            (p.alpha, p.beta) = mix.pick(FACTORS);
            (p.transpose_a, p.transpose_b) = (mix.one_in(4), mix.one_in(4));
            p.layout_b = if mix.one_in(3) {
                Layout::ColMajor
            } else {
                Layout::RowMajor
            };
            p.layout_c = if mix.one_in(2) {
                Layout::ColMajor
            } else {
                Layout::RowMajor
            };
            p.pad_b = if mix.one_in(3) { mix.pick(&[1, 3, 8]) } else { 0 };
            p.pad_c = if mix.one_in(3) { mix.pick(&[1, 2, 7]) } else { 0 };
            p.fault = mix.one_in(24).then(|| mix.pick(&Fault::ALL.map(|f| f.0)));
        }
        Op::Spmv => {
            (p.alpha, p.beta) = mix.pick(FACTORS);
            p.transpose_a = mix.one_in(4);
            let faults = [
                Fault::AlphaNan,
                Fault::BetaInfinite,
                Fault::InnerShape,
                Fault::ShortOutput,
            ];
            p.fault = mix.one_in(24).then(|| mix.pick(&faults));
        }
        Op::Sddmm => {
            p.n = mix.pick(&[0, 1, 3, 4, 8, 13, 16, 17, 32]);
            (p.mode, p.alpha, p.beta) = mix.pick(&[
                (SddmmMode::Pattern, 1.0, 0.0),
                (SddmmMode::Pattern, -2.0, 0.0),
                (SddmmMode::Pattern, 1.0, 0.0),
                (SddmmMode::Scale, 1.0, 0.0),
                (SddmmMode::AddS, 1.0, 1.0),
                (SddmmMode::AddS, 0.5, -2.0),
            ]);
            p.layout_b = if mix.one_in(3) {
                Layout::ColMajor
            } else {
                Layout::RowMajor
            };
            p.pad_b = if mix.one_in(3) { mix.pick(&[1, 3, 8]) } else { 0 };
            let faults = [Fault::AlphaNan, Fault::InnerShape];
            p.fault = mix.one_in(24).then(|| mix.pick(&faults));
        }
        Op::Spgemm => {
            p.n = mix.pick(&[1, 5, 8, 17, 33]);
            p.fault = mix.one_in(24).then_some(Fault::InnerShape);
        }
        Op::Transpose | Op::Convert => {}
    }
    p.fault = p.fault.filter(|&fault| applies(fault, &origin, contract, &p));
    Case {
        contract,
        origin,
        filling,
        params: p,
    }
}

/// alpha and beta, the common ones more often.
const FACTORS: &[(f64, f64)] = &[
    (1.0, 0.0),
    (1.0, 1.0),
    (1.0, 0.0),
    (1.0, 1.0),
    (0.5, 0.0),
    (-2.0, 0.5),
    (0.0, 1.0),
    (0.0, 0.0),
    (1.0, -1.0),
    (3.0, 2.0),
];

/// A fault is only one where it breaks the request: a short output or ldc needs an output to shorten.
fn applies(fault: Fault, origin: &Origin, contract: Contract, p: &Params) -> bool {
    let Origin::Spec(spec) = origin else { return false };
    let Ok(shape) = spec.shape() else { return false };
    let (rows, cols) = if p.transpose_a {
        (shape.cols, shape.rows)
    } else {
        (shape.rows, shape.cols)
    };
    match fault {
        Fault::AlphaNan | Fault::BetaInfinite | Fault::InnerShape => true,
        Fault::ShortOutput => rows > 0 && p.n > 0,
        Fault::SmallLdc => contract.op == Op::Spmm && rows > 0 && p.n > 0 && cols > 0,
    }
}

/// A stream of choices that depends on nothing but its key (`SplitMix64`).
struct Mix(u64);

impl Mix {
    fn new(key: &[u64]) -> Mix {
        let mut mix = Mix(0x5eed);
        for &part in key {
            mix.0 = mix.0.wrapping_add(part).wrapping_mul(0x2545_f491_4f6c_dd1d);
            mix.0 = mix.next();
        }
        mix
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
