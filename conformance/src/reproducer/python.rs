//! `main.py`: a minimal case as a Python program (`NumPy` only) that asks a backend over the protocol, and judges every element.
//!
//! It starts the backend as `--exec` does, so that it works for one in any language; a file that ends in `.py` is run with the
//! same Python. The operands are lists of bits; the fixed part is `main_tail.py` beside this file.

use super::Shown;
use super::data::{Array, DenseData, Extent, SparseData};
use super::want::Want;
use super::words;
use crate::case::Fault;
use serde_json::{Map, Value, json};
use sparse_oracle::contract::Returned;
use sparse_oracle::format::{Layout, PARAMETERS};
use std::fmt::Write;

const TAIL: &str = include_str!("main_tail.py");

/// The program's text.
pub(super) fn to_python(shown: &Shown<'_>) -> String {
    let (here, data) = (shown.here, shown.data);
    let mut message = Message::default();
    let signature = here.contract.op.signature();
    for (operand, matrix) in signature.sparse.iter().zip(std::iter::once(&data.a).chain(&data.b_sparse)) {
        message.sparse(operand.name, matrix);
    }
    for (operand, matrix) in signature.dense.iter().zip([&data.b, &data.y].into_iter().flatten()) {
        message.dense(operand.name, matrix, None);
    }
    if let (Some(name), Some(c)) = (signature.output, &data.c) {
        let is_matrix = signature.returned == Returned::Matrix;
        let c = if is_matrix { c.clone() } else { as_vector(c) };
        message.dense(name, &c, here.params.fault);
    }
    let mut text = head(&here.to_string(), &words(shown.verdict));
    text.push_str(
        "import contextlib\nimport fnmatch\nimport json\nimport math\nimport struct\nimport subprocess\nimport sys\n\nimport numpy as np\n\n",
    );
    let output = signature.output.filter(|_| data.c.is_some());
    let quoted = |name: Option<&str>| name.map_or_else(|| "None".to_owned(), |name| format!("\"{name}\""));
    let _ = writeln!(text, "OUT = \"{}\"", here.contract.types.out.name());
    let _ = writeln!(text, "OUTPUT = {}", quoted(output));
    let _ = writeln!(text, "MUST_REFUSE = {}", quoted(here.params.fault.map(Fault::name)));
    let header = header(shown, &message, output);
    let _ = writeln!(text, "HEADER = json.loads(r'''{header:#}''')");
    tables(&mut text, "ARRAYS", "each operand's array: element type, bits", &message.arrays);
    tables(&mut text, "WANT_ARRAYS", "arrays that a sparse result must have", &data.arrays);
    wants(&mut text, &data.wants);
    text.push_str(TAIL);
    text
}

/// The comment that the program begins with. Its encoding stands first: Python looks for one in the first two lines, and a message
/// may hold the word `coding:`, which made a program that did not start.
fn head(case: &str, verdict: &str) -> String {
    format!(
        "# -*- coding: utf-8 -*-\n# {case}\n# {verdict}\n#\n# python3 main.py backend.py, or python3 main.py COMMAND...\n\
         # Exit code 0: right. 1: wrong. 2: no command, or its manifest does not name the contract.\n"
    )
}

#[derive(Default)]
struct Message {
    sparse: Map<String, Value>,
    dense: Map<String, Value>,
    arrays: Vec<Array>,
}

impl Message {
    fn sparse(&mut self, name: &str, matrix: &SparseData) {
        let mut extents = Map::new();
        extents.insert("rows".to_owned(), json!(matrix.rows));
        extents.insert("cols".to_owned(), json!(matrix.cols));
        for &Extent { name, value, is_flag } in &matrix.extents {
            let value = if is_flag { json!(value != 0) } else { json!(value) };
            extents.insert(name.to_owned(), value);
        }
        let head = json!({ "format": matrix.format, "extents": extents });
        self.sparse.insert(name.to_owned(), head);
        self.arrays.extend(
            matrix
                .arrays
                .iter()
                .map(|array| Array { name: format!("{name}.{}", array.name), ..array.clone() }),
        );
    }

    /// A fault may claim a smaller leading dimension or give less memory.
    fn dense(&mut self, name: &str, matrix: &DenseData, fault: Option<Fault>) {
        let (inner, layout) = match matrix.layout {
            Layout::RowMajor => (matrix.cols, "row"),
            Layout::ColMajor => (matrix.rows, "col"),
        };
        let small = fault == Some(Fault::SmallLdc);
        let ld = if small { inner.saturating_sub(1) } else { matrix.ld };
        let head = json!({ "rows": matrix.rows, "cols": matrix.cols, "ld": ld, "layout": layout });
        self.dense.insert(name.to_owned(), head);
        let mut bits = matrix.bits.clone();
        if fault == Some(Fault::ShortOutput) {
            bits.pop();
        }
        self.arrays.push(Array { name: name.to_owned(), kind: matrix.kind.name(), bits });
    }
}

