//! Counts, for each family of values, the cases of a contract in which its values reach the result. Each family finds bugs that no
//! other finds, so each must be in some.
//!
//! ```text
//! levels allowed, without what hides values -> clear      a case whose levels are all clear shows its family
//! a row of `BESIDE`: one level set, the others clear      NaN and Inf beside alpha = 0 show that A and B were read
//! ```

use super::axis::Axis;
use super::cover::Row;
use super::factors::{VALUE_GROUPS, group_of_values};
use crate::case::{Case, Filling};
use sparse_oracle::source::values::ValueFamily;

/// A level with which some families find bugs that they find with no other level.
struct Beside {
    factor: &'static str,
    level: u8,
    families: &'static [ValueFamily],
}

const BESIDE: [Beside; 2] = [
    // alpha = 0: none of them may be read.
    Beside { factor: "alpha", level: 1, families: &[ValueFamily::Special] },
    // SDDMM's mode scale: a zero of S is multiplied by NaN, by Inf, or by a negative product, which makes it -0.
    Beside {
        factor: "mode",
        level: 1,
        families: &[ValueFamily::Special, ValueFamily::PlacedSpecial, ValueFamily::SignedZero],
    },
];

/// A family of values, and how it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct View {
    pub values: ValueFamily,
    /// The factor and the level of a row of `BESIDE`.
    beside: Option<(usize, u8)>,
}

/// A view has enough cases at this many of [`View::weight`].
pub(super) const ENOUGH: u32 = 3;

impl View {
    /// One case shows a family. Beside a level three are wanted: a zero of S has to face a NaN there, which it does by chance.
    const fn weight(self) -> u32 {
        if self.beside.is_some() { 1 } else { ENOUGH }
    }
}

/// The number of cases of each view, of those that a backend takes.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    values: Option<usize>,
    /// Levels beside which values show, by factor.
    clear: Vec<Vec<u8>>,
    counts: Vec<(View, u32)>,
}

impl Shown {
    /// No case yet; `allowed` are the levels that the backend takes.
    pub(super) fn new(axes: &[Axis], allowed: &[Vec<u8>]) -> Shown {
        let place = |name| axes.iter().position(|axis| axis.name() == name);
        let values = place("values");
        let groups = values.iter().flat_map(|&f| &allowed[f]);
        let families = groups.flat_map(|&level| VALUE_GROUPS[usize::from(level)].1);
        let mut views: Vec<View> = families.map(|&values| View { values, beside: None }).collect();
        for row in &BESIDE {
            let Some(f) = place(row.factor).filter(|&f| allowed[f].contains(&row.level)) else {
                continue;
            };
            let taken = |values: &&ValueFamily| views.iter().any(|view| view.values == **values);
            let beside = row
                .families
                .iter()
                .filter(taken)
                .map(|&values| View { values, beside: Some((f, row.level)) });
            let beside: Vec<View> = beside.collect();
            views.extend(beside);
        }
        views.sort_unstable();
        views.dedup();
        Shown {
            values,
            clear: axes.iter().zip(allowed).map(clear).collect(),
            counts: views.into_iter().map(|view| (view, 0)).collect(),
        }
    }

    /// Counts the case for every view that it belongs to; true if there is one.
    pub(super) fn note(&mut self, row: &Row, case: &Case) -> bool {
        let Filling::Drawn(values, _) = case.filling else {
            return false;
        };
        let clear = &self.clear;
        let is = |view: &View| {
            let shows = |f: usize| match view.beside {
                Some((factor, level)) if factor == f => row[f] == level,
                _ => clear[f].contains(&row[f]),
            };
            view.values == values && (0..row.len()).all(shows)
        };
        let mine = self.counts.iter_mut().filter(|(view, _)| is(view));
        mine.map(|(_, cases)| *cases += 1).count() > 0
    }

    /// The view that lacks the most cases, and how many it has of each three that it should have.
    pub(super) fn rarest(&self) -> Option<(View, u32)> {
        self.counts.iter().map(|&(view, cases)| (view, cases * view.weight())).min_by_key(|count| count.1)
    }

    /// Levels beside which values show, by factor.
    pub(super) fn clear(&self) -> &[Vec<u8>] {
        &self.clear
    }

