//! What a tile must fit: the rules of the partition as fractions, compared without rounding.
//!
//! ```text
//! buffer_a   2 Ga Mt Kt dA  <= (1 - R) SA     a tile of A in each half (B likewise)
//! psum       Mt Nt K dA dB  <= (1 - R) SP     all psums of an element's tile (SDMM: Mt Nt <= SP, known exactly)
//! col_len    Mt dA          <= 255            SSMM: row_len, Nt dB, too
//! RAF        Ga Mt K dA     <= (1 - R) SA     a row of tiles of A stays (RBF: a column of tiles of B)
//! ```
//!
//! What stays and what passes share a buffer, and both rules together bound what is in it at once: the tiles that pass are
//! those that stay. A row of one tile along k takes a half and leaves the other to the next row; a tile of a longer row is
//! overwritten by the next row's after its last use. Only where real tiles are fuller than expected do some of a row not
//! stay (`clock`).
//!
//! Densities are taken as uniform, so counts are expectations; a tile past the edge counts to the edge.

use super::machine::{EXTENT, LANE, Machine};
use super::partition::{Mode, Problem, Reuse};
use sparse_types::refusal::{Refusal, RequestError, check_u32};

/// A problem and a machine that have been looked at; no extent of 0.
pub(super) struct Rules {
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
    pub(super) ga: usize,
    pub(super) gb: usize,
    pub(super) bytes_a: u128,
    pub(super) bytes_b: u128,
    nnz_a: u128,
    nnz_b: u128,
    mode: Mode,
    buffer_a: u128,
    buffer_b: u128,
    psum: u128,
    /// Percent that may be filled.
    usable: u128,
}

/// `count / per` entries where `room / 100` fit.
struct CapacityRule {
    field: &'static str,
    count: u128,
    per: u128,
    room: u128,
}

impl CapacityRule {
    fn check(&self) -> Result<(), Refusal> {
        // Where the right side would not fit 128 bits, it is the larger.
        if self.count * 100 <= self.room.saturating_mul(self.per) {
            return Ok(());
        }
        Err(Refusal::Request(RequestError::TooLarge {
            field: self.field,
            found: self.count.div_ceil(self.per),
            limit: (self.room / 100) as u64,
        }))
    }
}

impl Rules {
    pub(super) fn try_new(problem: &Problem, machine: &Machine) -> Result<Rules, Refusal> {
        machine.check()?;
        for (field, extent) in [("m", problem.m), ("k", problem.k), ("n", problem.n)] {
            check_u32(field, extent as u128)?;
        }
        let area = |rows: usize, cols: usize| rows as u64 * cols as u64;
        let (area_a, area_b) = (area(problem.m, problem.k), area(problem.k, problem.n));
        // Psums of sparse operands are a product of both counts: 32 bits each keep it within 128.
        let limit = |area: u64| match problem.mode {
            Mode::Ssmm => area.min(u64::from(u32::MAX)),
            Mode::Sdmm => area,
        };
        for (field, found, limit) in
            [("nnz of A", problem.a.nnz, limit(area_a)), ("nnz of B", problem.b.nnz, limit(area_b))]
        {
            if found > limit {
                let found = u128::from(found);
                return Err(RequestError::TooLarge { field, found, limit }.into());
            }
        }
        Ok(Rules {
            m: problem.m.max(1),
            k: problem.k.max(1),
            n: problem.n.max(1),
            ga: machine.groups_a,
            gb: machine.groups_b,
            bytes_a: u128::from(problem.a.bytes),
            bytes_b: u128::from(problem.b.bytes),
            nnz_a: u128::from(problem.a.nnz),
            nnz_b: u128::from(problem.b.nnz),
            mode: problem.mode,
            buffer_a: u128::from(machine.buffer_a),
            buffer_b: u128::from(machine.buffer_b),
            psum: u128::from(machine.psum),
            usable: 100 - u128::from(machine.reserve),
        })
    }

    /// Checks tiles of one size: the widths of fields first, as the products below rely on them.
    pub(super) fn check(&self, reuse: Reuse, mt: usize, nt: usize, kt: usize) -> Result<(), Refusal> {
        for (field, size) in [("mt", mt), ("kt", kt), ("nt", nt)] {
            if size > EXTENT {
                return Err(Refusal::Request(RequestError::TooLarge {
                    field,
                    found: size as u128,
                    limit: EXTENT as u64,
                }));
            }
        }
        let (m, k, n) = (self.m as u128, self.k as u128, self.n as u128);
        let rows = ((self.ga * mt) as u128).min(m);
        let cols = ((self.gb * nt) as u128).min(n);
        let (mt, nt, kt) = ((mt as u128).min(m), (nt as u128).min(n), (kt as u128).min(k));
        let (a, b) = (self.buffer_a * self.usable, self.buffer_b * self.usable);
        let lane = LANE as u128 * 100;
        let rule = |field, count, per, room| CapacityRule { field, count, per, room }.check();
        rule("buffer_a (a tile of A in each half)", 2 * rows * kt * self.nnz_a, m * k, a)?;
        rule("buffer_b (a tile of B in each half)", 2 * cols * kt * self.nnz_b, n * k, b)?;
        rule("col_len (a column of a group of A)", mt * self.nnz_a, m * k, lane)?;
        match self.mode {
            Mode::Ssmm => {
                rule("row_len (a row of a group of B)", nt * self.nnz_b, n * k, lane)?;
                let psums = mt * nt * self.nnz_a * self.nnz_b;
                rule("psum", psums, m * k * n, self.psum * self.usable)?;
            }
            Mode::Sdmm => rule("psum", mt * nt, 1, self.psum * 100)?,
        }
        match reuse {
            Reuse::Raf => rule("buffer_a (a row of tiles of A)", rows * self.nnz_a, m, a),
            Reuse::Rbf => rule("buffer_b (a column of tiles of B)", cols * self.nnz_b, n, b),
            Reuse::Rabe => Ok(()),
        }
    }
}
