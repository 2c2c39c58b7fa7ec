//! Faults in our own PTX, played on the CPU: which of them does the quick tier convict?
//!
//! ```text
//! cargo test --release -p sparse-conformance-selftest --test ptx -- --ignored --nocapture     all, to docs/ptx-mutants.json
//! ```
//!
//! Otherwise a few of each class are hunted over the cases of one contract.

mod counters;
mod hunt;
mod mutant;
mod played;
mod redundant;

use hunt::{Fate, Field, Ground};
use mutant::{CLASSES, Class, Mutant, mutants};
use rayon::prelude::*;
use serde::Serialize;
use sparse_conformance_core::plan::Options;
use sparse_kernels::cuda::source::Source;
use sparse_oracle::arithmetic::Architecture;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the quick tier makes of a class.
#[derive(Debug, Default, Serialize)]
struct Score {
    /// One of how many lines was taken (and one of each entry at least).
    one_of: u64,
    mutants: usize,
    convicted: usize,
    /// The text was not taken any more.
    refused: usize,
    /// No case launches the entry.
    not_launched: usize,
    /// Cases launch the entry, and none comes to the line.
    not_reached: usize,
    /// Cases come to the line, none has a finding, and the kernel does the same with the fault: the reason stands with it.
    redundant: usize,
    /// Cases come to the line, and none has a finding.
    survived: usize,
}

/// A mutant that cases come to, and none convicts.
#[derive(Debug, Serialize)]
struct Survivor {
    class: Class,
    source: &'static str,
    entry: String,
    /// From 1.
    line: usize,
    was: String,
    becomes: String,
    /// Cases that launch the entry.
    cases: usize,
    /// Why it is no fault, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    redundant: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct Published {
    tier: &'static str,
    architecture: &'static str,
    /// Kernels on their cases.
    runs: usize,
    /// Runs that take more warp instructions than a mutant is given.
    left_out: usize,
    classes: BTreeMap<Class, Score>,
    /// Entries that no case launches.
    not_launched: BTreeSet<String>,
    survivors: Vec<Survivor>,
}

fn text(source: Source) -> String {
    source.precompiled().expect("ci/ptx.sh has been run since the source changed")
}

/// The mutants of a source, those of one line together.
fn by_line(source: Source, lines: &[&str]) -> Vec<Vec<Mutant>> {
    mutants(source, lines).chunk_by(|a, b| a.line == b.line).map(<[Mutant]>::to_vec).collect()
}

/// What became of a mutant.
struct Hunted {
    mutant: Mutant,
    fate: Fate,
    was: String,
    /// The two lines above.
    above: [String; 2],
}

/// Hunts all mutants of some sources, and says what became of each.
fn hunted(ground: &Ground<'_>, sources: &[Source]) -> Vec<Hunted> {
    let texts: Vec<String> = sources.iter().map(|&source| text(source)).collect();
    let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
    let sources = sources.iter().copied().zip(&lines);
    let all: Vec<(Vec<Mutant>, &[&str])> = sources
        .flat_map(|(source, lines)| by_line(source, lines).into_iter().map(|group| (group, lines.as_slice())))
        .collect();
    let done = AtomicUsize::new(0);
    let hunt = |(group, lines): &(Vec<Mutant>, &[&str])| {
        let fates = ground.fates(group, lines);
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        if done.is_multiple_of(200) {
            eprintln!("{done} of {} lines", all.len());
        }
        let [above @ .., was] = [2, 1, 0].map(|back| lines[group[0].line - back].trim().to_owned());
        let of = |(mutant, fate)| Hunted { mutant, fate, was: was.clone(), above: above.clone() };
        group.iter().cloned().zip(fates).map(of).collect::<Vec<_>>()
    };
    all.par_iter().flat_map_iter(hunt).collect()
}

