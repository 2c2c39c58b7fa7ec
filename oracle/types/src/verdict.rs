//! The judgement of one result, a closed set.
//!
//! The first three verdicts arise from values; the rest say why there were none. `Unsupported` is legal only for
//! what a backend's manifest excluded beforehand; anything else that is not answered is `LoneRefusal`.
//!
//! With the features `serde` and `schemars` these are the types of the report as well, under the same names.

pub use crate::wrong_elements::{CELLS, WrongElements, WrongLines};
use std::fmt;

/// A criterion of judgement; a case must pass every one that applies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(rename = "Tier"))]
pub enum Criterion {
    /// Exact: operands for which every order of summation gives one value.
    T0,
    /// Bound: error at most the bound derived from the operands.
    T1,
    /// Model: the very bits of the declared reduction.
    T2,
}

impl Criterion {
    /// "T0", "T1" or "T2".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Criterion::T0 => "T0",
            Criterion::T1 => "T1",
            Criterion::T2 => "T2",
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is wrong with a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
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

/// The first mismatch by the strongest tier that fails (T0, then T1, then T2), with both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Criterion that decided; `None` for defects that are not about rounding.
    pub tier: Option<Criterion>,
    /// What was found wrong.
    pub defect: Defect,
    /// Row and column of the element, where there is one.
    pub at: Option<(usize, usize)>,
    /// What it should be, in decimal: the number that `expected_bits` are.
    pub expected: String,
    /// The correctly rounded (T0, T1) or modelled (T2) bits.
    pub expected_bits: Option<u64>,
    /// What it is, in decimal.
    pub found: String,
    /// Its bits.
    pub found_bits: Option<u64>,
    /// Distance from the exact value.
    pub error: Option<f64>,
    /// Largest distance allowed.
    pub bound: Option<f64>,
    /// How many elements are wrong.
    pub count: usize,
    /// Where they are, if each was judged.
    pub elements: Option<Box<WrongElements>>,
    /// One sentence for a reader.
    pub message: String,
}

