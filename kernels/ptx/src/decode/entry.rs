//! One entry, from its declarations to its slots.

use super::allocate::allocate;
use super::builder::Builder;
use super::error::{DecodeError, DecodeFault, short};
use super::hash::{QuickMap, QuickSet};
use super::layout::{Region, globals, in_global_memory};
use super::lower::{Target, row};
use super::scopes::{Labels, Scopes, Symbol};
use crate::program::{Act, Global, Program, Step};
use crate::target::TargetName;
use crate::text::{Base, Entry, Instruction, Module, Operand, Place, Space, Statement, Variable};

/// Refusals of one entry that are listed at most.
const MOST_REFUSALS: usize = 10_000;

/// Told of an instruction that can't run; an error ends the entry.
type Refuse<'r> = &'r mut dyn FnMut(DecodeError) -> Result<(), DecodeError>;

/// What the entries of a module share.
pub(super) struct SharedLayout<'a> {
    module: &'a Module<'a>,
    globals: Vec<Global>,
    /// Number of a `.file` directive to its place in the list.
    files: QuickMap<u32, u32>,
    target: Target<'a>,
}

/// Memory of an entry.
#[derive(Default)]
struct Memory<'a> {
    params: Region,
    shared: Region,
    local: Region,
    /// `.extern .shared`: they have their place when all static ones have theirs.
    dynamic: Vec<&'a Variable<'a>>,
}

