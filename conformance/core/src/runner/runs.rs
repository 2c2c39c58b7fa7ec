//! The judged call of a case, or its calls: one from poison; from two different C where C is read.

use super::settle::{declared_refusal, judge_move, judge_refusal, of_another_call, settle};
use super::{Keep, RunState};
use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::determinism::First;
use crate::execute::{Before, execute, fault_applies, other_filling};
use crate::operands::{Operands, initial, seed_of};
use crate::report::reason::SECOND_CALL;
use crate::response::Response;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::Returned;
use sparse_oracle::judge::Judged;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::verdict::Verdict;
use std::borrow::Cow;

pub(super) fn judge_keeping(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    seen: &mut RunState<'_, '_>,
) -> Judged {
    let (arithmetic, profile) = match backend.support(&case.contract, &case.params) {
        Support::Supported { arithmetic, profile } => (arithmetic, profile),
        Support::Excluded { reason } => {
            return Judged::only(Verdict::Unsupported { reason: reason.into_owned() });
        }
    };
    if let Some(fault) = case.params.fault {
        if !fault_applies(case, operands) {
            let reason =
                format!("fault={} leaves this request legal: there is nothing to break", fault.name());
            return Judged::only(Verdict::NotRun { reason });
        }
        let response = seen.execute(case, operands, backend, Before::Poison);
        return Judged::only(judge_refusal(fault.name(), response));
    }
    if !case.contract.op.is_exact()
        && let Some(reason) = inadmissible(case, &arithmetic)
    {
        let message = format!("declares an arithmetic that the contract does not admit: it {reason}");
        return Judged::only(Verdict::LoneRefusal { refusal: message });
    }
    if let Some(expected) = declared_refusal(case, operands, &profile) {
        let response = seen.execute(case, operands, backend, Before::Poison);
        return Judged::only(judge_refusal(&expected, response));
    }
    match case.contract.op.signature().returned {
        Returned::Moved => {
            let response = seen.execute(case, operands, backend, Before::Poison);
            keep_sparse(&mut seen.keep, &response);
            Judged::only(judge_move((&profile, seen.sheets), response))
        }
        Returned::Product => {
            let product = seen.sheets.product(&arithmetic, &profile);
            let exact = match product.exact() {
                Ok(exact) => exact,
                Err(reason) => return Judged::only(Verdict::NotRun { reason }),
            };
            let response = seen.execute(case, operands, backend, Before::Poison);
            keep_sparse(&mut seen.keep, &response);
            match response {
                Response::Sparse(raw) => product.judge_spgemm(exact, raw),
                other => Judged::only(settle(other)),
            }
        }
        Returned::Matrix | Returned::Vector | Returned::Sampled => {
            judge_dense_runs(case, operands, backend, (&arithmetic, &profile), seen)
        }
    }
}

fn keep_sparse(keep: &mut Keep, response: &Response) {
    if matches!(keep, Keep::No) {
        return;
    }
    let response = match response {
        Response::Sparse(raw) => Response::Sparse(raw.clone()),
        Response::Parts(parts) => Response::Parts(parts.clone()),
        _ => return,
    };
    *keep = Keep::Result(Box::new(First { response, before: None }));
}

/// Why a declaration can't be judged against: weaker than the contract admits, or at odds with itself.
fn inadmissible(case: &Case, arithmetic: &Arithmetic) -> Option<String> {
    let weaker = case.contract.refuses(arithmetic);
    weaker.or_else(|| arithmetic.contradiction(case.params.alpha, case.params.beta).map(str::to_owned))
}

/// What C holds before each run of a dense case: one run from poison; with beta != 0, or a beta = 0 that reads C, two
/// from different C.
pub fn starts<'a>(case: &Case, operands: &'a Operands, profile: &Profile) -> Vec<Option<Cow<'a, [f64]>>> {
    // C of an SDDMM is none of this: S is read there, by its own mode.
    let reads_anyway = case.contract.op.updates() && !case.reads_c() && profile.has(Choice::Beta0ReadsC);
    let variants = if case.reads_c() || reads_anyway { 2 } else { 1 };
    // A backend that computes 0 * C gets finite junk instead of poison: poison would only show what its
    // profile already says. Two different junks still tell computed from stale.
    let count = operands.result.0 * operands.result.1;
    let junk = |variant: usize| vec![[1.5, -2.5][variant]; count];
    let start = |variant| {
        if reads_anyway { Some(junk(variant).into()) } else { initial(case, operands, variant) }
    };
    (0..variants).map(start).collect()
}

