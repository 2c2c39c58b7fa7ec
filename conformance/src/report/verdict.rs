//! Verdicts as they stand in a report: the closed list, with every number already printed.
//!
//! Values that may be NaN or infinite are strings (decimal and bits in hex), because JSON has neither; a share of
//! the bound is a finite number and refuses to be written otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, ser::Error as _};
use sparse_oracle::verdict as oracle;
use std::fmt;

/// A tier of judgement; a case must pass every tier that applies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Tier {
    /// Exact: operands for which every order of summation gives one value.
    T0,
    /// Bound: error at most the bound derived from the operands.
    T1,
    /// Model: the very bits of the declared reduction.
    T2,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::T0 => "T0",
            Tier::T1 => "T1",
            Tier::T2 => "T2",
        })
    }
}

/// What is wrong with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// An element differs by more than the tier allows.
    Value,
    /// An element still holds the poison that the output was filled with.
    Unwritten,
    /// An element depends on what C held before, although it must not, or not in this way.
    Stale,
    /// Elements outside the result (between n and ldc, or past the end) were changed.
    Canary,
    /// An input operand was changed.
    InputModified,
    /// Stored positions are missing or should not be there.
    Pattern,
    /// The returned arrays are not a valid encoding.
    Structure,
    /// The result has the wrong shape, format or element type.
    Shape,
    /// Two runs gave different bits although the backend declares that they may not.
    Nondeterministic,
    /// What came back is no message of the protocol, or came without a request.
    Protocol,
    /// The rounding mode, the flushing of subnormals or the traps are not as they were before the call.
    Environment,
}

impl From<oracle::Defect> for Defect {
    fn from(defect: oracle::Defect) -> Defect {
        match defect {
            oracle::Defect::Value => Defect::Value,
            oracle::Defect::Unwritten => Defect::Unwritten,
            oracle::Defect::Stale => Defect::Stale,
            oracle::Defect::OutOfBounds => Defect::Canary,
            oracle::Defect::InputModified => Defect::InputModified,
            oracle::Defect::Structure => Defect::Structure,
            oracle::Defect::Pattern => Defect::Pattern,
            oracle::Defect::Kind => Defect::Shape,
            oracle::Defect::Protocol => Defect::Protocol,
            oracle::Defect::Nondeterministic => Defect::Nondeterministic,
            oracle::Defect::Environment => Defect::Environment,
        }
    }
}

impl Defect {
    /// All defects.
    pub const ALL: [Defect; 11] = [
        Defect::Value,
        Defect::Unwritten,
        Defect::Stale,
        Defect::Canary,
        Defect::InputModified,
        Defect::Pattern,
        Defect::Structure,
        Defect::Shape,
        Defect::Nondeterministic,
        Defect::Protocol,
        Defect::Environment,
    ];

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Defect::Value => "value",
            Defect::Unwritten => "unwritten",
            Defect::Stale => "stale",
            Defect::Canary => "canary",
            Defect::InputModified => "input-modified",
            Defect::Pattern => "pattern",
            Defect::Structure => "structure",
            Defect::Shape => "shape",
            Defect::Nondeterministic => "nondeterministic",
            Defect::Protocol => "protocol",
            Defect::Environment => "environment",
        }
    }

    /// One sentence for a reader who is new to the suite.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Defect::Value => "an element is farther from the exact result than its tier allows",
            Defect::Unwritten => {
                "an element was never written: it still holds the poison put there before the run"
            }
            Defect::Stale => "an element was computed from what C held before, where it must not be",
            Defect::Canary => "elements outside the result, between n and ldc or past the end, were written",
            Defect::InputModified => "an input operand was changed",
            Defect::Pattern => "the stored positions are not those of the exact result",
            Defect::Structure => "the returned arrays are not a valid encoding of their format",
            Defect::Shape => "the result has another shape, format or element type than asked for",
            Defect::Nondeterministic => "two runs on the same input gave different bits",
            Defect::Protocol => "what came back is no message of the protocol, or came without a request",
            Defect::Environment => {
                "the rounding mode, the flushing of subnormals or the traps were left changed after the call"
            }
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An element of a result, 0-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Row.
    pub row: u64,
    /// Column.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.row, self.column)
    }
}

