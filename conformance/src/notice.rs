//! A line for whoever watches standard error.

use std::io::Write;

/// Says it, or does not: a log on a full disk ends no run. (`eprintln!` panics there, and within a case that is the backend's crash.)
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
