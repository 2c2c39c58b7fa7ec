//! The examples for schedulers, and the commands that bring parts together.

use super::same_lines;
use crate::cli::{Ran, run_in};
use sparse_conformance::report::Report;
use std::path::Path;
use std::process::Command;

/// A run of the program with a scheduler's variables.
fn with_variables(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_STEP_SUMMARY")
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// The options of `conformance run` and `conformance merge` in an example, after the shell has had its say.
fn calls(example: &str) -> Vec<Vec<String>> {
    let text = example.replace("\\\n", " ").replace('"', "");
    let call = |line: &str| {
        let at = line.find("conformance run").or_else(|| line.find("conformance merge"))?;
        let words = line[at..].split_whitespace().skip(1);
        let words = words.take_while(|word| *word != "||");
        Some(words.map(str::to_owned).collect())
    };
    text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(call).collect()
}

/// What the examples in `ci/shards` call is what the program takes: it runs, as the shard that the scheduler says.
#[test]
fn examples_for_schedulers_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/shards").join(name);
        std::fs::read_to_string(path).expect("checked in")
    };
    let slurm: &[(&str, &str)] = &[
        ("SLURM_ARRAY_TASK_ID", "2"),
        ("SLURM_ARRAY_TASK_COUNT", "8"),
        ("SLURM_ARRAY_TASK_MIN", "1"),
        ("SLURM_ARRAY_TASK_STEP", "1"),
        ("SLURM_CPUS_PER_TASK", "2"),
        ("OUT", "slurm"),
    ];
    let kubernetes: &[(&str, &str)] = &[("JOB_COMPLETION_INDEX", "1"), ("CONFORMANCE_SHARDS", "8")];
    for (name, variables, shard) in [("slurm.sh", slurm, "2/8"), ("kubernetes.yaml", kubernetes, "2/8")] {
        let text = read(name);
        let calls = calls(&text);
        let run = calls.iter().find(|call| call[0] == "run").expect("it runs shards");
        let mut args = run.clone();
        let valued = |args: &mut Vec<String>, option: &str, value: &str| {
            let at = args.iter().position(|a| a == option).expect("the example gives it");
            args[at + 1] = value.to_owned();
        };
        // Who is judged, which is the user's.
        args.retain(|a| a != "$@");
        for (variable, value) in variables {
            args.iter_mut().for_each(|a| *a = a.replace(&format!("${variable}"), value));
        }
        // The same call on a plan of a second.
        valued(&mut args, "--tier", "quick");
        valued(&mut args, "--report", name);
        args.extend(["--ops", "transpose", "--precisions", "f16"].map(str::to_owned));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = with_variables(folder.path(), variables, &args);
        assert_eq!(ran.code, 0, "{name}: {args:?}: {}", ran.err);
        let report = Report::read(&folder.path().join(name).join("report.json")).expect("written");
        assert_eq!(report.plan.shard.expect("a shard").to_string(), shard, "{name}");
        assert!(
            ran.err.contains(&format!("shard {shard} (")) && ran.err.contains(variables[0].0),
            "{}",
            ran.err
        );
    }
    // The number of shards stands twice in each, and must be the same.
    assert!(
        read("kubernetes.yaml").contains("completions: 8")
            && read("kubernetes.yaml").contains("value: \"8\"")
    );
    assert!(read("github.yml").contains("shard: [1, 2, 3, 4]") && read("github.yml").contains("}}/4"));
    // What it hands to the action is what the action takes.
    let action = read("../action/action.yml");
    for input in ["run", "shard", "merge"] {
        assert!(read("github.yml").contains(&format!("          {input}: ")), "{input}");
        assert!(
            action.contains(&format!("\n  {input}:\n")) && action.contains(&format!("inputs.{input} }}}}")),
            "{input}"
        );
    }
}

