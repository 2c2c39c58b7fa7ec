//! What the accelerator has room for, and the largest tiles that obey it.
//!
//! Every rule only gets easier when a size shrinks, so the largest legal size is found by halving; for a given `Mt` the
//! best `Nt` is the largest, and then the best `Kt`. RAF wants the largest `Mt`, RBF the largest `Nt`; only RABE has to try
//! the sizes `Mt` that differ, of which there are at most 2 sqrt(M / Ga).

use super::partition::{Machine, Mode, Partition, ProductShape, Reuse};
use sparse_oracle::format::{EXTENT_LIMIT, GROUP_LIMIT, LANE_LIMIT};
use sparse_oracle::refusal::{Refusal, RequestError, check_u32};

/// A problem and a machine that have been looked at; no extent of 0.
pub(super) struct CheckedProblem {
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
    nnz_a: u128,
    nnz_b: u128,
    mode: Mode,
    pub(super) ga: usize,
    pub(super) gb: usize,
    buffer_a: u128,
    buffer_b: u128,
    psum: u128,
    /// Percent that may be filled.
    usable: u128,
}

impl CheckedProblem {
    pub(super) fn try_new(problem: &ProductShape, machine: &Machine) -> Result<CheckedProblem, Refusal> {
        for (field, value) in [
            ("groups_a", machine.groups_a as u64),
            ("groups_b", machine.groups_b as u64),
            ("buffer_a", machine.buffer_a),
            ("buffer_b", machine.buffer_b),
            ("psum", machine.psum),
        ] {
            if value == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        let groups = GROUP_LIMIT as u64;
        let (m, k, n) = (problem.m as u128, problem.k as u128, problem.n as u128);
        for (field, extent) in [("m", m), ("k", k), ("n", n)] {
            check_u32(field, extent)?;
        }
        let nnz_b_limit = match problem.mode {
            Mode::Ssmm => u64::from(u32::MAX).min((k * n) as u64),
            Mode::Sdmm => (k * n) as u64,
        };
        for (field, found, limit) in [
            ("groups_a", machine.groups_a as u64, groups),
            ("groups_b", machine.groups_b as u64, groups),
            ("reserve", u64::from(machine.reserve), 99),
            ("nnz of A", problem.a.nnz, u64::from(u32::MAX).min((m * k) as u64)),
            ("nnz of B", problem.b.nnz, nnz_b_limit),
        ] {
            if found > limit {
                let found = u128::from(found);
                return Err(RequestError::TooLarge { field, found, limit }.into());
            }
        }
        Ok(CheckedProblem {
            m: problem.m.max(1),
            k: problem.k.max(1),
            n: problem.n.max(1),
            nnz_a: u128::from(problem.a.nnz),
            nnz_b: u128::from(problem.b.nnz),
            mode: problem.mode,
            ga: machine.groups_a,
            gb: machine.groups_b,
            buffer_a: u128::from(machine.buffer_a),
            buffer_b: u128::from(machine.buffer_b),
            psum: u128::from(machine.psum),
            usable: 100 - u128::from(machine.reserve),
        })
    }
}

/// Whether `count / per` entries fit `percent` of a capacity.
struct CapacityRule {
    /// The buffer or field.
    field: &'static str,
    count: u128,
    per: u128,
    capacity: u128,
    percent: u128,
}

impl CapacityRule {
    fn check(&self) -> Result<(), Refusal> {
        // The left side stays below 2^116; where the right one would not fit, it is the larger.
        let room = self.capacity.saturating_mul(self.percent);
        if self.count * 100 <= room.saturating_mul(self.per) {
            return Ok(());
        }
        Err(Refusal::Request(RequestError::TooLarge {
            field: self.field,
            found: self.count.div_ceil(self.per),
            limit: (room / 100) as u64,
        }))
    }
}

impl CheckedProblem {
    /// Checks tiles of one size: the widths of fields first, as the products below rely on them.
    pub(super) fn check(&self, reuse: Reuse, mt: usize, nt: usize, kt: usize) -> Result<(), Refusal> {
        for (field, size) in [("mt", mt), ("kt", kt), ("nt", nt)] {
            if size > EXTENT_LIMIT {
                return Err(Refusal::Request(RequestError::TooLarge {
                    field,
                    found: size as u128,
                    limit: EXTENT_LIMIT as u64,
                }));
            }
        }
        let (m, k, n) = (self.m as u128, self.k as u128, self.n as u128);
        // A tile that reaches past the matrix holds no more than the matrix.
        let rows = ((self.ga * mt) as u128).min(m);
        let cols = ((self.gb * nt) as u128).min(n);
        let (mt, nt, kt) = ((mt as u128).min(m), (nt as u128).min(n), (kt as u128).min(k));
        let halves = |field, count, per, capacity| self.rule(field, count * 2, per, capacity);
        let lanes = |field, count, per| CapacityRule {
            field,
            count,
            per,
            capacity: LANE_LIMIT as u128,
            percent: 100,
        };
        halves("buffer_a (a tile of A in each half)", rows * kt * self.nnz_a, m * k, self.buffer_a)
            .check()?;
        halves("buffer_b (a tile of B in each half)", cols * kt * self.nnz_b, n * k, self.buffer_b)
            .check()?;
        lanes("col_len (a column of a group of A)", mt * self.nnz_a, m * k).check()?;
        match self.mode {
            Mode::Ssmm => {
                lanes("row_len (a row of a group of B)", nt * self.nnz_b, n * k).check()?;
                let products = mt * nt * self.nnz_a * self.nnz_b;
                self.rule("psum", products, m * k * n, self.psum).check()?;
            }
            Mode::Sdmm => {
                let exact = CapacityRule { percent: 100, ..self.rule("psum", mt * nt, 1, self.psum) };
                exact.check()?;
            }
        }
        match reuse {
            Reuse::Raf => self.rule("buffer_a (a row of tiles of A)", rows * self.nnz_a, m, self.buffer_a),
            Reuse::Rbf => self.rule("buffer_b (a column of tiles of B)", cols * self.nnz_b, n, self.buffer_b),
            Reuse::Rabe => return Ok(()),
        }
        .check()
    }

