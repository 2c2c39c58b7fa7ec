//! A minimal case as plain arrays: operands in bits, what the result may be, what was found.

use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::determinism::field_bits;
use crate::execute::{Before, execute, output};
use crate::operands::{DenseOperand, Operands};
use crate::reproducer::want::{Want, want};
use crate::response::Response;
use crate::runner::starts;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::Returned;
use sparse_oracle::each_parts;
use sparse_oracle::format::{AnyParts, AnySparse, FieldRef, Fields, FormatKind, Layout};
use sparse_oracle::judge::{ExactOperands, Moved, Place};
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{RawSparse, SddmmMode};
use std::time::Duration;

/// An array by name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub name: String,
    /// `f32`, `u32`: as contracts and case lines call them.
    pub kind: &'static str,
    pub bits: Vec<u64>,
}

/// A parameter of a sparse matrix; flags are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub name: &'static str,
    pub value: u64,
    pub is_flag: bool,
}

/// A sparse operand or result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SparseData {
    pub format: &'static str,
    pub kind: &'static str,
    pub rows: usize,
    pub cols: usize,
    pub arrays: Vec<Array>,
    pub extents: Vec<Extent>,
}

/// A dense operand or result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DenseData {
    pub kind: Precision,
    pub rows: usize,
    pub cols: usize,
    pub ld: usize,
    pub layout: Layout,
    pub bits: Vec<u64>,
}

/// All of a case.
#[derive(Debug)]
pub(super) struct Data {
    pub a: SparseData,
    pub b_sparse: Option<SparseData>,
    pub b: Option<DenseData>,
    pub y: Option<DenseData>,
    /// The dense result before the call.
    pub c: Option<DenseData>,
    /// The elements of the result, in the order of its memory.
    pub wants: Vec<Want>,
    /// The arrays of a sparse result that are the same whatever the rounding.
    pub arrays: Vec<Array>,
    /// What was found instead of a result, or arrays found, in words.
    pub found: Vec<Array>,
}

/// Elements of all arrays together that are embedded; a larger case keeps its line and matrix only.
pub(super) const MOST: usize = 20_000;

impl Data {
    /// Runs the case once more and gathers everything; `None` where it is too large to embed.
    pub(super) fn gather(case: &Case, operands: &Operands, backend: &dyn Backend) -> Option<Data> {
        let c = case.contract.op.is_dense().then(|| output(case, operands, Before::Poison));
        let mut data = Data {
            a: sparse(&operands.a),
            b_sparse: operands.b_sparse.as_ref().map(sparse),
            b: operands.b.as_ref().map(dense),
            y: operands.y.as_ref().map(dense),
            c: c.as_ref().map(dense),
            wants: Vec::new(),
            arrays: Vec::new(),
            found: Vec::new(),
        };
        if data.elements() > MOST {
            return None;
        }
        let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) else {
            return Some(data);
        };
        if case.params.fault.is_none() {
            let declared = (&arithmetic, &profile);
            match case.contract.op.signature().returned {
                Returned::Moved => data.add_move(case, operands, backend, &profile),
                Returned::Product => data.add_product(case, operands, backend, declared),
                Returned::Matrix | Returned::Vector | Returned::Sampled => {
                    data.add_dense(case, operands, backend, declared);
                }
            }
        }
        (data.elements() + data.wants.len() <= MOST).then_some(data)
    }

    fn elements(&self) -> usize {
        let arrays = |list: &[Array]| list.iter().map(|a| a.bits.len()).sum::<usize>();
        let sparse = |s: &SparseData| arrays(&s.arrays);
        let dense = [&self.b, &self.y, &self.c].into_iter().flatten();
        sparse(&self.a)
            + self.b_sparse.as_ref().map_or(0, sparse)
            + dense.map(|d| d.bits.len()).sum::<usize>()
            + arrays(&self.arrays)
            + arrays(&self.found)
    }

    /// The first start from C whose result is wrong or does not come, else the first.
    fn add_dense(
        &mut self,
        case: &Case,
        operands: &Operands,
        backend: &dyn Backend,
        (arithmetic, profile): (&Arithmetic, &Profile),
    ) {
        let Ok(Some(exact)) = ExactOperands::new(&operands.inputs(case), arithmetic, profile) else {
            return;
        };
        let is_sampled = case.contract.op.is_sampled();
        let mut first = None;
        for c in starts(case, operands, profile) {
            let before = Before::of(case, c.as_deref());
            let response = execute(case, operands, backend, before, &mut Duration::default());
            let result = match &response {
                Response::Dense(result) => Some(result),
                _ => None,
            };
            let blank = output(case, operands, before);
            let place = match blank.layout {
                _ if is_sampled => Place::Visited,
                Layout::RowMajor => Place::Strides(blank.ld, 1),
                Layout::ColMajor => Place::Strides(1, blank.ld),
            };
            let found = |at: usize| result.map(|r| r.found().bits(at));
            let wants = wants(case, &exact, (arithmetic, profile), (c.as_deref(), place), found);
            let failed = result.is_none() || wants.iter().any(|w| !w.right);
            if failed || first.is_none() {
                first = Some((dense(&blank), wants));
            }
            if failed {
                break;
            }
        }
        if let Some((c, wants)) = first {
            (self.c, self.wants) = (Some(c), wants);
        }
    }

    fn add_product(
        &mut self,
        case: &Case,
        operands: &Operands,
        backend: &dyn Backend,
        (arithmetic, profile): (&Arithmetic, &Profile),
    ) {
        let Ok(Some(exact)) = ExactOperands::new(&operands.inputs(case), arithmetic, profile) else {
            return;
        };
        let response = execute(case, operands, backend, Before::Poison, &mut Duration::default());
        let mut values = None;
        if let Response::Sparse(raw) = response {
            values = Some(raw.values.clone());
            self.found = raw_arrays(&raw);
        }
        let mut wants = wants(case, &exact, (arithmetic, profile), (None, Place::Visited), |_| None);
        let by_columns = case.contract.format == FormatKind::Csc;
        if by_columns {
            wants.sort_by_key(|w| (w.col, w.row));
        }
        let (major, minor): (Vec<usize>, Vec<usize>) =
            wants.iter().map(|w| if by_columns { (w.col, w.row) } else { (w.row, w.col) }).unzip();
        let b_cols = operands.b_sparse.as_ref().map_or(0, |b| b.shape().1);
        let outer = if by_columns { b_cols } else { operands.a.shape().0 };
        let pointer = (0..=outer).map(|i| major.partition_point(|&m| m < i) as u64);
        let names = if by_columns { ["col_ptr", "row_idx"] } else { ["row_ptr", "col_idx"] };
        let array = |name: &str, bits: Vec<u64>| Array { name: name.to_owned(), kind: "u32", bits };
        self.arrays = vec![
            array(names[0], pointer.collect()),
            array(names[1], minor.iter().map(|&m| m as u64).collect()),
        ];
        let fits = values.as_ref().is_some_and(|v| v.len() == wants.len());
        for (at, want) in wants.iter_mut().enumerate() {
            want.offset = at;
            if let Some(values) = values.as_ref().filter(|_| fits) {
                want.find(values.as_slice().bits(at));
            }
        }
        self.wants = wants;
    }

    fn add_move(&mut self, case: &Case, operands: &Operands, backend: &dyn Backend, profile: &Profile) {
        let moved = Moved::new(&operands.inputs(case), profile);
        if let Some(Ok(expected)) = moved.as_ref().map(Moved::result) {
            self.arrays = sparse(expected).arrays;
        }
        match execute(case, operands, backend, Before::Poison, &mut Duration::default()) {
            Response::Sparse(raw) => self.found = raw_arrays(&raw),
            Response::Parts(parts) => self.found = parts_data(&parts).arrays,
            _ => {}
        }
    }
}

