//! Does the judge judge? Backends with one known bug each must be found, by the right verdict, within a modest slice of
//! the quick plan; honest ones must not be.
//!
//! Run with `--nocapture` for the table: bug, verdicts, cases until the first.

mod runner_broken;

use runner_broken::{
    Broken, RunFn, SupportFn, after, edit_values, gathered, honest, honest_support, last_wins,
};
use runner_broken::{bits_of, rebuilt, sparse_after, values_of};
use sparse_conformance::backend::{
    Backend, Failure, NalgebraSparse, Portable, Sprs, Support, check_declarations,
};
use sparse_conformance::case::Case;
use sparse_conformance::execute::poison;
use sparse_conformance::origin::Loaded;
use sparse_conformance::plan::{Options, plan};
use sparse_conformance::report::{Tier, VerdictRecord};
use sparse_conformance::runner::run_case;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::{Contract, Op, TYPES};
use sparse_oracle::format::{FormatKind, Layout};
use sparse_oracle::scalar::{Precision, Rounding, decode, encode};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, SddmmMode, Task};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Cases of the quick plan that a bug is given before it counts as missed.
const SLICE: usize = 150;

/// One bug and how it must be found.
struct Bug {
    name: &'static str,
    /// The cases it concerns.
    concerns: fn(&Case) -> bool,
    support: SupportFn,
    run: RunFn,
    /// The verdicts it may get, at least one of them.
    verdicts: &'static [&'static str],
}

fn label(verdict: &VerdictRecord) -> String {
    match verdict {
        VerdictRecord::Wrong(mismatch) => mismatch.what.name().to_owned(),
        other => format!("{:?}", other.kind()),
    }
}

/// Legal cases of an operation.
fn legal(case: &Case, op: Op) -> bool {
    case.contract.op == op && case.params.fault.is_none()
}

fn dense(case: &Case) -> bool {
    matches!(case.contract.op, Op::Spmm | Op::Spmv | Op::Sddmm) && case.params.fault.is_none()
}

fn spmm(case: &Case) -> bool {
    legal(case, Op::Spmm)
}

fn spmm_csr(case: &Case) -> bool {
    spmm(case) && case.contract.format == FormatKind::Csr
}

fn spgemm(case: &Case) -> bool {
    legal(case, Op::Spgemm)
}

fn moves(case: &Case) -> bool {
    case.contract.op.is_exact()
}

fn typed(case: &Case, a: Precision, acc: Precision, out: Precision) -> bool {
    let types = case.contract.types;
    (types.a, types.acc, types.out) == (a, acc, out)
}

/// Rewrites alpha and beta of a task.
fn with_factors(task: Task<'_>, factors: impl Fn(f64, f64) -> (f64, f64)) -> Task<'_> {
    match task {
        Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        } => {
            let (alpha, beta) = factors(alpha, beta);
            Task::Spmm {
                a,
                transpose_a,
                b,
                transpose_b,
                alpha,
                beta,
                c,
            }
        }
        Task::Spmv {
            a,
            transpose_a,
            x,
            alpha,
            beta,
            y,
        } => {
            let (alpha, beta) = factors(alpha, beta);
            Task::Spmv {
                a,
                transpose_a,
                x,
                alpha,
                beta,
                y,
            }
        }
        Task::Sddmm {
            s,
            x,
            y,
            alpha,
            beta,
            mode,
            out,
        } => {
            let (alpha, beta) = factors(alpha, beta);
            Task::Sddmm {
                s,
                x,
                y,
                alpha,
                beta,
                mode,
                out,
            }
        }
        other => other,
    }
}

fn beta_of(task: &Task<'_>) -> f64 {
    match task {
        Task::Spmm { beta, .. } | Task::Spmv { beta, .. } => *beta,
        _ => 0.0,
    }
}

fn returns_zeros(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (_, _, at) in d.offsets() {
                d.after[at] = 0;
            }
        },
    )
}

fn leaves_c(_: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Written)
}