/// One column, row by row.
fn as_vector(c: &DenseData) -> DenseData {
    DenseData { ld: 1, layout: Layout::RowMajor, ..c.clone() }
}

fn header(shown: &Shown<'_>, message: &Message, output: Option<&str>) -> Value {
    let (contract, p) = (&shown.here.contract, &shown.here.params);
    let types = contract.types;
    let (alpha, beta) = match p.fault {
        Some(Fault::AlphaNan) => (f64::NAN, p.beta),
        Some(Fault::BetaInfinite) => (p.alpha, f64::INFINITY),
        _ => (p.alpha, p.beta),
    };
    let bits = |number: f64| format!("0x{:016x}", number.to_bits());
    let mut header = json!({
        "type": "run",
        "id": 1,
        "contract": contract.to_string(),
        "op": contract.op.name(),
        "types": { "a": types.a.name(), "b": types.b.name(), "acc": types.acc.name(), "out": types.out.name() },
        "transpose_a": p.transpose_a,
        "transpose_b": p.transpose_b,
        "sparse": message.sparse,
        "dense": message.dense,
    });
    let mut put = |name: &str, value: Value| header[name] = value;
    if let Some(output) = output {
        put("output", json!(output));
        put("alpha", json!(bits(alpha)));
        put("beta", json!(bits(beta)));
    }
    if contract.op.signature().has_mode {
        put("mode", json!(p.mode.name()));
    }
    if let Some(to) = contract.to {
        put("to", json!(to.name()));
    }
    if contract.op.signature().has_params {
        let given = PARAMETERS.iter().filter(|parameter| contract.reads(parameter));
        let given = given
            .filter_map(|parameter| Some((parameter.name.to_owned(), json!((parameter.get)(&p.blocks)?))));
        put("params", Value::Object(given.collect()));
    }
    header
}

fn tables(text: &mut String, name: &str, about: &str, arrays: &[Array]) {
    let _ = writeln!(text, "# {about}\n{name} = {{");
    for array in arrays {
        let bits: Vec<String> = array.bits.iter().map(|b| format!("0x{b:x}")).collect();
        let _ = writeln!(text, "    \"{}\": (\"{}\", [{}]),", array.name, array.kind, bits.join(", "));
    }
    text.push_str("}\n");
}

fn wants(text: &mut String, wants: &[Want]) {
    text.push_str("# what each element may be: bits in ascending order from lowest to highest\nWANTS = [\n");
    let yes = |b: bool| if b { "True" } else { "False" };
    for w in wants {
        let [nan, inf, minus] = w.others.map(yes);
        let bound = w.bound.map_or_else(|| "None".to_owned(), |b| format!("{b:e}"));
        let bound = if bound == "inf" { "math.inf".to_owned() } else { bound };
        let _ = writeln!(
            text,
            "    {{\"row\": {}, \"col\": {}, \"at\": {}, \"lowest\": {}, \"highest\": {}, \"nan\": {nan}, \"inf\": {inf}, \
             \"minus_inf\": {minus}, \"bits\": 0x{:x}, \"exact\": \"{}\", \"bound\": {bound}}},",
            w.row, w.col, w.offset, w.finite.0, w.finite.1, w.bits, w.exact
        );
    }
    text.push_str("]\n");
}

#[cfg(test)]
mod tests {
    use super::head;

    /// The first finding of a kind said "no canonical encoding: `row_ptr`[3]", and Python took `row_ptr` for the file's encoding.
    #[test]
    fn the_encoding_of_the_program_is_that_of_its_first_line_whatever_the_message_says() {
        let text = head(
            "convert.csr.tcf.f16/file:[coding: x]/values=ones,0",
            "wrong structure: encoding: row_ptr[3] é",
        );
        assert!(text.starts_with("# -*- coding: utf-8 -*-\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("main.py");
        std::fs::write(&path, text + "print(1)\n").expect("written");
        match std::process::Command::new("python3").arg(&path).output() {
            Ok(ran) => assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr)),
            Err(error) => eprintln!("SKIPPED: python3 can't be started ({error}); the program was not run"),
        }
    }
}
