//! Every conversion from CSR to a format of the papers and back: how long, how much faster than the reference, how much
//! memory.
//!
//! ```sh
//! cargo bench -p sparse-kernels --bench conversions                                     # all, on generated matrices
//! cargo bench -p sparse-kernels --bench conversions -- loops rmat:scale=17,edges=16 A.mtx.gz
//! cargo bench -p sparse-kernels --bench conversions -- moves f64  # transposes and conversions between general formats
//! cargo bench -p sparse-kernels --bench conversions -- --cpu      # on a busy machine: processor time of all threads
//! ```
//!
//! Arguments name formats, element types (f32, or tf32 where a format has no f32, and f16 without any), matrices by their spec, and
//! Matrix Market files; without any matrix a few of more than 10^6
//! entries are generated. N:M-structured formats get what pruning leaves. Times are the best of [`ROUNDS`] turns, encoder and
//! decoder in rotation; `x` is the reference encoder's time over the optimised one's. Memory is how much the peak resident set
//! grows, the result included, over the bytes of CSR and encoding together; a child process with an allocator that
//! returns what is freed measures it (Linux and glibc; elsewhere the columns are empty).

#[path = "conversions/measure.rs"]
mod measure;
#[path = "conversions/moves.rs"]
mod moves;

use measure::{MEMORY, memory_of_child, peak_growth, seconds};
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnyParts, AnySparse, Csr, Entries, Fields, FormatKind, FormatParams};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Element;
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::task::{Answer, RawSparse, Task};
use sparse_oracle::verdict::Verdict;
use sparse_oracle::{Precision, Refusal, each_parts, with_scalar};
use std::error::Error;
use std::path::Path;

/// Turns that each time is the best of.
const ROUNDS: usize = 7;

/// For formats that take any matrix.
const PLAIN: [&str; 4] = [
    "uniform:rows=120000,cols=120000,density=0.0001,seed=1",
    "rmat:scale=17,edges=16,seed=2",
    "banded:rows=200000,cols=200000,lower=4,upper=4,seed=3",
    "block:rows=40000,cols=40000,block=8,density=0.0008,seed=4",
];

/// For structured formats, before it is pruned.
const STRUCTURED: &str = "dense:rows=2048,cols=1536,seed=5";

fn main() -> Result<(), Box<dyn Error>> {
    let (cases, kinds, types) = arguments()?;
    if std::env::args().any(|arg| arg == "moves") {
        println!("{} threads", rayon::current_num_threads());
        return each_move(&cases, &types);
    }
    if std::env::var_os(MEMORY).is_some() {
        return each_run(&cases, (&kinds, &types), |name, run| {
            for (direction, growth) in run.memory() {
                println!("{name}\t{direction}\t{growth}");
            }
        });
    }
    let memory = memory_of_child();
    println!("{} threads", rayon::current_num_threads());
    println!(
        "{:<62} {:>9} {:>9} {:>8} {:>6} {:>6} {:>9} {:>8} {:>6}",
        "matrix, entries, format, type",
        "ref. ms",
        "enc. ms",
        "Mnnz/s",
        "x",
        "mem",
        "dec. ms",
        "Mnnz/s",
        "mem"
    );
    each_run(&cases, (&kinds, &types), |name, run| {
        let share = |direction: &str| {
            let growth = memory.get(&(name.to_owned(), direction.to_owned()));
            growth.map_or(String::new(), |g| format!("{g:.2}"))
        };
        match run.time() {
            Ok(t) => println!(
                "{name:<62} {:>9.1} {:>9.2} {:>8.1} {:>6.1} {:>6} {:>9.2} {:>8.1} {:>6}",
                t.reference * 1e3,
                t.encoder * 1e3,
                run.millions() / t.encoder,
                t.reference / t.encoder,
                share("encode"),
                t.decoder * 1e3,
                run.millions() / t.decoder,
                share("decode"),
            ),
            Err(why) => println!("{name:<62} {why}"),
        }
    })
}

/// A matrix to measure.
struct Case {
    name: String,
    pattern: Csr<()>,
    /// Only for structured formats, or only for others; both if not given.
    structured: Option<bool>,
}

