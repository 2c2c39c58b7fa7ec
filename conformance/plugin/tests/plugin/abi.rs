//! Version 1 of the header stays what it was: the same text, the same offsets, and plug-ins built then still load.

use crate::c::{FROZEN, INCLUDE, compile, compiler};
use sparse_oracle::format::{AnySparse, Csr, CsrParts, Sparse};
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{Answer, Task};
use sparse_plugin::{Plugin, abi};
use std::fmt::Write as _;
use std::process::Command;

/// The header without comments and helpers, and with every run of white space as one blank: what a compiler sees.
fn essence(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        let end = rest[start..].find("*/").expect("comments end");
        rest = &rest[start + end + 2..];
    }
    code.push_str(rest);
    without_helpers(&code).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without its inline functions: they are compiled into a plug-in, so that a repaired one breaks none that was built before.
fn without_helpers(code: &str) -> String {
    let mut parts = code.split("static inline ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut depth = 0_i32;
        let closes = |letter: char| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == '}' && depth == 0
        };
        let end = part.find(closes).expect("a function ends");
        text.push_str(&part[end + 1..]);
    }
    text
}

#[test]
fn the_header_is_the_released_one() {
    let read = |folder: &str| {
        let path = format!("{folder}/sparse_conformance.h");
        std::fs::read_to_string(&path).expect("the header is there")
    };
    let (now, then) = (essence(&read(INCLUDE)), essence(&read(FROZEN)));
    assert!(then.contains("#define SC_ABI_VERSION 1u") && then.ends_with("#endif"));
    assert!(then.matches("typedef struct").count() >= 4 && !then.contains("static inline"));
    let differ = now.split(' ').zip(then.split(' ')).find(|(a, b)| a != b);
    assert!(
        now == then,
        "version 1 of the header is frozen; first difference: {differ:?}. A new version needs a new number, and a frozen \
         copy of its own"
    );
}

#[test]
fn a_c_compiler_puts_every_field_where_rust_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = String::new();
    for (name, field, _) in abi::LAYOUT {
        let value =
            if field.is_empty() { format!("sizeof({name})") } else { format!("offsetof({name}, {field})") };
        writeln!(lines, "    printf(\"{name} {field} %d\\n\", (int){value});").expect("a string grows");
    }
    let source = format!(
        "#include <stdio.h>\n#include \"sparse_conformance.h\"\nint main(void) {{\n{lines}    return 0;\n}}\n"
    );
    let wanted: String =
        abi::LAYOUT.iter().map(|(name, field, at)| format!("{name} {field} {at}\n")).collect();
    for (variable, usual, standard) in [("CC", "cc", "-std=c11"), ("CXX", "c++", "-std=c++11")] {
        let Some(compiler) = compiler(variable, usual) else {
            continue;
        };
        for include in [INCLUDE, FROZEN] {
            let flags = [standard, &format!("-I{include}")];
            let program = compile(&compiler, &flags, &source, folder.path(), "offsets");
            let output = Command::new(program).output().expect("it runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{standard} {include}");
        }
    }
}

/// A fresh user built the example with the flag that the manual names for flushed subnormals: the header's own check let every factor
/// pass that is not finite, and 122 cases were lone acceptances.
#[test]
fn factors_that_are_not_finite_are_seen_with_fast_math_too() {
    let Some(compiler) = compiler("CC", "cc") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let include = format!("-I{INCLUDE}");
    let source = "#include \"sparse_conformance.h\"\n#include <stdio.h>\n#include <stdlib.h>\n\
        int main(int n, char **word) {\n\
        for (int i = 1; i < n; i++) printf(\"%d\", sc_finite(strtod(word[i], NULL)));\nreturn 0;\n}\n";
    for flags in [&["-O0"][..], &["-O3", "-ffast-math"]] {
        let flags: Vec<&str> = [&include, "-std=c11"].into_iter().chain(flags.iter().copied()).collect();
        let program = compile(&compiler, &flags, source, folder.path(), "finite");
        let numbers = ["nan", "-nan", "inf", "-inf", "0", "-1.5", "1.7976931348623157e308", "5e-324"];
        let output = Command::new(program).args(numbers).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "00001111", "{flags:?}");
    }
}

#[test]
fn the_header_is_silent_under_every_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "#include \"sparse_conformance.h\"\n#include \"sparse_conformance.h\"\n";
    let include = format!("-I{INCLUDE}");
    let strict = ["-Wconversion", "-Wshadow", "-c", include.as_str()];
    for (variable, usual, standards) in [
        ("CC", "cc", &["-std=c11", "-std=c17"][..]),
        ("CXX", "c++", &["-std=c++11", "-std=c++17", "-std=c++20"]),
    ] {
        let Some(compiler) = compiler(variable, usual) else {
            continue;
        };
        for standard in standards {
            let flags: Vec<&str> = strict.iter().copied().chain([*standard]).collect();
            compile(&compiler, &flags, source, folder.path(), "empty");
        }
    }
}

#[test]
fn a_plug_in_built_against_the_released_header_still_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(compiler) = compiler("CC", "cc") else {
        return;
    };
    let include = format!("-I{FROZEN}");
    let flags = ["-std=c11", "-shared", "-fPIC", &include];
    let library =
        compile(&compiler, &flags, include_str!("../../../tests/abi_v1/spmv.c"), folder.path(), "old.so");
    let plugin = Plugin::open(&library).expect("version 1 loads");
    assert_eq!(plugin.manifest(), "{\"built\": \"then\"}");
    let a = Csr::try_new(CsrParts {
        rows: 2,
        cols: 3,
        row_ptr: vec![0, 2, 3],
        col_idx: vec![0, 2, 1],
        values: vec![2.0f32, 3.0, 5.0],
    })
    .expect("legal");
    let a = AnySparse::F32(Sparse::Csr(a));
    let mut y = [0.0f32; 2];
    let task = Task::Spmv {
        a: &a,
        transpose_a: false,
        x: AnySlice::F32(&[1.0, 10.0, 100.0]),
        alpha: 1.0,
        beta: 0.0,
        y: AnySliceMut::F32(&mut y),
    };
    assert_eq!(plugin.run("spmv.csr.f32_f32_f32_f32", task), Ok(Answer::Written));
    assert_eq!(y, [302.0, 50.0]);
}
