//! An instruction to steps: which row of the table it is, its guard, its registers.

use super::builder::Builder;
use super::complaint::{count, too_few, wrong};
use super::error::{DecodeError, DecodeFault, short};
use super::{known, nearest, order};
use crate::exec::pack;
use crate::isa::{Immediate, Kind, Row};
use crate::program::{Act, Guard, LaneFn, Operands, Step};
use crate::registers::{Class, Slot};
use crate::table;
use crate::text::{Instruction, Operand, Type};

/// What an instruction may use of its module.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) version: (u8, u8),
    pub(super) name: &'a str,
    /// The number of the architecture.
    pub(super) sm: u16,
}

/// The row of an instruction, if the module may use it.
pub(super) fn row(ins: &Instruction<'_>, target: Target<'_>) -> Result<&'static Row, DecodeError> {
    let fault = |fault| Err(DecodeError { at: ins.at, fault });
    let found = table::find(ins.form).or_else(|| table::find(&order::stripped(ins.form)?));
    let Some(row) = found else {
        if let Some(help) = known::instruction(ins.form).or_else(|| known::in_part(ins.form)) {
            return fault(DecodeFault::NotSupported { what: format!("'{}'", short(ins.form)), help });
        }
        return fault(DecodeFault::UnknownForm { form: short(ins.form), near: nearest::to(ins.form) });
    };
    let (ptx, sm) = order::since(ins.form);
    let needs = row.ptx.max(ptx);
    if needs > target.version {
        return fault(DecodeFault::Version { form: short(ins.form), needs, version: target.version });
    }
    let needs = row.sm.max(sm);
    if needs > target.sm {
        let target = target.name.into();
        return fault(DecodeFault::Target { form: short(ins.form), needs, target });
    }
    if matches!(row.kind, Kind::Group) && target.name != "sm_90a" {
        let target = target.name.into();
        return fault(DecodeFault::BoundTarget { form: short(ins.form), needs: "sm_90a", target });
    }
    Ok(row)
}

impl<'a> Builder<'a> {
    /// Adds the steps of an instruction.
    pub(super) fn lower(
        &mut self,
        ins: &Instruction<'a>,
        target: Target<'_>,
        file: Option<u32>,
    ) -> Result<(), DecodeError> {
        let row = row(ins, target)?;
        let mut guard = None;
        if let Some(guarded) = ins.guard {
            let operand = Operand::Name(guarded.predicate);
            let register = self.any_register(ins, 0, &operand)?;
            if register.slot.class != Class::Predicate {
                let (register, declared) = (short(guarded.predicate), register.ty.name());
                return Err(DecodeError { at: ins.at, fault: DecodeFault::Guard { register, declared } });
            }
            guard = Some(Guard { predicate: register.slot, negated: guarded.negated });
        }
        // nvcc gives line 0 to what is of no line.
        let cuda = file.zip(ins.cuda.map(|cuda| cuda.line).filter(|&line| line != 0));
        let mut push = |builder: &mut Self, act| {
            if let Some(guarded) = ins.guard {
                builder.guards.push((builder.steps.len() as u32, guarded.predicate));
            }
            builder.steps.push(Step { row, guard, act, line: ins.at.line, cuda });
        };
        let act = match row.kind {
            Kind::Lanes { run, d, sources, immediate } => {
                if let Some(acts) = self.vector_move(ins)? {
                    self.types(ins)?;
                    acts.into_iter().for_each(|act| push(self, act));
                    return Ok(());
                }
                self.lanes(ins, run, (d, sources, immediate), &mut push)?
            }
            Kind::Load => self.load(ins)?,
            Kind::Store => self.store(ins)?,
            Kind::Atomic => self.atomic(ins)?,
            Kind::Fence => self.fence(ins)?,
            Kind::Copy => self.copy(ins)?,
            Kind::Commit => self.nothing(ins, Act::Commit)?,
            Kind::Wait => self.wait(ins)?,
            Kind::LoadMatrix => self.load_matrix(ins)?,
            Kind::Mma => self.mma(ins)?,
            Kind::Group => self.group(ins)?,
            Kind::ProxyFence => {
                self.nothing(ins, Act::ProxyFence { shared: !ins.form.ends_with(".global") })?
            }
            Kind::Shuffle => self.shuffle(ins)?,
            Kind::Vote => self.vote(ins)?,
            Kind::Reduce => self.reduce(ins)?,
            Kind::WarpBarrier => self.warp_barrier(ins)?,
            Kind::Barrier => self.barrier(ins)?,
            Kind::Branch => self.branch(ins)?,
            Kind::Exit => self.nothing(ins, Act::Exit)?,
        };
        self.types(ins)?;
        push(self, act);
        Ok(())
    }

