//! The programs of a reproducer: C that compiles and judges a plug-in, Python that judges a backend over the protocol.

use crate::bugs::{Bug, honest};
use crate::reproducers::{BUDGET, LINE, last_row_copied, written, wrong_value};
use sparse_conformance::backend::Failure;
use sparse_conformance::case::Case;
use sparse_conformance::shrink::{Reason, ShrinkBudget};
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::AnySparse;
use sparse_oracle::prelude::*;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Verdict;
use sparse_plugin::is_in_header;
use std::path::Path;
use std::process::{Command, Output};

/// The program is there; otherwise the test says that it did nothing.
fn there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("SKIPPED: no {program} here; 1 test did nothing");
    }
    found
}

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Compiles strictly and must succeed.
fn cc(arguments: &[&str], folder: &Path) {
    let strict = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror"];
    let run = Command::new("cc").args(strict).args(arguments).current_dir(folder).output();
    let run = run.expect("cc runs");
    assert!(run.status.success(), "{arguments:?}: {}", said(&run));
}

/// A plug-in for f32: plain SpMM and SpGEMM of CSR, and CSR to COO; with a bug in each if asked for.
const PLUGIN: &str = r#"
#include <stdlib.h>
#include "sparse_conformance.h"
#ifndef CONTRACTS
#define CONTRACTS "*"
#endif
#ifdef BUG
enum { bug = 1 };
#else
enum { bug = 0 };
#endif

static int32_t to_coo(const sc_sparse *a, sc_result *r) {
    const uint32_t *ptr = sc_u32(a, "row_ptr"), *idx = sc_u32(a, "col_idx"), nnz = ptr[a->rows];
    uint32_t *rows = sc_new_u32(r, "row_idx", nnz), *cols = sc_new_u32(r, "col_idx", nnz);
    float *values = (float *)sc_new(r, "values", SC_F32, nnz);
    memcpy(values, sc_f32(a, "values"), nnz * sizeof *values);
    for (uint32_t i = 0; i < a->rows; i++)
        for (uint32_t e = ptr[i]; e < ptr[i + 1]; e++) rows[e] = i, cols[e] = bug ? 0 : idx[e];
    return SC_OK;
}

static int32_t product(const sc_sparse *a, const sc_sparse *b, sc_result *r) {
    const uint32_t *ap = sc_u32(a, "row_ptr"), *ai = sc_u32(a, "col_idx");
    const uint32_t *bp = sc_u32(b, "row_ptr"), *bi = sc_u32(b, "col_idx");
    const float *av = sc_f32(a, "values"), *bv = sc_f32(b, "values");
    float *sums = (float *)calloc(a->rows * b->cols + 1, sizeof *sums);
    char *there = (char *)calloc(a->rows * b->cols + 1, 1);
    uint32_t nnz = 0, *ptr = sc_new_u32(r, "row_ptr", a->rows + 1);
    for (uint64_t i = 0; i < a->rows; i++)
        for (uint32_t e = ap[i]; e < ap[i + 1]; e++)
            for (uint32_t f = bp[ai[e]]; f < bp[ai[e] + 1]; f++) {
                uint64_t at = i * b->cols + bi[f];
                nnz += !there[at];
                there[at] = 1;
                sums[at] += (bug ? 2 : 1) * av[e] * bv[f];
            }
    uint32_t *idx = sc_new_u32(r, "col_idx", nnz), n = 0;
    float *values = (float *)sc_new(r, "values", SC_F32, nnz);
    for (uint64_t i = 0; i < a->rows; i++) {
        ptr[i] = n;
        for (uint64_t j = 0; j < b->cols; j++)
            if (there[i * b->cols + j]) idx[n] = (uint32_t)j, values[n++] = sums[i * b->cols + j];
    }
    ptr[a->rows] = n;
    return SC_OK;
}

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }
const char *sc_manifest(void) {
    return "{\"supports\": [{\"contracts\": [\"" CONTRACTS "\"]}]}";
}
int32_t sc_run(const sc_task *t, sc_result *r) {
    const char *why = sc_illegal(t, r);
    if (why) return sc_refuse(r, why);
    if (t->a->dtype != SC_F32 || strcmp(t->a->format, "csr") != 0) return sc_refuse(r, "not mine");
    if (t->op == SC_CONVERT && strcmp(t->to, "coo") == 0) return to_coo(t->a, r);
    if (t->op == SC_SPGEMM) return product(t->a, t->b_sparse, r);
    if (t->op != SC_SPMM) return sc_refuse(r, "not mine");
    const uint32_t *row_ptr = sc_u32(t->a, "row_ptr"), *col_idx = sc_u32(t->a, "col_idx");
    const float *values = sc_f32(t->a, "values"), *b = (const float *)t->b->data;
    float *c = (float *)r->c->data;
    for (uint64_t i = 0; i < r->c->rows; i++)
        for (uint64_t j = 0; j < r->c->cols; j++) {
            float sum = 0;
            for (uint32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++) sum += values[e] * b[sc_at(t->b, col_idx[e], j)];
            uint64_t at = sc_at(r->c, i, j);
            c[at] = (float)t->alpha * sum + (t->beta != 0 ? (float)t->beta * c[at] : 0.0f);
        }
    for (uint64_t j = 0; bug && r->c->rows > 1 && j < r->c->cols; j++)
        c[sc_at(r->c, r->c->rows - 1, j)] = c[sc_at(r->c, r->c->rows - 2, j)];
#ifdef SLIP
    SLIP;
#endif
    return SC_OK;
}
"#;

