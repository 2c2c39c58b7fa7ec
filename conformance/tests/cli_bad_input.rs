//! Bad input from the command line: exit 2, the file and the defect named, never a panic, and nothing lost.

use crate::cli;

use cli::{Ran, report_value, run_in};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs it and expects exit 2 with a message that holds each of `words`.
fn refused_in(folder: &Path, args: &[&str], words: &[&str]) -> Ran {
    let ran = run_in(folder, args);
    assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{args:?} says nothing of {word:?}: {}", ran.err);
    }
    ran
}

const HEAD: &str = "%%MatrixMarket matrix coordinate real general\n";

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

/// File name, content, and words that its refusal must hold.
fn bad_files() -> Vec<(&'static str, Vec<u8>, &'static [&'static str])> {
    let text = |body: &str| format!("{HEAD}{body}").into_bytes();
    let junk: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut cut = gz(&text("3 3 2\n1 1 1\n3 3 1\n"));
    cut.truncate(cut.len() - 12);
    vec![
        ("truncated.mtx", text("3 3 2\n1 1 1.0\n"), &["1 entries found, 2 promised"]),
        ("oversized.mtx", text("3 3 1\n1 1 1.0\n2 2 1.0\n"), &["line 4"]),
        ("short_line.mtx", text("3 3 1\n1 1\n"), &["line 3"]),
        ("row_out.mtx", text("3 3 1\n4 1 1.0\n"), &["line 3", "4"]),
        ("column_zero.mtx", text("3 3 1\n1 0 1.0\n"), &["line 3"]),
        ("huge.mtx", text("9999999999999999999 9999999999999999999 1\n1 1 1.0\n"), &["line 2"]),
        ("huge_count.mtx", text("3 3 10000000000000000000\n1 1 1.0\n"), &["line 2"]),
        ("count_past_shape.mtx", text("3 3 4000000000\n1 1 1.0\n"), &["--judge-memory"]),
        ("words.mtx", text("three 3 1\n1 1 1.0\n"), &["line 2", "three"]),
        ("word_value.mtx", text("3 3 1\n1 1 one\n"), &["line 3", "one"]),
        ("negative.mtx", text("-3 3 1\n1 1 1.0\n"), &["line 2"]),
        ("no_size.mtx", HEAD.as_bytes().to_vec(), &["size line"]),
        ("empty.mtx", Vec::new(), &["the file is empty"]),
        ("banner.mtx", b"hello\n3 3 0\n".to_vec(), &["line 1", "hello"]),
        (
            "field.mtx",
            b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n".to_vec(),
            &["complex"],
        ),
        ("junk.mtx", junk.clone(), &["line 1"]),
        ("junk.mtx.gz", junk.clone(), &["not gzip data"]),
        ("junk_inside.mtx.gz", gz(&junk), &["line 1"]),
        ("cut.mtx.gz", cut, &["cut short or corrupt"]),
        ("junk.smtx", junk, &["line 1"]),
        ("short.smtx", b"2, 2, 3\n0 1 3\n0 1\n".to_vec(), &["line"]),
        ("matrix.txt", text("1 1 0\n"), &["ending"]),
    ]
}

#[test]
fn every_bad_file_is_refused_by_every_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content, words) in bad_files() {
        std::fs::write(folder.path().join(name), content).expect("written");
        let case = format!("spmm.csr.f64_f64_f64_f64/file:[{name}]/values=own,1");
        for args in [
            vec!["inspect", name],
            vec!["run", "--matrix", name, "--ops", "spmv"],
            vec!["replay", &case],
            vec!["explain", &case],
        ] {
            let mut expected = words.to_vec();
            expected.push(name);
            let ran = refused_in(folder.path(), &args, &expected);
            let line = ran.err.lines().find(|l| l.contains(name)).expect("named");
            assert_eq!(line.matches(words[0]).count(), 1, "{args:?}: said more than once: {}", ran.err);
            assert!(
                ran.err.is_ascii() && ran.err.len() < 2000,
                "{args:?}: junk in the message: {:?}",
                ran.err
            );
        }
    }
}

