//! Writes the seed corpora and dictionaries of all fuzz targets: `fuzz_corpus [FOLDER]`, by default `fuzz`.
//!
//! ```text
//! FOLDER/corpus/TARGET/seed-000 ...      FOLDER/dict/TARGET.dict
//! ```
//!
//! Seeds that are there already are removed first; what a fuzzer found stays.

use sparse_fuzz_targets::{TARGETS, dictionary};
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "fuzz".to_owned()));
    fs::create_dir_all(folder.join("dict"))?;
    for target in &TARGETS {
        let corpus = folder.join("corpus").join(target.name);
        fs::create_dir_all(&corpus)?;
        for entry in fs::read_dir(&corpus)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("seed-") {
                fs::remove_file(entry.path())?;
            }
        }
        let seeds = (target.seeds)();
        for (i, seed) in seeds.iter().enumerate() {
            fs::write(corpus.join(format!("seed-{i:03}")), seed)?;
        }
        let bytes: usize = seeds.iter().map(Vec::len).sum();
        println!("{}: {} seeds, {bytes} bytes", target.name, seeds.len());
        if let Some(text) = dictionary(target) {
            fs::write(folder.join("dict").join(format!("{}.dict", target.name)), text)?;
        }
    }
    Ok(())
}
