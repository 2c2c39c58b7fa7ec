//! What a verdict costs: a whole case, and its stages, beside what people do today, a product in f64 and `allclose`.
//!
//! ```text
//! cargo bench -p sparse-conformance --bench judge                                generated matrices, N = 32 and 128
//! cargo bench -p sparse-conformance --bench judge -- n=32 types=f32,f16 FILE ..  matrices of yours, or generators such as rmat:scale=12
//! cargo bench .. -- backend=cuda types=spmm.rs_tile.f16_f16_f32_f32 FILE ..       one backend, and contracts by their names
//! RAYON_NUM_THREADS=2 cargo bench ..                                             one thread unless this says otherwise
//! ```
//!
//! One line a matrix, type and N; seconds, the best of some turns in rotation, the file read before. `today` is an obvious product in f64
//! on one thread and `allclose` on an f64 copy of the result; `scipy` is the same by `SciPy` and `NumPy`, where Python has them, best of some
//! turns in a row. `case` is a whole case: values drawn and converted, every row judged, and a second call of the kernel, as where a run
//! asks for one (it asks some cases more often, on several threads). Of that, alone: `make` draws and converts; `kernel` is one call, and
//! `guard` what is around it: a filled output, and operands compared before and after; `hash` names operands and result in the report,
//! beside what else there is to do; `worth` asks which wrong kernels the case would not notice; `decode` makes exact operands, `judge` is the verdict on one result, and
//! `big` the share of its elements that needed big numbers.

use sparse_conformance::backend::{Backend, Support, all};
use sparse_conformance::case::Case;
use sparse_conformance::degenerate::degenerate;
use sparse_conformance::determinism::Repeats;
use sparse_conformance::digest::{self, OutputHash};
use sparse_conformance::execute::{Before, execute};
use sparse_conformance::operands::build;
use sparse_conformance::origin::Loaded;
use sparse_conformance::response::Response;
use sparse_conformance::runner::run_case_repeated;
use sparse_oracle::judge::Sheets;
use std::time::{Duration, Instant};
use today::{Plain, has_scipy};

mod today;

const TURNS: usize = 3;

/// Skewed, regular, uniform.
const GENERATED: [&str; 3] =
    ["rmat:scale=14,seed=1", "banded:rows=40000,cols=40000", "uniform:rows=20000,cols=20000"];

/// What is measured.
struct Options {
    widths: Vec<usize>,
    types: Vec<String>,
    matrices: Vec<String>,
    backend: Option<String>,
}

impl Options {
    fn of(arguments: impl Iterator<Item = String>) -> Options {
        let mut options =
            Options { widths: vec![32, 128], types: Vec::new(), matrices: Vec::new(), backend: None };
        for argument in arguments.filter(|argument| argument != "--bench") {
            match argument.split_once('=') {
                Some(("n", list)) => {
                    options.widths = list.split(',').filter_map(|n| n.parse().ok()).collect();
                }
                Some(("backend", name)) => options.backend = Some(name.to_owned()),
                Some(("types", list)) => options.types = list.split(',').map(str::to_owned).collect(),
                _ => options.matrices.push(argument),
            }
        }
        if options.types.is_empty() {
            options.types = ["f32", "f16", "bf16", "f64"].map(str::to_owned).to_vec();
        }
        if options.matrices.is_empty() {
            options.matrices = GENERATED.map(str::to_owned).to_vec();
        }
        options
    }
}

fn main() {
    let options = Options::of(std::env::args().skip(1));
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let backends = all();
    let has_scipy = has_scipy();
    println!("seconds, {threads} thread(s), best of {TURNS} turns");
    println!(
        "{:<16} {:>5} {:>4} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} backend, verdict",
        "matrix",
        "type",
        "N",
        "scipy",
        "today",
        "case",
        "ratio",
        "make",
        "kernel",
        "guard",
        "hash",
        "worth",
        "decode",
        "judge",
        "elements",
        "big"
    );
    let mut ratios = Vec::new();
    for matrix in &options.matrices {
        let origin = matrix.strip_prefix("file:").map_or_else(
            || if matrix.contains(".mtx") { format!("file:[{matrix}]") } else { matrix.clone() },
            str::to_owned,
        );
        for types in &options.types {
            for &n in &options.widths {
                let line = format!("{}/{origin}/values=near-one,1/n={n}", contract(types));
                let case: Case = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
                let loaded = case.origin.load().expect("the matrix");
                let backend = match &options.backend {
                    Some(name) => {
                        backends.iter().find(|b| b.name() == name).expect("a backend of this name").as_ref()
                    }
                    None => fastest(&case, &backends),
                };
                ratios
                    .push(pool.install(|| measure((matrix, types, n), &case, &loaded, (backend, has_scipy))));
            }
        }
    }
    let mean = ratios.iter().map(|r: &f64| r.ln()).sum::<f64>() / ratios.len() as f64;
    println!(
        "geometric mean of the ratios {:.2}, largest {:.2}",
        mean.exp(),
        ratios.iter().fold(0.0, |m: f64, &r| m.max(r))
    );
}

