//! The copy of the tree that holds the mutants, and its build. Nothing in the tree itself is changed.

use crate::parts::Part;
use crate::plan::{Binary, Chosen, Plan, State};
use crate::schemata::{self, Edit, Made};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::process::Command;

const TREE: &str = "target/mutants/tree";
const SWITCH: &str = include_str!("../switch.rs");
/// The crates whose files may have mutants.
const ROOTS: [&str; 3] = ["oracle/types/src/lib.rs", "oracle/src/lib.rs", "conformance/core/src/lib.rs"];

/// Where a mutant's text lies in a file of the copy.
type Places = BTreeMap<String, Vec<(u32, Range<usize>, usize)>>;

/// Makes the edits of each mutant that can be made; of the others, says why not.
pub fn edits(plan: &mut Plan) -> Result<BTreeMap<u32, Edit>> {
    let mut made = BTreeMap::new();
    let files: BTreeSet<String> = plan.mutants.iter().map(|m| m.mutant.file.clone()).collect();
    for file in files {
        let source = std::fs::read_to_string(&file).with_context(|| file.clone())?;
        let here: Vec<_> =
            plan.mutants.iter().filter(|m| m.mutant.file == file).map(|m| (m.number, &m.mutant)).collect();
        let found = schemata::make(&source, &here).with_context(|| file.clone())?;
        for chosen in plan.mutants.iter_mut().filter(|m| m.mutant.file == file) {
            match &found[&chosen.number] {
                Made::Edit(edit) => drop(made.insert(chosen.number, edit.clone())),
                Made::Constant => chosen.state = State::Constant,
                Made::Unviable => chosen.state = State::Unviable,
                Made::Unknown => chosen.state = State::NotMade,
            }
        }
    }
    Ok(made)
}

/// Copies what git would commit, with the edits of the mutants that are still in. A file that is as it was keeps its time, so that
/// cargo does not compile it again.
fn write(mutants: &[Chosen], edits: &BTreeMap<u32, Edit>) -> Result<Places> {
    let listed = Command::new("git").args(["ls-files", "-co", "--exclude-standard", "-z"]).output()?;
    let mut places = Places::new();
    for file in String::from_utf8(listed.stdout)?.split('\0').filter(|f| Path::new(f).is_file()) {
        let mut bytes = std::fs::read(file).with_context(|| file.to_owned())?;
        let here = mutants.iter().filter(|m| m.mutant.file == file && m.state == State::Made);
        let here: Vec<(u32, Edit)> =
            here.filter_map(|m| Some((m.number, edits.get(&m.number)?.clone()))).collect();
        if !here.is_empty() {
            let mutated = schemata::apply(&String::from_utf8(bytes)?, &here);
            bytes = mutated.text.into_bytes();
            places.insert(file.to_owned(), mutated.places);
        }
        if ROOTS.contains(&file) {
            bytes.extend_from_slice(SWITCH.as_bytes());
        }
        let copy = Path::new(TREE).join(file);
        if std::fs::read(&copy).ok().as_deref() != Some(&bytes) {
            std::fs::create_dir_all(copy.parent().context("a file in a folder")?)?;
            std::fs::write(&copy, bytes)?;
            std::fs::set_permissions(&copy, std::fs::metadata(file)?.permissions())?;
        }
    }
    Ok(places)
}

