//! The tensor-core models against what an H200 returned, bit for bit.
//!
//! The committed recordings are the first 8 warps (one of each operand distribution) of longer ones; those are checked too where
//! `SPARSE_SHARED` or `../shared` has them.

use crate::files_shared;

use files_shared::say;
use sparse_oracle::model::recording::{Recording, RecordingName};
use std::path::{Path, PathBuf};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/silicon")
}

/// The recordings of a folder, by name.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "bin"));
    paths.sort();
    paths
}

/// Fails at the first output that is not predicted; returns the number that are.
fn all_predicted(path: &Path) -> usize {
    let recording = Recording::read(path).expect("a recording");
    let architecture = recording.name().architecture.expect("a known device");
    let check = recording.check(architecture).expect("a known instruction");
    if let Some((sample, model)) = check.first {
        panic!("{}: model {model:#x}, hardware {:#x}: {sample:x?}", path.display(), sample.d);
    }
    assert_eq!(check.predicted, check.outputs, "{}", path.display());
    // Which NaN an f64 instruction returns is not modelled; every other bit is.
    let of_f64 = path.file_name().is_some_and(|name| name.to_string_lossy().contains("_f64_"));
    assert!(of_f64 || check.unmodelled_nans == 0, "{}", path.display());
    assert!(check.unmodelled_nans * 20 < check.outputs, "{}", path.display());
    check.outputs
}

#[test]
fn every_committed_output_is_predicted() {
    let paths = recordings(&committed());
    assert_eq!(paths.len(), 36, "a recording is missing");
    let outputs: usize = paths.iter().map(|path| all_predicted(path)).sum();
    // mma, wgmma; the later ones: m16n8, m8n8, m64n8.
    let earlier = 14 * 8 * 128 + 5 * 8 * 512;
    assert_eq!(outputs, earlier + 13 * (13 * 128 + 64 + 3 * 512));
}

#[test]
fn every_shared_output_is_predicted() {
    let root = std::env::var_os("SPARSE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = root.join("data/silicon");
    let paths = recordings(&folder);
    if paths.is_empty() {
        say!("SKIPPED: no recordings in {}; set SPARSE_SHARED", folder.display());
        return;
    }
    let mut total = 0;
    for path in &paths {
        let name = path.file_name().expect("a name").to_string_lossy();
        // What other parts of the project record there (conversions, orders) is not for this model.
        if RecordingName::parse(&name).is_err() {
            say!("SKIPPED {name}: not an instruction of this model");
            continue;
        }
        let outputs = all_predicted(path);
        say!("{name}: {outputs} of {outputs} outputs predicted");
        total += outputs;
    }
    say!("{total} outputs");
    assert!(total >= 14 * 160 * 128, "{total} outputs only");
}
