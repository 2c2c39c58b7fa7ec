//! A part of a plan: which cases of it one machine runs.
//!
//! ```text
//! case line --xxh3--> 64 bits as a fraction of 1, times n --> shard 1..=n
//! ```
//!
//! The split looks at the case line alone, so a plan over a single matrix splits as well as any other, and a case stays
//! in its shard whatever else the options select. Shards count from 1, as people do: `--shard 2/8`. The place among them
//! can be read from the environment of a scheduler; the table [`SCHEDULERS`] says of which, and how each counts.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::xxh3_64;

/// Shard `index` of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// From 1 to `count`.
    index: u64,
    /// How many there are.
    count: u64,
}

/// A scheduler that tells its tasks which of how many they are.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// Its name, for messages.
    pub name: &'static str,
    /// Variable with the task's number.
    pub index: &'static str,
    /// Variable with the number of tasks.
    pub count: &'static str,
    /// Number of the first task, unless `first_in` is set.
    pub first: u64,
    /// Variables with the number of the first task and the distance between two.
    pub first_and_step: Option<(&'static str, &'static str)>,
}

/// Whose environment `--shard auto` reads.
pub const SCHEDULERS: [Scheduler; 3] = [
    Scheduler {
        name: "Slurm job array",
        index: "SLURM_ARRAY_TASK_ID",
        count: "SLURM_ARRAY_TASK_COUNT",
        first: 0,
        first_and_step: Some(("SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP")),
    },
    Scheduler {
        name: "Kubernetes indexed Job",
        index: "JOB_COMPLETION_INDEX",
        // Kubernetes does not tell how many there are: the manifest sets this one, to its `completions`.
        count: "CONFORMANCE_SHARDS",
        first: 0,
        first_and_step: None,
    },
    Scheduler {
        name: "GitLab parallel job",
        index: "CI_NODE_INDEX",
        count: "CI_NODE_TOTAL",
        first: 1,
        first_and_step: None,
    },
];

/// What does not name a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// Not of the form i/n.
    #[error("{0:?} is no shard: write i/n with 1 <= i <= n, as in 2/8, or `auto`")]
    Syntax(String),
    /// i is 0 or beyond n.
    #[error("there is no shard {index} of {count}: shards count from 1 to n")]
    Range {
        /// i.
        index: u64,
        /// n.
        count: u64,
    },
    /// No scheduler's variables are set.
    #[error("no scheduler has said which shard this is: set one of {known}, or name the shard: --shard 2/8")]
    NoScheduler {
        /// The variables looked for.
        known: String,
    },
    /// Two schedulers' variables are set.
    #[error("both {first} and {second} are set: name the shard yourself, as in --shard 2/8")]
    Ambiguous {
        /// A variable.
        first: &'static str,
        /// Another.
        second: &'static str,
    },
    /// A variable that goes with one that is set is missing.
    #[error("{present} is set, but {missing} is not: it must hold the number of shards")]
    Missing {
        /// What is set.
        present: &'static str,
        /// What is not.
        missing: &'static str,
    },
    /// A variable does not hold a number, or one that can't be.
    #[error("{name}={value:?} is not {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should hold.
        expected: &'static str,
    },
}

/// The shard of a case line, from 0. The hash's high bits decide: its low ones choose the cases that are run again, which
/// would otherwise all fall to one shard of eight.
fn place(case_line: &str, count: u64) -> u64 {
    let hash = u128::from(xxh3_64(case_line.as_bytes()));
    ((hash * u128::from(count)) >> 64) as u64
}

impl Shard {
    /// Shard `index` of `count`, from 1.
    ///
    /// # Errors
    /// When there is no such shard.
    pub fn new(index: u64, count: u64) -> Result<Shard, ShardError> {
        if (1..=count).contains(&index) {
            Ok(Shard { index, count })
        } else {
            Err(ShardError::Range { index, count })
        }
    }

    /// Its place, from 1.
    #[must_use]
    pub fn index(self) -> u64 {
        self.index
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// True if the case of this line is one of this shard's.
    #[must_use]
    pub fn takes(self, case_line: &str) -> bool {
        place(case_line, self.count) == self.index - 1
    }

    /// True for what [`Shard::new`] would make; a file may say otherwise.
    #[must_use]
    pub fn is_possible(self) -> bool {
        (1..=self.count).contains(&self.index)
    }

    /// The shard that the environment names, and the variables that it was taken from, in words.
    ///
    /// # Errors
    /// When none or several schedulers have said, or what they said is no shard.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(Shard, String), ShardError> {
        let mut present = SCHEDULERS.iter().filter(|s| variable(s.index).is_some());
        let Some(scheduler) = present.next() else {
            let known: Vec<String> =
                SCHEDULERS.iter().map(|s| format!("{} with {} ({})", s.index, s.count, s.name)).collect();
            return Err(ShardError::NoScheduler { known: known.join(", ") });
        };
        if let Some(other) = present.next() {
            return Err(ShardError::Ambiguous { first: scheduler.index, second: other.index });
        }
        scheduler.shard(&variable)
    }
}