#[test]
fn folders_and_missing_files_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path();
    std::fs::create_dir(at.join("folder.mtx")).expect("made");
    std::fs::create_dir(at.join("none")).expect("made");
    std::fs::write(at.join("none/readme.txt"), "no matrix").expect("written");
    refused_in(at, &["run", "--matrix", "none"], &["none", "no .mtx or .smtx file"]);
    refused_in(at, &["inspect", "none"], &["none", "not a regular file"]);
    refused_in(at, &["inspect", "folder.mtx"], &["folder.mtx", "not a regular file"]);
    refused_in(at, &["run", "--matrix", "absent.mtx"], &["absent.mtx", "No such file"]);
    refused_in(at, &["inspect", "absent.mtx"], &["absent.mtx", "No such file"]);
    refused_in(at, &["inspect", "embedded:absent"], &["absent"]);
    refused_in(at, &["inspect", "nosuch:seed=1"], &["nosuch"]);
    refused_in(at, &["inspect", "embeded:karate"], &["did you mean \"embedded\"?"]);
    for path in ["z:y.mtx", "run-12:30/", "/tmp/absent:x"] {
        refused_in(at, &["run", "--matrix", path], &[path, "No such file"]);
    }
    refused_in(at, &["inspect", "unifrom:rows=3,cols=3"], &["did you mean \"uniform\"?"]);
    refused_in(
        at,
        &["run", "--matrix", "embedded:karat"],
        &["--matrix embedded:karat", "did you mean \"karate\"?"],
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere.mtx", at.join("dangling.mtx")).expect("linked");
        refused_in(at, &["inspect", "dangling.mtx"], &["dangling.mtx", "No such file"]);
        refused_in(at, &["inspect", "/dev/null"], &["/dev/null"]);
    }
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let at = std::env::temp_dir();
    let refused = |args: &[&str], words: &[&str]| drop(refused_in(&at, args, words));
    refused(&["run", "--backend", "nosuch"], &["nosuch", "portable", "sprs", "nalgebra-sparse"]);
    refused(&["run", "--ops", "nosuch"], &["nosuch", "spmm"]);
    refused(&["run", "--contracts", "spmm.nosuch.*"], &["spmm.nosuch.*", "list contracts"]);
    refused(&["self-test", "--contracts", "spmm.nosuch.*"], &["spmm.nosuch.*", "list contracts"]);
    refused(&["self-test", "--only", "nosuch"], &["nosuch", "in its name"]);
    let elsewhere = ["self-test", "--contracts", "transpose.csr.f32", "--only", "term: only one"];
    refused(&elsewhere, &["term: only one", "concerns cases of transpose.csr.f32"]);
    refused(&["run", "--precisions", "f65"], &["f65", "f64"]);
    refused(&["run", "--tier", "nosuch"], &["nosuch", "quick"]);
    refused(&["run", "--seed", "-1"], &["-1"]);
    refused(&["run", "--jobs", "many"], &["many"]);
    refused(&["run", "--ops", "sddmm", "--precisions", "f32", "--nosuch"], &["--nosuch"]);
    refused(&["list", "nosuch"], &["nosuch", "contracts"]);
    refused(&["nosuch"], &["nosuch"]);
    refused(&[], &["Usage"]);
    for command in ["replay", "explain"] {
        refused(&[command], &["CASE"]);
        refused(&[command, "hello"], &["hello", "fewer than three parts"]);
        refused(
            &[command, "spmm.csr.f64/uniform:seed=1/values=ones,1"],
            &["unknown contract", "spmm.csr.f64"],
        );
        refused(
            &[command, "spmm.csr.f64_f64_f64_f64/uniform:seed=1/values=ones,1/n=9999999"],
            &["n=9999999", "65536"],
        );
        refused(&[command, "spmv.csr.f64_f64_f64_f64/uniform:seed=x/values=ones,1"], &["seed"]);
        let good = "spmv.csr.f64_f64_f64_f64/uniform:seed=1/values=ones,1";
        refused(&[command, good, "--backend", "nosuch"], &["nosuch", "portable"]);
    }
    let good = "spmv.csr.f64_f64_f64_f64/uniform:seed=1/values=ones,1";
    for at in ["1", "a,b", "1,2,3", "", "99999,0"] {
        refused(&["explain", good, "--at", at, "--backend", "portable"], &["at"]);
    }
}

