//! The `golden` command: what it prints, and its exit codes.

mod reviewed;

use reviewed::reviewed;
use sparse_golden::table::System;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit code, stdout, stderr.
fn golden(arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_golden")).args(arguments).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let code = output.status.code().expect("no signal");
    (code, text(output.stdout), text(output.stderr))
}

fn silicon() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/data/silicon")
}

#[test]
fn every_system_replays_to_its_reviewed_number() {
    let mut replayed = 0;
    for system in System::ALL {
        let text = reviewed(system.name());
        // The cheapest families of every row and target.
        let of_family = |line: &&str| line.starts_with("tails ") || line.starts_with("lengths ");
        for line in text.lines().filter(of_family) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let case: sparse_golden::case::Case = cells[7].parse().expect("a case");
            let replay = sparse_golden::replay::replay(&case).expect("it replays");
            assert!(replay.agrees, "{}", replay.text);
            assert_eq!(format!("{:.4}", replay.gauge_ulps), cells[2], "{line}");
            // The worst share is another element of the same matrix.
            let shared = format!("{}/{}", cells[7].rsplitn(4, '/').nth(3).expect("a line"), cells[6]);
            let replay = sparse_golden::replay::replay(&shared.parse().expect("a case")).expect("it replays");
            assert_eq!(format!("{:.4}", replay.share), cells[5], "{line}");
            replayed += 1;
        }
    }
    assert_eq!(replayed, 2 * 57);
}

#[test]
fn replay_shows_terms_sums_and_the_error() {
    let line = "libra.spmm.tf32.m16n8k4.sm_80/tails:tile=16,dcol=-1,seed=1/wide/n=16/at=20,13";
    let (code, out, _) = golden(&["replay", line]);
    assert_eq!(code, 0, "{out}");
    for part in [
        line,
        "instruction 0",
        "sum of the chain",
        "both sums, added once",
        "exact ",
        "gauge ",
        "ulp(g)",
        "share of the bound",
    ] {
        assert!(out.contains(part), "{part} is missing:\n{out}");
    }
    // Without an element, the worst one.
    let (code, out, _) = golden(&["replay", line.rsplit_once('/').expect("an element").0]);
    assert_eq!(code, 0);
    assert!(
        out.starts_with("libra.spmm.tf32.m16n8k4.sm_80/tails:tile=16,dcol=-1,seed=1/wide/n=16/at="),
        "{out}"
    );
}

