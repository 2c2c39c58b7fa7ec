//! SpGEMM: tables that a row of C is gathered in.
//!
//! ```text
//! row i of A: k1 k2 ..   rows k1, k2, .. of B: columns 5, 70, 5, ..  -->  slots 5, 6, 5, ..  -->  sorted  -->  row i of C
//! full table | chain too long | keys compared in part | slots not reset | a column that is the mark of a free slot
//! ```
//!
//! Sums are the honest kernel's: what is wrong is which columns they end up in. Of CSC, columns take the place of rows.

use super::super::bug::symptom::{PATTERN, STRUCTURE, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::own::rows;
use super::super::request::values_of;
use super::legal;
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_core::case::Case;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::{Precision, Rounding, decode, encode};
use sparse_oracle::task::{Answer, Task};

const F: Family = Family::Hash;

fn spgemm(case: &Case) -> bool {
    legal(case, Op::Spgemm)
}

/// One row of C on its way.
struct HashRow {
    /// Its number.
    number: usize,
    /// Columns of the products, in the order in which they come, row of B by row of B.
    comes: Vec<Vec<u32>>,
    /// Columns and sums, ascending.
    sums: Vec<(u32, u64)>,
    /// Type of the sums.
    precision: Precision,
}

/// What a table makes of a row; the other list is what it made of the row before.
type Table = fn(&HashRow, &[(u32, u64)]) -> Vec<(u32, u64)>;

pub(super) static BUGS: &[Bug] = &[
    bug("hash: 64 slots", "a full table of 64 slots takes no further column", |c, t| {
        by(c, t, |r, _| r.first(64))
    }),
    bug("hash: 256 slots", "a full table of 256 slots takes no further column", |c, t| {
        by(c, t, |r, _| r.first(256))
    }),
    bug("hash: 1,024 slots", "a full table of 1,024 slots takes no further column", |c, t| {
        by(c, t, |r, _| r.first(1024))
    }),
    bug("hash: 4,096 slots", "a full table of 4,096 slots takes no further column", |c, t| {
        by(c, t, |r, _| r.first(4096))
    }),
    bug("hash: table for B's rows of three", "a table is sized by 4 entries for each row of B", |c, t| {
        by(c, t, |r, _| r.first(4 * r.comes.len()))
    }),
    bug("hash: eight probes", "a search in 1,024 slots gives up after 8 that are taken", |c, t| {
        by(c, t, |r, _| r.probed(1024, 8))
    }),
    bug("hash: taken slot overwritten", "a column that finds its slot of 256 taken takes it over", |c, t| {
        by(c, t, |r, _| r.overwritten(256))
    }),
    bug("hash: ten bits compared", "columns are equal where their lowest 10 bits are", |c, t| {
        by(c, t, |r, _| r.merged(0x3ff))
    }),
    bug("hash: a byte compared", "columns are equal where their lowest 8 bits are", |c, t| {
        by(c, t, |r, _| r.merged(0xff))
    }),
    bug("hash: dense row of 1,024", "an array of 1,024 sums stands for the row of C", |c, t| {
        by(c, t, |r, _| r.kept(|col| col < 1024))
    }),
    bug("hash: dense row of 128", "an array of 128 sums stands for the row of C", |c, t| {
        by(c, t, |r, _| r.kept(|col| col < 128))
    }),
    bug("hash: column 65535 is a free slot", "free slots hold 0xffff", |c, t| {
        by(c, t, |r, _| r.kept(|col| col != 0xffff))
    }),
    bug(
        "hash: column 0 is a free slot",
        "free slots hold 0: of 64, the next column in its slot takes that of column 0",
        |c, t| {
            by(c, t, |r, _| {
                let after = |col: u32| {
                    let all: Vec<u32> = r.comes.concat();
                    let zero = all.iter().rposition(|&c| c == 0);
                    col == 0 && zero.is_some_and(|at| all[at..].iter().any(|c| c % 64 == 0 && *c != 0))
                };
                r.kept(|col| !after(col))
            })
        },
    ),
    bug("hash: not reset past 256", "slots past 256 columns are not cleared for the next row", |c, t| {
        by(c, t, |r, before| {
            let mut sums = r.sums.clone();
            let left = before.iter().skip(256).filter(|b| r.sums.iter().all(|s| s.0 != b.0));
            sums.extend(left);
            sums.sort_unstable();
            sums
        })
    }),
    bug("hash: marks of rows in a byte", "a column is there already if row i - 256 had it", |c, t| {
        by(c, t, |r, _| {
            if r.number >= 256 {
                r.kept(|col| !r.comes.iter().skip(1).any(|k| k.contains(&col)))
            } else {
                r.sums.clone()
            }
        })
    }),
    bug("spgemm: rows of B past 4 entries", "B's rows are loaded as a vector of 4", |c, t| {
        by(c, t, |r, _| r.of(|k| k.iter().take(4)))
    }),
    bug("spgemm: rows of B past 32 entries", "a warp takes a row of B, in one step", |c, t| {
        by(c, t, |r, _| r.of(|k| k.iter().take(32)))
    }),
    bug("spgemm: rows of A past 32 entries", "a heap merges 32 rows of B", |c, t| {
        by(c, t, |r, _| {
            let merged: Vec<u32> = r.comes.iter().take(32).flatten().copied().collect();
            r.kept(|col| merged.contains(&col))
        })
    }),
    bug(
        "spgemm: sorted in runs of 64",
        "a bitonic sort takes 64 columns, and longer rows come in sorted runs",
        |c, t| {
            by(c, t, |r, _| {
                let mut sums = r.sums.clone();
                if sums.len() > 64 {
                    let by_place = |s: &(u32, u64)| s.0.wrapping_mul(0x9e37) % 61;
                    sums.sort_by_key(by_place);
                    sums.chunks_mut(64).for_each(<[_]>::sort_unstable);
                }
                sums
            })
        },
    ),
    bug("spgemm: rows of zeros dropped", "a row whose sums all cancel is taken for empty", |c, t| {
        by(c, t, |r, _| {
            let zero = |s: &(u32, u64)| decode(s.1, r.precision) == 0.0;
            if r.sums.iter().all(zero) { Vec::new() } else { r.sums.clone() }
        })
    }),
    bug("spgemm: rows past 1,000", "rows of C past 1,000 entries go to a kernel that keeps 1,000", |c, t| {
        by(c, t, |r, _| r.sums.iter().take(1000).copied().collect())
    }),
];

const fn bug(
    name: &'static str,
    story: &'static str,
    run: fn(&Contract, Task<'_>) -> Result<Answer, Failure>,
) -> Bug {
    Bug::new(F, name, story, spgemm, Effect::Runs(run), &[PATTERN, VALUE, STRUCTURE])
}

impl HashRow {
    fn kept(&self, keep: impl Fn(u32) -> bool) -> Vec<(u32, u64)> {
        self.sums.iter().copied().filter(|s| keep(s.0)).collect()
    }

    /// Distinct columns in the order in which they come first.
    fn distinct(&self) -> Vec<u32> {
        let mut seen = std::collections::HashSet::new();
        self.comes.iter().flatten().copied().filter(|&col| seen.insert(col)).collect()
    }

    /// The first `slots` distinct columns to come.
    fn first(&self, slots: usize) -> Vec<(u32, u64)> {
        let held: std::collections::HashSet<u32> = self.distinct().into_iter().take(slots).collect();
        self.kept(|col| held.contains(&col))
    }

    /// Columns of which some product comes from the part of its row of B that `part` takes.
    fn of<'a, I: Iterator<Item = &'a u32>>(&'a self, part: impl Fn(&'a [u32]) -> I) -> Vec<(u32, u64)> {
        let held: std::collections::HashSet<u32> = self.comes.iter().flat_map(|k| part(k).copied()).collect();
        self.kept(|col| held.contains(&col))
    }

    /// Linear probing that gives up.
    fn probed(&self, slots: u32, probes: u32) -> Vec<(u32, u64)> {
        let mut table = vec![None; slots as usize];
        for col in self.distinct() {
            let free = (0..probes).map(|p| ((col + p) % slots) as usize).find(|&at| table[at].is_none());
            if let Some(at) = free {
                table[at] = Some(col);
            }
        }
        let held: std::collections::HashSet<u32> = table.into_iter().flatten().collect();
        self.kept(|col| held.contains(&col))
    }

    /// The last column of each slot.
    fn overwritten(&self, slots: u32) -> Vec<(u32, u64)> {
        let mut table = vec![None; slots as usize];
        self.comes.iter().flatten().for_each(|&col| table[(col % slots) as usize] = Some(col));
        self.kept(|col| table[(col % slots) as usize] == Some(col))
    }

    /// Columns that are equal under a mask are added to the first of them.
    fn merged(&self, mask: u32) -> Vec<(u32, u64)> {
        let mut owner = std::collections::HashMap::new();
        for col in self.distinct() {
            owner.entry(col & mask).or_insert(col);
        }
        let of = |bits| decode(bits, self.precision);
        let mut sums: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
        for &(col, bits) in &self.sums {
            let held = sums.entry(owner.get(&(col & mask)).copied().unwrap_or(col));
            held.and_modify(|sum| *sum = encode(of(*sum) + of(bits), self.precision, Rounding::NearestEven))
                .or_insert(bits);
        }
        sums.into_iter().collect()
    }
}

/// The honest product, each row put through a table.
fn by(contract: &Contract, task: Task<'_>, table: Table) -> Result<Answer, Failure> {
    let Task::Spgemm { a, b } = &task else {
        return Portable.run(contract, task);
    };
    // Columns of C = A B are rows of C^T = B^T A^T.
    let (left, right) = if contract.format == FormatKind::Csc {
        (rows(b, true), rows(a, true))
    } else {
        (rows(a, false), rows(b, false))
    };
    let columns =
        |k: u32| right.get(k as usize).map_or_else(Vec::new, |lane| lane.iter().map(|e| e.0).collect());
    let Answer::Sparse(mut raw) = Portable.run(contract, task)? else {
        return Err("SpGEMM is answered by a sparse matrix".into());
    };
    let precision = raw.values.precision();
    let (mut before, mut offsets, mut all) = (Vec::new(), vec![0u32], Vec::new());
    for (number, ends) in raw.offsets.windows(2).enumerate() {
        let lane = ends[0] as usize..ends[1] as usize;
        let row = HashRow {
            number,
            comes: left[number].iter().map(|e| columns(e.0)).collect(),
            sums: lane.map(|at| (raw.indices[at], raw.values.as_slice().bits(at))).collect(),
            precision,
        };
        all.extend(table(&row, &before));
        offsets.push(all.len() as u32);
        before = row.sums;
    }
    raw.offsets = offsets;
    raw.indices = all.iter().map(|s| s.0).collect();
    raw.values = values_of(precision, &all.iter().map(|s| s.1).collect::<Vec<_>>());
    Ok(Answer::Sparse(raw))
}
