//! Terms added in another order than declared, lost between threads, or answered from memory.
//!
//! ```text
//! declared   ((t0 + t1) + t2) + t3            two threads   (t0 + t1) + (t2 + t3)
//! lost       t0 + t1 + .. + ..                reused        the answer to the last request of this shape
//! ```
//!
//! Judged in a single process, a race cannot be waited for: these kernels do what one outcome of it would give, always the same.

use super::super::bug::symptom::{NONDETERMINISTIC, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::dense::after;
use super::super::memory::{Memory, State};
use super::super::own::{HONEST, StepInput, StepKernel, fused};
use super::{legal, product, scaled, spmm};
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::report::Defect;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op, Returned};
use sparse_oracle::format::Entry;
use sparse_oracle::task::{Answer, Task};

const F: Family = Family::Order;

fn duplicated(case: &Case) -> bool {
    scaled(case) && case.params.duplicates
}

pub(super) static BUGS: &[Bug] = &[
    sums("order: descending", "the loop runs backwards, declared ascending", |site, terms| {
        terms.iter().rev().fold(0.0, |acc, &(a, b)| site.unit.fma(a, b, acc))
    })
    .only_bits(),
    sums("order: two threads a row", "each thread sums half of a row, declared one chain", |site, terms| {
        let (left, right) = terms.split_at(terms.len() / 2);
        site.unit.add(fused(site, left), fused(site, right))
    })
    .only_bits(),
    sums(
        "order: threads that differ from row to row",
        "where a row is cut depends on what else runs",
        |site, terms| {
            let (left, right) = terms.split_at(terms.len() * (1 + site.at.0 % 3) / 4);
            site.unit.add(fused(site, right), fused(site, left))
        },
    )
    .only_bits(),
    sums(
        "order: four lanes of a vector",
        "lane l sums terms l, l + 4, ..., and lanes are added at the end",
        |site, terms| {
            let lane =
                |l: usize| terms.iter().skip(l).step_by(4).fold(0.0, |acc, &(a, b)| site.unit.fma(a, b, acc));
            let pairs = (site.unit.add(lane(0), lane(2)), site.unit.add(lane(1), lane(3)));
            site.unit.add(pairs.0, pairs.1)
        },
    )
    .only_bits(),
    sums("order: sorted by magnitude", "small terms first, as numerics courses recommend", |site, terms| {
        let mut sorted = terms.to_vec();
        sorted.sort_by(|l, r| (l.0 * l.1).abs().total_cmp(&(r.0 * r.1).abs()));
        fused(site, &sorted)
    })
    .only_bits(),
    sums(
        "atomic: lost",
        "two threads add into C, and here and there one overwrites the other",
        |site, terms| {
            let (left, right) = terms.split_at(terms.len() / 2);
            let lost = (site.at.0 + 3 * site.at.1).is_multiple_of(5);
            if lost && !left.is_empty() { fused(site, right) } else { fused(site, terms) }
        },
    ),
    sums("atomic: added twice", "a retry after a failed exchange adds once more", |site, terms| {
        let again = (site.at.0 + site.at.1).is_multiple_of(7);
        let sum = fused(site, terms);
        match terms.last() {
            Some(&(a, b)) if again => site.unit.fma(a, b, sum),
            _ => sum,
        }
    }),
    gathers("sorted: first of duplicates wins", "a position that is there already is skipped", |list| {
        let mut seen = std::collections::HashSet::new();
        list.retain(|e| seen.insert((e.row, e.col)));
    }),
    gathers("sorted: last of duplicates wins", "a map from position to value", |list| {
        let last: std::collections::HashMap<_, _> = list.iter().map(|e| ((e.row, e.col), e.value)).collect();
        let mut seen = std::collections::HashSet::new();
        list.retain(|e| seen.insert((e.row, e.col)));
        list.iter_mut().for_each(|e| e.value = last[&(e.row, e.col)]);
    }),
    gathers(
        "sorted: runs taken for rows",
        "the matrix is taken for sorted: a row's second run replaces its first",
        |list| {
            let mut start = std::collections::HashMap::new();
            let mut kept: Vec<Entry<u64>> = Vec::new();
            let mut row = None;
            for e in list.iter() {
                if row != Some(e.row) && start.insert(e.row, ()).is_some() {
                    kept.retain(|k| k.row != e.row);
                }
                row = Some(e.row);
                kept.push(*e);
            }
            *list = kept;
        },
    ),
    Bug::new(
        F,
        "reuse: previous answer",
        "results are cached by shape and factors, and the cache is never cleared",
        product,
        Effect::Remembers(reuses),
        &[VALUE, Symptom::Wrong(Defect::Stale)],
    ),
    Bug::new(
        F,
        "reuse: previous C",
        "C is kept on the device and loaded once per shape",
        |c| spmm(c) && c.reads_c(),
        Effect::Remembers(keeps_c),
        &[VALUE, Symptom::Wrong(Defect::Stale)],
    ),
    Bug::new(
        F,
        "calls: right the first time only",
        "a buffer is cleared when it is allocated, not when it is used again",
        product,
        Effect::Remembers(second_call_adds),
        &[VALUE, NONDETERMINISTIC, Symptom::Wrong(Defect::Stale)],
    ),
    Bug::new(
        F,
        "order: of a hash map in SpGEMM",
        "columns of a row come as a hash map gives them",
        |c| legal(c, Op::Spgemm),
        Effect::Result(|raw| {
            let offsets = raw.offsets.clone();
            for lane in offsets.windows(2).map(|w| w[0] as usize..w[1] as usize).filter(|lane| lane.len() > 1)
            {
                raw.indices[lane.clone()].rotate_left(1);
                super::super::edit::edit_values(raw, |bits| bits[lane].rotate_left(1));
            }
        }),
        &[Symptom::Wrong(Defect::Structure)],
    ),
];

