//! `main.c`: a minimal case as a C program that loads a plug-in, calls it, and judges every element exactly.
//!
//! The operands are literals in bits. An element is right where the order of its bits lies between two integers, so the
//! program needs no arithmetic and no oracle; the fixed part is `main_head.c` and `main_tail.c` beside this file.

use super::Shown;
use super::data::{Array, Data, DenseData, SparseData};
use super::want::Want;
use super::words;
use crate::case::Fault;
use sparse_oracle::format::{Layout, PARAMETERS};
use sparse_oracle::scalar::Precision;
use std::fmt::Write;

/// The header that the program includes, written beside it.
pub(super) const HEADER: &str = include_str!("../../include/sparse_conformance.h");

const HEAD: &str = include_str!("main_head.c");
const TAIL: &str = include_str!("main_tail.c");

/// The program's text.
pub(super) fn to_c(shown: &Shown<'_>) -> String {
    let Shown { here, data, .. } = shown;
    let mut text = format!(
        "/* {}\n * {}\n *\n * cc main.c -o main -ldl -lm && ./main ./plugin.so\n * Exit code 0: right. 1: wrong. 2: no plug-in, or its manifest does not name the contract. */\n",
        comment(&here.to_string()),
        comment(&words(shown.verdict)),
    );
    let out = here.contract.types.out;
    let _ = writeln!(text, "#define WIDTH {}", 8 * out.bytes());
    let _ = writeln!(text, "#define OUT {}", dtype(out.name()));
    text.push_str(HEAD);
    sparse(&mut text, "a", &data.a);
    let mut operands = vec!["&a"];
    operands.push(match &data.b_sparse {
        Some(b) => {
            sparse(&mut text, "b_sparse", b);
            "&b_sparse"
        }
        None => "NULL",
    });
    for (name, reference, operand) in [("b", "&b", &data.b), ("y", "&y", &data.y)] {
        operands.push(match operand {
            Some(operand) => {
                dense(&mut text, name, operand, None);
                reference
            }
            None => "NULL",
        });
    }
    task(&mut text, shown, &operands);
    match &data.c {
        Some(c) => {
            dense(&mut text, "c", c, here.params.fault);
        }
        None => text.push_str("#define SPARSE_RESULT\n"),
    }
    memories(&mut text, data);
    wants(&mut text, &data.wants);
    if data.c.is_none() {
        want_arrays(&mut text, &data.arrays);
    }
    let fault = here.params.fault.map_or_else(String::new, |f| f.name().to_owned());
    let _ = writeln!(text, "static const char *const must_refuse = \"{fault}\";");
    text.push_str(TAIL);
    text
}

/// The index arrays that a sparse result must have.
fn want_arrays(text: &mut String, arrays: &[Array]) {
    for array in arrays {
        let name = format!("want_{}", array.name);
        let _ = write!(text, "static {} {name}[] = {{", storage(array.kind));
        numbers(text, array.kind, &array.bits);
    }
    rows(text, "sc_array want_arrays", arrays.iter().map(|a| entry("want", a)));
    let _ = writeln!(text, "static const size_t want_array_count = {};", arrays.len());
}

/// Text that can't end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\\'], " ")
}

/// The C type that holds the bits, and the header's name for the type.
fn storage(kind: &str) -> &'static str {
    match kind {
        "f64" | "u64" => "uint64_t",
        "f16" | "bf16" | "u16" => "uint16_t",
        "e4m3" | "e5m2" | "u8" => "uint8_t",
        _ => "uint32_t",
    }
}

/// The table of all memory that the plug-in is given: what of it it may write, and where its elements end.
fn memories(text: &mut String, data: &Data) {
    let mut given: Vec<(String, String, usize)> = Vec::new();
    let operands = [("a", Some(&data.a)), ("b_sparse", data.b_sparse.as_ref())];
    for (operand, matrix) in operands.into_iter().filter_map(|(name, m)| Some((name, m?))) {
        let arrays = matrix.arrays.iter();
        given.extend(arrays.map(|a| {
            (format!("{operand}_{}", a.name), format!("array {} of {operand}", a.name), a.bits.len())
        }));
    }
    for (operand, matrix) in [("b", &data.b), ("y", &data.y), ("c", &data.c)] {
        given.extend(matrix.iter().map(|m| (format!("{operand}_data"), operand.to_owned(), m.bits.len())));
    }
    let line = |(array, words, count): &(String, String, usize)| {
        format!(
            "{{ \"{words}\", (char *){array}_memory, sizeof {array}_memory, sizeof {array}_memory[0], {count}, {}, NULL }}",
            u8::from(array == "c_data"),
        )
    };
    let _ = writeln!(text, "static struct memory memories[] = {{");
    for memory in &given {
        let _ = writeln!(text, "    {},", line(memory));
    }
    text.push_str("};\n");
}

fn dtype(kind: &str) -> String {
    format!("SC_{}", kind.to_uppercase())
}

/// An operand's array of bits between guards, under its name.
fn literal(text: &mut String, name: &str, kind: &str, bits: &[u64]) {
    let _ = write!(
        text,
        "#define {name} ({name}_memory + GUARD)\nstatic _Alignas(64) {} {name}_memory[GUARD + {} + GUARD] = {{ [GUARD] =",
        storage(kind),
        bits.len().max(1)
    );
    numbers(text, kind, bits);
}