/// The first mismatch of a wrong result by the strongest tier that fails: T0, then T1, then T2. Fields that do not apply to the defect are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    /// Tier that found it.
    pub tier: Tier,
    /// What is wrong.
    pub what: Defect,
    /// Where, if it has a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The right value as a person writes it ("0.1", "inf", "NaN"): the number that `expected_bits` are, in the output type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Its bits in the output type, "0x" and hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_bits: Option<String>,
    /// The value found, in decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Its bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_bits: Option<String>,
    /// `|found - exact|`, in decimal; may be "inf".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The largest error allowed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// What happened, as a lowercase sentence that stands alone.
    pub message: String,
}

impl Mismatch {
    /// A mismatch without a place or values.
    #[must_use]
    pub fn new(tier: Tier, what: Defect, message: impl Into<String>) -> Mismatch {
        Mismatch {
            tier,
            what,
            at: None,
            expected: None,
            expected_bits: None,
            found: None,
            found_bits: None,
            error: None,
            bound: None,
            message: message.into(),
        }
    }
}

/// The oracle's judgement of one case on one backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum VerdictRecord {
    /// Every element equals the correctly rounded exact result (or the model's bits).
    Exact,
    /// Every element is within its bound.
    Within {
        /// Largest error of the case as a share of the bound at its element, 0 to 1.
        #[serde(serialize_with = "finite")]
        share: f64,
    },
    /// The result is provably wrong.
    Wrong(Mismatch),
    /// The case is illegal, and both the contract and the backend refuse it.
    AgreedRefusal {
        /// The backend's message.
        refusal: String,
    },
    /// The backend refused a legal case that its manifest does not exclude.
    LoneRefusal {
        /// The backend's message.
        refusal: String,
    },
    /// The backend computed something for a case that must be refused.
    LoneAcceptance {
        /// The refusal that was due.
        expected: String,
    },
    /// The backend panicked or its process died.
    Crashed {
        /// Panic message or signal.
        message: String,
    },
    /// No answer in time.
    TimedOut {
        /// The limit, in seconds.
        #[serde(serialize_with = "finite")]
        seconds: f64,
        /// The end of what it wrote to standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<String>,
    },
    /// The backend's manifest excluded the case beforehand.
    Unsupported {
        /// The manifest's reason.
        reason: String,
    },
    /// The case was planned and not run.
    NotRun {
        /// Why.
        reason: String,
    },
}

fn finite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(*value)
    } else {
        Err(S::Error::custom(format_args!(
            "{value} has no place in JSON; a share or a time limit must be finite"
        )))
    }
}

impl VerdictRecord {
    /// The kind without its data.
    #[must_use]
    pub const fn kind(&self) -> VerdictKind {
        match self {
            VerdictRecord::Exact => VerdictKind::Exact,
            VerdictRecord::Within { .. } => VerdictKind::Within,
            VerdictRecord::Wrong(_) => VerdictKind::Wrong,
            VerdictRecord::AgreedRefusal { .. } => VerdictKind::AgreedRefusal,
            VerdictRecord::LoneRefusal { .. } => VerdictKind::LoneRefusal,
            VerdictRecord::LoneAcceptance { .. } => VerdictKind::LoneAcceptance,
            VerdictRecord::Crashed { .. } => VerdictKind::Crashed,
            VerdictRecord::TimedOut { .. } => VerdictKind::TimedOut,
            VerdictRecord::Unsupported { .. } => VerdictKind::Unsupported,
            VerdictRecord::NotRun { .. } => VerdictKind::NotRun,
        }
    }

    /// True for verdicts that make a run fail.
    #[must_use]
    pub const fn is_finding(&self) -> bool {
        self.kind().is_finding()
    }

    /// Named facts of a wrong result, ready to print; empty for other verdicts.
    #[must_use]
    pub fn details(&self) -> Vec<(&'static str, String)> {
        let VerdictRecord::Wrong(m) = self else {
            return Vec::new();
        };
        let with_bits = |value: &Option<String>, bits: &Option<String>| match (value, bits) {
            (Some(value), Some(bits)) => Some(format!("{value} ({bits})")),
            (value, bits) => value.clone().or_else(|| bits.clone()),
        };
        let facts = [
            ("at (row, column)", m.at.map(|place| place.to_string())),
            ("expected", with_bits(&m.expected, &m.expected_bits)),
            ("found", with_bits(&m.found, &m.found_bits)),
            ("error", m.error.clone()),
            ("bound", m.bound.clone()),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// One line: what happened, without the case.
impl fmt::Display for VerdictRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VerdictRecord::Exact => f.write_str("exact"),
            VerdictRecord::Within { share } => {
                write!(f, "within the bound: {} of the allowed error used", super::show::share(*share))
            }
            VerdictRecord::Wrong(m) => write!(f, "wrong {} ({}): {}", m.what, m.tier, m.message),
            VerdictRecord::AgreedRefusal { refusal } => write!(f, "refused, as it must be: {refusal}"),
            VerdictRecord::LoneRefusal { refusal } => {
                write!(f, "lone refusal: it refused a legal case: {refusal}")
            }
            VerdictRecord::LoneAcceptance { expected } => {
                write!(f, "lone acceptance: it accepted what must be refused: {expected}")
            }
            VerdictRecord::Crashed { message } => write!(f, "crashed: {message}"),
            VerdictRecord::TimedOut { seconds, tail } => {
                write!(f, "timed out: no answer within {seconds} s")?;
                tail.iter().try_for_each(|tail| write!(f, "; last words: {tail}"))
            }
            VerdictRecord::Unsupported { reason } => write!(f, "unsupported: {reason}"),
            VerdictRecord::NotRun { reason } => write!(f, "not run: {reason}"),
        }
    }
}

