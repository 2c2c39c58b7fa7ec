//! The file that describes a launch.
//!
//! ```toml
//! entry = "saxpy"            # may be left out where the module has one entry
//! architecture = "sm_90"     # by default the module's .target
//! grid = [2]                 # blocks: x, y, z
//! block = [128]              # threads of a block
//! dynamic_shared = 0         # bytes
//! steps = 1000000            # warp instructions, after which a loop counts as endless
//!
//! [[param]]
//! type = "f32"
//! value = 2.5
//!
//! [[param]]
//! name = "x"
//! type = "f32"
//! count = 256                # a buffer, whose address is the parameter
//! fill = 1.0                 # or values = [1, 2, 3], or file = "x.bin", or nothing: then nobody has written it
//! ```

use super::RunError;
use super::Shape;
use super::parameter::{Argument, Buffer, MOST_BYTES, Parameter, ParameterFault};
use serde::Deserialize;
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::machine::Launch;
use sparse_ptx::memory::MemoryError;
use sparse_ptx::program::Program;
use sparse_ptx::text::{Entry, Module, Type};
use std::collections::HashMap;
use std::path::Path;
use thiserror::Error;

/// What the machine plays.
const PLAYED: [Architecture; 5] =
    [Architecture::Sm80, Architecture::Sm86, Architecture::Sm89, Architecture::Sm90, Architecture::Sm100];

/// As the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchFile {
    entry: Option<String>,
    architecture: Option<String>,
    #[serde(default = "one")]
    grid: Vec<u32>,
    #[serde(default = "one")]
    block: Vec<u32>,
    #[serde(default)]
    dynamic_shared: u32,
    steps: Option<u64>,
    #[serde(default, rename = "param")]
    params: Vec<Parameter>,
}

fn one() -> Vec<u32> {
    vec![1]
}

/// A launch, as it was described.
#[derive(Clone, Debug)]
pub struct Described {
    /// Name of the entry.
    pub entry: String,
    /// What is played.
    pub architecture: Architecture,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    steps: Option<u64>,
    arguments: Vec<Argument>,
}

/// What is wrong with a description.
#[derive(Debug, Error)]
pub enum LaunchFileError {
    /// No TOML, or other keys.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// Not one to three numbers.
    #[error("`{0}` has one to three numbers: x, y, z")]
    Extent(&'static str),
    /// Which entry?
    #[error("`entry` says which of the module's entries is launched: {0}")]
    Entry(String),
    /// An architecture that the machine does not play.
    #[error(
        "'{0}' is no architecture that is played; name one by `architecture`: {known}",
        known = PLAYED.map(Architecture::name).join(", ")
    )]
    Architecture(String),
    /// An entry that the module lacks.
    #[error("`entry` is '{entry}', and the module has {known}")]
    NoEntry {
        /// What was asked for.
        entry: String,
        /// Those that there are.
        known: String,
    },
    /// Two buffers of one name.
    #[error("parameters {first} and {second} are both called '{name}'; give each a `name` of its own")]
    Twice {
        /// The number of one.
        first: usize,
        /// The number of the other.
        second: usize,
        /// What both are called.
        name: String,
    },
    /// A float for an integer, or the other way round.
    #[error(
        "parameter {number} ({name}) is a .{declared} in the entry, and `type = \"{given}\"` gives it the bits of another kind of number; \
         write `type = \"{declared}\"` and its `value`, or `type = \"b{bits}\"` if the bits are meant"
    )]
    Kind {
        /// Its number, from 1.
        number: usize,
        /// As the entry names it.
        name: String,
        /// Its type in the entry.
        declared: &'static str,
        /// Its type in the description.
        given: &'static str,
        /// Bits of both.
        bits: u8,
    },
    /// A parameter.
    #[error("parameter {number} (counted from 1): {fault}")]
    Parameter {
        /// Its number, from 1.
        number: usize,
        /// What is wrong.
        fault: ParameterFault,
    },
    /// More or fewer parameters than the entry has.
    #[error("{given} parameters are described, and entry {entry} has {expected}: {names}")]
    Count {
        /// Described.
        given: usize,
        /// Of the entry.
        expected: usize,
        /// The entry.
        entry: String,
        /// What they are called.
        names: String,
    },
    /// A parameter of another size.
    #[error(
        "parameter {number} ({name}) has {expected} bytes in the entry, and {given} as it is described; its `type` decides (an \
         address has 8)"
    )]
    Size {
        /// Its number, from 1.
        number: usize,
        /// As the entry names it.
        name: String,
        /// Bytes of the description.
        given: usize,
        /// Bytes in the entry.
        expected: u32,
    },
}