/// Runs the C program of `line` with the plug-in right and wrong.
fn judged_in_c(line: &str, backend: &Bug, reason: &Reason) -> [Output; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    written(line, backend, reason, BUDGET, here);
    std::fs::write(here.join("plugin.c"), PLUGIN).expect("written");
    cc(&["main.c", "-o", "main", "-ldl", "-lm"], here);
    cc(&["-shared", "-fPIC", "plugin.c", "-o", "right.so"], here);
    cc(&["-shared", "-fPIC", "-DBUG", "plugin.c", "-o", "wrong.so"], here);
    let run = |argument: &[&str]| {
        let run = Command::new(here.join("main")).args(argument).current_dir(here).output();
        run.expect("it runs")
    };
    for bad in [&[][..], &["./none.so"][..]] {
        assert_eq!(run(bad).status.code(), Some(2));
    }
    [run(&["./right.so"]), run(&["./wrong.so"])]
}

#[test]
fn the_c_program_tells_a_right_plug_in_from_a_wrong_one() {
    if !there("cc") {
        return;
    }
    let [right, wrong] = judged_in_c(LINE, &Bug(last_row_copied), &wrong_value());
    assert_eq!(wrong.status.code(), Some(1), "{}", said(&wrong));
    assert!(said(&wrong).contains("element (1, 0): expected"), "{}", said(&wrong));
    assert!(said(&wrong).contains("1 of 2 elements wrong"), "{}", said(&wrong));
    assert_eq!(right.status.code(), Some(0), "{}", said(&right));
}

/// What a plug-in may not do, as C, and what the program says. It once said "right" to all of these: nothing guarded C, no
/// input was compared, and `exit(0)` left with status 0.
const SLIPS: [(&str, &str); 6] = [
    ("c[r->c->count] = 1", "outside c was written"),
    ("c[r->c->count] += 1", "outside c was written"),
    ("c[-1] = 1", "outside c was written: element -1"),
    ("((uint32_t *)col_idx)[0] += 1", "the input array col_idx of a was written: element 0"),
    ("((float *)t->b->data)[0] = 9", "the input b was written: element 0"),
    ("exit(0)", "ended the process"),
];

