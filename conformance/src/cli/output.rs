//! Standard output as long as somebody reads it.
//!
//! `conformance run ... | head -1` hangs up after a line. What was found stays found: commands that judge go on, write their files, and
//! end with the exit status that their report deserves.

use std::io::{ErrorKind, IsTerminal, Result, StdoutLock, Write};

/// Standard output; what nobody reads any more is dropped.
#[derive(Debug)]
pub(super) struct Output(StdoutLock<'static>);

/// Takes standard output.
pub(super) fn output() -> Output {
    Output(std::io::stdout().lock())
}

impl Output {
    /// True where a person reads it.
    pub(super) fn is_terminal(&self) -> bool {
        self.0.is_terminal()
    }

    /// Writes a line; for those who can't say that it failed.
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self, "{text}");
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        unless_closed(self.0.flush(), ())
    }
}

fn unless_closed<T>(result: Result<T>, dropped: T) -> Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(dropped),
        other => other,
    }
}
