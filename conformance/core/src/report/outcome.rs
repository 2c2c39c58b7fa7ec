//! What a run is worth, in one word: every writer and the command's exit code ask [`Report::outcome`].
//!
//! ```text
//! no case judged -> nothing judged (2)    findings -> findings (1)    judged on too little -> thin (1)    else clean (0)
//! ```

use super::model::Report;
use super::show::counted;
use serde::{Deserialize, Serialize};

/// What a run is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Judged on enough, and nothing was found.
    Clean,
    /// Something was found.
    Findings,
    /// Nothing was found, but some contracts were judged on too little for that to mean anything.
    Thin,
    /// No case was judged: what was not run is no pass.
    NothingJudged,
}

/// A contract, or a group of them, that a backend was judged on too little.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Thin {
    /// Name of the backend.
    pub backend: String,
    /// The contract, or a pattern that names several ("spmv.csr.*").
    pub contract: String,
    /// What was too little, as a lowercase sentence that stands alone ("8 of 150 cases, and no more fit its manifest").
    pub reason: String,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 4] = [Outcome::Clean, Outcome::Findings, Outcome::Thin, Outcome::NothingJudged];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Clean => "clean",
            Outcome::Findings => "findings",
            Outcome::Thin => "thin",
            Outcome::NothingJudged => "nothing judged",
        }
    }

    /// One sentence for a reader who is new to the suite.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Outcome::Clean => "Every contract was judged on enough cases, and nothing was found.",
            Outcome::Findings => "At least one finding stands.",
            Outcome::Thin => {
                "Nothing was found, but some contracts were judged on too little for that to mean anything."
            }
            Outcome::NothingJudged => "No case was judged. What was not run is not a pass.",
        }
    }

    /// The badge's colour by name and as bits; white text on each has a contrast of at least 4.5.
    #[must_use]
    pub const fn colour(self) -> (&'static str, &'static str) {
        match self {
            Outcome::Clean => ("brightgreen", "#1a7f37"),
            Outcome::Findings => ("red", "#c92a2a"),
            Outcome::Thin => ("yellow", "#876300"),
            Outcome::NothingJudged => ("lightgrey", "#57606a"),
        }
    }

    /// What stands before the word where there are no colours.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Outcome::Clean => "✓",
            Outcome::Findings => "✗",
            Outcome::Thin => "!",
            Outcome::NothingJudged => "–",
        }
    }

    /// The command's exit code, unless it was told to allow a thin run ([`Report::exit_code`]).
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Outcome::Clean => 0,
            Outcome::Findings | Outcome::Thin => 1,
            Outcome::NothingJudged => 2,
        }
    }
}

impl Report {
    /// What the run is worth. Findings that are about no case (an idle backend) do not make it judged.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if !self.cases.iter().any(|c| c.verdict.kind().ran()) {
            Outcome::NothingJudged
        } else if !self.find().is_empty() {
            Outcome::Findings
        } else if self.thin.is_empty() {
            Outcome::Clean
        } else {
            Outcome::Thin
        }
    }

    /// The outcome with its number: "clean", "3 findings", "thin: 2 contracts were judged on too little", "nothing judged".
    #[must_use]
    pub fn headline(&self) -> String {
        let outcome = self.outcome();
        match outcome {
            Outcome::Clean | Outcome::NothingJudged => outcome.word().to_owned(),
            Outcome::Findings => counted(self.find().len() as u64, "finding"),
            Outcome::Thin => format!("thin: {}", self.too_little()),
        }
    }

    /// "2 contracts were judged on too little".
    #[must_use]
    pub fn too_little(&self) -> String {
        let number = self.thin.len() as u64;
        let were = if number == 1 { "was" } else { "were" };
        format!("{} {were} judged on too little", counted(number, "contract"))
    }

    /// True where a run in which nothing was judged has failed: a shard may hold no case that its backends take, and the
    /// merged report decides.
    #[must_use]
    pub fn must_judge(&self) -> bool {
        self.plan.shard.is_none()
    }

    /// 0 for a clean run (and a thin one that is allowed), 1 for findings or a thin run, 2 where nothing was judged.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.outcome() {
            Outcome::Thin if self.plan.allow_thin => 0,
            Outcome::NothingJudged if !self.must_judge() => 0,
            outcome => outcome.exit_code(),
        }
    }
}