impl Described {
    /// Reads a description; files that it names lie in `folder`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, folder: &Path, module: &Module<'_>) -> Result<Described, LaunchFileError> {
        let file: LaunchFile = toml::from_str(text)?;
        let entry = match (&file.entry, &module.entries[..]) {
            (Some(entry), all) if all.iter().any(|known| known.name == entry) => entry.clone(),
            (Some(entry), all) => {
                return Err(LaunchFileError::NoEntry { entry: entry.clone(), known: listed(all) });
            }
            (None, [only]) => only.name.to_owned(),
            (None, all) => return Err(LaunchFileError::Entry(listed(all))),
        };
        let name = file.architecture.as_deref().unwrap_or(module.target);
        // Architecture-specific targets, such as sm_90a.
        let architecture = Architecture::from_name(name.trim_end_matches(['a', 'f']));
        let architecture = architecture.filter(|known| PLAYED.contains(known));
        let architecture = architecture.ok_or_else(|| LaunchFileError::Architecture(name.to_owned()))?;
        let mut left = MOST_BYTES;
        let checked = |(at, parameter): (usize, &Parameter)| {
            let number = at + 1;
            let argument = parameter.checked(number, folder, &mut left);
            argument.map_err(|fault| LaunchFileError::Parameter { number, fault })
        };
        let arguments = file.params.iter().enumerate().map(checked).collect::<Result<Vec<_>, _>>()?;
        kinds(&file.params, module, &entry)?;
        names(&arguments)?;
        Ok(Described {
            entry,
            architecture,
            grid: extent("grid", &file.grid)?,
            block: extent("block", &file.block)?,
            dynamic_shared: file.dynamic_shared,
            steps: file.steps,
            arguments,
        })
    }

    /// The shape of the launch, for what is printed.
    pub(super) fn shape(&self, program: &Program, order: u64) -> Shape {
        Shape {
            entry: self.entry.clone(),
            target: program.target.clone(),
            architecture: self.architecture.name().to_owned(),
            grid: self.grid,
            block: self.block,
            static_shared: program.shared_bytes,
            dynamic_shared: self.dynamic_shared,
            orders: vec![order],
        }
    }

    /// The launch, without parameters.
    pub(super) fn launch(&self) -> Launch {
        let mut launch = Launch::new(self.architecture, 1, 1, Vec::new());
        (launch.grid, launch.block) = (self.grid, self.block);
        launch.dynamic_shared = self.dynamic_shared;
        launch.step_limit = self.steps.unwrap_or(launch.step_limit);
        launch
    }

    /// The bytes of all parameters; `place` gives a buffer an address.
    pub(super) fn lay_out<'a>(
        &'a self,
        program: &Program,
        place: &mut impl FnMut(&'a Buffer) -> Result<u64, MemoryError>,
    ) -> Result<Vec<u8>, RunError> {
        if self.arguments.len() != program.params.len() {
            let names: Vec<&str> = program.params.iter().map(|param| param.name.as_str()).collect();
            return Err(RunError::File(LaunchFileError::Count {
                given: self.arguments.len(),
                expected: program.params.len(),
                entry: program.name.clone(),
                names: names.join(", "),
            }));
        }
        let mut params = vec![0; program.param_bytes as usize];
        for (at, (argument, param)) in self.arguments.iter().zip(&program.params).enumerate() {
            let bytes = match argument {
                Argument::Bytes(bytes) => bytes.clone(),
                Argument::Buffer(buffer) => place(buffer)?.to_le_bytes().to_vec(),
            };
            let wrong = || LaunchFileError::Size {
                number: at + 1,
                name: param.name.clone(),
                given: bytes.len(),
                expected: param.bytes,
            };
            if bytes.len() != param.bytes as usize {
                return Err(wrong().into());
            }
            let room = params.get_mut(param.offset as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
            room.ok_or_else(wrong)?.copy_from_slice(&bytes);
        }
        Ok(params)
    }
}

fn extent(name: &'static str, given: &[u32]) -> Result<[u32; 3], LaunchFileError> {
    match *given {
        [x] => Ok([x, 1, 1]),
        [x, y] => Ok([x, y, 1]),
        [x, y, z] => Ok([x, y, z]),
        _ => Err(LaunchFileError::Extent(name)),
    }
}

/// The names of entries, of many the first.
fn listed(entries: &[Entry<'_>]) -> String {
    const MOST: usize = 8;
    let names: Vec<&str> = entries.iter().take(MOST).map(|entry| entry.name).collect();
    match entries.len().checked_sub(MOST) {
        _ if names.is_empty() => "no entry".to_owned(),
        Some(more @ 1..) => format!("{} and {more} more", names.join(", ")),
        _ => names.join(", "),
    }
}

/// A parameter that the entry declares as an integer takes no float, and the other way round; `.bN` takes both.
fn kinds(given: &[Parameter], module: &Module<'_>, entry: &str) -> Result<(), LaunchFileError> {
    let entry = module.entries.iter().find(|known| known.name == entry);
    let declared = entry.map_or(&[][..], |entry| &entry.params);
    let is_float = |ty: Type| match ty {
        Type::F16 | Type::F32 | Type::F64 => Some(true),
        Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S8 | Type::S16 | Type::S32 | Type::S64 => {
            Some(false)
        }
        Type::Pred | Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 | Type::F16x2 => None,
    };
    for (at, (parameter, variable)) in given.iter().zip(declared).enumerate() {
        let (Some(ty), declared) = (parameter.number(), variable.ty) else { continue };
        if ty.bytes() == declared.bytes()
            && let (Some(a), Some(b)) = (is_float(ty), is_float(declared))
            && a != b
        {
            return Err(LaunchFileError::Kind {
                number: at + 1,
                name: variable.name.to_owned(),
                declared: declared.name(),
                given: ty.name(),
                bits: ty.bytes() * 8,
            });
        }
    }
    Ok(())
}

/// No two buffers have one name.
fn names(arguments: &[Argument]) -> Result<(), LaunchFileError> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (argument, second) in arguments.iter().zip(1..) {
        let Argument::Buffer(buffer) = argument else { continue };
        if let Some(first) = known.insert(&buffer.name, second) {
            return Err(LaunchFileError::Twice { first, second, name: buffer.name.clone() });
        }
    }
    Ok(())
}