fn skips_last_row(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (i, _, at) in d.offsets() {
                if i + 1 == d.rows {
                    d.after[at] = d.before[at];
                }
            }
        },
    )
}

/// What a kernel does that visits stored entries only: rows without any keep what they held.
fn skips_empty_rows(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm {
        a,
        transpose_a: false,
        ..
    } = &task
    else {
        return honest(contract, task);
    };
    let mut filled = vec![false; a.shape().0];
    sparse_oracle::each_sparse!(a, m => m.entries().list.iter().for_each(|e| filled[e.row as usize] = true));
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (i, _, at) in d.offsets() {
                if !filled[i] {
                    d.after[at] = d.before[at];
                }
            }
        },
    )
}

fn drops_last_term(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm {
        a,
        transpose_a,
        b,
        transpose_b,
        alpha,
        beta,
        c,
    } = task
    else {
        return honest(contract, task);
    };
    let a = &rebuilt(a, |e, next| {
        next.is_some_and(|n| n.row == e.row).then_some(e.value)
    })?;
    honest(
        contract,
        Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        },
    )
}

fn reads_next_column_of_b(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm {
        a,
        transpose_a,
        b,
        transpose_b,
        alpha,
        beta,
        c,
    } = task
    else {
        return honest(contract, task);
    };
    let last = b.cols.max(1) - 1;
    let data = gathered(&b, |i, j| (i, (j + 1).min(last)));
    let b = DenseRef {
        data: data.as_slice(),
        ..b
    };
    honest(
        contract,
        Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        },
    )
}

fn ignores_beta(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    honest(contract, with_factors(task, |alpha, _| (alpha, 0.0)))
}

fn takes_beta_for_one(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    honest(
        contract,
        with_factors(task, |alpha, beta| (alpha, if beta == 0.0 { 0.0 } else { 1.0 })),
    )
}

fn ignores_alpha(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    honest(contract, with_factors(task, |_, beta| (1.0, beta)))
}

/// `beta * c` where beta is 0: poison is NaN and stays NaN.
fn reads_c_at_beta_zero(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let beta = beta_of(&task);
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (_, _, at) in d.offsets() {
                if beta == 0.0 {
                    d.after[at] = d.bits(d.number(d.after[at]) + 0.0 * d.number(d.before[at]));
                }
            }
        },
    )
}

fn adds_c_twice(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let beta = beta_of(&task);
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (_, _, at) in d.offsets() {
                if beta != 0.0 {
                    d.after[at] = d.bits(d.number(d.after[at]) + beta * d.number(d.before[at]));
                }
            }
        },
    )
}

fn writes_padding(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            let (outer, inner) = if d.layout == Layout::RowMajor {
                (d.rows, d.cols)
            } else {
                (d.cols, d.rows)
            };
            if d.ld > inner && outer > 0 {
                d.after[(outer - 1) * d.ld + inner] = 0;
            }
        },
    )
}

fn writes_nan(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (_, _, at) in d.offsets() {
                d.after[at] = d.bits(f64::NAN);
            }
        },
    )
}

/// One element of the result is the payload that nothing may carry.
fn copies_poison(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            if let Some(&(_, _, at)) = d.offsets().last() {
                d.after[at] = poison(d.precision);
            }
        },
    )
}

fn off_by_one_ulp(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            let all = d.offsets();
            let found = all.iter().map(|o| o.2).find(|&at| {
                let v = d.number(d.after[at]);
                v.is_finite() && v != 0.0
            });
            if let Some(at) = found {
                d.after[at] ^= 1;
            }
        },
    )
}

fn swaps_two_rows(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            if d.rows >= 2 {
                for j in 0..d.cols {
                    let (first, second) = (d.offset(0, j), d.offset(1, j));
                    d.after.swap(first, second);
                }
            }
        },
    )
}

fn panics(_: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
    panic!("a plain panic")
}

fn panics_with_string(_: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
    std::panic::panic_any(String::from("a panic with a String"))
}

fn panics_oddly(_: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
    std::panic::panic_any(7u8)
}

fn indexes_past_the_end(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| d.after.push(d.after[d.after.len()]),
    )
}

