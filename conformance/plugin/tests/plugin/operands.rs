//! What a plug-in sees of each kind of operand, and what becomes of the arrays that it returns.

use crate::boundary::matrix;
use crate::c::plugin;
use sparse_oracle::format::{
    AnyParts, AnySparse, Entries, Entry, FieldRef, Fields, FormatKind, FormatParams, Layout, PARAMETERS,
    Sparse,
};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Element, F16, Precision, Scalar};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, RawSparse, SddmmMode, Task};
use sparse_oracle::{each_format, each_sparse, with_scalar};
use sparse_plugin::{Plugin, RunError};
use std::fmt::Write as _;

/// Gives back every array and extent of A under its own name.
const ECHO: &str = r#"
const sc_sparse *a = task->a;
if (a->struct_size != sizeof *a || task->struct_size != sizeof *task || result->struct_size != sizeof *result) return 9;
for (uint32_t i = 0; i < a->array_count; i++) {
    const sc_array *x = &a->arrays[i];
    uint64_t size = x->dtype == SC_F64 || x->dtype == SC_U64 ? 8
        : x->dtype == SC_F32 || x->dtype == SC_TF32 || x->dtype == SC_U32 ? 4
        : x->dtype == SC_F16 || x->dtype == SC_BF16 || x->dtype == SC_U16 ? 2 : 1;
    void *to = sc_new(result, x->name, x->dtype, x->count);
    if (!to || (uintptr_t)to % 64 || (uintptr_t)x->data % 64) return 9;
    memcpy(to, x->data, x->count * size);
}
for (uint32_t i = 0; i < a->extent_count; i++)
    if (sc_set_extent(result, a->extents[i].name, a->extents[i].value)) return 9;
return SC_OK;
"#;

/// 20 x 37 with rows of every length up to 9, an explicit zero and a NaN among them.
fn entries<T: Scalar>(empty: bool) -> Entries<T> {
    let mut list = Vec::new();
    for row in 0..if empty { 0 } else { 20 } {
        for e in 0..row % 10 {
            let value = [1.5, -2.0, 0.0, f64::NAN, 4.0][(row + e) as usize % 5];
            let value = T::from_f64(value);
            list.push(Entry { row, col: (e * 4 + row) % 37, value });
        }
    }
    list.sort_by_key(|e| (e.row, e.col));
    Entries { rows: 20, cols: 37, list }
}

fn encoded<T: Element>(kind: FormatKind, empty: bool) -> AnySparse
where
    AnySparse: From<Sparse<T>>,
{
    let params = FormatParams::default();
    let mut entries = entries::<T>(empty);
    if kind.is_structured() {
        entries = prune(&entries, kind, &params).expect("defined for the default parameters");
    }
    AnySparse::from(Sparse::from_entries(kind, params, &entries).expect("encodes"))
}

#[test]
fn every_format_and_element_type_crosses_both_ways_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(path) = plugin(folder.path(), "echo", "", ECHO) else {
        return;
    };
    let echo = Plugin::open(&path).expect("a plug-in");
    let mut crossed = 0;
    for kind in FormatKind::ALL {
        for precision in kind.precisions() {
            for empty in [false, true] {
                let a = with_scalar!(*precision, T => encoded::<T>(kind, empty));
                // The arrays of A are returned as those of a conversion to its format: what CSR looks like is no matter.
                let contract = if kind == FormatKind::Csr {
                    format!("transpose.csr.{precision}")
                } else if FormatKind::GENERAL.contains(&kind) && kind == FormatKind::Csc {
                    format!("convert.coo.csc.{precision}")
                } else {
                    format!("convert.csr.{}.{precision}", kind.name())
                };
                let task = Task::Convert { a: &a, to: kind, params: FormatParams::default() };
                let answer = echo.run(&contract, task).expect(&contract);
                let wanted = if FormatKind::GENERAL.contains(&kind) {
                    Answer::Sparse(RawSparse::of(a))
                } else {
                    Answer::Parts(AnyParts::from(a))
                };
                // NaN differs from itself, its text does not: the bits are in it for every type but f32 and f64, and
                // those are finite here or the one NaN.
                assert_eq!(format!("{answer:?}"), format!("{wanted:?}"), "{contract}");
                crossed += 1;
            }
        }
    }
    assert_eq!(crossed, 2 * (18 * 7 + 3));
}

