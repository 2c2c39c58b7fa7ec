//! Plug-ins that do what no kernel may, each in one case of many: what is reported is what it was, and the next case is judged
//! as if nothing had happened. Without a C compiler every test says that it was skipped.

use crate::cli;

use sparse_conformance::backend::Backend;
use sparse_conformance::case::Case;
use sparse_conformance::remote::{Limits, Remote, StartError};
use sparse_conformance::report::VerdictRecord;
use sparse_conformance::runner::run_case;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// An honest SpMM, and before it, by the number of columns of C, one thing that no kernel may do.
const HOSTILE: &str = r#"
#define _GNU_SOURCE
#include "sparse_conformance.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }

const char *sc_manifest(void) {
    return "{\"protocol\": 1, \"name\": \"hostile\", \"supports\": [{\"contracts\": [\"spmm.csr.f32_*\"],"
           " \"only\": {\"transpose_a\": false, \"transpose_b\": false}, \"arithmetic\": \"muladd\"}]}";
}

static volatile int deep;
static volatile char *volatile kept;

static int sink(int n) {
    volatile char much[4096];
    much[n % 4096] = (char)n;
    return n < 0 ? 0 : much[n % 4096] + sink(n + 1);
}

static int32_t honest(const sc_task *task, sc_result *result) {
    const uint32_t *row_ptr = sc_u32(task->a, "row_ptr"), *col_idx = sc_u32(task->a, "col_idx");
    const float *values = sc_f32(task->a, "values"), *b = (const float *)task->b->data;
    const char *illegal = sc_illegal(task, result);
    if (illegal) return sc_refuse(result, illegal);
    for (uint64_t i = 0; i < result->c->rows; i++)
        for (uint64_t j = 0; j < result->c->cols; j++) {
            float sum = 0;
            for (uint32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++) sum += values[e] * b[sc_at(task->b, col_idx[e], j)];
            ((float *)result->c->data)[sc_at(result->c, i, j)] = sum;
        }
    return SC_OK;
}

int32_t sc_run(const sc_task *task, sc_result *result) {
    float *c = (float *)result->c->data;
    float *values = (float *)(uintptr_t)sc_f32(task->a, "values");
    switch (result->c->cols) {
    case 2: *(volatile int *)(uintptr_t)deep = 1; break;
    case 3: fprintf(stderr, "about to abort\n"); abort();
    case 4: exit(0);
    case 5: deep = sink(0); break;
    case 6: for (;;) deep = 0;
    case 7: c[result->c->cols] = 1; break;
    case 8: honest(task, result); c[result->c->count] = 1; return SC_OK;
    case 9: honest(task, result); values[0] += 1; return SC_OK;
    case 10: honest(task, result); ((float *)task->b->data)[0] += 1; return SC_OK;
    case 11: honest(task, result); return 42;
    case 12: raise(SIGKILL); break;
    case 13: for (int i = 0; i < 20000; i++) printf("output of no interest to anyone\n"); fflush(stdout); break;
    case 14:
        for (;;) {
            kept = (char *)malloc(1 << 24);
            for (int i = 0; kept && i < 1 << 24; i += 1024) kept[i] = 1;
        }
    case 15: return sc_refuse(result, "not today");
    case 16: return SC_OK;
    case 17: if (getchar() != EOF) return 9; break;
    case 18:
        for (int fd = 3; fd < 16; fd++)
            if (write(fd, "{}", 2)) deep = fd;
        break;
    case 19: for (int fd = 0; fd < 64; fd++) close(fd); break;
    case 20: ((sc_result *)result)->new_array(result, "values", SC_F32, 4); break;
    case 21: sc_new(result, "values", SC_F32, UINT64_MAX); return sc_refuse(result, "no memory");
    case 22: alarm(0); kill(getpid(), SIGSTOP); break;
    case 23: honest(task, result); c[result->c->count + 1000000000] = 1; return SC_OK;
    case 24: fprintf(stderr, "%s", "\033[31mred \xff\xfe\n"); _exit(3);
    case 25: honest(task, result); c[result->c->cols] += 0.5f; return SC_OK;
    case 26: honest(task, result); c[result->c->count] += 0.5f; return SC_OK;
    case 27: deep = (int)values[sc_count(task->a, "values") + 49]; break;
    case 28: deep = (int)((volatile float *)task->b->data)[task->b->count + 49]; break;
    case 29: deep = (int)((volatile float *)c)[result->c->count + 49]; break;
    case 30: honest(task, result); c[result->c->count + 1000000] = 1; return SC_OK;
    case 31: deep = (int)((volatile float *)task->b->data)[-1]; break;
    }
    return honest(task, result);
}
"#;

/// Seconds for a task that is answered at all.
const PATIENT: u64 = 60;

