//! What a kernel with state keeps from one call to the next. A hunt gives each bug its own, so that runs repeat.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// State between calls.
#[derive(Debug, Default)]
pub struct Memory(Mutex<State>);

/// What is kept.
#[derive(Debug, Default)]
pub struct State {
    /// Number of calls so far.
    pub calls: u64,
    /// Outputs by a key that the kernel takes for the whole request.
    pub results: HashMap<String, Vec<u64>>,
}

impl Memory {
    /// Looks at the state and changes it. A panic of the kernel does not cost it.
    pub fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
