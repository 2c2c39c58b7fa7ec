//! Mutation testing in one build: cargo-mutants lists the mutants, this puts a random sample of them into a copy of the tree, each
//! chosen at run time by a variable, and runs the tests that reach it. `ci/mutants.sh` tells how it is called.

mod judge;
mod parts;
mod plan;
mod schemata;
mod score;
mod tests;
mod tree;

use anyhow::{Context, Result, bail};
use plan::{Draw, Plan, State};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Options {
    minutes: Option<u64>,
    sample: Option<usize>,
    seed: u64,
    only: Option<String>,
    again: bool,
    step: String,
    parts: Vec<String>,
}

fn options() -> Result<Options> {
    let mut options = Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--minutes" => options.minutes = Some(value()?.parse()?),
            "--sample" => options.sample = Some(value()?.parse()?),
            "--seed" => options.seed = value()?.parse()?,
            "--only" => options.only = Some(value()?),
            "--again" => options.again = true,
            "--list" | "--build" | "--judge" => options.step = word,
            _ if word.starts_with('-') => bail!("unknown option {word}"),
            _ => options.parts.push(word),
        }
    }
    Ok(options)
}

fn main() -> Result<()> {
    let options = options()?;
    let deadline = Instant::now() + Duration::from_secs(60 * options.minutes.unwrap_or(60 * 24 * 30));
    let parts = parts::named(&options.parts)?;
    if options.step == "--list" {
        for part in parts {
            parts::list(part)?.iter().for_each(|mutant| println!("{}", mutant.name));
        }
        return Ok(());
    }
    let draw = match (&options.only, options.again) {
        (Some(place), _) => Draw::Only(place.clone()),
        (None, true) => Draw::Named(score::unexplained()?),
        (None, false) => Draw::Sample(options.sample.unwrap_or(usize::MAX / 1_000_000), options.seed),
    };
    if options.step != "--judge" {
        let mut plan = plan::draw(&parts, &draw)?;
        let edits = tree::edits(&mut plan)?;
        let parts: Vec<_> =
            parts.into_iter().filter(|p| plan.mutants.iter().any(|m| m.part == p.name)).collect();
        println!("ci: {} mutants drawn, {} put into the copy", plan.mutants.len(), edits.len());
        tree::build(&mut plan, &parts, &edits)?;
        plan.write()?;
    }
    if options.step == "--build" {
        return Ok(());
    }
    let mut plan = Plan::read()?;
    let left_out = judge::judge(&mut plan, deadline)?;
    std::fs::write("target/mutants/judged.json", serde_json::to_vec(&plan)?)?;
    match draw {
        Draw::Sample(..) => score::write(&plan, &left_out),
        Draw::Named(_) => score::take_out_killed(&plan),
        Draw::Only(_) => {
            plan.mutants
                .iter()
                .filter(|m| m.state != State::Constant)
                .for_each(|m| println!("{:?} {}", m.state, m.mutant.name));
            Ok(())
        }
    }
}
