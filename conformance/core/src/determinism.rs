//! Does a backend give the same bits again? A sample of passing cases is run again on the same operands and the same C.
//!
//! ```text
//! first run -- passes? --> again, N times                 other bits: from run to run
//!                     \--> with 1 thread, with 4 threads  other bits: from thread count to thread count
//!                     \--> by 4 threads at once, two of them on other operands    other bits: judged
//! ```
//!
//! Which cases is a function of the case line alone, so that a run, its shards and a replay repeat the same ones. A
//! backend that claims determinism and differs is wrong; one that claims nothing gets a grade only, as long as what came the
//! other time is right as well.

use crate::backend::{Backend, Determinism, ThreadControl};
use crate::case::Case;
use crate::execute::{Before, execute, execute_threaded, execute_together};
use crate::operands::Operands;
use crate::report::{Repeated, Same};
use crate::response::{Response, poison};
use crate::sequence::negated;
use sparse_oracle::each_parts;
use sparse_oracle::format::{AnyParts, FieldRef, Fields};
use sparse_oracle::scalar::{AnySlice, Element, Precision, decode};
use sparse_oracle::task::RawSparse;
use sparse_oracle::verdict::{Defect, Mismatch};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Thread counts that are compared, whatever the machine has.
pub const THREADS: [usize; 2] = [1, 4];

/// Of the cases that are repeated, one in so many is also run with other numbers of threads, and another one by several threads
/// at once.
const THREADED: u64 = 16;

/// Threads that call at once.
const TOGETHER: usize = 4;

/// Most further runs of a case that takes so little time that many fit.
const MOST: u32 = 16;

/// Which passing cases are run again, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// One case in so many; 0 for none.
    pub one_in: u64,
    /// Further runs of a chosen case, at least.
    pub times: u32,
    /// Time that further runs may take before there are no more than `times` of them: short cases are repeated more often.
    pub within: Duration,
}

impl Default for Repeats {
    /// At 150 cases of a contract, 75 further runs at least.
    fn default() -> Repeats {
        Repeats { one_in: 4, times: 2, within: Duration::from_micros(200) }
    }
}

impl Repeats {
    /// No case is repeated.
    pub const NONE: Repeats = Repeats { one_in: 0, times: 0, within: Duration::ZERO };

    /// Every case, so often.
    #[must_use]
    pub const fn all(times: u32) -> Repeats {
        Repeats { one_in: 1, times, within: Duration::ZERO }
    }

    /// What to do with a case.
    #[must_use]
    pub fn of(self, line: &str) -> Option<Again> {
        if self.one_in == 0 {
            return None;
        }
        let hash = xxh3_64(line.as_bytes());
        let class = (hash / self.one_in) % THREADED;
        hash.is_multiple_of(self.one_in).then_some(Again {
            times: self.times,
            within: self.within,
            threads: self.one_in == 1 || class == 0,
            together: self.one_in == 1 || class == THREADED / 2,
        })
    }
}

/// How one case is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// Further runs, at least.
    pub times: u32,
    /// Time in which there may be more.
    pub within: Duration,
    /// Also with other numbers of threads.
    pub threads: bool,
    /// Also by several threads at once.
    pub together: bool,
}

/// The first result of a case, and what C held before it.
#[derive(Debug)]
pub(crate) struct First {
    pub response: Response,
    pub before: Option<Vec<f64>>,
}

impl First {
    pub(crate) fn before(&self) -> Before<'_> {
        self.before.as_deref().map_or(Before::Poison, Before::Values)
    }
}

/// What the further runs gave.
#[derive(Debug)]
pub(crate) struct Repetition {
    pub record: Repeated,
    /// The first difference, if the backend claims that there is none.
    pub broken_claim: Option<Mismatch>,
    /// Results that differ from the first, or are none: each is judged on its own.
    pub others: Vec<Response>,
}

