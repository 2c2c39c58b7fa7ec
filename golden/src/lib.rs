//! Pinned tolerances and pinned errors, rendered as text that a person reviews.
//!
//! ```text
//! tolerance_table   every number that a T1 verdict depends on: what a declared arithmetic promises for an element of n terms
//! pinned            what the papers' kernels do: table -> case -> layout -> prepared -> statistics -> text;   ratchet compares texts
//! replay, compare   one element again; recordings of hardware beside the model
//! ```
//!
//! A tolerance is the relative share of the gauge and the absolute part. A change of one is a change of what the suite calls
//! wrong: it needs a line in CHANGELOG.md. README.md says what a row of the other tables means and how to review it.

#![forbid(unsafe_code)]

pub mod case;
pub mod compare;
pub mod error;
pub mod families;
pub mod layout;
pub mod pinned;
pub mod prepared;
pub mod ratchet;
pub mod replay;
pub mod statistics;
pub mod table;
pub mod ulp;

use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Input, Reduction};
use sparse_oracle::bound::{roundings, tolerance};
use sparse_oracle::contract::TYPES;
use sparse_oracle::scalar::Precision;
use std::fmt::Write as _;

/// Numbers of terms that the table shows.
pub const TERMS: [u64; 6] = [0, 1, 2, 32, 1024, 100_000];

/// (alpha, beta) pairs that the table shows: nothing to scale, C added, both scaled.
pub const FACTORS: [(f64, f64); 3] = [(1.0, 0.0), (1.0, 1.0), (-2.0, 0.5)];

/// The tolerances of every combination of element types, reduction and epilogue, one per line.
#[must_use]
pub fn tolerance_table() -> String {
    let mut table = String::from("types reduction epilogue alpha beta n: roundings, rel, abs\n");
    for types in TYPES {
        for reduction in [Reduction::FmaChain, Reduction::MulAddChain, Reduction::Any] {
            for epilogue in [Epilogue::MulThenAdd, Epilogue::MulThenFma, Epilogue::AlphaIntoA] {
                let mut arithmetic = Arithmetic::chain(reduction, types.acc, types.out).epilogue(epilogue);
                if types.a == Precision::Tf32 {
                    arithmetic = arithmetic.input(Input::Tf32Rna);
                }
                for (alpha, beta) in FACTORS {
                    for n in TERMS {
                        let head = format!("{types} {reduction:?} {epilogue:?} {alpha} {beta} {n}");
                        let line = line(&arithmetic, n, alpha, beta);
                        // Writing to a String cannot fail.
                        let _ = writeln!(table, "{head}: {line}");
                    }
                }
            }
        }
    }
    table
}

fn line(arithmetic: &Arithmetic, n: u64, alpha: f64, beta: f64) -> String {
    let r = roundings(arithmetic, n, alpha, beta);
    let count = format!("{}+{}{}", r.inside, r.epilogue, if r.output { "+1" } else { "" });
    // |b| = 1 stands for the operand in the part that scales with it.
    match tolerance(arithmetic, n, alpha, beta, 1.0) {
        Some(t) => format!(
            "{count} deep {}, {:.9e}, {:.9e}",
            r.depth,
            t.relative(),
            t.absolute()
        ),
        None => format!("{count} deep {}, nothing is promised for so many terms", r.depth),
    }
}
