//! Matrices past the borders of small integers: where an index, a count or a key of 16 or 32 bits runs over.
//!
//! ```text
//! tall      32,769 or 65,537 x 64     rows past 2^15, 2^16            quick: one contract of each operation and format
//! packed    33 x 2048, nearly full    entries past 2^15, 2^16
//! long      3 x 66,000, one full row  entries of a row past 2^16
//! wide      70,000 x 70,000           columns past 2^16; row * cols + col past 2^32        from full on: every contract
//! ```
//!
//! One column of B, so that the result is small.

use super::{Options, Tier, taken_by_all};
use crate::backend::Backend;
use crate::case::Case;
use crate::origin::Origin;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::FormatKind;
use sparse_oracle::source::generator::SourceSpec;
use std::collections::{BTreeMap, HashSet};

/// A matrix, by its line without the seed, and who is asked about it.
struct Landmark {
    lines: &'static [&'static str],
    /// True where its empty rows or columns would be padded to something large.
    sparse_only: bool,
    from: Tier,
}

const LANDMARKS: [Landmark; 4] = [
    Landmark {
        lines: &[
            "uniform:rows=32769,cols=64,density=0.001",
            "uniform:rows=65537,cols=64,density=0.0005",
        ],
        sparse_only: true,
        from: Tier::Quick,
    },
    Landmark {
        lines: &[
            "uniform:rows=33,cols=2048,density=0.97",
            "uniform:rows=17,cols=2048,density=0.95",
        ],
        sparse_only: false,
        from: Tier::Quick,
    },
    Landmark {
        lines: &["dense_row:rows=3,cols=66000,density=0.00003"],
        sparse_only: true,
        from: Tier::Quick,
    },
    Landmark {
        lines: &["uniform:rows=70000,cols=70000,density=0.000001"],
        sparse_only: true,
        from: Tier::Full,
    },
];

/// Cases on the landmarks of a tier, for each backend that claims the contract.
pub(super) fn cases(
    options: &Options,
    contracts: &[(u64, Contract)],
    backends: &[&dyn Backend],
) -> Vec<Case> {
    let mut cases = Vec::new();
    let chosen = chosen(options, backends);
    for (place, landmark) in LANDMARKS.iter().enumerate() {
        if rank(landmark.from) > rank(options.tier) {
            continue;
        }
        let line = landmark.lines[((options.seed + place as u64) % landmark.lines.len() as u64) as usize];
        let Ok(spec) = line.parse::<SourceSpec>() else {
            continue;
        };
        let origin = Origin::Spec(spec.with_seed(options.seed));
        let asked = contracts.iter().filter(|(_, c)| concerns(landmark, c));
        for &(i, contract) in asked.filter(|(_, c)| options.tier != Tier::Quick || chosen.contains(c)) {
            let key = [options.seed, i, 3000 + place as u64];
            for mut case in taken_by_all(contract, &origin, backends, &key) {
                case.params.n = case.params.n.min(1);
                cases.push(case);
            }
        }
    }
    cases
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

/// Of what each backend claims, one contract of each operation and format, by the seed.
fn chosen(options: &Options, backends: &[&dyn Backend]) -> HashSet<Contract> {
    let of_backend = |backend: &&dyn Backend| {
        let mut groups: BTreeMap<(Op, FormatKind, Option<FormatKind>), Vec<Contract>> = BTreeMap::new();
        for c in all_contracts().iter().filter(|c| backend.claims(c)) {
            groups.entry((c.op, c.format, c.to)).or_default().push(*c);
        }
        groups
            .into_values()
            .map(|group| group[(options.seed % group.len() as u64) as usize])
    };
    backends.iter().flat_map(of_backend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_parse_and_lie_past_their_borders() {
        for landmark in &LANDMARKS {
            for line in landmark.lines {
                let spec: SourceSpec = line.parse().expect("a legal line");
                let shape = spec.shape().expect("a shape");
                let most = u128::from(shape.rows.max(shape.cols)).max(shape.nnz_at_most);
                assert!(most > 1 << 15, "{line}");
            }
        }
    }
}