impl<'a> SharedLayout<'a> {
    pub(super) fn of(module: &'a Module<'a>) -> Result<SharedLayout<'a>, DecodeError> {
        let files = module.files.iter().zip(0..).map(|((number, _), place)| (*number, place)).collect();
        let fault = |fault| Err(DecodeError { at: Place { line: 1, column: 1 }, fault });
        let Some(target) = TargetName::of(module.target) else {
            let what = format!("'.target {}'", short(module.target));
            return fault(DecodeFault::NotSupported { what, help: "it is an architecture such as 'sm_80'" });
        };
        if let Some(needs) = target.since().filter(|needs| *needs > module.version) {
            let (target, version) = (short(module.target), module.version);
            return fault(DecodeFault::TargetVersion { target, needs, version });
        }
        let target = Target { version: module.version, name: module.target, sm: target.number };
        Ok(SharedLayout { module, globals: globals(module)?, files, target })
    }

    /// Each program has the variables of the module and its files: there must not be too many of both.
    pub(super) fn affordable(&self, entries: usize) -> Result<(), DecodeError> {
        let bytes =
            self.globals.iter().fold(0, |sum: usize, global| sum.saturating_add(global.bytes.len() + 128));
        let names = self.module.files.len().saturating_add(self.module.variables.len()).saturating_mul(128);
        if bytes.saturating_add(names).saturating_mul(entries) <= 1 << 30 {
            return Ok(());
        }
        let fault = DecodeFault::Limit {
            what: "bytes of global variables times entries; decode them one by one",
            limit: 1 << 30,
        };
        Err(DecodeError { at: Place { line: 1, column: 1 }, fault })
    }

    /// Decodes an entry.
    pub(super) fn program(&self, entry: &'a Entry<'a>) -> Result<Program, DecodeError> {
        self.decoded(entry, &mut Err)
    }

    /// Decodes an entry; `refuse` is asked whether an instruction that can't run is the end of it.
    fn decoded(&self, entry: &'a Entry<'a>, refuse: Refuse<'_>) -> Result<Program, DecodeError> {
        let (mut memory, mut scopes) = (Memory::default(), Scopes::new());
        self.declare_module(entry, &mut scopes, &mut memory)?;
        scopes.open(&entry.registers, entry.at)?;
        for variable in entry.params.iter().chain(&entry.variables) {
            memory.declare(variable, &mut scopes)?;
        }
        // Scopes inside have variables too: all have their places before `.extern .shared` gets its own.
        let inner = self.inner(entry, &mut memory)?;
        memory.declare_dynamic(&mut scopes)?;
        let names = self.globals.iter().zip(self.variables()).map(|(_, variable)| variable.name).collect();
        let mut builder = Builder::new(scopes, Labels::of(entry)?, names);
        self.body(entry, &mut builder, &inner, refuse)?;
        self.finish(entry, builder, memory)
    }

    /// All that keeps an entry from running; empty where it does.
    pub(super) fn refusals(&self, entry: &'a Entry<'a>) -> Vec<DecodeError> {
        let mut all = Vec::new();
        let rest = self.decoded(entry, &mut |error| match error.fault {
            DecodeFault::Limit { .. } => Err(error),
            _ if all.len() >= MOST_REFUSALS => Err(error),
            _ => {
                all.push(error);
                Ok(())
            }
        });
        all.extend(rest.err());
        all
    }

    fn variables(&self) -> impl Iterator<Item = &'a Variable<'a>> {
        self.module.variables.iter().filter(|variable| in_global_memory(variable))
    }

    /// Declares the module's variables; shared ones only if the entry names them.
    fn declare_module(
        &self,
        entry: &Entry<'a>,
        scopes: &mut Scopes<'a>,
        memory: &mut Memory<'a>,
    ) -> Result<(), DecodeError> {
        for (variable, number) in self.variables().zip(0..) {
            let symbol = Symbol { space: variable.space, offset: 0, global: Some(number) };
            scopes.declare(variable.name, symbol, variable.at)?;
        }
        let shared = || self.module.variables.iter().filter(|variable| variable.space == Space::Shared);
        let names: QuickSet<&str> = shared().map(|variable| variable.name).collect();
        let named = if names.is_empty() { QuickSet::default() } else { named(entry, &names) };
        for variable in shared().filter(|variable| named.contains(variable.name)) {
            memory.declare(variable, scopes)?;
        }
        for variable in self.module.variables.iter().filter(|variable| variable.space == Space::Local) {
            memory.declare(variable, scopes)?;
        }
        Ok(())
    }

    /// The symbols of the variables of inner scopes, in the order of the text.
    fn inner(&self, entry: &'a Entry<'a>, memory: &mut Memory<'a>) -> Result<Vec<Symbol>, DecodeError> {
        let mut symbols = Vec::new();
        for statement in &entry.body {
            let Statement::Open(scope) = statement else { continue };
            for variable in &scope.variables {
                symbols.push(memory.place(variable)?);
            }
        }
        Ok(symbols)
    }

    /// All statements; then labels have places, and branches get them.
    fn body(
        &self,
        entry: &'a Entry<'a>,
        builder: &mut Builder<'a>,
        inner: &[Symbol],
        refuse: Refuse<'_>,
    ) -> Result<(), DecodeError> {
        let (mut labels, mut scopes, mut inner) = (Vec::new(), 0, inner.iter());
        builder.steps.reserve(entry.body.len() + 1);
        for statement in &entry.body {
            match statement {
                Statement::Label(..) => labels.push(builder.steps.len() as u32),
                Statement::Open(scope) => {
                    scopes += 1;
                    builder.scope = scopes;
                    builder.scopes.open(&scope.registers, entry.at)?;
                    for (variable, symbol) in scope.variables.iter().zip(&mut inner) {
                        builder.scopes.declare(variable.name, *symbol, variable.at)?;
                    }
                }
                Statement::Close => {
                    builder.scopes.close();
                    builder.scope = builder.labels.around(builder.scope);
                }
                Statement::Instruction(ins) => {
                    let file = ins.cuda.and_then(|cuda| self.files.get(&cuda.file).copied());
                    builder.lower(ins, self.target, file).or_else(&mut *refuse)?;
                }
            }
        }
        self.end(entry, builder, &labels)?;
        for step in &mut builder.steps {
            if let Act::Branch { target, .. } = &mut step.act {
                *target = labels.get(*target as usize).copied().unwrap_or_default();
            }
        }
        Ok(())
    }

    /// A body that runs over its end returns there.
    fn end(&self, entry: &Entry<'a>, builder: &mut Builder<'a>, labels: &[u32]) -> Result<(), DecodeError> {
        let over = labels.last().is_some_and(|label| *label as usize == builder.steps.len());
        let last = builder.steps.last();
        let exits = last.is_some_and(|step| matches!(step.act, Act::Exit) && step.guard.is_none());
        if exits && !over {
            return Ok(());
        }
        let line = last.map_or(entry.at.line, |step| step.line);
        let ret = Instruction { guard: None, form: "ret", operands: Vec::new(), at: entry.at, cuda: None };
        builder.steps.push(Step {
            row: row(&ret, self.target)?,
            guard: None,
            act: Act::Exit,
            line,
            cuda: None,
        });
        Ok(())
    }

    fn finish(
        &self,
        entry: &Entry<'a>,
        builder: Builder<'a>,
        memory: Memory<'a>,
    ) -> Result<Program, DecodeError> {
        let Builder { mut steps, guards, virtuals, constants, .. } = builder;
        let Some(allocation) = allocate(&mut steps, virtuals, constants) else {
            let fault = DecodeFault::Limit {
                what: "registers that are needed across branches of one entry",
                limit: 1 << 16,
            };
            return Err(DecodeError { at: entry.at, fault });
        };
        let max_threads =
            entry.max_threads.map(|sides| sides.iter().fold(1_u32, |all, side| all.saturating_mul(*side)));
        let (guards, predicates) = named_guards(&guards);
        Ok(Program {
            name: entry.name.into(),
            steps,
            extent: allocation.extent,
            initial: allocation.initial,
            params: memory.params.placed,
            param_bytes: memory.params.bytes,
            shared_bytes: memory.shared.bytes,
            shared: memory.shared.placed,
            local_bytes: memory.local.bytes,
            globals: self.globals.clone(),
            target: self.module.target.into(),
            max_threads,
            required_block: entry.required_block,
            guards,
            predicates,
            files: self.module.files.iter().map(|(_, name)| (*name).into()).collect(),
        })
    }
}

