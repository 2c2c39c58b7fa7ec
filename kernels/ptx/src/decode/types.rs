//! Types of registers: which ones an instruction takes, by the types in its form.
//!
//! ```text
//! register      .b32                .u32 .s32          .f32             .f16x2                        .pred
//! goes where    anything of 32      integers of 32     .f32, .b32       .f16x2, .b32, integers        .pred
//! ```
//!
//! `.bN` agrees with any type of N bits but predicates, signed integers with unsigned ones, a float only with the same float and with
//! `.bN`. Registers that hold bf16, bf16x2 and tf32 are `.b16` and `.b32`. `ld`, `st` and `cvt` also take registers that are wider.
//! The rules were compared with those of `ptxas` 13.0 for each form of the table, each operand and each type of registers; where `ptxas`
//! takes more than PTX says, so does this.

use super::builder::Builder;
use super::complaint::wrong;
use super::error::{DecodeError, DecodeFault, short};
use crate::text::{Base, Instruction, Operand, Space, Type};

/// What a register may hold, beside its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Anything.
    Bits,
    /// An integer, signed or not.
    Integer,
    /// An integer that counts or selects: as [`Holds::Integer`], but no `.f16x2`.
    Count,
    /// This float.
    Float(Type),
    /// A type that no register has: only bits will do.
    Nameless(&'static str),
}

/// Registers that are wider than the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wider {
    /// None.
    No,
    /// `cvt`: those of bits, and of integers for an integer.
    Converted,
    /// `ld` and `st`: as `cvt`, and all where the type is one of bits.
    Memory,
}

/// What an operand must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    bits: u32,
    holds: Holds,
    wider: Wider,
}

/// What each operand of a form must be; `None` is anything. The last one stands for all that follow.
type Signature = [Option<Wanted>; 5];

/// Any register of 32 bits that holds an integer: counts, distances, masks of members.
const COUNT: Option<Wanted> = Some(Wanted { bits: 32, holds: Holds::Count, wider: Wider::No });
/// Any register of 32 bits.
const WORD: Option<Wanted> = Some(Wanted { bits: 32, holds: Holds::Bits, wider: Wider::No });

impl Wanted {
    /// By the name of a type in a form; nothing for predicates, which are told apart by their class.
    fn of(name: &str) -> Option<Wanted> {
        let (bits, holds) = match name {
            "bf16" => (16, Holds::Nameless("bf16")),
            "bf16x2" => (32, Holds::Nameless("bf16x2")),
            "tf32" => (32, Holds::Nameless("tf32")),
            _ => {
                let ty = Type::from_name(name).filter(|ty| *ty != Type::Pred)?;
                (u32::from(ty.bytes()) * 8, holds(ty))
            }
        };
        Some(Wanted { bits, holds, wider: Wider::No })
    }

    fn takes(self, register: Type) -> bool {
        let (bits, held) = (u32::from(register.bytes()) * 8, holds(register));
        if register == Type::Pred {
            return true;
        }
        if bits > self.bits {
            return match (self.wider, self.holds, held) {
                (Wider::No, ..) => false,
                (_, _, Holds::Bits) | (_, Holds::Integer, Holds::Integer) => true,
                (Wider::Memory, Holds::Bits, _) => true,
                (_, Holds::Integer, Holds::Float(Type::F16x2)) => true,
                _ => false,
            };
        }
        let agree = match (self.holds, held) {
            (Holds::Bits, _) | (_, Holds::Bits) | (Holds::Count, Holds::Integer) => true,
            (Holds::Integer, Holds::Float(Type::F16x2)) => true,
            (wanted, held) => wanted == held,
        };
        bits == self.bits && agree
    }

    fn words(self) -> String {
        let bits = self.bits;
        let types = match self.holds {
            Holds::Bits => format!("one of {bits} bits"),
            Holds::Integer | Holds::Count => format!("'.b{bits}', '.u{bits}' or '.s{bits}'"),
            Holds::Float(ty) => format!("'.{}' or '.b{bits}'", ty.name()),
            Holds::Nameless(what) => format!("'.b{bits}' (for {what})"),
        };
        let wider = match self.wider {
            Wider::No => "",
            Wider::Converted | Wider::Memory => ", or a wider one of bits or integers",
        };
        format!("{types}{wider}")
    }
}

fn holds(ty: Type) -> Holds {
    match ty {
        Type::Pred | Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => Holds::Bits,
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => Holds::Integer,
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => Holds::Integer,
        Type::F16 | Type::F16x2 | Type::F32 | Type::F64 => Holds::Float(ty),
    }
}

