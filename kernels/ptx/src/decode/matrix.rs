//! `mma.sync` and `mma.sp`: the instruction's name for the models, and how many registers its fragments have.
//!
//! ```text
//! mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 d, a, b, c, metadata, selector
//!                                       shape            d   a    b    c
//! ```

use super::builder::Builder;
use super::complaint::wrong;
use super::error::DecodeError;
use super::warp::strange;
use crate::isa::Immediate;
use crate::program::{Act, Mma};
use crate::registers::Class;
use crate::text::{Instruction, Operand};
use sparse_oracle::arithmetic::{Engine, Instruction as Model};
use sparse_oracle::scalar::Precision;

impl<'a> Builder<'a> {
    pub(super) fn mma(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        let model = model(ins.form).ok_or_else(|| strange(ins))?;
        let sparse = model.engine.is_sparse();
        self.exactly(ins, if sparse { 6 } else { 4 })?;
        let Model { m, n, k, input, acc, .. } = model;
        let (m, n, k) = (u32::from(m), u32::from(n), u32::from(k));
        let d = self.fragment(ins, 0, fragment(m * n, acc))?;
        let a = self.fragment(ins, 1, fragment(m * k / if sparse { 2 } else { 1 }, input))?;
        let b = self.fragment(ins, 2, fragment(k * n, input))?;
        let c = self.fragment(ins, 3, fragment(m * n, acc))?;
        let mut metadata = None;
        if sparse {
            let register = self.source(ins, 4, Class::Narrow, Immediate::Integer(32))?;
            metadata = match ins.operands.get(5) {
                Some(Operand::Integer(selector @ 0..=3)) => Some((register, *selector as u8)),
                Some(operand) => return Err(wrong(ins, 5, operand, "a selector from 0 to 3")),
                None => None,
            };
        }
        Ok(Act::Mma(Box::new(Mma { instruction: model, d, a, b, c, metadata })))
    }
}

/// Registers of a lane for so many elements of a matrix, and their class.
pub(super) fn fragment(elements: u32, precision: Precision) -> (usize, Class) {
    let bits = elements * precision.spec().storage_bits / 32;
    if precision == Precision::F64 {
        (bits as usize / 64, Class::Wide)
    } else {
        (bits as usize / 32, Class::Narrow)
    }
}

/// The instruction by its form; nothing where its parts are not those of a matrix instruction that the models have.
fn model(form: &str) -> Option<Model> {
    let engine = match form.split('.').nth(1)? {
        "sync" => Engine::Mma,
        "sp" | "sp::ordered_metadata" => Engine::MmaSparse,
        _ => return None,
    };
    let shape = form.split('.').find_map(Model::parse_shape)?;
    let types: Vec<&str> = form.rsplitn(5, '.').take(4).collect();
    let [c, b, a, d] = types.as_slice() else { return None };
    if a != b || c != d || [shape.0, shape.1, shape.2].iter().any(|side| *side > 256) {
        return None;
    }
    Some(Model::mma(shape, Precision::from_name(d)?, Precision::from_name(a)?).engine(engine))
}
