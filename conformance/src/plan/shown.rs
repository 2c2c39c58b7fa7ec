//! Which families of values the cases of a contract show: some find what no other does.
//!
//! ```text
//! levels allowed, without what hides values -> clear      a case whose levels are all clear shows its family
//! alpha = 0, the other levels clear                       NaN and Inf show that A and B were read
//! ```

use super::cover::Row;
use super::factors::{Axis, VALUE_GROUPS, group_of_values};
use crate::case::{Case, Filling};
use sparse_oracle::source::values::ValueFamily;

/// A family of values, and how it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct View {
    pub values: ValueFamily,
    /// Beside alpha = 0, where none of them may be read.
    pub unread: bool,
}

/// The number of cases of each view, of those that a backend takes.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    values: Option<usize>,
    alpha: Option<usize>,
    /// Levels beside which values show, by factor.
    clear: Vec<Vec<u8>>,
    counts: Vec<(View, u32)>,
}

impl Shown {
    /// No case yet; `allowed` are the levels that the backend takes.
    pub(super) fn new(axes: &[Axis], allowed: &[Vec<u8>]) -> Shown {
        let place = |name| axes.iter().position(|axis| axis.name() == name);
        let (values, alpha) = (place("values"), place("alpha"));
        let groups = values.iter().flat_map(|&f| &allowed[f]);
        let families = groups.flat_map(|&level| VALUE_GROUPS[usize::from(level)].1);
        let mut views: Vec<View> = families
            .map(|&values| View {
                values,
                unread: false,
            })
            .collect();
        if alpha.is_some_and(|f| allowed[f].contains(&ZERO)) {
            let special = |view: &&View| matches!(view.values, ValueFamily::Special);
            let unread: Vec<View> = views
                .iter()
                .filter(special)
                .map(|v| View { unread: true, ..*v })
                .collect();
            views.extend(unread);
        }
        views.sort_unstable();
        views.dedup();
        Shown {
            values,
            alpha,
            clear: axes.iter().zip(allowed).map(clear).collect(),
            counts: views.into_iter().map(|view| (view, 0)).collect(),
        }
    }

    /// Counts a case; true where it shows its values.
    pub(super) fn note(&mut self, row: &Row, case: &Case) -> bool {
        let Filling::Drawn(values, _) = case.filling else {
            return false;
        };
        let unread = self.alpha.is_some_and(|f| row[f] == ZERO);
        let is_clear = |f: usize| unread && self.alpha == Some(f) || self.clear[f].contains(&row[f]);
        if !(0..row.len()).all(is_clear) {
            return false;
        }
        let view = View { values, unread };
        let count = self.counts.iter_mut().find(|count| count.0 == view);
        count.map(|count| count.1 += 1).is_some()
    }

    /// The view that the fewest cases have, and their number.
    pub(super) fn rarest(&self) -> Option<(View, u32)> {
        self.counts.iter().copied().min_by_key(|count| count.1)
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
        if let (Some(f), true) = (self.alpha, view.unread) {
            row[f] = ZERO;
        }
    }
}

/// The level of alpha = 0.
const ZERO: u8 = 1;

/// The allowed levels of a factor that hide no values; a backend that takes nothing else is judged on what does.
fn clear((axis, allowed): (&Axis, &Vec<u8>)) -> Vec<u8> {
    let clear = axis.clear();
    let both: Vec<u8> = allowed
        .iter()
        .copied()
        .filter(|level| clear.contains(level))
        .collect();
    if both.is_empty() { allowed.clone() } else { both }
}

#[cfg(test)]
mod tests {
    use super::super::demand::row_of;
    use super::super::factors::axes;
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
        assert!(note(&case(
            "uniform:rows=40,cols=40,density=0.2,seed=1/values=special,1/alpha=0"
        )));
        let of = |values, unread| {
            let mine = shown
                .counts
                .iter()
                .filter(|count| count.0 == View { values, unread });
            mine.map(|count| count.1).collect::<Vec<_>>()
        };
        assert_eq!(of(ValueFamily::Subnormal, false), [1]);
        assert_eq!(of(ValueFamily::Special, false), [0]);
        assert_eq!(of(ValueFamily::Special, true), [1]);
        assert_eq!(
            of(ValueFamily::SmallInt, false),
            [0],
            "a family that is drawn more often stands once"
        );
        assert_eq!(shown.rarest().map(|(_, cases)| cases), Some(0));
    }
}
