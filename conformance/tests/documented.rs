//! What users read is what the parser takes: every key of a case line and every parameter of a format stands in the documents.
//!
//! `UPDATE_DOCS=1 cargo test -p sparse-conformance --test reports documented` writes the tables anew.

use sparse_conformance::case::Case;
use sparse_conformance::keys::{KEYS, key_of, key_of_parameter, keys_table, parameters_table};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{FormatParams, PARAMETERS};
use std::collections::BTreeSet;
use std::path::Path;

/// The table between `<!-- NAME -->` and `<!-- end -->` of a document is this one.
fn assert_stands_in(document: &str, name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(&path).expect(document);
    let (start, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
    let (before, rest) = text.split_once(&start).expect("the mark before the table");
    let (found, after) = rest.split_once(end).expect("the mark after the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{start}{table}{end}{after}"))
            .expect("the document is written");
        return;
    }
    assert_eq!(
        found, table,
        "{document}: run `UPDATE_DOCS=1 cargo test -p sparse-conformance --test reports documented`"
    );
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
fn every_parameter_of_a_conversion_is_documented() {
    for document in ["PLUGIN.md", "PROTOCOL.md"] {
        assert_stands_in(document, "parameters", &parameters_table());
    }
    for parameter in &PARAMETERS {
        let key =
            key_of_parameter(parameter).unwrap_or_else(|| panic!("{} has no row in KEYS", parameter.name));
        let row = format!("| `{}` |", parameter.name);
        assert!(parameters_table().contains(&row), "{}", parameter.name);
        match (parameter.get)(&FormatParams::DEFAULT) {
            Some(default) => assert!(
                key.default.split('x').all(|part| part == default.to_string()),
                "{}: the default is {default}, and KEYS says {:?}",
                parameter.name,
                key.default
            ),
            None => assert!(
                key.default.parse::<u32>().is_err(),
                "{}: derived where it is not given",
                parameter.name
            ),
        }
    }
}

/// A line that uses the key. A key without one here fails the test below.
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
        "boundary" => "convert.csr.loops.f16/{}/boundary=2",
        "br" => "convert.csr.loops.f16/{}/br=4",
        "tau" => "convert.csr.rs_tile.f16/{}/tau=1",
        "tau_inc" => "convert.csr.rs_tile.f16/{}/tau_inc=2",
        "as_printed" => "convert.csr.rs_tile.f16/{}/as_printed=1",
        "eta" => "convert.csr.libra_spmm.f16/{}/eta=16",
        "kb" => "convert.csr.libra_spmm.f16/{}/kb=16",
        "fill" => "convert.csr.libra_spmm.f16/{}/fill=1",
        "groups" => "convert.csr.rp_csc.f16/{}/groups=2",
        "nm_n" => "convert.csr.nm.f16/{}/nm_n=1",
        "nm_m" => "convert.csr.nm.f16/{}/nm_m=8",
        "nm_l" => "convert.csr.nm.f16/{}/nm_l=2",
        "v" => "convert.csr.sr_bcrs.f16/{}/v=4",
        "stride" => "convert.csr.sr_bcrs.f16/{}/stride=2",
        "short_k" => "convert.csr.two_four.f16/{}/short_k=1",
        "balanced" => "convert.csr.me_tcf.f16/{}/balanced=1",
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
    let names: BTreeSet<&str> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names.len(), KEYS.len(), "a key stands there once");
    for key in KEYS {
        let line = line_with(key.name).unwrap_or_else(|| panic!("no line here uses {}", key.name));
        let line = line.replace("{}", "rmat:scale=3,seed=1/values=ones,0");
        let case: Case = line.parse().unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(case.to_string(), line, "what is not the default stands in the line");
        assert!(!key.default.is_empty() && !key.doc.is_empty(), "{}", key.name);
        let alone = !line.rsplit('/').next().is_some_and(|part| part.contains('='));
        assert_eq!(alone, key.unit.is_empty(), "{}: a value, or none", key.name);
    }
    // What the table does not have is refused, and the refusal says what there is.
    let unknown = "spmm.csr.f32_f32_f32_f32/rmat:scale=3,seed=1/values=ones,0/bta=1";
    assert!(key_of("bta").is_none());
    let error = unknown.parse::<Case>().expect_err("no such key").to_string();
    assert!(names.iter().all(|name| error.contains(name)) && error.contains("docs/case-line.md"), "{error}");
}
