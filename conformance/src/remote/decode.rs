//! A `run` message back as a task that owns its arrays (the backend's side, for backends in Rust).

use super::arrays::{Arrays, bad};
use super::frame::FrameError;
use super::header::{DenseHead, Run, SparseHead};
use crate::execute::CANARY;
use crate::manifest::LayoutName;
use sparse_oracle::contract::Contract;
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnyParts, AnySparse, FormatParams, Layout, PARAMETERS, PartsElement};
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element, Precision, Values};
use sparse_oracle::task::{DenseMut, DenseRef, Inputs, Task};
use sparse_oracle::with_scalar;

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
    output: Option<(&'static str, Owned)>,
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
        let (types, signature) = (contract.types, contract.op.signature());
        let sparse = signature.sparse.iter().map(|operand| {
            let name = operand.name;
            let head = run.sparse.get(name).ok_or_else(|| bad(name, "is missing".to_owned()))?;
            matrix(&arrays, name, head, operand.slot.of(&types))
        });
        let sparse = sparse.collect::<Result<_, _>>()?;
        let dense_head = |name: &str| {
            let head = run.dense.get(name).copied();
            head.ok_or_else(|| bad(name, "is missing".to_owned()))
        };
        let dense = signature.dense.iter().map(|operand| {
            let head = dense_head(operand.name)?;
            Ok(Owned { head, values: arrays.values(operand.name, operand.slot.of(&types))? })
        });
        let dense = dense.collect::<Result<_, FrameError>>()?;
        let output = signature.output.map(|name| {
            let head = dense_head(name)?;
            let values = guarded(&arrays.values(name, types.out)?);
            Ok::<_, FrameError>((name, Owned { head, values }))
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
        let (run, op) = (&self.run, self.contract.op);
        let given = |bits: Option<super::header::Bits>, name| {
            bits.map(super::header::Bits::number).ok_or_else(|| missing(name))
        };
        let mut dense = self.dense.iter().map(Owned::as_ref);
        let mut inputs = Inputs {
            b_sparse: self.sparse.get(1),
            b: dense.next(),
            y: dense.next(),
            transpose_a: run.transpose_a,
            transpose_b: run.transpose_b,
            ..Inputs::plain(op, self.sparse.first().ok_or_else(|| missing("a"))?)
        };
        if op.is_dense() {
            (inputs.alpha, inputs.beta) = (given(run.alpha, "alpha")?, given(run.beta, "beta")?);
        }
        if op.signature().has_mode {
            inputs.mode = run.mode.ok_or_else(|| missing("mode"))?.into();
        }
        if op.signature().has_params {
            (inputs.to, inputs.params) = (self.contract.to, params(run)?);
        }
        let output = self.output.as_mut().map(|(_, output)| {
            let DenseHead { rows, cols, ld, .. } = output.head;
            DenseMut { rows, cols, ld, layout: output.layout(), data: inner(&mut output.values) }
        });
        Task::new(inputs, output).map_err(|refusal| bad("the task", refusal.to_string()))
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
