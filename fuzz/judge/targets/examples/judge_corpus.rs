//! Writes the seed corpora and dictionaries of the fuzz targets of this crate: `judge_corpus [FOLDER]`, by default `fuzz/judge`.

use sparse_fuzz_judge_targets::TARGETS;
use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "fuzz/judge".to_owned()));
    sparse_fuzz_targets::write_corpus(&TARGETS, &folder)
}
