//! A case's operands, as the arrays that a backend is given.
//!
//! Everything is drawn from the case line alone, so the same line gives the same bits on every machine. Dense operands
//! carry NaN in their leading-dimension padding, which nobody may read.

mod earlier;
mod few_terms;
mod nans;
mod need;
mod unmet;

pub(crate) use self::earlier::{plain, with_values};
pub(crate) use self::few_terms::is_unbounded;
pub use self::need::need;

use self::earlier::earlier;
use crate::case::{Case, Fault, Filling};
use crate::encodings::{Encoding, loosened};
use crate::kept::Kept;
use crate::memory::NoRoom;
use crate::origin::{Loaded, OriginError};
use crate::placed::Placed;
use crate::right::{self, Right};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use sparse_oracle::contract::{Extent, Op, Operand as Argument, Returned, TypeSlot};
use sparse_oracle::format::{
    AnyParts, AnySparse, Coo, CooParts, Entries, Entry, FormatKind, Layout, PartsElement, Sparse,
};
use sparse_oracle::judge::values_in_order;
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::{Precision, Scalar};
use sparse_oracle::source::values::{Operand, ValueFamily};
use sparse_oracle::task::{DenseRef, Inputs, SddmmMode};
use sparse_oracle::{each_precision, with_scalar};
use std::borrow::Cow;

/// A dense operand that owns its elements.
#[derive(Clone, Debug)]
pub struct DenseOperand {
    /// Rows as stored.
    pub rows: usize,
    /// Columns as stored.
    pub cols: usize,
    /// Leading dimension, in elements.
    pub ld: usize,
    /// Which index runs fastest.
    pub layout: Layout,
    /// `ld * outer` elements.
    pub data: Placed,
}

/// A call before the judged one.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What is asked for.
    pub case: Case,
    /// On what.
    pub operands: Operands,
}

/// All operands of one case.
#[derive(Clone, Debug)]
pub struct Operands {
    /// The sparse operand (S of an SDDMM).
    pub a: AnySparse,
    /// The second sparse operand of SpGEMM.
    pub b_sparse: Option<AnySparse>,
    /// B of SpMM, x of SpMV (one column), X of SDDMM.
    pub b: Option<DenseOperand>,
    /// Y of SDDMM.
    pub y: Option<DenseOperand>,
    /// Shape of the dense result; SDDMM: stored positions x 1.
    pub result: (usize, usize),
    /// What C holds before (two variants, so that a stale value shows); nothing where it is not read.
    pub c: [Vec<f64>; 2],
    /// The calls that come before, where the case asks for some.
    pub earlier: Vec<Earlier>,
}

impl Operands {
    /// What the case asks for, without its output.
    #[must_use]
    pub fn inputs(&self, case: &Case) -> Inputs<'_> {
        let p = &case.params;
        Inputs {
            transpose_a: p.transpose_a,
            transpose_b: p.transpose_b,
            alpha: p.alpha,
            beta: p.beta,
            mode: p.mode,
            to: case.contract.to,
            params: p.blocks,
            ..self.plain(case.contract.op)
        }
    }

    /// An operation on them, without transposes, alpha = 1, beta = 0.
    #[must_use]
    pub fn plain(&self, op: Op) -> Inputs<'_> {
        Inputs {
            b_sparse: self.b_sparse.as_ref(),
            b: self.b.as_ref().map(DenseOperand::as_ref),
            y: self.y.as_ref().map(DenseOperand::as_ref),
            ..Inputs::plain(op, &self.a)
        }
    }
}

/// A case whose operands can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperandError {
    /// The source failed.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The format can't hold the matrix (an ELL with one dense row, say).
    #[error("cannot encode the matrix as {format}: {refusal}")]
    Encode {
        /// Format.
        format: &'static str,
        /// Why not.
        refusal: Refusal,
    },
    /// The case asks for more memory than the suite gives it.
    #[error("the case needs {elements} elements, the limit is {limit}")]
    TooLarge {
        /// Elements needed.
        elements: u128,
        /// Limit.
        limit: u128,
    },
    /// The case asks for more memory than the judge has.
    #[error(transparent)]
    Memory(#[from] NoRoom),
    /// Two parameters exclude each other.
    #[error("{0}")]
    Combination(&'static str),
}

/// Most elements that all operands of a case may have together, rows and columns counted as well (1 GiB of f64).
const MAX_ELEMENTS: u128 = 1 << 27;

impl DenseOperand {
    /// Borrows.
    #[must_use]
    pub fn as_ref(&self) -> DenseRef<'_> {
        let DenseOperand { rows, cols, ld, layout, ref data } = *self;
        DenseRef { rows, cols, ld, layout, data: data.as_slice() }
    }

    /// The same in the same memory, until one of both is written.
    pub(crate) fn shared(&self) -> DenseOperand {
        DenseOperand { data: self.data.shared(), ..*self }
    }

    /// Turns the sign of the first element from this one on that has one to show.
    fn negate(&mut self, from: usize, shift: usize) {
        let mut data = self.data.to_f64();
        if let Some(x) = data.iter_mut().skip(from).find(|x| **x != 0.0 && !x.is_nan()) {
            *x = -*x;
            self.data = Placed::from_f64(self.data.precision(), &data, shift);
        }
    }

    /// Element (i, j), exactly.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let slice = self.data.as_slice();
        sparse_oracle::scalar::decode(slice.bits(self.offset(i, j)), slice.precision())
    }

    /// Where element (i, j) lies.
    fn offset(&self, i: usize, j: usize) -> usize {
        if self.layout == Layout::RowMajor { i * self.ld + j } else { j * self.ld + i }
    }
}

