//! What each of our kernels does on one case of the quick tier, counted: a commit after which a kernel touches more sectors, or runs more
//! instructions, says so.
//!
//! ```text
//! kernel -> its first case, in hunting order, of so many instructions -> launches -> counters.json
//! UPDATE_PTX_COUNTERS=1 cargo test -p sparse-conformance-selftest --test ptx      writes the file again: review the difference
//! ```

use super::hunt::Field;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sparse_conformance_core::operands::build;
use sparse_conformance_core::plan::Options;
use sparse_conformance_core::runner::Ready;
use sparse_kernels::cuda::GpuKernel;
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::machine::Counters;
use sparse_ptx_device::Counted;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;

/// Cases that are tried for each kernel, and the warp instructions that one should have; else the one with the most is taken.
const TRIED: usize = 8;
const ENOUGH: u64 = 5_000;

/// What the launches of an entry did together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Did {
    launches: u64,
    instructions: u64,
    #[serde(skip_serializing_if = "is_zero")]
    divergences: u64,
    #[serde(skip_serializing_if = "is_zero")]
    barrier_waits: u64,
    #[serde(skip_serializing_if = "is_zero")]
    mma: u64,
    #[serde(skip_serializing_if = "is_zero")]
    global_requests: u64,
    #[serde(skip_serializing_if = "is_zero")]
    global_sectors: u64,
    #[serde(skip_serializing_if = "is_zero")]
    shared_requests: u64,
    #[serde(skip_serializing_if = "is_zero")]
    bank_conflicts: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Did {
    fn also(&mut self, c: &Counters) {
        self.launches += 1;
        self.instructions += c.instructions;
        self.divergences += c.divergences;
        self.barrier_waits += c.barrier_waits;
        self.mma += c.mma;
        self.global_requests += c.global_requests;
        self.global_sectors += c.global_sectors;
        self.shared_requests += c.shared_requests;
        self.bank_conflicts += c.bank_conflicts;
    }
}

/// A case, and what is launched for it, by entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    case: String,
    entries: BTreeMap<String, Did>,
}

fn counts(field: &Field, kernel: &GpuKernel) -> Option<Counts> {
    let cases = field.plan.cases(|case| case.contract == kernel.kernel.contract).take(TRIED);
    let mut most: Option<(u64, Counts)> = None;
    for (case, loaded) in cases {
        let Ok(operands) = build(case, &loaded) else { continue };
        let ready = Ready::new(case, &operands);
        let counted = Counted::default();
        let asked = ready.ask_once(&field.alone(kernel, field.texts.clone()).counting(&counted));
        assert!(!asked.record.verdict.is_finding(), "{}: {case}", kernel.kernel.name);
        let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        let instructions = counted.iter().map(|(_, c)| c.instructions).sum();
        if most.as_ref().is_none_or(|(so_far, _)| instructions > *so_far) {
            let mut entries: BTreeMap<String, Did> = BTreeMap::new();
            for (entry, counters) in counted.iter() {
                entries.entry(entry.clone()).or_default().also(counters);
            }
            most = Some((instructions, Counts { case: case.to_string(), entries }));
        }
        if instructions >= ENOUGH {
            break;
        }
    }
    most.map(|(_, counts)| counts)
}

#[test]
fn kernels_do_what_they_did() {
    let field = Field::new(Architecture::Sm80, &Options::default());
    let of = |kernel: &GpuKernel| Some((kernel.kernel.name.clone(), counts(&field, kernel)?));
    let mut found: BTreeMap<String, Counts> = field.kernels.par_iter().filter_map(of).collect();
    assert_eq!(found.len(), field.kernels.len(), "every kernel has a case");
    let groups = Field::of_groups();
    let of = |kernel: &GpuKernel| Some((format!("{}, sm_90", kernel.kernel.name), counts(&groups, kernel)?));
    found.extend(groups.kernels.par_iter().filter_map(of).collect::<Vec<_>>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx/counters.json");
    if std::env::var_os("UPDATE_PTX_COUNTERS").is_some() {
        let json = serde_json::to_string_pretty(&found).expect("plain data");
        std::fs::write(&path, json + "\n").expect("the folder is there");
    }
    let text = std::fs::read_to_string(&path).expect("counters.json");
    let golden: BTreeMap<String, Counts> = serde_json::from_str(&text).expect("as it was written");
    let differs = |(name, now): (&String, &Counts)| {
        let before = golden.get(name);
        (before != Some(now)).then(|| format!("{name}\n  was {before:?}\n  is  {now:?}"))
    };
    let mut differing: Vec<String> = found.iter().filter_map(differs).collect();
    differing.extend(
        golden.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is gone")),
    );
    assert!(
        differing.is_empty(),
        "{} kernels do something else than before; if that is meant, UPDATE_PTX_COUNTERS=1 writes counters.json again:\n{}",
        differing.len(),
        differing.join("\n")
    );
}