/// Tells everything in a task as a refusal.
const TELL: &str = r#"
char text[4000];
int n = snprintf(text, sizeof text, "%d %s %g %g %d%d %d", task->op, task->contract, task->alpha, task->beta,
    task->transpose_a, task->transpose_b, task->mode);
const sc_dense *dense[] = {task->b, task->y, result->c};
const sc_sparse *sparse[] = {task->a, task->b_sparse};
for (int i = 0; i < 2; i++) {
    if (!sparse[i]) continue;
    n += snprintf(text + n, sizeof text - (size_t)n, " %s %dx%d of %d:", sparse[i]->format, (int)sparse[i]->rows,
        (int)sparse[i]->cols, sparse[i]->dtype);
    for (uint32_t k = 0; k < sparse[i]->array_count; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s[%d]%d", sparse[i]->arrays[k].name,
            (int)sparse[i]->arrays[k].count, sparse[i]->arrays[k].dtype);
    for (uint32_t k = 0; k < sparse[i]->extent_count; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s=%d", sparse[i]->extents[k].name,
            (int)sparse[i]->extents[k].value);
}
for (int i = 0; i < 3; i++)
    if (dense[i])
        n += snprintf(text + n, sizeof text - (size_t)n, " | %dx%d ld %d %d of %d: %d", (int)dense[i]->rows,
            (int)dense[i]->cols, (int)dense[i]->ld, dense[i]->layout, dense[i]->dtype, (int)dense[i]->count);
if (task->to) n += snprintf(text + n, sizeof text - (size_t)n, " to %s", task->to);
for (uint32_t k = 0; k < task->param_count; k++)
    n += snprintf(text + n, sizeof text - (size_t)n, " %s=%d", task->params[k].name, (int)task->params[k].value);
n += snprintf(text + n, sizeof text - (size_t)n, " result of %d, %s", result->dtype,
    sc_illegal(task, result) ? sc_illegal(task, result) : "legal");
return sc_refuse(result, text);
"#;

fn told(plugin: &Plugin, contract: &str, task: Task<'_>) -> String {
    match plugin.run(contract, task) {
        Err(RunError::Refused(text)) => text,
        other => panic!("{contract}: {other:?}"),
    }
}

const CSR: &str = "csr 2x3 of 2: row_ptr[3]18 col_idx[3]18 values[3]2 rows=2 cols=3";

/// `C = alpha * A^T * B^T - 2 * C`, by columns.
fn spmm<'a>(a: &'a AnySparse, alpha: f64, ld: usize, c: &'a mut [f32]) -> Task<'a> {
    Task::Spmm {
        a,
        transpose_a: true,
        b: DenseRef { rows: 2, cols: 2, ld: 5, layout: Layout::ColMajor, data: AnySlice::F32(&[0.0; 10]) },
        transpose_b: true,
        alpha,
        beta: -2.0,
        c: DenseMut { rows: 3, cols: 2, ld, layout: Layout::ColMajor, data: AnySliceMut::F32(c) },
    }
}