/// Makes the operands of a case from an already loaded matrix.
///
/// # Errors
/// When the format can't hold the matrix, or the case asks for too much memory.
pub fn build(case: &Case, loaded: &Loaded) -> Result<Operands, OperandError> {
    let p = &case.params;
    if p.mode == SddmmMode::Scale && p.alpha != 1.0 {
        return Err(OperandError::Combination("mode=scale goes with alpha=1 only"));
    }
    let types = case.contract.types;
    let signature = case.contract.op.signature();
    // Rows and columns cost memory even where they are empty: offsets, outputs, the other operand.
    let extent = loaded.coo.rows as u128 + loaded.coo.cols as u128 + loaded.coo.nnz() as u128;
    check_size(extent)?;
    let need = need::unpadded(case, loaded);
    check_size(need.elements)?;
    need::check(need.bytes)?;
    let a = sparse_operand(case, loaded, signature.stored(&types))?;
    let (rows, cols) = a.shape();
    if signature.is_square() && rows != cols {
        return Err(OperandError::Combination("the operation takes square matrices"));
    }
    let transposed = p.transpose_a && signature.transposes_a;
    let (m, k) = if transposed { (cols, rows) } else { (rows, cols) };
    let mut draw = Draw { case, stream: 1, spent: extent };
    let given = |extent| match extent {
        Extent::M => m,
        Extent::K => k,
        Extent::N => p.n,
        Extent::One => 1,
    };
    // The shape of another operand than A. The fault `InnerShape` makes its inner extent one too large.
    let facing = |operand: &Argument| {
        let broken = usize::from(p.fault == Some(Fault::InnerShape));
        [operand.rows, operand.cols].map(|e| given(e) + if e == signature.inner { broken } else { 0 })
    };
    let mut operands = Operands {
        a,
        b_sparse: None,
        b: None,
        y: None,
        result: (m, p.n),
        c: [Vec::new(), Vec::new()],
        earlier: Vec::new(),
    };
    let mut dense = Vec::new();
    for (at, argument) in signature.dense.iter().enumerate() {
        let is_last = at + 1 == signature.dense.len();
        let [rows, cols] = if is_last { facing(argument) } else { [argument.rows, argument.cols].map(given) };
        let turned = p.transpose_b && signature.transposes_b;
        let shape = if turned { (cols, rows) } else { (rows, cols) };
        let (layout, pad) = placement(case, at, argument);
        let mut operand = draw.laid_out(role(argument), shape, layout, pad, argument.slot.of(&types))?;
        if is_last {
            unmet::overlay(case, &mut operand, turned, &operands.a, transposed);
            few_terms::overlay(case, &mut operand, turned, &operands.a, transposed);
        }
        each_precision!(AnySliceMut, operand.data.as_mut_slice(), values => nans::of_product(case, values));
        dense.push(operand);
    }
    let mut dense = dense.into_iter();
    (operands.b, operands.y) = (dense.next(), dense.next());
    if let Some(argument) = signature.sparse.get(1) {
        if p.right == Right::Same {
            operands.b_sparse = Some(same(case, &operands.a)?);
            operands.result.1 = cols;
        } else {
            let [rows, cols] = facing(argument);
            operands.b_sparse = Some(draw.sparse((rows, cols), argument.slot.of(&types), &operands.a)?);
        }
    }
    match signature.returned {
        Returned::Vector => operands.result = (m, 1),
        Returned::Sampled => operands.result = (stored(&operands.a), 1),
        Returned::Matrix | Returned::Product | Returned::Moved => {}
    }
    if case.contract.op.updates() {
        let (rows, cols) = (m as u128, operands.result.1 as u128);
        let (outer, inner) = if p.layout_c == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
        draw.spend(outer * (inner + p.pad_c as u128))?;
        let count = m * operands.result.1;
        if case.reads_c() {
            operands.c = [(); 2].map(|()| draw.numbers(Operand::C, count, types.out));
        }
    }
    operands.earlier = earlier(case, loaded);
    Ok(operands)
}

