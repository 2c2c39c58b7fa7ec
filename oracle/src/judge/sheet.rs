//! What every element of a result may be, worked out once for as many results as there are.
//!
//! ```text
//! problem, declaration, what C held  ->  one line an element: position, what is accepted, the verdict on the first bits seen
//!                                        result 1 -\
//!                                        result 2 --> verdicts: the exact sums are not formed again
//! ```
//!
//! Backends that declare the same, runs of one backend and seeded bugs are judged by the same sheet; it says what [`judge`](super::judge)
//! says.

use super::accepted::{Accepted, ElementVerdict};
use super::moves::{Structural, judge_sparse};
use super::output::Place;
use super::problem::Problem;
use super::rule::Rule;
use super::tally::{Judged, Tally};
use crate::arithmetic::Arithmetic;
use crate::format::FormatKind;
use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Precision, decode};
use crate::task::RawSparse;
use std::sync::OnceLock;

/// What every element of a result may be, in the order of visiting.
#[derive(Debug)]
pub struct Sheet {
    shape: (usize, usize),
    out: Precision,
    lines: Vec<SheetLine>,
}

#[derive(Debug)]
struct SheetLine {
    at: (usize, usize),
    accepted: Accepted,
    may_be_missing: bool,
    /// Most results of a case agree: the first bits that were looked at, and the verdict on them.
    first: OnceLock<(u64, ElementVerdict)>,
}

impl Sheet {
    /// Works the elements out; `before` is what C held and where element (i, j) is in it. None where there are more than `most`.
    ///
    /// # Errors
    /// Operands that don't fit together.
    pub fn new(
        problem: &Problem<'_>,
        (arithmetic, profile): (&Arithmetic, &Profile),
        scalars: (f64, f64),
        before: Option<(AnySlice<'_>, Place)>,
        most: usize,
    ) -> Result<Option<Sheet>, Refusal> {
        let mut rule = Rule::of(problem, (arithmetic, profile), scalars);
        let (mut lines, mut count) = (Vec::new(), 0);
        problem.for_each(&mut |site| {
            count += 1;
            if count > most {
                return;
            }
            let c = before.map_or(0.0, |(data, place)| {
                decode(data.bits(place.offset(site.at, count - 1)), data.precision())
            });
            let may_be_missing = rule.may_be_missing(site);
            let accepted = rule.accepts(site, c);
            lines.push(SheetLine { at: site.at, accepted, may_be_missing, first: OnceLock::new() });
        })?;
        Ok((count <= most).then(|| Sheet { shape: problem.shape(), out: arithmetic.out, lines }))
    }

    /// As [`judge`](super::judge) with an output that lies so.
    #[must_use]
    pub fn judge(&self, found: AnySlice<'_>, place: Place, poison: Option<u64>) -> Judged {
        let mut tally = Tally::new(self.shape, self.out, poison);
        for (visited, line) in self.lines.iter().enumerate() {
            let bits = found.bits(place.offset(line.at, visited));
            tally.element(line.at, bits, &line.accepted, || line.judge(bits));
        }
        tally.finish()
    }

    /// As [`judge_spgemm`](super::judge_spgemm).
    #[must_use]
    pub fn judge_spgemm(&self, profile: &Profile, kind: FormatKind, found: RawSparse) -> Judged {
        let positions = self.lines.iter().map(|line| Structural {
            at: (line.at.0 as u32, line.at.1 as u32),
            may_be_missing: line.may_be_missing,
        });
        judge_sparse(
            (self.shape, self.out, kind),
            profile,
            found,
            || Ok(positions.collect()),
            |values| self.judge(values, Place::Visited, None),
        )
    }
}

impl SheetLine {
    fn judge(&self, bits: u64) -> ElementVerdict {
        let (first, verdict) = self.first.get_or_init(|| (bits, self.accepted.judge(bits)));
        if *first == bits { *verdict } else { self.accepted.judge(bits) }
    }
}
