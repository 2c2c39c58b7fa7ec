//! What is wrong with a library, or with what it did, is told by name; the caller's memory is as before.

use crate::c::{plugin, shared};
use sparse_oracle::format::{AnySparse, Csr, CsrParts, FormatKind, FormatParams, Layout, Sparse};
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Task};
use sparse_plugin::{Plugin, PluginError, RunError};
use std::path::Path;

/// 2 x 3: (0, 0) = 2, (0, 2) = 3, (1, 1) = 5.
pub(crate) fn matrix() -> AnySparse {
    let a = Csr::try_new(CsrParts {
        rows: 2,
        cols: 3,
        row_ptr: vec![0, 2, 3],
        col_idx: vec![0, 2, 1],
        values: vec![2.0f32, 3.0, 5.0],
    });
    AnySparse::F32(Sparse::Csr(a.expect("legal")))
}

/// Memory of C before a call.
const BEFORE: [f32; 6] = [1.0, 2.0, -7.0, 3.0, 4.0, -7.0];

/// Runs an SpMM with C of 2 x 2 in lines of 3.
fn spmm(plugin: &Plugin) -> (Result<Answer, RunError>, [f32; 6]) {
    let a = matrix();
    let b = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut c = BEFORE;
    let task = Task::Spmm {
        a: &a,
        transpose_a: false,
        b: DenseRef { rows: 3, cols: 2, ld: 2, layout: Layout::RowMajor, data: AnySlice::F32(&b) },
        transpose_b: false,
        alpha: 1.0,
        beta: 0.0,
        c: DenseMut { rows: 2, cols: 2, ld: 3, layout: Layout::RowMajor, data: AnySliceMut::F32(&mut c) },
    };
    let result = plugin.run("spmm.csr.f32_f32_f32_f32", task);
    (result, c)
}

fn convert(plugin: &Plugin) -> Result<Answer, RunError> {
    let task = Task::Convert { a: &matrix(), to: FormatKind::RsTile, params: FormatParams::default() };
    plugin.run("convert.csr.rs_tile.f32", task)
}

fn open(path: &Path) -> Plugin {
    Plugin::open(path).expect("a plug-in")
}

#[test]
fn what_is_no_plug_in_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let refused = |path: &Path| Plugin::open(path).expect_err("no plug-in");
    assert!(matches!(refused(&at("absent.so")), PluginError::NoFile { .. }));
    std::fs::write(at("text.so"), "not a library").expect("writable");
    assert!(matches!(refused(&at("text.so")), PluginError::Load { .. }));
    for (source, compiler) in [("k.c", "cc "), ("k.cpp", "c++ "), ("k.cu", "nvcc "), ("k.rs", "rustc ")] {
        std::fs::write(at(source), "int x;").expect("written");
        let said = refused(&at(source)).to_string();
        assert!(
            said.contains(&format!("compile it first, `{compiler}")) && said.contains("-o kernel.so"),
            "{said}"
        );
    }
    assert!(!refused(&at("text.so")).to_string().contains("compile"));
    assert!(matches!(refused(folder.path()), PluginError::Load { .. }));
    let version =
        "#include <stdint.h>\nuint32_t sc_abi_version(void);\nuint32_t sc_abi_version(void) { return 1; }\n";
    let manifest = |text: &str| {
        format!("const char *sc_manifest(void);\nconst char *sc_manifest(void) {{ return {text}; }}\n")
    };
    let run = "int32_t sc_run(const void *t, void *r);\nint32_t sc_run(const void *t, void *r) { return t == r; }\n";
    let newer = version.replace("return 1", "return 2");
    let long = "static char text[1100000];\n\
                const char *sc_manifest(void);\n\
                const char *sc_manifest(void) {\nfor (int i = 0; i < 1099999; i++) text[i] = 'x';\nreturn text; }\n";
    for (name, source, wanted) in [
        ("empty", "int nothing;\n".to_owned(), "does not export sc_abi_version"),
        ("no_manifest", format!("{version}{run}"), "does not export sc_manifest"),
        ("no_run", format!("{version}{}", manifest("\"{}\"")), "does not export sc_run"),
        (
            "newer",
            format!("{newer}{}{run}", manifest("\"{}\"")),
            "version 2 of sparse_conformance.h, this host speaks version 1",
        ),
        ("null", format!("{version}{}{run}", manifest("0")), "returned NULL"),
        ("latin", format!("{version}{}{run}", manifest("\"ab\\xe9\"")), "not UTF-8 from byte 2"),
        ("long", format!("{version}{long}{run}"), "longer than 1048576 bytes"),
    ] {
        let Some(path) = shared(folder.path(), name, &source) else {
            return;
        };
        let error = refused(&path).to_string();
        assert!(error.contains(wanted) && error.contains(name), "{error}");
    }
}