/// The rest of an array; C has no empty ones.
fn numbers(text: &mut String, kind: &str, bits: &[u64]) {
    let is_float = Precision::from_name(kind).is_some();
    let number = |bits: &u64| {
        if is_float { format!("0x{bits:x}") } else { format!("{bits}") }
    };
    let suffix = if storage(kind) == "uint64_t" { "u" } else { "" };
    for (at, value) in bits.iter().enumerate() {
        text.push_str(if at % 12 == 0 { "\n    " } else { " " });
        let _ = write!(text, "{}{suffix},", number(value));
    }
    text.push_str(if bits.is_empty() { " 0 };\n" } else { "\n};\n" });
}

/// A table; C has no empty ones.
fn rows(text: &mut String, what: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    let _ = writeln!(text, "static const {what}[] = {{");
    for line in &lines {
        let _ = writeln!(text, "    {line},");
    }
    text.push_str(if lines.is_empty() { "    { 0 },\n};\n" } else { "};\n" });
}

fn entry(prefix: &str, array: &Array) -> String {
    let Array { name, kind, bits } = array;
    format!("{{ \"{name}\", {prefix}_{name}, {}, {}, 0 }}", bits.len(), dtype(kind))
}

fn sparse(text: &mut String, name: &str, matrix: &SparseData) {
    for array in &matrix.arrays {
        literal(text, &format!("{name}_{}", array.name), array.kind, &array.bits);
    }
    let arrays = format!("sc_array {name}_arrays");
    rows(text, &arrays, matrix.arrays.iter().map(|a| entry(name, a)));
    let extents = matrix.extents.iter().map(|e| format!("{{ \"{}\", {} }}", e.name, e.value));
    rows(text, &format!("sc_number {name}_extents"), extents);
    let _ = writeln!(
        text,
        "static const sc_sparse {name} = {{ sizeof(sc_sparse), {}, \"{}\", {}, {}, {name}_arrays, {name}_extents, {}, {} }};",
        dtype(matrix.kind),
        matrix.format,
        matrix.rows,
        matrix.cols,
        matrix.arrays.len(),
        matrix.extents.len()
    );
}

/// A dense operand; a fault may claim less memory or a smaller leading dimension than there is.
fn dense(text: &mut String, name: &str, matrix: &DenseData, fault: Option<Fault>) {
    literal(text, &format!("{name}_data"), matrix.kind.name(), &matrix.bits);
    let inner = if matrix.layout == Layout::RowMajor { matrix.cols } else { matrix.rows };
    let ld = match fault {
        Some(Fault::SmallLdc) => inner.saturating_sub(1),
        _ => matrix.ld,
    };
    let count = matrix.bits.len() - usize::from(fault == Some(Fault::ShortOutput) && !matrix.bits.is_empty());
    let layout = match matrix.layout {
        Layout::RowMajor => "SC_ROW_MAJOR",
        Layout::ColMajor => "SC_COL_MAJOR",
    };
    let _ = writeln!(
        text,
        "static const sc_dense {name} = {{ sizeof(sc_dense), {}, {}, {}, {ld}, {count}, {layout}, 0, {name}_data }};",
        dtype(matrix.kind.name()),
        matrix.rows,
        matrix.cols,
    );
}

fn task(text: &mut String, shown: &Shown<'_>, operands: &[&str]) {
    let (contract, p) = (&shown.here.contract, &shown.here.params);
    let constant = |name: &str| format!("SC_{}", name.to_uppercase().replace('-', "_"));
    let (op, mode) = (constant(contract.op.name()), constant(p.mode.name()));
    let (alpha, beta) = match p.fault {
        Some(Fault::AlphaNan) => ("NAN".to_owned(), format!("{:?}", p.beta)),
        Some(Fault::BetaInfinite) => (format!("{:?}", p.alpha), "INFINITY".to_owned()),
        _ => (format!("{:?}", p.alpha), format!("{:?}", p.beta)),
    };
    let params: Vec<String> = PARAMETERS
        .iter()
        .filter(|parameter| contract.says(parameter))
        .filter_map(|parameter| Some((parameter.name, (parameter.get)(&p.blocks)?)))
        .map(|(name, value)| format!("{{ \"{name}\", {value} }}"))
        .collect();
    rows(text, "sc_number params", params.iter().cloned());
    let to = contract.to.map_or_else(|| "NULL".to_owned(), |to| format!("\"{}\"", to.name()));
    let _ = writeln!(
        text,
        "static const sc_task task = {{ sizeof(sc_task), {op}, \"{contract}\", {}, {alpha}, {beta}, {}, {}, {mode}, {}, {to}, params }};",
        operands.join(", "),
        u8::from(p.transpose_a),
        u8::from(p.transpose_b),
        params.len(),
    );
}

fn wants(text: &mut String, wants: &[Want]) {
    // -2^63 has no literal in C.
    let order = |order: i64| match order {
        i64::MIN => "INT64_MIN".to_owned(),
        order => format!("{order}"),
    };
    let line = |w: &Want| {
        let [nan, inf, minus] = w.others.map(u8::from);
        // An infinite bound says nothing.
        let bound = w.bound.filter(|b| b.is_finite()).map_or_else(|| "-1".to_owned(), |b| format!("{b:e}"));
        format!(
            "{{ {}, {}, {}, {}, {}, {nan}, {inf}, {minus}, 0x{:x}u, \"{}\", {bound} }}",
            w.row,
            w.col,
            w.offset,
            order(w.finite.0),
            order(w.finite.1),
            w.bits,
            w.exact,
        )
    };
    rows(text, "struct want wants", wants.iter().map(line));
    let _ = writeln!(text, "static const size_t want_count = {};", wants.len());
}
