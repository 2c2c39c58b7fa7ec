//! Calls before the judged one, for what a kernel keeps from call to call: converted matrices found again by an address,
//! workspaces of the first extents, sums that are not cleared, hashes of half of the operands.
//!
//! ```text
//! contents  | A, B of other contents, at last but for two signs, or columns | overwritten in place       | judged call
//! extents   | fewer rows and columns | more | fewer | in the same memory                          | judged call
//! freed     | other operands, freed, twice        | this case's operands, allocated after them    | judged call
//! many      | this case's operands and others in turn, 300 calls; myriad: 70,000                  | judged call
//! other     | this case's call | other contracts and factors on the same arrays                   | judged call
//! ```
//!
//! Everything follows from the case line, so that the line replays the whole sequence. The judged call decides; an earlier
//! call that crashes, hangs, breaks memory or refuses a legal request is a finding as well, and says that it was earlier.

mod negated;
mod stage;

pub(crate) use self::negated::negated;
pub use self::negated::of_sparse as negated_matrix;
pub use crate::after::After;
pub use crate::operands::Earlier;
pub(crate) use crate::operands::plain;

use self::stage::Stage;
use crate::case::Case;
use crate::operands::Operands;
use sparse_oracle::refusal::Refusal;
use std::borrow::Cow;
use std::mem::swap;

/// Rounds of freeing and allocating again.
const FREED: usize = 2;

/// Calls of two sets in turn, and the elements that they may touch together: large operands are called less often.
const fn turns(after: After) -> (usize, usize) {
    match after {
        After::Myriad => (70_000, 30_000_000),
        _ => (300, 6_000_000),
    }
}

/// Makes the earlier calls that the case keeps, each with its number from 0 among all of them, and returns the operands where the
/// judged call must find them.
///
/// # Errors
/// What `call` returns about an earlier call that is a finding, or what `stuck` makes of operands that do not fit into the memory
/// of those before them.
pub(crate) fn prepare<'a, E>(
    case: &Case,
    operands: &'a Operands,
    mut call: impl FnMut(usize, &Case, &Operands) -> Result<(), E>,
    stuck: impl FnOnce(Refusal) -> E,
) -> Result<Cow<'a, Operands>, E> {
    let earlier = &operands.earlier;
    let (kept, mut next) = (case.params.kept_calls, 0);
    let mut call = |case: &Case, operands: &Operands| {
        let number = next;
        next += 1;
        if kept.is_none_or(|kept| kept.holds(number)) { call(number, case, operands) } else { Ok(()) }
    };
    match case.params.after {
        None => Ok(Cow::Borrowed(operands)),
        Some(After::Contents | After::Extents) => {
            let mut stage = Stage::new(operands, earlier);
            for e in earlier {
                match stage.holding(&e.operands) {
                    Ok(held) => stage = held,
                    Err(refusal) => return Err(stuck(refusal)),
                }
                call(&e.case, stage.operands())?;
            }
            let last = stage.holding(operands).map_err(stuck)?;
            Ok(Cow::Owned(last.into_operands()))
        }
        Some(After::Freed) => {
            for _ in 0..FREED {
                for e in earlier {
                    let held = e.operands.clone();
                    call(&e.case, &held)?;
                }
            }
            Ok(Cow::Owned(alone(operands)))
        }
        Some(after @ (After::Many | After::Myriad)) => {
            for turn in 0..calls(after, operands) {
                match earlier.first().filter(|_| turn % 2 == 1) {
                    Some(e) => call(&e.case, &e.operands)?,
                    None => call(case, operands)?,
                }
            }
            Ok(Cow::Borrowed(operands))
        }
        Some(After::Other) => {
            let mut mine = alone(operands);
            call(case, &mine)?;
            for e in earlier {
                let mut theirs = e.operands.clone();
                // The very arrays, where they are of the same kind; their contents are the same.
                let same = (theirs.a.kind(), theirs.a.precision()) == (mine.a.kind(), mine.a.precision());
                if same {
                    swap(&mut theirs.a, &mut mine.a);
                }
                let called = call(&e.case, &theirs);
                if same {
                    swap(&mut theirs.a, &mut mine.a);
                }
                called?;
            }
            Ok(Cow::Owned(mine))
        }
    }
}