fn refuses_everything(_: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
    Err("not today".into())
}

fn accepts_everything(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let sparse = matches!(task, Task::Spgemm { .. });
    let a = match &task {
        Task::Spgemm { a, .. } => Some((*a).clone()),
        _ => None,
    };
    match (honest(contract, task), a) {
        (Ok(answer), _) => Ok(answer),
        (Err(_), Some(a)) if sparse => Ok(Answer::Sparse(a.into())),
        (Err(_), _) => Ok(Answer::Written),
    }
}

fn sparse_for_dense(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let (Task::Spmm { a, .. } | Task::Spmv { a, .. } | Task::Sddmm { s: a, .. }) = task else {
        return honest(contract, task);
    };
    Ok(Answer::Sparse(a.clone().into()))
}

fn bad_offsets(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    sparse_after(contract, task, |raw| {
        if let Some(last) = raw.offsets.last_mut() {
            *last += 1;
        }
    })
}

fn column_out_of_range(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    sparse_after(contract, task, |raw| {
        if let Some(last) = raw.indices.last_mut() {
            *last = u32::MAX - 1;
        }
    })
}

fn unsorted(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    sparse_after(contract, task, |raw| {
        let offsets = raw.offsets.clone();
        let indices = &mut raw.indices;
        for lane in offsets.windows(2) {
            indices[lane[0] as usize..lane[1] as usize].reverse();
        }
        edit_values(raw, |bits| {
            for lane in offsets.windows(2) {
                bits[lane[0] as usize..lane[1] as usize].reverse();
            }
        });
    })
}

/// Removes stored zeros from the lanes of a CSR or CSC result.
fn drops_zeros(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    sparse_after(contract, task, |raw| {
        let precision = raw.values.precision();
        let bits = bits_of(raw.values.as_slice());
        let keep: Vec<bool> = bits.iter().map(|&b| decode(b, precision) != 0.0).collect();
        let kept = |end: u32| keep[..end as usize].iter().filter(|k| **k).count() as u32;
        raw.offsets = raw.offsets.iter().map(|&end| kept(end)).collect();
        let mut places = keep.iter();
        raw.indices
            .retain(|_| *places.next().expect("one flag per entry"));
        let kept: Vec<u64> = bits.iter().zip(&keep).filter(|p| *p.1).map(|p| *p.0).collect();
        raw.values = values_of(precision, &kept);
    })
}

fn stores_too_much(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    sparse_after(contract, task, |raw| {
        // A +0 in the last lane, after its last entry, where the row has room.
        let lanes = raw.offsets.len() - 1;
        let (width, last) = if raw.kind == FormatKind::Csr {
            (raw.cols, lanes)
        } else {
            (raw.rows, lanes)
        };
        let next = if last > 0 && raw.offsets[last - 1] < raw.offsets[last] {
            raw.indices.last().map_or(0, |i| i + 1)
        } else {
            0
        };
        if last > 0 && (next as usize) < width {
            raw.offsets[last] += 1;
            raw.indices.push(next);
            edit_values(raw, |bits| bits.push(0));
        }
    })
}

fn written_for_sparse(_: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Written)
}

fn duplicates_last_wins(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    match task {
        Task::Convert { a, to, params } => honest(
            contract,
            Task::Convert {
                a: &last_wins(a)?,
                to,
                params,
            },
        ),
        Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        } => honest(
            contract,
            Task::Spmm {
                a: &last_wins(a)?,
                transpose_a,
                b,
                transpose_b,
                alpha,
                beta,
                c,
            },
        ),
        other => honest(contract, other),
    }
}

fn does_not_transpose(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Transpose { a } = task else {
        return honest(contract, task);
    };
    Ok(Answer::Sparse(a.clone().into()))
}

fn transposes_indices_only(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Transpose { a } = task else {
        return honest(contract, task);
    };
    let values = sparse_oracle::format::AnySparse::clone(a);
    let raw = sparse_oracle::task::RawSparse::from(values);
    sparse_after(contract, Task::Transpose { a }, |answer| {
        answer.values = raw.values;
    })
}

