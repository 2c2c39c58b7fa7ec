//! A made-up report that looks like a real one and holds every verdict, for tests and for looking at the page.

use sparse_conformance::report::{
    Backend, CaseRecord, Contract, Criterion, Defect, Deviation, Environment, Exclusion, Mismatch, Place,
    Plan, Report, RowStatistics, SlowestCase, Source, SpyGrid, Timings, VerdictKind, VerdictRecord,
};
use sparse_oracle::contract::all_contracts;

const FAMILIES: [(&str, &str); 8] = [
    ("uniform", "uniform:rows=96,cols=80,nnz=500,seed=7"),
    ("rmat", "rmat:scale=8,seed=7"),
    ("banded", "banded:rows=120,width=5"),
    ("block", "block:rows=96,cols=96,block=8,seed=7"),
    ("stencil", "stencil:nx=12,ny=12,points=5"),
    ("circuit", "circuit:rows=140,dense=2,seed=7"),
    ("one-dense-row", "one-dense-row:rows=64,cols=64"),
    ("synth", "synth:cop20k_A<&>"),
];

/// Shares without structure, the same every time.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn share(&mut self) -> f64 {
        let unit = self.next() as f64 / (1u64 << 31) as f64;
        0.9 * unit * unit
    }
}

/// A sealed report with `per_contract` case lines in each row of the contract table, on four backends.
pub(crate) fn sample(per_contract: usize) -> Report {
    let names = ["portable", "sprs", "nalgebra-sparse", "my-kernel"].map(str::to_owned);
    let plan = Plan {
        tier: "quick".to_owned(),
        seed: 7,
        backends: names.to_vec(),
        operations: ["spmm", "spmv", "sddmm", "spgemm", "transpose", "convert"].map(str::to_owned).to_vec(),
        precisions: ["f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2"].map(str::to_owned).to_vec(),
        matrices: vec!["../data/west0479.mtx".to_owned()],
        distinct_cases: (all_contracts().len() * per_contract) as u64,
        ..Plan::default()
    };
    let mut report = Report::new(plan, environment());
    report.timings = Timings {
        total_seconds: 21.4,
        backend_seconds: names.iter().cloned().zip([3.2, 1.9, 2.7, 4.1]).collect(),
        oracle_seconds: 24.9,
        source_seconds: 0.8,
        slowest: names.iter().cloned().zip([2.4, 0.9].map(slowest)).collect(),
    };
    report.backends = backends();
    report.sources = FAMILIES.iter().map(|(family, spec)| source(family, spec)).collect();
    let mut noise = Noise(7);
    for contract in all_contracts().iter().map(ToString::to_string) {
        for (number, (family, spec)) in FAMILIES.iter().cycle().take(per_contract).enumerate() {
            let beta = number % 2;
            let case = format!("{contract}/{spec}/n={}/beta={beta}", [1, 8, 33][number % 3]);
            for backend in &names {
                report.cases.push(record(&case, &contract, family, backend, &mut noise));
            }
        }
        report.contracts.push(Contract { name: contract, cases_planned: per_contract as u64 });
    }
    for (record, verdict) in
        report.cases.iter_mut().filter(|c| c.backend == "my-kernel").step_by(37).zip(bad())
    {
        record.share = match &verdict {
            VerdictRecord::Wrong(m) => m.error.as_ref().map(|_| 3.71e4),
            _ => None,
        };
        record.verdict = verdict;
    }
    report.seal();
    report
}

/// A report without findings.
pub(crate) fn clean() -> Report {
    let mut report = sample(3);
    report.backends.retain(|b| b.name != "idle");
    for record in &mut report.cases {
        if record.is_finding() || record.verdict.kind() == VerdictKind::NotRun {
            (record.verdict, record.share) = (VerdictRecord::Exact, None);
        }
    }
    report.seal();
    report
}

