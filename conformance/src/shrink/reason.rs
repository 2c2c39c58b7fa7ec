//! Why a case failed, as far as a smaller case must fail for the same.
//!
//! A search that takes any failure drifts: it starts at a wrong last row and ends at a crash on an empty matrix. So a
//! candidate counts only with the same verdict, the same defect where it is wrong, and the same words, numbers aside,
//! where it crashed, refused or took what it must refuse ("slippage" in Groce, Holmes, Kellar, ISSTA 2017).

use crate::report::{self, CaseRecord, VerdictRecord};
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};
use std::fmt;

/// A failure without what differs from case to case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reason {
    kind: &'static str,
    defect: Option<&'static str>,
    words: String,
}

impl Reason {
    /// The reason of a finding; `None` for verdicts that are none.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Option<Reason> {
        let (defect, words) = match verdict {
            Verdict::Wrong(mismatch) => (Some(mismatch.defect.name()), String::new()),
            Verdict::Crashed { message } => (None, class(message)),
            Verdict::LoneRefusal { refusal } => (None, class(refusal)),
            Verdict::LoneAcceptance { expected } => (None, class(expected)),
            Verdict::TimedOut { .. } => (None, String::new()),
            _ => return None,
        };
        Some(Reason {
            kind: verdict.kind(),
            defect,
            words,
        })
    }

    /// The reason behind a record, from what the record still says.
    #[must_use]
    pub fn of_record(record: &CaseRecord) -> Option<Reason> {
        let verdict = match &record.verdict {
            VerdictRecord::Wrong(mismatch) => {
                Verdict::Wrong(Box::new(Mismatch::plain(defect_of(mismatch.what), String::new())))
            }
            VerdictRecord::Crashed { message } => Verdict::Crashed {
                message: message.clone(),
            },
            VerdictRecord::TimedOut { seconds, .. } => Verdict::TimedOut {
                seconds: *seconds,
                tail: String::new(),
            },
            VerdictRecord::LoneRefusal { refusal } => Verdict::LoneRefusal {
                refusal: refusal.clone(),
            },
            VerdictRecord::LoneAcceptance { expected } => Verdict::LoneAcceptance {
                expected: expected.clone(),
            },
            _ => return None,
        };
        Reason::of(&verdict)
    }

    /// True where one run can't show it.
    #[must_use]
    pub fn needs_repeats(&self) -> bool {
        self.defect == Some(Defect::Nondeterministic.name())
    }

    /// True where every run that shows it costs the whole time limit.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.kind == "timed_out"
    }

    /// `wrong-value`, `crashed`: letters and hyphens, for names of folders.
    #[must_use]
    pub fn label(&self) -> String {
        let defect = self.defect.map(|d| format!("-{d}")).unwrap_or_default();
        format!("{}{defect}", self.kind).replace('_', "-")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())?;
        if self.words.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.words)
        }
    }
}

fn defect_of(defect: report::Defect) -> Defect {
    use report::Defect as Of;
    match defect {
        Of::Value => Defect::Value,
        Of::Unwritten => Defect::Unwritten,
        Of::Stale => Defect::Stale,
        Of::Canary => Defect::OutOfBounds,
        Of::InputModified => Defect::InputModified,
        Of::Pattern => Defect::Pattern,
        Of::Structure => Defect::Structure,
        Of::Shape => Defect::Kind,
        Of::Nondeterministic => Defect::Nondeterministic,
        Of::Protocol => Defect::Protocol,
    }
}

/// Letters of a message that count.
const LONGEST: usize = 96;

/// The first line of a message with every number replaced by `#`, but for those that name a signal or an exit: the
/// length in "index 9 out of 8" changes with the case, the 11 of a signal is what happened.
fn class(message: &str) -> String {
    let mut named = false;
    let mut words = Vec::new();
    for word in message.lines().next().unwrap_or_default().split_whitespace() {
        words.push(if named {
            word.to_owned()
        } else {
            without_numbers(word)
        });
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        named = matches!(bare.as_str(), "signal" | "code" | "status" | "exit");
    }
    words.join(" ").chars().take(LONGEST).collect()
}

/// Addresses change from run to run, hexadecimal letters and all.
fn without_numbers(word: &str) -> String {
    if let Some(at) = word.find("0x") {
        return format!("{}#", &word[..at]);
    }
    let mut text = String::new();
    for letter in word.chars() {
        if !letter.is_ascii_digit() {
            text.push(letter);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crashed(message: &str) -> Option<Reason> {
        Reason::of(&Verdict::Crashed {
            message: message.to_owned(),
        })
    }

    #[test]
    fn numbers_that_change_with_the_case_do_not_make_another_reason() {
        let a = crashed("index out of bounds: the len is 8 but the index is 9\nmore");
        let b = crashed("index out of bounds: the len is 130 but the index is 131");
        assert_eq!(a, b);
        assert_ne!(a, crashed("attempt to divide by zero"));
    }

    #[test]
    fn signals_and_exit_codes_are_reasons_of_their_own() {
        assert_ne!(crashed("killed by signal 11"), crashed("killed by signal 6"));
        assert_ne!(crashed("exit code 1"), crashed("exit code 3"));
    }

    #[test]
    fn a_pass_has_no_reason() {
        assert_eq!(Reason::of(&Verdict::Exact), None);
        let refusal = "too large".to_owned();
        assert_eq!(Reason::of(&Verdict::AgreedRefusal { refusal }), None);
    }
}