/// The closed list of verdicts, without their data, in the order in which reports show them; `Waived` is what becomes of
/// a finding that is expected (see [`CaseRecord::kind`](super::CaseRecord::kind)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "documented at `VerdictRecord` and by `explanation`")]
pub enum VerdictKind {
    Exact,
    Within,
    AgreedRefusal,
    Waived,
    Wrong,
    LoneRefusal,
    LoneAcceptance,
    Crashed,
    TimedOut,
    Unsupported,
    NotRun,
}

impl VerdictKind {
    /// All kinds: good ones, findings, then what was not run.
    pub const ALL: [VerdictKind; 11] = [
        VerdictKind::Exact,
        VerdictKind::Within,
        VerdictKind::AgreedRefusal,
        VerdictKind::Waived,
        VerdictKind::Wrong,
        VerdictKind::LoneRefusal,
        VerdictKind::LoneAcceptance,
        VerdictKind::Crashed,
        VerdictKind::TimedOut,
        VerdictKind::Unsupported,
        VerdictKind::NotRun,
    ];

    /// The name for readers.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            VerdictKind::Exact => "exact",
            VerdictKind::Within => "within",
            VerdictKind::AgreedRefusal => "agreed refusal",
            VerdictKind::Waived => "waived",
            VerdictKind::Wrong => "wrong",
            VerdictKind::LoneRefusal => "lone refusal",
            VerdictKind::LoneAcceptance => "lone acceptance",
            VerdictKind::Crashed => "crashed",
            VerdictKind::TimedOut => "timed out",
            VerdictKind::Unsupported => "unsupported",
            VerdictKind::NotRun => "not run",
        }
    }

    /// One or two sentences for a reader who is new to the suite.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            VerdictKind::Exact => {
                "Every element equals the exact result, rounded once to the output type, or the very bits that the \
                 declared arithmetic must give."
            }
            VerdictKind::Within => {
                "Every element differs from the exact result by no more than its own bound, derived from the very \
                 numbers that went in. The share says how much of the bound the worst element used."
            }
            VerdictKind::AgreedRefusal => {
                "The case is illegal by contract; the backend refused it, as it must."
            }
            VerdictKind::Waived => {
                "A finding that an expectation names, with a reason and a last day: shown and counted apart, neither a \
                 pass nor a finding."
            }
            VerdictKind::Wrong => {
                "The result is provably wrong. The first mismatch is listed with both values, in decimal and in bits."
            }
            VerdictKind::LoneRefusal => {
                "The backend refused a legal case that its manifest had not excluded beforehand."
            }
            VerdictKind::LoneAcceptance => {
                "The backend computed something for an input that must be refused."
            }
            VerdictKind::Crashed => "The backend panicked, or its process died.",
            VerdictKind::TimedOut => "The backend gave no answer within the time limit.",
            VerdictKind::Unsupported => {
                "The backend's manifest excluded the case before the run, with a reason. Not a pass: it is counted \
                 apart."
            }
            VerdictKind::NotRun => "The case was planned but not run. Not a pass either.",
        }
    }

    /// True for verdicts that make a run fail.
    #[must_use]
    pub const fn is_finding(self) -> bool {
        matches!(
            self,
            VerdictKind::Wrong
                | VerdictKind::LoneRefusal
                | VerdictKind::LoneAcceptance
                | VerdictKind::Crashed
                | VerdictKind::TimedOut
        )
    }

    /// True if the backend was asked to run the case.
    #[must_use]
    pub const fn ran(self) -> bool {
        !matches!(self, VerdictKind::Unsupported | VerdictKind::NotRun)
    }
}
