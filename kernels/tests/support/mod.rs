//! What the tests of all kernels share: a small generator of numbers, random matrices, dense operands with guarded
//! padding.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use sparse_oracle::each_sparse;
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams, Layout, Sparse, SparseMma};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Scalar, Values, decode};
use sparse_oracle::task::{DenseMut, DenseRef, RawSparse};
use sparse_oracle::with_scalar;
use std::collections::BTreeSet;

/// A linear congruential generator; the high bits are good enough for tests.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// An integer in -2..=2.
    pub fn integer(&mut self) -> f64 {
        self.below(5) as f64 - 2.0
    }

    /// A number with a full significand and a moderate exponent.
    pub fn real(&mut self) -> f64 {
        let significand = 1.0 + self.next() as f64 / 2f64.powi(31) + self.next() as f64 / 2f64.powi(62);
        let exponent = self.below(7) as i32 - 3;
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        sign * significand * 2f64.powi(exponent)
    }
}

/// A pool of each of these numbers of threads.
pub fn pools(threads: &[usize]) -> Vec<rayon::ThreadPool> {
    let pool = |&threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    threads.iter().map(pool).collect()
}

/// Rows from empty to full, so that jobs of workers differ.
pub fn ragged(rng: &mut Rng, (rows, cols): (usize, usize), density: u64) -> Entries<f64> {
    let mut e = entries(rng, rows, cols, density, Rng::real);
    e.list.retain(|entry| entry.row % 5 != 3 && (entry.row % 64 == 0 || entry.col % 3 == entry.row % 3));
    e
}

/// About `density` percent of the positions, values from `value`.
pub fn entries(
    rng: &mut Rng,
    rows: usize,
    cols: usize,
    density: u64,
    value: fn(&mut Rng) -> f64,
) -> Entries<f64> {
    let mut list = Vec::new();
    for row in 0..rows as u32 {
        for col in 0..cols as u32 {
            if rng.below(100) < density {
                list.push(Entry { row, col, value: value(rng) });
            }
        }
    }
    Entries { rows, cols, list }
}

/// The entries that fit the pattern of a format; all of them where it has none.
pub fn fitting(
    precision: Precision,
    kind: FormatKind,
    params: &FormatParams,
    e: &Entries<f64>,
) -> Entries<f64> {
    let kept: BTreeSet<(u32, u32)> = with_scalar!(precision, T => {
        let typed = e.map(|&v| T::from_f64(v));
        let pruned = prune(&typed, kind, params).expect("legal parameters");
        pruned.list.iter().map(|entry| (entry.row, entry.col)).collect()
    });
    let list = e.list.iter().filter(|entry| kept.contains(&(entry.row, entry.col)));
    Entries { list: list.copied().collect(), ..*e }
}

/// The entries in a format, pruned to its pattern if it has one; COO gets them in a random order.
pub fn encode(
    rng: &mut Rng,
    precision: Precision,
    kind: FormatKind,
    blocks: FormatParams,
    e: &Entries<f64>,
) -> AnySparse {
    if kind != FormatKind::Coo {
        let fitting = fitting(precision, kind, &blocks, e);
        return AnySparse::from_f64(precision, kind, blocks, &fitting).expect("encodes");
    }
    let mut list = e.list.clone();
    for i in (1..list.len()).rev() {
        list.swap(i, rng.below(i as u64 + 1) as usize);
    }
    coo(precision, e.rows, e.cols, &list)
}

/// A COO matrix of the triples as they come.
pub fn coo(precision: Precision, rows: usize, cols: usize, list: &[Entry<f64>]) -> AnySparse {
    let numbers: Vec<f64> = list.iter().map(|e| e.value).collect();
    RawSparse {
        kind: FormatKind::Coo,
        rows,
        cols,
        params: FormatParams::default(),
        width: 0,
        offsets: list.iter().map(|e| e.row).collect(),
        indices: list.iter().map(|e| e.col).collect(),
        values: Values::from_f64(precision, &numbers),
    }
    .check()
    .expect("a valid COO")
}

/// A dense operand that owns its elements.
#[derive(Clone, Debug)]
pub struct Dense {
    pub rows: usize,
    pub cols: usize,
    pub ld: usize,
    pub layout: Layout,
    pub data: Values,
}