#[test]
fn a_relative_name_is_a_file_here_and_not_a_library_of_the_system() {
    let error = Plugin::open(Path::new("libc.so.6")).expect_err("no such file here");
    assert!(matches!(error, PluginError::NoFile { .. }), "{error}");
}

#[test]
fn what_sc_run_does_to_memory_is_found_and_the_caller_keeps_what_it_had() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = [
        ("status", "return 7;", "sc_run returned 7"),
        ("past_end", "((float *)result->c->data)[6] = 0; return SC_OK;", "outside data of C: at byte 24"),
        ("before", "((float *)result->c->data)[-1] = 0; return SC_OK;", "outside data of C: at byte -4"),
        (
            "padding",
            "((float *)result->c->data)[5] = 0; return SC_OK;",
            "padding of C: element 5, column or row 2 of 2",
        ),
        (
            "value",
            "((float *)sc_find(task->a, \"values\")->data)[1] = 9; return SC_OK;",
            "input A, array values, element 1",
        ),
        (
            "index",
            "((uint32_t *)sc_find(task->a, \"row_ptr\")->data)[3] = 0; return SC_OK;",
            "outside row_ptr of A",
        ),
        ("dense", "((float *)task->b->data)[3] = 9; return SC_OK;", "input B, array data, element 3"),
        ("array", "sc_new(result, \"values\", SC_F32, 1); return SC_OK;", "the result is dense"),
        ("extent", "sc_set_extent(result, \"rows\", 1); return SC_OK;", "the result is dense"),
    ];
    for (name, body, needle) in wrong {
        // The cast drops const, which the header asked them not to.
        let body = format!("#pragma GCC diagnostic ignored \"-Wcast-qual\"\n{body}");
        let Some(path) = plugin(folder.path(), name, "", &body) else {
            return;
        };
        let (result, c) = spmm(&open(&path));
        let error = result.expect_err(name).to_string();
        assert!(error.contains(needle), "{name}: {error}");
        assert_eq!(c, BEFORE, "{name}");
    }
}

#[test]
fn refusals_come_in_the_plug_ins_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = "char text[9000];\ntext[8999] = 0;\nfor (int i = 0; i < 8999; i++) text[i] = 'x';\nreturn sc_refuse(result, text);";
    for (name, body, wanted) in [
        ("said", "return sc_refuse(result, \"no SpMM today\");", "no SpMM today".to_owned()),
        ("mute", "return SC_REFUSED;", "refused without a reason".to_owned()),
        ("null", "return sc_refuse(result, NULL);", "refused without a reason".to_owned()),
        ("latin", "return sc_refuse(result, \"caf\\xe9\");", "caf\u{fffd}".to_owned()),
        ("long", long, "x".repeat(4097)),
        ("last", "sc_refuse(result, \"first\"); return sc_refuse(result, \"second\");", "second".to_owned()),
    ] {
        let Some(path) = plugin(folder.path(), name, "", body) else {
            return;
        };
        let (result, c) = spmm(&open(&path));
        assert_eq!(result, Err(RunError::Refused(wanted)), "{name}");
        assert_eq!(c, BEFORE);
    }
}

