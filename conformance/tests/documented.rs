//! What users read is what the suite takes: every key of a case line, every format and every parameter of one stands in the documents.
//!
//! `UPDATE_DOCS=1 cargo test -p sparse-conformance --test reports documented` writes the tables anew.

use crate::documents;
use sparse_conformance::after::After;
use sparse_conformance::case::{Case, Fault};
use sparse_conformance::keys::{self, KEYS, keys_table, names, parameters, parameters_table};
use sparse_conformance::right::Right;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{FieldRef, Fields, FormatKind, FormatParams, Parameter, Parts};
use std::collections::BTreeSet;
use std::path::Path;

/// The table between `<!-- NAME -->` and `<!-- end -->` of a document is this one.
fn assert_stands_in(document: &str, name: &str, table: &str) {
    assert_stands_between((&format!("<!-- {name} -->\n"), "<!-- end -->"), document, table);
}

/// The text between two marks of a file is this one.
fn assert_stands_between(marks: (&str, &str), document: &str, table: &str) {
    documents::assert_stands_between(marks, document, table, "--test reports documented");
}

/// Under the short name that its signature gives it: `sparse x dense matrix (SpMM)`.
#[test]
fn the_readme_names_every_operation() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(path).expect("the README").to_lowercase();
    for op in Op::ALL {
        let words = op.signature().words;
        let short = words.split_once('(').map_or(words, |(_, short)| short.trim_end_matches(')'));
        assert!(readme.contains(&short.to_lowercase()), "README.md does not name {short}");
    }
}

#[test]
fn every_key_of_a_case_line_is_documented() {
    assert_stands_in("../docs/case-line.md", "keys", &keys_table());
}

#[test]
fn every_format_and_every_parameter_is_documented() {
    let mut table = String::from("| format | what it is | fields in order |\n|---|---|---|\n");
    for kind in FormatKind::ALL {
        let fields: Vec<String> =
            fields(kind).into_iter().map(|(name, of)| format!("`{name}` {of}")).collect();
        table += &format!("| `{}` | {} | {} |\n", kind.name(), about(kind), fields.join(", "));
    }
    assert_stands_in("../docs/formats.md", "formats", &table);
    assert_stands_in("../docs/formats.md", "parameters", &parameters_table());
}

/// What the machine for PTX executes, how sure that is, and what it finds.
#[test]
fn every_instruction_and_finding_of_ptx_is_documented() {
    use sparse_ptx::check::{Kind, Severity};
    use sparse_ptx::isa::Evidence;
    let mut table = String::from("| instructions | PTX | from | result |\n|---|---|---|---|\n");
    for row in sparse_ptx::table::rows() {
        let sure = match row.evidence {
            Evidence::Exact => "exact",
            Evidence::Model => "model",
            Evidence::Approximate => "approximate",
        };
        table += &format!("| `{}` | {}.{} | sm_{} | {sure} |\n", row.forms, row.ptx.0, row.ptx.1, row.sm);
    }
    assert_stands_in("../docs/ptx.md", "instructions", &table);
    let mut table = String::from("| finding | what it is |\n|---|---|\n");
    for kind in Kind::ALL {
        let note = if kind.severity() == Severity::Note { " A note: the entry counts as clean." } else { "" };
        table += &format!("| `{}` | {}{note} |\n", kind.name(), kind.about().trim());
    }
    assert_stands_in("../docs/ptx.md", "findings", &table);
}

/// What the first paragraph of the file that defines a format says.
fn about(kind: FormatKind) -> String {
    let path = format!("../oracle/types/src/format/{}.rs", kind.name());
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).expect(&path);
    let lines = text.lines().map_while(|line| line.strip_prefix("//! "));
    lines.collect::<Vec<_>>().join(" ")
}

/// The fields of a format's parts with what each holds.
fn fields(kind: FormatKind) -> Vec<(&'static str, &'static str)> {
    let of = |field: &FieldRef<'_, f32>| match field {
        FieldRef::Extent(_) => "n",
        FieldRef::Flag(_) => "?",
        FieldRef::U8(_) => "u8",
        FieldRef::U16(_) => "u16",
        FieldRef::U32(_) => "u32",
        FieldRef::U64(_) => "u64",
        FieldRef::Values(_) => "v",
    };
    let parts = Parts::<f32>::empty(kind);
    parts.fields().into_iter().map(|(name, field)| (name, of(&field))).collect()
}

/// The Python module, which users copy as one file, has the table of formats too.
#[test]
fn the_python_module_knows_the_same_formats() {
    let mut table = String::new();
    for kind in FormatKind::ALL {
        let list: Vec<String> = fields(kind).into_iter().map(|(name, of)| format!("{name}:{of}")).collect();
        table += &format!("    \"{}\": \"{}\",\n", kind.name(), list.join(" "));
    }
    assert_stands_between(("\n_FIELDS = {\n", "}\n"), "python/sparse_conformance/protocol.py", &table);
}

