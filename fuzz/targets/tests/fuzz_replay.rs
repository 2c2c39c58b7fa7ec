//! The fuzz targets on stable: their seeds and crashers through the same functions as libFuzzer calls, and nothing
//! in `fuzz/` that is not in the table.

use sparse_fuzz_targets::{FuzzOutcome, TARGETS, Target, dictionary, target};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files of a folder whose names start so, sorted; none where there is no folder.
fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = listing.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix)));
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// Seeds and dictionaries are not in the repository: `cargo run -p sparse-fuzz-targets --example fuzz_corpus` writes them.
#[test]
fn seeds_are_small_and_the_same_every_time() {
    let mut bytes = 0;
    for target in &TARGETS {
        let seeds = (target.seeds)();
        assert!(seeds == (target.seeds)(), "{}", target.name);
        assert_eq!(dictionary(target).is_some(), !(target.words)().is_empty(), "{}", target.name);
        bytes += seeds.iter().map(Vec::len).sum::<usize>();
    }
    assert!(bytes < 1_000_000, "the seeds take {bytes} bytes");
}

#[test]
fn every_target_accepts_its_share_of_the_seeds() {
    for target in &TARGETS {
        let seeds = (target.seeds)();
        let accepted = seeds.iter().filter(|seed| (target.run)(seed) == FuzzOutcome::Accepted).count();
        println!("{}: {accepted} of {} seeds accepted", target.name, seeds.len());
        assert!(seeds.len() >= 8, "{} has {} seeds", target.name, seeds.len());
        assert!(
            accepted * 100 >= seeds.len() * target.floor as usize,
            "{}: {accepted} of {} seeds accepted, the floor is {} %",
            target.name,
            seeds.len(),
            target.floor
        );
    }
}

/// Cut, doubled and flipped: seeds that nobody wrote. Each target sees some thousand.
#[test]
fn mangled_seeds_are_no_finding() {
    for target in &TARGETS {
        for seed in (target.seeds)() {
            for i in 0..24 {
                let mut bytes = seed.clone();
                let at = (i * 7919 + 13) % bytes.len().max(1);
                match i % 4 {
                    0 => bytes.truncate(at),
                    1 => bytes[at] = bytes[at].wrapping_add(1 << (i / 4)),
                    2 => bytes[at] = [0x03, 0x80, 0xe0, 0xf0, 0xff, 0x00][i / 4],
                    _ => bytes.extend_from_within(at..),
                }
                (target.run)(&bytes);
            }
        }
    }
}

#[test]
fn bytes_that_run_out_are_an_input() {
    for target in &TARGETS {
        for len in 0..40 {
            (target.run)(&vec![0; len]);
            (target.run)(&vec![0xff; len]);
        }
    }
}

/// Files that made a target fail once, each with its story in a test below.
const CRASHERS: [(&str, &str); 0] = [];

#[test]
fn every_crasher_is_replayed() {
    let on_disk: BTreeSet<String> = TARGETS
        .iter()
        .flat_map(|target| {
            let found = files(&fuzz().join("crashers").join(target.name), "");
            found.into_iter().map(|path| format!("{}/{}", target.name, name(&path)))
        })
        .collect();
    let named: BTreeSet<String> = CRASHERS.iter().map(|(target, file)| format!("{target}/{file}")).collect();
    assert_eq!(on_disk, named, "a file without a test, or a test without a file");
}

/// A binary of at most 60 lines for each target, and a section in the documentation; no others.
#[test]
fn binaries_manifest_and_table_agree() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("fuzz/Cargo.toml");
    let readme = fs::read_to_string(fuzz().join("README.md")).expect("fuzz/README.md");
    let sources = files(&fuzz().join("fuzz_targets"), "");
    let names: BTreeSet<String> = sources.iter().map(|path| name(path)).collect();
    let expected: BTreeSet<String> = TARGETS.iter().map(|t| format!("{}.rs", t.name)).collect();
    assert_eq!(names, expected);
    for path in sources {
        let text = fs::read_to_string(&path).expect("a source can be read");
        assert!(text.lines().count() <= 60, "{}", path.display());
    }
    for Target { name, about, floor, .. } in &TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let row = format!("| `{name}` | {about} | {floor} % |");
        assert!(readme.contains(&row), "fuzz/README.md lacks {row}");
        assert_eq!(target(name).map(|t| t.name), Some(*name));
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