/// Layout and padding of a dense operand, the one of this number.
fn placement(case: &Case, number: usize, argument: &Argument) -> (Layout, usize) {
    let p = &case.params;
    match number {
        _ if argument.is_vector() => (Layout::RowMajor, 0),
        0 => (p.layout_b, p.pad_b),
        _ => (p.y_layout(), p.y_pad()),
    }
}

fn check_size(elements: u128) -> Result<(), OperandError> {
    let limit = MAX_ELEMENTS;
    if elements > limit { Err(OperandError::TooLarge { elements, limit }) } else { Ok(()) }
}

/// B of A * A.
fn same(case: &Case, a: &AnySparse) -> Result<AnySparse, OperandError> {
    let (rows, cols) = a.shape();
    if rows != cols {
        return Err(OperandError::Combination("b=same multiplies A by itself: it must be square"));
    }
    if case.contract.types.a != case.contract.types.b {
        return Err(OperandError::Combination("b=same goes with operands of one type only"));
    }
    if case.params.fault == Some(Fault::InnerShape) {
        return Err(OperandError::Combination("b=same has no inner extent of its own to break"));
    }
    Ok(a.clone())
}

/// Number of stored positions of an SDDMM pattern.
fn stored(a: &AnySparse) -> usize {
    sparse_oracle::each_sparse!(a, m => match m {
        Sparse::Csr(m) => m.nnz(),
        Sparse::Coo(m) => m.nnz(),
        other => other.entries().list.len(),
    })
}

/// The sparse operand with its values, in the contract's format.
fn sparse_operand(case: &Case, loaded: &Loaded, precision: Precision) -> Result<AnySparse, OperandError> {
    let coo = &loaded.coo;
    let (format, to) = (case.contract.format, case.contract.to);
    let encode_error = |refusal| OperandError::Encode { format: format.name(), refusal };
    with_scalar!(precision, T => {
        let mut values: Vec<T> = match case.filling {
            Filling::Own(_) => coo.values.iter().map(|&value| T::from_f64(value)).collect(),
            Filling::Drawn(family, seed) => drawn(case, family, coo.nnz(), seed),
        };
        let with_nans = if case.contract.op.is_exact() { nans::of_moved } else { nans::of_product };
        with_nans(case, &mut values);
        let sorted = if format == FormatKind::Coo { None } else { loaded.offsets() };
        let sparse = match sorted {
            Some(offsets) => {
                let a = offsets.map(|&at| values[at as usize]);
                if (format, to) == (FormatKind::Csr, None) {
                    Sparse::Csr(a)
                } else {
                    encoded(case, a.entries())?
                }
            }
            None => {
                let coo = triples(case, coo, values)?;
                if format == FormatKind::Coo { Sparse::Coo(coo) } else { encoded(case, coo.entries())? }
            }
        };
        match loosened_parts(case, &sparse) {
            Some(parts) => parts.check().map_err(encode_error),
            None => Ok(AnySparse::from(sparse)),
        }
    })
}

/// The matrix as it is stored, with other values; with duplicates where the case asks for them.
fn triples<T: Scalar>(case: &Case, coo: &Coo<f64>, values: Vec<T>) -> Result<Coo<T>, OperandError> {
    let (row_idx, col_idx) = (coo.row_idx.clone(), coo.col_idx.clone());
    let parts = CooParts { rows: coo.rows, cols: coo.cols, row_idx, col_idx, values };
    let scattered = case.contract.format == FormatKind::Coo && case.params.duplicates;
    let made = Coo::try_new(if scattered { scatter(parts, case) } else { parts });
    made.map_err(|refusal| OperandError::Encode { format: "coo", refusal })
}

/// Entries in the contract's format.
fn encoded<T: Scalar>(case: &Case, entries: Entries<T>) -> Result<Sparse<T>, OperandError> {
    let (format, blocks) = (case.contract.format, case.params.blocks);
    let formats = [Some(format), case.contract.to];
    let entries = pruned(case, formats, entries);
    for format in formats.into_iter().flatten() {
        let slots = Sparse::most_slots(format, &blocks, &entries);
        check_size(slots)?;
        need::check(slots.saturating_mul(need::SLOT))?;
    }
    let made = Sparse::from_entries(format, blocks, &entries);
    made.map_err(|refusal| OperandError::Encode { format: format.name(), refusal })
}

