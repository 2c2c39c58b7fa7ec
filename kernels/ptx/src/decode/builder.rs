//! What an entry has become so far: steps, virtual registers and constants; and how operands become slots.
//!
//! ```text
//! %r7             virtual register           a number, %tid.x, a variable's address    virtual register that is never written
//! ```
//!
//! Slots hold virtual registers here, numbered as they are met; [`allocate`](super::allocate) replaces them in the end.

use super::complaint::{expected_register, expected_source, too_few, undeclared, wrong};
use super::error::{DecodeError, DecodeFault};
use super::hash::QuickMap;
use super::number::bits;
use super::scopes::{Labels, Scopes, Symbol, UNSEEN, class};
use crate::isa::Immediate;
use crate::program::{Address, Initial, Special, Step};
use crate::registers::{Class, Slot};
use crate::text::{Base, Instruction, Operand, Place, Space, Type};

/// An entry in the making.
pub(super) struct Builder<'a> {
    pub(super) scopes: Scopes<'a>,
    pub(super) labels: Labels<'a>,
    /// The scope that is open.
    pub(super) scope: u32,
    pub(super) steps: Vec<Step>,
    /// Steps with a guard, and its name.
    pub(super) guards: Vec<(u32, &'a str)>,
    /// Virtual registers so far, by class.
    pub(super) virtuals: [u32; 3],
    /// Those that are written before a warp starts, and never after.
    pub(super) constants: Vec<(Slot, Initial)>,
    numbers: QuickMap<(Class, u64), Slot>,
    specials: Vec<(Special, Slot)>,
    globals: QuickMap<(u32, i64), Slot>,
    /// Names of the variables in global memory.
    pub(super) global_names: Vec<&'a str>,
}

/// A register as an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    pub(super) ty: Type,
    pub(super) slot: Slot,
}

