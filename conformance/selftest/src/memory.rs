//! What a kernel with state keeps from one call to the next. A hunt gives each bug its own, so that runs repeat.

use sparse_oracle::format::AnySparse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Stands before an address in a key, and nowhere else.
const BY_ADDRESS: char = '@';

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
    /// Matrices by a key that the kernel takes for all there is to know of one.
    pub matrices: HashMap<String, AnySparse>,
    /// Calls by a key, such as the contract's name: kernels count their own.
    pub counts: HashMap<String, u64>,
}

impl Memory {
    /// Looks at the state and changes it. A panic of the kernel does not cost it.
    pub fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets what is kept by an address (`by_address`): where arrays of different cases lie is a matter of the
    /// allocator, and a bug that showed by such a chance would show in one run and not in the next.
    pub fn next_case(&self) {
        self.with(|state| {
            state.results.retain(|key, _| !key.contains(BY_ADDRESS));
            state.matrices.retain(|key, _| !key.contains(BY_ADDRESS));
        });
    }

    /// The number of this call among those with the same key, from 1.
    pub fn count(&self, key: &str) -> u64 {
        self.with(|state| {
            let calls = state.counts.entry(key.to_owned()).or_insert(0);
            *calls += 1;
            *calls
        })
    }
}

/// An address as a part of a key.
#[must_use]
pub(super) fn by_address(address: usize) -> String {
    format!("{BY_ADDRESS}{address}")
}

/// What this key stood for first; of keys with an address, only the last is remembered.
pub(super) fn recall<T: Clone>(kept: &mut HashMap<String, T>, key: String, fresh: impl FnOnce() -> T) -> T {
    if key.contains(BY_ADDRESS) && !kept.contains_key(&key) {
        kept.clear();
    }
    kept.entry(key).or_insert_with(fresh).clone()
}
