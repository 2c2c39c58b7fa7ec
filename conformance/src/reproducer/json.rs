//! `case.json`: everything about a minimal case, for programs in any language. Bits are hexadecimal strings.

use super::data::{Array, DenseData, SparseData};
use super::want::{Want, bits_at};
use super::{Shown, columns};
use crate::record::verdict_record;
use serde_json::{Map, Value, json};
use sparse_oracle::format::{Layout, PARAMETERS};
use sparse_oracle::scalar::{Precision, decode};

/// Value of `schema`.
pub(super) const SCHEMA_NAME: &str = "sparse-conformance-reproducer-1";

/// The file's text.
pub(super) fn to_json(shown: &Shown<'_>) -> String {
    let Shown { here, data, .. } = shown;
    let (contract, p) = (&here.contract, &here.params);
    let out = contract.types.out;
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    put("schema", json!(SCHEMA_NAME));
    put("suite_version", json!(env!("CARGO_PKG_VERSION")));
    put("case", json!(here.to_string()));
    put("found_as", json!(shown.first.to_string()));
    put("backend", json!(shown.backend));
    put("reason", json!(shown.reason.to_string()));
    // A verdict with a number that JSON has no place for is given in words.
    let verdict = verdict_record(shown.verdict.clone());
    put("verdict", serde_json::to_value(&verdict).unwrap_or_else(|_| json!(verdict.to_string())));
    put(
        "contract",
        json!({
            "name": contract.to_string(),
            "operation": contract.op.name(),
            "format": contract.format.name(),
            "to": contract.to.map(sparse_oracle::format::FormatKind::name),
            "types": { "a": contract.types.a.name(), "b": contract.types.b.name(), "acc": contract.types.acc.name(), "out": out.name() },
        }),
    );
    let blocks: Map<String, Value> = PARAMETERS
        .iter()
        .filter(|parameter| contract.reads(parameter))
        .map(|parameter| (parameter.name.to_owned(), json!((parameter.get)(&p.blocks))))
        .collect();
    put(
        "parameters",
        json!({
            "n": columns(here),
            "alpha": p.alpha,
            "beta": p.beta,
            "transpose_a": p.transpose_a,
            "transpose_b": p.transpose_b,
            "mode": p.mode.name(),
            "fault": p.fault.map(super::super::case::Fault::name),
            "format": blocks,
        }),
    );
    put("a", sparse(&data.a));
    put("b_sparse", json!(data.b_sparse.as_ref().map(sparse)));
    put("b", json!(data.b.as_ref().map(dense)));
    put("y", json!(data.y.as_ref().map(dense)));
    put("c_before", json!(data.c.as_ref().map(dense)));
    put("expected", data.wants.iter().map(|w| element(w, out)).collect());
    put("expected_arrays", arrays(&data.arrays));
    put("found_arrays", arrays(&data.found));
    format!("{:#}\n", Value::Object(fields))
}

fn hex(bits: u64) -> String {
    format!("0x{bits:x}")
}

fn arrays(list: &[Array]) -> Value {
    list.iter().map(array).collect()
}

fn array(array: &Array) -> Value {
    match Precision::from_name(array.kind) {
        Some(precision) => json!({
            "name": array.name,
            "type": array.kind,
            "bits": array.bits.iter().map(|&b| hex(b)).collect::<Vec<_>>(),
            "values": array.bits.iter().map(|&b| format!("{:?}", decode(b, precision))).collect::<Vec<_>>(),
        }),
        None => json!({ "name": array.name, "type": array.kind, "values": array.bits }),
    }
}

fn sparse(matrix: &SparseData) -> Value {
    let extents: Map<String, Value> =
        matrix.extents.iter().map(|extent| (extent.name.to_owned(), json!(extent.value))).collect();
    json!({
        "format": matrix.format,
        "type": matrix.kind,
        "rows": matrix.rows,
        "cols": matrix.cols,
        "extents": extents,
        "arrays": arrays(&matrix.arrays),
    })
}

fn dense(matrix: &DenseData) -> Value {
    json!({
        "type": matrix.kind.name(),
        "rows": matrix.rows,
        "cols": matrix.cols,
        "ld": matrix.ld,
        "layout": if matrix.layout == Layout::RowMajor { "row-major" } else { "col-major" },
        "bits": matrix.bits.iter().map(|&b| hex(b)).collect::<Vec<_>>(),
        "values": matrix.bits.iter().map(|&b| format!("{:?}", decode(b, matrix.kind))).collect::<Vec<_>>(),
    })
}

fn element(want: &Want, out: Precision) -> Value {
    let (low, high) = want.finite;
    let ends = (low <= high).then(|| [low, high].map(|order| hex(bits_at(order, out))));
    let [nan, inf, minus_inf] = want.others;
    let bound = want.bound.map(|b| format!("{b:e}"));
    json!({
        "row": want.row,
        "col": want.col,
        "at": want.offset,
        "exact": want.exact,
        "bits": hex(want.bits),
        "value": format!("{:?}", want.value),
        "lowest_bits": ends.as_ref().map(|e| &e[0]),
        "highest_bits": ends.as_ref().map(|e| &e[1]),
        "nan": nan,
        "inf": inf,
        "minus_inf": minus_inf,
        "bound": bound,
        "found_bits": want.found.map(hex),
        "found": want.found.map(|b| format!("{:?}", decode(b, out))),
        "right": want.right,
    })
}
