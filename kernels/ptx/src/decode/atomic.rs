//! `atom`, `red` and fences: what their modifiers and operands say.

use super::builder::Builder;
use super::error::DecodeError;
use super::warp::strange;
use super::{order, scopes};
use crate::exec::atomic::operation;
use crate::program::{Act, Atomic, Strong};
use crate::text::{Instruction, Operand, Space};

impl<'a> Builder<'a> {
    /// `atom.global.cas.b32 d, [address], b, c`, `red.global.add.f32 [address], b`.
    pub(super) fn atomic(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        let named = |part: &&str| !(part.starts_with("L2::") || *part == "noftz" || order::is_order(part));
        let mut parts = ins.form.split('.').rev().filter(named);
        let (ty, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let Some((operation, ty)) = operation(name, ty) else { return Err(strange(ins)) };
        let space =
            match ins.form.split('.').find(|part| matches!(*part, "global" | "shared" | "shared::cta")) {
                Some("global") => Space::Global,
                Some(_) => Space::Shared,
                None => Space::Generic,
            };
        let at = usize::from(ins.form.starts_with("atom."));
        self.exactly(ins, at + 1 + operation.operands)?;
        let (address, space) = self.address(ins, at, space)?;
        let (class, immediate) = (scopes::class(ty), scopes::immediate(ty));
        let first = self.source(ins, at + 1, class, immediate)?;
        let second =
            if operation.operands == 2 { self.source(ins, at + 2, class, immediate)? } else { first };
        let d = match ins.operands.first() {
            Some(Operand::Sink) if at == 1 => None,
            _ if at == 1 => Some(self.destination(ins, 0, class)?),
            _ => None,
        };
        let relaxed = Strong { scope: order::scope(ins.form), acquire: false, release: false };
        Ok(Act::Atomic(Box::new(Atomic {
            space,
            width: ty.bytes(),
            updates: [operation.update, operation.in_global.unwrap_or(operation.update)],
            d,
            sources: [first, second],
            address,
            strong: order::strong(ins.form).unwrap_or(relaxed),
            stores: operation.stores,
        })))
    }

    /// `fence.acq_rel.gpu`, `membar.gl`.
    pub(super) fn fence(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 0)?;
        Ok(Act::Fence(order::scope(ins.form)))
    }
}
