//! Matrices past the borders of small integers: where an index, a count or a key of 16 or 32 bits runs over.
//!
//! ```text
//! tall     65,537 x 65,537, a diagonal    rows, columns and entries past 2^16, a last block of one       n = 1
//! packed   33 x 2,048, nearly full        entries past 2^16, rows of 2,000                               n = 1
//! long     7 x 66,000, two full rows      entries of a row past 2^16                                     n = 1
//! wide     6 x 300, two rows of 257       elements of B past 2^16, n past 512                            n = 1,000
//! square   133 x 133, a diagonal          elements of C past 2^17                                        n = 1,000, from full on
//! far      70,000 x 70,000                row * cols + col past 2^32                                     n = 1, from full on
//! ```
//!
//! In the quick tier, for the contracts on which seeded bugs are hunted (`measured`).

use super::{Options, Tier, measured, taken_by_all};
use crate::backend::Backend;
use crate::case::{Case, Filling};
use crate::origin::Origin;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::source::values::ValueFamily;
use std::collections::HashSet;

/// A matrix, by its line without the seed, and who is asked about it.
struct Landmark {
    line: &'static str,
    n: usize,
    /// True where its empty rows or columns would be padded to something large.
    sparse_only: bool,
    from: Tier,
}

const fn landmark(line: &'static str, n: usize, sparse_only: bool, from: Tier) -> Landmark {
    Landmark {
        line,
        n,
        sparse_only,
        from,
    }
}

const LANDMARKS: [Landmark; 6] = [
    landmark("diagonal:rows=65537,cols=65537", 1, true, Tier::Quick),
    landmark("uniform:rows=33,cols=2048,density=0.97", 1, false, Tier::Quick),
    landmark(
        "longrows:rows=7,cols=66000,count=2,length=65999",
        1,
        true,
        Tier::Quick,
    ),
    landmark(
        "longrows:rows=6,cols=300,count=2,length=257",
        1000,
        false,
        Tier::Quick,
    ),
    landmark("diagonal:rows=133,cols=133", 1000, false, Tier::Full),
    landmark(
        "uniform:rows=70000,cols=70000,density=0.000001",
        1,
        true,
        Tier::Full,
    ),
];

/// Cases on the landmarks of a tier, for each backend that claims the contract.
pub(super) fn cases(
    options: &Options,
    contracts: &[(u64, Contract)],
    backends: &[&dyn Backend],
) -> Vec<Case> {
    let measured: HashSet<Contract> = backends.iter().flat_map(|b| measured(*b, options.seed)).collect();
    let mut cases = Vec::new();
    for (place, landmark) in LANDMARKS.iter().enumerate() {
        if rank(landmark.from) > rank(options.tier) {
            continue;
        }
        let Ok(spec) = landmark.line.parse::<SourceSpec>() else {
            continue;
        };
        let origin = Origin::Spec(spec.with_seed(options.seed));
        let asked = contracts.iter().filter(|(_, c)| concerns(landmark, c));
        for &(i, contract) in asked.filter(|(_, c)| options.tier != Tier::Quick || measured.contains(c)) {
            let key = [options.seed, i, 3000 + place as u64];
            let family = if i % 2 == 0 {
                ValueFamily::Coded
            } else {
                ValueFamily::NearOne
            };
            let change = |case: &mut Case| shown(case, landmark.n, family);
            cases.extend(taken_by_all(contract, &origin, backends, &key, change));
        }
    }
    cases
}

/// Makes a drawn case one whose result shows every element.
fn shown(case: &mut Case, n: usize, family: ValueFamily) {
    let p = &mut case.params;
    if matches!(case.contract.op, Op::Spmm) {
        p.n = n;
    }
    if p.alpha == 0.0 {
        p.alpha = 1.0;
    }
    // One call of this size is enough.
    p.after = None;
    if let Filling::Drawn(_, seed) = case.filling {
        case.filling = Filling::Drawn(family, seed);
    }
}

const fn rank(tier: Tier) -> u8 {
    match tier {
        Tier::Quick => 0,
        Tier::Full => 1,
        Tier::Extensive => 2,
    }
}

/// Contracts whose arrays stay small: for sparse landmarks, those that grow with entries and rows alone.
fn concerns(landmark: &Landmark, contract: &Contract) -> bool {
    let formats = [Some(contract.format), contract.to];
    let padded = formats.into_iter().flatten().any(FormatKind::pads_with_zeros);
    // Their lengths have 8 bits.
    let narrow = formats
        .into_iter()
        .flatten()
        .any(|f| matches!(f, FormatKind::RpCsc | FormatKind::CpCsr));
    let op = matches!(contract.op, Op::Spmm | Op::Spmv | Op::Transpose | Op::Convert);
    op && !narrow && !(landmark.sparse_only && padded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_parse_and_lie_past_their_borders() {
        for landmark in &LANDMARKS {
            let spec: SourceSpec = landmark.line.parse().expect("a legal line");
            let shape = spec.shape().expect("a shape");
            let of_b = u128::from(shape.cols) * landmark.n as u128;
            let most = u128::from(shape.rows).max(of_b).max(shape.nnz_at_most);
            assert!(most > 1 << 16, "{}", landmark.line);
        }
    }
}
