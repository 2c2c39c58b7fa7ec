//! Operands that are wrong, and how that is said.

use super::error::{DecodeError, DecodeFault, short};
use super::number::name as called;
use crate::registers::Class;
use crate::text::{Instruction, Operand};

pub(super) const fn expected_source(class: Class) -> &'static str {
    match class {
        Class::Predicate => "a predicate",
        Class::Narrow => "a register of up to 32 bits, or a number that it can hold,",
        Class::Wide => "a register of 64 bits, or a number that it can hold,",
    }
}

pub(super) const fn expected_register(class: Class) -> &'static str {
    match class {
        Class::Predicate => "a predicate",
        Class::Narrow => "a register of up to 32 bits",
        Class::Wide => "a register of 64 bits",
    }
}

pub(super) fn undeclared(ins: &Instruction<'_>, name: &str) -> DecodeError {
    let fault = match super::known::register(name) {
        Some(help) => DecodeFault::NotSupported { what: format!("'{}'", short(name)), help },
        None => DecodeFault::Undeclared { name: short(name) },
    };
    DecodeError { at: ins.at, fault }
}

/// There is no operand with this number.
pub(super) fn too_few(ins: &Instruction<'_>, number: usize) -> DecodeError {
    count(ins, &format!("at least {}", number + 1))
}

/// So many operands are wrong.
pub(super) fn count(ins: &Instruction<'_>, expected: &str) -> DecodeError {
    let (form, found) = (short(ins.form), ins.operands.len());
    DecodeError { at: ins.at, fault: DecodeFault::Count { form, found, expected: expected.into() } }
}

/// Operand `number`, from 0, is something else.
pub(super) fn wrong(
    ins: &Instruction<'_>,
    number: usize,
    operand: &Operand<'_>,
    expected: &str,
) -> DecodeError {
    let (form, expected) = (short(ins.form), expected.into());
    let fault = DecodeFault::Operand { form, number: number + 1, found: called(operand), expected };
    DecodeError { at: ins.at, fault }
}
