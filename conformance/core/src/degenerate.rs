//! Which wrong kernels a case would not notice. Before a case counts, this must be known.

use crate::case::Case;
use crate::operands::Operands;
use crate::operands::initial;
use sparse_oracle::judge::{Sheets, vacuity};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::Values;

/// The wrong kernels that this case would not notice, by name, under the weakest arithmetic its contract admits; `sheets` goes with
/// the operands.
#[must_use]
pub fn degenerate(case: &Case, operands: &Operands, sheets: &Sheets<'_>) -> Vec<String> {
    if case.params.fault.is_some() {
        return Vec::new();
    }
    if case.contract.op.is_exact() {
        return if operands.a.nnz() == 0 { vec!["empty".to_owned()] } else { Vec::new() };
    }
    let weakest = case.contract.weakest();
    let product = sheets.product(&weakest, &Profile::default());
    let Ok(exact) = product.exact() else { return Vec::new() };
    let (alpha, beta) = (case.params.alpha, case.params.beta);
    let before = initial(case, operands, 0).map(|c| Values::from_f64(case.contract.types.out, &c));
    let before = before.as_ref().map(|c| (c.as_slice(), exact.compact_place()));
    let tags = vacuity(&exact.problem(), &weakest, (alpha, beta), before).passes;
    tags.into_iter().map(|alternative| alternative.name().to_owned()).collect()
}