/// Runs a case again and compares.
pub(crate) fn repeat(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    (first, again): (&First, Again),
    spent: &mut Duration,
) -> Repetition {
    let mut seen = Repetition {
        record: Repeated { runs: Same::Same, threads: None },
        broken_claim: None,
        others: Vec::new(),
    };
    let (start, mut runs) = (Instant::now(), 0);
    // The number of runs that fit into the time differs between machines and is not recorded: it only decides how likely a race is
    // seen.
    while runs < again.times || runs < MOST && start.elapsed() < again.within {
        runs += 1;
        let response = execute(case, operands, backend, first.before(), spent);
        if let Some(difference) = difference(case, operands, &first.response, &response) {
            seen.record.runs = Same::Different;
            seen.note(backend, Determinism::Runs, "from one run to the next", difference);
            seen.others.push(response);
            break;
        }
    }
    if again.threads && backend.thread_control() != ThreadControl::None {
        let mut results = THREADS.iter().filter_map(|&threads| {
            execute_threaded(case, operands, backend, (first.before(), threads), spent)
        });
        if let (Some(few), Some(many)) = (results.next(), results.next()) {
            let difference = difference(case, operands, &few, &many);
            seen.record.threads = Some(Same::of(difference.is_none()));
            if let Some(difference) = difference {
                let between = "from 1 thread to 4";
                seen.note(backend, Determinism::Threads, between, difference);
                seen.others.extend([few, many]);
            }
        }
    }
    if again.together && backend.thread_safe() {
        let both = (operands, &negated(operands));
        // Calls at once may each get fewer threads than the first run had, so that only a claim about any number of threads is broken
        // by a difference.
        let differs =
            |response: Response| Some((difference(case, operands, &first.response, &response)?, response));
        let all = execute_together(case, both, backend, (first.before(), TOGETHER), (&differs, &mut *spent));
        if let Some((difference, response)) = all.into_iter().next() {
            let between = "from one call to several at once";
            seen.note(backend, Determinism::Threads, between, difference);
            seen.others.push(response);
        }
    }
    seen
}

impl Repetition {
    /// A difference counts as wrong where the backend claims at least `claim`.
    fn note(&mut self, backend: &dyn Backend, claim: Determinism, between: &str, difference: Difference) {
        if backend.determinism() < claim || self.broken_claim.is_some() {
            return;
        }
        let Difference { at, place, first, other } = difference;
        let show = |bits: Option<u64>| bits.map_or_else(|| "nothing".to_owned(), |b| format!("0x{b:x}"));
        let message = format!(
            "the bits change {between} although the backend claims that they do not: {place} was {}, then {}",
            show(first),
            show(other)
        );
        self.broken_claim = Some(Mismatch {
            at,
            expected_bits: first,
            found_bits: other,
            ..Mismatch::plain(Defect::Nondeterministic, message)
        });
    }
}

/// The first place at which two results differ.
#[derive(Debug)]
struct Difference {
    at: Option<(usize, usize)>,
    place: String,
    first: Option<u64>,
    other: Option<u64>,
}

impl Difference {
    fn of_kind(place: &str) -> Difference {
        Difference { at: None, place: place.to_owned(), first: None, other: None }
    }
}

fn difference(case: &Case, operands: &Operands, first: &Response, other: &Response) -> Option<Difference> {
    match (first, other) {
        (Response::Dense(a), Response::Dense(b)) => {
            // Nearly all results are the same, and are compared in one go; which element differs is looked for one by one.
            if a.same_bits(b) {
                return None;
            }
            let (rows, cols) = operands.result;
            let places = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
            places
                .map(|at| (at, a.place.offset(at, at.0)))
                .map(|(at, offset)| (at, a.found().bits(offset), b.found().bits(offset)))
                .find(|&(_, x, y)| !is_same(x, y, a.found().precision()))
                .map(|(at, x, y)| Difference {
                    at: Some(at),
                    place: format!("element ({}, {})", at.0, at.1),
                    first: Some(x),
                    other: Some(y),
                })
        }
        (Response::Sparse(a), Response::Sparse(b)) => {
            if (a.kind, a.rows, a.cols, a.params, a.width) != (b.kind, b.rows, b.cols, b.params, b.width) {
                return Some(Difference::of_kind("the format or shape"));
            }
            let is_moved = case.contract.op.is_exact();
            let same = |x, y| !is_moved && is_same(x, y, a.values.precision());
            in_lists(&raw_lists(a), &raw_lists(b), same)
        }
        (Response::Parts(a), Response::Parts(b)) => {
            if a.kind() != b.kind() || a.precision() != b.precision() {
                return Some(Difference::of_kind("the format"));
            }
            in_lists(&part_lists(a), &part_lists(b), |_, _| false)
        }
        // A machine that could not start it again says nothing of it.
        (Response::NotAsked(_), _) | (_, Response::NotAsked(_)) => None,
        _ => Some(Difference::of_kind(&format!("the kind of answer to {}", case.contract))),
    }
}