/// What the operands of a form must be.
fn signature(form: &str) -> Signature {
    let (mut first, mut last) = (None, None);
    let (mut wide, mut exact) = (false, false);
    let mut parts = form.split('.');
    let opcode = parts.next().unwrap_or_default();
    for part in parts {
        wide |= part == "wide";
        exact |= matches!(part, "bf16" | "bf16x2" | "tf32");
        let wanted = Wanted::of(part);
        first = first.or(wanted);
        last = wanted.or(last);
    }
    let t = last;
    match opcode {
        "mul" | "mad" if wide => {
            let double = t.map(|wanted| Wanted { bits: wanted.bits * 2, ..wanted });
            [double, t, t, double, None]
        }
        "popc" | "clz" | "bfind" => [COUNT, t, None, None, None],
        "testp" => [None, t, None, None, None],
        "shl" | "shr" => [t, t, COUNT, None, None],
        "shf" => [t, t, t, COUNT, None],
        "bfe" => [t, t, COUNT, COUNT, None],
        "bfi" => [t, t, t, COUNT, COUNT],
        "slct" => [first, first, first, t, None],
        "setp" => [None, t, t, None, None],
        "set" => [first, t, t, None, None],
        "cvt" => {
            let wider = if exact { Wider::No } else { Wider::Converted };
            let [to, from] = [first, t].map(|wanted| wanted.map(|wanted| Wanted { wider, ..wanted }));
            [to, from, from, None, None]
        }
        "ld" | "st" => [t.map(|wanted| Wanted { wider: Wider::Memory, ..wanted }); 5],
        "shfl" => [WORD, WORD, WORD, WORD, COUNT],
        "vote" => [WORD, None, COUNT, None, None],
        "redux" => [COUNT; 5],
        "bar" | "barrier" => [COUNT; 5],
        "cp" => [None, None, None, COUNT, None],
        "mma" => matrix(form),
        "wgmma" if form.starts_with("wgmma.mma_async") => group(form),
        "wgmma" | "fence" | "ldmatrix" | "bra" | "ret" | "exit" => [None; 5],
        _ => [t; 5],
    }
}

/// `mma.sync. .. .d.a.b.c`: of `mma.sp`, the assembler looks at A and B only.
fn matrix(form: &str) -> Signature {
    let pairs = |name: &str| match name {
        "f16" => Wanted::of("f16x2"),
        "bf16" => Wanted::of("b32").map(|wanted| Wanted { holds: Holds::Nameless("bf16x2"), ..wanted }),
        "f64" => Wanted::of("b64"),
        other => Wanted::of(other),
    };
    let mut types = form.rsplit('.');
    let [c, b, a, d] = [types.next(), types.next(), types.next(), types.next()];
    let [d, a, b, c] = [d, a, b, c].map(|name| name.and_then(pairs));
    if form.starts_with("mma.sp") { [None, a, b, None, None] } else { [d, a, b, c, None] }
}

/// `wgmma.mma_async. .. .d.a.b`: vectors of D and A; what is no vector is a descriptor.
fn group(form: &str) -> Signature {
    let d = if form.contains(".f16.f16.f16") { "f16x2" } else { "f32" };
    [Wanted::of(d), Wanted::of("f16x2"), None, None, None]
}

/// A descriptor of a matrix in shared memory.
const DESCRIPTOR: Option<Wanted> = Some(Wanted { bits: 64, holds: Holds::Integer, wider: Wider::No });

/// What the assembler lets pass: elements of a vector in memory may be integers where floats of 32 bits are meant.
fn element(form: &str, wanted: Wanted) -> Wanted {
    match wanted.holds {
        Holds::Float(Type::F32) if form.starts_with("ld.") || form.starts_with("st.") => {
            Wanted { holds: Holds::Bits, ..wanted }
        }
        _ => wanted,
    }
}