impl Scheduler {
    fn shard(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<(Shard, String), ShardError> {
        let id = number(self.index, variable)?.unwrap_or_default();
        let count = number(self.count, variable)?
            .ok_or(ShardError::Missing { present: self.index, missing: self.count })?;
        let (first, step) = match self.first_and_step {
            Some((first, step)) => {
                (number(first, variable)?.unwrap_or(self.first), number(step, variable)?.unwrap_or(1))
            }
            None => (self.first, 1),
        };
        let place = id.checked_sub(first).filter(|_| step > 0);
        let place = place.filter(|place| place % step == 0).map(|place| place / step);
        let place = place.ok_or_else(|| ShardError::Variable {
            name: self.index,
            value: id.to_string(),
            expected: "one of the numbers that the scheduler counts in",
        })?;
        let shard = Shard::new(place.saturating_add(1), count)?;
        let said =
            format!("{}: {}={id}, {}={count}, counted from {first}", self.name, self.index, self.count);
        Ok((shard, said))
    }
}

fn number(name: &'static str, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<u64>, ShardError> {
    let Some(value) = variable(name) else {
        return Ok(None);
    };
    match value.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(ShardError::Variable { name, value, expected: "a number" }),
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let syntax = || ShardError::Syntax(text.to_owned());
        let (index, count) = text.split_once('/').ok_or_else(syntax)?;
        let part = |part: &str| part.parse::<u64>().map_err(|_| syntax());
        Shard::new(part(index)?, part(count)?)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(set: &[(&str, &str)]) -> Result<(Shard, String), ShardError> {
        let find = |name: &str| set.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
        Shard::from_environment(find)
    }

    #[test]
    fn every_line_is_in_exactly_one_shard() {
        for count in [1, 2, 3, 7] {
            let shards: Vec<Shard> = (1..=count).filter_map(|i| Shard::new(i, count).ok()).collect();
            let mut sizes = vec![0; shards.len()];
            for line in (0..700).map(|i| format!("spmm.csr.f32_f32_f32_f32/file:[one.mtx]/values=own,{i}")) {
                let takers: Vec<usize> = (0..shards.len()).filter(|&s| shards[s].takes(&line)).collect();
                assert_eq!(takers.len(), 1, "{line}");
                sizes[takers[0]] += 1;
            }
            assert!(sizes.iter().all(|&size| size > 50), "{sizes:?}");
        }
    }

    /// The split is part of what reports of several machines agree on: it must not change from build to build.
    #[test]
    fn the_split_is_pinned() {
        let shards = ["a", "b", "spmv.csr.f64_f64_f64_f64/embedded:karate/values=ones,1"]
            .map(|line| place(line, 1000));
        assert_eq!(shards, PINNED);
    }

    /// From the reference implementation: `xxhsum -H3` (Debian's xxhash), times 1000, shifted right by 64 bits.
    const PINNED: [u64; 3] = [901, 341, 558];

    #[test]
    fn places_are_read_as_each_scheduler_counts() {
        let slurm = |id, min, step| {
            auto(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", "4"),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_STEP", step),
            ])
            .map(|(shard, _)| shard.to_string())
        };
        assert_eq!(slurm("0", "0", "1"), Ok("1/4".to_owned()));
        assert_eq!(slurm("4", "1", "1"), Ok("4/4".to_owned()));
        assert_eq!(slurm("16", "10", "2"), Ok("4/4".to_owned()));
        assert!(matches!(slurm("11", "10", "2"), Err(ShardError::Variable { .. })));
        assert!(matches!(slurm("9", "10", "2"), Err(ShardError::Variable { .. })));
        assert!(matches!(slurm("0", "0", "0"), Err(ShardError::Variable { .. })));
        assert!(matches!(slurm("5", "0", "1"), Err(ShardError::Range { index: 6, .. })));
        let (shard, said) =
            auto(&[("JOB_COMPLETION_INDEX", "2"), ("CONFORMANCE_SHARDS", "3")]).expect("both");
        assert_eq!(shard.to_string(), "3/3");
        assert!(said.contains("JOB_COMPLETION_INDEX=2") && said.contains("Kubernetes"), "{said}");
        let (shard, _) = auto(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "3")]).expect("both");
        assert_eq!(shard.to_string(), "1/3");
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in ["", "1", "0/3", "4/3", "a/3", "1/", "-1/3", "1/3/5", "1/99999999999999999999", "0/0"] {
            let error = text.parse::<Shard>().expect_err(text);
            assert!(error.to_string().contains("shard"), "{text}: {error}");
        }
        assert!(matches!(auto(&[]), Err(ShardError::NoScheduler { .. })));
        assert!(matches!(
            auto(&[("JOB_COMPLETION_INDEX", "0")]),
            Err(ShardError::Missing { missing: "CONFORMANCE_SHARDS", .. })
        ));
        assert!(matches!(
            auto(&[("JOB_COMPLETION_INDEX", "x"), ("CONFORMANCE_SHARDS", "3")]),
            Err(ShardError::Variable { .. })
        ));
        assert!(matches!(
            auto(&[("JOB_COMPLETION_INDEX", "0"), ("CI_NODE_INDEX", "1")]),
            Err(ShardError::Ambiguous { .. })
        ));
    }
}
