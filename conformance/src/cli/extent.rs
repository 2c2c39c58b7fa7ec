//! Options of `run` about runs that are more than one process on one day: shards, resuming, known deviations, summaries
//! for a CI system.

use crate::backend::Backend;
use crate::campaign::{Extras, Planned};
use crate::expectations;
use crate::journal::{self, Journal};
use crate::notice::say;
use crate::report::github;
use crate::report::show::counted;
use crate::shard::Shard;
use anyhow::{Context, Result};
use clap::Args as ClapArgs;
use jiff::civil::Date;
use std::path::{Path, PathBuf};

/// The options.
#[derive(Debug, ClapArgs)]
pub(super) struct Extent {
    /// Run shard I of N only, counted from 1; or `auto`, to read which one from a scheduler's variables (Slurm array,
    /// Kubernetes indexed Job, GitLab parallel job). `conformance merge` brings the reports together.
    #[arg(long, value_name = "I/N|auto")]
    shard: Option<String>,
    /// Go on with the run that was interrupted in this report folder, with the same options. Starts one where there is none.
    #[arg(long, requires = "report")]
    resume: bool,
    /// Known deviations: a TOML file or a folder of them; may be repeated. What they name is waived, not a finding.
    #[arg(long, value_name = "FILE|DIR")]
    expectations: Vec<PathBuf>,
    /// The day that expiry is compared with (2027-01-31); today in UTC by default.
    #[arg(long, value_name = "DATE")]
    today: Option<Date>,
    /// Append the report to the job summary of GitHub Actions (`GITHUB_STEP_SUMMARY`).
    #[arg(long)]
    github: bool,
}

impl Extent {
    /// The shard to run; says where `auto` took it from.
    pub(super) fn shard(&self) -> Result<Option<Shard>> {
        let Some(text) = &self.shard else { return Ok(None) };
        if text != "auto" {
            return Ok(Some(text.parse().context("--shard")?));
        }
        let (shard, said) =
            Shard::from_environment(|name| std::env::var(name).ok()).context("--shard auto")?;
        say(&format!("shard {shard} ({said})"));
        Ok(Some(shard))
    }

    /// The step summary to append to.
    pub(super) fn summary(&self) -> Result<Option<PathBuf>> {
        Ok(self.github.then(github::summary_file).transpose()?)
    }

    /// Expectations, and the journal of a run that writes a report.
    pub(super) fn extras(
        &self,
        planned: &Planned,
        backends: &[Box<dyn Backend>],
        report: Option<&Path>,
    ) -> Result<Extras> {
        let today = self.today.unwrap_or_else(expectations::today);
        let mut extras =
            Extras { expectations: expectations::load(&self.expectations, today)?, ..Extras::default() };
        let Some(folder) = report else { return Ok(extras) };
        let header = planned.header(backends);
        if self.resume {
            if let Some((journal, done)) = Journal::resume(folder, &header)? {
                let cases = counted(done.records.len() as u64, "case");
                say(&format!("resuming: {cases} judged already"));
                extras.done = done;
                extras.journal = Some(journal);
                return Ok(extras);
            }
            say(&format!("nothing to resume in {}: starting", folder.display()));
        }
        let (journal, kept) = Journal::start(folder, &header)?;
        if kept {
            say(&format!(
                "an interrupted run's journal was there; kept as {} (--resume would have gone on with it)",
                folder.join(journal::OLD_FILE).display()
            ));
        }
        extras.journal = Some(journal);
        Ok(extras)
    }
}