impl Mismatch {
    /// A defect that is not about one element's value.
    #[must_use]
    pub fn plain(defect: Defect, message: String) -> Mismatch {
        Mismatch {
            tier: None,
            defect,
            at: None,
            expected: String::new(),
            expected_bits: None,
            found: String::new(),
            found_bits: None,
            error: None,
            bound: None,
            count: 1,
            elements: None,
            message,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The oracle's judgement of one case on one backend.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schemars", schemars(rename = "VerdictRecord"))]
pub enum Verdict<M = Box<Mismatch>> {
    /// Every element equals the exact result.
    Exact,
    /// Every element is within its bound.
    Within {
        /// Largest error of the case as a share of the bound at its element, 0 to 1.
        #[cfg_attr(feature = "serde", serde(serialize_with = "finite"))]
        share: f64,
    },
    /// The result is provably wrong.
    Wrong(M),
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
        #[cfg_attr(feature = "serde", serde(serialize_with = "finite"))]
        seconds: f64,
        /// It computed next to nothing meanwhile: it slept, or waited for a lock, a device or another process.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
        idle: bool,
        /// The call that had no answer, where it is another than the judged one from the first C: "in call 1 before the judged one".
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        call: Option<String>,
        /// The end of what it wrote to standard error.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
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

#[cfg(feature = "serde")]
fn finite<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(*value)
    } else {
        Err(<S::Error as serde::ser::Error>::custom(format_args!(
            "{value} has no place in JSON; a share or a time limit must be finite"
        )))
    }
}

impl<M> Verdict<M> {
    /// The kind without its data.
    #[must_use]
    pub const fn kind(&self) -> VerdictKind {
        match self {
            Verdict::Exact => VerdictKind::Exact,
            Verdict::Within { .. } => VerdictKind::Within,
            Verdict::Wrong(_) => VerdictKind::Wrong,
            Verdict::AgreedRefusal { .. } => VerdictKind::AgreedRefusal,
            Verdict::LoneRefusal { .. } => VerdictKind::LoneRefusal,
            Verdict::LoneAcceptance { .. } => VerdictKind::LoneAcceptance,
            Verdict::Crashed { .. } => VerdictKind::Crashed,
            Verdict::TimedOut { .. } => VerdictKind::TimedOut,
            Verdict::Unsupported { .. } => VerdictKind::Unsupported,
            Verdict::NotRun { .. } => VerdictKind::NotRun,
        }
    }

    /// What is wrong with a result that is.
    #[must_use]
    pub const fn mismatch(&self) -> Option<&M> {
        if let Verdict::Wrong(mismatch) = self { Some(mismatch) } else { None }
    }

    /// True for verdicts that make a run fail: a user must act.
    #[must_use]
    pub const fn is_finding(&self) -> bool {
        self.kind().is_finding()
    }

    /// The same verdict with another account of what is wrong.
    pub fn map_wrong<N>(self, describe: impl FnOnce(M) -> N) -> Verdict<N> {
        match self {
            Verdict::Exact => Verdict::Exact,
            Verdict::Within { share } => Verdict::Within { share },
            Verdict::Wrong(mismatch) => Verdict::Wrong(describe(mismatch)),
            Verdict::AgreedRefusal { refusal } => Verdict::AgreedRefusal { refusal },
            Verdict::LoneRefusal { refusal } => Verdict::LoneRefusal { refusal },
            Verdict::LoneAcceptance { expected } => Verdict::LoneAcceptance { expected },
            Verdict::Crashed { message } => Verdict::Crashed { message },
            Verdict::TimedOut { seconds, idle, call, tail } => {
                Verdict::TimedOut { seconds, idle, call, tail }
            }
            Verdict::Unsupported { reason } => Verdict::Unsupported { reason },
            Verdict::NotRun { reason } => Verdict::NotRun { reason },
        }
    }
}

/// One line: what happened, without the case.
impl<M: fmt::Display> fmt::Display for Verdict<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Exact => f.write_str("exact"),
            Verdict::Within { share } => {
                write!(f, "within the bound: {} of the allowed error used", share_text(*share))
            }
            Verdict::Wrong(m) => write!(f, "wrong {m}"),
            Verdict::AgreedRefusal { refusal } => write!(f, "refused, as it must be: {refusal}"),
            Verdict::LoneRefusal { refusal } => {
                write!(f, "lone refusal: it refused a legal case: {refusal}")
            }
            Verdict::LoneAcceptance { expected } => {
                write!(f, "lone acceptance: it accepted what must be refused: {expected}")
            }
            Verdict::Crashed { message } => write!(f, "crashed: {message}"),
            Verdict::TimedOut { seconds, idle, call, tail } => {
                let call = call.iter().map(|call| format!(" {call}")).collect::<String>();
                write!(f, "timed out{call}: no answer within {seconds} s")?;
                if *idle {
                    f.write_str(", in which it computed next to nothing")?;
                }
                tail.iter().try_for_each(|tail| write!(f, "; last words: {tail}"))
            }
            Verdict::Unsupported { reason } => write!(f, "unsupported: {reason}"),
            Verdict::NotRun { reason } => write!(f, "not run: {reason}"),
        }
    }
}

/// The share of a bound that was used, 0 to 1, for a reader: "0 %", "<0.1 %", "31.2 %". One that was used never reads as none.
#[must_use]
pub fn share_text(value: f64) -> String {
    if value == 0.0 {
        "0 %".to_owned()
    } else if value < 0.001 {
        "<0.1 %".to_owned()
    } else {
        format!("{:.1} %", value * 100.0)
    }
}

