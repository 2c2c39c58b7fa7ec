//! The judgement of one result, a closed set.
//!
//! The first three verdicts arise from values; the rest say why there were none. `Unsupported` is legal only for
//! what a backend's manifest excluded beforehand; anything else that is not answered is `LoneRefusal`.

use std::fmt;

/// Which way of judging decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Operands on which every order of summation is exact: the one right value.
    T0,
    /// The bound derived from the operands and the declared arithmetic.
    T1,
    /// The bits that the declared reduction must give.
    T2,
}

/// What was found wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Defect {
    /// An element's value.
    Value,
    /// An element still holds the poison it was filled with.
    Unwritten,
    /// An element depends on what the output held before, though it must not (or does not, though it must).
    Stale,
    /// An element outside the result (leading-dimension padding, guard) was written.
    OutOfBounds,
    /// An input changed.
    InputModified,
    /// The arrays that came back are not a valid encoding.
    Structure,
    /// The stored positions differ.
    Pattern,
    /// The answer is of the wrong kind, format, shape or element type.
    Kind,
    /// What came back is no message of the protocol, or came without a request.
    Protocol,
    /// Two runs on the same operands gave different bits although the backend claims that they may not.
    Nondeterministic,
    /// The floating-point environment (rounding mode, flushing of subnormals, traps) is not as it was before the call.
    Environment,
}

/// The first mismatch by the strongest tier that fails (T0, then T1, then T2), with both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Tier that decided; `None` for defects that are not about rounding.
    pub tier: Option<Tier>,
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
    /// One sentence for a reader.
    pub message: String,
}

/// The oracle's judgement.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Every element equals the exact result (zeros of either sign are equal).
    Exact,
    /// Every element is within its bound; the largest error as a share of its bound.
    Within {
        /// 0 < share <= 1.
        share: f64,
    },
    /// At least one element, or the structure, is wrong.
    Wrong(Box<Mismatch>),
    /// The case must be refused, and was.
    AgreedRefusal {
        /// The backend's message.
        refusal: String,
    },
    /// The backend refused what it must take.
    LoneRefusal {
        /// The backend's message.
        refusal: String,
    },
    /// The backend took what must be refused.
    LoneAcceptance {
        /// Why it must be refused.
        expected: String,
    },
    /// The backend panicked, aborted or died.
    Crashed {
        /// What it left behind.
        message: String,
    },
    /// The backend did not answer in time.
    TimedOut {
        /// The limit, in seconds.
        seconds: f64,
        /// The end of what it wrote to standard error; may be empty.
        tail: String,
    },
    /// Excluded beforehand by the backend's manifest.
    Unsupported {
        /// The manifest's reason.
        reason: String,
    },
    /// The suite did not run the case.
    NotRun {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// Machine name.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Verdict::Exact => "exact",
            Verdict::Within { .. } => "within",
            Verdict::Wrong(_) => "wrong",
            Verdict::AgreedRefusal { .. } => "agreed_refusal",
            Verdict::LoneRefusal { .. } => "lone_refusal",
            Verdict::LoneAcceptance { .. } => "lone_acceptance",
            Verdict::Crashed { .. } => "crashed",
            Verdict::TimedOut { .. } => "timed_out",
            Verdict::Unsupported { .. } => "unsupported",
            Verdict::NotRun { .. } => "not_run",
        }
    }

    /// True when a user must act: exit code 1.
    #[must_use]
    pub const fn is_finding(&self) -> bool {
        matches!(
            self,
            Verdict::Wrong(_)
                | Verdict::LoneRefusal { .. }
                | Verdict::LoneAcceptance { .. }
                | Verdict::Crashed { .. }
                | Verdict::TimedOut { .. }
        )
    }
}

impl Tier {
    /// "T0", "T1" or "T2".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tier::T0 => "T0",
            Tier::T1 => "T1",
            Tier::T2 => "T2",
        }
    }
}

impl Defect {
    /// Machine name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Defect::Value => "value",
            Defect::Unwritten => "unwritten",
            Defect::Stale => "stale",
            Defect::OutOfBounds => "out_of_bounds",
            Defect::InputModified => "input_modified",
            Defect::Structure => "structure",
            Defect::Pattern => "pattern",
            Defect::Kind => "kind",
            Defect::Protocol => "protocol",
            Defect::Nondeterministic => "nondeterministic",
            Defect::Environment => "environment",
        }
    }
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
            message,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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
            (Verdict::TimedOut { seconds: 1.0, tail: text() }, true),
            (Verdict::Unsupported { reason: text() }, false),
            (Verdict::NotRun { reason: text() }, false),
        ];
        let names: BTreeSet<&str> = all.iter().map(|(verdict, _)| verdict.kind()).collect();
        assert_eq!(names.len(), all.len());
        assert!(names.contains("timed_out") && !names.contains(""));
        for (verdict, finding) in all {
            assert_eq!(verdict.is_finding(), finding, "{}", verdict.kind());
        }
    }

    /// Reports, expectations and the protocol are read by machines: these words are what they look for, and may not change. Found
    /// by mutation: here only the judge's own crate can notice that a name is another.
    #[test]
    fn names_that_machines_read() {
        use Defect::{
            InputModified, Kind, Nondeterministic, OutOfBounds, Pattern, Protocol, Stale, Structure,
            Unwritten, Value,
        };
        assert_eq!([Tier::T0, Tier::T1, Tier::T2].map(Tier::name), ["T0", "T1", "T2"]);
        assert_eq!(Tier::T2.to_string(), "T2");
        let values = [Value, Unwritten, Stale, Pattern, Structure, Kind].map(Defect::name);
        assert_eq!(values, ["value", "unwritten", "stale", "pattern", "structure", "kind"]);
        let conduct = [OutOfBounds, InputModified, Protocol, Nondeterministic].map(Defect::name);
        assert_eq!(conduct, ["out_of_bounds", "input_modified", "protocol", "nondeterministic"]);
        let said = Mismatch::plain(Value, "what was wrong".to_owned());
        assert_eq!((said.count, said.to_string().as_str()), (1, "what was wrong"));
    }
}