    fn nothing(&mut self, ins: &Instruction<'a>, act: Act) -> Result<Act, DecodeError> {
        if ins.operands.is_empty() { Ok(act) } else { Err(count(ins, "no")) }
    }

    /// So many operands must be there.
    pub(super) fn exactly(&self, ins: &Instruction<'a>, expected: usize) -> Result<(), DecodeError> {
        if ins.operands.len() == expected { Ok(()) } else { Err(count(ins, &expected.to_string())) }
    }

    /// Registers to registers.
    fn lanes(
        &mut self,
        ins: &Instruction<'a>,
        run: LaneFn,
        (class, classes, immediate): (Class, &[Class], Immediate),
        push: &mut impl FnMut(&mut Self, Act),
    ) -> Result<Act, DecodeError> {
        self.exactly(ins, classes.len() + 1)?;
        let mut operands =
            Operands { d: Slot::narrow(0), second: None, sources: [Slot::narrow(0); 4], count: 0 };
        for (i, (class, slot)) in classes.iter().zip(&mut operands.sources).enumerate() {
            *slot = match ins.operands.get(i + 1) {
                Some(Operand::Not(name)) if *class == Class::Predicate => {
                    self.inverted(ins, i + 1, name, push)?
                }
                Some(Operand::Name(name)) if self.is_wider(ins, name, *class) => {
                    let source = self.source(ins, i + 1, Class::Wide, immediate)?;
                    let d = self.fresh(*class, ins.at)?;
                    let operands = Operands { d, second: None, sources: [source; 4], count: 1 };
                    push(self, Act::Lanes { run: pack::HALVES_OF_B64[0], operands });
                    d
                }
                _ => self.source(ins, i + 1, *class, width(ins.form, i, *class, immediate))?,
            };
            operands.count += 1;
        }
        let two = class == Class::Predicate && ins.form.starts_with("setp.");
        (operands.d, operands.second) = match ins.operands.first() {
            Some(operand @ Operand::Pair(..)) if !two => return Err(wrong(ins, 0, operand, "one register")),
            Some(operand @ Operand::Name(name)) if self.is_wider(ins, name, class) => {
                (self.result(ins, 0, operand, Class::Wide)?, None)
            }
            _ => self.pair(ins, 0, [class; 2])?,
        };
        if ins.form.starts_with("cvt.") {
            return self.extended(ins, run, (class, operands), push);
        }
        Ok(Act::Lanes { run, operands })
    }

    /// Whether `cvt` has a register of 64 bits where its type has fewer.
    fn is_wider(&mut self, ins: &Instruction<'a>, name: &str, class: Class) -> bool {
        let register = self.scopes.register(name).map(|(ty, _)| ty);
        class == Class::Narrow && ins.form.starts_with("cvt.") && register.is_some_and(|ty| ty.bytes() == 8)
    }

    /// What `cvt` brings into a wider register is extended there, a signed integer by its sign: steps behind do that.
    fn extended(
        &mut self,
        ins: &Instruction<'a>,
        mut run: LaneFn,
        (class, mut operands): (Class, Operands),
        push: &mut impl FnMut(&mut Self, Act),
    ) -> Result<Act, DecodeError> {
        let to = ins.form.split('.').find(|part| Type::from_name(part).is_some());
        let register = match ins.operands.first() {
            Some(Operand::Name(name)) => self.scopes.register(name).map(|(ty, _)| ty),
            _ => None,
        };
        let (d, bytes) = (operands.d, register.map_or(0, Type::bytes));
        let is_wider = d.class == Class::Wide && class == Class::Narrow;
        if is_wider {
            operands.d = self.fresh(Class::Narrow, ins.at)?;
        }
        let then = [
            (to == Some("s16") && bytes > 2).then_some("cvt.s32.s16"),
            is_wider.then_some(if matches!(to, Some("s16" | "s32")) { "cvt.s64.s32" } else { "cvt.u64.u32" }),
        ];
        for form in then.into_iter().flatten() {
            let Some(Kind::Lanes { run: extend, .. }) = table::find(form).map(|row| row.kind) else {
                continue;
            };
            push(self, Act::Lanes { run, operands });
            let d = if form.starts_with("cvt.s32") { operands.d } else { d };
            operands = Operands { d, sources: [operands.d; 4], count: 1, ..operands };
            run = extend;
        }
        Ok(Act::Lanes { run, operands })
    }

