//! `wgmma`: registers, descriptors and the numbers behind them.
//!
//! ```text
//! wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16       d, a, b,              scale-d, scale-a, scale-b, trans-a, trans-b
//! wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16    d, a, b, meta, sel,   scale-d, scale-a, scale-b, trans-a, trans-b
//!                                                         a in registers: no trans-a; tf32: neither
//! ```
//!
//! Source: PTX ISA 9.1, sections 9.7.15.5 and 9.7.15.6.

use super::builder::Builder;
use super::complaint::{count, wrong};
use super::error::DecodeError;
use super::matrix::fragment;
use super::warp::strange;
use crate::isa::Immediate;
use crate::program::{Act, GroupAct, GroupMma, GroupOperand};
use crate::registers::Class;
use crate::text::{Instruction, Operand};
use sparse_oracle::arithmetic::{Engine, Instruction as Model};
use sparse_oracle::scalar::Precision;

impl<'a> Builder<'a> {
    /// `wgmma.fence`, `wgmma.commit_group`, `wgmma.wait_group 1`, `wgmma.mma_async`.
    pub(super) fn group(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        let act = match ins.form.split('.').nth(1) {
            Some("fence") => self.exactly(ins, 0).map(|()| GroupAct::Fence)?,
            Some("commit_group") => self.exactly(ins, 0).map(|()| GroupAct::Commit)?,
            Some("wait_group") => GroupAct::Wait(self.groups(ins)?),
            Some("mma_async") => GroupAct::Multiply(self.group_mma(ins)?),
            _ => return Err(strange(ins)),
        };
        Ok(Act::Group(Box::new(act)))
    }

    fn group_mma(&mut self, ins: &Instruction<'a>) -> Result<GroupMma, DecodeError> {
        let instruction = model(ins.form).ok_or_else(|| strange(ins))?;
        let Model { n, input, acc, .. } = instruction;
        let registers = matches!(ins.operands.get(1), Some(Operand::Vector(_)));
        let numbers = match (input, registers) {
            (Precision::Tf32, _) => 2,
            (_, true) => 3,
            (_, false) => 4,
        };
        let sparse = instruction.engine.is_sparse();
        let first = if sparse { 5 } else { 3 };
        self.exactly(ins, first + 1 + numbers)?;
        let d = self.fragment(ins, 0, fragment(64 * u32::from(n) / 4, acc))?;
        let a = if registers {
            let elements = instruction.products() as u32 * 64 / 4;
            GroupOperand::Registers(self.fragment(ins, 1, fragment(elements, input))?)
        } else {
            GroupOperand::Shared(self.source(ins, 1, Class::Wide, Immediate::Integer(64))?)
        };
        let b = self.source(ins, 2, Class::Wide, Immediate::Integer(64))?;
        let mut metadata = None;
        if sparse {
            let register = self.source(ins, 3, Class::Narrow, Immediate::Integer(32))?;
            let selector = self.choice(ins, 4, &[0, 1], "a selector, 0 or 1,")?;
            metadata = Some((register, selector as u8));
        }
        let adds = self.source(ins, first, Class::Predicate, Immediate::Integer(32))?;
        let signs = [first + 1, first + 2].map(|at| self.choice(ins, at, &[1, -1], "1 or -1"));
        let [of_a, of_b] = signs;
        let negative = of_a? != of_b?;
        let trans = |at: usize| Ok(self.choice(ins, at, &[0, 1], "0 or 1")? == 1);
        let transposed = match (numbers, registers) {
            (3, _) => [false, trans(first + 3)?],
            (4, _) => [trans(first + 3)?, trans(first + 4)?],
            _ => [false, false],
        };
        Ok(GroupMma { instruction, d, a, b, adds, negative, transposed, metadata })
    }

    /// A number out of a few.
    fn choice(
        &self,
        ins: &Instruction<'a>,
        number: usize,
        allowed: &[i128],
        expected: &str,
    ) -> Result<i128, DecodeError> {
        match ins.operands.get(number) {
            Some(Operand::Integer(value)) if allowed.contains(value) => Ok(*value),
            Some(operand) => Err(wrong(ins, number, operand, expected)),
            None => Err(count(ins, "more")),
        }
    }
}

/// The instruction by its form; nothing where its parts are not those of one that the models have.
fn model(form: &str) -> Option<Model> {
    let engine = if form.split('.').nth(2) == Some("sp") { Engine::WgmmaSparse } else { Engine::Wgmma };
    let shape = form.split('.').find_map(Model::parse_shape)?;
    let types: Vec<&str> = form.rsplitn(4, '.').take(3).collect();
    let [b, a, d] = types.as_slice() else { return None };
    if a != b || shape.0 != 64 || shape.1 > 256 || shape.2 > 32 {
        return None;
    }
    Some(Model::mma(shape, Precision::from_name(d)?, Precision::from_name(a)?).engine(engine))
}
