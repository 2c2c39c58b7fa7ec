//! All elements of one result, one verdict.

use super::accepted::{Accepted, ElementVerdict};
use super::problem::Problem;
use super::rule::Rule;
use crate::arithmetic::Arithmetic;
use crate::profile::Profile;
use crate::scalar::{AnySlice, Precision, brief, decimal, decode};
use crate::verdict::{Criterion, Defect, Mismatch, Verdict};

/// A result to be judged, and what the output held before.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// The elements as the backend left them.
    pub found: AnySlice<'a>,
    /// Where element (i, j) is.
    pub place: Place,
    /// The bits that no input carries: an element equal to them was not written.
    pub poison: Option<u64>,
    /// What C held before; read where beta is not 0 (or the profile says it is read).
    pub before: Option<AnySlice<'a>>,
    /// Where element (i, j) is in `before`.
    pub before_place: Place,
}

/// Where an element is in an output array.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// At `i * .0 + j * .1`.
    Strides(usize, usize),
    /// At its number in the order of visiting (SDDMM, SpGEMM).
    Visited,
}

impl Place {
    /// Offset of element `at`, the `visited`-th one.
    #[must_use]
    pub fn offset(self, at: (usize, usize), visited: usize) -> usize {
        match self {
            Place::Strides(row, col) => at.0 * row + at.1 * col,
            Place::Visited => visited,
        }
    }
}

/// A verdict on values, with the evidence behind it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Which tiers decided at least one element.
    pub tiers: Vec<Criterion>,
    /// Elements judged.
    pub elements: usize,
}

/// How strong a statement about a wrong element is, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// Never written, or not the one right value.
    Certain,
    /// Beyond the bound.
    Beyond,
    /// Other bits than declared.
    Bits,
}

pub(super) struct Tally {
    out: Precision,
    poison: Option<u64>,
    worst: f64,
    inexact: bool,
    /// The first of the elements that fail by the strongest statement, and how strong that is.
    first: Option<(Strength, Mismatch)>,
    wrong: usize,
    unjudged: usize,
    seen: [bool; 3],
    elements: usize,
}

/// Judges a dense result (or the values of an SDDMM) element by element.
#[must_use]
pub fn judge_problem(
    problem: &Problem<'_>,
    arithmetic: &Arithmetic,
    profile: &Profile,
    scalars: (f64, f64),
    output: &Output<'_>,
) -> Judged {
    let mut rule = Rule::of(problem, (arithmetic, profile), scalars);
    let mut tally = Tally::new(arithmetic.out, output.poison);
    let visited = problem.for_each(&mut |site| {
        let offset = output.place.offset(site.at, tally.elements);
        let c_offset = output.before_place.offset(site.at, tally.elements);
        let c = output.before.map_or(0.0, |before| decode(before.bits(c_offset), before.precision()));
        let accepted = rule.accepts(site, c);
        let bits = output.found.bits(offset);
        tally.element(site.at, bits, &accepted, || accepted.judge(bits));
    });
    match visited {
        Ok(()) => tally.finish(),
        Err(refusal) => {
            let reason = format!("the oracle cannot form the expected result: {refusal}");
            Judged { verdict: Verdict::NotRun { reason }, tiers: Vec::new(), elements: 0 }
        }
    }
}

impl Tally {
    /// Before the first element.
    pub(super) fn new(out: Precision, poison: Option<u64>) -> Tally {
        Tally {
            out,
            poison,
            worst: 0.0,
            inexact: false,
            first: None,
            wrong: 0,
            unjudged: 0,
            seen: [false; 3],
            elements: 0,
        }
    }