fn contract(types: &str) -> String {
    match types {
        whole if whole.contains('.') => whole.to_owned(),
        "f64" => "spmm.csr.f64_f64_f64_f64".to_owned(),
        narrow => format!("spmm.csr.{narrow}_{narrow}_f32_f32"),
    }
}

/// One of our engines that takes the contract: vectors before loops.
fn fastest<'a>(case: &Case, backends: &'a [Box<dyn Backend>]) -> &'a dyn Backend {
    let takes =
        |b: &dyn Backend| matches!(b.support(&case.contract, &case.params), Support::Supported { .. });
    let is_ours = |b: &dyn Backend| !b.name().contains("sprs") && !b.name().contains("nalgebra");
    let ours = backends.iter().map(AsRef::as_ref).filter(|b| takes(*b) && is_ours(*b));
    let vector = ours.clone().find(|b| b.name().starts_with("avx"));
    vector.or_else(|| ours.clone().next()).expect("our kernels take every contract")
}

fn measure(
    (matrix, types, n): (&str, &str, usize),
    case: &Case,
    loaded: &Loaded,
    (backend, has_scipy): (&dyn Backend, bool),
) -> f64 {
    let operands = build(case, loaded).expect("operands");
    let mut best = [Duration::MAX; 9];
    let (mut verdict, mut scipy, mut in_big_numbers) = (String::new(), None, 0);
    let one: [Box<dyn Backend>; 1] =
        [all().into_iter().find(|b| b.name() == backend.name()).expect("built in")];
    for _ in 0..TURNS {
        let (mut spent, mut response) = (Duration::ZERO, None);
        let call = time(|| response = Some(execute(case, &operands, backend, Before::Poison, &mut spent)));
        let response = response.expect("called");
        let guard = call.saturating_sub(spent);
        let hash = time(|| {
            let mut hash = OutputHash::default();
            hash.add(&response);
            std::hint::black_box((digest::inputs(case, &operands), hash.digest()));
        });
        let Response::Dense(result) = response else { panic!("{case}: no result") };
        let plain = Plain::new(&operands, &result);
        if has_scipy && scipy.is_none() {
            scipy = Some(plain.in_scipy());
        }
        let today = time(|| {
            std::hint::black_box(plain.product_is_close());
        });
        let whole = time(|| {
            verdict = run_case_repeated(case, loaded, &one, Repeats::NONE).records[0].verdict.to_string();
            let mut spent = Duration::ZERO;
            drop(execute(case, &operands, backend, Before::Poison, &mut spent));
        });
        let make = time(|| drop(build(case, loaded)));
        let worth = time(|| drop(degenerate(case, &operands, &Sheets::new(operands.inputs(case)))));
        let sheets = Sheets::new(operands.inputs(case));
        let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) else {
            return 0.0;
        };
        let mut product = None;
        let decode = time(|| product = Some(sheets.product(&arithmetic, &profile)));
        let product = product.expect("made");
        let exact = product.exact().expect("operands");
        let judge = time(|| {
            let judged = product.judge_dense(exact, result.output(), None);
            assert!(!judged.verdict.is_finding(), "{case}: {}", judged.verdict);
            in_big_numbers = judged.in_big_numbers;
        });
        for (best, took) in
            best.iter_mut().zip([today, whole, make, spent, guard, hash, worth, decode, judge])
        {
            *best = took.min(*best);
        }
    }
    let seconds = best.map(|d| d.as_secs_f64());
    let ratio = seconds[1] / seconds[0];
    let name = matrix.rsplit('/').next().unwrap_or(matrix);
    let scipy = scipy.map_or_else(|| "-".to_owned(), |s| format!("{s:.4}"));
    let elements = (operands.result.0 * n) as f64;
    print!("{name:<16.16} {types:>5} {n:>4} {scipy:>9} {:>9.4} {:>9.4} {ratio:>7.2}", seconds[0], seconds[1]);
    seconds[2..].iter().for_each(|s| print!(" {s:>9.4}"));
    println!(" {elements:>8.2e} {:>8.1e} {}, {verdict}", in_big_numbers as f64 / elements, backend.name());
    ratio
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}