fn flips_negative_zero(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    sparse_after(contract, task, |raw| {
        let precision = raw.values.precision();
        edit_values(raw, |bits| {
            for b in bits {
                if decode(*b, precision) == 0.0 {
                    *b = 0;
                }
            }
        });
    })
}

fn wrong_format(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Convert { a, .. } = task else {
        return honest(contract, task);
    };
    Ok(Answer::Sparse(a.clone().into()))
}

fn truncated(value: u64) -> u64 {
    value & 0xffff_e000
}

/// Declares `rna`, and drops the low 13 bits instead.
fn truncates_tf32(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmm {
        a,
        transpose_a,
        b,
        transpose_b,
        alpha,
        beta,
        c,
    } = task
    else {
        return honest(contract, task);
    };
    let a = &rebuilt(a, |e, _| Some(truncated(e.value)))?;
    let bits: Vec<u64> = bits_of(b.data).into_iter().map(truncated).collect();
    let data = values_of(Precision::Tf32, &bits);
    let b = DenseRef {
        data: data.as_slice(),
        ..b
    };
    honest(
        contract,
        Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        },
    )
}

/// Declares an f32 accumulator, and sums in f16.
fn accumulates_in_f16(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let narrow = Contract {
        types: TYPES[5],
        ..*contract
    };
    let run = |task: Task<'_>| {
        let Task::Spmm {
            a,
            transpose_a,
            b,
            transpose_b,
            alpha,
            beta,
            c,
        } = task
        else {
            return honest(contract, task);
        };
        let DenseMut {
            rows,
            cols,
            ld,
            layout,
            data,
        } = c;
        let sparse_oracle::scalar::AnySliceMut::F32(out) = data else {
            return Err("expected f32".into());
        };
        let f16: Vec<f64> = out.iter().map(|v| f64::from(*v)).collect();
        let mut half = sparse_oracle::scalar::Values::from_f64(Precision::F16, &f16);
        let c = DenseMut {
            rows,
            cols,
            ld,
            layout,
            data: half.as_mut_slice(),
        };
        honest(
            &narrow,
            Task::Spmm {
                a,
                transpose_a,
                b,
                transpose_b,
                alpha,
                beta,
                c,
            },
        )?;
        out.iter_mut()
            .zip(half.to_f64())
            .for_each(|(to, from)| *to = from as f32);
        Ok(Answer::Written)
    };
    // Padding is put back: it is not what this bug is about.
    after(contract, task, run, |d| {
        let mut all = d.before.clone();
        for (_, _, at) in d.offsets() {
            all[at] = d.after[at];
        }
        d.after = all;
    })
}

/// Rounds the finished f32 result through bf16: a forgotten narrow temporary.
fn rounds_through_bf16(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    after(
        contract,
        task,
        |t| honest(contract, t),
        |d| {
            for (_, _, at) in d.offsets() {
                let narrow = encode(d.number(d.after[at]), Precision::Bf16, Rounding::NearestEven);
                d.after[at] = d.bits(decode(narrow, Precision::Bf16));
            }
        },
    )
}

fn sddmm_ignores_mode(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Sddmm {
        s,
        x,
        y,
        alpha,
        beta,
        out,
        ..
    } = task
    else {
        return honest(contract, task);
    };
    honest(
        contract,
        Task::Sddmm {
            s,
            x,
            y,
            alpha,
            beta,
            mode: SddmmMode::Pattern,
            out,
        },
    )
}

