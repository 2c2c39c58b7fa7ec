//! The models of CPU instructions against what machines returned, bit for bit.
//!
//! ```text
//! data/recorded/*.txt   one element of one instruction a line: unit, control register, acc, a, b, result
//! ```
//!
//! `SPARSE_RECORDED` may name another folder of such files, of any size. `data/recorded/README.md` says what ran where.

use crate::cpu_support;
use crate::files_shared;

use cpu_support::Operands;
use files_shared::say;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lines that the model predicts, and all lines, by unit.
type Counts = BTreeMap<&'static str, (u64, u64)>;

fn compare(path: &Path, counts: &mut Counts) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("a readable recording");
    let mut first = None;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let (operands, result) = Operands::parse(line)
            .unwrap_or_else(|| panic!("{}:{}: not a recorded line: {line}", path.display(), at + 1));
        let predicted = operands.predicted();
        let count = counts.entry(operands.unit.name()).or_default();
        count.1 += 1;
        if predicted == result {
            count.0 += 1;
        } else if first.is_none() {
            first = Some(format!("{}:{}: {line}, the model says {predicted:x}", path.display(), at + 1));
        }
    }
    first
}

fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut texts: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == "txt")).collect();
    texts.sort();
    texts
}

/// Every line of every file, and how often each unit occurs.
fn check(folder: &Path) -> Counts {
    let (mut counts, mut first) = (Counts::new(), None);
    for path in recordings(folder) {
        let wrong = compare(&path, &mut counts);
        first = first.or(wrong);
    }
    for (unit, (right, all)) in &counts {
        say!("{unit}: {right} of {all} recorded elements predicted");
    }
    assert_eq!(first, None);
    counts
}

#[test]
fn recorded_elements_are_predicted_bit_for_bit() {
    let counts = check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/recorded"));
    for unit in [
        "fmopa.f64",
        "fmopa.f32",
        "fmopa.f16",
        "fmopa.f32.f16",
        "bfmopa.f32.bf16",
        "bfmopa.ebf.f32.bf16",
        "fmla.f64",
        "fmla.f32",
        "fmla.f16",
        "vdpbf16ps",
        "vfmaddps",
        "vfmaddpd",
    ] {
        let all = counts.get(unit).map_or(0, |count| count.1);
        assert!(all >= 200, "only {all} recorded elements of {unit}");
    }
}

#[test]
fn recordings_of_ones_own_are_predicted_too() {
    match std::env::var_os("SPARSE_RECORDED") {
        Some(folder) => assert!(!check(Path::new(&folder)).is_empty(), "no recording there"),
        None => say!("SKIPPED: 1 folder; SPARSE_RECORDED names none"),
    }
}