#[test]
fn bad_lines_are_refused_with_what_is_wrong() {
    let good = "loops.spmm.f16.fmopa.sme/uniform:rows=8,seed=1/near-one/n=2";
    assert_eq!(golden(&["replay", good]).0, 0);
    for (line, wanted) in [
        ("", "no row"),
        ("loops.spmm.f16.fmopa.sm_90/uniform:seed=1/near-one/n=2", "golden list"),
        ("loops.spmm.f16.fmopa.sme", "no pattern"),
        ("loops.spmm.f16.fmopa.sme/unknown:seed=1/near-one/n=2", "unknown"),
        ("loops.spmm.f16.fmopa.sme/uniform:seed=1/ones/n=2", "there are near-one"),
        ("loops.spmm.f16.fmopa.sme/uniform:seed=1/near-one/k=2", "expected n="),
        ("loops.spmm.f16.fmopa.sme/uniform:seed=1/near-one/n=0", "expected n="),
        ("loops.spmm.f16.fmopa.sme/uniform:seed=1/near-one/n=2/at=1", "at=ROW,COLUMN"),
        ("loops.spmm.f16.fmopa.sme/uniform:seed=1/near-one/n=2/at=1,1/x", "follows"),
        ("loops.spmm.f16.fmopa.sme/uniform:seed=1/near-one/n=2/at=900,0", "no terms"),
        ("loops.spmm.f16.fmopa.sme/zero:seed=1/near-one/n=2", "no terms"),
        ("loops.spmm.f16.fmopa.sme/dense:rows=60000,cols=60000,seed=1/near-one/n=2", "the limit is"),
        (
            "nm.spmm.f32.fma.sm_90/uniform:rows=2,cols=4000000,density=0,seed=1/near-one/n=4096",
            "dense operand",
        ),
    ] {
        let (code, out, err) = golden(&["replay", line]);
        assert_eq!((code, out.as_str()), (2, ""), "{line}");
        assert!(err.contains(wanted), "{line}: {err}");
    }
    for arguments in [&[][..], &["replay"], &["compare"], &["nonsense"], &["table", "nothing"]] {
        assert_eq!(golden(arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn list_and_table_show_what_is_pinned() {
    let (code, out, _) = golden(&["list"]);
    assert_eq!((code, out.lines().count()), (0, 57));
    let (code, out, _) = golden(&["table", "cuda-core"]);
    assert_eq!((code, out.trim_end()), (0, reviewed("cuda-core").trim_end()));
}

#[test]
fn hardware_is_as_good_as_the_model_on_committed_recordings() {
    let folder = silicon();
    let (code, out, err) = golden(&["compare", folder.to_str().expect("UTF-8")]);
    assert_eq!(code, 0, "{out}{err}");
    let entries = std::fs::read_dir(folder).expect("committed");
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|e| e == "bin");
    let recordings = entries.map(|e| e.expect("readable").path()).filter(is_recording).count();
    assert!(recordings >= 19, "{recordings}");
    assert!(out.contains(&format!("{recordings} recordings, 0 skipped, 0 findings")), "{out}");
    let lines = out.lines().filter(|line| line.starts_with("h200_"));
    let mut compared = 0;
    for line in lines {
        let numbers: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(numbers[1], numbers[2], "{line}");
        let share: f64 = numbers[1].rsplit(' ').next().and_then(|s| s.parse().ok()).expect("a share");
        assert!(share > 0.05 && share < 1.0, "{line}");
        compared += 1;
    }
    assert_eq!(compared, recordings);
}

#[test]
fn hardware_that_is_worse_or_leaves_the_bound_is_a_finding() {
    let file = "h200_f16_k16.bin";
    let bytes = std::fs::read(silicon().join(file)).expect("a recording");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    let compare = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        golden(&["compare", folder.path().to_str().expect("UTF-8")])
    };
    assert_eq!(compare(&bytes).0, 0);
    // The section of D is the last third of 4 + 2 + 4 + 4 registers; its first warp is near one.
    let d = bytes.len() / 14 * 10;
    let mut damaged = bytes.clone();
    damaged[d + 2] ^= 0x40;
    let (code, out, _) = compare(&damaged);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("FAILS h200_f16_k16.bin")
            && out.contains("outside the bound, first at warp 0, row 0, column 0"),
        "{out}"
    );
    // A few last places are within the bound, and yet more than the model is ever off.
    let word = u32::from_le_bytes(bytes[d..d + 4].try_into().expect("four bytes"));
    let off_by = |places: u32| {
        let mut damaged = bytes.clone();
        damaged[d..d + 4].copy_from_slice(&(word + places).to_le_bytes());
        compare(&damaged)
    };
    let (_, out, _) = (0..20)
        .map(|power| off_by(1 << power))
        .find(|found| found.0 == 1)
        .expect("some of them are too many");
    assert!(out.contains("above the model's") && !out.contains("outside the bound"), "{out}");
    // An infinity from finite operands.
    let mut damaged = bytes.clone();
    damaged[d..d + 4].copy_from_slice(&f32::INFINITY.to_bits().to_le_bytes());
    let (code, out, _) = compare(&damaged);
    assert!(code == 1 && out.contains("infinite or NaN from finite operands"), "{out}");
    // Ampere's unit aligns to one bit less: what Hopper returns is better than that, but not the other way around.
    std::fs::write(&path, &bytes).expect("written");
    let (code, out, _) = golden(&["compare", folder.path().to_str().expect("UTF-8"), "sm_80"]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn folders_without_recordings_and_files_that_are_none_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("UTF-8").to_owned();
    let (code, _, err) = golden(&["compare", &path]);
    assert!(code == 2 && err.contains("no recording"), "{err}");
    std::fs::write(folder.path().join("notes.bin"), [0; 8]).expect("written");
    assert_eq!(golden(&["compare", &path]).0, 2);
    std::fs::copy(silicon().join("h200_tf32_k8.bin"), folder.path().join("h200_tf32_k8.bin"))
        .expect("copied");
    let (code, out, _) = golden(&["compare", &path]);
    assert!(
        code == 0 && out.contains("skipped notes.bin") && out.contains("1 recordings, 1 skipped"),
        "{out}"
    );
    let (code, _, err) = golden(&["compare", "/nowhere/at/all"]);
    assert!(code == 2 && err.contains("cannot be read"), "{err}");
    assert_eq!(golden(&["compare", &path, "sm_91"]).0, 2);
}