fn slowest(seconds: f64) -> SlowestCase {
    SlowestCase { case: "spmm.csr.f32_f32_f32_f32/rmat:scale=8,seed=7/n=33".to_owned(), seconds }
}

fn environment() -> Environment {
    Environment {
        os: "linux".to_owned(),
        arch: "x86_64".to_owned(),
        cpu: "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz".to_owned(),
        cpu_features: ["avx2", "fma", "f16c", "avx512f"].map(str::to_owned).to_vec(),
        cores: 2,
        rustc: "rustc 1.95.0 (2026-04-14)".to_owned(),
        threads: 2,
        command_line: "conformance run --tier quick --report report".split(' ').map(str::to_owned).collect(),
        started: "2026-05-04T09:30:00Z".to_owned(),
        notes: [("kernel".to_owned(), "6.12".to_owned())].into(),
    }
}

fn backends() -> Vec<Backend> {
    let deviation = |point: &str, choice: &str, reason: &str| Deviation {
        point: point.to_owned(),
        choice: choice.to_owned(),
        reason: reason.to_owned(),
    };
    let exclusion =
        |pattern: &str, reason: &str| Exclusion { pattern: pattern.to_owned(), reason: reason.to_owned() };
    let backend = |name: &str, version: &str, description: &str| Backend {
        name: name.to_owned(),
        version: version.to_owned(),
        description: description.to_owned(),
        required: true,
        ..Backend::default()
    };
    vec![
        backend("portable", "0.1.0", "the suite's own plain kernels"),
        Backend {
            deviations: vec![
                deviation("alpha, beta", "only (1, 0) and (1, 1)", "its product has no scaling arguments"),
                deviation("SpGEMM pattern", "structural", "entries that cancel stay as explicit zeros"),
            ],
            excluded: vec![
                exclusion("*.ell.*", "no ELL type"),
                exclusion("sddmm.*", "no sampled product"),
                exclusion(&"spmm.blocked_ell.* ".repeat(40), "no such operation on these formats"),
            ],
            ..backend("sprs", "0.11.6", "the crate sprs")
        },
        Backend {
            deviations: vec![deviation(
                "duplicates",
                "sum-rounded",
                "its COO conversion adds in the value type",
            )],
            excluded: vec![exclusion("*.ell.*", "no ELL type")],
            ..backend("nalgebra-sparse", "0.12.0", "the crate nalgebra-sparse")
        },
        backend("my-kernel", "dev", "a kernel under development"),
        backend("idle", "0", "a required backend that never ran"),
    ]
}

fn record(case: &str, contract: &str, family: &str, backend: &str, noise: &mut Noise) -> CaseRecord {
    let moves = contract.starts_with("convert") || contract.starts_with("transpose");
    let reason = match backend {
        "sprs" | "nalgebra-sparse" if contract.contains("ell") => Some("no ELL type"),
        "sprs" if contract.starts_with("sddmm") => Some("no sampled product"),
        "sprs" | "nalgebra-sparse" if !contract.contains("f64") && !contract.contains("f32_f32_f32_f32") => {
            Some("element type is not a field in this crate")
        }
        _ => None,
    };
    let share = noise.share();
    let verdict = match reason {
        Some(reason) => VerdictRecord::Unsupported { reason: reason.to_owned() },
        None if noise.next().is_multiple_of(50) => {
            VerdictRecord::AgreedRefusal { refusal: "col_idx[3] (row 1) is 9, must be below 9".to_owned() }
        }
        None if moves || noise.next().is_multiple_of(3) => VerdictRecord::Exact,
        None => VerdictRecord::Within { share },
    };
    let within = matches!(verdict, VerdictRecord::Within { .. });
    let ran = verdict.kind().ran();
    CaseRecord {
        case: case.to_owned(),
        contract: contract.to_owned(),
        family: family.to_owned(),
        backend: backend.to_owned(),
        verdict,
        tiers: if moves && ran {
            vec![Criterion::T0]
        } else if ran {
            vec![Criterion::T0, Criterion::T1]
        } else {
            Vec::new()
        },
        share: within.then_some(share),
        repeated: None,
        asked_again: false,
        reproducer: None,
        degenerate: if case.ends_with("n=1/beta=0") { vec!["n=1".to_owned()] } else { Vec::new() },
        inputs: ran.then(|| format!("{:032x}", case.len())),
        output: ran.then(|| format!("{:032x}", share.to_bits())),
        selection: None,
        waived: None,
    }
}