fn sddmm_drops_last_k(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Sddmm {
        s,
        x,
        y,
        alpha,
        beta,
        mode,
        out,
    } = task
    else {
        return honest(contract, task);
    };
    if x.cols == 0 {
        return honest(
            contract,
            Task::Sddmm {
                s,
                x,
                y,
                alpha,
                beta,
                mode,
                out,
            },
        );
    }
    // One column fewer in a wider frame is a column-major operand cut short, or a row-major one with padding.
    let short = |d: DenseRef<'_>| {
        let inner = d.cols - 1;
        let bits = (0..d.rows)
            .flat_map(|i| (0..inner).map(move |j| (i, j)))
            .map(|(i, j)| d.data.bits(runner_broken::offset(d.layout, d.ld, i, j)))
            .collect::<Vec<u64>>();
        (inner, values_of(d.data.precision(), &bits))
    };
    let ((inner, xs), (_, ys)) = (short(x), short(y));
    let packed = |d: DenseRef<'_>| (d.rows, inner, inner, Layout::RowMajor);
    let (rows, cols, ld, layout) = packed(x);
    let x = DenseRef {
        rows,
        cols,
        ld,
        layout,
        data: xs.as_slice(),
    };
    let (rows, cols, ld, layout) = packed(y);
    let y = DenseRef {
        rows,
        cols,
        ld,
        layout,
        data: ys.as_slice(),
    };
    honest(
        contract,
        Task::Sddmm {
            s,
            x,
            y,
            alpha,
            beta,
            mode,
            out,
        },
    )
}

fn weak_support(contract: &Contract, params: &sparse_conformance::case::Params) -> Support {
    match honest_support(contract, params) {
        Support::Supported { profile, .. } => {
            let narrow = if contract.types.acc == Precision::F64 {
                Precision::F32
            } else {
                Precision::F16
            };
            Support::Supported {
                arithmetic: Arithmetic::any(narrow, contract.types.out),
                profile,
            }
        }
        excluded => excluded,
    }
}

fn redeclared(
    contract: &Contract,
    params: &sparse_conformance::case::Params,
    reduction: Reduction,
) -> Support {
    match honest_support(contract, params) {
        Support::Supported {
            mut arithmetic,
            profile,
        } => {
            arithmetic.part_mut().reduction = reduction;
            Support::Supported { arithmetic, profile }
        }
        excluded => excluded,
    }
}

fn fused_support(contract: &Contract, params: &sparse_conformance::case::Params) -> Support {
    redeclared(contract, params, Reduction::FmaChain)
}

fn separate_support(contract: &Contract, params: &sparse_conformance::case::Params) -> Support {
    redeclared(contract, params, Reduction::MulAddChain)
}

fn excludes_everything(_: &Contract, _: &sparse_conformance::case::Params) -> Support {
    Support::Excluded {
        reason: "it would rather not".into(),
    }
}

fn bug(
    name: &'static str,
    concerns: fn(&Case) -> bool,
    run: RunFn,
    verdicts: &'static [&'static str],
) -> Bug {
    Bug {
        name,
        concerns,
        support: honest_support,
        run,
        verdicts,
    }
}

