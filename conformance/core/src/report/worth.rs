//! What a verdict without findings is worth: for each contract of each backend, how much was judged, and which seeded bugs the very cases
//! that were judged would have caught.
//!
//! ```text
//! spmv.csr.f32_f32_f32_f32   judged 162 of at least 150   pairs 1,204 of 1,204   seeded bugs 88 of 90; not: "row: only the first 4096"
//! ```

use super::model::Report;
use super::show::{count, counted};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Share of the seeded bugs that concern a contract, in percent, below which a run is thin.
pub const LEAST_CAUGHT: u64 = 95;

/// How much stands behind the verdicts on one contract of one backend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Worth {
    /// Name of the backend.
    pub backend: String,
    /// Name of the contract.
    pub contract: String,
    /// Cases that were judged.
    pub judged: u64,
    /// Cases that must be judged at least.
    pub floor: u64,
    /// Combinations of two (and three) levels of what cases vary in that the plan has, inside of what the backend takes.
    pub pairs: u64,
    /// Those of them that no judged case has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_missing: u64,
    /// One of those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Levels that the backend's manifest excludes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// Further combinations that it excludes, although it takes each of their levels.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub excluded_pairs: u64,
    /// The hunt for seeded bugs over the judged cases; absent where it was not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeded: Option<Seeded>,
    /// True where the backend declares no order of additions, so that no bits can be expected of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loose: bool,
    /// True where seeded bugs are hunted over the cases of the whole plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measured: bool,
    /// In the report of a shard: the combinations that the plan has, as bits in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
}

/// Seeded bugs against the cases of one contract.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Seeded {
    /// Bugs that concern a judged case.
    pub concern: u64,
    /// Those that a judged case shows.
    pub caught: u64,
    /// The others, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Worth {
    /// Why this is too little to be called clean; none where it is enough.
    #[must_use]
    pub fn thin(&self) -> Option<String> {
        let mut reasons = Vec::new();
        if self.judged < self.floor {
            reasons.push(format!(
                "{} judged of at least {}",
                counted(self.judged, "case"),
                count(self.floor)
            ));
        }
        if self.pairs_missing > 0 {
            let example = self.missing.as_ref().map_or(String::new(), |name| format!(", such as {name}"));
            reasons.push(format!(
                "{} of {} combinations in no judged case{example}",
                count(self.pairs_missing),
                count(self.pairs)
            ));
        }
        if let Some(seeded) = self.seeded.as_ref().filter(|s| s.caught * 100 < s.concern * LEAST_CAUGHT) {
            reasons.push(seeded.said());
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// What stands behind one backend's verdicts, over its contracts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind<'a> {
    /// Contracts that it claims.
    pub contracts: u64,
    /// Cases judged on the contract that has fewest.
    pub fewest: u64,
    /// Contracts that were hunted on.
    pub hunted: u64,
    /// Seeded bugs that concern them, each counted for each contract.
    pub concern: u64,
    /// Those that would have been caught.
    pub caught: u64,
    /// The hunt that caught the smallest share.
    pub worst: Option<(&'a str, &'a Seeded)>,
    /// Contracts for which the manifest excludes levels of what cases vary in.
    pub restricted: u64,
}

impl Report {
    /// What stands behind the verdicts on a backend; none where nothing was measured.
    #[must_use]
    pub fn behind(&self, backend: &str) -> Option<Behind<'_>> {
        let mut behind = Behind { fewest: u64::MAX, ..Behind::default() };
        for row in self.worth.iter().filter(|row| row.backend == backend) {
            behind.contracts += 1;
            behind.fewest = behind.fewest.min(row.judged);
            behind.restricted += u64::from(!row.excluded.is_empty() || row.excluded_pairs > 0);
            let Some(seeded) = &row.seeded else { continue };
            behind.hunted += 1;
            behind.concern += seeded.concern;
            behind.caught += seeded.caught;
            let lower = |(_, worst): &(&str, &Seeded)| {
                seeded.caught * worst.concern.max(1) < worst.caught * seeded.concern.max(1)
            };
            if behind.worst.as_ref().is_none_or(lower) {
                behind.worst = Some((&row.contract, seeded));
            }
        }
        (behind.contracts > 0).then_some(behind)
    }
}

impl fmt::Display for Behind<'_> {
    /// `2 contracts, each judged on 150 cases or more; this run would have caught 118 of 121 seeded bugs; not: ...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (contracts, fewest) = (counted(self.contracts, "contract"), counted(self.fewest, "case"));
        match self.contracts {
            1 => write!(f, "{contracts}, judged on {fewest}")?,
            _ => write!(f, "{contracts}, each judged on {fewest} or more")?,
        }
        if self.restricted > 0 {
            write!(f, " inside of what its manifest takes")?;
        }
        let Some((name, worst)) = self.worst else {
            return Ok(());
        };
        if self.hunted == 1 {
            return write!(f, "; this run {}", worst.said());
        }
        let (caught, concern) = (count(self.caught), counted(self.concern, "seeded bug"));
        let places = match self.hunted == self.contracts {
            true => format!("over {}", counted(self.hunted, "contract")),
            false => format!("over {} of them, one for each operation and format", count(self.hunted)),
        };
        write!(
            f,
            "; this run would have caught {caught} of {concern} {places}; at worst, on {name}, it {}",
            worst.said()
        )
    }
}

impl Seeded {
    /// `would have caught 121 of 124 seeded bugs; not: a, b, c`.
    #[must_use]
    pub fn said(&self) -> String {
        let names = |list: &[String]| list.join(", ");
        let missed = match self.missed.as_slice() {
            [] => String::new(),
            few if few.len() <= 8 => format!("; not: {}", names(few)),
            many => format!("; not: {}, and {} more", names(&many[..8]), many.len() - 8),
        };
        format!("would have caught {} of {} seeded bugs{missed}", count(self.caught), count(self.concern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enough() -> Worth {
        Worth {
            judged: 150,
            floor: 150,
            pairs: 9,
            seeded: Some(Seeded { concern: 20, caught: 19, missed: vec!["a bug".to_owned()] }),
            ..Worth::default()
        }
    }

    /// A kernel with "only the first 64 rows" was called clean on 8 judged cases.
    #[test]
    fn too_few_cases_pairs_or_bugs_are_each_a_reason() {
        assert_eq!(enough().thin(), None);
        let few = Worth { judged: 8, ..enough() };
        assert!(few.thin().is_some_and(|reason| reason.contains("8 cases judged of at least 150")));
        let unpaired = Worth { pairs_missing: 1, missing: Some("n 64 with beta 0".to_owned()), ..enough() };
        assert!(unpaired.thin().is_some_and(|reason| reason.contains("n 64 with beta 0")));
        let mut blind = enough();
        blind.seeded = Some(Seeded { concern: 20, caught: 18, missed: vec!["x".to_owned(), "y".to_owned()] });
        assert!(
            blind.thin().is_some_and(|reason| reason.contains("18 of 20") && reason.contains("not: x, y"))
        );
    }
}
