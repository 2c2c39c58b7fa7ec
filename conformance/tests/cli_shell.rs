//! What the command does for shells and people at them: completions, manual pages, JSON, dry runs, runs that end early, mistyped names.

use crate::cli;

use cli::{Ran, run_in};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn run(args: &[&str]) -> Ran {
    run_in(&std::env::temp_dir(), args)
}

#[test]
fn every_shell_has_its_completions_and_every_command_its_page() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, 0, "{shell}: {}", ran.err);
        assert!(ran.out.contains("fail-fast") && ran.out.contains("replay"), "{shell}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ran = run_in(folder.path(), &["man", "pages"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for page in ["conformance.1", "conformance-run.1", "conformance-ptx-check.1"] {
        let text = std::fs::read_to_string(folder.path().join("pages").join(page)).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
}

/// Each table says the same as text and as JSON.
#[test]
fn tables_are_json_where_that_is_asked_for() {
    for table in ["backends", "choices", "contracts", "embedded", "kernels", "keys", "sources", "values"] {
        let (text, json) = (run(&["list", table]), run(&["list", table, "--json"]));
        assert_eq!((text.code, json.code), (0, 0), "{table}: {}{}", text.err, json.err);
        let rows: Vec<serde_json::Value> = serde_json::from_str(&json.out).expect("an array");
        assert!(rows.len() > 3, "{table}: {}", json.out);
        for row in &rows {
            let name = row["name"].as_str().expect("each row has a name");
            assert!(text.out.contains(name), "{table}: {name}");
        }
    }
}

#[test]
fn a_replay_is_json_where_that_is_asked_for() {
    let line = "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=7,density=0.4,seed=1/values=wide,3/beta=1";
    let ran = run(&["replay", line, "--backend", "portable", "--json"]);
    let records: serde_json::Value = serde_json::from_str(&ran.out).expect("records");
    assert_eq!((ran.code, records[0]["case"].as_str()), (0, Some(line)), "{}", ran.out);
}

/// What a script needs of a run, a merge and a benchmark, and nothing else on standard output.
#[test]
fn what_came_of_it_is_json_where_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let read = |args: &[&str], code: i32| -> serde_json::Value {
        let ran = run_in(folder.path(), args);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
    };
    let run = |shard: &str, folder: &str, code: i32| {
        let named = ["run", "--backend", "portable", "--contract", "transpose.csr.f64", "--shard", shard];
        read(&[&named[..], &["--report", folder, "--json"]].concat(), code)
    };
    let first = run("1/2", "a", 0);
    assert_eq!((&first["outcome"], &first["findings"]), (&"clean".into(), &0.into()), "{first}");
    assert!(first["files"].as_array().expect("files").contains(&"a/report.json".into()), "{first}");
    let second = run("2/2", "b", 0);
    let merged = read(&["merge", "both", "a", "b", "--json"], 0);
    let cases = |of: &serde_json::Value| of["backends"][0]["cases"].as_u64().expect("a number");
    assert_eq!(cases(&merged), cases(&first) + cases(&second));
    assert_eq!(merged["backends"][0]["verdicts"]["exact"], cases(&merged));

    let subject = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    let wrong = ["run", "--exec", &subject, "--contract", "transpose.csr.f64", "--no-shrink", "--json"];
    let wrong = read(&wrong, 1);
    assert_eq!((&wrong["outcome"], &wrong["exit_code"]), (&"findings".into(), &1.into()), "{wrong}");
    let replay = wrong["first_findings"][0]["replay"].as_str().expect("a command");
    assert!(replay.starts_with("conformance replay 'transpose.csr.f64/"), "{replay}");

    let bench = ["bench", "--kernel", "spmv_csr_f64_f64_f64_f64__portable", "--synth", "embedded:karate"];
    let bench =
        run_in(folder.path(), &[&bench[..], &["--peers", "none", "--time", "0.01", "--json"]].concat());
    assert_eq!(bench.code, 0, "{}{}", bench.out, bench.err);
    let figures: serde_json::Value = serde_json::from_str(&bench.out).expect("nothing but figures");
    assert!(figures.is_object(), "{figures}");
}

/// Of a kernel that was not named nothing was judged, and the built-in backends were "exact".
#[test]
fn a_replay_that_names_no_backend_says_how_to_name_ones_own() {
    let line = "transpose.csr.f64/embedded:karate/values=ones,0";
    let ran = run(&["replay", line]);
    assert!(
        ran.out.ends_with("only built-in backends were asked: name yours with --plugin LIB or --exec CMD\n"),
        "{}",
        ran.out
    );
    let subject = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    for named in [["--backend", "portable"], ["--exec", &subject]] {
        let ran = run(&["replay", line, named[0], named[1]]);
        assert!(!ran.out.contains("only built-in"), "{}{}", ran.out, ran.err);
    }
    let ran = run(&["replay", "spmv.csr.f64_f64_f64_f64/embedded:karate/values=ones,0"]);
    assert!(ran.out.contains("\n  T0: only the exact result is right; "), "{}", ran.out);
    serde_json::from_str::<serde_json::Value>(&run(&["replay", line, "--json"]).out)
        .expect("nothing but records");
}

