//! Version 1 of the protocol is frozen: recorded messages are still read, answered and written as they were, and the document
//! shows what is really sent.
//!
//! `UPDATE_PROTOCOL=1` records messages that are missing under `protocol_v1` (never one that is there) and writes the dump in
//! PROTOCOL.md.

use sparse_conformance::backend::{Backend, Failure, Portable, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::manifest::{Manifest, Rule};
use sparse_conformance::remote::Request;
use sparse_conformance::remote::{
    Ask, Asked, Reply, Run, encode, manifest_of, message, parse_prefix, read_answer, read_message, respond,
};
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::{Contract, Extent, Op, Operand, Returned, all_contracts};
use sparse_oracle::format::{AnySparse, Csr, CsrParts, FormatKind, Layout, Sparse};
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Task};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// One case per operation and per format, small.
fn lines() -> Vec<String> {
    let mut lines: Vec<String> = [
        "spmm.csr.f32_f32_f32_f32/banded:rows=4,cols=5/values=small-int,1/n=3/alpha=2/beta=-1/ta/lb=col/lc=col/ldb=+1/ldc=+2",
        "spmm.bcsr.f64_f64_f64_f64/banded:rows=5,cols=4/values=near-one,1/n=2/tb/block=2x3",
        "spmm.blocked_ell.bf16_bf16_f32_bf16/banded:rows=5,cols=4/values=near-one,1/n=2/block=2x2",
        "spmm.ell.e5m2_e5m2_f32_f32/banded:rows=5,cols=4/values=small-int,1/n=2",
        "spmm.csr.f32_f32_f32_f32/banded:rows=4,cols=5/values=small-int,1/n=3/fault=alpha-nan",
        "spmm.csr.f32_f32_f32_f32/banded:rows=4,cols=5/values=small-int,1/n=3/fault=short-output",
        "spmv.coo.f16_f16_f32_f32/banded:rows=4,cols=5/values=small-int,1/dups",
        "spmv.csc.tf32_tf32_f32_f32/banded:rows=4,cols=5/values=near-one,1/beta=1",
        "sddmm.csr.f16_f16_f32_f16/banded:rows=4,cols=5/values=small-int,1/n=3/alpha=2/beta=-1/mode=add-s",
        "sddmm.coo.f64_f64_f64_f64/banded:rows=4,cols=5/values=small-int,1/n=3/mode=scale",
        "spgemm.csr.f64_f64_f64_f64/banded:rows=4,cols=5/values=small-int,1/n=3",
        "transpose.csc.e4m3/banded:rows=4,cols=5/values=small-int,1",
    ]
    .map(str::to_owned)
    .to_vec();
    for kind in FormatKind::ALL.into_iter().filter(|&kind| kind != FormatKind::Csr) {
        let name = kind.name();
        lines.push(format!("convert.csr.{name}.f16/banded:rows=9,cols=8/values=small-int,1"));
        if kind != FormatKind::Coo {
            lines.push(format!("convert.{name}.csr.f16/banded:rows=9,cols=8/values=small-int,1"));
        }
    }
    lines
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocol_v1")
}

fn updating() -> bool {
    std::env::var_os("UPDATE_PROTOCOL").is_some()
}

/// Portable kernels, and what the judge would send them.
struct Recorder;

static SENT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

impl Backend for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let bytes = encode(1, contract, &task).expect("a short header");
        SENT.lock().expect("no panic").push(bytes);
        Portable.run(contract, task)
    }
}

fn parts(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    read_message(&mut &*bytes, 1 << 30).expect("a message").expect("one")
}

fn answered(request: &[u8]) -> Vec<u8> {
    let (header, payload) = parts(request);
    let manifest = manifest_of(&Portable);
    respond(&Portable, &manifest, &header, &payload).expect("a request").expect("an answer")
}

/// Request and answer of a line: recorded ones, or what is sent and answered today.
fn conversation(number: usize, line: &str) -> (String, Vec<u8>, Vec<u8>) {
    let case: Case = line.parse().expect(line);
    let name = format!("{number:02}-{}", case.contract.to_string().replace('.', "-"));
    let file = |extension| folder().join(format!("{name}.{extension}"));
    if let (Ok(request), Ok(answer)) = (std::fs::read(file("request")), std::fs::read(file("answer"))) {
        return (name, request, answer);
    }
    let loaded = case.origin.load().expect(line);
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Recorder)];
    let ran = run_case(&case, &loaded, &backends);
    assert!(!ran.records[0].verdict.is_finding(), "{line}: {}", ran.records[0].verdict);
    let request = std::mem::take(&mut *SENT.lock().expect("no panic")).into_iter().next().expect(line);
    let answer = answered(&request);
    if updating() {
        std::fs::write(file("answer"), &answer).expect("a file");
        std::fs::write(file("request"), &request).expect("a file");
    }
    (name, request, answer)
}

