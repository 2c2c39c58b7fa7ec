//! What files hold, as a hash: 128 bits of XXH3 in hex. Whoever resumes a run must ask the same kernel about the same matrices.

use crate::digest::hex;
use sparse_oracle::plain_file;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The hash of a file, or why there is none: `hash 0123...`, `no file`.
#[must_use]
pub(crate) fn of_file(path: &Path) -> String {
    hash(path).map_or_else(|error| format!("no file ({error})"), |hash| format!("hash {hash}"))
}

fn hash(path: &Path) -> io::Result<String> {
    // A pipe or a device has no content, and may have no end.
    let mut file = plain_file::open(path)?;
    let (mut state, mut chunk) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(state.digest128())),
            count => state.update(&chunk[..count]),
        }
    }
}

/// The hash of a text.
#[must_use]
pub(crate) fn of_text(text: &str) -> String {
    format!("hash {}", hex(xxh3_128(text.as_bytes())))
}

/// The file that a program's name means: a path, or what the folders of PATH hold.
#[must_use]
pub(crate) fn program(name: &str) -> PathBuf {
    let there = |path: &PathBuf| path.is_file();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = || std::env::split_paths(&path).map(|f| f.join(name)).find(there);
    if name.contains('/') { None } else { in_path() }.unwrap_or_else(|| PathBuf::from(name))
}
