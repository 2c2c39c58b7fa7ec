//! Other operands of the same shape and pattern, for calls that run at the same time as the judged one. Their result must differ:
//! otherwise a kernel whose calls share a buffer would be right by chance.

use crate::operands::{DenseOperand, Operands};
use sparse_oracle::each_parts;
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnyParts, AnySparse, FieldMut, Fields};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Element, Scalar, Values};

/// The same with every stored value of A negated, else (where the format has no negative zeros in its pads) of B; without what no call
/// takes: C, which is told each of them, and the calls before.
#[must_use]
pub(crate) fn negated(operands: &Operands) -> Operands {
    let Operands { b_sparse, b, y, result, .. } = operands;
    let a = of_sparse(&operands.a);
    let (b, b_sparse) = match &a {
        Some(_) => (b.as_ref().map(DenseOperand::shared), b_sparse.clone()),
        None => {
            let negated = |b: &AnySparse| of_sparse(b).unwrap_or_else(|| b.clone());
            (b.as_ref().map(of_dense), b_sparse.as_ref().map(negated))
        }
    };
    let a = a.unwrap_or_else(|| operands.a.clone());
    Operands {
        a,
        b_sparse,
        b,
        y: y.as_ref().map(DenseOperand::shared),
        result: *result,
        c: Default::default(),
        earlier: Vec::new(),
    }
}

fn opposite<T: Scalar>(value: T) -> T {
    T::from_f64(-value.to_f64())
}

/// A matrix with every stored value negated; `None` where a format has no such encoding.
pub fn of_sparse(matrix: &AnySparse) -> Option<AnySparse> {
    let mut parts = AnyParts::from(matrix.clone());
    each_parts!(&mut parts, p => for (_, field) in p.fields_mut() {
        if let FieldMut::Values(values) = field {
            values.iter_mut().for_each(|value| *value = opposite(*value));
        }
    });
    parts.check().ok()
}

fn of_dense(dense: &DenseOperand) -> DenseOperand {
    fn all<T: Element>(values: &[T]) -> Values {
        T::wrap(values.iter().map(|&value| opposite(value)).collect())
    }
    let mut other = dense.clone();
    let values = each_precision!(AnySlice, dense.data.as_slice(), v => all(v));
    if !other.data.overwrite(values.as_slice()) {
        other.data = values.into();
    }
    other
}