#[test]
fn every_part_of_a_task_arrives() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(path) = plugin(folder.path(), "tell", "#include <stdio.h>", TELL) else {
        return;
    };
    let tell = Plugin::open(&path).expect("a plug-in");
    let a = matrix();
    let (b, mut c) = ([0.0f32; 20], [0.0f32; 8]);
    let name = "spmm.csr.f32_f32_f32_f32";
    let wanted = |factor: &str, ld: usize, count: usize, verdict: &str| {
        format!(
            "1 {name} {factor} -2 11 0 {CSR} | 2x2 ld 5 1 of 2: 10 | 3x2 ld {ld} 1 of 2: {count} result of 2, {verdict}"
        )
    };
    assert_eq!(told(&tell, name, spmm(&a, 0.5, 4, &mut c)), wanted("0.5", 4, 8, "legal"));
    let small = "the result's memory is too small for its shape and leading dimension";
    assert_eq!(told(&tell, name, spmm(&a, 1.0, 2, &mut c)), wanted("1", 2, 8, small));
    assert_eq!(told(&tell, name, spmm(&a, 1.0, 4, &mut c[..7])), wanted("1", 4, 7, small));
    let nan = told(&tell, name, spmm(&a, f64::NAN, 4, &mut c));
    assert!(nan.ends_with("alpha is not finite"), "{nan}");
    let spmv = Task::Spmv {
        a: &a,
        transpose_a: false,
        x: AnySlice::F32(&b[..4]),
        alpha: 1.0,
        beta: 0.0,
        y: AnySliceMut::F32(&mut c[..2]),
    };
    assert_eq!(
        told(&tell, "spmv.csr.f32_f32_f32_f32", spmv),
        format!(
            "2 spmv.csr.f32_f32_f32_f32 1 0 00 0 {CSR} | 4x1 ld 4 1 of 2: 4 | 2x1 ld 2 1 of 2: 2 result of 2, op(A)'s columns \
             are not op(B)'s rows"
        )
    );
    let half = [F16(0); 8];
    let wide = |rows| DenseRef {
        rows,
        cols: 2,
        ld: 2,
        layout: Layout::RowMajor,
        data: AnySlice::F16(&half[..rows * 2]),
    };
    let sddmm = Task::Sddmm {
        s: &a,
        x: wide(2),
        y: wide(3),
        alpha: 1.0,
        beta: 3.0,
        mode: SddmmMode::AddS,
        out: AnySliceMut::F32(&mut c[..3]),
    };
    assert_eq!(
        told(&tell, "sddmm.csr.f16_f16_f32_f32", sddmm),
        format!(
            "3 sddmm.csr.f16_f16_f32_f32 1 3 00 2 {CSR} | 2x2 ld 2 0 of 4: 4 | 3x2 ld 2 0 of 4: 6 | 3x1 ld 3 1 of 2: 3 result of \
             2, legal"
        )
    );
}

#[test]
fn sparse_operations_arrive_with_their_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(path) = plugin(folder.path(), "tell", "#include <stdio.h>", TELL) else {
        return;
    };
    let tell = Plugin::open(&path).expect("a plug-in");
    let a = matrix();
    let product = Task::Spgemm { a: &a, b: &a };
    assert_eq!(
        told(&tell, "spgemm.csr.f32_f32_f32_f32", product),
        format!(
            "4 spgemm.csr.f32_f32_f32_f32 1 0 00 0 {CSR} {CSR} result of 2, A's columns are not B's rows"
        )
    );
    assert_eq!(
        told(&tell, "transpose.csr.f32", Task::Transpose { a: &a }),
        format!("5 transpose.csr.f32 1 0 00 0 {CSR} result of 2, legal")
    );
    for kind in FormatKind::ALL.into_iter().filter(|k| *k != FormatKind::Csr && *k != FormatKind::TwoFour) {
        let mut params = FormatParams::default();
        let mut given = String::new();
        for parameter in PARAMETERS.iter().filter(|p| p.formats.contains(&kind)) {
            if parameter.name != "boundary" {
                assert!(parameter.assign(&mut params, parameter.samples[0]));
                write!(given, " {}={}", parameter.name, parameter.samples[0]).expect("grows");
            }
        }
        let contract = format!("convert.csr.{}.f32", kind.name());
        let task = Task::Convert { a: &a, to: kind, params };
        assert_eq!(
            told(&tell, &contract, task),
            format!("6 {contract} 1 0 00 0 {CSR} to {}{given} result of 2, legal", kind.name())
        );
    }
}

#[test]
fn rows_and_columns_of_a_sparse_result_need_not_be_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = "uint32_t *p = sc_new_u32(result, \"row_ptr\", task->a->cols + 1);\n\
                memset(p, 0, 4 * (task->a->cols + 1));\nreturn SC_OK;";
    let Some(path) = plugin(folder.path(), "empty", "", body) else {
        return;
    };
    let empty = Plugin::open(&path).expect("a plug-in");
    let answer = empty.run("transpose.csr.f32", Task::Transpose { a: &matrix() });
    let Ok(Answer::Sparse(raw)) = answer else { panic!("{answer:?}") };
    assert_eq!((raw.rows, raw.cols), (3, 2));
    let checked = raw.check().expect("an empty matrix");
    assert_eq!(checked.precision(), Precision::F32);
    each_sparse!(&checked, m => {
        for (name, field) in each_format!(Sparse, m, m => Fields::fields(&**m)) {
            if let FieldRef::Values(values) = field {
                assert!(values.is_empty(), "{name}");
            }
        }
    });
}