/// One run from poison; with beta != 0 (or a beta = 0 that reads C), two runs from different C.
fn judge_dense_runs(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    (arithmetic, profile): (&Arithmetic, &Profile),
    seen: &mut RunState<'_, '_>,
) -> Judged {
    let product = seen.sheets.product(arithmetic, profile);
    let exact = match product.exact() {
        Ok(exact) => exact,
        Err(reason) => return Judged::only(Verdict::NotRun { reason }),
    };
    let mut worst: Option<Judged> = None;
    for (call, c) in starts(case, operands, profile).into_iter().enumerate() {
        let before = Before::of(case, c.as_deref());
        let judge = |response: &Response| match response {
            Response::Dense(result) => Some(product.judge_dense(exact, result.output(), c.as_deref())),
            _ => None,
        };
        let (response, judged) = seen.execute_and(case, operands, (backend, before), judge);
        let (result, judged) = match (response, judged) {
            (Response::Dense(result), Some(judged)) => (result, judged),
            (other, _) => return of_call(call, Judged::only(settle(other))),
        };
        if judged.verdict.is_finding() {
            return of_call(call, judged);
        }
        let unread = matches!(before, Before::Poison);
        if let Some(bits) = other_filling(case.contract.types.out, seed_of(case)).filter(|_| unread) {
            match execute(case, operands, backend, Before::Bits(bits), &mut seen.spent) {
                Response::Dense(other) if result.same_bits(&other) => {}
                Response::Dense(other) => {
                    let judged = product.judge_dense(exact, other.output(), c.as_deref());
                    if judged.verdict.is_finding() {
                        return beside(judged, bits);
                    }
                }
                other => return of_call(1, Judged::only(settle(other))),
            }
        }
        if matches!(seen.keep, Keep::Wanted) {
            let before = match before {
                Before::Values(held) => Some(held.to_vec()),
                Before::Poison | Before::Bits(_) => None,
            };
            seen.keep = Keep::Result(Box::new(First { response: Response::Dense(result), before }));
        }
        worst = Some(match worst {
            Some(before) => worse(before, judged),
            None => judged,
        });
    }
    worst.unwrap_or_else(|| Judged::only(Verdict::NotRun { reason: "no run".to_owned() }))
}

/// What came of a call. Of the second one it says so, because it is not to be looked for in the first.
fn of_call(call: usize, judged: Judged) -> Judged {
    match call {
        0 => judged,
        _ => Judged { verdict: of_another_call(judged.verdict, SECOND_CALL), ..judged },
    }
}

/// A finding that depends on what the output held before the call, although it must not be read; says what that was.
fn beside(judged: Judged, bits: u64) -> Judged {
    let mut judged = judged;
    if let Verdict::Wrong(mismatch) = &mut judged.verdict {
        mismatch.message = format!(
            "{}; the output held 0x{bits:x} before the call, and where it held NaN the result was right",
            mismatch.message
        );
    }
    judged
}