    /// Puts the levels that make a view into a row.
    pub(super) fn set(&self, row: &mut Row, view: View) {
        if let Some(f) = self.values {
            row[f] = group_of_values(view.values);
        }
        if let Some((f, level)) = view.beside {
            row[f] = level;
        }
    }
}

/// The allowed levels of a factor that hide no values; a backend that takes nothing else is judged on what does.
fn clear((axis, allowed): (&Axis, &Vec<u8>)) -> Vec<u8> {
    let clear = axis.clear();
    let both: Vec<u8> = allowed.iter().copied().filter(|level| clear.contains(level)).collect();
    if both.is_empty() { allowed.clone() } else { both }
}

#[cfg(test)]
mod tests {
    use super::super::axis::axes;
    use super::super::demand::row_of;
    use super::*;

    /// "alpha: 0 reads A and B" went unseen on all 162 cases of an SpMV: the only NaN beside alpha = 0 was on a matrix of one row.
    #[test]
    fn a_case_shows_its_values_where_nothing_hides_them() {
        let contract = "spmv.csr.f32_f32_f32_f32";
        let case = |rest: &str| -> Case { format!("{contract}/{rest}").parse().expect("a case line") };
        let plain = case("uniform:rows=40,cols=40,density=0.2,seed=1/values=subnormal,1");
        let axes = axes(&plain.contract);
        let allowed: Vec<Vec<u8>> = axes.iter().map(|axis| (0..axis.levels()).collect()).collect();
        let mut shown = Shown::new(&axes, &allowed);
        let mut note = |case: &Case| shown.note(&row_of(&axes, case).expect("levels"), case);
        assert!(note(&plain));
        for hiding in [
            "uniform:rows=40,cols=40,density=0.2,seed=1/values=subnormal,1/alpha=8.5070586659632215e37",
            "uniform:rows=40,cols=40,density=0.2,seed=1/values=subnormal,1/alpha=0",
            "uniform:rows=1,cols=40,density=0.2,seed=1/values=special,1/alpha=0",
            "diagonal:rows=40,cols=40,seed=1/values=subnormal,1",
            "uniform:rows=1,cols=40,density=0.2,seed=1/values=subnormal,1",
        ] {
            assert!(!note(&case(hiding)), "{hiding}");
        }
        assert!(note(&case("uniform:rows=40,cols=40,density=0.2,seed=1/values=special,1/alpha=0")));
        let of = |values, beside| {
            let view = View { values, beside };
            let mine = shown.counts.iter().filter(|count| count.0 == view);
            mine.map(|count| count.1).collect::<Vec<_>>()
        };
        let alpha = axes.iter().position(|axis| axis.name() == "alpha").expect("a factor");
        assert_eq!(of(ValueFamily::Subnormal, None), [1]);
        assert_eq!(of(ValueFamily::Special, None), [0]);
        assert_eq!(of(ValueFamily::Special, Some((alpha, 1))), [1]);
        assert_eq!(of(ValueFamily::SmallInt, None), [0], "a family that is drawn more often stands once");
        assert_eq!(shown.rarest().map(|(_, cases)| cases), Some(0));
    }

    /// "sddmm: zero of S times NaN is zero" went unseen on 266 cases: none scaled by S and held NaN.
    #[test]
    fn a_scaling_by_s_is_seen_beside_infinities() {
        let contract = "sddmm.csr.f16_f16_f32_f32";
        let line = format!("{contract}/uniform:rows=40,cols=40,density=0.2,seed=1/values=special,1");
        let scaled: Case = format!("{line}/mode=scale").parse().expect("a case line");
        let axes = axes(&scaled.contract);
        let allowed: Vec<Vec<u8>> = axes.iter().map(|axis| (0..axis.levels()).collect()).collect();
        let mode = axes.iter().position(|axis| axis.name() == "mode").expect("a factor");
        let mut shown = Shown::new(&axes, &allowed);
        for case in [line.parse().expect("a case line"), scaled] {
            assert!(shown.note(&row_of(&axes, &case).expect("levels"), &case));
        }
        let of = |beside| {
            let view = View { values: ValueFamily::Special, beside };
            shown.counts.iter().find(|count| count.0 == view).map(|count| count.1)
        };
        assert_eq!((of(None), of(Some((mode, 1)))), (Some(2), Some(1)));
    }
}
