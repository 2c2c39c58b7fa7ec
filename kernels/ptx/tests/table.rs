//! The table of instructions is whole: every form of our own PTX is in it, none twice.

use flate2::read::GzDecoder;
use sparse_ptx::table::{find, forms, rows};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The texts of our kernels.
fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/ptx");
    let entries = folder.read_dir().expect("our PTX is beside this crate");
    let files = entries.map(|entry| entry.expect("a folder that can be read").path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .map(|path| {
            let mut text = String::new();
            let mut file = GzDecoder::new(File::open(&path).expect("a file that can be read"));
            file.read_to_string(&mut text).expect("compressed text");
            text
        })
        .collect()
}

/// The instruction of a line, without its guard; `None` for labels, directives and braces.
fn form(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches('{').trim();
    let line = if line.starts_with('@') { line.split_once(char::is_whitespace)?.1.trim() } else { line };
    let word = line.split([' ', '\t', ';']).next()?;
    (line.ends_with(';') && word.starts_with(|c: char| c.is_ascii_lowercase())).then_some(word)
}

#[test]
fn every_form_of_our_kernels_has_a_row() {
    let texts = texts();
    assert_eq!(texts.len(), 10, "ten files");
    let ours: BTreeSet<&str> = texts.iter().flat_map(|text| text.lines().filter_map(form)).collect();
    assert_eq!(ours.len(), 187, "{ours:?}");
    let missing: Vec<_> = ours.iter().filter(|form| find(form).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_form_has_one_row() {
    let mut seen = BTreeMap::new();
    for row in rows() {
        for form in row.forms() {
            assert!(!form.contains(['{', '}', ',']), "{form} of {} has a brace", row.forms);
            if let Some(before) = seen.insert(form.clone(), row.forms) {
                panic!("{form} is in {before} and in {}", row.forms);
            }
        }
    }
    assert_eq!(forms().len(), seen.len());
}

#[test]
fn what_is_no_form_is_not_found() {
    for text in ["", "add", "add.{s32,u32}", "add.s32 ", "ADD.s32", "add.s8", "mul.s32", "mma.sync"] {
        assert!(find(text).is_none(), "{text:?}");
    }
}