/// Shards by the program, merged by the program; findings make `merge` and `diff` exit with 1, misuse with 2.
#[test]
fn the_commands_merge_and_diff() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |args: &[&str]| run_in(folder.path(), args);
    let plan = ["run", "--ops", "transpose", "--precisions", "f16,f32", "--report"];
    let call = |report: &str, more: &[&str]| run(&[&plan[..], &[report], more].concat());
    assert_eq!(call("whole", &[]).code, 0);
    for shard in ["1/2", "2/2"] {
        let ran = call(&shard.replace('/', "of"), &["--shard", shard]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let merged = run(&["merge", "merged", "2of2", "1of2/report.json"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    same_lines(&folder.path().join("merged"), &folder.path().join("whole"));
    let same = run(&["diff", "whole", "merged"]);
    assert!(same.code == 0 && same.out == "no new finding\n", "{}", same.out);

    let expect = "[[expect]]\nbackend = \"sprs\"\ncontract = \"transpose.csr.*\"\nverdict = \"wrong\"\nreason = \"made up\"\nexpires = 2027-01-31\n";
    std::fs::write(folder.path().join("sprs.toml"), expect).expect("written");
    let dirty = call("dirty", &["--expectations", "sprs.toml", "--today", "2027-01-31"]);
    assert!(dirty.code == 1 && dirty.out.contains("pass that fail by this entry"), "{}", dirty.out);
    let expired = call("expired", &["--expectations", "sprs.toml", "--today", "2027-02-01"]);
    assert!(expired.code == 1 && expired.out.contains("expired on 2027-01-31"), "{}", expired.out);
    let worse = run(&["diff", "whole", "dirty"]);
    assert!(worse.code == 1 && worse.out.ends_with("1 new finding\n"), "{}", worse.out);
    let json = run(&["diff", "whole", "dirty", "--json", "--html", "page.html"]);
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("written");
    assert!(page.contains("1 new finding</h1>"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["new_findings"][0]["rule"], "unexpected-pass");

    for (args, part) in [
        (&["merge", "out", "1of2"][..], "one is missing: 2"),
        (&["merge", "out", "1of2", "1of2"], "both shard 1/2"),
        (&["merge", "out", "1of2", "whole"], "whole is no shard's report"),
        (&["merge", "out", "none"], "none"),
        (&["diff", "whole", "none"], "none"),
        (&["diff", "whole", "dirty", "--factor", "0.5"], "must be a number from 1 up"),
        (&["diff", "whole", "dirty", "--html", "no/page.html"], "cannot write no/page.html"),
        (&["run", "--shard", "3/2"], "no shard 3 of 2"),
        (&["run", "--shard", "two"], "is no shard"),
        (&["run", "--resume"], "--report"),
        (&["run", "--expectations", "none.toml"], "none.toml"),
        (&["run", "--today", "tomorrow"], "tomorrow"),
    ] {
        let ran = run(args);
        assert!(ran.code == 2 && ran.err.contains(part), "{args:?}: {}", ran.err);
    }
    for (variables, part) in
        [(&[][..], "no scheduler has said"), (&[("JOB_COMPLETION_INDEX", "1")], "CONFORMANCE_SHARDS is not")]
    {
        let ran = with_variables(folder.path(), variables, &["run", "--shard", "auto"]);
        assert!(ran.code == 2 && ran.err.contains(part), "{}", ran.err);
    }
}

#[test]
fn the_step_summary_is_appended_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("summary.md");
    let args = ["run", "--ops", "transpose", "--precisions", "f16", "--github"];
    let ran = with_variables(folder.path(), &[], &args);
    assert!(ran.code == 2 && ran.err.contains("GITHUB_STEP_SUMMARY is not set"), "{}", ran.err);
    std::fs::write(&file, "before\n").expect("written");
    let path = file.to_str().expect("UTF-8");
    let ran = with_variables(folder.path(), &[("GITHUB_STEP_SUMMARY", path)], &args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(&file).expect("there");
    assert!(text.starts_with("before\n# Sparse conformance: clean"), "{text}");
    std::fs::write(&file, vec![b' '; 1 << 20]).expect("written");
    let ran = with_variables(folder.path(), &[("GITHUB_STEP_SUMMARY", path)], &args);
    assert!(ran.code == 2 && ran.err.contains("is full"), "{}", ran.err);
}
