//! Memory that several sets of operands stand in one after the other: every array keeps its address, whatever its length.

use super::Earlier;
use crate::operands::{DenseOperand, Operands};
use sparse_oracle::format::{AnyParts, AnySparse, FieldMut, FieldRef, Fields, Parts, Sparse};
use sparse_oracle::refusal::Refusal;

/// Operands whose arrays have room for those of all others.
pub(super) struct Stage {
    operands: Operands,
}

/// Runs `$body` with `$held` and `$with` bound to the typed parts and matrix of the same element type; else does nothing.
macro_rules! both {
    ($parts:expr, $matrix:expr, ($held:ident, $with:ident) => $body:expr) => {
        match ($parts, $matrix) {
            (AnyParts::F64($held), AnySparse::F64($with)) => $body,
            (AnyParts::F32($held), AnySparse::F32($with)) => $body,
            (AnyParts::Tf32($held), AnySparse::Tf32($with)) => $body,
            (AnyParts::F16($held), AnySparse::F16($with)) => $body,
            (AnyParts::Bf16($held), AnySparse::Bf16($with)) => $body,
            (AnyParts::E4m3($held), AnySparse::E4m3($with)) => $body,
            (AnyParts::E5m2($held), AnySparse::E5m2($with)) => $body,
            _ => {}
        }
    };
}

impl Stage {
    /// Memory for all of these. Operands of one contract have the same arrays.
    pub(super) fn new(operands: &Operands, earlier: &[Earlier]) -> Stage {
        let all = || std::iter::once(operands).chain(earlier.iter().map(|e| &e.operands));
        let dense = |of: fn(&Operands) -> Option<&DenseOperand>| {
            let longest = all().filter_map(of).map(|d| d.data.len()).max()?;
            let first = of(operands)?;
            Some(DenseOperand { data: first.data.with_room(longest), ..first.clone() })
        };
        let sparse = |first: &AnySparse, of: fn(&Operands) -> Option<&AnySparse>| {
            let mut parts = AnyParts::from(first.clone());
            for other in all().filter_map(of) {
                both!(&mut parts, other, (held, with) => make_room(held, with));
            }
            // It was a matrix before, and only its capacity has changed.
            parts.check().unwrap_or_else(|_| first.clone())
        };
        let b_sparse = operands.b_sparse.as_ref();
        Stage {
            operands: Operands {
                a: sparse(&operands.a, |o| Some(&o.a)),
                b_sparse: b_sparse.map(|b| sparse(b, |o| o.b_sparse.as_ref())),
                b: dense(|o| o.b.as_ref()),
                y: dense(|o| o.y.as_ref()),
                result: operands.result,
                c: operands.c.clone(),
                earlier: Vec::new(),
            },
        }
    }

    pub(super) fn operands(&self) -> &Operands {
        &self.operands
    }

    pub(super) fn into_operands(self) -> Operands {
        self.operands
    }

    /// The same memory with the contents of other operands.
    ///
    /// # Errors
    /// Arrays that are no matrix; those of operands always are.
    pub(super) fn holding(self, with: &Operands) -> Result<Stage, Refusal> {
        let Operands { a, b_sparse, b, y, .. } = self.operands;
        let b_sparse = b_sparse.zip(with.b_sparse.as_ref());
        Ok(Stage {
            operands: Operands {
                a: refilled(a, &with.a)?,
                b_sparse: b_sparse.map(|(held, with)| refilled(held, with)).transpose()?,
                b: b.zip(with.b.as_ref()).map(|(held, with)| rewritten(held, with)),
                y: y.zip(with.y.as_ref()).map(|(held, with)| rewritten(held, with)),
                result: with.result,
                c: with.c.clone(),
                earlier: Vec::new(),
            },
        })
    }
}

fn refilled(held: AnySparse, with: &AnySparse) -> Result<AnySparse, Refusal> {
    let mut parts = AnyParts::from(held);
    both!(&mut parts, with, (held, with) => refill(held, with));
    parts.check()
}

fn rewritten(mut held: DenseOperand, with: &DenseOperand) -> DenseOperand {
    // There is room for the longest of them, of the same type; else its own memory is the right one.
    if !held.data.overwrite(with.data.as_slice()) {
        return with.clone();
    }
    let DenseOperand { rows, cols, ld, layout, .. } = *with;
    DenseOperand { rows, cols, ld, layout, data: held.data }
}

fn fields<T>(matrix: &Sparse<T>) -> Vec<(&'static str, FieldRef<'_, T>)> {
    sparse_oracle::each_format!(Sparse, matrix, m => Fields::fields(&**m))
}

/// Makes every array at least as long in memory as that of another matrix of the format.
fn make_room<T: Copy>(held: &mut Parts<T>, with: &Sparse<T>) {
    fn room<E>(list: &mut Vec<E>, wanted: usize) {
        list.reserve_exact(wanted.saturating_sub(list.len()));
    }
    for ((_, to), (_, from)) in held.fields_mut().into_iter().zip(fields(with)) {
        match (to, from) {
            (FieldMut::U8(to), FieldRef::U8(from)) => room(to, from.len()),
            (FieldMut::U16(to), FieldRef::U16(from)) => room(to, from.len()),
            (FieldMut::U32(to), FieldRef::U32(from)) => room(to, from.len()),
            (FieldMut::U64(to), FieldRef::U64(from)) => room(to, from.len()),
            (FieldMut::Values(to), FieldRef::Values(from)) => room(to, from.len()),
            _ => {}
        }
    }
}

/// Overwrites every field in place: there is room.
fn refill<T: Copy>(held: &mut Parts<T>, with: &Sparse<T>) {
    fn copy<E: Copy>(to: &mut Vec<E>, from: &[E]) {
        to.clear();
        to.extend_from_slice(from);
    }
    for ((_, to), (_, from)) in held.fields_mut().into_iter().zip(fields(with)) {
        match (to, from) {
            (FieldMut::Extent(to), FieldRef::Extent(from)) => *to = *from,
            (FieldMut::Flag(to), FieldRef::Flag(from)) => *to = *from,
            (FieldMut::U8(to), FieldRef::U8(from)) => copy(to, from),
            (FieldMut::U16(to), FieldRef::U16(from)) => copy(to, from),
            (FieldMut::U32(to), FieldRef::U32(from)) => copy(to, from),
            (FieldMut::U64(to), FieldRef::U64(from)) => copy(to, from),
            (FieldMut::Values(to), FieldRef::Values(from)) => copy(to, from),
            _ => {}
        }
    }
}