/// Builds the tests of these parts; what the compiler refuses is taken out until it refuses nothing.
pub fn build(plan: &mut Plan, parts: &[&'static Part], edits: &BTreeMap<u32, Edit>) -> Result<()> {
    let wanted: BTreeSet<_> = parts.iter().flat_map(|p| p.binaries).copied().collect();
    for round in 1..40 {
        let places = write(&plan.mutants, edits)?;
        let messages = cargo(&wanted)?;
        let refused: BTreeSet<u32> = messages.iter().flat_map(|m| blamed(m, &places)).collect();
        let errors: Vec<&Value> = messages.iter().filter(|m| m["message"]["level"] == "error").collect();
        println!(
            "ci: round {round}: {} errors of the compiler, {} mutants taken out",
            errors.len(),
            refused.len()
        );
        if errors.is_empty() {
            plan.binaries = binaries(&messages, &wanted);
            if plan.binaries.len() < wanted.len() {
                bail!("cargo built {} of {} binaries of tests", plan.binaries.len(), wanted.len());
            }
            return Ok(());
        }
        if refused.is_empty() {
            bail!(
                "no mutant is to blame for: {}",
                errors.iter().map(|e| e["message"]["rendered"].to_string()).collect::<String>()
            );
        }
        plan.mutants
            .iter_mut()
            .filter(|m| refused.contains(&m.number))
            .for_each(|m| m.state = State::Unviable);
    }
    bail!("the compiler still refuses mutants after 40 rounds")
}

fn cargo(wanted: &BTreeSet<(&str, &str)>) -> Result<Vec<Value>> {
    let mut command = Command::new("cargo");
    command.current_dir(TREE).env("CARGO_TARGET_DIR", std::env::current_dir()?.join("target/mutants/build"));
    command.args(["test", "--no-run", "--no-fail-fast", "--message-format=json", "--lib"]);
    for (package, target) in wanted {
        command.args(["--package", package]);
        if package.replace('-', "_") != *target {
            command.args(["--test", target]);
        }
    }
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    let lines = output.stdout.split(|&b| b == b'\n').filter(|line| line.starts_with(b"{"));
    lines.map(|line| Ok(serde_json::from_slice(line)?)).collect()
}

/// The mutants that an error of the compiler is about: those whose own text it names; failing that, the innermost around it.
fn blamed(message: &Value, places: &Places) -> Vec<u32> {
    if message["message"]["level"] != "error" {
        return Vec::new();
    }
    let mut spans = Vec::new();
    collect(&message["message"], &mut spans);
    let mut own = Vec::new();
    let mut around: Option<(usize, u32)> = None;
    for (file, start, end) in spans {
        for (number, prefix, outer) in places.get(&file).into_iter().flatten() {
            if start < prefix.end && end > prefix.start {
                // What is as long as a function tells nothing.
                if end - start <= (outer - prefix.start) + 200 {
                    own.push((prefix.len(), *number));
                }
            } else if start >= prefix.start && end <= *outer {
                around = around
                    .min(Some((outer - prefix.start, *number)))
                    .or(Some((outer - prefix.start, *number)));
            }
        }
    }
    if own.is_empty() {
        return around.map(|(_, number)| number).or_else(|| before(message, places)).into_iter().collect();
    }
    own.into_iter().map(|(_, number)| number).collect()
}

/// The last mutant before what an error is about: a `return` of another type shows in what follows it.
fn before(message: &Value, places: &Places) -> Option<u32> {
    let mut spans = Vec::new();
    collect(&message["message"], &mut spans);
    let (file, start, _) = spans.first()?;
    let earlier = places.get(file)?.iter().filter(|(_, prefix, _)| prefix.start < *start);
    earlier.max_by_key(|(_, prefix, _)| prefix.start).map(|(number, ..)| *number)
}

fn collect(message: &Value, spans: &mut Vec<(String, usize, usize)>) {
    for span in message["spans"].as_array().into_iter().flatten() {
        let at = |name: &str| span[name].as_u64().unwrap_or(0) as usize;
        spans.push((span["file_name"].as_str().unwrap_or("").to_owned(), at("byte_start"), at("byte_end")));
    }
}

fn binaries(messages: &[Value], wanted: &BTreeSet<(&str, &str)>) -> Vec<Binary> {
    let mut found = Vec::new();
    for message in messages.iter().filter(|m| m["profile"]["test"] == true && m["executable"].is_string()) {
        let id = message["package_id"].as_str().unwrap_or("");
        let target = message["target"]["name"].as_str().unwrap_or("");
        let manifest = message["manifest_path"].as_str().unwrap_or("");
        for (package, name) in wanted {
            let of_package = id.contains(&format!("{package}@"))
                || std::fs::read_to_string(manifest)
                    .is_ok_and(|text| text.contains(&format!("name = \"{package}\"")));
            if *name == target && of_package {
                let folder =
                    Path::new(manifest).parent().unwrap_or(Path::new(".")).to_string_lossy().into_owned();
                let path = message["executable"].as_str().unwrap_or("").to_owned();
                found.push(Binary { package: (*package).to_owned(), name: target.to_owned(), path, folder });
            }
        }
    }
    found
}
