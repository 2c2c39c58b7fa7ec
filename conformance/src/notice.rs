//! A line for whoever watches standard error.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Says it, or does not: a log on a full disk ends no run. (`eprintln!` panics there, and within a case that is the backend's crash.)
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Says the line where the work takes longer than `soon`.
pub(crate) fn patiently<T>(soon: Duration, line: &str, work: impl FnOnce() -> T) -> T {
    let (working, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Where no thread is to be had, nothing is said.
        let _ = thread::Builder::new().spawn_scoped(scope, move || {
            if waiting.recv_timeout(soon) == Err(RecvTimeoutError::Timeout) {
                say(line);
            }
        });
        let result = work();
        drop(working);
        result
    })
}
