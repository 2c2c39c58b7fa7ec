//! The adaptive partition: sizes of tiles and which operand stays on chip, for the least DRAM traffic.
//!
//! ```text
//! A: Tm x Tk tiles of (Ga Mt) x Kt      B: Tk x Tn tiles of Kt x (Gb Nt)       one element: Mt x Nt of C
//!
//!   Tn            every pair (Tm, Tn) below the staircase is too few tiles for the psum buffers;
//!    |.            traffic grows with either, so only its corners matter: RABE takes the best corner,
//!    |xx.          RAF the one of least Tm whose row of tiles stays, RBF that of least Tn
//!    |xxxx..
//!    +------- Tm
//! ```
//!
//! IOPS, section 5; its table VI is lost, the rules are those of SEMANTICS 9.9 and 9.10. "We apply the exhaustion
//! method": so does this, over the counts of tiles that give different sizes, of which an extent has at most twice its root.

use super::machine::{EXTENT, LENGTH, LOCATION, Machine};
use super::rules::Rules;
use sparse_types::refusal::{Refusal, RequestError};
use std::iter::successors;

/// What the second operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Sparse: encoded too, and psums are as many as there are products.
    Ssmm,
    /// Dense: psums are the elements of C.
    Sdmm,
}

/// What stays on chip while the other operand passes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reuse {
    /// A first: a row of tiles of A stays.
    Raf,
    /// B first: a column of tiles of B stays.
    Rbf,
    /// Both equally: neither does.
    Rabe,
}

impl Reuse {
    /// As the paper abbreviates it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reuse::Raf => "RAF",
            Reuse::Rbf => "RBF",
            Reuse::Rabe => "RABE",
        }
    }
}

/// A matrix that is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandSize {
    /// Stored entries; every element of a dense one.
    pub nnz: u64,
    /// Bytes in DRAM.
    pub bytes: u64,
}

impl OperandSize {
    /// A sparse matrix as the encoders read it: values, 32-bit locations, a 16-bit length for each of `lanes` columns of A
    /// (rows of B).
    #[must_use]
    pub fn sparse(nnz: u64, lanes: usize, value_bytes: u64) -> OperandSize {
        OperandSize { nnz, bytes: nnz.saturating_mul(value_bytes + LOCATION) + LENGTH * lanes as u64 }
    }

    /// A dense matrix.
    #[must_use]
    pub fn dense(rows: usize, cols: usize, value_bytes: u64) -> OperandSize {
        let nnz = (rows as u64).saturating_mul(cols as u64);
        OperandSize { nnz, bytes: nnz.saturating_mul(value_bytes) }
    }
}

/// A product of M x K and K x N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// M, rows of A.
    pub m: usize,
    /// K, columns of A and rows of B.
    pub k: usize,
    /// N, columns of B.
    pub n: usize,
    /// A, always sparse.
    pub a: OperandSize,
    /// B.
    pub b: OperandSize,
    /// How B is multiplied.
    pub mode: Mode,
}

impl Problem {
    /// Sparse times sparse: extents, stored entries of A and of B, bytes of a value.
    #[must_use]
    pub fn ssmm((m, k, n): (usize, usize, usize), (nnz_a, nnz_b): (u64, u64), value_bytes: u64) -> Problem {
        Problem {
            m,
            k,
            n,
            a: OperandSize::sparse(nnz_a, k, value_bytes),
            b: OperandSize::sparse(nnz_b, k, value_bytes),
            mode: Mode::Ssmm,
        }
    }

    /// Sparse times dense: extents, stored entries of A, bytes of a value.
    #[must_use]
    pub fn sdmm((m, k, n): (usize, usize, usize), nnz_a: u64, value_bytes: u64) -> Problem {
        Problem {
            m,
            k,
            n,
            a: OperandSize::sparse(nnz_a, k, value_bytes),
            b: OperandSize::dense(k, n, value_bytes),
            mode: Mode::Sdmm,
        }
    }
}