/// What version 1 recorded stays. A format that came later has no recording, and is sent and read all the same.
#[test]
fn recorded_messages_are_read_answered_and_written_as_they_were() {
    let conversations = lines().into_iter().enumerate().map(|(number, line)| conversation(number, &line));
    let mut names = Vec::new();
    for (about, request, answer) in conversations {
        // The backend's side reads the request, and answers as it did.
        assert_eq!(answered(&request), answer, "{about}");
        // The judge's side writes the request as it did.
        let (header, payload) = parts(&request);
        let run: Run = serde_json::from_slice(&header).expect(&about);
        let id = run.id;
        let mut read = Request::decode(run, &payload).expect(&about);
        let contract = read.contract;
        let mut task = read.task().expect(&about);
        assert_eq!(encode(id, &contract, &task).expect(&about), request, "{about}");
        // The judge's side reads the answer.
        let result = read_answer(&parts(&answer), id, &contract, &mut task);
        let refused = serde_json::from_slice::<Reply>(&parts(&answer).0).expect(&about).message.is_some();
        match result {
            Ok(_) => assert!(!refused, "{about}"),
            Err(Failure::Refused(_)) => assert!(refused, "{about}"),
            Err(other) => panic!("{about}: {other:?}"),
        }
        names.push(about);
    }
    let recorded = std::fs::read_dir(folder()).expect("recordings").flatten().map(|entry| entry.path());
    let mut recorded: Vec<PathBuf> =
        recorded.filter(|path| path.extension().is_some_and(|e| e == "request")).collect();
    recorded.sort();
    assert!(recorded.len() >= 47, "{} recordings", recorded.len());
    for (path, name) in recorded.iter().zip(&names) {
        assert_eq!(
            path.file_stem().and_then(|stem| stem.to_str()),
            Some(name.as_str()),
            "a recording of no line"
        );
    }
}

/// Cut or changed bytes are an error or another message, never a panic.
#[test]
fn broken_messages_are_refused() {
    for entry in std::fs::read_dir(folder()).expect("recordings").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "request") {
            continue;
        }
        let request = std::fs::read(&path).expect("a recording");
        for cut in [1, 5, 19, 20, 40, request.len() - 1] {
            assert!(read_message(&mut &request[..cut], 1 << 30).is_err(), "{}: {cut}", path.display());
        }
        let (header, payload) = parts(&request);
        let run: Run = serde_json::from_slice(&header).expect("a header");
        // The array that ends last.
        let mut short = run.clone();
        let last = short.arrays.iter_mut().max_by_key(|a| a.offset + a.count).expect("arrays");
        last.count += 1 << 60;
        assert!(Request::decode(short, &payload).is_err(), "{}", path.display());
        for i in 0..run.arrays.len() {
            let mut missing = run.clone();
            missing.arrays.remove(i);
            assert!(Request::decode(missing, &payload).is_err(), "{}: {i}", path.display());
        }
    }
    assert!(parse_prefix(b"SPCONG").is_err());
    assert!(parse_prefix(b"SPCON").is_ok_and(|lengths| lengths.is_none()));
}

/// The generated part of the document between two marks.
fn documented(mark: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("PROTOCOL.md");
    let text = std::fs::read_to_string(&path).expect("the document");
    let (start, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let from = text.find(&start).expect("the mark") + start.len();
    let to = text.find(&end).expect("the end");
    if updating() {
        let updated = format!("{}{generated}{}", &text[..from], &text[to..]);
        std::fs::write(&path, updated).expect("the document");
    } else {
        assert_eq!(&text[from..to], generated, "UPDATE_PROTOCOL=1 writes it");
    }
}

#[test]
fn the_document_lists_every_operation() {
    let mut table =
        String::from("| op | computes | sparse | dense, read | dense, written |\n|---|---|---|---|---|\n");
    for op in Op::ALL {
        let signature = op.signature();
        let shape = |operand: &Operand| match operand.cols {
            Extent::One => format!("`{}` {}", operand.name, letter(operand.rows)),
            cols => format!("`{}` {} x {}", operand.name, letter(operand.rows), letter(cols)),
        };
        let list = |operands: &[Operand]| operands.iter().map(shape).collect::<Vec<_>>().join(", ");
        let written = signature.output.map_or_else(String::new, |name| {
            let shape = match signature.returned {
                Returned::Matrix => "m x n",
                Returned::Vector => "m",
                Returned::Sampled => "one element per stored position, in order",
                Returned::Product | Returned::Moved => unreachable!("{name} is written by no sparse result"),
            };
            format!("`{name}` {shape}")
        });
        let (sparse, dense) = (list(signature.sparse), list(signature.dense));
        writeln!(table, "| `{}` | {} | {sparse} | {dense} | {written} |", op.name(), signature.words)
            .expect("memory");
    }
    documented("operations", &table);
}

fn letter(extent: Extent) -> char {
    match extent {
        Extent::M => 'm',
        Extent::K => 'k',
        Extent::N => 'n',
        Extent::One => '1',
    }
}

/// The Python module has its own table of operations: the operands of each with their extents, the one that is written last.
#[test]
fn the_python_module_knows_the_same_operations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/sparse_conformance/protocol.py");
    let text = std::fs::read_to_string(path).expect("the module");
    for op in Op::ALL {
        let signature = op.signature();
        let read = signature.sparse.iter().chain(signature.dense).map(|operand| {
            let cols = Some(operand.cols).filter(|cols| *cols != Extent::One).map(letter);
            let extents: String = std::iter::once(letter(operand.rows)).chain(cols).collect();
            format!("{}:{extents}", operand.name)
        });
        let extents = match signature.returned {
            Returned::Matrix => "mn",
            Returned::Vector => "m",
            Returned::Sampled => "s",
            Returned::Product | Returned::Moved => "",
        };
        let written = signature.output.map(|name| format!("{name}:{extents}"));
        let row =
            format!("    \"{}\": \"{}\",", op.name(), read.chain(written).collect::<Vec<_>>().join(" "));
        assert!(text.contains(&row), "OPERATIONS of the Python module lacks the row {row}");
    }
}