/// Transposes and conversions between general formats, on the matrices that are not structured.
fn each_move(cases: &[Case], types: &[Precision]) -> Result<(), Box<dyn Error>> {
    for case in cases.iter().filter(|case| case.structured != Some(true)) {
        for kernel in moves::moves(types) {
            let drawn = with_scalar!(kernel.contract.types.a, T =>
                drawn::<T>(&case.pattern, FormatKind::Csr, &FormatParams::default())?);
            let name = format!("{} {} {}", case.name, drawn.list.len(), kernel.contract);
            let timed = moves::operand(kernel, &drawn).and_then(|a| {
                moves::moved(kernel, &a)?;
                let turn = |_| seconds(|| (kernel.run)(moves::task(kernel, &a))).0;
                Ok((0..ROUNDS).map(turn).fold(f64::INFINITY, f64::min))
            });
            match timed {
                Ok(best) => println!(
                    "{name:<62} {:>9.2} ms {:>8.1} Mnnz/s",
                    best * 1e3,
                    drawn.list.len() as f64 * 1e-6 / best
                ),
                Err(why) => println!("{name:<62} {why}"),
            }
        }
    }
    Ok(())
}

/// Matrices, formats and element types.
type Chosen = (Vec<Case>, Vec<FormatKind>, Vec<Precision>);

