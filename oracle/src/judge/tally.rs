//! All elements of one result, one verdict.

use super::accepted::{Accepted, ElementVerdict};
use super::by_rows::Screened;
use super::lanes::SoFar;
use super::output::Output;
use super::problem::{ElementInput, Problem};
use super::rule::Rule;
use crate::arithmetic::Arithmetic;
use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::scalar::{Precision, brief, decimal, decode};
use crate::verdict::{Criterion, Defect, Mismatch, Verdict, WrongElements};

/// A verdict on values, with the evidence behind it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Which tiers decided at least one element.
    pub tiers: Vec<Criterion>,
    /// Elements judged.
    pub elements: usize,
    /// Those of them that needed big numbers; for the others floats were enough.
    pub in_big_numbers: usize,
}

impl Judged {
    /// A verdict that no element is behind.
    #[must_use]
    pub fn only(verdict: Verdict) -> Judged {
        Judged { verdict, tiers: Vec::new(), elements: 0, in_big_numbers: 0 }
    }
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
    /// Rows and columns of the result.
    extent: (usize, usize),
    out: Precision,
    poison: Option<u64>,
    worst: f64,
    inexact: bool,
    /// The first of the elements that fail by the strongest statement, and how strong that is.
    first: Option<(Strength, Mismatch)>,
    wrong: Option<Box<WrongElements>>,
    unjudged: usize,
    seen: [bool; 3],
    elements: usize,
    in_big_numbers: usize,
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
    let rule = || Rule::of(problem, (arithmetic, profile), scalars);
    let judged = match Screened::new(problem, &rule(), output) {
        Some(screened) => screened.and_then(|screened| screened.judge(&rule)),
        None => one_by_one(problem, rule(), output),
    };
    match judged {
        Ok(tally) => tally.finish(),
        Err(refusal) => {
            let reason = format!("the oracle cannot form the expected result: {refusal}");
            Judged::only(Verdict::NotRun { reason })
        }
    }
}

/// True where most elements are judged without big numbers.
pub(super) fn is_screened(
    problem: &Problem<'_>,
    arithmetic: &Arithmetic,
    profile: &Profile,
    scalars: (f64, f64),
    output: &Output<'_>,
) -> bool {
    Screened::takes(problem, &Rule::of(problem, (arithmetic, profile), scalars), output)
}

/// Every element by the rule.
fn one_by_one(problem: &Problem<'_>, mut rule: Rule<'_>, output: &Output<'_>) -> Result<Tally, Refusal> {
    let mut tally = Tally::new(problem.shape(), rule.arithmetic().out, output.poison);
    problem.for_each(&mut |site| tally.site(&mut rule, site, output))?;
    Ok(tally)
}

impl Tally {
    /// Before the first element.
    pub(super) fn new(extent: (usize, usize), out: Precision, poison: Option<u64>) -> Tally {
        Tally {
            extent,
            out,
            poison,
            worst: 0.0,
            inexact: false,
            first: None,
            wrong: None,
            unjudged: 0,
            seen: [false; 3],
            elements: 0,
            in_big_numbers: 0,
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
        self.in_big_numbers += 1;
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

    /// Judges one element of a result by the rule.
    pub(super) fn site(&mut self, rule: &mut Rule<'_>, site: &ElementInput<'_>, output: &Output<'_>) {
        let c = output.held(site.at, self.elements);
        let accepted = rule.accepts(site, c);
        let bits = output.found.bits(output.place.offset(site.at, self.elements));
        self.element(site.at, bits, &accepted, || accepted.judge(bits));
    }

    /// Elements of a row that were screened: how many pass, and what is known of all.
    pub(super) fn passed(&mut self, elements: usize, inexact: bool) {
        self.elements += elements;
        self.inexact |= inexact;
    }

    /// Which statements applied to an element.
    pub(super) fn applied(&mut self, order_free: bool, bounded: bool, modelled: bool) {
        for (seen, here) in self.seen.iter_mut().zip([order_free, bounded, modelled]) {
            *seen |= here;
        }
    }

    /// Counts a wrong element, if one that is at least as wrong has been described already.
    pub(super) fn counts_wrong(&mut self, at: (usize, usize), tier: Criterion) -> bool {
        let known = self.first.as_ref().is_some_and(|(strongest, _)| *strongest <= strength(tier));
        if known {
            self.elements += 1;
            self.wrong_at(at);
        }
        known
    }

    fn wrong_at(&mut self, at: (usize, usize)) {
        match &mut self.wrong {
            Some(wrong) => wrong.add(at),
            None => self.wrong = Some(Box::new(WrongElements::one(self.extent, at))),
        }
    }

    /// What later elements are screened by.
    pub(super) fn so_far(&self) -> SoFar {
        SoFar { worst: self.worst, order_free: self.seen[0] }
    }

    /// With the elements that follow.
    pub(super) fn then(mut self, next: Tally) -> Tally {
        self.worst = self.worst.max(next.worst);
        self.inexact |= next.inexact;
        self.wrong = match (self.wrong, next.wrong) {
            (Some(mut wrong), Some(next)) => {
                wrong.join(&next);
                Some(wrong)
            }
            (wrong, next) => wrong.or(next),
        };
        self.unjudged += next.unjudged;
        self.elements += next.elements;
        self.in_big_numbers += next.in_big_numbers;
        self.applied(next.seen[0], next.seen[1], next.seen[2]);
        self.first = match (self.first, next.first) {
            (Some(first), Some(next)) => Some(if next.0 < first.0 { next } else { first }),
            (first, next) => first.or(next),
        };
        self
    }

    fn wrong(&mut self, strength: Strength, at: (usize, usize), describe: impl FnOnce() -> Mismatch) {
        self.wrong_at(at);
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
                mismatch.count = self.wrong.as_ref().map_or(1, |wrong| wrong.count);
                mismatch.elements = self.wrong;
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
        Judged { verdict, tiers, elements: self.elements, in_big_numbers: self.in_big_numbers }
    }
}

fn strength(tier: Criterion) -> Strength {
    match tier {
        Criterion::T0 => Strength::Certain,
        Criterion::T1 => Strength::Beyond,
        Criterion::T2 => Strength::Bits,
    }
}

/// What is computed from the poison holds it as well: a kernel that reads C although `beta = 0` looks like one that writes nothing.
const UNWRITTEN: &str =
    "still holds the poison the output was filled with: it was not written, or what the output held was read";

fn unwritten(bits: u64, expected: String) -> Mismatch {
    Mismatch {
        expected,
        found: "poison".to_owned(),
        found_bits: Some(bits),
        ..Mismatch::plain(Defect::Unwritten, UNWRITTEN.to_owned())
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
