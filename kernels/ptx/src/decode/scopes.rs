//! Names: registers and variables, scope by scope, and labels.

use super::error::{DecodeError, DecodeFault, short};
use super::hash::QuickMap;
use crate::isa::Immediate;
use crate::registers::Class;
use crate::text::{Entry, Place, RegisterList, Space, Statement, Type};

/// `.reg .b32 %r<22>`: the registers have the numbers `base` and up.
#[derive(Clone, Copy)]
struct List {
    ty: Type,
    base: usize,
    count: u32,
}

/// What a name stands for in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    pub(super) space: Space,
    /// Where it begins, in all spaces but global and constant memory.
    pub(super) offset: u32,
    /// Which variable it is in global memory.
    pub(super) global: Option<u32>,
}

#[derive(Default)]
struct Names<'a> {
    /// By what stands before the number.
    numbered: QuickMap<&'a str, List>,
    single: QuickMap<&'a str, List>,
    symbols: QuickMap<&'a str, Symbol>,
    /// Registers declared before this scope.
    before: usize,
}

/// Names that can be seen, innermost scope last.
pub(super) struct Scopes<'a> {
    names: Vec<Names<'a>>,
    /// The virtual register that each declared register has become, or [`UNSEEN`].
    seen: Vec<u32>,
    /// Some register list's name ends in a digit, so that `%r12` may be number 2 of `%r1`.
    digits: bool,
}

/// No instruction named this register yet.
pub(super) const UNSEEN: u32 = u32::MAX;

impl<'a> Scopes<'a> {
    /// The scope of the module and that of the entry.
    pub(super) fn new() -> Scopes<'a> {
        Scopes { names: vec![Names::default()], seen: Vec::new(), digits: false }
    }

    pub(super) fn open(&mut self, registers: &[RegisterList<'a>], at: Place) -> Result<(), DecodeError> {
        let mut names = Names { before: self.seen.len(), ..Names::default() };
        for list in registers {
            let count = list.count.unwrap_or(1);
            let map = if list.count.is_some() { &mut names.numbered } else { &mut names.single };
            if map.insert(list.prefix, List { ty: list.ty, base: self.seen.len(), count }).is_some() {
                return Err(DecodeError { at, fault: DecodeFault::Twice { name: short(list.prefix) } });
            }
            self.digits |= list.count.is_some() && list.prefix.ends_with(|c: char| c.is_ascii_digit());
            // The text has a limit for the registers of an entry.
            self.seen.resize(self.seen.len().saturating_add(count as usize), UNSEEN);
        }
        self.names.push(names);
        Ok(())
    }

    pub(super) fn close(&mut self) {
        if let Some(names) = self.names.pop() {
            self.seen.truncate(names.before);
        }
    }

    /// Declares a variable or parameter in the innermost scope.
    pub(super) fn declare(&mut self, name: &'a str, symbol: Symbol, at: Place) -> Result<(), DecodeError> {
        let Some(names) = self.names.last_mut() else { return Ok(()) };
        match names.symbols.insert(name, symbol) {
            None => Ok(()),
            Some(_) => Err(DecodeError { at, fault: DecodeFault::Twice { name: short(name) } }),
        }
    }

    /// The type of a register, and the virtual register that it has become.
    pub(super) fn register(&mut self, name: &str) -> Option<(Type, &mut u32)> {
        let number_at = name.bytes().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
        let (ty, index) = self.names.iter().rev().find_map(|names| {
            // Most names are numbered, and most lists' names do not end in a digit.
            let last = if self.digits { name.len() } else { number_at + 1 };
            let numbered = (number_at..last.min(name.len())).find_map(|at| {
                let number = number(name.get(at..)?)?;
                let list = names.numbered.get(name.get(..at)?).filter(|list| number < list.count)?;
                Some((list.ty, list.base + number as usize))
            });
            numbered.or_else(|| {
                let single = if names.single.is_empty() { None } else { names.single.get(name) };
                single.map(|list| (list.ty, list.base))
            })
        })?;
        self.seen.get_mut(index).map(|seen| (ty, seen))
    }

    /// What a name stands for in memory.
    pub(super) fn symbol(&self, name: &str) -> Option<Symbol> {
        self.names.iter().rev().find_map(|names| names.symbols.get(name).copied())
    }
}

/// A register's number: no sign, no zero before it.
fn number(digits: &str) -> Option<u32> {
    if digits.len() > 1 && digits.starts_with('0') { None } else { digits.parse().ok() }
}

/// Where values of a type lie.
pub(super) const fn class(ty: Type) -> Class {
    match ty {
        Type::Pred => Class::Predicate,
        Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::B128 => Class::Wide,
        Type::B8 | Type::U8 | Type::S8 | Type::B16 | Type::U16 | Type::S16 | Type::F16 => Class::Narrow,
        Type::B32 | Type::U32 | Type::S32 | Type::F16x2 | Type::F32 => Class::Narrow,
    }
}

/// How a number is written that stands for a value of a type.
pub(super) const fn immediate(ty: Type) -> Immediate {
    match ty {
        Type::F32 => Immediate::F32,
        Type::F64 => Immediate::F64,
        _ => Immediate::Integer(ty.bytes().saturating_mul(8)),
    }
}

/// The labels of an entry, by scope: those of inner scopes can't be seen from outside.
pub(super) struct Labels<'a> {
    /// By scope and name: which label of the entry it is, in the order of the text.
    numbers: QuickMap<(u32, &'a str), u32>,
    /// The scope around each scope.
    around: Vec<u32>,
}

impl<'a> Labels<'a> {
    /// Finds all.
    pub(super) fn of(entry: &Entry<'a>) -> Result<Labels<'a>, DecodeError> {
        let mut labels = Labels { numbers: QuickMap::default(), around: vec![0] };
        let mut scope = 0;
        for statement in &entry.body {
            match statement {
                Statement::Label(name, at) => {
                    let number = labels.numbers.len() as u32;
                    if labels.numbers.insert((scope, name), number).is_some() {
                        return Err(DecodeError { at: *at, fault: DecodeFault::Twice { name: short(name) } });
                    }
                }
                Statement::Open(_) => {
                    labels.around.push(scope);
                    scope = labels.around.len() as u32 - 1;
                }
                Statement::Close => scope = labels.around(scope),
                Statement::Instruction(_) => {}
            }
        }
        Ok(labels)
    }

    /// The scope around a scope.
    pub(super) fn around(&self, scope: u32) -> u32 {
        self.around.get(scope as usize).copied().unwrap_or(0)
    }

    /// The label that a name means in a scope.
    pub(super) fn find(&self, mut scope: u32, name: &str) -> Option<u32> {
        loop {
            if let Some(number) = self.numbers.get(&(scope, name)) {
                return Some(*number);
            }
            if scope == 0 {
                return None;
            }
            scope = self.around(scope);
        }
    }
}