impl<'a> Builder<'a> {
    pub(super) fn new(scopes: Scopes<'a>, labels: Labels<'a>, global_names: Vec<&'a str>) -> Builder<'a> {
        Builder {
            scopes,
            labels,
            scope: 0,
            steps: Vec::new(),
            guards: Vec::new(),
            virtuals: [0; 3],
            constants: Vec::new(),
            numbers: QuickMap::default(),
            specials: Vec::new(),
            globals: QuickMap::default(),
            global_names,
        }
    }

    /// A virtual register of its own.
    pub(super) fn fresh(&mut self, class: Class, at: Place) -> Result<Slot, DecodeError> {
        let next = &mut self.virtuals[class as usize];
        let Ok(index) = u16::try_from(*next) else {
            let fault = DecodeFault::Limit {
                what: "registers and constants of one size that an entry uses",
                limit: 1 << 16,
            };
            return Err(DecodeError { at, fault });
        };
        *next += 1;
        Ok(Slot { class, index })
    }

    /// The register with this name, if there is one.
    pub(super) fn register(&mut self, name: &str, at: Place) -> Result<Option<Register>, DecodeError> {
        let Some((ty, seen)) = self.scopes.register(name) else { return Ok(None) };
        let (class, number) = (class(ty), *seen);
        if number != UNSEEN {
            return Ok(Some(Register { ty, slot: Slot { class, index: number as u16 } }));
        }
        let slot = self.fresh(class, at)?;
        if let Some((_, seen)) = self.scopes.register(name) {
            *seen = u32::from(slot.index);
        }
        Ok(Some(Register { ty, slot }))
    }

    /// The slot of a number.
    pub(super) fn number(&mut self, class: Class, bits: u64, at: Place) -> Result<Slot, DecodeError> {
        if let Some(slot) = self.numbers.get(&(class, bits)) {
            return Ok(*slot);
        }
        let slot = self.constant(class, Initial::Bits(bits), at)?;
        self.numbers.insert((class, bits), slot);
        Ok(slot)
    }

    fn constant(&mut self, class: Class, initial: Initial, at: Place) -> Result<Slot, DecodeError> {
        let slot = self.fresh(class, at)?;
        self.constants.push((slot, initial));
        Ok(slot)
    }

    /// The slot of a special register.
    fn special(&mut self, special: Special, at: Place) -> Result<Slot, DecodeError> {
        if let Some((_, slot)) = self.specials.iter().find(|(known, _)| *known == special) {
            return Ok(*slot);
        }
        let slot = self.constant(Class::Narrow, Initial::Special(special), at)?;
        self.specials.push((special, slot));
        Ok(slot)
    }

    /// The slot of an address in global memory.
    fn global(&mut self, variable: u32, offset: i64, at: Place) -> Result<Slot, DecodeError> {
        if let Some(slot) = self.globals.get(&(variable, offset)) {
            return Ok(*slot);
        }
        let name = self.global_names.get(variable as usize).copied().unwrap_or_default();
        let slot = self.constant(Class::Wide, Initial::Global(name.into(), offset), at)?;
        self.globals.insert((variable, offset), slot);
        Ok(slot)
    }

    /// A source of this class.
    pub(super) fn source(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        class: Class,
        immediate: Immediate,
    ) -> Result<Slot, DecodeError> {
        let Some(operand) = ins.operands.get(number) else { return Err(too_few(ins, number)) };
        self.value(ins, number, operand, class, immediate)
    }

    /// A source, or an element of one.
    pub(super) fn value(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        operand: &Operand<'a>,
        class: Class,
        immediate: Immediate,
    ) -> Result<Slot, DecodeError> {
        let (name, offset) = match operand {
            Operand::Name(name) => (*name, 0),
            Operand::Offset(name, offset) => (*name, *offset),
            _ => {
                return match bits(operand, class, immediate) {
                    Some(bits) => self.number(class, bits, ins.at),
                    None => Err(self.misfit(ins, number, operand, expected_source(class))),
                };
            }
        };
        if let Some(register) = self.register(name, ins.at)? {
            let fits = register.slot.class == class && offset == 0;
            return if fits {
                Ok(register.slot)
            } else {
                Err(self.misfit(ins, number, operand, expected_source(class)))
            };
        }
        if name == "WARP_SZ" {
            return self.number(class, 32, ins.at);
        }
        if let Some(symbol) = self.scopes.symbol(name) {
            return self.address_of(ins, number, operand, (symbol, offset), class);
        }
        let special = name.starts_with('%').then(|| special(name)).flatten();
        match special {
            Some(_) if !reads_specials(ins.form) => Err(wrong(ins, number, operand, SPECIAL)),
            Some(special) if class == Class::Narrow => self.special(special, ins.at),
            Some(_) => Err(wrong(ins, number, operand, expected_source(class))),
            None => Err(undeclared(ins, name)),
        }
    }

    /// A variable's address as a value.
    fn address_of(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        operand: &Operand<'a>,
        (symbol, offset): (Symbol, i64),
        class: Class,
    ) -> Result<Slot, DecodeError> {
        match (symbol.global, class) {
            (_, Class::Predicate) => Err(wrong(ins, number, operand, expected_source(class))),
            (Some(_), Class::Narrow) => {
                Err(wrong(ins, number, operand, "something of 32 bits (an address in global memory has 64)"))
            }
            (Some(variable), Class::Wide) => self.global(variable, offset, ins.at),
            (None, Class::Narrow) => {
                let address = i64::from(symbol.offset).wrapping_add(offset) as u32;
                self.number(class, u64::from(address), ins.at)
            }
            (None, Class::Wide) => {
                let address = i64::from(symbol.offset).wrapping_add(offset) as u64;
                self.number(class, address, ins.at)
            }
        }
    }

    /// Where a result of this class goes.
    pub(super) fn destination(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        class: Class,
    ) -> Result<Slot, DecodeError> {
        match ins.operands.get(number) {
            Some(operand) => self.result(ins, number, operand, class),
            None => Err(too_few(ins, number)),
        }
    }

    /// A destination, or an element of one; a result that is not wanted goes to a register of its own.
    pub(super) fn result(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        operand: &Operand<'a>,
        class: Class,
    ) -> Result<Slot, DecodeError> {
        match operand {
            Operand::Sink => self.fresh(class, ins.at),
            Operand::Name(name) => match self.register(name, ins.at)? {
                Some(register) if register.slot.class == class => Ok(register.slot),
                Some(_) => Err(self.misfit(ins, number, operand, expected_register(class))),
                None if self.scopes.symbol(name).is_some() || special(name).is_some() => {
                    Err(wrong(ins, number, operand, expected_register(class)))
                }
                None => Err(undeclared(ins, name)),
            },
            _ => Err(wrong(ins, number, operand, expected_register(class))),
        }
    }

    /// A register that must be one, of whatever class.
    pub(super) fn any_register(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        operand: &Operand<'a>,
    ) -> Result<Register, DecodeError> {
        let Operand::Name(name) = operand else { return Err(wrong(ins, number, operand, "a register")) };
        match self.register(name, ins.at)? {
            Some(register) => Ok(register),
            None => Err(undeclared(ins, name)),
        }
    }

    /// `d` or `d|second`.
    pub(super) fn pair(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        classes: [Class; 2],
    ) -> Result<(Slot, Option<Slot>), DecodeError> {
        let Some(Operand::Pair(first, second)) = ins.operands.get(number) else {
            return Ok((self.destination(ins, number, classes[0])?, None));
        };
        let mut part = |name: &&'a str, class| {
            let operand = if *name == "_" { Operand::Sink } else { Operand::Name(name) };
            self.result(ins, number, &operand, class)
        };
        Ok((part(first, classes[0])?, Some(part(second, classes[1])?)))
    }

