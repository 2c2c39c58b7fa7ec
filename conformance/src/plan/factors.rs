//! What a plan varies: one table of factors, each with its levels, how a level is drawn, and how it is told from a case.
//!
//! ```text
//! level --set--> draft of a case --(matrix chosen)--> case        case --of--> level
//! ```
//!
//! A plan pairs levels (see `cover`); what stands for a level is drawn again in each case. Both ways are written apart, so that what a run
//! has covered is measured from its case lines alone.

use super::mix::Mix;
use super::sources::{GROUPS, SHAPES, classes};
use crate::case::{Case, Fault, Filling, Params};
use crate::encodings::{Encoding, EncodingInfo};
use crate::right::Right;
use crate::sequence::After;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{FormatKind, Layout, PARAMETERS, Parameter};
use sparse_oracle::scalar::{Precision, Rounding, decode, encode};
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::SddmmMode;

/// A case in the making.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub contract: Contract,
    pub params: Params,
    /// Group of generators, in [`GROUPS`].
    pub group: usize,
    /// Class of shape, in [`SHAPES`].
    pub shape: usize,
    pub values: ValueFamily,
    /// Which of a level's choices are taken: counts up from case to case.
    pub turn: u64,
}

/// Something that a plan varies.
#[derive(Debug)]
pub(crate) struct Factor {
    pub name: &'static str,
    /// Names of the levels.
    pub levels: &'static [&'static str],
    /// Levels whose cases cost much: their pairs are shared out among the element types of a format.
    pub heavy: &'static [u8],
    /// Any three of these are covered together.
    pub strong: bool,
    pub concerns: fn(&Contract) -> bool,
    pub set: fn(&mut Draft, u8, &mut Mix),
    /// The level of a case; none for one that no plan draws.
    pub of: fn(&Case) -> Option<u8>,
}

/// Columns of B, or the inner extent of SDDMM, by level: what is drawn, and the largest of the level.
const WIDTHS: [(&[usize], usize); 10] = [
    (&[0], 0),
    (&[1], 1),
    (&[2, 3, 4, 5, 6, 7, 8, 8], 8),
    (&[9, 11, 13, 15, 16, 16], 16),
    (&[17, 18, 20, 24], 24),
    (&[25, 27, 31, 32, 32, 33], 33),
    (&[63, 64, 65], 100),
    (&[127, 128, 129], 200),
    (&[255, 256, 257], 300),
    (&[511, 512, 1000], usize::MAX),
];

/// Families of values that are alike; members take turns.
pub(crate) const VALUE_GROUPS: [(&str, &[ValueFamily]); 8] = [
    (
        "ones",
        &[ValueFamily::Ones, ValueFamily::OnesA, ValueFamily::OnesB],
    ),
    (
        "integers",
        &[
            ValueFamily::SmallInt,
            ValueFamily::SmallInt,
            ValueFamily::SignedZero,
        ],
    ),
    ("coded", &[ValueFamily::Coded]),
    ("near-one", &[ValueFamily::NearOne, ValueFamily::OneBig]),
    ("wide", &[ValueFamily::Wide, ValueFamily::Huge]),
    (
        "cancelling",
        &[ValueFamily::Cancelling, ValueFamily::NearCancelling],
    ),
    (
        "subnormal",
        &[
            ValueFamily::Subnormal,
            ValueFamily::SubnormalA,
            ValueFamily::SubnormalB,
            ValueFamily::SubnormalSums,
        ],
    ),
    ("special", &[ValueFamily::Special, ValueFamily::PlacedSpecial]),
];

/// The group of a family of values, which is the level of its cases.
pub(crate) fn group_of_values(family: ValueFamily) -> u8 {
    place(VALUE_GROUPS.iter().map(|group| group.1.contains(&family))).unwrap_or(0)
}

const VALUE_NAMES: [&str; VALUE_GROUPS.len()] = names(&VALUE_GROUPS);
const GROUP_NAMES: [&str; GROUPS.len()] = names(&GROUPS);

const fn names<T: Copy, const N: usize>(table: &[(&'static str, &'static [T]); N]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut at = 0;
    while at < N {
        all[at] = table[at].0;
        at += 1;
    }
    all
}

