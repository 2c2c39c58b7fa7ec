//! What was drawn, and what became of it: the file that building leaves for judging.

use crate::parts::{Mutant, PARTS, Part, list};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where it lies.
const FILE: &str = "target/mutants/plan.json";
/// At least so many mutants of a part are drawn.
const LEAST: usize = 20;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub enum State {
    /// In the build, not judged yet.
    Made,
    /// In a constant: can't be chosen at run time.
    Constant,
    /// The compiler refuses it.
    Unviable,
    /// In a macro, or of a kind that the tool does not know.
    NotMade,
    /// A test failed.
    Killed,
    /// Its tests took five times as long as they do.
    TimedOut,
    /// Tests reach it, and pass.
    Survived,
    /// No test that was run reaches it.
    Unreached,
}

/// A mutant that was drawn.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Chosen {
    /// What the variable `MUTANT` names it by.
    pub number: u32,
    /// The part that it belongs to.
    pub part: String,
    /// As cargo-mutants lists it.
    pub mutant: Mutant,
    /// What became of it.
    pub state: State,
}

/// A compiled binary of tests.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Binary {
    /// Its package.
    pub package: String,
    /// Its target.
    pub name: String,
    /// The file.
    pub path: String,
    /// Where it runs, as cargo runs it.
    pub folder: String,
}

/// The mutants in the order in which they are judged, which is a random one.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Plan {
    /// How they were drawn, in words.
    pub drawn: String,
    /// How many each part has.
    pub listed: BTreeMap<String, usize>,
    /// Those drawn.
    pub mutants: Vec<Chosen>,
    /// Those compiled.
    pub binaries: Vec<Binary>,
}

/// Which mutants are drawn.
pub enum Draw {
    /// So many at random, and the seed.
    Sample(usize, u64),
    /// Those whose name starts so.
    Only(String),
    /// Those with these names.
    Named(Vec<String>),
}

/// Draws mutants, from each part by its size.
pub fn draw(parts: &[&'static Part], draw: &Draw) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut all = Vec::new();
    for part in PARTS.iter().filter(|p| parts.iter().any(|q| q.name == p.name)) {
        let listed = list(part)?;
        plan.listed.insert(part.name.to_owned(), listed.len());
        all.push((part.name, listed));
    }
    let total: usize = all.iter().map(|(_, listed)| listed.len()).sum();
    let mut chosen = Vec::new();
    for (part, mut listed) in all {
        match draw {
            Draw::Sample(size, seed) => {
                let share = (size * listed.len()).div_ceil(total.max(1)).max(LEAST);
                fastrand::Rng::with_seed(*seed).shuffle(&mut listed);
                listed.truncate(share);
            }
            Draw::Only(place) => listed.retain(|m| m.name.starts_with(&format!("{place}:"))),
            Draw::Named(names) => listed.retain(|m| names.contains(&m.name)),
        }
        chosen.extend(listed.into_iter().map(|mutant| (part.to_owned(), mutant)));
    }
    if let Draw::Sample(size, seed) = draw {
        fastrand::Rng::with_seed(*seed).shuffle(&mut chosen);
        plan.drawn =
            format!("{size} at random over the parts by their size, at least {LEAST} a part, seed {seed}");
    }
    let numbered = (1..).zip(chosen);
    plan.mutants = numbered
        .map(|(number, (part, mutant))| Chosen { number, part, mutant, state: State::Made })
        .collect();
    Ok(plan)
}

impl Plan {
    /// Reads what was left.
    pub fn read() -> Result<Plan> {
        Ok(serde_json::from_slice(&std::fs::read(FILE).context(FILE)?)?)
    }

    /// Leaves it for whoever judges.
    pub fn write(&self) -> Result<()> {
        std::fs::create_dir_all("target/mutants")?;
        Ok(std::fs::write(FILE, serde_json::to_vec(self)?)?)
    }
}
