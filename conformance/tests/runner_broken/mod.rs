//! Backends with one bug each: the portable kernels, with their input or outcome corrupted through the public trait.

use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::Params;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnySparse, Entry, FormatKind, FormatParams, Layout, Sparse};
use sparse_oracle::scalar::{
    AnySlice, AnySliceMut, Element, Precision, Rounding, Scalar, Values, decode, encode,
};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, RawSparse, Task};
use sparse_oracle::{each_precision, each_sparse, with_scalar};

pub(crate) type RunFn = fn(&Contract, Task<'_>) -> Result<Answer, Failure>;
pub(crate) type SupportFn = fn(&Contract, &Params) -> Support;

/// The portable kernels behind a corrupted `run`, `support`, or both.
pub(crate) struct Broken {
    pub(crate) name: &'static str,
    pub(crate) support: SupportFn,
    pub(crate) run: RunFn,
}

impl Backend for Broken {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "the portable kernels with a bug put in"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        (self.support)(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        (self.run)(contract, task)
    }
}

pub(crate) fn honest_support(contract: &Contract, params: &Params) -> Support {
    Portable.support(contract, params)
}

pub(crate) fn honest(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    Portable.run(contract, task)
}

/// A dense output as bits, before and after an honest run.
pub(crate) struct Dense {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: usize,
    pub(crate) layout: Layout,
    pub(crate) precision: Precision,
    pub(crate) before: Vec<u64>,
    pub(crate) after: Vec<u64>,
}

impl Dense {
    pub(crate) fn offset(&self, i: usize, j: usize) -> usize {
        offset(self.layout, self.ld, i, j)
    }

    /// All offsets of elements, row by row; padding is left out.
    pub(crate) fn offsets(&self) -> Vec<(usize, usize, usize)> {
        let row = |i| (0..self.cols).map(move |j| (i, j));
        (0..self.rows)
            .flat_map(row)
            .map(|(i, j)| (i, j, self.offset(i, j)))
            .collect()
    }

    pub(crate) fn number(&self, bits: u64) -> f64 {
        decode(bits, self.precision)
    }

    pub(crate) fn bits(&self, number: f64) -> u64 {
        encode(number, self.precision, Rounding::NearestEven)
    }
}

pub(crate) fn offset(layout: Layout, ld: usize, i: usize, j: usize) -> usize {
    if layout == Layout::RowMajor {
        i * ld + j
    } else {
        j * ld + i
    }
}

fn read(data: &AnySliceMut<'_>) -> Vec<u64> {
    each_precision!(AnySliceMut, data, s => s.iter().map(|x| x.bits64()).collect())
}

fn write(data: &mut AnySliceMut<'_>, bits: &[u64]) {
    each_precision!(AnySliceMut, data, s => s.iter_mut().zip(bits).for_each(|(x, &b)| *x = Scalar::from_bits64(b)));
}

pub(crate) fn values_of(precision: Precision, bits: &[u64]) -> Values {
    with_scalar!(precision, T => <T as Element>::wrap(bits.iter().map(|&b| T::from_bits64(b)).collect()))
}

pub(crate) fn bits_of(data: AnySlice<'_>) -> Vec<u64> {
    (0..data.len()).map(|i| data.bits(i)).collect()
}

/// Runs `run` on a copy of the output, lets `edit` change what it left, and stores that.
pub(crate) fn after(
    contract: &Contract,
    task: Task<'_>,
    run: impl FnOnce(Task<'_>) -> Result<Answer, Failure>,
    edit: impl FnOnce(&mut Dense),
) -> Result<Answer, Failure> {
    let precision = contract.types.out;
    let (mut out, mut temp, shape, answer);
    match task {
        Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        } => {
            let DenseMut {
                rows,
                cols,
                ld,
                layout,
                data,
            } = c;
            out = data;
            temp = values_of(precision, &read(&out));
            shape = (rows, cols, ld, layout);
            let c = DenseMut {
                rows,
                cols,
                ld,
                layout,
                data: temp.as_mut_slice(),
            };
            answer = run(Task::Spmm {
                a,
                transpose_a,
                b,
                transpose_b,
                alpha,
                beta,
                c,
            })?;
        }
        Task::Spmv {
            a,
            transpose_a,
            x,
            alpha,
            beta,
            y,
        } => {
            out = y;
            temp = values_of(precision, &read(&out));
            shape = (temp.len(), 1, 1, Layout::RowMajor);
            answer = run(Task::Spmv {
                a,
                transpose_a,
                x,
                alpha,
                beta,
                y: temp.as_mut_slice(),
            })?;
        }
        Task::Sddmm {
            s,
            x,
            y,
            alpha,
            beta,
            mode,
            out: data,
        } => {
            out = data;
            temp = values_of(precision, &read(&out));
            shape = (temp.len(), 1, 1, Layout::RowMajor);
            answer = run(Task::Sddmm {
                s,
                x,
                y,
                alpha,
                beta,
                mode,
                out: temp.as_mut_slice(),
            })?;
        }
        other => return run(other),
    }
    let (rows, cols, ld, layout) = shape;
    let (before, left) = (read(&out), bits_of(temp.as_slice()));
    let mut dense = Dense {
        rows,
        cols,
        ld,
        layout,
        precision,
        before,
        after: left,
    };
    edit(&mut dense);
    write(&mut out, &dense.after);
    Ok(answer)
}

/// An honest run whose sparse answer is edited.
pub(crate) fn sparse_after(
    contract: &Contract,
    task: Task<'_>,
    edit: impl FnOnce(&mut RawSparse),
) -> Result<Answer, Failure> {
    Ok(match honest(contract, task)? {
        Answer::Sparse(mut raw) => {
            edit(&mut raw);
            Answer::Sparse(raw)
        }
        other => other,
    })
}

/// The values of a sparse answer as bits, edited in place.
pub(crate) fn edit_values(raw: &mut RawSparse, edit: impl FnOnce(&mut Vec<u64>)) {
    let precision = raw.values.precision();
    let mut bits = bits_of(raw.values.as_slice());
    edit(&mut bits);
    raw.values = values_of(precision, &bits);
}

/// A copy of a dense operand with every element taken from elsewhere: `from(i, j)`.
pub(crate) fn gathered(b: &DenseRef<'_>, from: impl Fn(usize, usize) -> (usize, usize)) -> Values {
    let mut bits = bits_of(b.data);
    for i in 0..b.rows {
        for j in 0..b.cols {
            let (fi, fj) = from(i, j);
            bits[offset(b.layout, b.ld, i, j)] = b.data.bits(offset(b.layout, b.ld, fi, fj));
        }
    }
    values_of(b.data.precision(), &bits)
}

/// A CSR, CSC, COO or ELL matrix rebuilt from edited entries (number of the entry, entry and its successor).
pub(crate) fn rebuilt(
    a: &AnySparse,
    keep: impl Fn(&Entry<u64>, Option<&Entry<u64>>) -> Option<u64>,
) -> Result<AnySparse, String> {
    each_sparse!(a, m => {
        let entries = m.entries();
        let bits = entries.bits();
        let mut list = Vec::new();
        for (i, entry) in entries.list.iter().enumerate() {
            if let Some(value) = keep(&bits.list[i], bits.list.get(i + 1)) {
                let mut entry = *entry;
                entry.value = Scalar::from_bits64(value);
                list.push(entry);
            }
        }
        let entries = sparse_oracle::format::Entries { rows: entries.rows, cols: entries.cols, list };
        let sparse = Sparse::from_entries(a.kind(), FormatParams::default(), &entries);
        sparse.map(AnySparse::from).map_err(|e| e.to_string())
    })
}

/// The stored triples of a COO matrix with duplicates settled by `last wins`.
pub(crate) fn last_wins(a: &AnySparse) -> Result<AnySparse, String> {
    each_sparse!(a, m => match m {
        Sparse::Coo(coo) => {
            let mut kept = std::collections::BTreeMap::new();
            for ((&row, &col), &value) in coo.row_idx.iter().zip(&coo.col_idx).zip(&coo.values) {
                kept.insert((row, col), value);
            }
            let list = kept.into_iter().map(|((row, col), value)| Entry { row, col, value }).collect();
            let entries = sparse_oracle::format::Entries { rows: coo.rows, cols: coo.cols, list };
            let sparse = Sparse::from_entries(FormatKind::Coo, FormatParams::default(), &entries);
            sparse.map(AnySparse::from).map_err(|e| e.to_string())
        }
        _ => Ok(a.clone()),
    })
}