/// Of two runs that both passed, the one with the larger share.
fn worse(a: Judged, b: Judged) -> Judged {
    let share = |j: &Judged| match j.verdict {
        Verdict::Within { share } => share,
        Verdict::Exact => 0.0,
        // If one of the runs was not judged, the case is not.
        Verdict::Wrong(_)
        | Verdict::AgreedRefusal { .. }
        | Verdict::LoneRefusal { .. }
        | Verdict::LoneAcceptance { .. }
        | Verdict::Crashed { .. }
        | Verdict::TimedOut { .. }
        | Verdict::Unsupported { .. }
        | Verdict::NotRun { .. } => f64::INFINITY,
    };
    if share(&a) > share(&b) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: mutants of the comparison survived; with it turned round, a case of which one run was not judged passed.
    #[test]
    fn of_two_runs_the_worse_one_stands() {
        let within = |share| Judged::only(Verdict::Within { share });
        let not_run = || Judged::only(Verdict::NotRun { reason: "no memory".to_owned() });
        let share =
            |judged: Judged| if let Verdict::Within { share } = judged.verdict { Some(share) } else { None };
        assert_eq!(share(worse(within(0.25), within(0.5))), Some(0.5));
        assert_eq!(share(worse(within(0.5), within(0.25))), Some(0.5));
        assert_eq!(share(worse(Judged::only(Verdict::Exact), within(0.25))), Some(0.25));
        assert_eq!(share(worse(within(0.25), Judged::only(Verdict::Exact))), Some(0.25));
        assert!(matches!(worse(within(0.5), not_run()).verdict, Verdict::NotRun { .. }));
        assert!(matches!(worse(not_run(), within(0.5)).verdict, Verdict::NotRun { .. }));
    }

    /// Found by a reader: only a wrong result of the second call said so; a crash read as if it were one of the first.
    #[test]
    fn what_comes_of_a_second_call_says_so() {
        let crash = |call| {
            let crashed = Judged::only(Verdict::Crashed { message: "signal 11".to_owned() });
            if let Verdict::Crashed { message } = of_call(call, crashed).verdict {
                Some(message)
            } else {
                None
            }
        };
        assert_eq!(crash(0).as_deref(), Some("signal 11"));
        assert_eq!(crash(1), Some(format!("{SECOND_CALL}: signal 11")));
    }

    /// Found by mutation: the junk for a backend that computes 0 * C could be shorter than C.
    #[test]
    fn what_c_holds_before_each_run_has_its_size() {
        let line = "spmm.csr.f32_f32_f32_f32/dense:rows=3,cols=4,seed=1/values=ones,1/n=5";
        let runs = |line: &str, profile: &Profile| {
            let case: Case = line.parse().expect("a case line");
            let loaded = case.origin.load().expect("a generator");
            let operands = crate::operands::build(&case, &loaded).expect("operands");
            let starts = starts(&case, &operands, profile);
            starts.into_iter().map(|c| c.map(Cow::into_owned)).collect::<Vec<_>>()
        };
        let reads = Profile::default().with(Choice::Beta0ReadsC, "computes 0 * C");
        assert_eq!(runs(line, &Profile::default()), [None]);
        assert_eq!(runs(line, &reads), [Some(vec![1.5; 15]), Some(vec![-2.5; 15])]);
        let scaled = runs(&format!("{}/beta=0.5", line.replace("ones", "wide")), &Profile::default());
        assert_eq!(scaled.iter().flatten().map(Vec::len).collect::<Vec<_>>(), [15, 15]);
        assert_ne!(scaled[0], scaled[1]);
    }

    /// Found by mutation: of equal shares the later run stands, and an exact one beside one that is within at no distance is not exact.
    #[test]
    fn of_equal_shares_the_later_run_stands() {
        let within = || Judged::only(Verdict::Within { share: 0.0 });
        let exact = || Judged::only(Verdict::Exact);
        assert!(matches!(worse(exact(), within()).verdict, Verdict::Within { .. }));
        assert!(matches!(worse(within(), exact()).verdict, Verdict::Exact));
    }

    /// Found by mutation: the first result of a product or conversion was not kept, so that no later run was compared with it.
    #[test]
    fn the_first_sparse_result_is_kept_where_one_is_wanted() {
        use sparse_oracle::format::{Csr, CsrParts, Sparse};
        use sparse_oracle::prelude::*;
        use sparse_oracle::task::RawSparse;
        let empty =
            CsrParts { rows: 1, cols: 1, row_ptr: vec![0, 0], col_idx: vec![], values: vec![0.0f64; 0] };
        let raw = RawSparse::of(Sparse::Csr(Csr::try_new(empty).expect("legal")));
        let kept = |mut keep, response| {
            keep_sparse(&mut keep, &response);
            matches!(keep, Keep::Result(_))
        };
        assert!(kept(Keep::Wanted, Response::Sparse(raw.clone())));
        assert!(!kept(Keep::No, Response::Sparse(raw)));
    }
}