/// Columns of C, what the record's kind or defect must be, and words in it.
const EXPECTED: [(u32, &str, &str); 29] = [
    (2, "crashed", "signal 11"),
    (3, "crashed", "about to abort"),
    (4, "crashed", "exited with status 0"),
    (5, "crashed", "overflowed its stack"),
    (6, "timed_out", ""),
    (7, "canary", "padding of C"),
    (8, "canary", "outside data of C: at byte"),
    (9, "input-modified", "input A, array values, element 0"),
    (10, "input-modified", "input B, array data, element 0"),
    (11, "protocol", "sc_run returned 42"),
    (12, "crashed", "signal 9"),
    (13, "exact", ""),
    (14, "crashed", "MiB of memory, the limit is 600 MiB"),
    (15, "lone_refusal", "not today"),
    (16, "unwritten", ""),
    (17, "exact", ""),
    (18, "protocol", "these bytes do not"),
    // How the host ends without its pipes is the matter of its build.
    (19, "crashed", "without an answer"),
    (20, "protocol", "the result is dense"),
    (21, "protocol", "the result is dense"),
    (22, "timed_out", ""),
    (23, "crashed", "signal 11"),
    (24, "crashed", "red"),
    // What was added to a NaN would leave no trace: guards and padding are numbers.
    (25, "canary", "padding of C"),
    (26, "canary", "outside data of C: at byte"),
    // Story: 200 bytes past A, B and C were read, and nobody noticed.
    (27, "crashed", "bytes past the end of A, values"),
    (28, "crashed", "bytes past the end of B, data"),
    (29, "crashed", "bytes past the end of C, data"),
    (30, "crashed", "bytes past the end of C, data"),
];

fn compiler(variable: &str, usual: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let works = Command::new(&name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !works {
        eprintln!("SKIPPED: 1 test: no compiler {name:?} on this machine; set {variable}");
    }
    works.then_some(name)
}

/// A shared library of this source in `folder`; `None` without a compiler.
pub(crate) fn library(folder: &Path, name: &str, source: &str) -> Option<PathBuf> {
    let cpp = name.ends_with(".cpp");
    let compiler = if cpp { compiler("CXX", "c++") } else { compiler("CC", "cc") }?;
    let text = folder.join(name);
    std::fs::write(&text, source).expect("the folder is writable");
    let target = folder.join(format!("{name}.so"));
    let output = Command::new(compiler)
        .args([
            "-O1",
            "-ffp-contract=off",
            "-shared",
            "-fPIC",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-infinite-recursion",
        ])
        .arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include"))
        .arg(&text)
        .arg("-o")
        .arg(&target)
        .output()
        .expect("the compiler starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    Some(target)
}

fn open(library: &Path, seconds: u64) -> Result<Remote, StartError> {
    let command = [env!("CARGO_BIN_EXE_conformance"), "host", library.to_str().expect("UTF-8")];
    let time = Duration::from_secs(seconds);
    let limits = Limits { time, first: time, memory: 600 << 20, ..Limits::default() };
    Remote::open(command.map(str::to_owned).to_vec(), limits)
}

fn line(n: u32) -> String {
    format!(
        "spmm.csr.f32_f32_f32_f32/banded:rows=9,cols=9,lower=1,upper=1,density=1,seed=3/values=small-int,1/n={n}/ldc=+3"
    )
}

/// The verdict's kind, or the defect of a wrong one, and the whole record as text.
fn judged(backends: &[Box<dyn Backend>], line: &str) -> (String, String) {
    let case: Case = line.parse().expect(line);
    let loaded = case.origin.load().expect("the source loads");
    let ran = run_case(&case, &loaded, backends);
    let verdict = &ran.records[0].verdict;
    let kind = match verdict {
        VerdictRecord::Wrong(mismatch) => mismatch.what.name().to_owned(),
        VerdictRecord::Exact => "exact".to_owned(),
        VerdictRecord::Crashed { .. } => "crashed".to_owned(),
        VerdictRecord::TimedOut { .. } => "timed_out".to_owned(),
        VerdictRecord::LoneRefusal { .. } => "lone_refusal".to_owned(),
        other => format!("{other:?}"),
    };
    (kind, verdict.to_string())
}

#[test]
fn each_misdeed_has_its_verdict_and_the_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(library) = library(folder.path(), "hostile.c", HOSTILE) else {
        return;
    };
    let start = |seconds| -> Vec<Box<dyn Backend>> {
        let remote = open(&library, seconds).expect("it starts");
        vec![Box::new(remote)]
    };
    // Only those that never answer are waited for: on a busy machine the others need their time.
    let (patient, hasty) = (start(PATIENT), start(2));
    assert_eq!(judged(&patient, &line(1)).0, "exact");
    for (n, kind, words) in EXPECTED {
        let backends = if kind == "timed_out" { &hasty } else { &patient };
        let (found, text) = judged(backends, &line(n));
        assert!(
            found == kind && text.contains(words),
            "n={n}: wanted {kind} ({words}), found {found}: {text}"
        );
        assert!(!text.contains('\u{1b}'), "n={n}: control characters reach the report: {text:?}");
        let (after, text) = judged(&patient, &line(1));
        assert_eq!(after, "exact", "after n={n}: {text}");
    }
}

/// Arrays start at memory without access in one call of four.
#[test]
fn a_read_before_an_operand_is_found_in_one_call_of_four() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(library) = library(folder.path(), "hostile.c", HOSTILE) else {
        return;
    };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(open(&library, PATIENT).expect("it starts"))];
    let found: Vec<(String, String)> = (0..4).map(|_| judged(&backends, &line(31))).collect();
    let crashed: Vec<&String> = found.iter().filter(|f| f.0 == "crashed").map(|f| &f.1).collect();
    assert!(crashed.iter().any(|text| text.contains("4 bytes before the start of B, data")), "{found:?}");
}