/// Another encoding of the same matrix, where the case asks for one. Triples with duplicates are in any order as it is.
fn loosened_parts<T: PartsElement>(case: &Case, sparse: &Sparse<T>) -> Option<AnyParts> {
    if case.params.encoding == Encoding::Canonical || case.params.duplicates {
        return None;
    }
    let entries = match sparse {
        Sparse::Coo(m) => Entries {
            rows: m.rows,
            cols: m.cols,
            list: (m.row_idx.iter().zip(&m.col_idx).zip(&m.values))
                .map(|((&row, &col), &value)| Entry { row, col, value })
                .collect(),
        },
        other => other.entries(),
    };
    let apart = case.contract.op.is_exact();
    let (format, blocks) = (case.contract.format, &case.params.blocks);
    loosened(format, blocks, &entries, seed_of(case), apart).map(T::any_parts)
}

/// The entries that the N:M pattern of one of the formats keeps; all of them for parameters that it is not defined for, which
/// whoever is asked must refuse.
fn pruned<T: Scalar>(case: &Case, formats: [Option<FormatKind>; 2], entries: Entries<T>) -> Entries<T> {
    match formats.into_iter().flatten().find(|f| f.is_structured()) {
        Some(format) if !case.params.unpruned => {
            prune(&entries, format, &case.params.blocks).unwrap_or(entries)
        }
        _ => entries,
    }
}

/// So many values for the sparse operand.
fn drawn<T: Scalar>(case: &Case, family: ValueFamily, count: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::default(); count];
    family.of(sparse_role(case)).fill_elements(&mut values, seed);
    values
}

/// Splits about one entry in four into two or three with drawn values, and shuffles everything.
fn scatter<T: Scalar>(parts: CooParts<T>, case: &Case) -> CooParts<T> {
    let CooParts { rows, cols, row_idx, col_idx, values } = parts;
    let mut rng = Pcg64Mcg::seed_from_u64(seed_of(case) ^ 0xd0b1e);
    let mut list: Vec<Entry<T>> = row_idx
        .into_iter()
        .zip(col_idx)
        .zip(values)
        .map(|((row, col), value)| Entry { row, col, value })
        .collect();
    let extra = drawn::<T>(case, family_of(case), list.len(), seed_of(case) ^ 0xe);
    for (i, value) in extra.into_iter().enumerate() {
        for _ in 0..[0, 0, 0, 1, 0, 0, 0, 2][rng.random_range(0..8)] {
            list.push(Entry { value, ..list[i] });
        }
    }
    for i in (1..list.len()).rev() {
        list.swap(i, rng.random_range(0..=i));
    }
    CooParts {
        rows,
        cols,
        row_idx: list.iter().map(|e| e.row).collect(),
        col_idx: list.iter().map(|e| e.col).collect(),
        values: list.iter().map(|e| e.value).collect(),
    }
}

/// Seed of the case's values.
#[must_use]
pub fn seed_of(case: &Case) -> u64 {
    match case.filling {
        Filling::Own(seed) | Filling::Drawn(_, seed) => seed,
    }
}

/// The family that the operands are drawn from, each as [`ValueFamily::of`] says; near one beside a file's own values.
#[must_use]
pub fn family_of(case: &Case) -> ValueFamily {
    match case.filling {
        Filling::Own(_) => ValueFamily::NearOne,
        Filling::Drawn(family, _) => family,
    }
}

/// What the sparse operand is to a family of values: the first factor, but for SDDMM the values of S, which scale or are added.
#[must_use]
pub fn sparse_role(case: &Case) -> Operand {
    role(&case.contract.op.signature().sparse[0])
}

/// What an operand is to a family of values.
fn role(argument: &Argument) -> Operand {
    match argument.slot {
        TypeSlot::A => Operand::A,
        TypeSlot::B => Operand::B,
        TypeSlot::Out => Operand::C,
    }
}

/// Draws operands one after the other, each from a stream of its own.
struct Draw<'a> {
    case: &'a Case,
    stream: u64,
    /// Elements that the case's operands take so far.
    spent: u128,
}

