//! Matrices that are wide and tall and hold next to nothing: where an index or a key of 32 bits or less runs over.
//!
//! ```text
//! 70000 x 70000, a few thousand entries      columns past 2^16; row * cols + col past 2^32
//! ```

use super::{Options, Tier, taken_by_all};
use crate::backend::Backend;
use crate::case::Case;
use crate::origin::Origin;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::generator::{Family, SourceSpec};

/// Rows and columns.
const EXTENT: i64 = 70_000;

/// From the full tier on: moves and thin products of formats that store entries only.
pub(super) fn cases(
    options: &Options,
    contracts: &[(u64, Contract)],
    backends: &[&dyn Backend],
) -> Vec<Case> {
    if options.tier == Tier::Quick {
        return Vec::new();
    }
    let spec = SourceSpec::new(Family::Uniform, options.seed);
    let sized = [("rows", EXTENT), ("cols", EXTENT), ("density", 1)];
    let Some(spec) = sized
        .into_iter()
        .try_fold(spec, |spec, (key, value)| spec.with(key, value).ok())
    else {
        return Vec::new();
    };
    let origin = Origin::Spec(spec);
    let thin = contracts.iter().filter(|(_, c)| is_thin(c));
    thin.flat_map(|&(i, contract)| taken_by_all(contract, &origin, backends, &[options.seed, i, 3000]))
        .map(|mut case| {
            case.params.n = case.params.n.min(1);
            case
        })
        .collect()
}

/// Contracts whose arrays grow with entries and rows alone.
fn is_thin(contract: &Contract) -> bool {
    use FormatKind::{Coo, Csc, Csr, Ell};
    let thin = |format: FormatKind| matches!(format, Coo | Csr | Csc | Ell);
    let op = matches!(contract.op, Op::Spmm | Op::Spmv | Op::Transpose | Op::Convert);
    op && thin(contract.format) && contract.to.is_none_or(thin) && contract.types.a == Precision::F32
}