#[test]
fn the_c_program_sees_writes_where_none_may_be_and_a_plug_in_that_ends_it() {
    if !there("cc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    written(LINE, &Bug(last_row_copied), &wrong_value(), BUDGET, here);
    std::fs::write(here.join("plugin.c"), PLUGIN).expect("written");
    cc(&["main.c", "-o", "main", "-ldl", "-lm"], here);
    let judged = |define: &str| {
        cc(&["-shared", "-fPIC", define, "plugin.c", "-o", "plugin.so"], here);
        let run = Command::new("./main").arg("./plugin.so").current_dir(here).output();
        run.expect("it runs")
    };
    for (slip, words) in SLIPS {
        let run = judged(&format!("-DSLIP={slip}"));
        assert_eq!(run.status.code(), Some(1), "{slip}: {}", said(&run));
        assert!(said(&run).contains(words), "{slip}: {}", said(&run));
    }
    // A plug-in for another contract was called all the same, and read f32 as f64.
    for (contracts, code) in
        [("spmm.csr.f64_*", 2), ("spmv.*", 2), ("spmm.[a-c]sr.f?2_f32_*32", 0), ("[!s]pmm.*", 2)]
    {
        let run = judged(&format!("-DCONTRACTS=\"{contracts}\""));
        assert_eq!(run.status.code(), Some(code), "{contracts}: {}", said(&run));
        let asked = !said(&run).contains("does not name spmm.csr.f32_f32_f32_f32");
        assert_eq!(asked, code == 0, "{contracts}: {}", said(&run));
    }
}

/// A sparse result is guarded too.
#[test]
fn the_c_program_sees_a_write_past_an_array_of_a_sparse_result() {
    if !there("cc") {
        return;
    }
    let line = "convert.csr.coo.f32/uniform:rows=9,cols=8,density=0.3,seed=3/values=wide,9";
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    written(line, &Bug(refuses_two_columns), &not_today(), BUDGET, here);
    let past = PLUGIN.replace("cols[e] = bug", "cols[e + 1] = 0, cols[e] = bug");
    std::fs::write(here.join("plugin.c"), past).expect("written");
    cc(&["main.c", "-o", "main", "-ldl", "-lm"], here);
    cc(&["-shared", "-fPIC", "plugin.c", "-o", "plugin.so"], here);
    let run = Command::new("./main").arg("./plugin.so").current_dir(here).output();
    let run = run.expect("it runs");
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("outside col_idx was written"), "{}", said(&run));
}

/// Sparse results: index arrays by their bits, values of a product by what each may be.
#[test]
fn the_c_program_judges_sparse_results() {
    if !there("cc") {
        return;
    }
    for (line, words) in [
        (
            "convert.csr.coo.f32/uniform:rows=9,cols=8,density=0.3,seed=3/values=wide,9",
            "array col_idx: other than expected",
        ),
        (
            "spgemm.csr.f32_f32_f32_f32/uniform:rows=9,cols=8,density=0.3,seed=3/values=near-one,9/n=5",
            "elements wrong",
        ),
    ] {
        // Shrunk only as far as something is left that the plug-in's bug shows in.
        let [right, wrong] = judged_in_c(line, &Bug(refuses_two_columns), &not_today());
        assert_eq!(right.status.code(), Some(0), "{line}: {}", said(&right));
        assert_eq!(wrong.status.code(), Some(1), "{line}: {}", said(&wrong));
        assert!(said(&wrong).contains(words), "{line}: {}", said(&wrong));
    }
}

/// Refuses sparse results of matrices with an entry in the second column.
fn refuses_two_columns(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    match &task {
        Task::Spgemm { a, b } if second_column(a) && b.nnz() > 1 => Err("not today".into()),
        Task::Convert { a, .. } if second_column(a) => Err("not today".into()),
        _ => honest(contract, task),
    }
}

fn second_column(a: &AnySparse) -> bool {
    sparse_oracle::each_sparse!(a, m => m.entries().list.iter().any(|e| e.col == 1))
}

/// One failing case of every operation and kind of failure; all fail for any input.
fn everything(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    if task.output().is_some() {
        honest(contract, task).and(Err("not today".into()))
    } else {
        Err("not today".into())
    }
}