    /// `[base + offset]` in this space.
    pub(super) fn address(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        space: Space,
    ) -> Result<(Address, Space), DecodeError> {
        let operand = ins.operands.get(number).ok_or_else(|| too_few(ins, number))?;
        let Operand::Address(base, offset) = operand else {
            return Err(wrong(ins, number, operand, "an address in brackets"));
        };
        let Base::Name(name) = *base else { return Ok((Address { base: None, offset: *offset }, space)) };
        if let Some(register) = self.register(name, ins.at)? {
            return match register.slot.class {
                Class::Predicate => Err(wrong(ins, number, operand, "an address")),
                Class::Narrow | Class::Wide => {
                    Ok((Address { base: Some(register.slot), offset: *offset }, space))
                }
            };
        }
        let Some(symbol) = self.scopes.symbol(name) else { return Err(undeclared(ins, name)) };
        // Global addresses are generic ones; those of other spaces are not.
        if symbol.space != space && !(symbol.global.is_some() && space == Space::Generic) {
            let expected =
                format!("a variable in {} memory (this one is in {})", space.name(), symbol.space.name());
            return Err(wrong(ins, number, operand, &expected));
        }
        Ok(match symbol.global {
            Some(variable) => {
                (Address { base: Some(self.global(variable, 0, ins.at)?), offset: *offset }, symbol.space)
            }
            None => (Address { base: None, offset: offset.wrapping_add(i64::from(symbol.offset)) }, space),
        })
    }
}

/// What belongs where a special register stands.
const SPECIAL: &str = "a register that 'mov' has brought the special register into,";

/// Whether the assembler takes special registers as sources: in `mov`, and in `cvt` from integer to integer.
fn reads_specials(form: &str) -> bool {
    let mut parts = form.split('.');
    let integers = |part: &str| !matches!(part, "f16" | "f16x2" | "bf16" | "bf16x2" | "tf32" | "f32" | "f64");
    matches!(parts.next(), Some("mov" | "cvt")) && parts.all(integers)
}

/// The special register with this name.
fn special(name: &str) -> Option<Special> {
    let (family, dimension) = match name.split_once('.') {
        Some((family, "x")) => (family, Some(0)),
        Some((family, "y")) => (family, Some(1)),
        Some((family, "z")) => (family, Some(2)),
        Some(_) => return None,
        None => (name, None),
    };
    match (family, dimension) {
        ("%tid", Some(d)) => Some(Special::Thread(d)),
        ("%ntid", Some(d)) => Some(Special::Threads(d)),
        ("%ctaid", Some(d)) => Some(Special::Block(d)),
        ("%nctaid", Some(d)) => Some(Special::Blocks(d)),
        ("%laneid", None) => Some(Special::Lane),
        ("%warpid", None) => Some(Special::Warp),
        _ => None,
    }
}
