//! What `explain` says of a module, as data: printed as text, or as one JSON object.

use serde::Serialize;
use sparse_ptx::decode::{self, DecodeError};
use sparse_ptx::isa::Evidence;
use sparse_ptx::program::Program;
use sparse_ptx::text::Module;
use std::collections::BTreeMap;

/// A module.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedModule {
    /// `.version`, such as `9.0`.
    pub version: String,
    /// `.target`.
    pub target: String,
    /// Its entries, in the order of the text.
    pub entries: Vec<ExplainedEntry>,
}

/// An entry: what it has where it can run, else all that keeps it from running.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedEntry {
    /// Its name.
    pub name: String,
    /// Nothing where it can't run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has: Option<Inventory>,
    /// How many reasons there are why it can't run.
    pub reasons: usize,
    /// These reasons, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
}

/// What an entry has.
#[derive(Clone, Debug, Serialize)]
pub struct Inventory {
    /// In their order.
    pub parameters: Vec<ExplainedParameter>,
    /// `.maxntid`: threads of a block at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_threads: Option<u32>,
    /// `.reqntid`: the block that every launch must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_block: Option<[u32; 3]>,
    /// Static bytes of shared memory.
    pub shared: u32,
    /// Bytes of local memory of a thread.
    pub local: u32,
    /// How many instructions.
    pub instructions: usize,
    /// By rows of the table of instructions.
    pub rows: Vec<UsedRow>,
}

/// A parameter of an entry.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedParameter {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u32,
    /// Where it begins.
    pub offset: u32,
}

/// A row of the table of instructions that an entry uses.
#[derive(Clone, Debug, Serialize)]
pub struct UsedRow {
    /// Its forms.
    pub forms: &'static str,
    /// How many instructions are among them.
    pub count: usize,
    /// `exact`, `model` or `approximate`, as docs/ptx.md has it.
    pub result: &'static str,
}

/// A reason why an entry can't run.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// Where it is first.
    pub line: u32,
    /// The column there.
    pub column: u32,
    /// What is wrong.
    pub error: String,
    /// The lines where it is again.
    pub again: Vec<u32>,
}

impl ExplainedModule {
    /// Of all entries.
    ///
    /// # Errors
    /// What keeps the module as a whole from being read.
    pub fn of(module: &Module<'_>) -> Result<ExplainedModule, DecodeError> {
        let entries = match decode::programs(module) {
            Ok(programs) => programs.iter().map(ExplainedEntry::running).collect(),
            Err(first) => {
                let mut entries = Vec::new();
                for named in &module.entries {
                    let all = decode::refusals(module, named);
                    entries.push(if all.is_empty() {
                        ExplainedEntry::running(&decode::program(module, named.name)?)
                    } else {
                        let (name, reasons) = (named.name.to_owned(), all.len());
                        ExplainedEntry { name, has: None, reasons, refusals: refusals(&all) }
                    });
                }
                if entries.iter().all(|entry| entry.has.is_some()) {
                    return Err(first);
                }
                entries
            }
        };
        let version = format!("{}.{}", module.version.0, module.version.1);
        Ok(ExplainedModule { version, target: module.target.to_owned(), entries })
    }

    /// Whether every entry can run.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.entries.iter().all(|entry| entry.has.is_some())
    }
}

impl ExplainedEntry {
    fn running(program: &Program) -> ExplainedEntry {
        let mut rows: BTreeMap<&'static str, (usize, Evidence)> = BTreeMap::new();
        for step in &program.steps {
            rows.entry(step.row.forms).or_insert((0, step.row.evidence)).0 += 1;
        }
        let rows = rows.into_iter().map(|(forms, (count, evidence))| UsedRow {
            forms,
            count,
            result: match evidence {
                Evidence::Exact => "exact",
                Evidence::Model => "model",
                Evidence::Approximate => "approximate",
            },
        });
        let parameters = program.params.iter().map(|param| ExplainedParameter {
            name: param.name.clone(),
            bytes: param.bytes,
            offset: param.offset,
        });
        let has = Inventory {
            parameters: parameters.collect(),
            most_threads: program.max_threads,
            required_block: program.required_block,
            shared: program.shared_bytes,
            local: program.local_bytes,
            instructions: program.steps.len(),
            rows: rows.collect(),
        };
        ExplainedEntry { name: program.name.clone(), has: Some(has), reasons: 0, refusals: Vec::new() }
    }
}

/// Each fault once, with the lines that have it again.
fn refusals(all: &[DecodeError]) -> Vec<Refusal> {
    let mut faults: Vec<Refusal> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for error in all {
        let words = error.fault.to_string();
        let at = *known.entry(words.clone()).or_insert(faults.len());
        match faults.get_mut(at) {
            Some(refusal) => refusal.again.push(error.at.line),
            None => {
                let (line, column) = (error.at.line, error.at.column);
                faults.push(Refusal { line, column, error: words, again: Vec::new() });
            }
        }
    }
    faults
}
