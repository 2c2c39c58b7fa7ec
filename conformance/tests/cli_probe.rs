//! `conformance model probe` where there is no GPU, and what it refuses.

use crate::cli;

use cli::run_in;
use std::path::Path;

#[test]
fn without_a_gpu_it_says_why() {
    let ran = run_in(Path::new("."), &["model", "probe", "--only", "mma.m8n8k4.f64", "--outputs", "1000"]);
    if Path::new("/dev/nvidia0").exists() {
        eprintln!("SKIPPED: 1 test, this machine has a GPU");
        return;
    }
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("no usable NVIDIA GPU") || ran.err.contains("feature 'cuda'"), "{}", ran.err);
}

#[test]
fn bad_options_are_refused() {
    for (args, says) in [
        (vec!["--only", "mma.m1n1k1"], "no instruction's name contains"),
        (vec!["--seconds", "-3"], ""),
        (vec!["--seconds", "0"], "positive"),
        (vec!["--outputs", "1.5"], "whole number"),
        (vec!["--outputs", "none"], "no number"),
    ] {
        let ran = run_in(Path::new("."), &[&["model", "probe"], args.as_slice()].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
}

#[test]
fn the_list_needs_no_gpu() {
    let ran = run_in(Path::new("."), &["model", "probe", "--list", "--only", "mma.sp"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("mma.sp.m16n8k32.f32.f16.s1"), "{}", ran.out);
    assert!(ran.out.contains("wgmma.sp.m64n8k32.f32.bf16.s0"), "{}", ran.out);
    assert!(ran.out.lines().count() > 30);
}