#[test]
fn a_dry_run_counts_cases_and_writes_nothing() {
    let ran = run(&["run", "--backend", "portable", "--contract", "transpose.csr.f64", "--dry-run"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let real = run(&["run", "--backend", "portable", "--contract", "transpose.csr.f64"]);
    let number = |text: &str| text.split_whitespace().next().expect("a number").to_owned();
    let last = real.out.lines().last().expect("a summary");
    assert!(last.contains(&format!("clean: {} cases", number(&ran.out))), "{}{last}", ran.out);
}

#[test]
fn a_quiet_run_prints_its_last_line() {
    let ran = run(&["run", "--backend", "portable", "--contract", "transpose.csr.f64", "--quiet"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.starts_with("clean: ") && ran.out.lines().count() == 1, "{}", ran.out);
}

#[test]
fn a_run_that_is_to_stop_at_a_finding_prints_its_line_and_keeps_what_it_knew() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    let asked = ["run", "--contract", "transpose.csr.f64", "--exec", &subject, "--timeout", "7.5"];
    let ran = run_in(folder.path(), &[&asked[..], &["--fail-fast", "--report", "out"]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    // Found by a new user: it did not say what was found, how a report comes of it, nor the time that the program was given.
    for part in [
        "stopped at the first finding: hostile: crashed: ",
        "\n  conformance replay 'transpose.csr.f64/",
        " --timeout 7.5\n",
        "the same command with --resume and without --fail-fast",
    ] {
        assert!(ran.err.contains(part), "no {part:?} in {}", ran.err);
    }
    assert!(folder.path().join("out/journal.jsonl").exists());
    assert!(!folder.path().join("out/report.json").exists(), "half a report would look like a whole one");
}

#[test]
fn a_name_that_is_nearly_one_is_named() {
    let ran = run(&["run", "--backend", "portabel"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("; did you mean \"portable\"?"), "{}", ran.err);
    assert!(!run(&["run", "--backend", "xyz"]).err.contains("did you mean"));
    let contract = "spmm.csr.f32_f32_f32_f32";
    let replayed = |rest: &str| run(&["replay", &format!("{contract}/{rest}")]);
    for (ran, name) in [
        (run(&["run", "--contracts", "spmm.crs.f32_f32_f32_f32"]), contract),
        (run(&["run", "--contracts", "spmm.crs.f32*"]), "spmm.csr.f32*"),
        (
            run(&["bench", "--kernel", "spmm_crs_f64_f64_f64_f64__portable"]),
            "spmm_csr_f64_f64_f64_f64__portable",
        ),
        (run(&["replay", "spmm.crs.f32_f32_f32_f32/rmat:scale=8/values=wide,3"]), contract),
        (replayed("rmatt:scale=8/values=wide,3"), "rmat"),
        (replayed("rmat:scale=8/values=wode,3"), "wide"),
        (replayed("rmat:scale=8/values=wide,3/alhpa=2"), "alpha"),
        (replayed("embedded:karat/values=wide,3"), "karate"),
    ] {
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains(&format!("did you mean \"{name}")), "{name}: {}", ran.err);
    }
    let short = run(&["run", "--contracts", "spmv.csr.f32"]);
    assert!(short.err.contains("those that begin so are \"spmv.csr.f32_*\""), "{}", short.err);
    let bare = replayed("file:bad.mtx/values=wide,3");
    assert!(bare.code == 2 && bare.err.contains("in brackets: file:[bad.mtx]"), "{}", bare.err);
    // What is wrong otherwise has no other name.
    for rest in ["rmat:scale=8/values=wide,x", "rmat:scale=8/values=wide,3/n=x", "rmat:scale=x/values=wide,3"]
    {
        let ran = replayed(rest);
        assert!(ran.code == 2 && !ran.err.contains("did you mean"), "{}", ran.err);
    }
}

/// One that never said hello was waited for in silence, for a minute.
#[cfg(unix)]
#[test]
fn a_program_that_does_not_say_hello_soon_is_told_of() {
    let ran = run(&["run", "--exec", "sh -c 'exec sleep 7'"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let (first, rest) = ran.err.split_once('\n').expect("two lines");
    assert!(first.ends_with("not a word yet of what it supports; it has 60 s for that"), "{first}");
    assert!(rest.contains("without an answer"), "{rest}");
}

/// Ctrl-C says how the run goes on, and so does a run that a scheduler ends: on SIGTERM it went without a word.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_it_goes_on() {
    ended_by("-INT", 130);
    ended_by("-TERM", 143);
}

#[cfg(unix)]
fn ended_by(signal: &str, code: i32) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["run", "--backend", "portable", "--tier", "full", "--jobs", "1", "--report", "out"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    let planned = lines.next().expect("the number of cases");
    assert!(planned.contains(" case lines on "), "{planned}");
    assert!(planned.split(' ').next().is_some_and(|number| number.contains(',')), "{planned}");
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    let said: Vec<String> = lines.collect();
    assert_eq!(child.wait().expect("it ends").code(), Some(code), "{said:?}");
    assert!(said.last().is_some_and(|line| line.ends_with("with --resume goes on")), "{said:?}");
    assert!(folder.path().join("out/journal.jsonl").exists());
}
