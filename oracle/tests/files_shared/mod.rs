//! Where the shared data lies (`SPARSE_SHARED`, else `../shared` beside the repository) and what its MANIFESTs say.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prints past the capture of the test harness, so that counts and skips show for passing tests too.
macro_rules! say {
    ($($text:tt)*) => {
        std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($text)*))).expect("stderr takes text")
    };
}

pub(crate) use say;

/// The shared data folder, if it is there; says so when it is not.
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    // Beside the repository: crates whose tests share this file lie at different depths of it.
    let mut beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("shared"));
    let root = std::env::var_os("SPARSE_SHARED").map_or_else(
        || beside.find(|path| path.is_dir()).unwrap_or_else(|| "../shared".into()),
        PathBuf::from,
    );
    let folder = root.join("data").join(part);
    if folder.join("MANIFEST.tsv").is_file() {
        return Some(folder);
    }
    say!("SKIPPED: all of {}: no MANIFEST.tsv there; set SPARSE_SHARED", folder.display());
    None
}

/// One line of a MANIFEST, by column name.
pub(crate) type Row = BTreeMap<String, String>;

/// All lines of the MANIFEST in `folder`.
pub(crate) fn manifest(folder: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("manifest is readable");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("manifest has a header").split('\t').collect();
    let row = |line: &str| {
        names.iter().zip(line.split('\t')).map(|(n, v)| (n.to_string(), v.to_string())).collect()
    };
    lines.filter(|l| !l.is_empty()).map(row).collect()
}
