//! A new table against the reviewed one: what got worse, what got better.
//!
//! ```text
//! name + matrix -> numbers       a number above the reviewed one: worse       a line that is gone: worse
//!                                below it: better                             a new line, another count of elements, another case: changed
//! ```
//!
//! Nothing but equality passes. Worse is a defect until someone can say why it is not; the rest wants a review, after which it is
//! what the next run is compared with.

use std::collections::BTreeMap;
use std::fmt;

/// Places of the numbers in a line, and what they are called.
const NUMBERS: [(usize, &str); 4] =
    [(2, "worst ulp(g)"), (3, "99.9 % ulp(g)"), (4, "worst ulp(r)"), (5, "share of the bound")];

/// How a line differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An error grew, or is no longer measured.
    Worse,
    /// An error shrank.
    Better,
    /// Something else in the line.
    Changed,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which way.
    pub kind: Kind,
    /// What, from what to what, and where to look.
    pub text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Worse => "WORSE",
            Kind::Better => "better, to be reviewed",
            Kind::Changed => "changed, to be reviewed",
        };
        write!(f, "{kind}: {}", self.text)
    }
}

/// Everything that differs, what is worse first.
#[must_use]
pub fn differences(reviewed: &str, fresh: &str) -> Vec<Difference> {
    let (old, new) = (parse(reviewed), parse(fresh));
    let mut all = Vec::new();
    for (key, cells) in &new {
        match old.get(key) {
            Some(before) => line(key, before, cells, &mut all),
            None => {
                all.push(Difference {
                    kind: Kind::Changed,
                    text: format!("{key} is new; {}", replay(cells)),
                });
            }
        }
    }
    for (key, cells) in old.iter().filter(|(key, _)| !new.contains_key(*key)) {
        all.push(Difference { kind: Kind::Worse, text: format!("{key} is gone; {}", replay(cells)) });
    }
    all.sort_by_key(|difference| difference.kind);
    all
}

fn line(key: &str, before: &[String], now: &[String], all: &mut Vec<Difference>) {
    if before == now {
        return;
    }
    let counted = all.len();
    for (at, what) in NUMBERS {
        let cell = |cells: &[String]| cells.get(at).cloned().unwrap_or_default();
        let (old, new) = (cell(before), cell(now));
        if old == new {
            continue;
        }
        let kind = match (old.parse::<f64>(), new.parse::<f64>()) {
            (Ok(old), Ok(new)) if new < old => Kind::Better,
            // No number where one was, or the other way around: an error that nobody has reviewed.
            _ => Kind::Worse,
        };
        all.push(Difference { kind, text: format!("{key}: {what} from {old} to {new}; {}", replay(now)) });
    }
    if all.len() == counted {
        all.push(Difference {
            kind: Kind::Changed,
            text: format!("{key}: the same errors, but of other elements; {}", replay(now)),
        });
    }
}

fn replay(cells: &[String]) -> String {
    let case = cells.last().map_or("", String::as_str);
    format!("cargo run -p sparse-golden -- replay '{case}'")
}

/// The lines of a table by name and matrix. A name stands alone on its line, with its dots; the head of the table has no such line.
fn parse(table: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = BTreeMap::new();
    let mut name = None;
    for line in table.lines() {
        let cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match (&cells[..], &name) {
            ([one], _) if one.matches('.').count() == 4 => name = Some(one.clone()),
            ([matrix, _, ..], Some(name)) => {
                lines.insert(format!("{name} {matrix}"), cells);
            }
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEWED: &str = "head of the table with words\n\nmatrix elements\n\na.b.c.d.e\nuniform  10  1.5000  1.2500  2.0000  0.5000  wide/n=1/at=0,0  a.b.c.d.e/uniform:seed=1/wide/n=1/at=0,1\nbanded  10  1.0000  1.0000  -  0.2500  wide/n=1/at=0,0  a.b.c.d.e/banded:seed=1/wide/n=1/at=0,1\n";

    fn kinds(fresh: &str) -> Vec<(Kind, String)> {
        let all = differences(REVIEWED, fresh);
        all.into_iter().map(|d| (d.kind, d.to_string())).collect()
    }

    #[test]
    fn nothing_differs_from_itself() {
        assert_eq!(parse(REVIEWED).len(), 2);
        assert_eq!(kinds(REVIEWED), []);
    }

    #[test]
    fn a_larger_error_names_row_numbers_and_replay() {
        let all = kinds(&REVIEWED.replace("1.5000", "1.5001").replace("0.2500  wide", "0.2400  wide"));
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].0, Kind::Worse);
        assert_eq!(
            all[0].1,
            "WORSE: a.b.c.d.e uniform: worst ulp(g) from 1.5000 to 1.5001; cargo run -p sparse-golden -- replay 'a.b.c.d.e/uniform:seed=1/wide/n=1/at=0,1'"
        );
        assert_eq!(all[1].0, Kind::Better);
        assert!(all[1].1.contains("banded: share of the bound from 0.2500 to 0.2400"));
    }

    #[test]
    fn lines_that_come_and_go_are_seen() {
        let fresh = REVIEWED.replace("banded", "zipf");
        let all = kinds(&fresh);
        assert_eq!((all[0].0, all[1].0), (Kind::Worse, Kind::Changed));
        assert!(all[0].1.contains("banded is gone") && all[1].1.contains("zipf is new"));
    }

    #[test]
    fn a_number_that_appears_is_worse_and_another_element_is_a_change() {
        let all = kinds(&REVIEWED.replace("  -  ", "  0.1000  "));
        assert_eq!(all[0].0, Kind::Worse);
        let all = kinds(&REVIEWED.replace("at=0,1", "at=0,2"));
        assert!(all.len() == 2 && all.iter().all(|(kind, _)| *kind == Kind::Changed));
        let all = kinds(&REVIEWED.replace("uniform  10", "uniform  11"));
        assert_eq!((all.len(), all[0].0), (1, Kind::Changed));
    }
}
