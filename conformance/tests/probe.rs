//! `model probe` without a GPU: stand-ins that compute what the model says, and stand-ins that are wrong in one way each.

mod probe_devices;

use probe_devices::{Fault, Model, Reader};
use rayon::prelude::*;
use sparse_conformance::probe::{
    Batch, Executor, Judge, Layout, Options, ProbeReport, Status, Subject, mismatches, probe_all,
    recording_name,
};
use sparse_kernels::cuda::probe::{Probe, Variant, sm90};
use sparse_oracle::Precision::{F16, F64};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::model::recording::RecordingName;
use sparse_oracle::model::tensor_core::fragment::Fragment;
use std::path::{Path, PathBuf};

fn subject(name: &str) -> Subject {
    let probe = sm90().into_iter().find(|probe| probe.name() == name);
    Subject { probe: probe.unwrap_or_else(|| panic!("no probe {name}")), architecture: Architecture::Sm90 }
}

fn options(outputs: u64) -> Options {
    Options { outputs, time: None, seed: 7, record: None, device: "h200".to_owned() }
}

fn run(executor: &mut dyn Executor, name: &str, outputs: u64) -> ProbeReport {
    let reports = probe_all(executor, &[subject(name)], &options(outputs), |_, _| ());
    reports.into_iter().next().expect("one report")
}

/// One of each engine and type that the oracle's own recordings can hold: read by its layout, computed by its `apply`.
const READABLE: [&str; 12] = [
    "mma.m16n8k8.f32.f16",
    "mma.m16n8k16.f32.bf16",
    "mma.m16n8k16.f16.f16",
    "mma.m16n8k4.f32.tf32",
    "mma.m16n8k32.f32.e4m3",
    "mma.m16n8k32.f16.e5m2",
    "mma.m8n8k4.f64.f64",
    "mma.m16n8k16.f64.f64",
    "mma.sp.m16n8k16.f32.f16.s2",
    "mma.sp.m16n8k32.f16.f16.s1",
    "mma.sp.m16n8k16.f32.tf32.s1",
    "wgmma.m64n8k16.f32.f16",
];

#[test]
fn a_device_that_is_the_model_is_confirmed() {
    for name in READABLE {
        let report = run(&mut Reader::default(), name, 300_000);
        assert_eq!(report.status, Status::Confirmed, "{}", report.text());
        assert!(report.outputs >= 300_000 && report.applied > 0, "{}", report.text());
        assert!(report.repeatable && report.uniform && report.applied_otherwise == 0);
    }
}

/// Every probe against its own model: nothing is refused, and the operands refute what differs in one clause.
#[test]
fn the_operands_tell_the_models_apart() {
    let (mut refuted, mut tried) = (0, 0);
    // Side by side: this is the longest test of all. A probe's smallest batch is most of its work.
    let judged: Vec<(String, ProbeReport)> = sm90()
        .into_par_iter()
        .map(|probe| (probe.name(), run(&mut Model::default(), &probe.name(), 40_000)))
        .collect();
    for (name, report) in judged {
        let clean = if name.ends_with("unordered") { Status::Undefined } else { Status::Confirmed };
        assert!(report.status == clean || report.status == Status::Confirmed, "{}", report.text());
        for other in &report.alternatives[1..] {
            tried += 1;
            refuted += usize::from(other.mismatches > 0);
            // Where a clause must show: kept bits in f32 sums (f16 ones rarely), floors where products can lie below them.
            let floors = name.contains("f32.bf16") || name.contains("f32.tf32");
            let must = match other.name.as_str() {
                "F = 24" => name.contains(".f32."),
                "e_zero = -1000" | "e_zero = -132" => floors && !name.ends_with("scale_d0"),
                "descending k" => true,
                clause => {
                    clause.starts_with("links") || clause.ends_with("first") || clause.starts_with("metadata")
                }
            };
            println!("{name:34} {:>7} of {} differ: {}", other.mismatches, other.outputs, other.name);
            assert!(!must || other.mismatches > 0, "{name}: {} is not refuted", other.name);
        }
        for class in ["NaN", "infinity", "+0", "subnormal", "normal"] {
            let seen = report.classes.get(class).copied().unwrap_or(0);
            // A saturating conversion returns an infinity for one NaN alone (0x7f802000), which is too rare here; e4m3 has none,
            // and products of f16 and fp8 numbers without an accumulator are no f32 subnormals.
            let never = class == "infinity" && name.contains("satfinite")
                || ["infinity", "subnormal"].contains(&class) && name.ends_with("scale_d0");
            assert!(seen > 0 || never, "{name}: no {class} in {:?}", report.classes);
        }
    }
    assert!(refuted * 2 > tried, "{refuted} of {tried} alternatives refuted");
}

