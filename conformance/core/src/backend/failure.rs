//! What a backend does instead of answering.

use sparse_oracle::verdict::Mismatch;

/// Why a run has no answer. Backends of this process can only refuse (and panic); the rest is what is seen of a backend
/// in a process of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// It refused, in its own words.
    Refused(String),
    /// It died: signal, exit, panic or silence, and the end of what it wrote to standard error.
    Crashed(String),
    /// No answer within the limit; it was killed.
    TimedOut {
        /// The limit, in seconds.
        seconds: f64,
        /// It computed next to nothing meanwhile.
        idle: bool,
        /// What it had written to standard error; may be empty.
        tail: String,
    },
    /// It answered, and the answer breaks a rule that needs no arithmetic to see: not a message of the protocol, a wrong
    /// shape, an input or a guard overwritten.
    Broke(Box<Mismatch>),
    /// It was not asked: what it needs to start could not be made on this machine. No fault of the backend.
    NotAsked(String),
}

impl From<String> for Failure {
    fn from(refusal: String) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<&str> for Failure {
    fn from(refusal: &str) -> Failure {
        Failure::Refused(refusal.to_owned())
    }
}
