//! From a fuzzer's bytes to text that is nearly a Matrix Market file, or nearly a case line.

use super::input::Input;
use sparse_conformance_core::case::Fault;
use sparse_oracle::contract::{Op, all_contracts};
use sparse_oracle::format::PARAMETERS;
use sparse_oracle::source::generator::quick_spec;
use sparse_oracle::source::values::VALUE_FAMILIES;
use sparse_oracle::source::{FAMILIES, embedded};
use std::fmt::Write;

/// Words of a Matrix Market file, and some that are none.
pub(super) const NUMBERS: [&str; 16] = [
    "1",
    "-1.5",
    "0",
    "-0",
    "2e300",
    "1e-320",
    "nan",
    "-inf",
    "Infinity",
    "9007199254740993",
    "-9223372036854775808",
    "18446744073709551615",
    "1e400",
    "0x10",
    "+3.",
    ".5",
];

/// How many edits follow a draft.
const EDITS: [usize; 8] = [0, 0, 1, 0, 0, 1, 2, 3];

/// A Matrix Market file.
pub(super) fn mtx_text(input: &mut Input<'_>) -> String {
    let storage = input.pick(&["coordinate", "array", "coordinate", "Coordinate"]);
    let field = input.pick(&["real", "integer", "pattern", "double", "unsigned-integer", "complex"]);
    let symmetry = input.pick(&["general", "symmetric", "general", "skew-symmetric", "hermitian"]);
    let square = symmetry != "general";
    let rows = input.below(20);
    let cols = if square { rows } else { input.below(20) };
    let mut lines = vec![format!("%%MatrixMarket matrix {storage} {field} {symmetry}")];
    if input.one_in(4) {
        lines.push(input.pick(&["% a comment", "", "   ", "%%"]).to_owned());
    }
    if storage == "array" {
        lines.push(format!("{rows} {cols}"));
        let skipped = usize::from(symmetry == "skew-symmetric");
        let count =
            if square { (0..rows).map(|col| rows.saturating_sub(col + skipped)).sum() } else { rows * cols };
        lines.extend((0..count).map(|_| number(input, field)));
    } else {
        let count = if rows * cols == 0 { 0 } else { input.below(24) };
        lines.push(format!("{rows} {cols} {count}"));
        for _ in 0..count {
            let (row, mut col) = (1 + input.below(rows), 1 + input.below(cols));
            if symmetry == "skew-symmetric" && row == col {
                col = 1 + row % cols;
            }
            let value = if field == "pattern" { String::new() } else { format!(" {}", number(input, field)) };
            lines.push(format!("{row} {col}{value}"));
        }
    }
    for _ in 0..input.pick(&EDITS) {
        edit_line(input, &mut lines);
    }
    lines.join("\n") + "\n"
}

/// A number that its field mostly takes.
fn number(input: &mut Input<'_>, field: &str) -> String {
    match input.byte() {
        byte if byte >= 0xe0 => input.pick(&NUMBERS).to_owned(),
        byte if field == "real" || field == "double" => NUMBERS[usize::from(byte) % 10].to_owned(),
        byte => (byte % 100).to_string(),
    }
}

fn edit_line(input: &mut Input<'_>, lines: &mut Vec<String>) {
    let at = input.below(lines.len());
    match input.below(6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines[at].push_str(input.pick(&[" 1", "\t", " x", "\r", " % no comment"])),
        3 => lines[at].insert_str(0, input.pick(&["%", " ", "1 ", "-", "0"])),
        4 => lines.swap(at, 0),
        _ => lines[at] = input.pick(&NUMBERS).to_owned(),
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
}

/// A case line.
pub(super) fn case_text(input: &mut Input<'_>) -> String {
    let contract = input.pick_wide(all_contracts());
    let source = match input.below(4) {
        0 => "file:[a/b].mtx/[c].mtx]".to_owned(),
        1 => format!("embedded:{}", input.pick(embedded::all()).name),
        _ => quick_spec(input.pick(&FAMILIES).family, input.word(2)).to_string(),
    };
    let values = input.pick(&VALUE_FAMILIES).name;
    let values = if input.one_in(4) { "own" } else { values };
    let mut parts = vec![contract.to_string(), source, format!("values={values},{}", input.word(1))];
    for _ in 0..input.below(6) {
        parts.push(parameter(input, contract.op));
    }
    let mut line = parts.join("/");
    for _ in 0..input.pick(&EDITS) {
        edit(input, &mut line);
    }
    line
}

fn parameter(input: &mut Input<'_>, op: Op) -> String {
    let number = input.word(1);
    let plain = [
        "ta",
        "tb",
        "lb=col",
        "lc=col",
        "dups",
        "unpruned",
        "mode=scale",
        "mode=add-s",
        "alpha=0.5",
        "beta=-2",
        "beta=0",
        "alpha=-0",
    ];
    match input.below(6) {
        0 => format!("n={number}"),
        1 => input.pick(&["ldb=+", "ldc=+"]).to_owned() + &number.to_string(),
        2 => format!("block={number}x{}", input.byte()),
        3 => {
            let faults = Fault::ALL.iter().filter(|f| f.0.concerns(op)).collect::<Vec<_>>();
            let fault = faults.get(number as usize % Fault::ALL.len()).map_or("alpha-nan", |f| f.1);
            format!("fault={fault}")
        }
        4 => {
            let parameter = &PARAMETERS[number as usize % PARAMETERS.len()];
            format!("{}={}", parameter.name, input.pick(parameter.samples))
        }
        _ => plain[number as usize % plain.len()].to_owned(),
    }
}

/// One character less, more or other.
fn edit(input: &mut Input<'_>, line: &mut String) {
    let at = input.word(2) as usize % (line.len() + 1);
    let at = (0..=at).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
    match input.below(3) {
        0 => line.truncate(at),
        1 => line.insert(at, char::from(input.byte())),
        _ => {
            let rest = line.split_off(at);
            line.extend(rest.chars().skip(1));
            // Writing to a string does not fail.
            let _ = write!(line, "{}", input.pick(&["", "/", "=", ","]));
        }
    }
}
