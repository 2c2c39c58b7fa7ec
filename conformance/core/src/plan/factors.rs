//! What a plan varies: one table of factors, each with its levels, how a level is drawn, and how it is told from a case.
//!
//! ```text
//! level --set--> draft of a case --(matrix chosen)--> case        case --of--> level
//! ```
//!
//! A plan pairs levels (see `cover`); what stands for a level is drawn again in each case. Both ways are written apart, so that what a run
//! has covered is measured from its case lines alone.

use super::axis::FAULT;
use super::mix::Mix;
use super::number::{NUMBERS, number, number_class};
use super::sources::{GROUPS, SHAPES, classes};
use crate::case::{Case, Fault, Filling, Params};
use crate::encodings::Encoding;
use crate::keys;
use crate::right::Right;
use crate::sequence::After;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{FormatKind, Layout};
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
    ("ones", &[ValueFamily::Ones, ValueFamily::OnesA, ValueFamily::OnesB]),
    ("integers", &[ValueFamily::SmallInt, ValueFamily::SmallInt, ValueFamily::SignedZero]),
    ("coded", &[ValueFamily::Coded]),
    ("near-one", &[ValueFamily::NearOne, ValueFamily::OneBig, ValueFamily::OneTerm]),
    ("wide", &[ValueFamily::Wide, ValueFamily::Huge]),
    ("cancelling", &[ValueFamily::Cancelling, ValueFamily::NearCancelling]),
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
        levels: &["0", "1", "2 to 8", "9 to 16", "17 to 24", "25 to 33", "64", "128", "256", "511 and more"],
        heavy: &[7, 8, 9],
        strong: false,
        concerns: |c| keys::is_read("n", c),
        set: |d, level, mix| d.params.n = mix.pick(WIDTHS[usize::from(level)].0),
        of: |case| place(WIDTHS.iter().map(|&(_, most)| case.params.n <= most)),
    },
    Factor {
        name: "alpha",
        levels: &NUMBERS,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("alpha", c),
        set: |d, level, mix| d.params.alpha = number(level, d.contract.types.acc, mix),
        of: |case| Some(number_class(case.params.alpha)),
    },
    Factor {
        name: "beta",
        levels: &NUMBERS,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("beta", c),
        set: |d, level, mix| d.params.beta = number(level, d.contract.types.acc, mix),
        of: |case| Some(number_class(case.params.beta)),
    },
    Factor {
        name: "A transposed",
        levels: &NO_YES,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("ta", c),
        set: |d, level, _| d.params.transpose_a = level == 1,
        of: |case| Some(u8::from(case.params.transpose_a)),
    },
    Factor {
        name: "B transposed",
        levels: &NO_YES,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("tb", c),
        set: |d, level, _| d.params.transpose_b = level == 1,
        of: |case| Some(u8::from(case.params.transpose_b)),
    },
    Factor {
        name: "layout of B (X)",
        levels: &ORDER,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("lb", c),
        set: |d, level, _| d.params.layout_b = layout(level),
        of: |case| Some(u8::from(case.params.layout_b == Layout::ColMajor)),
    },
    Factor {
        name: "layout of C (Y)",
        levels: &ORDER,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("lc", c) || keys::is_read("ly", c),
        set: |d, level, _| {
            if has_y(&d.contract) {
                d.params.layout_y = Some(layout(level));
            } else {
                d.params.layout_c = layout(level);
            }
        },
        of: |case| {
            let p = &case.params;
            let of_y = p.layout_y.unwrap_or(p.layout_b);
            let found = if has_y(&case.contract) { of_y } else { p.layout_c };
            Some(u8::from(found == Layout::ColMajor))
        },
    },
    Factor {
        name: "pad of B (X)",
        levels: &PADS,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("ldb", c),
        set: |d, level, mix| d.params.pad_b = pad(level, mix),
        of: |case| Some(pad_class(case.params.pad_b)),
    },
    Factor {
        name: "pad of C (Y)",
        levels: &PADS,
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("ldc", c) || keys::is_read("ldy", c),
        set: |d, level, mix| {
            if has_y(&d.contract) {
                d.params.pad_y = Some(pad(level, mix));
            } else {
                d.params.pad_c = pad(level, mix);
            }
        },
        of: |case| {
            let p = &case.params;
            let of_y = p.pad_y.unwrap_or(p.pad_b);
            Some(pad_class(if has_y(&case.contract) { of_y } else { p.pad_c }))
        },
    },
    Factor {
        name: "mode",
        levels: &["pattern", "scale", "add-s"],
        heavy: &[],
        strong: true,
        concerns: |c| keys::is_read("mode", c),
        set: |d, level, _| d.params.mode = SddmmMode::ALL[usize::from(level)],
        of: |case| Some(case.params.mode as u8),
    },
    Factor {
        name: "duplicates",
        levels: &NO_YES,
        heavy: &[],
        strong: false,
        concerns: |c| c.format == FormatKind::Coo && !c.op.is_sampled(),
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
        concerns: |c| keys::is_read("enc", c),
        set: |d, level, _| {
            d.params.encoding = if level == 1 { Encoding::Loose } else { Encoding::Canonical };
        },
        of: |case| Some(u8::from(case.params.encoding == Encoding::Loose)),
    },
    Factor {
        name: "B of SpGEMM",
        levels: &["thin", "same", "long", "collide", "cancel"],
        heavy: &[],
        strong: false,
        concerns: |c| keys::is_read("b", c),
        set: |d, level, _| d.params.right = Right::ALL[usize::from(level)].0,
        of: |case| place(Right::ALL.iter().map(|r| r.0 == case.params.right)),
    },
    Factor {
        name: "alignment",
        levels: &["64 bytes", "past it"],
        heavy: &[],
        strong: false,
        concerns: |c| keys::is_read("align", c),
        set: |d, level, mix| {
            d.params.align = if level == 1 { mix.pick(&[1, 1, 2, 3, 4, 5, 7, 8, 15]) } else { 0 }
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
        levels: &["none", "alpha-nan", "beta-inf", "inner-shape", "short-output", "small-ldc"],
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

/// The first place that holds true.
pub(super) fn place(mut list: impl Iterator<Item = bool>) -> Option<u8> {
    list.position(|holds| holds).map(|at| at as u8)
}

/// True where there is a second dense operand, and no C with a layout.
fn has_y(contract: &Contract) -> bool {
    keys::is_read("ly", contract)
}

fn layout(level: u8) -> Layout {
    if level == 1 { Layout::ColMajor } else { Layout::RowMajor }
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
}