#[test]
fn a_sparse_result_is_asked_for_by_name_type_and_a_size_that_exists() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = [
        (
            "name",
            "sc_new(result, \"bit_map\", SC_U64, 1);",
            "rs_tile has no array \"bit_map\"; it has window_row,",
        ),
        (
            "extent",
            "sc_set_extent(result, \"nnz\", 1);",
            "rs_tile has no extent \"nnz\"; it has rows, cols, residual_width",
        ),
        ("type", "sc_new(result, \"bitmap\", SC_U32, 1);", "bitmap of rs_tile is of type u64, not of u32"),
        ("no_type", "sc_new(result, \"bitmap\", 8, 1);", "not of type 8, which does not exist"),
        ("values", "sc_new(result, \"values\", SC_F64, 1);", "values of rs_tile is of type f32, not of f64"),
        (
            "twice",
            "sc_new(result, \"bitmap\", SC_U64, 1); sc_new(result, \"bitmap\", SC_U64, 1);",
            "bitmap was asked for twice",
        ),
        (
            "large",
            "sc_new(result, \"bitmap\", SC_U64, UINT64_MAX);",
            "bitmap with 18446744073709551615 elements",
        ),
        ("wrap", "sc_new(result, \"bitmap\", SC_U64, UINT64_MAX / 8 + 1);", "may have 1073741824 bytes"),
        (
            "sum",
            "sc_new(result, \"bitmap\", SC_U64, 1u << 26); sc_new(result, \"block_col\", SC_U32, 1u << 28);",
            "block_col with 268435456",
        ),
        ("null", "sc_new(result, NULL, SC_U64, 1);", "sc_new_array: the name is NULL"),
        ("latin", "sc_new(result, \"\\xe9\", SC_U64, 1);", "the name is not UTF-8"),
        (
            "long",
            "char name[100]; memset(name, 'x', sizeof name); name[99] = 0; sc_new(result, name, SC_U64, 1);",
            "longer than any name",
        ),
        (
            "guard",
            "uint64_t *p = (uint64_t *)sc_new(result, \"bitmap\", SC_U64, 3); if (p) p[3] = 0;",
            "outside bitmap of the result: at byte 24",
        ),
    ];
    for (name, body, needle) in wrong {
        let Some(path) = plugin(folder.path(), name, "", &format!("{body}\nreturn SC_OK;")) else {
            return;
        };
        let error = convert(&open(&path)).expect_err(name).to_string();
        assert!(error.contains(needle), "{name}: {error}");
    }
}

#[test]
fn a_call_back_out_of_place_gets_nothing_and_harms_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = "static sc_result kept;\nstatic int calls;";
    let body = "if (calls++ == 0) { kept = *result; return SC_OK; }\n\
                return sc_new(&kept, \"bitmap\", SC_U64, 1) ? SC_OK : sc_refuse(result, \"nothing\");";
    let Some(path) = plugin(folder.path(), "kept", before, body) else {
        return;
    };
    let kept = open(&path);
    assert!(convert(&kept).is_ok());
    // The table of an earlier call works like this one's: what counts is the call under way.
    assert!(convert(&kept).is_ok());
    let threads = "#include <pthread.h>\n\
                   static void *other(void *result) { return sc_new((sc_result *)result, \"bitmap\", SC_U64, 1); }";
    let body = "pthread_t thread;\nvoid *got = result;\n\
                if (pthread_create(&thread, NULL, other, result) || pthread_join(thread, &got)) return 9;\n\
                return got ? SC_OK : sc_refuse(result, \"nothing\");";
    let Some(path) = plugin(folder.path(), "threads", threads, body) else {
        return;
    };
    assert_eq!(convert(&open(&path)), Err(RunError::Refused("nothing".to_owned())));
}

#[test]
fn a_contract_that_does_not_exist_is_the_callers_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(path) = plugin(folder.path(), "any", "", "return SC_OK;") else {
        return;
    };
    let a = matrix();
    let result = open(&path).run("transpose.csr.f31", Task::Transpose { a: &a });
    assert_eq!(result, Err(RunError::Contract { name: "transpose.csr.f31".to_owned() }));
}