#[test]
#[ignore = "takes minutes on 16 cores: writes docs/ptx-mutants.json"]
fn score_of_the_quick_tier() {
    let (field, groups) = (Field::new(Architecture::Sm80, &Options::default()), Field::of_groups());
    let (cases, of_groups) = (field.cases(), groups.cases());
    let (ground, of_groups) = (field.ground(&cases), groups.ground(&of_groups));
    eprintln!("{} runs are clean, {} left out", ground.runs, ground.left_out);
    eprintln!("{} runs of groups are clean, {} left out", of_groups.runs, of_groups.left_out);
    let (bound, sources): (Vec<Source>, Vec<Source>) =
        Source::ALL.into_iter().partition(|source| source.row().is_bound());
    let one_of = CLASSES.into_iter().map(|(class, one_of)| (class, Score { one_of, ..Score::default() }));
    let mut published = Published {
        tier: "quick",
        architecture: "sm_80; sm_90 for what is of sm_90a",
        runs: ground.runs + of_groups.runs,
        left_out: ground.left_out + of_groups.left_out,
        classes: one_of.collect(),
        not_launched: BTreeSet::new(),
        survivors: Vec::new(),
    };
    for hunted in hunted(&ground, &sources).into_iter().chain(hunted(&of_groups, &bound)) {
        published.note(hunted);
    }
    for (class, score) in &published.classes {
        eprintln!("{class:?}: {score:?}");
    }
    let folder = std::env::var_os("OUT")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs"), PathBuf::from);
    let json = serde_json::to_string_pretty(&published).expect("plain data");
    std::fs::write(folder.join("ptx-mutants.json"), json + "\n").expect("the folder is there");
}

impl Published {
    fn note(&mut self, Hunted { mutant, fate, was, above }: Hunted) {
        let score = self.classes.get_mut(&mutant.class).expect("a row of each class");
        let of_entry = self.survivors.iter().filter(|s| s.entry == mutant.entry);
        let before = |reason: &str| of_entry.clone().filter(|s| s.redundant == Some(reason)).count();
        let redundant = redundant::reason(mutant.class, &mutant.entry, (&above, &was), before);
        score.mutants += 1;
        let count = match fate {
            Fate::Convicted => &mut score.convicted,
            Fate::Refused => &mut score.refused,
            Fate::NotLaunched => &mut score.not_launched,
            Fate::NotReached => &mut score.not_reached,
            Fate::Survived(_) if redundant.is_some() => &mut score.redundant,
            Fate::Survived(_) => &mut score.survived,
        };
        *count += 1;
        let Mutant { class, source, entry, line, becomes } = mutant;
        if fate == Fate::NotLaunched {
            self.not_launched.insert(entry);
        } else if let Fate::Survived(cases) = fate {
            let source = source.row().name;
            self.survivors.push(Survivor {
                class,
                source,
                entry,
                line: line + 1,
                was,
                becomes,
                cases,
                redundant,
            });
        }
    }
}

/// A few of each class, over the cases of a contract whose kernel has all of them: one is convicted at least.
#[test]
fn a_fault_of_each_class_is_convicted() {
    let contracts = vec!["spmm.nm.f32_f32_f32_f32".to_owned()];
    let field = Field::new(Architecture::Sm80, &Options { contracts, ..Options::default() });
    convicts(&field, Source::NmTile, |class| !OF_GROUPS.contains(&class));
}

/// Those of groups of warps.
const OF_GROUPS: [Class; 4] = [Class::GroupWait, Class::GroupCommit, Class::GroupFence, Class::ProxyFence];

/// The same of the classes that are of groups of warps.
#[test]
fn a_fault_of_each_class_of_groups_is_convicted() {
    let contracts = vec!["spmm.two_four.bf16_bf16_f32_f32".to_owned()];
    let field = Field::new(Architecture::Sm90, &Options { contracts, ..Options::default() });
    convicts(&field, Source::TwoFourGroup, |class| OF_GROUPS.contains(&class));
}

fn convicts(field: &Field, source: Source, wanted: impl Fn(Class) -> bool) {
    let cases = field.cases();
    let ground = field.ground(&cases);
    let text = text(source);
    let lines: Vec<&str> = text.lines().collect();
    let groups = by_line(source, &lines);
    for (class, _) in CLASSES.into_iter().filter(|(class, _)| wanted(*class)) {
        let mut of_class = groups.iter().flatten().filter(|mutant| mutant.class == class);
        let fate = |mutant: &Mutant| ground.fates(std::slice::from_ref(mutant), &lines)[0];
        let launched = of_class.by_ref().filter(|mutant| ground.launches(&mutant.entry));
        let fates: Vec<Fate> = launched.take(4).map(fate).collect();
        assert!(fates.contains(&Fate::Convicted), "{class:?}: {fates:?}");
    }
}