    /// `!%p` as a source: a step before inverts it.
    fn inverted(
        &mut self,
        ins: &Instruction<'a>,
        number: usize,
        name: &'a str,
        push: &mut impl FnMut(&mut Self, Act),
    ) -> Result<Slot, DecodeError> {
        let operand = Operand::Name(name);
        let source = self.value(ins, number, &operand, Class::Predicate, Immediate::Integer(32))?;
        let Some(Row { kind: Kind::Lanes { run, .. }, .. }) = table::find("not.pred") else {
            return Err(wrong(ins, number, &Operand::Not(name), "a predicate without '!'"));
        };
        let d = self.fresh(Class::Predicate, ins.at)?;
        let operands = Operands { d, second: None, sources: [source; 4], count: 1 };
        push(self, Act::Lanes { run: *run, operands });
        Ok(d)
    }

    /// `mov.b32 d, {a, b}` and `mov.b32 {d, e}, a`, or nothing where no operand is a vector.
    fn vector_move(&mut self, ins: &Instruction<'a>) -> Result<Option<Vec<Act>>, DecodeError> {
        match ins.operands.as_slice() {
            [_, source @ Operand::Vector(parts)] if ins.form.starts_with("mov.b") => {
                let (run, class, part) = match (ins.form, parts.len()) {
                    ("mov.b16", 2) => (pack::B16_OF_TWO, Class::Narrow, (Class::Narrow, 8)),
                    ("mov.b32", 2) => (pack::B32_OF_TWO, Class::Narrow, (Class::Narrow, 16)),
                    ("mov.b32", 4) => (pack::B32_OF_FOUR, Class::Narrow, (Class::Narrow, 8)),
                    ("mov.b64", 2) => (pack::B64_OF_TWO, Class::Wide, (Class::Narrow, 32)),
                    ("mov.b64", 4) => (pack::B64_OF_FOUR, Class::Wide, (Class::Narrow, 16)),
                    _ => return Err(wrong(ins, 1, source, "a register or a vector of as many bits")),
                };
                let mut operands =
                    Operands { d: Slot::narrow(0), second: None, sources: [Slot::narrow(0); 4], count: 0 };
                for (operand, slot) in parts.iter().zip(&mut operands.sources) {
                    *slot = self.value(ins, 1, operand, part.0, Immediate::Integer(part.1))?;
                    operands.count += 1;
                }
                operands.d = self.destination(ins, 0, class)?;
                Ok(Some(vec![Act::Lanes { run, operands }]))
            }
            [Operand::Vector(parts), _] if ins.form.starts_with("mov.b") => self.split(ins, parts).map(Some),
            _ => Ok(None),
        }
    }

    /// `mov.b64 {d, e}, a`: at once where both halves are wanted, else a step a part.
    fn split(&mut self, ins: &Instruction<'a>, parts: &[Operand<'a>]) -> Result<Vec<Act>, DecodeError> {
        let (both, each, class, bits): (Option<LaneFn>, &[LaneFn], _, _) = match (ins.form, parts.len()) {
            ("mov.b32", 2) => (Some(pack::split_b32), &pack::HALVES_OF_B32, Class::Narrow, 32),
            ("mov.b64", 2) => (Some(pack::split_b64), &pack::HALVES_OF_B64, Class::Wide, 64),
            ("mov.b64", 4) => (None, &pack::QUARTERS_OF_B64, Class::Wide, 64),
            _ => {
                let operand = ins.operands.first().ok_or_else(|| too_few(ins, 0))?;
                return Err(wrong(ins, 0, operand, "a register or a vector of as many bits"));
            }
        };
        let source = self.source(ins, 1, class, Immediate::Integer(bits))?;
        let mut acts = Vec::new();
        let lanes = |run, d, second| Act::Lanes {
            run,
            operands: Operands { d, second, sources: [source; 4], count: 1 },
        };
        if let (Some(run), [first, second]) = (both, parts)
            && ![first, second].contains(&&Operand::Sink)
        {
            let (d, second) =
                (self.result(ins, 0, first, Class::Narrow)?, self.result(ins, 0, second, Class::Narrow)?);
            return Ok(vec![lanes(run, d, Some(second))]);
        }
        for (part, run) in parts.iter().zip(each).filter(|(part, _)| **part != Operand::Sink) {
            acts.push(lanes(*run, self.result(ins, 0, part, Class::Narrow)?, None));
        }
        Ok(acts)
    }
}

/// How a number becomes the bits of source `i`. The distance of a shift, and other counts beside a wider or narrower type, have 32
/// bits whatever the type of the instruction.
fn width(form: &str, i: usize, class: Class, immediate: Immediate) -> Immediate {
    let shift = i == 1 && (form.starts_with("shl.") || form.starts_with("shr."));
    match (class, immediate) {
        (Class::Narrow, Immediate::Integer(16)) if shift => Immediate::Integer(32),
        (Class::Narrow, Immediate::Integer(64) | Immediate::F64) => Immediate::Integer(32),
        _ => immediate,
    }
}
