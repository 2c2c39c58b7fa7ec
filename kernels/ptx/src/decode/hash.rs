//! A quick hash for names and numbers: decoding looks up half a million in our own PTX. Its maps are never iterated, so their order
//! says nothing.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;
pub(super) type QuickSet<K> = HashSet<K, BuildHasherDefault<Quick>>;

/// Multiplies eight bytes at a time into the state.
#[derive(Clone, Copy, Default)]
pub(super) struct Quick(u64);

/// 2^64 divided by the golden ratio, odd.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Quick {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word) ^ (chunk.len() as u64).rotate_right(8));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value) ^ FACTOR);
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
