//! Where variables and parameters lie.
//!
//! ```text
//! param    one after another, each at a multiple of its alignment        shared   static ones, then what is `.extern`
//! local    like param                                                    global   by themselves: the machine gives them addresses
//! ```

use super::error::{DecodeError, DecodeFault, short};
use crate::program::{Global, Placed};
use crate::text::{Initializer, Module, Space, Type, Variable};

/// Bytes of all variables of a module in global memory.
const GLOBALS: usize = 1 << 28;

/// Variables that lie one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    pub(super) placed: Vec<Placed>,
    pub(super) bytes: u32,
}

impl Region {
    /// Lays a variable behind the others and says where it begins.
    pub(super) fn place(&mut self, variable: &Variable<'_>) -> Result<u32, DecodeError> {
        let (what, limit) = match variable.space {
            Space::Param => ("bytes of parameters", 32_764),
            Space::Shared => ("bytes of shared memory", 1 << 24),
            Space::Local => ("bytes of local memory", 1 << 19),
            Space::Global | Space::Const | Space::Generic => ("bytes of variables", 1 << 28),
        };
        let too_much =
            DecodeError { at: variable.at, fault: DecodeFault::Limit { what, limit: u64::from(limit) } };
        let offset = self.bytes.checked_next_multiple_of(variable.align.max(1));
        let bytes = u32::try_from(bytes(variable)).ok();
        let Some((offset, bytes)) = offset.zip(bytes) else { return Err(too_much) };
        match offset.checked_add(bytes) {
            Some(end) if end <= limit => self.bytes = end,
            _ => return Err(too_much),
        }
        self.placed.push(Placed { name: variable.name.into(), offset, bytes });
        Ok(offset)
    }
}

/// Bytes of a variable; 0 where its length is not said.
fn bytes(variable: &Variable<'_>) -> u64 {
    variable.len.unwrap_or(0).saturating_mul(u64::from(variable.ty.bytes()))
}

/// The variables of a module in global and constant memory, with what they hold at first.
pub(super) fn globals(module: &Module<'_>) -> Result<Vec<Global>, DecodeError> {
    let mut room = GLOBALS;
    let mut globals = Vec::new();
    for variable in module.variables.iter().filter(|v| in_global_memory(v)) {
        globals.push(global(variable, &mut room)?);
    }
    Ok(globals)
}

/// Defined here, in global memory or the constants, which lie there too.
pub(super) fn in_global_memory(variable: &Variable<'_>) -> bool {
    matches!(variable.space, Space::Global | Space::Const) && !variable.is_extern
}

/// A variable and its first bytes; `room` counts the bytes that may still be had.
pub(super) fn global(variable: &Variable<'_>, room: &mut usize) -> Result<Global, DecodeError> {
    let fault = |fault| DecodeError { at: variable.at, fault };
    let size = usize::try_from(bytes(variable)).ok().filter(|size| size <= room);
    let Some(size) = size else {
        return Err(fault(DecodeFault::Limit { what: "bytes of global variables", limit: GLOBALS as u64 }));
    };
    *room -= size;
    let mut bytes = Vec::with_capacity(size);
    let width = usize::from(variable.ty.bytes());
    for value in &variable.initial {
        let bits = initial(*value, variable.ty).ok_or_else(|| {
            fault(DecodeFault::NotSupported {
                what: format!("the initial value of '{}'", short(variable.name)),
                help: "only numbers are, of the variable's type; write addresses from a kernel",
            })
        })?;
        bytes.extend(bits.to_le_bytes().iter().take(width));
    }
    bytes.resize(size, 0);
    Ok(Global { name: variable.name.into(), align: variable.align, bytes })
}

/// The bits of an initial value.
fn initial(value: Initializer<'_>, ty: Type) -> Option<u128> {
    match (value, ty) {
        (Initializer::Address(..), _) => None,
        (Initializer::Integer(value), Type::F32) => Some(u128::from((value as f32).to_bits())),
        (Initializer::Integer(value), Type::F64) => Some(u128::from((value as f64).to_bits())),
        (Initializer::Integer(value), _) => Some(value as u128),
        (Initializer::F32(bits), Type::F32 | Type::B32) => Some(u128::from(bits)),
        (Initializer::F32(bits), Type::F64) => Some(u128::from(f64::from(f32::from_bits(bits)).to_bits())),
        (Initializer::F64(bits), Type::F64 | Type::B64) => Some(u128::from(bits)),
        (Initializer::F64(bits), Type::F32) => Some(u128::from((f64::from_bits(bits) as f32).to_bits())),
        (Initializer::F32(_) | Initializer::F64(_), _) => None,
    }
}