const NUMBERS: [&str; 6] = ["1", "0", "-1", "power of 2", "full significand", "extreme"];
/// Where [`NUMBERS`] has the tiny and the huge ones.
const EXTREME: u8 = 5;
/// Where [`GROUPS`] has matrices of one entry a row, and of hardly any.
const SINGLE_ENTRIES: u8 = 2;
const EMPTY_LINES: u8 = 5;
/// Where [`SHAPES`] has one row or column.
const SINGLE: u8 = 1;
const NO_YES: [&str; 2] = ["no", "yes"];
const ORDER: [&str; 2] = ["row", "col"];
const PADS: [&str; 3] = ["0", "1 to 7", "8 and more"];

/// Every factor besides the parameters of formats.
pub(crate) static FACTORS: [Factor; 20] = [
    Factor {
        name: "pattern",
        levels: &GROUP_NAMES,
        heavy: &[],
        strong: false,
        concerns: |_| true,
        set: |d, level, _| d.group = usize::from(level),
        of: |case| Some(classes(&case.origin)?.0 as u8),
    },
    Factor {
        name: "shape",
        levels: &SHAPES,
        heavy: &[7, 8, 9],
        strong: false,
        concerns: |_| true,
        set: |d, level, _| d.shape = usize::from(level),
        of: |case| Some(classes(&case.origin)?.1 as u8),
    },
    Factor {
        name: "values",
        levels: &VALUE_NAMES,
        heavy: &[],
        strong: false,
        concerns: |_| true,
        set: |d, level, _| {
            let members = VALUE_GROUPS[usize::from(level)].1;
            d.values = members[(d.turn % members.len() as u64) as usize];
        },
        of: |case| {
            let Filling::Drawn(family, _) = case.filling else {
                return None;
            };
            Some(group_of_values(family))
        },
    },
    Factor {
        name: "n",
        levels: &[
            "0",
            "1",
            "2 to 8",
            "9 to 16",
            "17 to 24",
            "25 to 33",
            "64",
            "128",
            "256",
            "511 and more",
        ],
        heavy: &[7, 8, 9],
        strong: false,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Sddmm | Op::Spgemm),
        set: |d, level, mix| d.params.n = mix.pick(WIDTHS[usize::from(level)].0),
        of: |case| place(WIDTHS.iter().map(|&(_, most)| case.params.n <= most)),
    },
    Factor {
        name: "alpha",
        levels: &NUMBERS,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Spmv | Op::Sddmm),
        set: |d, level, mix| d.params.alpha = number(level, d.contract.types.acc, mix),
        of: |case| Some(number_class(case.params.alpha)),
    },
    Factor {
        name: "beta",
        levels: &NUMBERS,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Spmv | Op::Sddmm),
        set: |d, level, mix| d.params.beta = number(level, d.contract.types.acc, mix),
        of: |case| Some(number_class(case.params.beta)),
    },
    Factor {
        name: "A transposed",
        levels: &NO_YES,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Spmv),
        set: |d, level, _| d.params.transpose_a = level == 1,
        of: |case| Some(u8::from(case.params.transpose_a)),
    },
    Factor {
        name: "B transposed",
        levels: &NO_YES,
        heavy: &[],
        strong: true,
        concerns: |c| c.op == Op::Spmm,
        set: |d, level, _| d.params.transpose_b = level == 1,
        of: |case| Some(u8::from(case.params.transpose_b)),
    },
    Factor {
        name: "layout of B (X)",
        levels: &ORDER,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Sddmm),
        set: |d, level, _| d.params.layout_b = layout(level),
        of: |case| Some(u8::from(case.params.layout_b == Layout::ColMajor)),
    },
    Factor {
        name: "layout of C (Y)",
        levels: &ORDER,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Sddmm),
        set: |d, level, _| match d.contract.op {
            Op::Sddmm => d.params.layout_y = Some(layout(level)),
            _ => d.params.layout_c = layout(level),
        },
        of: |case| {
            let p = &case.params;
            let of_y = p.layout_y.unwrap_or(p.layout_b);
            let found = if case.contract.op == Op::Sddmm {
                of_y
            } else {
                p.layout_c
            };
            Some(u8::from(found == Layout::ColMajor))
        },
    },
    Factor {
        name: "pad of B (X)",
        levels: &PADS,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Sddmm),
        set: |d, level, mix| d.params.pad_b = pad(level, mix),
        of: |case| Some(pad_class(case.params.pad_b)),
    },
    Factor {
        name: "pad of C (Y)",
        levels: &PADS,
        heavy: &[],
        strong: true,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Sddmm),
        set: |d, level, mix| match d.contract.op {
            Op::Sddmm => d.params.pad_y = Some(pad(level, mix)),
            _ => d.params.pad_c = pad(level, mix),
        },
        of: |case| {
            let p = &case.params;
            let of_y = p.pad_y.unwrap_or(p.pad_b);
            Some(pad_class(if case.contract.op == Op::Sddmm {
                of_y
            } else {
                p.pad_c
            }))
        },
    },
    Factor {
        name: "mode",
        levels: &["pattern", "scale", "add-s"],
        heavy: &[],
        strong: true,
        concerns: |c| c.op == Op::Sddmm,
        set: |d, level, _| {
            d.params.mode = [SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS][usize::from(level)];
        },
        of: |case| Some(case.params.mode as u8),
    },
    Factor {
        name: "duplicates",
        levels: &NO_YES,
        heavy: &[],
        strong: false,
        concerns: |c| c.format == FormatKind::Coo && c.op != Op::Sddmm,
        set: |d, level, _| d.params.duplicates = level == 1,
        of: |case| Some(u8::from(case.params.duplicates)),
    },
    Factor {
        name: "pruned",
        levels: &["as needed", "left as it is"],
        heavy: &[],
        strong: false,
        concerns: |c| c.to.is_some_and(FormatKind::is_structured),
        set: |d, level, _| d.params.unpruned = level == 1,
        of: |case| Some(u8::from(case.params.unpruned)),
    },
    Factor {
        name: "encoding",
        levels: &["canonical", "loose"],
        heavy: &[],
        strong: false,
        concerns: |c| EncodingInfo::of(c.format).is_loose,
        set: |d, level, _| {
            d.params.encoding = if level == 1 {
                Encoding::Loose
            } else {
                Encoding::Canonical
            };
        },
        of: |case| Some(u8::from(case.params.encoding == Encoding::Loose)),
    },
    Factor {
        name: "B of SpGEMM",
        levels: &["thin", "same", "long", "collide", "cancel"],
        heavy: &[],
        strong: false,
        concerns: |c| c.op == Op::Spgemm,
        set: |d, level, _| d.params.right = Right::ALL[usize::from(level)].0,
        of: |case| place(Right::ALL.iter().map(|r| r.0 == case.params.right)),
    },
    Factor {
        name: "alignment",
        levels: &["64 bytes", "past it"],
        heavy: &[],
        strong: false,
        concerns: |c| matches!(c.op, Op::Spmm | Op::Spmv | Op::Sddmm),
        set: |d, level, mix| {
            d.params.align = if level == 1 {
                mix.pick(&[1, 1, 2, 3, 4, 5, 7, 8, 15])
            } else {
                0
            }
        },
        of: |case| Some(u8::from(case.params.align > 0)),
    },
    Factor {
        name: "after",
        levels: &["nothing", "contents", "extents", "freed", "other", "many"],
        heavy: &[5],
        strong: false,
        concerns: |_| true,
        set: |d, level, _| d.params.after = AFTER[usize::from(level)],
        of: |case| place(AFTER.iter().map(|&after| after == case.params.after)),
    },
    Factor {
        name: FAULT,
        levels: &[
            "none",
            "alpha-nan",
            "beta-inf",
            "inner-shape",
            "short-output",
            "small-ldc",
        ],
        heavy: &[],
        strong: false,
        concerns: |c| Fault::ALL.iter().any(|f| f.0.concerns(c.op)),
        set: |d, level, _| d.params.fault = usize::from(level).checked_sub(1).map(|at| Fault::ALL[at].0),
        of: |case| match case.params.fault {
            None => Some(0),
            Some(fault) => place(Fault::ALL.iter().map(|f| f.0 == fault)).map(|at| at + 1),
        },
    },
];