/// The closed list of verdicts, without their data, in the order in which reports show them; `Waived` is what becomes of
/// a finding that is expected (an expectation of the run).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "documented at `Verdict` and by `explanation`")]
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
            VerdictKind::Exact => "Every element equals the exact result: no rounding changed one.",
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Found by mutation: nothing noticed when all verdicts had one name, though the shrinker tells reasons apart by it.
    #[test]
    fn each_verdict_has_a_name_and_five_are_findings() {
        let text = String::new;
        let mismatch = Mismatch::plain(Defect::Value, text());
        let all = [
            (Verdict::Exact, false),
            (Verdict::Within { share: 0.5 }, false),
            (Verdict::Wrong(Box::new(mismatch)), true),
            (Verdict::AgreedRefusal { refusal: text() }, false),
            (Verdict::LoneRefusal { refusal: text() }, true),
            (Verdict::LoneAcceptance { expected: text() }, true),
            (Verdict::Crashed { message: text() }, true),
            (Verdict::TimedOut { seconds: 1.0, idle: false, call: None, tail: None }, true),
            (Verdict::Unsupported { reason: text() }, false),
            (Verdict::NotRun { reason: text() }, false),
        ];
        let names: BTreeSet<&str> = all.iter().map(|(verdict, _)| verdict.kind().label()).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.contains("timed out") && !names.contains(""));
        for (verdict, finding) in all {
            assert_eq!(verdict.is_finding(), finding, "{verdict}");
        }
    }

    /// Reports, expectations and the protocol are read by machines: these words are what they look for, and may not change. Found
    /// by mutation: here only the judge's own crate can notice that a name is another.
    #[test]
    fn names_that_machines_read() {
        use Defect::{
            Canary, InputModified, Nondeterministic, Pattern, Protocol, Shape, Stale, Structure, Unwritten,
            Value,
        };
        assert_eq!([Criterion::T0, Criterion::T1, Criterion::T2].map(Criterion::name), ["T0", "T1", "T2"]);
        assert_eq!(Criterion::T2.to_string(), "T2");
        let values = [Value, Unwritten, Stale, Pattern, Structure, Shape].map(Defect::name);
        assert_eq!(values, ["value", "unwritten", "stale", "pattern", "structure", "shape"]);
        let conduct = [Canary, InputModified, Protocol, Nondeterministic].map(Defect::name);
        assert_eq!(conduct, ["canary", "input-modified", "protocol", "nondeterministic"]);
        let said = Mismatch::plain(Value, "what was wrong".to_owned());
        assert_eq!((said.count, said.to_string().as_str()), (1, "what was wrong"));
    }

    /// Found by mutation: lines of a report could say nothing, or a share that was used could read as none.
    #[test]
    fn verdicts_and_shares_read_as_what_they_are() {
        assert_eq!(Defect::InputModified.to_string(), "input-modified");
        let shares = [0.0, 1e-30, 0.000_999, 0.001, 0.3124, 1.0].map(share_text);
        assert_eq!(shares, ["0 %", "<0.1 %", "<0.1 %", "0.1 %", "31.2 %", "100.0 %"]);
        let mismatch = || Mismatch::plain(Defect::Canary, "a guard was written".to_owned());
        let late = |idle, tail: Option<&str>| {
            let call = tail.map(|_| "in a second call".to_owned());
            Verdict::<Mismatch>::TimedOut { seconds: 2.5, idle, call, tail: tail.map(str::to_owned) }
        };
        for (verdict, line) in [
            (Verdict::Exact, "exact"),
            (Verdict::Within { share: 0.25 }, "within the bound: 25.0 % of the allowed error used"),
            (Verdict::Wrong(mismatch()), "wrong a guard was written"),
            (late(false, None), "timed out: no answer within 2.5 s"),
            (
                late(true, Some("waiting")),
                "timed out in a second call: no answer within 2.5 s, in which it computed next to nothing; last words: waiting",
            ),
            (Verdict::NotRun { reason: "no memory".to_owned() }, "not run: no memory"),
        ] {
            assert_eq!(verdict.to_string(), line);
        }
    }
}