/// Each name once.
fn named_guards(guards: &[(u32, &str)]) -> (Vec<(u32, u32)>, Vec<String>) {
    let (mut numbers, mut names) = (QuickMap::default(), Vec::new());
    let numbered = guards.iter().map(|&(step, name)| {
        let number = *numbers.entry(name).or_insert_with(|| {
            names.push(name.to_owned());
            names.len() as u32 - 1
        });
        (step, number)
    });
    (numbered.collect(), names)
}

impl<'a> Memory<'a> {
    fn region(&mut self, space: Space) -> Option<&mut Region> {
        match space {
            Space::Param => Some(&mut self.params),
            Space::Shared => Some(&mut self.shared),
            Space::Local => Some(&mut self.local),
            Space::Global | Space::Const | Space::Generic => None,
        }
    }

    /// Gives a variable its place.
    fn place(&mut self, variable: &'a Variable<'a>) -> Result<Symbol, DecodeError> {
        let fault = |what: &str, help| {
            let what = format!("'{}', {what},", short(variable.name));
            Err(DecodeError { at: variable.at, fault: DecodeFault::NotSupported { what, help } })
        };
        match self.region(variable.space) {
            None => fault("a global variable inside an entry", "declare it outside"),
            Some(_) if variable.len.is_none() => {
                fault("an array without length", "give it one, or write '.extern .shared'")
            }
            Some(region) => {
                Ok(Symbol { space: variable.space, offset: region.place(variable)?, global: None })
            }
        }
    }

    /// Gives a variable its place and its name, where it is not dynamic.
    fn declare(&mut self, variable: &'a Variable<'a>, scopes: &mut Scopes<'a>) -> Result<(), DecodeError> {
        if variable.is_extern && variable.space == Space::Shared {
            self.dynamic.push(variable);
            return Ok(());
        }
        let symbol = self.place(variable)?;
        scopes.declare(variable.name, symbol, variable.at)
    }

    /// Dynamic shared memory begins behind the static variables: at one place, whatever names it has.
    fn declare_dynamic(&mut self, scopes: &mut Scopes<'a>) -> Result<(), DecodeError> {
        let align = self.dynamic.iter().map(|variable| variable.align).max().unwrap_or(1);
        for variable in std::mem::take(&mut self.dynamic) {
            let mut begin = variable.clone();
            (begin.align, begin.len) = (align, Some(0));
            let offset = self.shared.place(&begin)?;
            let symbol = Symbol { space: Space::Shared, offset, global: None };
            scopes.declare(variable.name, symbol, variable.at)?;
        }
        Ok(())
    }
}

/// Which of these names stand in the instructions of an entry.
fn named<'a>(entry: &Entry<'a>, names: &QuickSet<&str>) -> QuickSet<&'a str> {
    let mut found = QuickSet::default();
    for statement in &entry.body {
        let Statement::Instruction(ins) = statement else { continue };
        for operand in &ins.operands {
            if let Operand::Name(name) | Operand::Offset(name, _) | Operand::Address(Base::Name(name), _) =
                operand
                && !name.starts_with('%')
                && names.contains(name)
            {
                found.insert(*name);
            }
        }
    }
    found
}
