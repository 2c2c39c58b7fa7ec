//! Why a case failed, as far as a smaller case must fail for the same.
//!
//! A search that takes any failure drifts: it starts at a wrong last row and ends at a crash on an empty matrix. So a
//! candidate counts only with the same verdict, the same defect where it is wrong (in the same array, where something was
//! written that may not be), and the same words, numbers aside, where it crashed, refused or took what it must refuse
//! ("slippage" in Groce, Holmes, Kellar, ISSTA 2017).

use crate::report::{CaseRecord, Defect, VerdictKind};
use sparse_oracle::verdict::Verdict;
use std::fmt;

/// A failure without what differs from case to case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reason {
    kind: &'static str,
    defect: Option<Defect>,
    words: String,
}

impl Reason {
    /// The reason of a finding; `None` for verdicts that are none.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Option<Reason> {
        Reason::told(verdict, |mismatch| wrong(mismatch.defect, &mismatch.message))
    }

    /// The reason behind a record, from what the record still says.
    #[must_use]
    pub fn of_record(record: &CaseRecord) -> Option<Reason> {
        Reason::told(&record.verdict, |mismatch| wrong(mismatch.what, &mismatch.message))
    }

    fn told<M>(verdict: &Verdict<M>, wrong: impl Fn(&M) -> (Option<Defect>, String)) -> Option<Reason> {
        let (defect, words) = match verdict {
            Verdict::Wrong(mismatch) => wrong(mismatch),
            Verdict::Crashed { message } => (None, class(message)),
            Verdict::LoneRefusal { refusal } => (None, class(refusal)),
            Verdict::LoneAcceptance { expected } => (None, class(expected)),
            Verdict::TimedOut { .. } => (None, String::new()),
            Verdict::Exact
            | Verdict::Within { .. }
            | Verdict::AgreedRefusal { .. }
            | Verdict::Unsupported { .. }
            | Verdict::NotRun { .. } => return None,
        };
        Some(Reason { kind: verdict.kind().label(), defect, words })
    }

    /// True where one run can't show it.
    #[must_use]
    pub fn needs_repeats(&self) -> bool {
        self.defect == Some(Defect::Nondeterministic)
    }

    /// True where every run that shows it costs the whole time limit.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.kind == VerdictKind::TimedOut.label()
    }

    /// `wrong-value`, `crashed`: letters and hyphens, for names of folders. Defects are called as in reports.
    #[must_use]
    pub fn label(&self) -> String {
        let defect = self.defect.map(|d| format!("-{d}")).unwrap_or_default();
        format!("{}{defect}", self.kind).replace(' ', "-")
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())?;
        if self.words.is_empty() { Ok(()) } else { write!(f, " ({})", self.words) }
    }
}

/// A wrong result: what was written where it may not be is another bug in each array.
fn wrong(defect: Defect, message: &str) -> (Option<Defect>, String) {
    let words = match defect {
        Defect::Canary | Defect::InputModified => array(message),
        _ => String::new(),
    };
    (Some(defect), words)
}

/// The array that a message of the plug-in host or the Python SDK names; nothing in a message that names none. The padding of
/// C and what lies around C are one array: without padding the same write lands outside.
fn array(message: &str) -> String {
    let after = |words: &str, end: &str| {
        let (_, rest) = message.split_once(words)?;
        Some(rest.split(end).next().unwrap_or(rest))
    };
    let named = after("wrote to its input ", ", element")
        .or_else(|| after("wrote outside ", ":"))
        .or_else(|| after("changed the input ", ","));
    match named {
        Some(name) => class(name),
        None if message.contains("wrote to the padding of C") => "data of C".to_owned(),
        None => String::new(),
    }
}

/// Letters of a message that count.
const LONGEST: usize = 96;

/// The first line of a message with every number replaced by `#`, but for those that name a signal or an exit: the
/// length in "index 9 out of 8" changes with the case, the 11 of a signal is what happened.
fn class(message: &str) -> String {
    let mut named = false;
    let mut words = Vec::new();
    let first = without_turn(message.lines().next().unwrap_or_default());
    for word in first.split_whitespace() {
        words.push(if named { word.to_owned() } else { without_numbers(word) });
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        named = matches!(bare.as_str(), "signal" | "code" | "status" | "exit");
    }
    words.join(" ").chars().take(LONGEST).collect()
}

