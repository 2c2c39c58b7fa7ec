//! Simpler values: plain families, the drawn values written out, ones.
//!
//! ```text
//! ones, small-int (no value to look at)  <  own (each value in the file, most of them 1)  <  any other family
//! B, C: none of the drawn values, the others 1  <  some in a row  <  all
//! ```
//!
//! A family draws by position in the list, so that removing an entry changes the values behind it: a NaN at entry 37
//! needs 38 entries. Two ways out: the values written out as the matrix's own, which stay with their entries, and few entries
//! with other seeds.

use super::kept;
use super::matrix::cut;
use super::search::{Candidate, Search};
use crate::case::{Filling, Params};
use crate::operands::{build, seed_of, with_values};
use crate::origin::Loaded;
use sparse_oracle::format::{Coo, CooParts, Sparse};
use sparse_oracle::scalar::Scalar;
use sparse_oracle::source::values::ValueFamily;
use std::ops::Range;

/// Seeds tried on a few entries.
const SEEDS: u64 = 6;

/// The shortest way: one entry, one column, every parameter at its default; then with the case's parameters.
pub(super) fn leap(search: &mut Search<'_>) {
    let one = |c: &Candidate| c.on(cut(&c.loaded.coo, 1));
    let tiny = one(&search.best).map(|mut c| {
        let fault = c.case.params.fault;
        c.case.params = Params { n: 1, fault, ..Params::default() };
        c.case.filling = Filling::Drawn(ValueFamily::Ones, 0);
        c
    });
    if search.attempt(tiny) {
        return;
    }
    let small = one(&search.best).map(|mut c| {
        c.case.params.n = c.case.params.n.min(1);
        c
    });
    search.attempt(small);
}

/// All passes over values.
pub(super) fn simpler(search: &mut Search<'_>) {
    for family in [ValueFamily::Ones, ValueFamily::SmallInt] {
        if rank(Filling::Drawn(family, 0)) < rank(search.best.case.filling) {
            search.attempt_with(|c| {
                c.case.filling = Filling::Drawn(family, 0);
                (c.case.params.kept_b, c.case.params.kept_c) = (None, None);
            });
        }
    }
    if search.best.case.params.duplicates {
        let spelled = spelled_out(&search.best);
        search.attempt(spelled);
    }
    if rank(search.best.case.filling) > rank(Filling::Own(0)) {
        let own = written_out(&search.best);
        if !search.attempt(own) {
            search.attempt_with(|c| c.case.filling = Filling::Drawn(ValueFamily::NearOne, 0));
        }
    }
    search.attempt_with(|c| c.case.filling = seeded(c.case.filling, 0));
    if search.best.owns_values() {
        ones(search);
    }
    if rank(search.best.case.filling) >= rank(Filling::Own(0)) {
        kept::values(search);
    }
}

/// A few entries of a drawn family, with other seeds.
pub(super) fn few_entries(search: &mut Search<'_>) {
    if rank(search.best.case.filling) <= rank(Filling::Own(0)) {
        return;
    }
    for count in [1, 2, 4, 8] {
        for seed in 0..SEEDS {
            let best = &search.best;
            if count >= best.loaded.coo.nnz() {
                return;
            }
            let few = best.on(cut(&best.loaded.coo, count)).map(|mut c| {
                c.case.filling = seeded(c.case.filling, seed);
                c
            });
            search.attempt(few);
        }
    }
}

fn rank(filling: Filling) -> u8 {
    match filling {
        Filling::Drawn(ValueFamily::Ones, _) => 0,
        Filling::Drawn(ValueFamily::SmallInt, _) => 1,
        Filling::Own(_) => 2,
        Filling::Drawn(ValueFamily::NearOne, _) => 3,
        Filling::Drawn(..) => 4,
    }
}

fn seeded(filling: Filling, seed: u64) -> Filling {
    match filling {
        Filling::Own(_) => Filling::Own(seed),
        Filling::Drawn(family, _) => Filling::Drawn(family, seed),
    }
}

fn owning(candidate: &Candidate, coo: Coo<f64>) -> Candidate {
    let mut case = candidate.case.clone();
    case.filling = Filling::Own(seed_of(&candidate.case));
    Candidate { case, loaded: Loaded::new(coo, true) }
}

/// The drawn values as the matrix's own.
fn written_out(candidate: &Candidate) -> Option<Candidate> {
    let Filling::Drawn(..) = candidate.case.filling else {
        return None;
    };
    Some(owning(candidate, with_values(&candidate.case, &candidate.loaded.coo)))
}

/// The scattered triples of a COO with duplicates as the matrix itself.
fn spelled_out(candidate: &Candidate) -> Option<Candidate> {
    let operands = build(&candidate.case, &candidate.loaded).ok()?;
    let triples = sparse_oracle::each_sparse!(&operands.a, m => match m {
        // A file has one NaN; which bits it stands for is drawn again from the case's seed.
        Sparse::Coo(m) => Some(m.map(|v| if v.to_f64().is_nan() { f64::NAN } else { v.to_f64() })),
        _ => None,
    })?;
    let mut spelled = owning(candidate, triples);
    spelled.case.params.duplicates = false;
    Some(spelled)
}

/// Own values to 1, in chunks down to single ones; those that must stay to whole numbers.
fn ones(search: &mut Search<'_>) {
    let mut size = search.best.loaded.coo.nnz();
    while size > 0 {
        let mut start = 0;
        while start < search.best.loaded.coo.nnz() && !search.is_over() {
            let end = (start + size).min(search.best.loaded.coo.nnz());
            let simpler = replaced(&search.best, &(start..end), |_| 1.0);
            if !search.attempt(simpler) && size == 1 {
                let whole = replaced(&search.best, &(start..end), f64::trunc);
                search.attempt(whole);
            }
            start = end;
        }
        size /= 2;
    }
}

/// The values of a range through `f`; `None` where nothing changes or a number would become zero.
fn replaced(candidate: &Candidate, range: &Range<usize>, f: fn(f64) -> f64) -> Option<Candidate> {
    let coo = &candidate.loaded.coo;
    let mut values = coo.values.clone();
    values[range.clone()].iter_mut().for_each(|v| *v = f(*v));
    let pairs = || coo.values.iter().zip(&values);
    let changes = pairs().any(|(a, b)| a.to_bits() != b.to_bits());
    let vanishes = pairs().any(|(a, b)| *a != 0.0 && *b == 0.0);
    if !changes || vanishes {
        return None;
    }
    candidate.on(CooParts {
        rows: coo.rows,
        cols: coo.cols,
        row_idx: coo.row_idx.clone(),
        col_idx: coo.col_idx.clone(),
        values,
    })
}
