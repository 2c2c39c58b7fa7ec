//! Writes the seed corpora and dictionaries of the fuzz targets of this crate: `fuzz_corpus [FOLDER]`, by default `fuzz`.

use sparse_fuzz_targets::{TARGETS, write_corpus};
use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    write_corpus(&TARGETS, &PathBuf::from(env::args().nth(1).unwrap_or_else(|| "fuzz".to_owned())))
}