/// Sizes of tiles and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Mt: rows of a group of a tile of A.
    pub mt: usize,
    /// Kt: columns of a tile of A, rows of a tile of B.
    pub kt: usize,
    /// Nt: columns of a group of a tile of B.
    pub nt: usize,
    /// Tm: rows of tiles of A.
    pub tm: usize,
    /// Tk: columns of tiles of A.
    pub tk: usize,
    /// Tn: columns of tiles of B.
    pub tn: usize,
    /// What stays.
    pub reuse: Reuse,
}

/// The counts of tiles that give different sizes, with these: fewest and largest first.
fn axis(extent: usize, groups: usize) -> impl Iterator<Item = (usize, usize)> {
    let size = move |count: usize| extent.div_ceil(groups * count);
    successors(Some((1, size(1))), move |&(_, last)| {
        let count = extent.div_ceil(groups * (last - 1).max(1));
        (last > 1).then(|| (count, size(count)))
    })
}

/// The legal partition of least traffic. Among equals RAF, RBF, RABE; then the smallest Tm, Tn, Tk (RBF: Tn, Tm, Tk).
///
/// # Errors
/// What [`Machine`] or [`Problem`] must not be, and a tile of a single row and column per group that has no room: the
/// buffer or field is named.
pub fn partition(problem: &Problem, machine: &Machine) -> Result<Partition, Refusal> {
    let rules = Rules::try_new(problem, machine)?;
    rules.check(Reuse::Rabe, 1, 1, 1)?;
    let candidates = [first_reuse(&rules, Reuse::Raf), first_reuse(&rules, Reuse::Rbf), equal(&rules)];
    let best = candidates.into_iter().flatten().min_by_key(|p| (p.traffic(problem), p.reuse));
    best.ok_or(Refusal::Request(RequestError::Zero { field: "partition" }))
}

/// The partition, or where psums of a single element would not fit, that of the smallest buffer in which they would:
/// overflows do the rest.
pub(super) fn plan(problem: &Problem, machine: &Machine) -> Result<Partition, Refusal> {
    match partition(problem, machine) {
        Err(Refusal::Request(RequestError::TooLarge { field: "psum", found, .. })) => {
            let usable = u128::from(100 - machine.reserve);
            let room = (found * 100).div_ceil(usable);
            let psum = u64::try_from(room).unwrap_or(u64::MAX).min(u64::from(u32::MAX));
            partition(problem, &Machine { psum, ..*machine })
        }
        other => other,
    }
}

/// The fewest tiles of the operand that stays, then of the other, then along k.
fn first_reuse(rules: &Rules, reuse: Reuse) -> Option<Partition> {
    let legal = |mt, nt| rules.check(reuse, mt, nt, 1).is_ok();
    let (rows, cols) = match reuse {
        Reuse::Rbf => {
            let cols = axis(rules.n, rules.gb).find(|&(_, nt)| legal(1, nt))?;
            (axis(rules.m, rules.ga).find(|&(_, mt)| legal(mt, cols.1))?, cols)
        }
        _ => {
            let rows = axis(rules.m, rules.ga).find(|&(_, mt)| legal(mt, 1))?;
            (rows, axis(rules.n, rules.gb).find(|&(_, nt)| legal(rows.1, nt))?)
        }
    };
    with_kt(rules, reuse, rows, cols)
}

/// The corner of least traffic.
fn equal(rules: &Rules) -> Option<Partition> {
    /// Traffic, rows and columns of tiles.
    type Corner = (u128, (usize, usize), (usize, usize));
    let legal = |mt, nt| rules.check(Reuse::Rabe, mt, nt, 1).is_ok();
    let cols: Vec<(usize, usize)> = axis(rules.n, rules.gb).collect();
    let mut best: Option<Corner> = None;
    for rows in axis(rules.m, rules.ga) {
        // More rows of tiles cannot do better once they alone cost as much.
        let least = best.as_ref().map_or(u128::MAX, |&(traffic, ..)| traffic);
        if rules.bytes_a + rows.0 as u128 * rules.bytes_b >= least {
            break;
        }
        let Some(&cols) = cols.get(cols.partition_point(|&(_, nt)| !legal(rows.1, nt))) else {
            continue;
        };
        let traffic = cols.0 as u128 * rules.bytes_a + rows.0 as u128 * rules.bytes_b;
        if traffic < least {
            best = Some((traffic, rows, cols));
        }
    }
    let (_, rows, cols) = best?;
    with_kt(rules, Reuse::Rabe, rows, cols)
}

