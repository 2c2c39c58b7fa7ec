//! Matrices that are wide and tall and hold next to nothing: where an index or a key of 32 bits or less runs over.
//!
//! ```text
//! 70000 x 70000, a few thousand entries      columns past 2^16; row * cols + col past 2^32
//! ```

use super::{Group, Mix, Options, Tier, mixed_case};
use crate::case::Case;
use crate::origin::Origin;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::generator::{Family, SourceSpec};

/// Rows and columns.
const EXTENT: i64 = 70_000;

/// One group, from the full tier on: moves and thin products of formats that store entries only.
pub(super) fn groups(options: &Options, contracts: &[(u64, Contract)]) -> Vec<Group> {
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
    let cases = contracts
        .iter()
        .filter(|(_, c)| is_thin(c))
        .map(|&(i, contract)| {
            let mut case = mixed_case(contract, origin.clone(), Mix::new(&[options.seed, i, 3000]));
            case.params.n = 1;
            case.params.fault = None;
            case
        });
    let cases: Vec<Case> = cases.collect();
    vec![Group { origin, cases }]
}

/// Contracts whose arrays grow with entries and rows alone.
fn is_thin(contract: &Contract) -> bool {
    use FormatKind::{Coo, Csc, Csr, Ell};
    let thin = |format: FormatKind| matches!(format, Coo | Csr | Csc | Ell);
    let op = matches!(contract.op, Op::Spmm | Op::Spmv | Op::Transpose | Op::Convert);
    op && thin(contract.format) && contract.to.is_none_or(thin) && contract.types.a == Precision::F32
}