/// Number of calls before the judged one.
pub fn count(case: &Case, operands: &Operands) -> usize {
    let others = operands.earlier.len();
    match case.params.after {
        None => 0,
        Some(After::Contents | After::Extents) => others,
        Some(After::Freed) => FREED * others,
        Some(after @ (After::Many | After::Myriad)) => calls(after, operands),
        Some(After::Other) => 1 + others,
    }
}

/// How many of the calls before the judged one differ from each other: those after them repeat them in turn.
pub(crate) fn different(case: &Case, operands: &Operands) -> usize {
    let others = operands.earlier.len();
    match case.params.after {
        Some(After::Freed) => others,
        Some(After::Many | After::Myriad) => 1 + others,
        None | Some(After::Contents | After::Extents | After::Other) => count(case, operands),
    }
}

/// A copy without the calls before.
fn alone(operands: &Operands) -> Operands {
    let Operands { a, b_sparse, b, y, result, c, earlier: _ } = operands;
    Operands {
        a: a.clone(),
        b_sparse: b_sparse.clone(),
        b: b.clone(),
        y: y.clone(),
        result: *result,
        c: c.clone(),
        earlier: Vec::new(),
    }
}

/// Calls in turn: an even number, so that the last one before the judged is of the other set.
fn calls(after: After, operands: &Operands) -> usize {
    let (most, elements) = turns(after);
    let (rows, cols) = operands.a.shape();
    let dense = |d: &Option<crate::operands::DenseOperand>| d.as_ref().map_or(0, |d| d.data.len());
    let touched = rows + cols + operands.a.nnz() + dense(&operands.b) + dense(&operands.y);
    let touched = touched + operands.result.0 * operands.result.1;
    (elements / touched.max(1)).clamp(4, most) & !1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operands::build;
    use sparse_oracle::each_parts;
    use sparse_oracle::format::{AnyParts, FieldRef, FormatKind};

    fn made(line: &str) -> (Case, Operands) {
        let case: Case = line.parse().expect(line);
        let loaded = case.origin.load().expect(line);
        let operands = build(&case, &loaded).expect(line);
        (case, operands)
    }

    /// Addresses of all arrays of A that hold something, by name.
    fn addresses(operands: &Operands) -> Vec<(&'static str, usize)> {
        fn at<T>(v: &[T]) -> usize {
            v.as_ptr() as usize
        }
        sparse_oracle::each_sparse!(&operands.a, m => sparse_oracle::each_format!(Sparse, m, m => {
            use sparse_oracle::format::Fields;
            let list = m.fields().into_iter().map(|(name, field)| (name, match field {
                FieldRef::U8(v) => at(v),
                FieldRef::U16(v) => at(v),
                FieldRef::U32(v) => at(v),
                FieldRef::U64(v) => at(v),
                FieldRef::Values(v) => at(v),
                FieldRef::Extent(_) | FieldRef::Flag(_) => 0,
            }));
            list.collect()
        }))
    }

    fn bits(operands: &Operands) -> String {
        let parts = AnyParts::from(operands.a.clone());
        let a = each_parts!(&parts, p => format!("{p:?}"));
        format!("{a} {:?}", operands.b.as_ref().map(|b| b.data.as_slice()))
    }

    #[test]
    fn other_contents_and_extents_stand_at_the_same_addresses_in_every_format() {
        for format in FormatKind::ALL {
            for after in ["contents", "extents"] {
                let line = format!(
                    "spmm.{}.f32_f32_f32_f32/uniform:rows=32,cols=48,density=0.2,seed=5/values=wide,3/align=3/after={after}",
                    format.name()
                );
                if line.parse::<Case>().is_err() {
                    continue;
                }
                let (_, operands) = made(&line);
                let look = |_: &Case, o: &Operands| (addresses(o), bits(o), o.result);
                let (seen, last) = calls_of(&line, look);
                assert!(seen.len() >= 2, "{line}");
                assert_eq!(bits(&last), bits(&operands), "{line}");
                for (places, contents, result) in &seen {
                    assert_eq!(*places, addresses(&last), "{line}");
                    assert_ne!(*contents, bits(&last), "{line}");
                    assert_eq!(after == "contents", *result == operands.result, "{line}");
                }
            }
        }
    }

    /// The calls before the judged one, as `look` sees them, and the operands that the judged one finds.
    fn calls_of<S>(line: &str, mut look: impl FnMut(&Case, &Operands) -> S) -> (Vec<S>, Operands) {
        let (case, operands) = made(line);
        let mut seen = Vec::new();
        let call = |_: usize, asked: &Case, operands: &Operands| {
            seen.push(look(asked, operands));
            Ok::<(), Refusal>(())
        };
        let last = prepare(&case, &operands, call, |refusal| refusal).expect(line);
        let last = last.into_owned();
        (seen, last)
    }

    /// Small operands after calls of each kind whose number is not large.
    fn lines() -> impl Iterator<Item = String> {
        let kinds = After::ALL.into_iter().filter(|&after| after != After::Myriad);
        kinds.map(|after| line_after("spmm", after))
    }

    fn line_after(op: &str, after: After) -> String {
        let a = "uniform:rows=9,cols=9,density=0.4,seed=5/values=wide,3";
        format!("{op}.csr.f64_f64_f64_f64/{a}/after={}", after.name())
    }

    #[test]
    fn two_sets_take_turns_and_large_ones_less_often() {
        let line = line_after("spmv", After::Many);
        let (_, operands) = made(&line);
        let (seen, _) = calls_of(&line, |_, operands| bits(operands));
        assert_eq!(seen.len(), 300);
        assert!(seen.chunks(2).all(|pair| pair[0] == bits(&operands) && pair[1] != pair[0]));
        let (_, large) = made(&line.replace("rows=9", "rows=60000"));
        assert!((4..60).contains(&calls(After::Many, &large)));
        assert_eq!(calls(After::Myriad, &operands), 70_000);
    }

    #[test]
    fn only_the_calls_that_are_kept_are_made_in_the_same_memory() {
        for line in lines() {
            let seen_of = |line: &str| {
                let (case, operands) = made(line);
                let (seen, last) = calls_of(line, |asked, operands| (asked.contract, bits(operands)));
                (seen, bits(&last), count(&case, &operands))
            };
            let (all, last, total) = seen_of(&line);
            assert_eq!(all.len(), total, "{line}");
            for (kept, calls) in [("1", &all[1..2]), ("0-1", &all[..2]), ("none", &[])] {
                let expected = (calls.to_vec(), last.clone(), total);
                assert_eq!(seen_of(&format!("{line}/calls={kept}")), expected);
            }
        }
    }

    /// A hunt leaves out what repeats, for bugs that remember nothing.
    #[test]
    fn calls_after_the_different_ones_repeat_them_in_turn() {
        for line in lines() {
            let (case, operands) = made(&line);
            let (seen, _) = calls_of(&line, |asked, operands| (asked.to_string(), bits(operands)));
            let different = different(&case, &operands);
            assert!(different > 0 && different <= seen.len(), "{line}");
            for (number, call) in seen.iter().enumerate() {
                assert_eq!(*call, seen[number % different], "{line}");
            }
        }
    }

    #[test]
    fn another_contract_is_called_on_the_very_arrays() {
        let line = line_after("spmm", After::Other);
        let (seen, last) = calls_of(&line, |asked, operands| (asked.contract.op, addresses(operands)));
        let here = addresses(&last);
        let on_them = |op| seen.iter().any(|(o, at)| *o == op && *at == here);
        use sparse_oracle::contract::Op;
        assert!(on_them(Op::Spmm) && on_them(Op::Spmv), "{seen:?} {here:?}");
    }

    #[test]
    fn an_earlier_call_that_is_a_finding_ends_it() {
        for after in After::ALL {
            let line = line_after("spmm", after);
            let (case, operands) = made(&line);
            let ended = prepare(&case, &operands, |_, _, _| Err("crashed"), |_| "stuck");
            assert_eq!(ended.map(|_| ()), Err("crashed"), "{line}");
        }
    }
}
