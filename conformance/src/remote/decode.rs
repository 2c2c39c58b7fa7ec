//! A `run` message back as a task that owns its arrays (the backend's side, for backends in Rust).

use super::arrays::{Arrays, bad};
use super::frame::FrameError;
use super::header::{DenseHead, Run, SparseHead};
use crate::execute::CANARY;
use crate::manifest::{LayoutName, ModeName};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnyParts, AnySparse, FormatParams, Layout, PARAMETERS, PartsElement};
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element, Precision, Values};
use sparse_oracle::task::{DenseMut, DenseRef, SddmmMode, Task};
use sparse_oracle::with_scalar;

/// Operands by name, with their element types.
type Names<'a> = &'a [(&'a str, Precision)];

/// Elements of guard on either side of an output.
const GUARD: usize = 64;

/// A dense operand that owns its elements; an output has guards around them.
#[derive(Debug)]
struct Owned {
    head: DenseHead,
    values: Values,
}

impl Owned {
    fn layout(&self) -> Layout {
        match self.head.layout {
            LayoutName::Row => Layout::RowMajor,
            LayoutName::Col => Layout::ColMajor,
        }
    }

    fn as_ref(&self) -> DenseRef<'_> {
        let DenseHead { rows, cols, ld, .. } = self.head;
        DenseRef { rows, cols, ld, layout: self.layout(), data: self.values.as_slice() }
    }
}

/// A request as a backend is given it.
#[derive(Debug)]
pub struct Request {
    /// Its number.
    pub id: u64,
    /// The contract.
    pub contract: Contract,
    sparse: Vec<AnySparse>,
    dense: Vec<Owned>,
    output: Option<(String, Owned)>,
    run: Run,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// An unknown contract, a missing array, one of another type, a matrix that is no valid encoding.
    pub fn decode(run: Run, payload: &[u8]) -> Result<Request, FrameError> {
        let contract = Contract::from_name(&run.contract)
            .ok_or_else(|| bad("contract", format!("{:?} is none of this version's", run.contract)))?;
        let arrays = Arrays::new(&run.arrays, payload)?;
        let types = contract.types;
        let stored = if contract.op == Op::Sddmm { types.out } else { types.a };
        // What each operation has: sparse operands, then dense inputs, then the output.
        let (sparse, inputs, output): (Names<'_>, Names<'_>, _) = match contract.op {
            Op::Spmm => (&[("a", stored)], &[("b", types.b)], Some("c")),
            Op::Spmv => (&[("a", stored)], &[("x", types.b)], Some("y")),
            Op::Sddmm => (&[("s", stored)], &[("x", types.a), ("y", types.b)], Some("out")),
            Op::Spgemm => (&[("a", stored), ("b", types.b)], &[], None),
            Op::Transpose | Op::Convert => (&[("a", stored)], &[], None),
        };
        let sparse = sparse.iter().map(|&(name, precision)| {
            let head = run.sparse.get(name).ok_or_else(|| bad(name, "is missing".to_owned()))?;
            matrix(&arrays, name, head, precision)
        });
        let sparse = sparse.collect::<Result<_, _>>()?;
        let dense_head = |name: &str| {
            let head = run.dense.get(name).copied();
            head.ok_or_else(|| bad(name, "is missing".to_owned()))
        };
        let dense = inputs.iter().map(|&(name, precision)| {
            let (head, values) = (dense_head(name)?, arrays.values(name, precision)?);
            Ok(Owned { head, values })
        });
        let dense = dense.collect::<Result<_, FrameError>>()?;
        let output = output.map(|name| {
            let head = dense_head(name)?;
            let values = guarded(&arrays.values(name, types.out)?);
            Ok::<_, FrameError>((name.to_owned(), Owned { head, values }))
        });
        let output = output.transpose()?;
        Ok(Request { id: run.id, contract, sparse, dense, output, run })
    }

    /// The task, to be handed to a backend.
    ///
    /// # Errors
    /// Operands or factors that the operation needs and that are not there.
    pub fn task(&mut self) -> Result<Task<'_>, FrameError> {
        let missing = |name: &str| bad(name, "is missing".to_owned());
        let factor = |bits: Option<super::header::Bits>, name| {
            bits.map(super::header::Bits::number).ok_or_else(|| missing(name))
        };
        let run = &self.run;
        let a = self.sparse.first().ok_or_else(|| missing("a"))?;
        let mut inputs = self.dense.iter();
        let mut input = |name| inputs.next().ok_or_else(|| missing(name));
        Ok(match (self.contract.op, &mut self.output) {
            (Op::Spmm, Some((_, c))) => Task::Spmm {
                a,
                transpose_a: run.transpose_a,
                b: input("b")?.as_ref(),
                transpose_b: run.transpose_b,
                alpha: factor(run.alpha, "alpha")?,
                beta: factor(run.beta, "beta")?,
                c: DenseMut {
                    rows: c.head.rows,
                    cols: c.head.cols,
                    ld: c.head.ld,
                    layout: c.layout(),
                    data: inner(&mut c.values),
                },
            },
            (Op::Spmv, Some((_, y))) => Task::Spmv {
                a,
                transpose_a: run.transpose_a,
                x: input("x")?.values.as_slice(),
                alpha: factor(run.alpha, "alpha")?,
                beta: factor(run.beta, "beta")?,
                y: inner(&mut y.values),
            },
            (Op::Sddmm, Some((_, out))) => Task::Sddmm {
                s: a,
                x: input("x")?.as_ref(),
                y: input("y")?.as_ref(),
                alpha: factor(run.alpha, "alpha")?,
                beta: factor(run.beta, "beta")?,
                mode: match run.mode.ok_or_else(|| missing("mode"))? {
                    ModeName::Pattern => SddmmMode::Pattern,
                    ModeName::Scale => SddmmMode::Scale,
                    ModeName::AddS => SddmmMode::AddS,
                },
                out: inner(&mut out.values),
            },
            (Op::Spgemm, _) => Task::Spgemm { a, b: self.sparse.get(1).ok_or_else(|| missing("b"))? },
            (Op::Transpose, _) => Task::Transpose { a },
            (Op::Convert, _) => Task::Convert {
                a,
                to: self.contract.to.unwrap_or(self.contract.format),
                params: params(run)?,
            },
            (Op::Spmm | Op::Spmv | Op::Sddmm, None) => return Err(missing("the output")),
        })
    }

    /// The sparse operands.
    pub(super) fn sparse(&self) -> &[AnySparse] {
        &self.sparse
    }

    /// The dense inputs.
    pub(super) fn inputs(&self) -> impl Iterator<Item = AnySlice<'_>> {
        self.dense.iter().map(|dense| dense.values.as_slice())
    }

    /// Name and elements of the output, and the first guard that changed (its offset from the first element).
    pub(super) fn output(&self) -> Option<(&str, &Values, Option<i64>)> {
        let (name, owned) = self.output.as_ref()?;
        let slice = owned.values.as_slice();
        let (len, wanted) = (slice.len(), CANARY);
        let broken = (0..GUARD).chain(len - GUARD..len).find(|&at| slice.bits(at) != wanted);
        Some((name, &owned.values, broken.map(|at| at as i64 - GUARD as i64)))
    }
}

