//! `conformance model check`: what it counts, what it names, what it skips, and its exit codes.

use crate::cli;

use cli::run_in;
use std::path::{Path, PathBuf};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/data/silicon")
}

/// A folder with copies of committed recordings, under new names if need be.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (from, to) in files {
        std::fs::copy(committed().join(from), folder.path().join(to)).expect("copied");
    }
    folder
}

#[test]
fn the_committed_recordings_are_predicted() {
    let ran = run_in(&committed(), &["model", "check", "."]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let last = ran.out.lines().last().expect("a total");
    assert_eq!(last, "total: 77248 of 77248 outputs predicted bit for bit, 36 recordings, 0 skipped");
    assert!(ran.out.lines().any(|l| l.contains("mma.sp.m16n8k32.f32.f16") && l.contains("measured here")));
}

#[test]
fn one_wrong_bit_is_a_finding() {
    let folder = folder(&[("h200_f16_k8.bin", "h200_f16_k8.bin"), ("h200_f16_k16.bin", "h200_f16_k16.bin")]);
    let path = folder.path().join("h200_f16_k8.bin");
    let mut bytes = std::fs::read(&path).expect("there");
    let at = bytes.len() - 4;
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    let ran = run_in(folder.path(), &["model", "check", "."]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    for part in
        ["FAILS 1", "total: 2047 of 2048", "first at warp 7, row 15, column 7", "model 0x", "hardware 0x"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn the_nearest_model_is_named() {
    let folder = folder(&[("h200_f16_k16.bin", "h900_f16_k16.bin")]);
    let ran = run_in(folder.path(), &["model", "check", "h900_f16_k16.bin"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("sm_90") && ran.out.contains("unknown device, nearest model"), "{}", ran.out);
    let ran = run_in(folder.path(), &["model", "check", ".", "--architecture", "sm_80"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("sm_80") && ran.out.contains("FAILS"), "{}", ran.out);
    let ran = run_in(folder.path(), &["model", "check", ".", "--architecture", "sm_81"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("sm_80, sm_86"), "{}", ran.err);
}

#[test]
fn what_is_no_recording_is_skipped_aloud() {
    let folder = folder(&[
        ("h200_f16_k8.bin", "h200_f16_k8.bin"),
        ("h200_f16_k8.bin", "h200_f16_k16.bin"),
        ("h200_wg_f16_k16.bin", "a100_wg_f16_k16.bin"),
    ]);
    std::fs::write(folder.path().join("notes.bin"), b"no recording").expect("written");
    std::fs::write(folder.path().join("README.md"), b"text").expect("written");
    let ran = run_in(folder.path(), &["model", "check", "."]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("1024 of 1024") && ran.out.contains("1 recordings, 3 skipped"), "{}", ran.out);
    for part in [
        "skipped h200_f16_k16.bin: 11264 bytes are not a positive multiple of the 1792",
        "skipped notes.bin: 'notes.bin' does not name a recording",
        "skipped a100_wg_f16_k16.bin: sm_80 has no modelled wgmma.m64n8k16.f32.f16; it is modelled on sm_90",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn nothing_to_read_is_an_error() {
    let folder = folder(&[]);
    for path in [".", "missing"] {
        let ran = run_in(folder.path(), &["model", "check", path]);
        assert_eq!(ran.code, 2, "{path}: {}{}", ran.out, ran.err);
        assert!(!ran.err.is_empty());
    }
    std::fs::write(folder.path().join("h200_f16_k8.bin"), [0; 5]).expect("written");
    assert_eq!(run_in(folder.path(), &["model", "check", "."]).code, 2);
}
