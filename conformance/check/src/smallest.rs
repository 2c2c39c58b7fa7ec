//! The smallest case that fails as a found one did, with its operands as text, so that it can be followed by hand.

use sparse_conformance_core::backend::Backend;
use sparse_conformance_core::case::Case;
use sparse_conformance_core::operands::build;
use sparse_conformance_core::origin::Loaded;
use sparse_conformance_core::record::verdict_record;
use sparse_conformance_core::report::{Reason, show};
use sparse_conformance_core::shrink::{ShrinkBudget, ShrinkOutcome, shrink};
use sparse_oracle::each_precision;
use sparse_oracle::format::AnySparse;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Scalar, decimal};
use sparse_oracle::task::DenseRef;
use std::fmt;

/// Numbers of one operand that are written out.
const SHOWN: usize = 16;

/// A small case.
#[derive(Debug)]
pub(crate) struct Smallest {
    tried: usize,
    verdict: String,
    /// Parameters of the case that are not the default, as in its line.
    parameters: String,
    /// Each operand in words.
    operands: Vec<String>,
}

impl Smallest {
    /// Shrinks a case; none where it did not fail again.
    pub(crate) fn of(
        case: &Case,
        loaded: &Loaded,
        backend: &dyn Backend,
        reason: &Reason,
        budget: ShrinkBudget,
    ) -> Option<Smallest> {
        let ShrinkOutcome::Shrunk(shrunk) = shrink(case, loaded, backend, reason, budget, &|_, _| ()) else {
            return None;
        };
        let minimal = &shrunk.minimal;
        let operands = build(&minimal.case, &minimal.loaded).ok()?;
        let inputs = operands.inputs(&minimal.case);
        let sparse =
            inputs.sparse().map(|(operand, matrix)| format!("{}: {}", operand.name, entries(matrix)));
        let dense = inputs.dense().map(|(operand, matrix)| format!("{}: {}", operand.name, numbers(&matrix)));
        let line = minimal.case.to_string();
        Some(Smallest {
            tried: shrunk.tried,
            verdict: show::one_line(&verdict_record(shrunk.verdict.clone()).to_string()),
            parameters: line.splitn(3, '/').nth(2).unwrap_or_default().to_owned(),
            operands: sparse.chain(dense).collect(),
        })
    }
}

impl fmt::Display for Smallest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried = show::count(self.tried as u64);
        writeln!(f, "  the smallest case that fails alike ({tried} tried): {}", self.verdict)?;
        self.operands.iter().try_for_each(|operand| writeln!(f, "    {operand}"))?;
        writeln!(f, "    parameters: {}", self.parameters)
    }
}

/// `csr f32, 2 x 3, 2 stored: (0, 1) 2.5, (1, 0) 1`.
fn entries(matrix: &AnySparse) -> String {
    let (rows, cols) = sparse_oracle::each_sparse!(matrix, m => m.shape());
    let head = format!("{} {}, {rows} x {cols}", matrix.kind().name(), matrix.precision().name());
    let (entries, precision) = (matrix.entries_f64().list, matrix.precision());
    let shown = entries.iter().take(SHOWN);
    let shown = shown.map(|e| format!("({}, {}) {}", e.row, e.col, decimal(e.value, precision)));
    let shown: Vec<String> = shown.collect();
    format!("{head}, {} stored: {}{}", entries.len(), shown.join(", "), more(entries.len()))
}

/// `f32, 2 x 1: 1, 2`.
fn numbers(DenseRef { rows, cols, data, .. }: &DenseRef<'_>) -> String {
    let precision = data.precision();
    let shown: Vec<String> = each_precision!(AnySlice, *data, v => {
        v.iter().take(SHOWN).map(|x| decimal(x.to_f64(), precision)).collect()
    });
    format!("{precision}, {rows} x {cols}: {}{}", shown.join(", "), more(data.len()))
}

fn more(all: usize) -> String {
    if all > SHOWN { format!(", and {} more", all - SHOWN) } else { String::new() }
}