#[test]
fn a_report_folder_that_is_a_file_is_refused_before_the_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("taken"), "").expect("written");
    let ran = refused_in(folder.path(), &["run", "--ops", "transpose", "--report", "taken"], &["taken"]);
    assert!(ran.out.is_empty(), "{}", ran.out);
    refused_in(folder.path(), &["run", "--ops", "transpose", "--report", "taken/below"], &["taken/below"]);
    let svg = ["inspect", "embedded:karate", "--svg", "absent/x.svg"];
    refused_in(folder.path(), &svg, &["absent/x.svg"]);
}

/// It said "the options select no case" and nothing of the two that do not go together.
#[test]
fn options_that_select_nothing_are_told_apart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let none = |args: &[&str], words: &[&str]| {
        let all = [&["the options select no case"], words].concat();
        refused_in(folder.path(), &[&["run", "--backend"], args].concat(), &all);
    };
    let asked = "spmm.nm.f32_f32_f32_f32 asked for; iops supports only ";
    none(&["iops", "--contracts", "spmm.nm.f32*"], &[asked]);
    none(&["iops", "--contracts", "spmm.nm.f32*", "--dry-run"], &[asked]);
    let apart = "no contract fits --ops and --contracts together";
    none(&["portable", "--contracts", "spmm.csr.f32*", "--ops", "sddmm"], &[apart]);
}

#[test]
fn a_source_is_judged_like_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let karate = ["--matrix", "embedded:karate", "--matrix", "uniform:rows=9,cols=7,density=0.4,seed=1"];
    let of = ["run", "--backend", "portable", "--ops", "spmv", "--allow-thin", "--report", "report"];
    let ran = run_in(folder.path(), &[&of[..], &karate].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let text = std::fs::read_to_string(folder.path().join("report/report.json")).expect("written");
    let report = report_value(&text).expect("a report");
    assert_eq!(report["plan"]["matrices"], serde_json::json!([karate[1], karate[3]]));
}

/// Found by a reader: a source too large to be made was passed over, with exit code 0.
#[test]
fn a_source_that_cannot_be_made_costs_only_itself_and_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let named = ["--matrix", "embedded:karate", "--matrix", "rmat:scale=31"];
    let run = [&["run", "--backend", "portable", "--ops", "spmv", "--allow-thin"], &named[..]].concat();
    let ran = refused_in(folder.path(), &run, &["1 of the matrices could not be read or made", "scale=31"]);
    assert!(ran.out.contains("cases run"), "{}", ran.out);
}

/// Nothing is lost: the good matrices of a folder are judged and reported although others can't be read.
#[test]
fn bad_files_among_good_ones_cost_only_themselves() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = folder.path();
    std::fs::create_dir(at.join("m")).expect("made");
    std::fs::write(at.join("m/a_good.mtx"), format!("{HEAD}3 4 3\n1 1 1.5\n2 4 -2\n3 2 0.25\n"))
        .expect("written");
    std::fs::write(at.join("m/b_bad.mtx"), format!("{HEAD}3 3 2\n1 1 1\n")).expect("written");
    std::fs::write(at.join("m/c_bad.mtx.gz"), "no gzip").expect("written");
    std::fs::write(at.join("m/d_good.mtx"), format!("{HEAD}2 2 1\n2 2 8\n")).expect("written");
    let words = ["2 of the matrices", "b_bad.mtx", "c_bad.mtx.gz", "1 entries found", "gzip"];
    let ran = refused_in(at, &["run", "--matrix", "m", "--report", "report"], &words);
    assert!(!ran.err.contains("good"), "{}", ran.err);
    let text = std::fs::read_to_string(at.join("report/report.json")).expect("written all the same");
    let report = report_value(&text).expect("a report");
    let cases = report["cases"].as_array().expect("an array");
    let count = |file: &str, not_run: bool| {
        let of = |c: &&serde_json::Value| c["case"].as_str().is_some_and(|line| line.contains(file));
        cases.iter().filter(of).filter(|c| (c["verdict"]["kind"] == "not_run") == not_run).count()
    };
    for file in ["a_good.mtx", "d_good.mtx"] {
        assert!(count(file, false) > 50 && count(file, true) == 0, "{file}: {}", count(file, true));
    }
    for file in ["b_bad.mtx", "c_bad.mtx.gz"] {
        assert!(count(file, true) > 50 && count(file, false) == 0, "{file}");
    }
    let specs: Vec<&str> =
        report["sources"].as_array().expect("an array").iter().filter_map(|s| s["spec"].as_str()).collect();
    assert_eq!(specs, ["file:[m/a_good.mtx]", "file:[m/d_good.mtx]"]);
    // Files that are given one by one behave alike.
    let each = ["run", "--matrix", "m/a_good.mtx", "--matrix", "m/b_bad.mtx", "--ops", "spmv"];
    let ran = refused_in(at, &each, &["1 of the matrices", "b_bad.mtx"]);
    assert!(ran.out.contains("cases run"), "{}", ran.out);
}