fn wants(
    case: &Case,
    exact: &ExactOperands<'_>,
    (arithmetic, profile): (&Arithmetic, &Profile),
    (c, place): (Option<&[f64]>, Place),
    found: impl Fn(usize) -> Option<u64>,
) -> Vec<Want> {
    let laid_out = exact.as_laid_out(case.contract.format, arithmetic);
    let p = &case.params;
    let reads_s = !case.contract.op.is_sampled() || p.mode == SddmmMode::AddS;
    let c = c.filter(|_| reads_s);
    let mut wants = Vec::new();
    let declared = (&laid_out, profile);
    let around = (c, None);
    let visited =
        exact.for_each_accepted(declared, (p.alpha, p.beta), around, &mut |site, seen, accepted| {
            let offset = place.offset(site.at, seen.number);
            let mut element = want(&accepted, case.contract.types.out, site.at, offset);
            if let Some(bits) = found(offset) {
                element.find(bits);
            }
            wants.push(element);
        });
    if visited.is_err() {
        wants.clear();
    }
    wants
}

/// A dense operand's arrays.
fn dense(operand: &DenseOperand) -> DenseData {
    let slice = operand.data.as_slice();
    DenseData {
        kind: slice.precision(),
        rows: operand.rows,
        cols: operand.cols,
        ld: operand.ld,
        layout: operand.layout,
        bits: (0..slice.len()).map(|at| slice.bits(at)).collect(),
    }
}

fn sparse(matrix: &AnySparse) -> SparseData {
    parts_data(&AnyParts::from(matrix.clone()))
}

fn parts_data(parts: &AnyParts) -> SparseData {
    let kind = parts.precision().name();
    let (rows, cols) = parts.shape();
    let mut data = SparseData { format: parts.kind().name(), kind, rows, cols, ..SparseData::default() };
    each_parts!(parts, p => for (name, field) in p.fields() {
        let kind = match field {
            FieldRef::Extent(_) | FieldRef::Flag(_) => {
                if !matches!(name, "rows" | "cols") {
                    data.extents.push(Extent {
                        name,
                        value: field_bits(&field)[0],
                        is_flag: matches!(field, FieldRef::Flag(_)),
                    });
                }
                continue;
            }
            FieldRef::U8(_) => "u8",
            FieldRef::U16(_) => "u16",
            FieldRef::U32(_) => "u32",
            FieldRef::U64(_) => "u64",
            FieldRef::Values(_) => kind,
        };
        data.arrays.push(Array { name: name.to_owned(), kind, bits: field_bits(&field) });
    });
    data
}

/// What came back unchecked, under the names of its fields there.
fn raw_arrays(raw: &RawSparse) -> Vec<Array> {
    let indices = |name: &str, list: &[u32]| Array {
        name: name.to_owned(),
        kind: "u32",
        bits: list.iter().map(|&x| u64::from(x)).collect(),
    };
    let values = raw.values.as_slice();
    vec![
        indices("offsets", &raw.offsets),
        indices("indices", &raw.indices),
        Array {
            name: "values".to_owned(),
            kind: values.precision().name(),
            bits: (0..values.len()).map(|at| values.bits(at)).collect(),
        },
    ]
}