    /// Counts one element, with its verdict.
    pub(super) fn element(
        &mut self,
        at: (usize, usize),
        bits: u64,
        accepted: &Accepted,
        verdict: impl FnOnce() -> ElementVerdict,
    ) {
        let out = self.out;
        self.elements += 1;
        self.seen[1] |= accepted.is_bounded();
        self.seen[0] |= accepted.order_free;
        self.seen[2] |= accepted.modelled.is_some();
        if self.poison == Some(bits) {
            let expected = decimal(decode(accepted.nearest_bits(), out), out);
            self.wrong(Strength::Certain, at, || unwritten(bits, expected));
            return;
        }
        match verdict() {
            ElementVerdict::Exact => {}
            ElementVerdict::Unjudged => self.unjudged += 1,
            ElementVerdict::Within(share) => {
                self.inexact = true;
                self.worst = self.worst.max(share);
            }
            ElementVerdict::Wrong(tier, figures) => self.wrong(strength(tier), at, || {
                value_mismatch(tier, figures, (accepted.bits_for(tier), bits), out)
            }),
        }
    }

    fn wrong(&mut self, strength: Strength, at: (usize, usize), describe: impl FnOnce() -> Mismatch) {
        self.wrong += 1;
        if self.first.as_ref().is_none_or(|(strongest, _)| strength < *strongest) {
            let mut mismatch = describe();
            mismatch.at = Some(at);
            mismatch.message = format!("element ({}, {}): {}", at.0, at.1, mismatch.message);
            self.first = Some((strength, mismatch));
        }
    }

    /// One verdict on all of them.
    pub(super) fn finish(self) -> Judged {
        let tiers = [Criterion::T0, Criterion::T1, Criterion::T2]
            .into_iter()
            .zip(self.seen)
            .filter(|t| t.1)
            .map(|t| t.0)
            .collect();
        let verdict = match self.first {
            Some((_, mut mismatch)) => {
                mismatch.count = self.wrong;
                Verdict::Wrong(Box::new(mismatch))
            }
            None if self.unjudged > 0 => Verdict::NotRun {
                reason: format!(
                    "{} elements have so many terms that the declared arithmetic promises nothing about them",
                    self.unjudged
                ),
            },
            None if self.inexact => Verdict::Within { share: self.worst },
            None => Verdict::Exact,
        };
        Judged { verdict, tiers, elements: self.elements }
    }
}

fn strength(tier: Criterion) -> Strength {
    match tier {
        Criterion::T0 => Strength::Certain,
        Criterion::T1 => Strength::Beyond,
        Criterion::T2 => Strength::Bits,
    }
}

fn unwritten(bits: u64, expected: String) -> Mismatch {
    Mismatch {
        expected,
        found: "poison".to_owned(),
        found_bits: Some(bits),
        ..Mismatch::plain(Defect::Unwritten, "still holds the poison the output was filled with".to_owned())
    }
}

/// Decimal and bits are of the same number, in the type of the element.
fn value_mismatch(
    tier: Criterion,
    figures: Option<(f64, f64)>,
    (expected_bits, found_bits): (u64, u64),
    out: Precision,
) -> Mismatch {
    let (error, bound) = figures.unzip();
    let number = |bits: u64| decimal(decode(bits, out), out);
    let (expected, found) = (number(expected_bits), number(found_bits));
    let why = match (tier, figures) {
        (Criterion::T0, _) => {
            "operands are exact in any order of summation, so only the exact value is right".to_owned()
        }
        (Criterion::T1, Some((error, bound))) => {
            format!("error {} exceeds the bound {}", brief(error), brief(bound))
        }
        (Criterion::T1, None) => "not the NaN, infinity or finite value it must be".to_owned(),
        (Criterion::T2, Some((error, bound))) => format!(
            "error {} is within the bound {}, but the declared reduction gives other bits",
            brief(error),
            brief(bound)
        ),
        (Criterion::T2, None) => "the declared reduction gives other bits".to_owned(),
    };
    let message =
        format!("expected {expected} (0x{expected_bits:x}), found {found} (0x{found_bits:x}): {why}");
    Mismatch {
        tier: Some(tier),
        expected,
        expected_bits: Some(expected_bits),
        found,
        found_bits: Some(found_bits),
        error,
        bound,
        ..Mismatch::plain(Defect::Value, message)
    }
}
