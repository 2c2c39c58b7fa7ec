//! What judging a case takes in memory, told before anything of it is made: operands, results, and what the oracle works out of them.
//!
//! The numbers of bytes are of measurements (peak sizes of `conformance replay` on all built-in backends), rounded up. They are no bound: they
//! decide what may be tried, and what side by side.

use super::placement;
use crate::case::Case;
use crate::memory::NoRoom;
use crate::origin::Loaded;
use crate::right::Right;
use sparse_oracle::contract::{Extent, Returned};
use sparse_oracle::format::Layout;
use sparse_oracle::scalar::Precision;

/// Of a row or column, even an empty one: offsets in several formats.
const LINE: u128 = 64;
/// Of a stored entry of a sparse operand, beyond the matrix that was loaded.
const ENTRY: u128 = 256;
/// Of an entry of a result that is sparse or lies at stored positions.
const FOUND: u128 = 600;
/// Of a slot of a format that stores more than the entries.
pub(super) const SLOT: u128 = 120;
/// Of a dense element, as a multiple of its size, and beside it.
const DENSE: (u128, u128) = (10, 10);

/// What a case takes without the pads of its formats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// Elements of the dense operands and of a dense result, rows, columns and entries.
    pub(super) elements: u128,
    /// Bytes, at most about.
    pub(super) bytes: u128,
}

impl Need {
    fn dense(&mut self, elements: u128, precision: Precision) {
        self.elements = self.elements.saturating_add(elements);
        self.bytes(elements, DENSE.0 * precision.bytes() as u128 + DENSE.1);
    }

    fn bytes(&mut self, count: u128, each: u128) {
        self.bytes = self.bytes.saturating_add(count.saturating_mul(each));
    }
}

/// Elements of a dense operand or result with its padding.
fn laid_out((rows, cols): (u128, u128), (layout, pad): (Layout, usize)) -> u128 {
    let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
    outer.saturating_mul(inner.saturating_add(pad as u128))
}

pub(super) fn unpadded(case: &Case, loaded: &Loaded) -> Need {
    let (p, types, signature) = (&case.params, case.contract.types, case.contract.op.signature());
    let coo = &loaded.coo;
    let (rows, cols, entries) = (coo.rows as u128, coo.cols as u128, coo.nnz() as u128);
    let transposed = p.transpose_a && signature.transposes_a;
    let (m, k) = if transposed { (cols, rows) } else { (rows, cols) };
    let n = p.n as u128;
    let of = |extent: Extent| match extent {
        Extent::M => m,
        Extent::K => k,
        Extent::N => n,
        Extent::One => 1,
    };
    let mut need = Need { elements: rows + cols + entries, bytes: 0 };
    need.bytes(rows + cols, LINE);
    need.bytes(entries, ENTRY);
    for (at, argument) in signature.dense.iter().enumerate() {
        let (rows, cols) = (of(argument.rows), of(argument.cols));
        let shape = if p.transpose_b && signature.transposes_b { (cols, rows) } else { (rows, cols) };
        need.dense(laid_out(shape, placement(case, at, argument)), argument.slot.of(&types));
    }
    if signature.sparse.get(1).is_some() {
        need.bytes(right_entries(p.right, (k, n), entries), ENTRY);
    }
    match signature.returned {
        Returned::Matrix => need.dense(laid_out((m, n), (p.layout_c, p.pad_c)), types.out),
        Returned::Vector => need.dense(m, types.out),
        Returned::Sampled => need.bytes(entries, FOUND),
        Returned::Moved => need.bytes(entries, FOUND / 2),
        Returned::Product => {
            let cols = if p.right == Right::Same { k } else { n };
            need.bytes(terms(p.right, (transposed, loaded), (k, n)).min(m.saturating_mul(cols)), FOUND);
        }
    }
    if case.reads_c() {
        // Two variants in f64, and what becomes of them.
        need.bytes(m.saturating_mul(n), 6 * size_of::<f64>() as u128);
    }
    if p.after.is_some() {
        // Calls before the judged one have operands and results of their own, some of them twice as large.
        need.bytes = need.bytes.saturating_mul(2);
    }
    need
}