/// Findings of every kind and defect, with text that would break careless writers.
fn bad() -> Vec<VerdictRecord> {
    let far = Mismatch {
        at: Some(Place { row: 17, column: 4 }),
        expected: Some("0.3333333432674408".to_owned()),
        expected_bits: Some("0x3eaaaaab".to_owned()),
        found: Some("0.33203125".to_owned()),
        found_bits: Some("0x3eaa0000".to_owned()),
        error: Some("1.302093e-3".to_owned()),
        bound: Some("3.5e-8".to_owned()),
        ..Mismatch::new(
            Criterion::T1,
            Defect::Value,
            "C[17][4] is 37100 times farther from the exact result than its bound",
        )
    };
    let infinite = Mismatch {
        found: Some("inf".to_owned()),
        found_bits: Some("0x7f800000".to_owned()),
        error: Some("inf".to_owned()),
        message: "C[17][4] overflowed".to_owned(),
        ..far.clone()
    };
    let texts =
        |what: Defect| format!("{what}: a <b>markup</b> & \"quotes\" | pipes\nand a `second` line \u{1}");
    let mut bad = vec![VerdictRecord::Wrong(far), VerdictRecord::Wrong(infinite)];
    bad.extend(Defect::ALL.map(|what| VerdictRecord::Wrong(Mismatch::new(Criterion::T0, what, texts(what)))));
    bad.extend([
        VerdictRecord::LoneRefusal { refusal: "ldc is 8, must be at least 33".to_owned() },
        VerdictRecord::LoneAcceptance { expected: "row_ptr[4] is 3, less than row_ptr[3] = 5".to_owned() },
        VerdictRecord::Crashed {
            message: "index out of bounds: the len is 33 but the index is 33".to_owned(),
        },
        VerdictRecord::TimedOut {
            seconds: 10.0,
            idle: false,
            call: None,
            tail: Some("still thinking".to_owned()),
        },
        VerdictRecord::NotRun { reason: "stopped after the first crash of its process".to_owned() },
    ]);
    bad
}

fn source(family: &str, spec: &str) -> Source {
    let (width, height) = (32u32, 32u32);
    let mut noise = Noise(spec.len() as u64);
    let mut cells = vec![0u8; (width * height) as usize];
    for row in 0..height {
        for col in 0..width {
            let near = row.abs_diff(col);
            let random = (noise.next() % 256) as u8;
            cells[(row * width + col) as usize] = match family {
                "uniform" => random / 2,
                "banded" if near <= 1 => 255,
                "stencil" if near == 0 || near == 4 => 220,
                "block" if (row / 3 * 7 + col / 3).is_multiple_of(5) => 200,
                "rmat" if u32::from(random) < 900 / (row + 1) / (col / 2 + 1) => 40 + random / 2,
                "circuit" if near == 0 || row == 5 || col == 5 || random > 249 => 180,
                "one-dense-row" if row == 20 => 255,
                "synth" if near < 6 && random > 120 => random,
                _ => 0,
            };
        }
    }
    Source {
        spec: spec.to_owned(),
        family: family.to_owned(),
        rows: 96,
        cols: 96,
        nnz: cells.iter().filter(|&&cell| cell > 0).count() as u64,
        row_nnz: Some(RowStatistics { min: 0, max: 31, mean: 5.25, std: 3.125, empty: 4 }),
        spy: Some(SpyGrid { width, height, cells }),
    }
}
