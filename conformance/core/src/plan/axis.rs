//! The factors of one contract, and which of their levels hide what a case shows.

use super::factors::{Draft, FACTORS, Factor, place};
use super::mix::Mix;
use super::number::EXTREME;
use crate::case::{Case, Params};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{PARAMETERS, Parameter};

/// Where [`GROUPS`] has matrices of one entry a row, and of hardly any.
const SINGLE_ENTRIES: u8 = 2;
const EMPTY_LINES: u8 = 5;
/// Where [`SHAPES`] has one row or column.
const SINGLE: u8 = 1;

/// The factor that masks the others.
pub(crate) const FAULT: &str = "fault";

/// A factor of one contract: one of the table, or a parameter of its formats.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// One of the table.
    Of(&'static Factor),
    /// Level 0 is the default, or a value that a manifest or a landmark names and that is no sample; the others are the samples.
    Parameter(&'static Parameter),
}

/// The factors of a contract.
pub(crate) fn axes(contract: &Contract) -> Vec<Axis> {
    let table = FACTORS.iter().filter(|f| (f.concerns)(contract)).map(Axis::Of);
    static TABLE: [Parameter; PARAMETERS.len()] = PARAMETERS;
    let own = TABLE.iter().filter(|p| contract.reads(p)).map(Axis::Parameter);
    table.chain(own).collect()
}

impl Axis {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Axis::Of(factor) => factor.name,
            Axis::Parameter(parameter) => parameter.name,
        }
    }

    pub(crate) fn levels(&self) -> u8 {
        match self {
            Axis::Of(factor) => factor.levels.len() as u8,
            Axis::Parameter(parameter) => 1 + parameter.samples.len() as u8,
        }
    }

    /// `alpha = 0`, `kb = 16`.
    pub(crate) fn level_name(&self, level: u8) -> String {
        match (self, level.checked_sub(1)) {
            (Axis::Of(factor), _) => {
                format!("{} {}", factor.name, factor.levels.get(usize::from(level)).unwrap_or(&"?"))
            }
            (Axis::Parameter(parameter), None) => format!("{} default", parameter.name),
            (Axis::Parameter(parameter), Some(at)) => {
                let value = parameter.samples.get(usize::from(at)).copied().unwrap_or(0);
                format!("{} {value}", parameter.name)
            }
        }
    }

    pub(crate) fn is_heavy(&self, level: u8) -> bool {
        matches!(self, Axis::Of(factor) if factor.heavy.contains(&level))
    }

    /// Levels under which a case shows nothing of its other factors: the request is refused, nothing is stored, A and B are not read.
    pub(crate) fn masking(&self) -> &'static [u8] {
        match self.name() {
            FAULT => &[1, 2, 3, 4, 5],
            "shape" | "n" => &[0],
            "alpha" | "pruned" => &[1],
            _ => &[],
        }
    }

    /// Levels of cases that show something.
    pub(crate) fn showing(&self) -> Vec<u8> {
        let all = 0..self.levels();
        all.filter(|level| !self.masking().contains(level)).collect()
    }

    /// Levels of cheap cases in which a wrong value shows as well: sums of several terms, not hidden by extreme alpha or beta.
    pub(crate) fn clear(&self) -> Vec<u8> {
        let hiding: &[u8] = match self.name() {
            "pattern" => &[SINGLE_ENTRIES, EMPTY_LINES],
            "shape" => &[SINGLE],
            "alpha" | "beta" => &[EXTREME],
            _ => &[],
        };
        let mut levels = self.showing();
        levels.retain(|level| !hiding.contains(level) && !self.is_heavy(*level));
        levels
    }

    /// Levels of cases that are small besides.
    pub(crate) fn plain(&self) -> Vec<u8> {
        match self.name() {
            "shape" => vec![2],
            "n" => vec![1, 2],
            _ => {
                let mut levels = self.showing();
                levels.retain(|level| !self.is_heavy(*level));
                levels
            }
        }
    }

    pub(crate) fn is_strong(&self) -> bool {
        matches!(self, Axis::Of(factor) if factor.strong)
    }

    pub(crate) fn set(&self, draft: &mut Draft, level: u8, mix: &mut Mix) {
        match (self, level.checked_sub(1)) {
            (Axis::Of(factor), _) => (factor.set)(draft, level, mix),
            (Axis::Parameter(_), None) => {}
            (Axis::Parameter(parameter), Some(at)) => {
                let value = parameter.samples.get(usize::from(at)).copied();
                value.into_iter().for_each(|v| (parameter.set)(&mut draft.params.blocks, v));
            }
        }
    }

    pub(crate) fn of(&self, case: &Case) -> Option<u8> {
        match self {
            Axis::Of(factor) => (factor.of)(case),
            Axis::Parameter(parameter) => {
                let value = (parameter.get)(&case.params.blocks);
                let default = (parameter.get)(&Params::default().blocks);
                let is_sample = |&sample: &u32| value != default && Some(sample) == value;
                Some(place(parameter.samples.iter().map(is_sample)).map_or(0, |at| at + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::NUMBERS;
    use super::super::sources::{GROUPS, SHAPES};
    use super::*;

    #[test]
    fn levels_known_by_number_have_their_names() {
        assert_eq!(NUMBERS[usize::from(EXTREME)], "extreme");
        assert_eq!(GROUPS[usize::from(SINGLE_ENTRIES)].0, "single-entry");
        assert_eq!(GROUPS[usize::from(EMPTY_LINES)].0, "empty-lines");
        assert_eq!(SHAPES[usize::from(SINGLE)], "single");
        let of = |name, level: usize| {
            let factor = FACTORS.iter().find(|factor| factor.name == name);
            factor.map(|factor| factor.levels[level])
        };
        assert_eq!((of("alpha", 1), of("mode", 1)), (Some("0"), Some("scale")));
    }
}