const OF_EACH: [&str; 9] = [
    "spmm.csr.f16_f16_f32_f16/uniform:rows=5,cols=6,density=0.5,seed=3/values=special,9/n=3/alpha=-2/beta=1/tb/lb=col/ldc=+1",
    "spmm.bcsr.bf16_bf16_f32_bf16/uniform:rows=5,cols=6,density=0.5,seed=3/values=wide,9/n=3/block=2x3",
    "spmm.coo.e4m3_e4m3_f32_f32/uniform:rows=5,cols=6,density=0.5,seed=3/values=ones,9/n=2/dups",
    "spmv.ell.f64_f64_f64_f64/uniform:rows=5,cols=6,density=0.5,seed=3/values=huge,9/ta/beta=-1",
    "sddmm.csr.tf32_tf32_f32_f32/uniform:rows=5,cols=6,density=0.5,seed=3/values=near-one,9/n=4/alpha=0.5/beta=-2/mode=add-s",
    "spgemm.csc.f32_f32_f32_f32/uniform:rows=5,cols=6,density=0.5,seed=3/values=subnormal,9/n=5",
    "transpose.coo.f16/uniform:rows=5,cols=6,density=0.5,seed=3/values=signed-zero,9/dups",
    "convert.csr.rs_tile.f32/uniform:rows=20,cols=16,density=0.3,seed=3/values=near-one,9/tau=2",
    "convert.csr.two_four.f16/uniform:rows=8,cols=16,density=0.5,seed=3/values=near-one,9/short_k=1",
];

/// A plain case of an operation.
fn plain(op: Op) -> String {
    let contract = all_contracts().iter().find(|c| c.op == op).expect("in the table");
    format!("{contract}/uniform:rows=6,cols=6,density=0.5,seed=3/values=near-one,9")
}

fn not_today() -> Reason {
    let refusal = "not today".to_owned();
    Reason::of(&Verdict::LoneRefusal { refusal }).expect("a finding")
}

/// The case as it is, not shrunk: the programs are about every operand there is.
const AS_IT_IS: ShrinkBudget = ShrinkBudget { candidates: 0, time: None };

#[test]
fn programs_are_sound_for_every_operation() {
    let of_each = OF_EACH.map(str::to_owned).into_iter().chain(Op::ALL.map(plain));
    for (number, line) in of_each.enumerate() {
        let (line, folder) = (line.as_str(), tempfile::tempdir().expect("a folder"));
        written(line, &Bug(everything), &not_today(), AS_IT_IS, folder.path());
        let op = line.parse::<Case>().expect(line).contract.op;
        assert_eq!(folder.path().join("main.c").exists(), is_in_header(op), "{line}");
        if is_in_header(op) && there("cc") {
            std::fs::write(folder.path().join("plugin.c"), PLUGIN).expect("written");
            cc(&["main.c", "-o", "main", "-ldl", "-lm"], folder.path());
            cc(&["-shared", "-fPIC", "plugin.c", "-o", "plugin.so"], folder.path());
            let run = Command::new("./main").arg("./plugin.so").current_dir(folder.path()).output();
            let run = run.expect("it runs");
            assert_eq!(run.status.code(), Some(1), "{number}: {}", said(&run));
            assert!(said(&run).contains("refused: not mine"), "{number}: {}", said(&run));
        }
        if there("python3") {
            let script = folder.path().join("main.py");
            let run = Command::new("python3").arg("-m").arg("py_compile").arg(&script).output();
            let run = run.expect("it runs");
            assert!(run.status.success(), "{number}: {}", said(&run));
        }
    }
}

fn takes_anything(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    Ok(honest(contract, task).unwrap_or(Answer::Written))
}

/// What must be refused and is not.
#[test]
fn a_case_that_must_be_refused_says_so() {
    for fault in ["alpha-nan", "beta-inf", "inner-shape", "short-output", "small-ldc"] {
        let line = format!(
            "spmm.csr.f32_f32_f32_f32/uniform:rows=5,cols=6,density=0.5,seed=3/values=ones,9/n=3/fault={fault}"
        );
        let expected = fault.to_owned();
        let reason = Reason::of(&Verdict::LoneAcceptance { expected }).expect("a finding");
        let folder = tempfile::tempdir().expect("a folder");
        let found = written(&line, &Bug(takes_anything), &reason, BUDGET, folder.path());
        let case = found.case.expect("a line");
        assert!(case.ends_with(&format!("/fault={fault}")), "{case}");
        if there("cc") {
            std::fs::write(folder.path().join("plugin.c"), PLUGIN).expect("written");
            cc(&["main.c", "-o", "main", "-ldl", "-lm"], folder.path());
            cc(&["-shared", "-fPIC", "plugin.c", "-o", "plugin.so"], folder.path());
            let run = Command::new("./main").arg("./plugin.so").current_dir(folder.path()).output();
            let run = run.expect("it runs");
            // The plug-in checks: it refuses as it must.
            assert_eq!(run.status.code(), Some(0), "{fault}: {}", said(&run));
        }
    }
}

