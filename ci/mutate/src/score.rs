//! The score: docs/mutants.json, figures and survivors of each part.

use crate::plan::{Plan, State};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const FILE: &str = "docs/mutants.json";
/// Where a part keeps the explained survivors of samples before the last one.
const EARLIER: &str = "survivors_of_earlier_samples";

fn read() -> Result<Map<String, Value>> {
    Ok(serde_json::from_slice(&std::fs::read(FILE)?)?)
}

fn survivors(score: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    score.values().flat_map(of_part)
}

fn of_part(part: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let listed = ["survivors", EARLIER].into_iter().filter_map(|list| part[list].as_array());
    listed.flatten().map(|s| (s["mutant"].as_str().unwrap_or(""), &s["why"]))
}

/// Names of the survivors that nobody has explained.
pub fn unexplained() -> Result<Vec<String>> {
    let score = read()?;
    Ok(survivors(&score)
        .filter(|(_, why)| why.as_str() == Some(""))
        .map(|(name, _)| name.to_owned())
        .collect())
}

/// Writes what a sample came to, part for part; explanations of survivors stay.
pub fn write(plan: &Plan, left_out: &[String]) -> Result<()> {
    let mut score = read().unwrap_or_default();
    let explained: BTreeMap<String, Value> =
        survivors(&score).map(|(name, why)| (name.to_owned(), why.clone())).collect();
    for (part, listed) in &plan.listed {
        let here: Vec<_> = plan.mutants.iter().filter(|m| m.part == *part).collect();
        let count = |states: &[State]| here.iter().filter(|m| states.contains(&m.state)).count();
        let alive = here.iter().filter(|m| matches!(m.state, State::Survived | State::Unreached));
        let survivors: Vec<Value> = alive
            .map(|m| json!({ "mutant": m.mutant.name, "why": explained.get(&m.mutant.name).cloned().unwrap_or_else(|| json!("")) }))
            .collect();
        let judged = |name: &str| here.iter().any(|m| m.mutant.name == name);
        let before = score.get(part).into_iter().flat_map(of_part);
        let earlier: Vec<Value> = before
            .filter(|(name, why)| !judged(name) && why.as_str() != Some(""))
            .map(|(name, why)| json!({ "mutant": name, "why": why }))
            .collect();
        let killed = count(&[State::Killed, State::TimedOut]);
        println!("ci: {part}: {killed} of {} killed", killed + survivors.len());
        let figures = json!({
            "sample": plan.drawn,
            "mutants": listed,
            "judged": killed + survivors.len(),
            "killed": killed,
            "killed_by_new_tests": 0,
            "timed_out": count(&[State::TimedOut]),
            "unviable": count(&[State::Unviable]),
            "in_constants": count(&[State::Constant]),
            "not_made": count(&[State::NotMade]),
            "out_of_time": count(&[State::Made]),
            "survivors": survivors,
            EARLIER: earlier,
        });
        score.insert(part.clone(), figures);
    }
    println!("ci: tests that judged no mutant: {left_out:#?}");
    save(&score)
}

/// Takes survivors that a new test kills from the score.
pub fn take_out_killed(plan: &Plan) -> Result<()> {
    let mut score = read()?;
    for chosen in plan.mutants.iter().filter(|m| matches!(m.state, State::Killed | State::TimedOut)) {
        let Some(part) = score.get_mut(&chosen.part) else { continue };
        if let Some(survivors) = part["survivors"].as_array_mut() {
            survivors.retain(|s| s["mutant"] != chosen.mutant.name.as_str());
        }
        for figure in ["killed", "killed_by_new_tests"] {
            part[figure] = json!(part[figure].as_u64().unwrap_or(0) + 1);
        }
    }
    save(&score)
}

fn save(score: &Map<String, Value>) -> Result<()> {
    let mut bytes = Vec::new();
    let indented = serde_json::ser::PrettyFormatter::with_indent(b" ");
    serde::Serialize::serialize(score, &mut serde_json::Serializer::with_formatter(&mut bytes, indented))?;
    bytes.push(b'\n');
    Ok(std::fs::write(FILE, bytes)?)
}
