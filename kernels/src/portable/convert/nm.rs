//! CSR to N:M, and back.
//!
//! Encoding counts the vectors of every window, then knows where each goes: a vector at offset `r` that is number `s` of
//! those stored in its window stands behind `s` of them and behind the free offsets below it, of which there are `r - s`
//! and of which no more than `n - count` are named.
//!
//! ```text
//! n = 3, m = 5, stored at offset 3 only       named 0 1 3       slot of offset 3 = 0 + min(2, 3 - 0) = 2
//! ```
//!
//! Slots that nothing is stored in then name their own number.

use super::bands;
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{Csr, FormatKind, FormatParams, Nm, NmParts, Parts, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;

/// CSR to N:M.
#[derive(Debug)]
pub(crate) struct CsrToNm;

/// N:M to CSR.
#[derive(Debug)]
pub(crate) struct NmToCsr;

impl Move for CsrToNm {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Nm);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(csr) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let cut = NmCut::new((csr.rows, csr.cols), params)?;
        let vectors = cut.n as u128 * csr.rows.div_ceil(cut.m) as u128 * cut.groups as u128;
        let slots = check_slots("slots", vectors * cut.l as u128)?;
        let mut index = vec![0u32; vectors as usize];
        let mut values = vec![T::from_bits64(0); slots];
        if slots > 0 {
            let band = bands::band_rows(csr.rows, cut.m, csr.nnz()) / cut.m;
            let vectors = band * cut.n * cut.groups;
            let lanes = index.chunks_mut(vectors);
            let jobs = lanes.zip(values.chunks_mut(vectors * cut.l)).enumerate();
            bands::run(jobs.collect(), |(at, (index, values))| {
                fill_band(csr, &cut, at * band, index, values)
            })?;
        }
        encoded(Parts::Nm(NmParts {
            rows: csr.rows,
            cols: csr.cols,
            n: cut.n,
            m: cut.m,
            l: cut.l,
            index,
            values,
        }))
    }
}

/// The parameters, checked, and the number of groups of columns.
struct NmCut {
    n: usize,
    m: usize,
    l: usize,
    groups: usize,
}

impl NmCut {
    fn new((_, cols): (usize, usize), params: FormatParams) -> Result<NmCut, Refusal> {
        let FormatParams { n, m, l, .. } = params;
        for (field, extent) in [("n", n), ("m", m), ("l", l)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        if n > m {
            let (found, limit) = (u128::from(n), u64::from(m));
            return Err(RequestError::TooLarge { field: "n", found, limit }.into());
        }
        let (n, m, l) = (n as usize, m as usize, l as usize);
        let groups = cols.div_ceil(l);
        Ok(NmCut { n, m, l, groups })
    }
}

/// Encodes the windows from number `window` on that `index` and `values` have room for.
fn fill_band<T: Stored>(
    csr: &Csr<T>,
    cut: &NmCut,
    window: usize,
    index: &mut [u32],
    values: &mut [T],
) -> Result<(), Refusal> {
    let stride = cut.groups * cut.l;
    let (mut stored, mut seen) = (vec![0u32; cut.groups], vec![0u32; cut.groups]);
    let windows = index.chunks_exact_mut(cut.n * cut.groups).zip(values.chunks_exact_mut(cut.n * stride));
    for (at, (index, values)) in windows.enumerate() {
        let first = (window + at) * cut.m;
        let rows = first..csr.rows.min(first + cut.m);
        for (j, lane) in index.chunks_exact_mut(cut.groups).enumerate() {
            lane.fill(j as u32);
        }
        stored.fill(0);
        for row in rows.clone() {
            let (columns, _) = csr.row(row);
            let mut end = 0;
            for &col in columns {
                if col as usize >= end {
                    let group = col as usize / cut.l;
                    stored[group] += 1;
                    end = (group + 1) * cut.l;
                }
            }
        }
        if let Some(group) = stored.iter().position(|&count| count as usize > cut.n) {
            return Err(Refusal::Request(RequestError::TooFull {
                what: "an N:M window (row vectors)",
                row: first,
                column: group * cut.l,
                found: u64::from(stored[group]),
                limit: cut.n as u64,
                remedy: "prune the matrix first",
            }));
        }
        seen.fill(0);
        for (offset, row) in rows.enumerate() {
            let (columns, elements) = csr.row(row);
            let (mut end, mut lane) = (0, 0);
            for (&col, &value) in columns.iter().zip(elements) {
                let col = col as usize;
                if col >= end {
                    let group = col / cut.l;
                    let rank = seen[group] as usize;
                    seen[group] += 1;
                    let free = cut.n - stored[group] as usize;
                    let slot = rank + free.min(offset - rank);
                    index[slot * cut.groups + group] = offset as u32;
                    end = (group + 1) * cut.l;
                    lane = slot * stride;
                }
                values[lane + col] = value;
            }
        }
    }
    Ok(())
}

impl Move for NmToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Nm;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Nm(nm) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let band = bands::band_rows(nm.rows, nm.m, nm.values.len());
        let arrays = bands::gather(
            nm.rows,
            band,
            |first, lengths| {
                each_vector(nm, first..first + lengths.len(), |row, _, vector| {
                    let filled = vector.iter().filter(|v| !v.is_positive_zero()).count();
                    // A row past the end has no length to add to, and nothing to add.
                    if filled > 0 {
                        lengths[row] += filled as u32;
                    }
                });
            },
            |first, mut next, columns, values| {
                each_vector(nm, first..first + next.len(), |row, first_col, vector| {
                    for (c, &value) in vector.iter().enumerate() {
                        if !value.is_positive_zero() {
                            let at = next[row] as usize;
                            columns[at] = (first_col + c) as u32;
                            values[at] = value;
                            next[row] += 1;
                        }
                    }
                });
            },
        )?;
        Ok(compressed(FormatKind::Csr, (nm.rows, nm.cols), arrays))
    }
}

/// Calls `visit(row, first column, slots)` for every vector of the windows that `rows` spans, from left to right in each
/// window; `row` counts from the first of `rows`.
fn each_vector<T: Stored>(
    nm: &Nm<T>,
    rows: std::ops::Range<usize>,
    mut visit: impl FnMut(usize, usize, &[T]),
) {
    let groups = nm.cols.div_ceil(nm.l);
    for window in rows.start / nm.m..rows.end.div_ceil(nm.m) {
        for group in 0..groups {
            for u in window * nm.n..(window + 1) * nm.n {
                let at = u * groups + group;
                let row = window * nm.m + nm.index[at] as usize - rows.start;
                visit(row, group * nm.l, &nm.values[at * nm.l..(at + 1) * nm.l]);
            }
        }
    }
}