impl Dense {
    /// Elements from `value`, NaN in the padding.
    pub fn new(
        precision: Precision,
        (rows, cols): (usize, usize),
        layout: Layout,
        pad: usize,
        mut value: impl FnMut() -> f64,
    ) -> Dense {
        let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
        let ld = inner + pad;
        let numbers: Vec<f64> =
            (0..outer * ld).map(|at| if at % ld < inner { value() } else { f64::NAN }).collect();
        let data = Values::from_f64(precision, &numbers);
        Dense { rows, cols, ld, layout, data }
    }

    pub fn offset(&self, i: usize, j: usize) -> usize {
        if self.layout == Layout::RowMajor { i * self.ld + j } else { j * self.ld + i }
    }

    pub fn bits(&self, i: usize, j: usize) -> u64 {
        self.data.as_slice().bits(self.offset(i, j))
    }

    /// Every element in storage order, padding too.
    pub fn all_bits(&self) -> Vec<u64> {
        (0..self.data.len()).map(|at| self.data.as_slice().bits(at)).collect()
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        decode(self.bits(i, j), self.data.precision())
    }

    /// Offsets outside the matrix.
    pub fn padding(&self) -> Vec<usize> {
        let inner = if self.layout == Layout::RowMajor { self.cols } else { self.rows };
        (0..self.data.len()).filter(|at| at % self.ld >= inner).collect()
    }

    pub fn as_ref(&self) -> DenseRef<'_> {
        let Dense { rows, cols, ld, layout, .. } = *self;
        DenseRef { rows, cols, ld, layout, data: self.data.as_slice() }
    }

    pub fn as_mut(&mut self) -> DenseMut<'_> {
        let Dense { rows, cols, ld, layout, .. } = *self;
        DenseMut { rows, cols, ld, layout, data: self.data.as_mut_slice() }
    }
}

/// The matrix as a dense table, repeated positions added.
pub fn table(e: &Entries<f64>, transpose: bool) -> Vec<Vec<f64>> {
    let (rows, cols) = if transpose { (e.cols, e.rows) } else { (e.rows, e.cols) };
    let mut table = vec![vec![0.0; cols]; rows];
    for entry in &e.list {
        let (i, j) = (entry.row as usize, entry.col as usize);
        let (i, j) = if transpose { (j, i) } else { (i, j) };
        table[i][j] += entry.value;
    }
    table
}

/// The bits of a number in a type, rounded to nearest even.
pub fn bits_of(precision: Precision, x: f64) -> u64 {
    sparse_oracle::with_scalar!(precision, T => T::from_f64(x).bits64())
}

pub const LAYOUTS: [Layout; 2] = [Layout::RowMajor, Layout::ColMajor];

/// Every slot that an N:M or 2:4 matrix stores inside its extents, as (row, column), with an entry or without.
pub fn kept_slots(a: &AnySparse) -> BTreeSet<(u32, u32)> {
    each_sparse!(a, m => match m {
        Sparse::Nm(m) => {
            let stride = m.cols.div_ceil(m.l) * m.l;
            let slot = |at: usize| (m.row(at / stride, at % stride / m.l), at % stride);
            inside((0..m.values.len()).map(slot), m.rows, m.cols)
        }
        Sparse::TwoFour(m) => {
            let mma = SparseMma::of(a.precision(), m.short_k).expect("a 2:4 type");
            let across = m.cols.div_ceil(mma.k());
            let mut found = Vec::new();
            for (at, word) in m.metadata.iter().enumerate() {
                let (tile, word_at) = (at / mma.words(), at % mma.words());
                for place in 0..8 {
                    let (row, chunk) = mma.chunk_of_nibble(word_at, place);
                    for offset in mma.offsets(word >> (4 * place) & 15).expect("legal") {
                        let col = tile % across * mma.k() + chunk * mma.chunk() + offset;
                        found.push((tile / across * 16 + row, col));
                    }
                }
            }
            inside(found.into_iter(), m.rows, m.cols)
        }
        other => panic!("{} keeps no slots", other.kind().name()),
    })
}

fn inside(slots: impl Iterator<Item = (usize, usize)>, rows: usize, cols: usize) -> BTreeSet<(u32, u32)> {
    let kept = slots.filter(|&(row, col)| row < rows && col < cols);
    kept.map(|(row, col)| (row as u32, col as u32)).collect()
}
