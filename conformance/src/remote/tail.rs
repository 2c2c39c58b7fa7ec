//! The end of what a child wrote to standard error, made fit for a report.

use std::process::ExitStatus;

/// Bytes that are kept.
const KEPT: usize = 4096;

/// A bounded tail.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    /// Adds what came; forgets what is too old.
    pub(super) fn push(&mut self, new: &[u8]) {
        let new_start = new.len().saturating_sub(KEPT);
        let over = (self.bytes.len() + new.len() - new_start).saturating_sub(KEPT);
        self.cut |= over > 0 || new_start > 0;
        self.bytes.drain(..over.min(self.bytes.len()));
        self.bytes.extend_from_slice(&new[new_start..]);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.cut = false;
    }

    /// The text: no control characters but line ends and tabs, no terminal colours, no broken UTF-8.
    pub(super) fn text(&self) -> String {
        let text = sanitised(&self.bytes);
        if self.cut { format!("...{text}") } else { text }
    }

    /// `what`, and what was said last, if anything.
    pub(super) fn after(&self, what: &str) -> String {
        let text = self.text();
        if text.is_empty() { what.to_owned() } else { format!("{what}{SAID}{text}") }
    }
}

/// What stands between what happened to a child and what it said.
pub(crate) const SAID: &str = "; its standard error ends:\n";

/// Text of a child, fit for a report.
pub(super) fn sanitised(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            // A colour or cursor sequence: up to its final letter.
            '\x1b' => _ = chars.by_ref().find(char::is_ascii_alphabetic),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.trim_end().to_owned()
}

/// How a process ended, in words.
pub(super) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let core = if status.core_dumped() { ", core dumped" } else { "" };
            format!("killed by signal {signal}{}{core}", signal_name(signal))
        }
        (None, Some(code)) => format!("exited with status {code}"),
        (None, None) => status.to_string(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL, illegal instruction)",
        6 => " (SIGABRT, abort)",
        7 => " (SIGBUS, bad memory access)",
        8 => " (SIGFPE, arithmetic exception)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV, invalid memory access)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_nothing_else() {
        let mut tail = Tail::default();
        for i in 0..10_000 {
            tail.push(format!("line {i}\n").as_bytes());
        }
        tail.push(&vec![b'x'; 3 * KEPT]);
        tail.push(b"\x1b[31mred\x1b[0m \x07end\xff\n");
        let text = tail.text();
        assert!(text.starts_with("...xxx") && text.ends_with("xred end\u{fffd}"), "{text}");
        assert!(text.len() <= KEPT + 8);
        tail.clear();
        assert_eq!(tail.after("it died"), "it died");
    }
}
