//! What a warp does as a whole, and where it goes: `shfl`, `vote`, `redux`, barriers, `bra`.

use super::builder::Builder;
use super::complaint::{count, wrong};
use super::error::{DecodeError, DecodeFault, short};
use crate::isa::Immediate;
use crate::program::{Act, Reduction, ShuffleKind, VoteKind};
use crate::registers::{Class, Slot};
use crate::text::{Instruction, Operand};

impl<'a> Builder<'a> {
    /// A number of 32 bits.
    fn narrow(&mut self, ins: &Instruction<'a>, number: usize) -> Result<Slot, DecodeError> {
        self.source(ins, number, Class::Narrow, Immediate::Integer(32))
    }

    /// `shfl.sync.idx.b32 d|p, a, lane, clamp, members`.
    pub(super) fn shuffle(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 5)?;
        let kind = match ins.form.split('.').nth(2) {
            Some("up") => ShuffleKind::Up,
            Some("down") => ShuffleKind::Down,
            Some("bfly") => ShuffleKind::Butterfly,
            Some("idx") => ShuffleKind::Index,
            _ => return Err(strange(ins)),
        };
        let sources =
            [self.narrow(ins, 1)?, self.narrow(ins, 2)?, self.narrow(ins, 3)?, self.narrow(ins, 4)?];
        let (d, within) = self.pair(ins, 0, [Class::Narrow, Class::Predicate])?;
        Ok(Act::Shuffle { kind, d, within, sources })
    }

    /// `vote.sync.ballot.b32 d, !p, members`.
    pub(super) fn vote(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 3)?;
        let (kind, class) = match ins.form.split('.').nth(2) {
            Some("all") => (VoteKind::All, Class::Predicate),
            Some("any") => (VoteKind::Any, Class::Predicate),
            Some("uni") => (VoteKind::Uniform, Class::Predicate),
            Some("ballot") => (VoteKind::Ballot, Class::Narrow),
            _ => return Err(strange(ins)),
        };
        let d = self.destination(ins, 0, class)?;
        let (operand, negated) = match ins.operands.get(1) {
            Some(Operand::Not(name)) => (Operand::Name(name), true),
            Some(operand) => (operand.clone(), false),
            None => return Err(count(ins, "3")),
        };
        let predicate = self.value(ins, 1, &operand, Class::Predicate, Immediate::Integer(32))?;
        Ok(Act::Vote { kind, d, predicate, negated, members: self.narrow(ins, 2)? })
    }

    /// `redux.sync.max.u32 d, a, members`.
    pub(super) fn reduce(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 3)?;
        let signed = ins.form.ends_with(".s32");
        let reduction = match ins.form.split('.').nth(2) {
            Some("add") => Reduction::Add,
            Some("min") => Reduction::Min { signed },
            Some("max") => Reduction::Max { signed },
            Some("and") => Reduction::And,
            Some("or") => Reduction::Or,
            Some("xor") => Reduction::Xor,
            _ => return Err(strange(ins)),
        };
        let d = self.destination(ins, 0, Class::Narrow)?;
        Ok(Act::Reduce { reduction, d, source: self.narrow(ins, 1)?, members: self.narrow(ins, 2)? })
    }

    /// `bar.warp.sync members`.
    pub(super) fn warp_barrier(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 1)?;
        Ok(Act::WarpBarrier { members: self.narrow(ins, 0)? })
    }

    /// `bar.sync number`, `barrier.sync number, threads`: the first promises what `.aligned` promises.
    pub(super) fn barrier(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        if !matches!(ins.operands.len(), 1 | 2) {
            return Err(count(ins, "1 or 2"));
        }
        // As the assembler does it, of 32 bits. What registers hold, the machine checks.
        if let Some(operand @ Operand::Integer(number)) = ins.operands.first()
            && *number as u32 > 15
        {
            return Err(wrong(ins, 0, operand, "the number of a barrier, from 0 to 15,"));
        }
        if let Some(operand @ Operand::Integer(threads)) = ins.operands.get(1)
            && !(*threads as u32).is_multiple_of(32)
        {
            return Err(wrong(ins, 1, operand, "a number of threads that is a multiple of 32"));
        }
        let number = self.narrow(ins, 0)?;
        let threads = if ins.operands.len() == 2 { Some(self.narrow(ins, 1)?) } else { None };
        let aligned = ins.form.starts_with("bar.") || ins.form.ends_with(".aligned");
        Ok(Act::Barrier { aligned, number, threads })
    }

    /// `bra label`; the target is the label's number until all labels have their places.
    pub(super) fn branch(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 1)?;
        match ins.operands.first() {
            Some(Operand::Name(name)) => match self.labels.find(self.scope, name) {
                Some(target) => Ok(Act::Branch { target, uniform: ins.form.ends_with(".uni") }),
                None => Err(DecodeError { at: ins.at, fault: DecodeFault::Label { name: short(name) } }),
            },
            Some(operand) => Err(wrong(ins, 0, operand, "a label")),
            None => Err(count(ins, "1")),
        }
    }
}

/// The table has a form of which decoding knows nothing.
pub(super) fn strange(ins: &Instruction<'_>) -> DecodeError {
    let what = format!("'{}'", short(ins.form));
    DecodeError {
        at: ins.at,
        fault: DecodeFault::NotSupported { what, help: "its modifiers are unknown here" },
    }
}