/// Calls before the judged one, by level.
const AFTER: [Option<After>; 6] = [
    None,
    Some(After::Contents),
    Some(After::Extents),
    Some(After::Freed),
    Some(After::Other),
    Some(After::Many),
];

/// The factor that masks the others.
pub(crate) const FAULT: &str = "fault";

/// A factor of one contract: one of the table, or a parameter of its formats.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// One of the table.
    Of(&'static Factor),
    /// Level 0 is the default, the others are the parameter's samples.
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
                format!(
                    "{} {}",
                    factor.name,
                    factor.levels.get(usize::from(level)).unwrap_or(&"?")
                )
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

    /// Levels of cases that show their values, too, at a low price: sums of some terms, which no factor drowns.
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
                value
                    .into_iter()
                    .for_each(|v| (parameter.set)(&mut draft.params.blocks, v));
            }
        }
    }

    pub(crate) fn of(&self, case: &Case) -> Option<u8> {
        match self {
            Axis::Of(factor) => (factor.of)(case),
            Axis::Parameter(parameter) => {
                let value = (parameter.get)(&case.params.blocks);
                if value == (parameter.get)(&Params::default().blocks) {
                    return Some(0);
                }
                let at = place(parameter.samples.iter().map(|&sample| Some(sample) == value))?;
                Some(at + 1)
            }
        }
    }
}