fn dump(title: &str, bytes: &[u8]) -> String {
    let mut text = format!("{title}\n\n```text\n");
    for (row, chunk) in bytes.chunks(16).enumerate() {
        let hex: Vec<String> = chunk.iter().map(|b| format!("{b:02x}")).collect();
        let shown: String =
            chunk.iter().map(|&b| if (0x20..0x7f).contains(&b) { b as char } else { '.' }).collect();
        writeln!(text, "{:06x}  {:47}  {shown}", row * 16, hex.join(" ")).expect("memory");
    }
    text + "```\n\n"
}

#[test]
fn the_document_shows_a_whole_conversation() {
    let contract = Contract::from_name("spmm.csr.f32_f32_f32_f32").expect("in the table");
    let a = CsrParts {
        rows: 2,
        cols: 3,
        row_ptr: vec![0, 1, 3],
        col_idx: vec![1, 0, 2],
        values: vec![2.0f32, 3.0, 4.0],
    };
    let a = AnySparse::F32(Sparse::Csr(Csr::try_new(a).expect("valid")));
    let mut c = [0.0f32; 2];
    let matrix = |data| DenseRef { rows: 3, cols: 1, ld: 1, layout: Layout::RowMajor, data };
    let task = Task::Spmm {
        a: &a,
        transpose_a: false,
        b: matrix(AnySlice::F32(&[1.0, 2.0, 3.0])),
        transpose_b: false,
        alpha: 1.0,
        beta: 0.0,
        c: DenseMut { rows: 2, cols: 1, ld: 1, layout: Layout::RowMajor, data: AnySliceMut::F32(&mut c) },
    };
    let manifest = Manifest {
        name: "mine".to_owned(),
        version: "0.1".to_owned(),
        description: String::new(),
        supports: vec![Rule {
            contracts: vec!["spmm.csr.f32*".to_owned()],
            arithmetic: "fma".to_owned(),
            ..Rule::default()
        }],
        ..manifest_of(&Portable)
    };
    let say = |kind| message(&Asked { kind }, &[]).expect("short");
    let reply = |request: &[u8]| {
        let (header, payload) = parts(request);
        respond(&Portable, &manifest, &header, &payload).expect("a request").expect("an answer")
    };
    let (hello, run) = (say(Ask::Hello), encode(1, &contract, &task).expect("short"));
    let mut text = dump("The judge:", &hello);
    text += &dump("The backend:", &reply(&hello));
    text += &dump("The judge:", &run);
    text += &dump("The backend, C = [[4], [15]]:", &reply(&run));
    text += &dump("The judge:", &say(Ask::Bye));
    assert!(text.contains("00 00 80 40 00 00 70 41"), "4 and 15 are in the answer");
    documented("dump", &text);
}

/// Whatever the operation, what the judge sends is what the backend's side reads, and the answer is judged as that of the kernel itself.
#[test]
fn every_operation_crosses_the_wire() {
    for op in Op::ALL {
        let contract = all_contracts().iter().find(|c| c.op == op).expect("in the table");
        let line = format!("{contract}/uniform:rows=9,cols=9,density=0.3,seed=3/values=near-one,1");
        let case: Case = line.parse().expect(&line);
        let loaded = case.origin.load().expect(&line);
        let ran = run_case(&case, &loaded, &[Box::new(OverTheWire) as Box<dyn Backend>]);
        let verdict = &ran.records[0].verdict;
        assert!(verdict.kind().ran() && !verdict.is_finding(), "{line}: {verdict}");
    }
}

/// Portable kernels behind both sides of the protocol.
struct OverTheWire;

impl Backend for OverTheWire {
    fn name(&self) -> &'static str {
        "over-the-wire"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &'static str {
        ""
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn run(&self, contract: &Contract, mut task: Task<'_>) -> Result<Answer, Failure> {
        let request = encode(1, contract, &task).expect("a short header");
        read_answer(&parts(&answered(&request)), 1, contract, &mut task)
    }
}