fn bugs() -> Vec<Bug> {
    let declares = |name, concerns, support, verdicts| Bug {
        name,
        concerns,
        support,
        run: honest,
        verdicts,
    };
    vec![
        bug("returns zeros", dense, returns_zeros, &["value"]),
        bug(
            "leaves C, beta = 0",
            |c| dense(c) && !c.reads_c(),
            leaves_c,
            &["unwritten"],
        ),
        bug(
            "leaves C, beta != 0",
            |c| dense(c) && c.reads_c(),
            leaves_c,
            &["value", "stale"],
        ),
        bug(
            "skips last row, beta = 0",
            |c| spmm(c) && !c.reads_c(),
            skips_last_row,
            &["unwritten"],
        ),
        bug(
            "skips last row, beta != 0",
            |c| spmm(c) && c.reads_c(),
            skips_last_row,
            &["value", "stale"],
        ),
        bug(
            "skips empty rows, beta = 0",
            |c| spmm_csr(c) && !c.reads_c(),
            skips_empty_rows,
            &["unwritten"],
        ),
        bug(
            "skips empty rows, beta != 0",
            |c| spmm_csr(c) && c.reads_c(),
            skips_empty_rows,
            &["value", "stale"],
        ),
        bug(
            "drops the last term of a row",
            spmm_csr,
            drops_last_term,
            &["value"],
        ),
        bug(
            "reads the next column of B",
            spmm,
            reads_next_column_of_b,
            &["value"],
        ),
        bug(
            "ignores beta",
            |c| spmm(c) && c.reads_c(),
            ignores_beta,
            &["value", "stale"],
        ),
        bug(
            "takes beta for 1",
            |c| spmm(c) && c.reads_c(),
            takes_beta_for_one,
            &["value", "stale"],
        ),
        bug(
            "ignores alpha",
            |c| spmm(c) && c.params.alpha != 1.0,
            ignores_alpha,
            &["value"],
        ),
        bug(
            "reads C at beta = 0",
            |c| dense(c) && c.contract.op != Op::Sddmm && !c.reads_c(),
            reads_c_at_beta_zero,
            &["value", "stale", "unwritten"],
        ),
        bug(
            "adds C twice",
            |c| spmm(c) && c.reads_c(),
            adds_c_twice,
            &["value", "stale"],
        ),
        bug(
            "writes ldc padding",
            |c| spmm(c) && c.params.pad_c > 0,
            writes_padding,
            &["canary"],
        ),
        bug(
            "writes NaN everywhere",
            dense,
            writes_nan,
            &["value", "unwritten"],
        ),
        bug("copies poison", dense, copies_poison, &["unwritten"]),
        bug("last bit of one element", dense, off_by_one_ulp, &["value"]),
        bug("swaps two rows", spmm, swaps_two_rows, &["value"]),
        bug("panics", |_| true, panics, &["Crashed"]),
        bug("panics with String", |_| true, panics_with_string, &["Crashed"]),
        bug("panics with a number", |_| true, panics_oddly, &["Crashed"]),
        bug("indexes past the end", dense, indexes_past_the_end, &["Crashed"]),
        bug(
            "refuses everything",
            |c| c.params.fault.is_none(),
            refuses_everything,
            &["LoneRefusal"],
        ),
        bug(
            "accepts a faulty request",
            |c| c.params.fault.is_some(),
            accepts_everything,
            &["LoneAcceptance"],
        ),
        bug("returns sparse for dense", dense, sparse_for_dense, &["shape"]),
        bug(
            "writes nothing for sparse",
            |c| moves(c) || spgemm(c),
            written_for_sparse,
            &["shape"],
        ),
        bug("invalid offsets", spgemm, bad_offsets, &["structure"]),
        bug("column out of range", spgemm, column_out_of_range, &["structure"]),
        bug("unsorted SpGEMM", spgemm, unsorted, &["structure"]),
        bug("drops cancelled zeros", spgemm, drops_zeros, &["pattern"]),
        bug(
            "stores a position too many",
            spgemm,
            stores_too_much,
            &["pattern"],
        ),
        bug(
            "conversion sums duplicates wrong",
            |c| moves(c) && c.params.duplicates,
            duplicates_last_wins,
            &["value"],
        ),
        bug(
            "product sums duplicates wrong",
            |c| spmm(c) && c.params.duplicates,
            duplicates_last_wins,
            &["value"],
        ),
        bug(
            "does not transpose",
            |c| legal(c, Op::Transpose),
            does_not_transpose,
            &["shape", "pattern", "value"],
        ),
        bug(
            "transposes indices only",
            |c| legal(c, Op::Transpose) && c.contract.format != FormatKind::Coo,
            transposes_indices_only,
            &["value"],
        ),
        // In a block format a lost -0 becomes a pad, hence a position less.
        bug(
            "conversion loses -0",
            moves,
            flips_negative_zero,
            &["value", "pattern"],
        ),
        bug(
            "converts to another format",
            |c| legal(c, Op::Convert),
            wrong_format,
            &["shape"],
        ),
        bug(
            "truncates tf32, declares rna",
            |c| spmm_csr(c) && c.contract.types.a == Precision::Tf32,
            truncates_tf32,
            &["value"],
        ),
        bug(
            "sums in f16, declares f32",
            |c| spmm_csr(c) && typed(c, Precision::F16, Precision::F32, Precision::F32),
            accumulates_in_f16,
            &["value"],
        ),
        bug(
            "rounds through bf16",
            |c| dense(c) && c.contract.types.out == Precision::F32,
            rounds_through_bf16,
            &["value"],
        ),
        bug(
            "SDDMM ignores its mode",
            |c| legal(c, Op::Sddmm) && c.params.mode != SddmmMode::Pattern,
            sddmm_ignores_mode,
            &["value"],
        ),
        bug(
            "SDDMM drops the last k",
            |c| legal(c, Op::Sddmm),
            sddmm_drops_last_k,
            &["value"],
        ),
        declares(
            "declares FmaChain, multiplies and adds",
            spmm_csr,
            fused_support,
            &["value"],
        ),
        declares(
            "declares MulAddChain, fuses",
            |c| legal(c, Op::Spmv),
            separate_support,
            &["value"],
        ),
        declares(
            "declares a weaker arithmetic",
            dense,
            weak_support,
            &["LoneRefusal"],
        ),
    ]
}

