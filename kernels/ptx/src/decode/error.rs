//! What keeps an entry from running, and where.

use crate::text::Place;

/// An entry that this machine does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {fault}")]
pub struct DecodeError {
    /// Where it stands.
    pub at: Place,
    /// What is wrong.
    pub fault: DecodeFault,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeFault {
    /// No such entry.
    #[error("there is no entry '{name}'; the module has {known}")]
    NoEntry {
        /// What was asked for.
        name: String,
        /// Some of those that there are.
        known: String,
    },
    /// An instruction that the table lacks.
    #[error("'{form}' is not in the table of instructions; {near}")]
    UnknownForm {
        /// The instruction with its modifiers.
        form: String,
        /// Rows of the table that come near.
        near: String,
    },
    /// An instruction that is younger than the version of the module.
    #[error(
        "'{form}' came with PTX {}.{}, but the module says '.version {}.{}'",
        needs.0, needs.1, version.0, version.1
    )]
    Version {
        /// The instruction with its modifiers.
        form: String,
        /// The version that brought it.
        needs: (u8, u8),
        /// The module's.
        version: (u8, u8),
    },
    /// A target that is younger than the version of the module.
    #[error(
        "'.target {target}' came with PTX {}.{}, but the module says '.version {}.{}'; compile for that version or a newer one",
        needs.0, needs.1, version.0, version.1
    )]
    TargetVersion {
        /// The target.
        target: String,
        /// The version that brought it.
        needs: (u8, u8),
        /// The module's.
        version: (u8, u8),
    },
    /// A guard that is no predicate.
    #[error(
        "'@{register}' guards an instruction by a register of type '.{declared}', where one of type '.pred' belongs; compare first, with \
         'setp'"
    )]
    Guard {
        /// The register.
        register: String,
        /// Its type, without the point.
        declared: &'static str,
    },
    /// An instruction that the module's target lacks.
    #[error("'{form}' needs sm_{needs}, but the module says '.target {target}'")]
    Target {
        /// The instruction with its modifiers.
        form: String,
        /// The first architecture that has it.
        needs: u16,
        /// The module's.
        target: String,
    },
    /// An instruction of one architecture alone.
    #[error(
        "'{form}' needs {needs}, which no other target has, but the module says '.target {target}'; compile for compute_90a"
    )]
    BoundTarget {
        /// The instruction with its modifiers.
        form: String,
        /// The target that has it.
        needs: &'static str,
        /// The module's.
        target: String,
    },
    /// Too few operands or too many.
    #[error("'{form}' takes {expected} operands, but here are {found}")]
    Count {
        /// The instruction with its modifiers.
        form: String,
        /// How many there are.
        found: usize,
        /// How many it takes.
        expected: String,
    },
    /// An operand of the wrong kind.
    #[error("operand {number} of '{form}' is {found}, where {expected} belongs")]
    Operand {
        /// The instruction with its modifiers.
        form: String,
        /// Which operand, from 1.
        number: usize,
        /// What stands there.
        found: String,
        /// What belongs there.
        expected: String,
    },
    /// A register of a type that the instruction does not take.
    #[error(
        "operand {number} of '{form}' is '{register}', which is declared as '.{declared}', where a register of type {wanted} belongs; \
         declare it so, or bring its value into such a register: 'mov.b32' and its like copy bits, 'cvt' converts"
    )]
    RegisterType {
        /// The instruction with its modifiers.
        form: String,
        /// Which operand, from 1.
        number: usize,
        /// The register.
        register: String,
        /// Its type, without the point.
        declared: &'static str,
        /// The types that it may have.
        wanted: String,
    },
    /// A name that nothing declares.
    #[error("'{name}' is not declared: no register, special register, variable or parameter has this name")]
    Undeclared {
        /// The name.
        name: String,
    },
    /// A branch to nowhere.
    #[error("there is no label '{name}' in this scope or those around it")]
    Label {
        /// The label.
        name: String,
    },
    /// A name that is declared twice.
    #[error("'{name}' is declared twice in one scope")]
    Twice {
        /// The name.
        name: String,
    },
    /// It is PTX, but not what this machine runs.
    #[error("{what} is not supported: {help}")]
    NotSupported {
        /// What is not.
        what: String,
        /// Why, and what to do.
        help: &'static str,
    },
    /// More than fits.
    #[error("too much: {what} (at most {limit})")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much fits.
        limit: u64,
    },
}

/// The beginning of a name, for messages.
pub(super) fn short(name: &str) -> String {
    let mut short: String = name.chars().take(120).collect();
    if short.len() < name.len() {
        short.push_str("..");
    }
    short
}