/// A line that uses the key of the table. A key without one here fails the test below.
fn line_with(name: &str) -> Option<&'static str> {
    Some(match name {
        "n" => "spmm.csr.f32_f32_f32_f32/{}/n=3",
        "alpha" => "spmm.csr.f32_f32_f32_f32/{}/alpha=2",
        "beta" => "spmm.csr.f32_f32_f32_f32/{}/beta=0.5",
        "ta" => "spmm.csr.f32_f32_f32_f32/{}/ta",
        "tb" => "spmm.csr.f32_f32_f32_f32/{}/tb",
        "lb" => "spmm.csr.f32_f32_f32_f32/{}/lb=col",
        "lc" => "spmm.csr.f32_f32_f32_f32/{}/lc=col",
        "dups" => "spmm.coo.f32_f32_f32_f32/{}/dups",
        "ldb" => "spmm.csr.f32_f32_f32_f32/{}/ldb=+2",
        "ldc" => "spmm.csr.f32_f32_f32_f32/{}/ldc=+2",
        "block" => "spmm.bcsr.f32_f32_f32_f32/{}/block=2x8",
        "unpruned" => "convert.csr.nm.f16/{}/unpruned",
        "mode" => "sddmm.csr.f32_f32_f32_f32/{}/mode=scale",
        "ly" => "sddmm.csr.f32_f32_f32_f32/{}/ly=col",
        "ldy" => "sddmm.csr.f32_f32_f32_f32/{}/ldy=+3",
        "enc" => "spmm.bcsr.f32_f32_f32_f32/{}/enc=loose",
        "b" => "spgemm.csr.f32_f32_f32_f32/{}/b=long",
        "align" => "spmm.csr.f32_f32_f32_f32/{}/align=3",
        "calls" => "spmm.csr.f32_f32_f32_f32/{}/after=contents/calls=1",
        "vb" => "spgemm.csr.f32_f32_f32_f32/{}/vb=5-7",
        "vc" => "spmv.csr.f32_f32_f32_f32/{}/beta=1/vc=none",
        "after" => "spmm.csr.f32_f32_f32_f32/{}/after=contents",
        "fault" => "spmm.csr.f32_f32_f32_f32/{}/fault=beta-inf",
        _ => return None,
    })
}

#[test]
fn every_documented_key_is_one_of_the_parser() {
    let unique: BTreeSet<&str> = names().collect();
    assert_eq!(unique.len(), names().count(), "a key stands there once");
    for key in KEYS {
        let line = line_with(key.name).unwrap_or_else(|| panic!("no line here uses {}", key.name));
        let line = line.replace("{}", "rmat:scale=3,seed=1/values=ones,0");
        assert_parses_to_itself(&line);
        assert!(!key.default.is_empty() && !key.doc.is_empty(), "{}", key.name);
        let alone = !line.rsplit('/').next().is_some_and(|part| part.contains('='));
        assert_eq!(alone, key.unit.is_empty(), "{}: a value, or none", key.name);
    }
    // What the table does not have is refused, and the refusal says what there is.
    let unknown = "spmm.csr.f32_f32_f32_f32/rmat:scale=3,seed=1/values=ones,0/bta=1";
    assert!(names().all(|name| name != "bta"));
    let error = unknown.parse::<Case>().expect_err("no such key").to_string();
    assert!(names().all(|name| error.contains(name)) && error.contains("docs/case-line.md"), "{error}");
}

/// An error for a value that a key does not take shows the key's row: what the type has, the row names.
#[test]
fn keys_with_a_choice_name_every_value() {
    let of = |name: &str| KEYS.iter().find(|key| key.name == name).expect("a key").unit;
    let named = |name: &str, value: &str| of(name).contains(&format!("`{value}`"));
    assert!(After::ALL.iter().all(|after| named("after", after.name())));
    assert!(Fault::ALL.iter().all(|(_, fault)| named("fault", fault)));
    assert!(Right::ALL.iter().all(|(_, right)| named("b", right)));
    assert_eq!(keys::expected("lb"), "expected `col`; without lb: row-major");
    assert_eq!(keys::expected("ta"), "ta stands alone, without a value");
    assert_eq!(keys::expected("br"), "expected a whole number below 2^32");
}

fn assert_parses_to_itself(line: &str) {
    let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
    assert_eq!(case.to_string(), line, "what is not the default stands in the line");
}

/// A value of a parameter that is not its default.
fn other_value(parameter: &Parameter) -> u32 {
    let default = (parameter.get)(&FormatParams::DEFAULT);
    let mut samples = parameter.samples.iter();
    *samples.find(|&&sample| Some(sample) != default).expect("a sample that is not the default")
}

#[test]
fn every_parameter_of_a_format_is_a_key_of_its_conversions() {
    for parameter in parameters() {
        for format in parameter.formats {
            let (to, name, value) = (format.name(), parameter.name, other_value(parameter));
            let source = "rmat:scale=3,seed=1/values=ones,0";
            assert_parses_to_itself(&format!("convert.csr.{to}.f16/{source}/{name}={value}"));
        }
    }
}