impl Draw<'_> {
    /// Counts what an operand takes, against the limit of the whole case.
    fn spend(&mut self, elements: u128) -> Result<(), OperandError> {
        self.spent = self.spent.saturating_add(elements);
        check_size(self.spent)
    }

    /// The seed of the next operand.
    fn seed(&mut self) -> u64 {
        self.stream += 1;
        seed_of(self.case).wrapping_add(self.stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// What of an operand's values is kept, if not all.
    fn kept(&self, operand: Operand) -> Option<Kept> {
        let p = &self.case.params;
        if operand == Operand::C { p.kept_c } else { p.kept_b }
    }

    fn numbers(&mut self, operand: Operand, count: usize, precision: Precision) -> Vec<f64> {
        let seed = self.seed();
        let mut numbers = family_of(self.case).of(operand).fill(count, seed, precision);
        if let Some(kept) = self.kept(operand) {
            kept.apply(&mut numbers);
        }
        numbers
    }

    fn laid_out(
        &mut self,
        operand: Operand,
        (rows, cols): (usize, usize),
        layout: Layout,
        pad: usize,
        precision: Precision,
    ) -> Result<DenseOperand, OperandError> {
        let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
        let ld = inner + pad;
        self.spend(outer as u128 * ld as u128)?;
        let shift = self.case.params.align;
        let data = if pad == 0 && self.kept(operand).is_none() {
            let (family, seed) = (family_of(self.case).of(operand), self.seed());
            with_scalar!(precision, T => {
                Placed::made(outer * inner, shift, |elements: &mut [T]| family.fill_elements(elements, seed))
            })
        } else {
            let numbers = self.numbers(operand, outer * inner, precision);
            let mut padded = vec![f64::NAN; outer * ld];
            for (to, from) in padded.chunks_exact_mut(ld.max(1)).zip(numbers.chunks_exact(inner.max(1))) {
                to[..inner].copy_from_slice(from);
            }
            Placed::from_f64(precision, &padded, shift)
        };
        Ok(DenseOperand { rows, cols, ld, layout, data })
    }

    /// The positions of a sparse B, row by row. A thin one has up to three entries a row, every fourth row empty.
    fn sparse_positions(&self, (rows, cols): (usize, usize)) -> Vec<(u32, u32)> {
        let kind = self.case.params.right;
        if kind != Right::Thin {
            let rows = right::columns(kind, rows, cols, seed_of(self.case));
            let of_row = |(row, columns): (usize, Vec<u64>)| {
                columns.into_iter().map(move |col| (row as u32, col as u32))
            };
            return rows.into_iter().enumerate().flat_map(of_row).collect();
        }
        let mut rng = Pcg64Mcg::seed_from_u64(seed_of(self.case) ^ 0x5b);
        let mut positions = Vec::new();
        for row in 0..rows as u32 {
            let wanted = [0, 1, 2, 3][rng.random_range(0..4)].min(cols);
            let mut picked: Vec<u32> = (0..wanted).map(|_| rng.random_range(0..cols as u32)).collect();
            picked.sort_unstable();
            picked.dedup();
            positions.extend(picked.into_iter().map(|col| (row, col)));
        }
        positions
    }

    /// B of SpGEMM.
    fn sparse(
        &mut self,
        (rows, cols): (usize, usize),
        precision: Precision,
        a: &AnySparse,
    ) -> Result<AnySparse, OperandError> {
        self.spend(4 * rows as u128)?;
        let positions = self.sparse_positions((rows, cols));
        self.spend(positions.len() as u128)?;
        let mut numbers = self.numbers(Operand::B, positions.len(), precision);
        if self.case.params.right == Right::Cancel {
            right::pair_values(&positions, &mut numbers);
        }
        let places = unmet::places(self.case, (rows, cols), precision, a, self.case.params.transpose_a);
        unmet::overlay_sparse(&places, &positions, &mut numbers);
        let refused = |refusal| OperandError::Encode { format: self.case.contract.format.name(), refusal };
        with_scalar!(precision, T => {
            let mut values: Vec<T> = numbers.iter().map(|&v| T::from_f64(v)).collect();
            nans::of_product(self.case, &mut values);
            let entry = |(&(row, col), value): (&(u32, u32), T)| Entry { row, col, value };
            let list = positions.iter().zip(values).map(entry).collect();
            let entries = Entries { rows, cols, list };
            let sparse = Sparse::from_entries(self.case.contract.format, self.case.params.blocks, &entries);
            Ok(AnySparse::from(sparse.map_err(refused)?))
        })
    }
}

/// What C holds before run `variant` of a case that reads it (S itself where an SDDMM adds it).
pub(crate) fn initial<'a>(case: &Case, operands: &'a Operands, variant: usize) -> Option<Cow<'a, [f64]>> {
    if case.contract.op.is_sampled() {
        return (case.params.mode == SddmmMode::AddS).then(|| values_in_order(&operands.a).into());
    }
    case.reads_c().then(|| Cow::Borrowed(&operands.c[variant][..]))
}