/// With the fewest tiles along k.
fn with_kt(rules: &Rules, reuse: Reuse, rows: (usize, usize), cols: (usize, usize)) -> Option<Partition> {
    let legal = |kt| rules.check(reuse, rows.1, cols.1, kt).is_ok();
    let (tk, kt) = axis(rules.k, 1).find(|&(_, kt)| legal(kt))?;
    Some(Partition { mt: rows.1, kt, nt: cols.1, tm: rows.0, tk, tn: cols.0, reuse })
}

impl Partition {
    /// Bytes that the strategy expects to read from DRAM; C, which is written once whatever the partition, does not count.
    #[must_use]
    pub fn traffic(&self, problem: &Problem) -> u128 {
        let (a, b) = (u128::from(problem.a.bytes), u128::from(problem.b.bytes));
        let (tm, tn) = (self.tm as u128, self.tn as u128);
        match self.reuse {
            Reuse::Raf => a + tm * b,
            Reuse::Rbf => tn * a + b,
            Reuse::Rabe => tn * a + tm * b,
        }
    }

    /// Checks what no machine could run: tiles that do not cover the matrices or that 16-bit locations cannot count.
    /// Whether they fit the buffers is a matter of expectation ([`Partition::check`]); what does not fit overflows.
    ///
    /// # Errors
    /// The first size that is 0, too large or too small, by name.
    pub fn check_cover(&self, problem: &Problem, machine: &Machine) -> Result<(), Refusal> {
        for (field, size) in [("mt", self.mt), ("kt", self.kt), ("nt", self.nt)] {
            if size == 0 {
                return Err(RequestError::Zero { field }.into());
            }
            if size > EXTENT {
                return Err(Refusal::Request(RequestError::TooLarge {
                    field,
                    found: size as u128,
                    limit: EXTENT as u64,
                }));
            }
        }
        for (field, size, groups, count, extent) in [
            ("mt * groups_a * tm", self.mt, machine.groups_a, self.tm, problem.m),
            ("kt * tk", self.kt, 1, self.tk, problem.k),
            ("nt * groups_b * tn", self.nt, machine.groups_b, self.tn, problem.n),
        ] {
            let covered = (size as u128 * groups as u128).saturating_mul(count as u128);
            if covered < extent as u128 {
                return Err(Refusal::Request(RequestError::Parameter {
                    field,
                    expected: "at least the extent that it cuts",
                    found: covered as u64,
                }));
            }
        }
        Ok(())
    }

    /// Checks that the tiles cover the matrices and are expected to fit the machine.
    ///
    /// # Errors
    /// As [`Partition::check_cover`], then the first buffer or field that is too small, by its name.
    pub fn check(&self, problem: &Problem, machine: &Machine) -> Result<(), Refusal> {
        let rules = Rules::try_new(problem, machine)?;
        self.check_cover(problem, machine)?;
        rules.check(self.reuse, self.mt, self.nt, self.kt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_every_size_once() {
        for (extent, groups) in [(1, 1), (1, 8), (7, 1), (100, 8), (2708, 8), (65_537, 1)] {
            let found: Vec<_> = axis(extent, groups).collect();
            let mut sizes: Vec<usize> = (1..=extent).map(|t| extent.div_ceil(groups * t)).collect();
            sizes.dedup();
            assert_eq!(found.iter().map(|&(_, size)| size).collect::<Vec<_>>(), sizes);
            for (count, size) in found {
                assert_eq!(extent.div_ceil(groups * count), size);
                assert!(count == 1 || extent.div_ceil(groups * (count - 1)) > size, "fewest");
            }
        }
    }
}
