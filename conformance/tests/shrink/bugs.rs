//! Backends with one bug each for the shrinker: the portable kernels with operands or a dense f32 result edited.

use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::Params;
use sparse_oracle::contract::Contract;
use sparse_oracle::each_sparse;
use sparse_oracle::format::{AnySparse, Coo, CooParts, Entry, FormatParams, Layout, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{AnySliceMut, Scalar};
use sparse_oracle::task::{Answer, DenseMut, Task};
use std::collections::BTreeMap;

pub(crate) type RunFn = fn(&Contract, Task<'_>) -> Result<Answer, Failure>;

/// A bug as a function.
pub(crate) struct Bug(pub(crate) RunFn);

impl Backend for Bug {
    fn name(&self) -> &'static str {
        "bug"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "the portable kernels with a bug"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        (self.0)(contract, task)
    }
}

pub(crate) fn honest(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    Portable.run(contract, task)
}

/// C after an honest run.
pub(crate) struct Edited<'a> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) data: &'a mut [f32],
    ld: usize,
    layout: Layout,
    before: Vec<f32>,
}

impl Edited<'_> {
    pub(crate) fn at(&self, i: usize, j: usize) -> usize {
        if self.layout == Layout::RowMajor { i * self.ld + j } else { j * self.ld + i }
    }

    /// What was there before the run.
    pub(crate) fn was(&self, i: usize, j: usize) -> f32 {
        self.before[self.at(i, j)]
    }

    /// As if never written.
    pub(crate) fn restore(&mut self, i: usize, j: usize) {
        let at = self.at(i, j);
        self.data[at] = self.before[at];
    }
}

/// An honest SpMM whose f32 result is edited; anything else is honest.
pub(crate) fn edited(
    contract: &Contract,
    task: Task<'_>,
    edit: impl FnOnce(&mut Edited<'_>),
) -> Result<Answer, Failure> {
    let Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, c } = task else {
        return honest(contract, task);
    };
    let DenseMut { rows, cols, ld, layout, data: AnySliceMut::F32(data) } = c else {
        return Err("f32 only".into());
    };
    let before = data.to_vec();
    let lent = AnySliceMut::F32(&mut *data);
    let c = DenseMut { rows, cols, ld, layout, data: lent };
    let answer = honest(contract, Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, c })?;
    edit(&mut Edited { rows, cols, data, ld, layout, before });
    Ok(answer)
}

/// The matrix with every entry changed, in its own format.
fn rebuilt(a: &AnySparse, change: impl Fn(&mut Entry<f64>)) -> AnySparse {
    each_sparse!(a, m => {
        let mut entries = m.entries();
        for entry in &mut entries.list {
            let mut changed = Entry { row: entry.row, col: entry.col, value: entry.value.to_f64() };
            change(&mut changed);
            (entry.row, entry.col) = (changed.row, changed.col);
            entry.value = FromF64::from_f64(changed.value);
        }
        entries.list.sort_by_key(|e| (e.row, e.col));
        entries.list.dedup_by_key(|e| (e.row, e.col));
        AnySparse::from(Sparse::from_entries(a.kind(), FormatParams::default(), &entries).expect("it fitted before"))
    })
}

pub(crate) fn with_columns(a: &AnySparse, column: impl Fn(u32) -> u32) -> AnySparse {
    rebuilt(a, |e| e.col = column(e.col))
}

pub(crate) fn with_values(a: &AnySparse, value: impl Fn(f64) -> f64) -> AnySparse {
    rebuilt(a, |e| e.value = value(e.value))
}

pub(crate) fn holds(a: &AnySparse, is: impl Fn(f64) -> bool) -> bool {
    each_sparse!(a, m => m.entries().list.iter().any(|e| is(e.value.to_f64())))
}

/// COO triples of which the last at each position counts.
pub(crate) fn without_duplicates(a: &AnySparse) -> AnySparse {
    each_sparse!(a, m => match m {
        Sparse::Coo(coo) => {
            let places = coo.row_idx.iter().copied().zip(coo.col_idx.iter().copied());
            let last: BTreeMap<(u32, u32), _> = places.zip(coo.values.iter().copied()).collect();
            let parts = CooParts {
                rows: coo.rows,
                cols: coo.cols,
                row_idx: last.keys().map(|at| at.0).collect(),
                col_idx: last.keys().map(|at| at.1).collect(),
                values: last.values().copied().collect(),
            };
            AnySparse::from(Sparse::Coo(Coo::try_new(parts).expect("in range")))
        }
        _ => a.clone(),
    })
}

/// Block shape of a BCSR matrix.
pub(crate) fn block_shape(a: &AnySparse) -> (usize, usize) {
    each_sparse!(a, m => match m {
        Sparse::Bcsr(m) => (m.block_rows, m.block_cols),
        _ => (0, 0),
    })
}