/// The elements of an output between its guards.
pub(super) fn unguarded(values: &Values) -> AnySlice<'_> {
    each_precision!(Values, values, v => Element::wrap_slice(&v[GUARD..v.len() - GUARD]))
}

fn inner(values: &mut Values) -> AnySliceMut<'_> {
    each_precision!(Values, values, v => {
        let end = v.len() - GUARD;
        Element::wrap_slice_mut(&mut v[GUARD..end])
    })
}

fn guarded(values: &Values) -> Values {
    fn around<T: Element>(values: &[T]) -> Values {
        let guard = vec![T::from_bits64(CANARY); GUARD];
        T::wrap([&guard, values, &guard].concat())
    }
    each_precision!(Values, values, v => around(v))
}

fn matrix(
    arrays: &Arrays<'_>,
    name: &str,
    head: &SparseHead,
    precision: Precision,
) -> Result<AnySparse, FrameError> {
    let parts: AnyParts = with_scalar!(precision, T => {
        <T as PartsElement>::any_parts(arrays.parts::<T>(&format!("{name}."), head)?)
    });
    parts.check().map_err(|refusal| bad(name, refusal.to_string()))
}

fn params(run: &Run) -> Result<FormatParams, FrameError> {
    let mut params = FormatParams::default();
    for (name, &value) in &run.params {
        let parameter = PARAMETERS.iter().find(|p| p.name == name.as_str());
        let parameter = parameter.ok_or_else(|| bad(name, "is no parameter of a format".to_owned()))?;
        // Values that a format is not defined for are handed on: refusing them is the backend's work.
        if !parameter.assign(&mut params, value) {
            return Err(bad(name, format!("can't be {value}")));
        }
    }
    Ok(params)
}