impl<'a> Builder<'a> {
    /// Refuses registers of types that the instruction does not take. Their classes are right already.
    pub(super) fn types(&mut self, ins: &Instruction<'a>) -> Result<(), DecodeError> {
        let signature = signature(ins.form);
        for (number, operand) in ins.operands.iter().enumerate() {
            let is_descriptor = matches!(operand, Operand::Name(_)) && matches!(number, 1 | 2);
            let wanted = match signature[number.min(4)] {
                _ if is_descriptor && ins.form.starts_with("wgmma.mma_async") => DESCRIPTOR,
                wanted => wanted,
            };
            match operand {
                Operand::Integer(_) | Operand::F32(_) | Operand::F64(_) => {
                    suits(ins, number, operand, wanted)?;
                }
                Operand::Name(name) => self.agrees(ins, number, name, wanted)?,
                Operand::Pair(first, _) => self.agrees(ins, number, first, wanted)?,
                Operand::Address(Base::Name(name), _) => self.is_address(ins, number, name)?,
                Operand::Vector(elements) => {
                    let wanted = match wanted {
                        Some(wanted) if ins.form.starts_with("mov.") => {
                            Some(Wanted { bits: wanted.bits / elements.len().max(1) as u32, ..wanted })
                        }
                        other => other.map(|wanted| element(ins.form, wanted)),
                    };
                    for element in elements {
                        match element {
                            Operand::Name(name) => self.agrees(ins, number, name, wanted)?,
                            other => suits(ins, number, other, wanted)?,
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn agrees(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        name: &str,
        wanted: Option<Wanted>,
    ) -> Result<(), DecodeError> {
        let (Some(wanted), Some((ty, _))) = (wanted, self.scopes.register(name)) else { return Ok(()) };
        if wanted.takes(ty) { Ok(()) } else { Err(mismatch(ins, number, (name, ty), wanted.words())) }
    }

    /// The register of an address holds bits or an integer; of `ld` and `st` in global memory, or with a generic address, not of 32
    /// bits: the assembler takes those for a program of another address size.
    fn is_address(&mut self, ins: &Instruction<'a>, number: usize, name: &str) -> Result<(), DecodeError> {
        let space = if matches!(ins.form.split('.').next(), Some("ld" | "st")) {
            super::memory::modifiers(ins.form).map(|modifiers| modifiers.space)
        } else {
            None
        };
        let wide = matches!(space, Some(Space::Global | Space::Generic));
        match self.scopes.register(name) {
            Some((ty, _)) if matches!(holds(ty), Holds::Float(_)) || wide && ty.bytes() == 4 => {
                Err(mismatch(ins, number, (name, ty), "'.b64', '.u64' or '.s64'".into()))
            }
            _ => Ok(()),
        }
    }

    /// A register that is not even of the size that belongs there, or a number that is none there; `general` says it where the form
    /// names no type.
    pub(super) fn misfit(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        operand: &Operand<'a>,
        general: &str,
    ) -> DecodeError {
        let wanted = signature(ins.form)[number.min(4)];
        if let Err(error) = suits(ins, number, operand, wanted) {
            return error;
        }
        let register = match operand {
            Operand::Name(name) => self.scopes.register(name).map(|(ty, _)| (*name, ty)),
            _ => None,
        };
        match (wanted, register) {
            (Some(wanted), Some((name, ty))) if !wanted.takes(ty) => {
                mismatch(ins, number, (name, ty), wanted.words())
            }
            _ => wrong(ins, number, operand, general),
        }
    }
}

/// Refuses numbers of a kind that the assembler does not take there: integers as floats, floats as integers, any as 16-bit floats.
fn suits(
    ins: &Instruction<'_>,
    number: usize,
    operand: &Operand<'_>,
    wanted: Option<Wanted>,
) -> Result<(), DecodeError> {
    let Some(wanted) = wanted else { return Ok(()) };
    let help = match (wanted.holds, operand) {
        (Holds::Float(Type::F32 | Type::F64), Operand::Integer(_)) => {
            "or a number such as '1.0' or '0f3F800000',"
        }
        (
            Holds::Float(Type::F16 | Type::F16x2) | Holds::Nameless(_),
            Operand::Integer(_) | Operand::F32(_) | Operand::F64(_),
        ) => "which 'mov' brings a number into,",
        (Holds::Integer | Holds::Count, Operand::F32(_) | Operand::F64(_)) => "or an integer,",
        _ => return Ok(()),
    };
    Err(wrong(ins, number, operand, &format!("a register of type {}, {help}", wanted.words())))
}

fn mismatch(
    ins: &Instruction<'_>,
    number: usize,
    (register, declared): (&str, Type),
    wanted: String,
) -> DecodeError {
    let (form, register) = (short(ins.form), short(register));
    let fault =
        DecodeFault::RegisterType { form, number: number + 1, register, declared: declared.name(), wanted };
    DecodeError { at: ins.at, fault }
}