    /// A rule about expected counts, which leaves the reserve free.
    fn rule(&self, field: &'static str, count: u128, per: u128, capacity: u128) -> CapacityRule {
        CapacityRule { field, count, per, capacity, percent: self.usable }
    }
}

/// The smallest count of tiles of at most `size`, and the smallest size that makes so many.
fn balanced(extent: usize, groups: usize, size: usize) -> (usize, usize) {
    let count = extent.div_ceil(groups * size);
    (count, extent.div_ceil(groups * count))
}

/// The largest of 1..=limit that fits, 0 if none does.
fn largest(limit: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut end) = (0, limit + 1);
    while end - fitting > 1 {
        let middle = fitting + (end - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            end = middle;
        }
    }
    fitting
}

impl CheckedProblem {
    fn fits(&self, reuse: Reuse, mt: usize, nt: usize, kt: usize) -> bool {
        self.check(reuse, mt, nt, kt).is_ok()
    }

    fn largest_mt(&self, reuse: Reuse, nt: usize) -> usize {
        let limit = self.m.div_ceil(self.ga).min(EXTENT_LIMIT);
        largest(limit, |mt| self.fits(reuse, mt, nt, 1))
    }

    fn largest_nt(&self, reuse: Reuse, mt: usize) -> usize {
        let limit = self.n.div_ceil(self.gb).min(EXTENT_LIMIT);
        largest(limit, |nt| self.fits(reuse, mt, nt, 1))
    }

    /// With the largest `Kt`.
    fn with_kt(&self, reuse: Reuse, (tm, mt): (usize, usize), (tn, nt): (usize, usize)) -> Partition {
        let kt = largest(self.k.min(EXTENT_LIMIT), |kt| self.fits(reuse, mt, nt, kt));
        let (tk, kt) = balanced(self.k, 1, kt);
        Partition { mt, kt, nt, tm, tk, tn, reuse }
    }

    /// The fewest rows of tiles of A, each of which stays; none where not even a row of it does.
    pub(super) fn raf(&self) -> Option<Partition> {
        let mt = self.largest_mt(Reuse::Raf, 1);
        if mt == 0 {
            return None;
        }
        let rows = balanced(self.m, self.ga, mt);
        let nt = self.largest_nt(Reuse::Raf, rows.1);
        Some(self.with_kt(Reuse::Raf, rows, balanced(self.n, self.gb, nt)))
    }

    /// The fewest columns of tiles of B, each of which stays.
    pub(super) fn rbf(&self) -> Option<Partition> {
        let nt = self.largest_nt(Reuse::Rbf, 1);
        if nt == 0 {
            return None;
        }
        let cols = balanced(self.n, self.gb, nt);
        let mt = self.largest_mt(Reuse::Rbf, cols.1);
        Some(self.with_kt(Reuse::Rbf, balanced(self.m, self.ga, mt), cols))
    }

    /// The best compromise; tiles of a single row and column must fit.
    pub(super) fn rabe(&self, problem: &ProductShape) -> Partition {
        let (a, b) = (u128::from(problem.a.bytes), u128::from(problem.b.bytes));
        let mut size = self.largest_mt(Reuse::Rabe, 1);
        // Traffic, and what goes with it: (rows of tiles, Mt), (columns of tiles, Nt).
        let mut least = u128::MAX;
        let (mut best_rows, mut best_cols) = ((self.m, 1), (self.n, 1));
        while size > 0 {
            let rows = balanced(self.m, self.ga, size);
            // More rows of tiles cannot do better once they alone cost as much.
            if a + rows.0 as u128 * b >= least {
                break;
            }
            let cols = balanced(self.n, self.gb, self.largest_nt(Reuse::Rabe, rows.1));
            let traffic = cols.0 as u128 * a + rows.0 as u128 * b;
            if traffic < least {
                (least, best_rows, best_cols) = (traffic, rows, cols);
            }
            size = rows.1 - 1;
        }
        self.with_kt(Reuse::Rabe, best_rows, best_cols)
    }
}