/// What the command line names; all matrices and formats without any.
fn arguments() -> Result<Chosen, Box<dyn Error>> {
    let (mut cases, mut kinds, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for name in std::env::args().skip(1).filter(|arg| !arg.starts_with('-') && arg != "moves") {
        if let Some(kind) = FormatKind::from_name(&name) {
            kinds.push(kind);
        } else if let Some(precision) = Precision::ALL.into_iter().find(|p| p.name() == name) {
            types.push(precision);
        } else if Path::new(&name).exists() {
            let entries = read_path(Path::new(&name))?.coo.entries();
            let pattern = Csr::from_entries(&entries)?.map(|_| ());
            let stem = Path::new(&name).file_stem().unwrap_or_default();
            cases.push(Case { name: stem.to_string_lossy().into_owned(), pattern, structured: None });
        } else {
            cases.push(generated(&name, None)?);
        }
    }
    if kinds.is_empty() {
        kinds.extend(FormatKind::PAPERS);
    }
    if cases.is_empty() {
        for line in PLAIN {
            cases.push(generated(line, Some(false))?);
        }
        cases.push(generated(STRUCTURED, Some(true))?);
        cases.retain(|case| kinds.iter().any(|kind| Some(kind.is_structured()) == case.structured));
    }
    Ok((cases, kinds, types))
}

fn generated(line: &str, structured: Option<bool>) -> Result<Case, Box<dyn Error>> {
    Ok(Case {
        name: line.split(':').next().unwrap_or(line).to_owned(),
        pattern: line.parse::<SourceSpec>()?.generate()?,
        structured,
    })
}

/// Every combination of matrix, format and element type.
fn each_run(
    cases: &[Case],
    (kinds, types): (&[FormatKind], &[Precision]),
    mut each: impl FnMut(&str, &Run),
) -> Result<(), Box<dyn Error>> {
    for case in cases {
        for &kind in kinds {
            if case.structured.is_some_and(|structured| structured != kind.is_structured()) {
                continue;
            }
            let has = |p: &Precision| kind.precisions().contains(p);
            let single = [Precision::F32, Precision::Tf32].into_iter().find(has);
            let usual = single.into_iter().chain(Some(Precision::F16).filter(has));
            let chosen = types.iter().copied().filter(has);
            for precision in usual.filter(|_| types.is_empty()).chain(chosen) {
                let run = Run::new(&case.pattern, kind, precision)?;
                let nnz = run.csr.nnz();
                let name = format!("{} {nnz} {} {}", case.name, kind.name(), precision.name());
                each(&name, &run);
            }
        }
    }
    Ok(())
}

/// One matrix in CSR, to be converted to one format and back.
struct Run {
    kind: FormatKind,
    precision: Precision,
    params: FormatParams,
    entries: Entries<u64>,
    csr: AnySparse,
}

/// Seconds.
struct Times {
    reference: f64,
    encoder: f64,
    decoder: f64,
}

impl Run {
    fn new(pattern: &Csr<()>, kind: FormatKind, precision: Precision) -> Result<Run, Refusal> {
        let params = FormatParams::default();
        let entries = with_scalar!(precision, T => drawn::<T>(pattern, kind, &params)?);
        Ok(Run {
            csr: AnySparse::from_bits(precision, FormatKind::Csr, params, &entries)?,
            kind,
            precision,
            params,
            entries,
        })
    }

    /// Millions of entries.
    fn millions(&self) -> f64 {
        self.csr.nnz() as f64 * 1e-6
    }

    fn kernel(&self, from: FormatKind, to: FormatKind) -> Result<&'static Kernel, String> {
        let found = kernels_here().find(|k| {
            let c = k.contract;
            (c.op, c.format, c.to, c.types.a) == (Op::Convert, from, Some(to), self.precision)
        });
        found.ok_or_else(|| "no kernel".to_owned())
    }

    fn encode(&self) -> Result<AnyParts, String> {
        let kernel = self.kernel(FormatKind::Csr, self.kind)?;
        let (a, to, params) = (&self.csr, self.kind, self.params);
        match (kernel.run)(Task::Convert { a, to, params }) {
            Ok(Answer::Parts(parts)) => Ok(parts),
            Ok(_) => Err("the encoder returned no parts".to_owned()),
            Err(refusal) => Err(format!("the encoder refuses: {refusal}")),
        }
    }

    fn decode(&self, a: &AnySparse) -> Result<RawSparse, String> {
        let kernel = self.kernel(self.kind, FormatKind::Csr)?;
        let (to, params) = (FormatKind::Csr, self.params);
        match (kernel.run)(Task::Convert { a, to, params }) {
            Ok(Answer::Sparse(raw)) => Ok(raw),
            Ok(_) => Err("the decoder returned no CSR".to_owned()),
            Err(refusal) => Err(format!("the decoder refuses: {refusal}")),
        }
    }

    /// Times of all three, once they agree; else what is in the way.
    fn time(&self) -> Result<Times, String> {
        let reference = || with_scalar!(self.precision, T => reference::<T>(self));
        let (mut best, matrix) = reference();
        let matrix = match (matrix, self.encode()) {
            (Ok(matrix), _) => matrix,
            (Err(refusal), Err(_)) => return Err(format!("refused: {refusal}")),
            (Err(refusal), Ok(_)) => return Err(format!("WRONG encoder: takes what is refused: {refusal}")),
        };
        let verdict = judge_encoded(&matrix, self.encode()?);
        if verdict != Verdict::Exact {
            return Err(format!("WRONG encoder: {verdict:?}"));
        }
        let decoded = self.decode(&matrix)?.check();
        let decoded = decoded.map_err(|refusal| format!("WRONG decoder: {refusal}"))?;
        if decoded.entries_bits() != matrix.entries_bits() {
            return Err("WRONG decoder: another matrix".to_owned());
        }
        drop(decoded);
        best = best.min(reference().0);
        let mut times = Times { reference: best, encoder: f64::INFINITY, decoder: f64::INFINITY };
        for _ in 0..ROUNDS {
            times.encoder = times.encoder.min(seconds(|| self.encode()).0);
            times.decoder = times.decoder.min(seconds(|| self.decode(&matrix)).0);
        }
        Ok(times)
    }

    /// Growth of the peak over input and output, by direction; nothing where a conversion is refused or the system does
    /// not tell.
    fn memory(&self) -> Vec<(&'static str, f64)> {
        let bytes = |parts: &AnyParts| each_parts!(parts, p => p.index_bytes() + p.value_bytes());
        let csr = bytes(&AnyParts::from(self.csr.clone()));
        let mut shares = Vec::new();
        let (growth, parts) = peak_growth(|| self.encode());
        let Ok(parts) = parts else { return shares };
        let both = (csr + bytes(&parts)) as f64;
        shares.extend(growth.map(|growth| ("encode", growth / both)));
        let Ok(matrix) = parts.check() else { return shares };
        let (growth, decoded) = peak_growth(|| self.decode(&matrix));
        if decoded.is_ok() {
            shares.extend(growth.map(|growth| ("decode", growth / both)));
        }
        shares
    }
}

/// The entries that the format can hold, with values drawn for them.
fn drawn<T: Element>(
    pattern: &Csr<()>,
    kind: FormatKind,
    params: &FormatParams,
) -> Result<Entries<u64>, Refusal> {
    let mut values = ValueFamily::NearOne.fill(pattern.nnz(), 1, T::PRECISION).into_iter();
    let csr = pattern.map(|()| T::from_f64(values.next().unwrap_or_default()));
    Ok(prune(&csr.entries(), kind, params)?.bits())
}

/// The reference's encoder: seconds and result. The entries are typed before the clock starts.
fn reference<T: Element>(run: &Run) -> (f64, Result<AnySparse, Refusal>)
where
    AnySparse: From<sparse_oracle::format::Sparse<T>>,
{
    use sparse_oracle::format::Sparse;
    let entries = run.entries.map(|&bits| T::from_bits64(bits));
    let (time, matrix) = seconds(|| Sparse::from_entries(run.kind, run.params, &entries));
    (time, matrix.map(AnySparse::from))
}
