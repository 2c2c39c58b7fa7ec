//! What must hold of every table of targets on stable, each a test of the crates that have one: their seeds and crashers go
//! through the same functions as libFuzzer calls, and nothing lies about that is not in the table.

use super::{FuzzOutcome, Target, dictionary};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a folder, sorted; none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = listing.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// Seeds are made anew each time, and a repository or a machine that is sent them has room.
///
/// # Panics
/// When they are not.
pub fn seeds_are_small_and_the_same_every_time(targets: &[Target]) {
    let mut bytes = 0;
    for target in targets {
        let seeds = (target.seeds)();
        assert!(seeds == (target.seeds)(), "{}", target.name);
        let words = (target.words)();
        let dictionary = dictionary(target).unwrap_or_default();
        // libFuzzer does not start where a line holds anything else.
        let printable = |line: &str| line.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        assert_eq!(dictionary.lines().count(), words.len(), "{}", target.name);
        assert!(dictionary.lines().all(printable), "{}: {dictionary}", target.name);
        bytes += seeds.iter().map(Vec::len).sum::<usize>();
    }
    assert!(bytes < 1_000_000, "the seeds take {bytes} bytes");
}

/// What a fuzzer starts from is mostly taken.
///
/// # Panics
/// When it is not.
pub fn every_target_accepts_its_share_of_the_seeds(targets: &[Target]) {
    for target in targets {
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
///
/// # Panics
/// When one is a finding.
pub fn mangled_seeds_are_no_finding(targets: &[Target]) {
    for target in targets {
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

/// Nothing, and not much, is an input as any other.
///
/// # Panics
/// When it is a finding.
pub fn bytes_that_run_out_are_an_input(targets: &[Target]) {
    for target in targets {
        for len in 0..40 {
            (target.run)(&vec![0; len]);
            (target.run)(&vec![0xff; len]);
        }
    }
}

/// Replays the files of `crashers/TARGET`, which are those that are named: each has a test with its story.
///
/// # Panics
/// When a file is not named, or a named one is not there, or one of them is a finding again.
pub fn every_crasher_is_replayed(targets: &[Target], crashers: &Path, named: &[(&str, &str)]) {
    let mut on_disk = BTreeSet::new();
    for target in targets {
        for path in files(&crashers.join(target.name)) {
            (target.run)(&fs::read(&path).expect("a crasher can be read"));
            on_disk.insert(format!("{}/{}", target.name, name(&path)));
        }
    }
    let named: BTreeSet<String> = named.iter().map(|(target, file)| format!("{target}/{file}")).collect();
    assert_eq!(on_disk, named, "a file without a test, or a test without a file");
}

/// A binary of at most 60 lines for each target in the cargo-fuzz package of this folder, and a row of the table in the
/// documentation; no others.
///
/// # Panics
/// When one is missing, or left over.
pub fn binaries_manifest_and_table_agree(targets: &[Target], package: &Path, readme: &Path) {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).expect("the manifest of the binaries");
    let readme = fs::read_to_string(readme).expect("fuzz/README.md");
    let sources = files(&package.join("fuzz_targets"));
    let names: BTreeSet<String> = sources.iter().map(|path| name(path)).collect();
    let expected: BTreeSet<String> = targets.iter().map(|t| format!("{}.rs", t.name)).collect();
    assert_eq!(names, expected);
    for path in sources {
        let text = fs::read_to_string(&path).expect("a source can be read");
        assert!(text.lines().count() <= 60, "{}", path.display());
    }
    for Target { name, about, floor, .. } in targets {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let row = format!("| `{name}` | {about} | {floor} % |");
        assert!(readme.contains(&row), "fuzz/README.md lacks {row}");
        assert_eq!(targets.iter().filter(|target| target.name == *name).count(), 1, "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
}