/// Bytes that judging a case takes at most about, beside the matrix itself.
#[must_use]
pub fn need(case: &Case, loaded: &Loaded) -> u128 {
    let formats = [Some(case.contract.format), case.contract.to];
    let slots = formats.into_iter().flatten().map(|format| loaded.most_slots(format, &case.params.blocks));
    let slots = slots.fold(0, u128::saturating_add);
    unpadded(case, loaded).bytes.saturating_add(slots.saturating_mul(SLOT))
}

/// Entries of a sparse B at most, by the way in which it is drawn.
fn right_entries(right: Right, (k, n): (u128, u128), entries: u128) -> u128 {
    let drawn = match right {
        Right::Same => return entries,
        Right::Thin => k.saturating_mul(3),
        Right::Cancel => k.saturating_mul(6),
        Right::Collide => k.saturating_mul(24),
        Right::Long => k.saturating_add(crate::right::LONG_ENTRIES.into()),
    };
    drawn.min(k.saturating_mul(n))
}

/// Products of two entries that a sparse product sums, about: of A by itself exactly.
fn terms(right: Right, (transposed, loaded): (bool, &Loaded), (k, n): (u128, u128)) -> u128 {
    let coo = &loaded.coo;
    if right != Right::Same {
        let entries = coo.nnz() as u128;
        let of_one_row = right_entries(right, (k, n), entries).div_ceil(k.max(1));
        return entries.saturating_mul(of_one_row);
    }
    let (inner, outer) = if transposed { (&coo.row_idx, &coo.col_idx) } else { (&coo.col_idx, &coo.row_idx) };
    let mut lengths = vec![0u128; coo.rows.max(coo.cols)];
    outer.iter().for_each(|&at| lengths[at as usize] += 1);
    inner.iter().map(|&at| lengths[at as usize]).fold(0, u128::saturating_add)
}

/// The budget of this process has room for so much.
pub(super) fn check(bytes: u128) -> Result<(), NoRoom> {
    crate::memory::MemoryBudget::process().check(bytes).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need_of(line: &str) -> u128 {
        let case: Case = line.parse().expect(line);
        need(&case, &case.origin.load().expect("a generator"))
    }

    /// What was measured: peak sizes less that of a tiny case, MiB.
    #[test]
    fn the_need_is_at_least_what_was_measured_and_not_ten_times_that() {
        let thin = "uniform:rows=4000,cols=4000,density=0.0001,seed=1/values=wide,1";
        let full = "uniform:rows=4000,cols=4000,density=0.06,seed=1/values=wide,1";
        for (line, measured) in [
            (format!("spmm.csr.f64_f64_f64_f64/{thin}/n=500"), 300),
            (format!("spmm.csr.f64_f64_f64_f64/{thin}/n=500/beta=0.5"), 384),
            (format!("spmm.csr.f32_f32_f32_f32/{thin}/n=500"), 157),
            (format!("spmm.csr.f64_f64_f64_f64/{thin}/n=500/after=extents"), 429),
            (format!("spmv.coo.f64_f64_f64_f64/{full}"), 146),
            (format!("spmm.bcsr.f64_f64_f64_f64/{full}/n=1"), 270),
            (format!("spmv.csr.f64_f64_f64_f64/{full}"), 147),
            (format!("transpose.csr.f64/{full}"), 283),
            ("convert.csr.bcsr.f64/uniform:rows=4000,cols=4000,density=0.01,seed=1/values=wide,1".to_owned(), 300),
            (
                "spgemm.csr.f64_f64_f64_f64/uniform:rows=1000,cols=1000,density=0.03,seed=1/values=wide,1/b=same"
                    .to_owned(),
                278,
            ),
        ] {
            let need = need_of(&line) >> 20;
            assert!((measured..10 * measured).contains(&need), "{line}: {need} MiB, measured {measured}");
        }
    }

    /// Story: nobody counted what a sparse product returns; A * A of a matrix with one full row and column has every position.
    #[test]
    fn a_sparse_product_counts_what_it_returns() {
        let arrow = "spgemm.csr.f64_f64_f64_f64/arrow:rows=3000,seed=1/values=ones,1/b=same";
        assert!(need_of(arrow) > 9_000_000 * FOUND, "{}", need_of(arrow));
        let diagonal = "spgemm.csr.f64_f64_f64_f64/permutation:rows=3000,seed=1/values=ones,1/b=same";
        assert!(need_of(diagonal) < 3_000 * 1_500, "{}", need_of(diagonal));
    }
}