/// The quick plan in an order that meets every matrix and contract early: case k of all groups, then k + 1.
fn shuffled() -> Vec<(Case, Rc<Loaded>)> {
    let groups = plan(&Options::default());
    let mut every: Vec<(u64, Case, usize)> = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        every.extend(
            group
                .cases
                .iter()
                .enumerate()
                .map(|(k, case)| (mixed(g as u64, k as u64), case.clone(), g)),
        );
    }
    every.sort_by_key(|row| row.0);
    let mut loaded: BTreeMap<usize, Rc<Loaded>> = BTreeMap::new();
    let mut load = |g: usize| {
        Rc::clone(
            loaded
                .entry(g)
                .or_insert_with(|| Rc::new(groups[g].origin.load().expect("a planned matrix loads"))),
        )
    };
    let small = every
        .into_iter()
        .filter(|(_, _, g)| groups[*g].origin.family() != "embedded");
    small.map(|(_, case, g)| (case, load(g))).collect()
}

fn mixed(g: u64, k: u64) -> u64 {
    let x = (g << 20 | k).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[test]
fn every_bug_is_found_by_the_right_verdict() {
    let cases = shuffled();
    let mut failures = Vec::new();
    println!("{:40} {:>6} {:>9}  verdicts", "bug", "first", "findings");
    for Bug {
        name,
        concerns,
        support,
        run,
        verdicts,
    } in bugs()
    {
        let backend: Vec<Box<dyn Backend>> = vec![Box::new(Broken { name, support, run })];
        let mut first = None;
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut given = 0;
        for (case, loaded) in cases.iter().filter(|(case, _)| concerns(case)).take(SLICE) {
            given += 1;
            let record = run_case(case, loaded, &backend).records.remove(0);
            if record.verdict.is_finding() {
                first.get_or_insert(given);
                let label = label(&record.verdict);
                if !verdicts.contains(&label.as_str()) {
                    failures.push(format!(
                        "{name}: {label} is not what it should be called: {case}: {}",
                        record.verdict
                    ));
                }
                *seen.entry(label).or_insert(0) += 1;
            }
        }
        let found: usize = seen.values().sum();
        let list: Vec<String> = seen
            .iter()
            .map(|(label, count)| format!("{label} {count}"))
            .collect();
        let shown = first.map_or("never".to_owned(), |n| n.to_string());
        println!("{name:40} {shown:>6} {found:>5}/{given:<3}  {}", list.join(", "));
        if first.is_none() {
            failures.push(format!("{name}: not found in {given} cases"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} complaints:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn honest_backends_are_not_accused() {
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Portable), Box::new(Sprs), Box::new(NalgebraSparse)];
    let mut ran = [0usize; 3];
    for (case, loaded) in shuffled().iter().step_by(5) {
        for (i, record) in run_case(case, loaded, &backends).records.iter().enumerate() {
            assert!(
                !record.verdict.is_finding(),
                "{}: {}: {}",
                record.backend,
                record.case,
                record.verdict
            );
            ran[i] += usize::from(record.verdict.kind().ran());
        }
    }
    println!(
        "cases run: portable {}, sprs {}, nalgebra-sparse {}",
        ran[0], ran[1], ran[2]
    );
    assert!(ran.iter().all(|&n| n > 50), "{ran:?}");
}

#[test]
fn a_weak_declaration_is_refused_before_anything_runs() {
    for backend in [&Portable as &dyn Backend, &Sprs, &NalgebraSparse] {
        assert_eq!(check_declarations(backend), Ok(()), "{}", backend.name());
    }
    let weak = Broken {
        name: "weak",
        support: weak_support,
        run: honest,
    };
    let refused = check_declarations(&weak).expect_err("it declares a narrower accumulator");
    assert_eq!(refused.backend, "weak");
    assert!(refused.to_string().contains("accumulates in f32"), "{refused}");
    let lazy = Broken {
        name: "lazy",
        support: excludes_everything,
        run: honest,
    };
    assert_eq!(
        check_declarations(&lazy),
        Ok(()),
        "excluding is legal; a run in which it answers nothing is not"
    );
}

/// A declared reduction is held to its bits: T1 alone would let both of these pass.
#[test]
fn another_chain_than_declared_is_a_finding_of_t2() {
    for (name, format_is, support) in [
        ("declares fma", FormatKind::Csr, fused_support as SupportFn),
        (
            "declares mul, add",
            FormatKind::Bcsr,
            separate_support as SupportFn,
        ),
    ] {
        let backend: Vec<Box<dyn Backend>> = vec![Box::new(Broken {
            name,
            support,
            run: honest,
        })];
        let concerns = |c: &Case| spmm(c) && c.contract.format == format_is && c.contract.types == TYPES[0];
        let mut tiers = Vec::new();
        for (case, loaded) in shuffled().iter().filter(|(c, _)| concerns(c)) {
            if let VerdictRecord::Wrong(mismatch) = &run_case(case, loaded, &backend).records[0].verdict {
                tiers.push(mismatch.tier);
            }
        }
        assert!(
            !tiers.is_empty() && tiers.iter().all(|t| *t == Tier::T2),
            "{name}: {tiers:?}"
        );
    }
}

/// An excluded case is no finding, but a backend that answers nothing at all fails the run (report).
#[test]
fn the_runner_reports_what_was_said() {
    let cases = shuffled();
    let (case, loaded) = cases.iter().find(|(c, _)| spmm_csr(c)).expect("there are some");
    let run = |support: SupportFn, run: RunFn| {
        let backend: Vec<Box<dyn Backend>> = vec![Box::new(Broken {
            name: "b",
            support,
            run,
        })];
        run_case(case, loaded, &backend).records.remove(0).verdict
    };
    let text = |verdict: VerdictRecord| format!("{verdict:?}");
    assert!(text(run(honest_support, panics)).contains("a plain panic"));
    assert!(text(run(honest_support, panics_with_string)).contains("a panic with a String"));
    assert!(text(run(honest_support, panics_oddly)).contains("a panic without a message"));
    assert!(text(run(honest_support, refuses_everything)).contains("not today"));
    let excluded = run(excludes_everything, honest);
    assert!(!excluded.is_finding() && text(excluded).contains("it would rather not"));
}

/// Found with seed 3: `0 * (A * B)` overflows in the sum and gives NaN, next to an infinite C. The profile says that
/// alpha = 0 still reads A and B, so NaN is right there.
#[test]
fn a_sum_that_overflows_before_alpha_zero_may_be_nan_beside_an_infinite_c() {
    let line = "spmm.csc.f64_f64_f64_f64/empty:rows=4,cols=8,emptyrows=0.881,emptycols=0.157,density=0.927,\
                seed=3000014/values=special,610527/n=32/alpha=0/beta=1/ta/lc=col/ldc=+7";
    let case: Case = line.parse().expect("a legal line");
    let loaded = case.origin.load().expect("small");
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(NalgebraSparse)];
    let record = run_case(&case, &loaded, &backends).records.remove(0);
    assert!(
        record.verdict.kind().ran() && !record.verdict.is_finding(),
        "{}",
        record.verdict
    );
}