fn shared_malformed() -> Option<PathBuf> {
    let root = std::env::var_os("SPARSE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = root.join("data/malformed");
    if folder.join("MANIFEST.tsv").is_file() {
        return Some(folder);
    }
    let mut err = std::io::stderr();
    writeln!(err, "SKIPPED: all files of {}: no MANIFEST.tsv there; set SPARSE_SHARED", folder.display())
        .expect("stderr");
    None
}

#[test]
fn what_scipy_rejects_exits_2() {
    let Some(folder) = shared_malformed() else { return };
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("readable");
    let mut lines = manifest.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().expect("a header");
    let column = head.iter().position(|name| *name == "scipy_1.17.1_mmread").expect("SciPy's column");
    let mut refused = 0;
    for row in lines.filter(|row| row.len() > column) {
        let file = folder.join(row[0]);
        let ran = run_in(&folder, &["inspect", &file.display().to_string()]);
        assert!(
            ran.code == 0 || ran.code == 2 && ran.err.contains(row[0]),
            "{}: {}{}",
            row[0],
            ran.out,
            ran.err
        );
        if row[column].starts_with("REJECTS") {
            assert_eq!(ran.code, 2, "{}: SciPy says {}", row[0], row[column]);
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused}");
    println!("{refused} files that SciPy rejects are refused");
}

/// No threads were as many as there are cores, in silence.
#[test]
fn no_threads_are_no_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    refused_in(folder.path(), &["run", "--jobs", "0"], &["--jobs", "0"]);
}

/// A plug-in of this name, in a report without the built-in one, was taken for it.
#[test]
fn an_outsider_with_the_name_of_a_built_in_backend_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let served = format!("{} portable", env!("CARGO_BIN_EXE_hostile_subject"));
    let line = "transpose.csr.f64/embedded:karate/values=ones,0";
    let replay = ["replay", line, "--exec", &served];
    refused_in(folder.path(), &replay, &["\"portable\"", "built-in", "another name"]);
}

/// An empty report folder was left, and the next reader looked for a report in it.
#[test]
fn a_run_that_does_not_start_leaves_no_report_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("k.c"), "int x;").expect("written");
    let args = ["run", "--plugin", "k.c", "--report", "new/out"];
    refused_in(folder.path(), &args, &["--plugin k.c", "compile it first", "cc "]);
    assert!(!folder.path().join("new").exists());
    // What was there before stays, and so does what it holds.
    std::fs::create_dir_all(folder.path().join("old")).expect("made");
    refused_in(folder.path(), &["run", "--plugin", "k.c", "--report", "old"], &["compile it first"]);
    refused_in(folder.path(), &["bench", "--plugin", "k.c", "--report", "new/out"], &["compile it first"]);
    assert!(folder.path().join("old").exists() && !folder.path().join("new").exists());
}

/// What its host had to say of a library stood behind the host's own command and exit status.
#[test]
fn a_library_that_is_no_plug_in_is_refused_with_the_reason_first() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("k.so"), "no library").expect("written");
    let line = "transpose.csr.f64/embedded:karate/values=ones,0";
    let ran = refused_in(folder.path(), &["replay", line, "--plugin", "k.so"], &["--plugin k.so", "k.so"]);
    assert!(!ran.err.contains("exited with status") && !ran.err.contains("did not say"), "{}", ran.err);
}
