//! Backends that panic, refuse, take what is illegal, answer with the wrong kind, or say in their manifest what is not so.

use super::super::bug::symptom::{ACCEPTED, CRASHED, REFUSED, SHAPE, STRUCTURE, VALUE};
use super::super::bug::{
    Bug,
    Effect::{Declares, Runs},
    Family,
};
use super::super::own::rows;
use super::super::request::left_of;
use super::{dense, legal, spmm, spmm_csr};
use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_conformance_peers::Portable;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatParams;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, RawSparse, Task};

const F: Family = Family::Conduct;

pub(super) static BUGS: &[Bug] = &[
    Bug::new(F, "panics", "an assertion fails", |_| true, Runs(|_, _| panic!("a plain panic")), &[CRASHED]),
    Bug::new(
        F,
        "panics with a String",
        "an assertion fails with a formatted message",
        |_| true,
        Runs(|_, _| std::panic::panic_any(String::from("a panic with a String"))),
        &[CRASHED],
    ),
    Bug::new(
        F,
        "panics with a number",
        "a panic without a message",
        |_| true,
        Runs(|_, _| std::panic::panic_any(7u8)),
        &[CRASHED],
    ),
    Bug::new(
        F,
        "panics on an empty matrix",
        "`max()` of nothing is unwrapped",
        spmm,
        Runs(|contract, task| {
            let (a, transposed) = left_of(&task);
            let longest = rows(a, transposed).iter().map(Vec::len).max().filter(|&longest| longest > 0);
            match longest {
                None => panic!("no longest row"),
                Some(_) => Portable.run(contract, task),
            }
        }),
        &[CRASHED],
    ),
    Bug::new(
        F,
        "refuses everything",
        "no request is taken",
        |c| c.params.fault.is_none(),
        Runs(|_, _| Err("not today".into())),
        &[REFUSED],
    ),
    Bug::new(
        F,
        "refuses empty rows",
        "an undeclared precondition of the library behind it",
        spmm,
        Runs(|contract, task| {
            let (a, transposed) = left_of(&task);
            if rows(a, transposed).iter().any(Vec::is_empty) {
                return Err("rows must not be empty".into());
            }
            Portable.run(contract, task)
        }),
        &[REFUSED],
    ),
    Bug::new(
        F,
        "refuses alpha other than 1",
        "undeclared",
        |c| spmm(c) && c.params.alpha != 1.0,
        Runs(|contract, task| {
            if matches!(task, Task::Spmm { alpha, .. } if alpha != 1.0) {
                return Err("alpha must be 1".into());
            }
            Portable.run(contract, task)
        }),
        &[REFUSED],
    ),
    Bug::new(
        F,
        "takes a faulty request",
        "shapes and factors are never checked",
        |c| c.params.fault.is_some(),
        Runs(takes_everything),
        &[ACCEPTED],
    ),
    Bug::new(
        F,
        "takes parameters that are none",
        "illegal parameters of a format are put right in silence",
        |c| legal(c, Op::Convert) && c.params.unpruned,
        Runs(takes_any_pattern),
        &[ACCEPTED, STRUCTURE],
    ),
    Bug::new(
        F,
        "answers sparse for dense",
        "the wrong entry point is called",
        dense,
        Runs(|_, task| Ok(Answer::Sparse(RawSparse::of(left_of(&task).0.clone())))),
        &[SHAPE],
    ),
    Bug::new(
        F,
        "declares fma, multiplies and adds",
        "a compiler flag decides, and the manifest says otherwise",
        spmm_csr,
        Declares(|contract, params| redeclared(contract, params, Reduction::FmaChain)),
        &[VALUE],
    )
    .only_bits(),
    Bug::new(
        F,
        "declares separate operations, fuses",
        "a compiler contracts a * b + c",
        |c| legal(c, Op::Spmv),
        Declares(|contract, params| redeclared(contract, params, Reduction::MulAddChain)),
        &[VALUE],
    )
    .only_bits(),
    Bug::new(
        F,
        "declares a narrower accumulator",
        "a declaration that would forgive more than the contract does",
        dense,
        Declares(weaker),
        &[REFUSED],
    ),
    Bug::new(
        F,
        "declares that it rounds in one direction",
        "a liberty that no contract admits",
        dense,
        Declares(|contract, params| {
            changed(contract, params, |arithmetic| {
                arithmetic.part_mut().nearest = false;
            })
        }),
        &[REFUSED],
    ),
    Bug::new(
        F,
        "declares truncated tf32, rounds to nearest",
        "one rounding is as good as another",
        |c| spmm_csr(c) && c.contract.types.a == Precision::Tf32,
        Declares(|contract, params| {
            changed(contract, params, |arithmetic| {
                *arithmetic = arithmetic.input(sparse_oracle::arithmetic::Input::Tf32Truncate);
            })
        }),
        &[VALUE],
    ),
];

fn takes_everything(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let a = left_of(&task).0;
    let sparse = matches!(task, Task::Spgemm { .. });
    match Portable.run(contract, task) {
        Ok(answer) => Ok(answer),
        Err(_) if sparse => Ok(Answer::Sparse(RawSparse::of((*a).clone()))),
        Err(_) => Ok(Answer::Written),
    }
}

/// A window that holds more than the pattern is encoded with all of a window kept.
fn takes_any_pattern(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Convert { a, to, .. } = task else {
        return Portable.run(contract, task);
    };
    let params = FormatParams { n: 4, ..FormatParams::default() };
    Portable.run(contract, Task::Convert { a, to, params })
}

/// The honest manifest with another arithmetic.
fn changed(contract: &Contract, params: &Params, change: impl Fn(&mut Arithmetic)) -> Support {
    match Portable.support(contract, params) {
        Support::Supported { mut arithmetic, profile } => {
            change(&mut arithmetic);
            Support::Supported { arithmetic, profile }
        }
        excluded => excluded,
    }
}

fn redeclared(contract: &Contract, params: &Params, reduction: Reduction) -> Support {
    changed(contract, params, |arithmetic| {
        arithmetic.part_mut().reduction = reduction;
    })
}

fn weaker(contract: &Contract, params: &Params) -> Support {
    // Of 16 bits either type lacks something of the other: significand or range.
    let narrow = match contract.types.acc {
        Precision::F64 => Precision::F32,
        Precision::F16 => Precision::Bf16,
        _ => Precision::F16,
    };
    changed(contract, params, |arithmetic| {
        *arithmetic = Arithmetic::any(narrow, contract.types.out);
    })
}