/// The first place that holds true.
fn place(mut list: impl Iterator<Item = bool>) -> Option<u8> {
    list.position(|holds| holds).map(|at| at as u8)
}

fn layout(level: u8) -> Layout {
    if level == 1 {
        Layout::ColMajor
    } else {
        Layout::RowMajor
    }
}

fn pad(level: u8, mix: &mut Mix) -> usize {
    match level {
        0 => 0,
        1 => mix.pick(&[1, 1, 2, 3, 4, 5, 7]),
        _ => mix.pick(&[8, 8, 16, 29]),
    }
}

fn pad_class(pad: usize) -> u8 {
    match pad {
        0 => 0,
        1..=7 => 1,
        _ => 2,
    }
}

/// A factor of the level, as a number of the accumulator's type.
fn number(level: u8, acc: Precision, mix: &mut Mix) -> f64 {
    let spec = acc.spec();
    let drawn = match level {
        0 => 1.0,
        1 => mix.pick(&[0.0, 0.0, 0.0, -0.0]),
        2 => -1.0,
        3 => mix.pick(&[2.0, 0.5, -2.0, -0.5, 4.0]),
        4 => {
            let random = 1.0 + mix.below(1 << 52) as f64 / (1u64 << 52) as f64;
            // One step of f16 above 1 is near it, and is not.
            let near = 1.0 + 1.0 / 1024.0;
            let known = [0.1, 1.0 / 3.0, std::f64::consts::PI, 3.0, -1.7, near];
            mix.pick(&[&known[..], &[random, -random]].concat())
        }
        _ => {
            let tiny = 2f64.powi(spec.emin);
            let huge = spec.max_finite();
            mix.pick(&[tiny, tiny * 1.5, -tiny / 4.0, huge / 4.0, -huge / 16.0, huge])
        }
    };
    decode(encode(drawn, acc, Rounding::NearestEven), acc)
}

/// True for two factors of one level.
pub(crate) fn same_level(a: f64, b: f64) -> bool {
    number_class(a) == number_class(b)
}

/// The level of a factor.
fn number_class(value: f64) -> u8 {
    let size = value.abs();
    match () {
        () if value == 1.0 => 0,
        () if value == 0.0 => 1,
        () if value == -1.0 => 2,
        () if !(2f64.powi(-6)..=2f64.powi(6)).contains(&size) => 5,
        () if size.log2().fract() == 0.0 => 3,
        () => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::source::values::VALUE_FAMILIES;

    #[test]
    fn every_family_of_values_is_in_one_group() {
        for info in &VALUE_FAMILIES {
            let groups = VALUE_GROUPS.iter().filter(|g| g.1.contains(&info.family)).count();
            assert_eq!(groups, 1, "{} belongs to one group of VALUE_GROUPS", info.name);
        }
    }

    #[test]
    fn levels_known_by_number_have_their_names() {
        assert_eq!(NUMBERS[usize::from(EXTREME)], "extreme");
        assert_eq!(GROUP_NAMES[usize::from(SINGLE_ENTRIES)], "single-entry");
        assert_eq!(GROUP_NAMES[usize::from(EMPTY_LINES)], "empty-lines");
        assert_eq!(SHAPES[usize::from(SINGLE)], "single");
        let of = |name, level: usize| {
            let factor = FACTORS.iter().find(|factor| factor.name == name);
            factor.map(|factor| factor.levels[level])
        };
        assert_eq!((of("alpha", 1), of("mode", 1)), (Some("0"), Some("scale")));
    }

    #[test]
    fn numbers_are_of_the_level_that_they_are_drawn_for() {
        let mut mix = Mix::new(&[3]);
        for acc in [Precision::F64, Precision::F32, Precision::F16] {
            for level in 0..NUMBERS.len() as u8 {
                for _ in 0..40 {
                    let drawn = number(level, acc, &mut mix);
                    assert_eq!(number_class(drawn), level, "{drawn} in {acc}");
                }
            }
        }
    }
}
