//! The adaptive partition: how large tiles are and which operand stays on chip, for the least DRAM traffic.
//!
//! ```text
//! A: Tm x Tk tiles of (Ga * Mt) x Kt     B: Tk x Tn tiles of Kt x (Gb * Nt)     one element: Mt x Nt of C
//!
//! (1) Ga Mt Kt dA   <= (1 - R) SA / 2      a tile of A fits one half of its double buffer
//! (2) Gb Nt Kt dB   <= (1 - R) SB / 2      a tile of B likewise
//! (3) Mt Nt K dA dB <= (1 - R) SP          psums of an output tile, all k tiles (SDMM: Mt Nt <= SP, exactly known)
//! (4) Mt dA, Nt dB  <= 255;  Mt, Kt, Nt <= 2^16           what an encoded operand's fields can say
//!
//! RAF:  |A| + Tm |B|        if Ga Mt K dA <= (1 - R) SA        a row of tiles of A stays, B passes by for each
//! RBF:  Tn |A| + |B|        if Gb Nt K dB <= (1 - R) SB        a column of tiles of B stays
//! RABE: Tn |A| + Tm |B|     always
//! ```
//!
//! Table VI is missing from the paper; this follows from table V's parameters, the text of section 5 and the rows of
//! table X that can be checked (SEMANTICS section 9). Densities are taken as uniform, so counts are expectations, here
//! exact rationals. C is written once in every case, so it does not count. Sizes follow from counts: for `Tm` rows of
//! tiles, `Mt = ceil(M / (Ga Tm))`, and likewise for the others; that is how table X is made.

use super::limits::CheckedProblem;
use sparse_oracle::refusal::{Refusal, RequestError};

/// What the second operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Sparse: encoded, and psums are as many as there are products.
    Ssmm,
    /// Multiplied row by row as it is stored, psums are the elements of C.
    Sdmm,
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
    /// A sparse matrix as the encoders read it: 64-bit values, 32-bit locations, 16-bit lengths of `lanes` columns of
    /// A (rows of B).
    #[must_use]
    pub fn sparse(nnz: u64, lanes: usize) -> OperandSize {
        OperandSize { nnz, bytes: nnz.saturating_mul(12).saturating_add(2 * lanes as u64) }
    }

    /// A dense matrix of 64-bit values.
    #[must_use]
    pub fn dense(rows: usize, cols: usize) -> OperandSize {
        let nnz = (rows as u64).saturating_mul(cols as u64);
        OperandSize { nnz, bytes: nnz.saturating_mul(8) }
    }
}

/// A product of M x K and K x N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductShape {
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

/// The accelerator. Capacities are in entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Ga: groups of rows of A, rows of processing elements.
    pub groups_a: usize,
    /// Gb: groups of columns of B, columns of processing elements.
    pub groups_b: usize,
    /// SA: buffer A, both halves of it.
    pub buffer_a: u64,
    /// SB: buffer B, both halves of it.
    pub buffer_b: u64,
    /// SP: psum buffer of one processing element.
    pub psum: u64,
    /// R: share of the buffers that is kept free because real densities vary, in percent.
    pub reserve: u32,
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

/// The legal partition of least traffic. Among equals: RAF before RBF before RABE; then the smallest Tm, Tn, Tk (RBF:
/// Tn, Tm, Tk). An extent of 0 counts as 1.
///
/// # Errors
/// What [`Machine`] or [`ProductShape`] must not be, and a tile of a single row and column that has no room: the buffer or
/// field is named.
pub fn partition(problem: &ProductShape, machine: &Machine) -> Result<Partition, Refusal> {
    let limits = CheckedProblem::try_new(problem, machine)?;
    limits.check(Reuse::Rabe, 1, 1, 1)?;
    let cost = |partition: &Partition| (partition.traffic(problem), partition.reuse);
    let others = [limits.raf(), limits.rbf()].into_iter().flatten();
    Ok(others.fold(limits.rabe(problem), |best, other| if cost(&other) < cost(&best) { other } else { best }))
}

impl Partition {
    /// Bytes read from DRAM; C, which is written once whatever the partition, does not count.
    #[must_use]
    pub fn traffic(&self, problem: &ProductShape) -> u128 {
        let (a, b) = (u128::from(problem.a.bytes), u128::from(problem.b.bytes));
        let (tm, tn) = (self.tm as u128, self.tn as u128);
        match self.reuse {
            Reuse::Raf => a + tm * b,
            Reuse::Rbf => tn * a + b,
            Reuse::Rabe => tn * a + tm * b,
        }
    }

    /// Checks that the tiles cover the matrices and fit the machine.
    ///
    /// # Errors
    /// The first rule broken: tiles that do not cover M, K or N; a field or buffer that is too small, by its name.
    pub fn check(&self, problem: &ProductShape, machine: &Machine) -> Result<(), Refusal> {
        let limits = CheckedProblem::try_new(problem, machine)?;
        for (field, size) in [("mt", self.mt), ("kt", self.kt), ("nt", self.nt)] {
            if size == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        for (field, size, count, extent) in [
            ("mt * groups_a * tm", self.mt as u128 * limits.ga as u128, self.tm, problem.m),
            ("kt * tk", self.kt as u128, self.tk, problem.k),
            ("nt * groups_b * tn", self.nt as u128 * limits.gb as u128, self.tn, problem.n),
        ] {
            let covered = size.saturating_mul(count as u128);
            if covered < extent as u128 {
                return Err(Refusal::Request(RequestError::Parameter {
                    field,
                    expected: "at least the extent that it cuts",
                    found: covered as u64, // below an extent of 32 bits,
                }));
            }
        }
        limits.check(self.reuse, self.mt, self.nt, self.kt)
    }
}