#[test]
fn an_exception_that_leaves_sc_run_is_a_crash() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = r#"
#include "sparse_conformance.h"
#include <stdexcept>
uint32_t sc_abi_version() { return SC_ABI_VERSION; }
const char *sc_manifest() {
    return "{\"protocol\": 1, \"name\": \"thrower\", \"supports\": [{\"contracts\": [\"spmm.csr.f32_*\"]}]}";
}
int32_t sc_run(const sc_task *, sc_result *) { throw std::runtime_error("nobody catches this"); }
"#;
    let Some(library) = library(folder.path(), "thrower.cpp", source) else {
        return;
    };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(open(&library, PATIENT).expect("it starts"))];
    for _ in 0..2 {
        let (kind, text) = judged(&backends, &line(1));
        assert!(kind == "crashed" && text.contains("signal 6"), "{kind}: {text}");
    }
}

#[test]
fn what_can_not_be_opened_says_why_and_nothing_is_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = |name: &str, manifest: &str, constructor: &str| {
        let source = format!(
            "#include \"sparse_conformance.h\"\n#include <stdlib.h>\n\
             uint32_t sc_abi_version(void) {{ return SC_ABI_VERSION; }}\n\
             const char *sc_manifest(void) {{ {constructor} return {manifest}; }}\n\
             int32_t sc_run(const sc_task *task, sc_result *result) {{ return task && result ? SC_OK : SC_REFUSED; }}\n"
        );
        library(folder.path(), name, &source).map(|path| open(&path, PATIENT).expect_err(name).to_string())
    };
    for (name, manifest, constructor, wanted) in [
        ("json.c", "\"no JSON\"", "", "expected"),
        ("older.c", "\"{\\\"protocol\\\": 0}\"", "", "protocol is 0"),
        (
            "nothing.c",
            "\"{\\\"protocol\\\": 1, \\\"name\\\": \\\"x\\\", \\\"supports\\\": []}\"",
            "",
            "supports is empty",
        ),
        ("null.c", "NULL", "", "sc_manifest returned NULL"),
        ("dies.c", "NULL", "abort();", "signal 6"),
        ("leaves.c", "NULL", "exit(0);", "exit"),
    ] {
        let Some(error) = start(name, manifest, constructor) else {
            return;
        };
        assert!(error.contains(wanted), "{name}: {error}");
    }
    let absent = open(&folder.path().join("absent.so"), PATIENT).expect_err("there is none").to_string();
    assert!(absent.contains("absent.so"), "{absent}");
}

#[test]
fn the_command_judges_plug_ins_named_by_path_and_only_those() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = include_str!("../examples/c/spmm_csr.c");
    let Some(_) = library(folder.path(), "spmm_csr.c", source) else {
        return;
    };
    let good = cli::run_in(folder.path(), &["replay", &line(8), "--plugin", "spmm_csr.c.so"]);
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
    assert!(good.out.contains("c-spmm") && !good.out.contains("portable"), "{}", good.out);
    let both = cli::run_in(
        folder.path(),
        &["replay", &line(8), "--backend", "portable", "--plugin", "./spmm_csr.c.so"],
    );
    assert!(both.out.contains("c-spmm") && both.out.contains("portable"), "{}", both.out);
    let absent = cli::run_in(folder.path(), &["replay", &line(8), "--plugin", "absent.so"]);
    assert!(absent.code == 2 && absent.err.contains("--plugin absent.so"), "{}", absent.err);
    let text = cli::run_in(folder.path(), &["replay", &line(8), "--plugin", "spmm_csr.c"]);
    assert!(text.code == 2 && text.err.contains("can't be loaded as a shared library"), "{}", text.err);
}
