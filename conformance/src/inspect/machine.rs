//! The machine of `--iops`: the paper's, with the parameters that were set by name.

use sparse_kernels::iops::Machine;

/// A parameter that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// Not a name and a number.
    #[error("'{text}' is not NAME=NUMBER with a number below 2^32; write buffer_a=32768, say")]
    Form {
        /// As given.
        text: String,
    },
    /// No parameter of this name.
    #[error("the machine has no parameter '{name}'; it has {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
}

type Set = fn(&mut Machine, u32);

/// Every parameter by name.
const PARAMETERS: [(&str, Set); 9] = [
    ("groups_a", |m, number| m.groups_a = number as usize),
    ("groups_b", |m, number| m.groups_b = number as usize),
    ("buffer_a", |m, number| m.buffer_a = u64::from(number)),
    ("buffer_b", |m, number| m.buffer_b = u64::from(number)),
    ("psum", |m, number| m.psum = u64::from(number)),
    ("reserve", |m, number| m.reserve = number),
    ("clock_mhz", |m, number| m.clock_mhz = number),
    ("encode_rate", |m, number| m.encode_rate = number),
    ("dram_bytes", |m, number| m.dram_bytes = number),
];

/// The default machine with these set: `buffer_a=4096`, one each. What no machine can be is refused by the model.
///
/// # Errors
/// A text of another form, a name that the machine has not.
pub fn parse_machine(texts: &[String]) -> Result<Machine, MachineError> {
    let mut machine = Machine::default();
    for text in texts {
        let form = || MachineError::Form { text: text.clone() };
        let (name, number) = text.split_once('=').ok_or_else(form)?;
        let number: u32 = number.parse().map_err(|_| form())?;
        let (_, set) = PARAMETERS.iter().find(|(known, _)| *known == name).ok_or_else(|| unknown(name))?;
        set(&mut machine, number);
    }
    Ok(machine)
}

fn unknown(name: &str) -> MachineError {
    MachineError::Unknown { name: name.to_owned(), known: PARAMETERS.map(|(known, _)| known).join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_set_by_its_name() {
        let numbered: Vec<String> =
            PARAMETERS.iter().zip(1..).map(|((name, _), number)| format!("{name}={number}")).collect();
        let expected = Machine {
            groups_a: 1,
            groups_b: 2,
            buffer_a: 3,
            buffer_b: 4,
            psum: 5,
            reserve: 6,
            clock_mhz: 7,
            encode_rate: 8,
            dram_bytes: 9,
        };
        assert_eq!(parse_machine(&numbered), Ok(expected));
        assert_eq!(parse_machine(&[]), Ok(Machine::default()));
    }
}
