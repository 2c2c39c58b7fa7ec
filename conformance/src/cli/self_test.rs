//! `conformance self-test`: does the judge judge?

use super::output::output;
use super::progress::Gauge;
use crate::plan::{Options, Tier};
use crate::selftest::{self, Scorecard};
use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use std::io::Write;
use std::path::PathBuf;

/// Options of `self-test`.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// How much to hunt in.
    #[arg(long, value_parser = super::tier(), default_value = Tier::Quick.name())]
    tier: Tier,
    /// Contracts whose cases are hunted over, comma-separated; `*` is any text. Bugs that concern none of them are left out.
    #[arg(long, value_delimiter = ',', value_parser = super::run::contracts, value_name = "PATTERN")]
    contracts: Vec<String>,
    /// Seed of the plan.
    #[arg(long, default_value_t = 0, value_parser = super::seed, value_name = "N")]
    seed: u64,
    /// Only bugs, schedules and comparators whose name contains this.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Write the scorecard as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the tables of docs/self-test.md.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Threads; all cores by default. The scorecard does not depend on it.
    #[arg(long, short = 'j', value_name = "N")]
    jobs: Option<usize>,
}

/// Hunts and prints. 0 if everything due in this tier was caught and nothing honest accused, else 1.
pub(super) fn run(args: &Args) -> Result<u8> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs.unwrap_or(0))
        .build()
        .context("the threads can't be started; try a smaller --jobs")?;
    let options =
        Options { tier: args.tier, seed: args.seed, contracts: args.contracts.clone(), ..Options::default() };
    let gauge = Gauge::new("bugs tried", false);
    let told = |over, of| gauge.at(over, of, String::new);
    let card = pool.install(|| selftest::run(&options, args.only.as_deref(), &told));
    drop(gauge);
    if card.rows.is_empty() {
        let name = args.only.as_deref().unwrap_or("");
        if args.contracts.is_empty() {
            bail!("no bug, schedule or comparator has {name:?} in its name");
        }
        bail!(
            "no bug with {name:?} in its name concerns cases of {}; `conformance list contracts` lists them all",
            args.contracts.join(", ")
        );
    }
    write_files(args, &card)?;
    let mut out = output();
    write!(out, "{}", selftest::to_text(&card))?;
    Ok(u8::from(!card.is_clean()))
}

fn write_files(args: &Args, card: &Scorecard) -> Result<()> {
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(card)? + "\n";
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    if let Some(path) = &args.markdown {
        std::fs::write(path, selftest::to_markdown(card))
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}