#[test]
fn every_fault_is_found() {
    let name = "mma.m16n8k16.f32.f16";
    for fault in [Fault::OneBit, Fault::Unwritten, Fault::OtherNan] {
        let report = run(&mut Model::with(fault), name, 300_000);
        assert_eq!(report.status, Status::Wrong, "{fault:?}: {}", report.text());
        let first = report.first.as_ref().expect("a first mismatch");
        assert!(first.model != first.device && first.a.len() == 16, "{first:?}");
    }
    let report = run(&mut Model::with(Fault::NotRepeatable), name, 1);
    assert!(!report.repeatable && !report.status.is_clean(), "{}", report.text());
    let report = run(&mut Model::with(Fault::DependsOnPlace), name, 1);
    assert!(!report.uniform && !report.status.is_clean(), "{}", report.text());
    let report = run(&mut Model::with(Fault::Refuses), name, 1);
    assert_eq!(report.status, Status::NotRun("no such kernel".to_owned()));
}

#[test]
fn one_wrong_bit_is_shown_where_it_is() {
    let report = run(&mut Model::with(Fault::OneBit), "mma.m16n8k8.f32.f16", 300_000);
    let first = report.first.expect("a mismatch");
    // The stand-in turns the last bit of output 5 of every group 100 of a batch.
    assert_eq!((first.group, first.output), (100, 5));
    let bits = |text: &str| u32::from_str_radix(&text[2..], 16).expect("hex");
    assert_eq!(bits(&first.model) ^ bits(&first.device), 1);
}

#[test]
fn another_unit_is_named() {
    let report = run(&mut Model::with(Fault::Candidate("F = 24")), "mma.m16n8k16.f32.f16", 100_000);
    assert_eq!(report.status, Status::OtherFits, "{}", report.text());
    assert_eq!((report.model.as_str(), report.mismatches), ("F = 24", 0));
    assert!(report.alternatives[0].mismatches > 0);
}

/// The bits of a NaN are the model's for f32 and f16, and listed for f64.
#[test]
fn nans_of_f64_are_listed_and_not_compared() {
    let report = run(&mut Model::with(Fault::OtherNan), "mma.m8n8k4.f64.f64", 100_000);
    assert_eq!(report.status, Status::Confirmed, "{}", report.text());
    assert!(report.unmodelled_nans > 0 && !report.nan_patterns.is_empty());
}

/// Layouts here and in the oracle were written apart. B of wgmma, in shared memory, is compared by `READABLE` and the recordings.
#[test]
fn layouts_are_the_fragments_of_the_oracle() {
    let mut compared = 0;
    for probe in sm90() {
        let Probe::Matrix { instruction: i, .. } = probe else {
            continue;
        };
        let Ok(fragment) = Fragment::of(i) else { continue };
        let metadata = subject(&probe.name()).candidates()[0].metadata;
        let layout = Layout::of(&probe, metadata).expect("a matrix instruction");
        let (lanes, bytes, out) = (fragment.lanes(), i.input.bytes(), i.acc.bytes());
        let place = |lane: usize, element: usize, bytes: usize| match bytes {
            8 => (2 * element * lanes + lane, 0),
            _ => (element * bytes / 4 * lanes + lane, element * bytes % 4 * 8),
        };
        let got = |p: sparse_conformance::probe::Place| (p.word as usize, usize::from(p.shift));
        let (k, n) = (usize::from(i.k), usize::from(i.n));
        for lane in 0..lanes {
            for e in 0..fragment.a_len() {
                let (row, col) = fragment.a(lane, e);
                assert_eq!(got(layout.a[row * i.products() + col]), place(lane, e, bytes), "A of {i}");
            }
            for e in 0..fragment.b_len() {
                let (row, col) = fragment.b(lane, e);
                assert_eq!(got(layout.b[col * k + row]), place(lane, e, bytes), "B of {i}");
            }
            for e in 0..fragment.c_len() {
                let (row, col) = fragment.c(lane, e);
                assert_eq!(got(layout.c[row * n + col]), place(lane, e, out), "C of {i}");
            }
        }
        compared += 1;
    }
    assert!(compared > 50, "only {compared} instructions");
}

