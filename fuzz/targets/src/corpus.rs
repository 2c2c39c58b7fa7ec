//! Seeds and dictionaries as files, for any table of targets.
//!
//! ```text
//! FOLDER/corpus/TARGET/seed-000 ...      FOLDER/dict/TARGET.dict
//! ```

use super::Target;
use std::path::Path;
use std::{fs, io};

/// Writes the seeds and dictionaries of these targets. Seeds that are there already are removed first; what a fuzzer found
/// stays.
///
/// # Errors
/// What the system says.
pub fn write_corpus(targets: &[Target], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("dict"))?;
    for target in targets {
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

/// The target's words in libFuzzer's notation, if it has any.
#[must_use]
pub fn dictionary(target: &Target) -> Option<String> {
    let words = (target.words)();
    // It takes printable bytes as they are, others in hexadecimal.
    let escaped = |byte: u8| match byte {
        b'\\' | b'"' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    let quoted = |word: &String| format!("\"{}\"\n", word.bytes().map(escaped).collect::<String>());
    (!words.is_empty()).then(|| words.iter().map(quoted).collect())
}
