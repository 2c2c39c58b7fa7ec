//! `ld`, `st`, `cp.async`, `ldmatrix`: what their modifiers and operands say.

use super::builder::Builder;
use super::complaint::{count, too_few, wrong};
use super::error::{DecodeError, DecodeFault, short};
use super::order;
use crate::isa::Immediate;
use crate::program::{Access, Act, CopyAsync, Strong};
use crate::registers::{Class, Slot};
use crate::text::{Instruction, Operand, Space, Type};

/// What the modifiers of `ld` and `st` say.
#[derive(Clone, Copy)]
pub(super) struct Modifiers {
    pub(super) space: Space,
    count: u8,
    ty: Type,
    read_only: bool,
    strong: Option<Strong>,
}

/// Reads them one by one; nothing where one is strange or the type is missing.
pub(super) fn modifiers(form: &str) -> Option<Modifiers> {
    let (mut space, mut count, mut ty, mut read_only) = (Space::Generic, 1, None, false);
    for part in form.split('.').skip(1) {
        match part {
            "global" => space = Space::Global,
            "shared" | "shared::cta" => space = Space::Shared,
            "local" => space = Space::Local,
            "param" | "param::entry" => space = Space::Param,
            "const" => space = Space::Const,
            "nc" => read_only = true,
            "v2" => count = 2,
            "v4" => count = 4,
            "v8" => count = 8,
            _ if order::is_modifier(part) => {}
            _ => ty = Some(Type::from_name(part)?),
        }
    }
    Some(Modifiers { space, count, ty: ty?, read_only, strong: order::strong(form) })
}

impl<'a> Builder<'a> {
    /// `ld.global.v2.u32 {a, b}, [address]`.
    pub(super) fn load(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.access(ins, 0, 1).map(Act::Load)
    }

    /// `st.global.v2.u32 [address], {a, b}`.
    pub(super) fn store(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.access(ins, 1, 0).map(Act::Store)
    }

    /// Registers are operand `data`, the address is operand `at`.
    fn access(&mut self, ins: &Instruction<'a>, data: usize, at: usize) -> Result<Access, DecodeError> {
        self.exactly(ins, 2)?;
        let Some(Modifiers { space, count, ty, read_only, strong }) = modifiers(ins.form) else {
            let what = format!("'{}'", short(ins.form));
            let help = "its modifiers are not those of a plain access";
            return Err(DecodeError { at: ins.at, fault: DecodeFault::NotSupported { what, help } });
        };
        let (address, space) = self.address(ins, at, space)?;
        let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
        let mut access = Access {
            space,
            width: ty.bytes(),
            signed,
            count,
            data: [Slot::narrow(0); 8],
            address,
            read_only,
            strong,
        };
        let Some(operand) = ins.operands.get(data) else { return Ok(access) };
        let elements = match operand {
            Operand::Vector(elements) => elements.as_slice(),
            single => std::slice::from_ref(single),
        };
        if elements.len() != usize::from(count) {
            let expected = if count == 1 { "one register".into() } else { format!("a vector of {count}") };
            return Err(wrong(ins, data, operand, &expected));
        }
        for (element, slot) in elements.iter().zip(&mut access.data) {
            *slot = self.element(ins, data, element, ty)?;
        }
        Ok(access)
    }

    /// A register that an element of memory is loaded to or stored from; a store takes numbers too.
    fn element(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        operand: &Operand<'a>,
        ty: Type,
    ) -> Result<Slot, DecodeError> {
        let class = super::scopes::class(ty);
        match operand {
            Operand::Name(_) => {
                let register = self.any_register(ins, number, operand)?;
                if register.ty.bytes() >= ty.bytes() && register.slot.class != Class::Predicate {
                    return Ok(register.slot);
                }
                let expected = format!("a register of at least {} bits", u32::from(ty.bytes()) * 8);
                Err(wrong(ins, number, operand, &expected))
            }
            Operand::Sink if number == 0 => self.fresh(class, ins.at),
            _ if number == 1 => {
                let immediate = super::scopes::immediate(ty);
                self.value(ins, number, operand, class, immediate)
            }
            _ => Err(wrong(ins, number, operand, "a register")),
        }
    }

    /// `cp.async.cg.shared.global [to], [from], 16, %r1`.
    pub(super) fn copy(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        if !matches!(ins.operands.len(), 3 | 4) {
            return Err(count(ins, "3 or 4"));
        }
        let (to, _) = self.address(ins, 0, Space::Shared)?;
        let (from, _) = self.address(ins, 1, Space::Global)?;
        let whole = ins.form.split('.').any(|part| part == "cg");
        let bytes = match ins.operands.get(2) {
            Some(Operand::Integer(bytes @ (4 | 8))) if !whole => *bytes as u8,
            Some(Operand::Integer(16)) => 16,
            Some(operand) => return Err(wrong(ins, 2, operand, if whole { "16" } else { "4, 8 or 16" })),
            None => return Err(count(ins, "3 or 4")),
        };
        let mut source_bytes = None;
        if ins.operands.len() == 4 {
            source_bytes = Some(self.source(ins, 3, Class::Narrow, Immediate::Integer(32))?);
        }
        Ok(Act::Copy(CopyAsync { bytes, source_bytes, to, from }))
    }

    /// `cp.async.wait_group 1`, `cp.async.wait_all`.
    pub(super) fn wait(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        if ins.form.ends_with("wait_all") {
            self.exactly(ins, 0)?;
            return Ok(Act::Wait(None));
        }
        self.groups(ins).map(|groups| Act::Wait(Some(groups)))
    }

    /// The one operand of a wait: how many groups may be open.
    pub(super) fn groups(&self, ins: &Instruction<'a>) -> Result<u32, DecodeError> {
        self.exactly(ins, 1)?;
        match ins.operands.first() {
            Some(Operand::Integer(groups)) if u32::try_from(*groups).is_ok() => Ok(*groups as u32),
            Some(operand) => Err(wrong(ins, 0, operand, "a number of groups")),
            None => Err(count(ins, "1")),
        }
    }

    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {a, b, c, d}, [address]`.
    pub(super) fn load_matrix(&mut self, ins: &Instruction<'a>) -> Result<Act, DecodeError> {
        self.exactly(ins, 2)?;
        let (mut matrices, mut transposed) = (1, false);
        for part in ins.form.split('.') {
            match part {
                "x2" => matrices = 2,
                "x4" => matrices = 4,
                "trans" => transposed = true,
                _ => {}
            }
        }
        let d = self.fragment(ins, 0, (matrices, Class::Narrow))?;
        let (address, _) = self.address(ins, 1, Space::Shared)?;
        Ok(Act::LoadMatrix { d, transposed, address })
    }

    /// So many registers in braces; one may stand without.
    pub(super) fn fragment(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        (registers, class): (usize, Class),
    ) -> Result<Vec<Slot>, DecodeError> {
        let Some(operand) = ins.operands.get(number) else {
            return Err(too_few(ins, number));
        };
        let elements = match operand {
            Operand::Vector(elements) => elements.as_slice(),
            single => std::slice::from_ref(single),
        };
        if elements.len() != registers {
            let expected =
                if registers == 1 { "one register".into() } else { format!("a vector of {registers}") };
            return Err(wrong(ins, number, operand, &expected));
        }
        if number > 0 && elements.contains(&Operand::Sink) {
            return Err(wrong(ins, number, operand, "a vector of registers that hold something"));
        }
        elements.iter().map(|element| self.result(ins, number, element, class)).collect()
    }
}
