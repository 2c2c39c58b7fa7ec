//! As few drawn values of B and C, and as few calls before the judged one, as a finding needs.
//!
//! ```text
//! all  ->  none?  ->  the first ones  ->  the last ones of these        others: 1, or not called
//! ```

use super::search::{Candidate, Search};
use crate::case::{Case, Params};
use crate::kept::Kept;
use crate::operands::{Operands, build};
use crate::right::Right;
use crate::sequence;

/// Where a case says what it keeps.
type KeptPlace = fn(&mut Params) -> &mut Option<Kept>;

/// Values of B and of C, where the case reads some of its own.
pub(super) fn values(search: &mut Search<'_>) {
    if search.best.case.params.right != Right::Same {
        narrowed(search, |p| &mut p.kept_b, of_b);
    }
    if search.best.case.reads_c() {
        narrowed(search, |p| &mut p.kept_c, |_, operands| operands.c[0].len());
    }
}

/// Calls before the judged one.
pub(super) fn calls(search: &mut Search<'_>) {
    if search.best.case.params.after.is_some() {
        narrowed(search, |p| &mut p.kept_calls, sequence::count);
    }
}

/// Drawn values of B and its like, the most of one operand.
fn of_b(_: &Case, operands: &Operands) -> usize {
    let dense = operands.b.iter().chain(&operands.y);
    let most = dense.map(|b| b.rows * b.cols).max().unwrap_or(0);
    operands.b_sparse.as_ref().map_or(most, |b| most.max(b.nnz()))
}

/// As few as will do, all in a row.
fn narrowed(search: &mut Search<'_>, place: KeptPlace, count: fn(&Case, &Operands) -> usize) {
    let Ok(operands) = build(&search.best.case, &search.best.loaded) else {
        return;
    };
    let count = count(&search.best.case, &operands);
    let kept = |c: &Candidate| *place(&mut c.case.params.clone());
    let reads = |c: &Candidate| kept(c).unwrap_or(Kept::new(0, count));
    let keep = |c: &mut Candidate, start: usize, end: usize| {
        *place(&mut c.case.params) = Some(Kept::new(start, end));
    };
    // Of a larger operand some were left, of this one all.
    if kept(&search.best).is_some_and(|k| k.start() == 0 && k.end() >= count) {
        search.attempt_with(|c| *place(&mut c.case.params) = None);
    }
    if count == 0 || search.attempt_with(|c| keep(c, 0, 0)) {
        return;
    }
    search.lower(1, |c| reads(c).end(), |c, end| keep(c, reads(c).start().min(end - 1), end));
    let length = |c: &Candidate| reads(c).end() - reads(c).start();
    search.lower(1, length, |c, length| {
        keep(c, reads(c).end() - length, reads(c).end());
    });
}