/// A backend that speaks the protocol with nothing but the standard library and `NumPy`.
const BACKEND: &str = r#"
import json, struct, sys
import numpy as np
FRAME, STORED = struct.Struct("<6sHIQ"), {"f32": "<f4", "u32": "<u4"}
BUG = sys.argv[1:] == ["bug"]
TAKES = "spmm.csr.f64_*" if sys.argv[1:] == ["f64"] else "spmm.csr.f32_*"
while True:
    prefix = sys.stdin.buffer.read(FRAME.size)
    if len(prefix) < FRAME.size: break
    _, _, h, p = FRAME.unpack(prefix)
    header, payload = json.loads(sys.stdin.buffer.read(h)), sys.stdin.buffer.read(p)
    reply, data = {"type": "manifest", "manifest": {"name": "by hand", "supports": [{"contracts": [TAKES]}]}}, b""
    if header["type"] == "bye": break
    if header["type"] == "run":
        arrays = {a["name"]: np.frombuffer(payload, STORED[a["dtype"]], a["count"], a["offset"]) for a in header["arrays"]}
        def view(name):
            d = header["dense"][name]
            outer, inner = (d["rows"], d["cols"]) if d["layout"] == "row" else (d["cols"], d["rows"])
            v = arrays[name].reshape(outer, d["ld"])[:, :inner]
            return v if d["layout"] == "row" else v.T
        arrays["c"] = arrays["c"].copy()
        number = lambda t: np.float32(struct.unpack("<d", struct.pack("<Q", int(t, 16)))[0])
        alpha, beta, c, b = number(header["alpha"]), number(header["beta"]), view("c"), view("b")
        ptr, idx, val = (arrays["a." + n] for n in ("row_ptr", "col_idx", "values"))
        for i in range(c.shape[0]):
            sums = np.zeros(c.shape[1], np.float32)
            for e in range(ptr[i], ptr[i + 1]): sums += val[e] * b[idx[e]]
            c[i] = alpha * sums + (beta * c[i] if beta != 0 else 0)
        if BUG and c.shape[0] > 1: c[-1] = c[-2]
        data = arrays["c"].tobytes()
        reply = {"type": "answer", "id": header["id"], "outcome": "written", "inputs_modified": False,
                 "arrays": [{"name": "c", "dtype": "f32", "count": len(arrays["c"]), "offset": 0}]}
    text = json.dumps(reply).encode()
    sys.stdout.buffer.write(FRAME.pack(b"SPCONF", 1, len(text), len(data)) + text + data)
    sys.stdout.buffer.flush()
"#;

#[test]
fn the_python_program_tells_a_right_backend_from_a_wrong_one() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|o| o.status.success()) {
        eprintln!("SKIPPED: {python} has no NumPy; 1 test did nothing (set PYTHON)");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    written(LINE, &Bug(last_row_copied), &wrong_value(), BUDGET, here);
    std::fs::write(here.join("backend.py"), BACKEND).expect("written");
    let run = |arguments: &[&str]| {
        let run = Command::new(&python).arg("main.py").args(arguments).current_dir(here).output();
        run.expect("it runs")
    };
    let right = run(&["backend.py"]);
    assert_eq!(right.status.code(), Some(0), "{}", said(&right));
    let wrong = run(&[&python, "backend.py", "bug"]);
    assert_eq!(wrong.status.code(), Some(1), "{}", said(&wrong));
    assert!(said(&wrong).contains("element (1, 0): expected"), "{}", said(&wrong));
    assert!(said(&wrong).contains("1 of 2 elements wrong"), "{}", said(&wrong));
    let other = run(&[&python, "backend.py", "f64"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    // Found by a new user: 1, which is what a wrong result ends with, where nothing had been asked.
    let dead = run(&["false"]);
    assert_eq!(dead.status.code(), Some(2), "{}", said(&dead));
}