const fn sums(name: &'static str, story: &'static str, sum: fn(&StepInput, &[(f64, f64)]) -> f64) -> Bug {
    Bug::new(F, name, story, scaled, Effect::StepKernel(StepKernel { sum, ..HONEST }), &[VALUE])
}

/// A bug in how a shuffled COO matrix with duplicates is read.
const fn gathers(name: &'static str, story: &'static str, read: fn(&mut Vec<Entry<u64>>)) -> Bug {
    Bug::new(F, name, story, duplicated, Effect::Reads(read), &[VALUE])
}

/// Everything that this kernel takes for the whole request.
fn key(contract: &Contract, task: &Task<'_>) -> String {
    let inputs = task.inputs();
    let shape = match task.output() {
        Some(c) if inputs.op.signature().returned == Returned::Matrix => format!(" {}x{}", c.rows, c.cols),
        Some(_) if inputs.op.updates() => String::new(),
        Some(_) | None => return String::new(),
    };
    format!("{contract} {:?}{shape} {} {}", inputs.a.shape(), inputs.alpha, inputs.beta)
}

fn reuses(contract: &Contract, task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    let key = key(contract, &task);
    after(contract, task, |d| {
        let before = memory.with(|state| state.results.insert(key, d.after.clone()));
        if let Some(before) = before.filter(|b| b.len() == d.after.len()) {
            let offsets = d.offsets();
            offsets.iter().for_each(|o| d.after[o.2] = before[o.2]);
        }
    })
}

/// `A * B` is right, beta * C is that of the first call.
fn keeps_c(contract: &Contract, task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    let key = key(contract, &task);
    after(contract, task, |d| {
        let held = d.before.clone();
        let first = memory.with(|state: &mut State| state.results.entry(key).or_insert(held).clone());
        if first.len() == d.after.len() {
            d.change(|d, (i, j), after, before| {
                let (now, then) = (d.number(before), d.number(first[d.offset(i, j)]));
                (now != then).then(|| d.bits(d.number(after) - d.beta * now + d.beta * then))
            });
        }
    })
}

fn second_call_adds(contract: &Contract, task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    let calls = memory.with(|state| {
        state.calls += 1;
        state.calls
    });
    if calls.is_multiple_of(2) {
        after(contract, task, |d| d.map(|y| y + y))
    } else {
        Portable.run(contract, task)
    }
}
