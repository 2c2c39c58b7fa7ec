//! Operands that are numbers as bits, and operands in messages.

use super::error::short;
use crate::isa::Immediate;
use crate::registers::Class;
use crate::text::{Base, Operand};

/// The bits of a number for a source of this class, or nothing where it is no number or does not suit.
pub(super) fn bits(operand: &Operand<'_>, class: Class, immediate: Immediate) -> Option<u64> {
    match (class, operand) {
        (Class::Predicate, Operand::Integer(value)) => Some(u64::from(*value != 0)),
        (Class::Predicate, _) => None,
        (Class::Narrow, _) => number(operand, immediate, 32).map(|bits| bits & u64::from(u32::MAX)),
        (Class::Wide, _) => number(operand, immediate, 64),
    }
}

fn number(operand: &Operand<'_>, immediate: Immediate, register: u8) -> Option<u64> {
    match (operand, immediate) {
        (Operand::Integer(value), Immediate::Integer(width)) => {
            let width = width.min(register).min(64);
            Some(*value as u64 & (u64::MAX >> (64 - u32::from(width.max(1)))))
        }
        (Operand::F32(bits), Immediate::F32) => Some(u64::from(*bits)),
        (Operand::F32(bits), Immediate::F64) => Some(f64::from(f32::from_bits(*bits)).to_bits()),
        (Operand::F64(bits), Immediate::F32) => Some(u64::from((f64::from_bits(*bits) as f32).to_bits())),
        (Operand::F64(bits), Immediate::F64) => Some(*bits),
        // `mov.b32 %r1, 0f3F800000;`: the bits as they are, where as many are wanted.
        (Operand::F32(bits), Immediate::Integer(32)) => Some(u64::from(*bits)),
        (Operand::F64(bits), Immediate::Integer(64)) => Some(*bits),
        _ => None,
    }
}

/// An operand as it is called in messages.
pub(super) fn name(operand: &Operand<'_>) -> String {
    match operand {
        Operand::Name(name) => format!("'{}'", short(name)),
        Operand::Not(name) => format!("'!{}'", short(name)),
        Operand::Sink => "'_'".into(),
        Operand::Pair(first, second) => format!("'{}|{}'", short(first), short(second)),
        Operand::Vector(elements) => format!("a vector of {}", elements.len()),
        Operand::Integer(value) => format!("the number {value}"),
        Operand::F32(bits) => format!("the number 0f{bits:08X}"),
        Operand::F64(bits) => format!("the number 0d{bits:016X}"),
        Operand::Address(Base::Name(name), 0) => format!("'[{}]'", short(name)),
        Operand::Address(Base::Name(name), offset) => format!("'[{}{offset:+}]'", short(name)),
        Operand::Address(Base::None, offset) => format!("'[{offset}]'"),
        Operand::Offset(name, offset) => format!("'{}{offset:+}'", short(name)),
    }
}