/// An array by name, its elements as bits.
type List = (&'static str, Vec<u64>);

/// True of equal bits, and of any two NaN of a product (clause 3.4): whose payload is handed on depends on which factor an instruction
/// names first, which may differ between a vector and what is left of a row. Not of what was not written.
fn is_same(x: u64, y: u64, precision: Precision) -> bool {
    let is_nan = |bits| decode(bits, precision).is_nan() && bits != poison(precision);
    x == y || is_nan(x) && is_nan(y)
}

/// Lists of bits, element by element; of values that differ, `same` says whether they count as one.
fn in_lists(first: &[List], other: &[List], same: impl Fn(u64, u64) -> bool) -> Option<Difference> {
    first.iter().zip(other).find_map(|((name, a), (_, b))| {
        let longest = a.len().max(b.len());
        let is_one = |x, y| x == y || *name == "values" && same(x, y);
        let differ = |at: &usize| !a.get(*at).zip(b.get(*at)).is_some_and(|(&x, &y)| is_one(x, y));
        let at = (0..longest).find(differ)?;
        Some(Difference {
            at: None,
            place: format!("{name}[{at}]"),
            first: a.get(at).copied(),
            other: b.get(at).copied(),
        })
    })
}

fn bits(values: AnySlice<'_>) -> Vec<u64> {
    (0..values.len()).map(|at| values.bits(at)).collect()
}

fn raw_lists(raw: &RawSparse) -> Vec<List> {
    let wide = |list: &[u32]| list.iter().map(|&x| u64::from(x)).collect();
    vec![
        ("offsets", wide(&raw.offsets)),
        ("indices", wide(&raw.indices)),
        ("values", bits(raw.values.as_slice())),
    ]
}

fn part_lists(parts: &AnyParts) -> Vec<List> {
    each_parts!(parts, p => p.fields().into_iter().map(|(name, field)| (name, field_bits(&field))).collect())
}

/// A field's elements as bits.
pub fn field_bits<T: Element>(field: &FieldRef<'_, T>) -> Vec<u64> {
    match field {
        FieldRef::Extent(extent) => vec![**extent as u64],
        FieldRef::Flag(flag) => vec![u64::from(**flag)],
        FieldRef::U8(v) => v.iter().map(|&x| u64::from(x)).collect(),
        FieldRef::U16(v) => v.iter().map(|&x| u64::from(x)).collect(),
        FieldRef::U32(v) => v.iter().map(|&x| u64::from(x)).collect(),
        FieldRef::U64(v) => v.to_vec(),
        FieldRef::Values(v) => bits(T::wrap_slice(v)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two NaN of a product are no difference, with whatever payload; what was not written, and other bits, are.
    #[test]
    fn any_nan_of_a_product_is_any_nan() {
        let f32s = |x, y| is_same(x, y, Precision::F32);
        assert!(f32s(0x7fc0_0000, 0xffff_ffff) && f32s(1, 1));
        assert!(!f32s(0x7fc0_0000, poison(Precision::F32)) && !f32s(0x7f80_0000, 0x7fc0_0000));
        assert!(!f32s(0, 0x8000_0000));
        let lists = |bits: u64| vec![("indices", vec![bits]), ("values", vec![bits])];
        let first = |same: bool| in_lists(&lists(7), &lists(8), |_, _| same).map(|found| found.place);
        assert_eq!(first(true), Some("indices[0]".to_owned()));
    }

    #[test]
    fn the_sample_is_a_function_of_the_line() {
        let lines: Vec<String> = (0..16_000).map(|i| format!("case {i}")).collect();
        let taken: Vec<Again> = lines.iter().filter_map(|l| Repeats::default().of(l)).collect();
        assert!((3700..4300).contains(&taken.len()), "{} of 16000", taken.len());
        let threaded = taken.iter().filter(|again| again.threads).count();
        let together = taken.iter().filter(|again| again.together).count();
        assert!((190..310).contains(&threaded), "{threaded}");
        assert!((190..310).contains(&together), "{together}");
        assert!(taken.iter().all(|again| !(again.threads && again.together)));
        assert!(lines.iter().all(|l| Repeats::NONE.of(l).is_none()));
        let all = |a: Again| a.times == 3 && a.threads && a.together && a.within.is_zero();
        assert!(lines.iter().all(|l| Repeats::all(3).of(l).is_some_and(all)));
    }
}