#[test]
fn recordings_are_named_as_the_oracle_reads_them() {
    let mut named = 0;
    for probe in sm90() {
        let Some(name) = recording_name("h200", &probe) else {
            continue;
        };
        let Probe::Matrix { instruction, variant, .. } = probe else {
            continue;
        };
        let parsed = RecordingName::parse(&name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(parsed.instruction, instruction, "{name}");
        let selector = if let Variant::Selector(s) = variant { usize::from(s) } else { 0 };
        assert_eq!((parsed.selector, parsed.architecture), (selector, Some(Architecture::Sm90)));
        named += 1;
    }
    assert!(named > 60, "only {named} names");
}

/// What an H200 returned before, read with the layouts of this crate: the fast comparison predicts every bit.
#[test]
fn recorded_outputs_are_predicted() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/data/silicon");
    let shared = std::env::var_os("SPARSE_SHARED").map(|folder| PathBuf::from(folder).join("data/silicon"));
    let (mut files, mut outputs) = (0, 0);
    for probe in sm90() {
        let Some(name) = recording_name("h200", &probe) else {
            continue;
        };
        for folder in [Some(committed.clone()), shared.clone()].into_iter().flatten() {
            let Ok(bytes) = std::fs::read(folder.join(&name)) else {
                continue;
            };
            let subject = subject(&probe.name());
            let batch = batch_of(&probe, &bytes);
            let judge = Judge::new(&probe, &subject.candidates()[0]).expect("a model");
            let (compared, wrong) = mismatches(&subject, &judge, &batch);
            assert_eq!(wrong, 0, "{name}: {wrong} of {compared}");
            files += 1;
            outputs += compared;
        }
    }
    if files == 0 {
        eprintln!("SKIPPED: no recording of an H200 in {} or SPARSE_SHARED", committed.display());
    } else {
        assert!(outputs > 1000 * files, "{outputs} outputs of {files} files");
    }
}

fn batch_of(probe: &Probe, bytes: &[u8]) -> Batch {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let size = probe.words();
    let sparse = matches!(probe, Probe::Matrix { instruction, .. } if instruction.engine.is_sparse());
    let (c, e) = (size.c * size.lanes, if sparse { size.lanes } else { 0 });
    let sizes = [size.a * size.lanes, size.b_group, c, c, e];
    let groups = words.len() / sizes.iter().sum::<usize>();
    let mut sections = words.as_slice();
    let mut next = |size: usize| {
        let (section, rest) = sections.split_at(groups * size);
        sections = rest;
        section.to_vec()
    };
    let [a, b, c, d, metadata] = sizes.map(&mut next);
    let metadata = if sparse { metadata } else { vec![0; groups * size.lanes] };
    Batch { groups, operands: [a, b, c, metadata], d }
}

/// A page and JSON that read back, with what is wrong in them.
#[test]
fn reports_say_what_is_wrong() {
    let report = run(&mut Model::with(Fault::OneBit), "mma.m16n8k8.f32.f16", 300_000);
    let json = serde_json::to_string(&report).expect("JSON");
    let back: ProbeReport = serde_json::from_str(&json).expect("the same");
    assert_eq!(back.status, Status::Wrong);
    assert_eq!(back.text(), report.text());
    assert!(report.text().contains("MISMATCH") && report.text().contains("first in group 100"));
}

/// f64 keeps 64-bit words and f16 halves; a group's words are as many as the kernel's.
#[test]
fn batches_are_as_long_as_the_kernels_read() {
    for probe in sm90() {
        let mut batch = Batch::default();
        batch.fill(&probe, 3, 5, 13);
        let words = probe.words();
        let lengths: Vec<usize> = batch.operands.iter().map(Vec::len).collect();
        let c = words.c * words.lanes;
        assert_eq!(lengths, [13 * words.a * words.lanes, 13 * words.b_group, 13 * c, 13 * words.lanes]);
        assert_eq!(batch.d.len(), 13 * c);
        // Any group can be made alone.
        let mut alone = Batch::default();
        alone.fill(&probe, 3, 9, 1);
        let size = alone.operands[0].len();
        assert_eq!(batch.operands[0][4 * size..5 * size], alone.operands[0]);
    }
    assert_eq!((F64.bytes(), F16.bytes()), (8, 2));
}