/// What a message starts with that is about the second of two calls which differ in what C holds.
pub const SECOND_CALL: &str = "in a second call, from another C (nothing was found in the first)";

/// In which call it happened is no reason: it would be one without those before it.
fn without_turn(message: &str) -> &str {
    let words = message.strip_prefix(SECOND_CALL).and_then(|rest| rest.strip_prefix(": "));
    let message = words.unwrap_or(message);
    match message.split_once(" before the judged one (after=") {
        Some((head, rest)) if head.starts_with("in call ") => {
            rest.split_once("): ").map_or(message, |(_, words)| words)
        }
        _ => message,
    }
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
    use sparse_oracle::verdict::{Defect as Seen, Mismatch};

    fn crashed(message: &str) -> Option<Reason> {
        Reason::of(&Verdict::Crashed { message: message.to_owned() })
    }

    #[test]
    fn numbers_that_change_with_the_case_do_not_make_another_reason() {
        let a = crashed("index out of bounds: the len is 8 but the index is 9\nmore");
        let b = crashed("index out of bounds: the len is 130 but the index is 131");
        assert_eq!(a, b);
        assert_ne!(a, crashed("attempt to divide by zero"));
    }

    /// Found by a reader: those words took 67 of the letters that count, so that two crashes which start alike became one cause, and a
    /// crash of the first call and of the second became two.
    #[test]
    fn which_of_two_calls_it_was_makes_no_other_reason() {
        let (lost, alike) = ("it raised RuntimeError: CUDA error", "it raised RuntimeError: CUSPARSE_STATUS");
        let second = |words: &str| crashed(&format!("{SECOND_CALL}: {words}"));
        assert_eq!(second(lost), crashed(lost));
        assert_ne!(second(lost), second(alike));
        let earlier = format!("in call 3 before the judged one (after=many): {lost}");
        assert_eq!(crashed(&earlier), crashed(lost));
    }

    #[test]
    fn signals_and_exit_codes_are_reasons_of_their_own() {
        assert_ne!(crashed("killed by signal 11"), crashed("killed by signal 6"));
        assert_ne!(crashed("exit code 1"), crashed("exit code 3"));
    }

    /// A search for a write past C once ended at one past an array of A: both were "outside".
    #[test]
    fn writes_outside_different_arrays_are_different_reasons() {
        let of = |defect, message: &str| {
            let mismatch = Mismatch::plain(defect, message.to_owned());
            Reason::of(&Verdict::Wrong(Box::new(mismatch))).expect("a finding")
        };
        let outside =
            |words: &str| of(Seen::Canary, &format!("what lies outside the output was written: {words}"));
        let past_c = outside("sc_run wrote outside data of C: at byte 20 counted from its first, of 5");
        assert_eq!(
            past_c,
            outside("sc_run wrote outside data of C: at byte -4 counted from its first, of 70")
        );
        assert_eq!(
            past_c,
            outside("sc_run wrote to the padding of C: element 4, column or row 3 of 3 within its line")
        );
        assert_ne!(
            past_c,
            outside("sc_run wrote outside row_ptr of A: at byte 20 counted from its first, of 5")
        );
        let changed = |words: &str| {
            of(Seen::InputModified, &format!("an input operand changed during the call: {words}"))
        };
        let values = changed("sc_run wrote to its input A, array values, element 3");
        assert_eq!(values, changed("sc_run wrote to its input A, array values, element 0"));
        assert_ne!(values, changed("sc_run wrote to its input B, array data, element 3"));
        assert_eq!(values.to_string(), "wrong-input-modified (A, array values)");
        assert_ne!(values, changed("it changed the input a.values, byte 7"));
        assert_ne!(
            changed("it changed the input a.values"),
            changed("it changed the input b"),
            "as `check` says it"
        );
        assert_eq!(
            outside("it wrote outside its result: element 52 of 51").to_string(),
            "wrong-canary (its result)"
        );
        assert_eq!(changed("it changed the input b, byte 7"), changed("it changed the input b, byte 0"));
        assert_eq!(past_c.label(), "wrong-canary");
    }

    #[test]
    fn a_pass_has_no_reason() {
        assert_eq!(Reason::of(&Verdict::Exact), None);
        let refusal = "too large".to_owned();
        assert_eq!(Reason::of(&Verdict::AgreedRefusal { refusal }), None);
    }
}
