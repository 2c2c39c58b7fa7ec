//! Every key that a case line may have after its values: those of this table, and the parameters of formats by their names. The parser
//! takes no other, errors list them, `docs/case-line.md` shows the first and `docs/formats.md` the others
//! (`conformance/tests/documented.rs` compares).

use crate::encodings::is_loose;
use sparse_oracle::contract::{Contract, Returned};
use sparse_oracle::format::{FormatKind, PARAMETERS, Parameter};

/// A key of a case line.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name: `name=value`, or `name` alone where `unit` is empty.
    pub name: &'static str,
    /// What its value is; empty for a key that stands alone.
    pub unit: &'static str,
    /// What holds where it is not given.
    pub default: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// True for a contract whose cases differ by it; a line of another contract has no such key.
    pub read_by: fn(&Contract) -> bool,
}

const fn key(
    name: &'static str,
    unit: &'static str,
    default: &'static str,
    doc: &'static str,
    read_by: fn(&Contract) -> bool,
) -> Key {
    Key { name, unit, default, doc, read_by }
}

/// Every key but the parameters of formats, which stand in a line after `block`.
pub const KEYS: &[Key] = &[
    key(
        "n",
        "columns, 0 to 65536",
        "8",
        "columns of B and C (SpMM, SpGEMM); inner dimension of an SDDMM",
        |c| c.op.signature().has_n(),
    ),
    key("alpha", "a number of the accumulator's type", "1", "factor of the product", |c| c.op.is_dense()),
    key("beta", "a number of the accumulator's type", "0", "factor of C", |c| c.op.signature().has_beta()),
    key("ta", "", "as stored", "use the transpose of the sparse operand", |c| c.op.transposes_a()),
    key("tb", "", "as stored", "use the transpose of B", |c| c.op.signature().transposes_b),
    key("lb", "`col`", "row-major", "layout of B (X and Y of an SDDMM): column-major", |c| {
        c.op.signature().has_layout()
    }),
    key("lc", "`col`", "row-major", "layout of C: column-major", |c| {
        c.op.signature().returned == Returned::Matrix
    }),
    key(
        "dups",
        "",
        "sorted, each position once",
        "COO: entries are shuffled, and about one in four is split into duplicates",
        |c| c.format == FormatKind::Coo,
    ),
    key(
        "ldb",
        "elements, written `+2`",
        "+0",
        "how many elements the leading dimension of B exceeds its minimum by",
        |c| c.op.signature().has_layout(),
    ),
    key(
        "ldc",
        "elements, written `+2`",
        "+0",
        "how many elements the leading dimension of C exceeds its minimum by",
        |c| c.op.signature().returned == Returned::Matrix,
    ),
    key("ly", "`row` or `col`", "that of X", "SDDMM: layout of Y", |c| c.op.signature().dense.len() == 2),
    key(
        "ldy",
        "elements, written `+2`",
        "those of X",
        "SDDMM: how many elements the leading dimension of Y exceeds its minimum by",
        |c| c.op.signature().dense.len() == 2,
    ),
    key(
        "block",
        "rows x columns, written `4x4`",
        "4x4",
        "BCSR, Blocked-ELL: extents of a block (`block_rows`, `block_cols`)",
        |c| PARAMETERS.iter().any(|p| p.name.starts_with(BLOCK) && c.reads(p)),
    ),
    key(
        "unpruned",
        "",
        "pruned",
        "N:M formats: the matrix stays as it is, and must be refused unless it fits the pattern",
        |c| c.format.is_structured() || c.to.is_some_and(FormatKind::is_structured),
    ),
    key(
        "mode",
        "`scale` or `add-s`",
        "pattern",
        "SDDMM: alpha X Y^T on the pattern of S; `scale`: times S; `add-s`: plus beta S",
        |c| c.op.signature().has_mode,
    ),
    key(
        "fault",
        "`alpha-nan`, `beta-inf`, `inner-shape`, `short-output` or `small-ldc`",
        "a legal request",
        "the request is broken in this way and must be refused",
        |_| true,
    ),
    key(
        "enc",
        "`loose`",
        "canonical",
        "another valid encoding of the sparse operand: empty blocks, pads elsewhere, explicit zeros, as its format admits",
        |c| is_loose(c.format),
    ),
    key(
        "b",
        "`thin`, `same`, `long`, `collide` or `cancel`",
        "thin",
        "SpGEMM: which positions B stores: few, those of A, long rows, columns that collide in hash tables, equal rows",
        |c| c.op.signature().sparse.len() == 2,
    ),
    key(
        "align",
        "elements, 0 to 63",
        "0",
        "dense operands and the output start so many elements past a multiple of 64 bytes (SpMM, SpMV, SDDMM)",
        |c| c.op.is_dense(),
    ),
    key(
        "after",
        "`contents`, `extents`, `freed`, `many`, `myriad` or `other`",
        "no call before",
        "calls that come before the judged one (docs/state.md)",
        |_| true,
    ),
    key(
        "calls",
        "`none`, a call's number, or `5-7`",
        "all",
        "the calls of `after` that are made, numbered from 0; the memory is the same without the others",
        |_| true,
    ),
    key(
        "vb",
        "`none`, an element's number, or `5-7`",
        "all",
        "values of B (x; X and Y of an SDDMM; entries of B of an SpGEMM) that stay as drawn; the others are 1. Numbers from 0, in storage \
         order without padding, entries row by row. What `placed-special` places and `b=cancel` pairs comes after",
        |c| !c.op.is_exact(),
    ),
    key(
        "vc",
        "`none`, an element's number, or `5-7`",
        "all",
        "SpMM, SpMV with a beta other than 0: the same of C",
        |c| c.op.updates(),
    ),
];

/// How the names of the parameters begin that stand in a case line by one key, `block`.
const BLOCK: &str = "block_";

/// The parameters of formats that stand in a case line by their own name: all but the block shape, which has one key.
pub fn parameters() -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(|p| !p.name.starts_with(BLOCK))
}

/// True where cases of a contract differ by the key of this name.
#[must_use]
pub fn is_read(name: &str, contract: &Contract) -> bool {
    match KEYS.iter().find(|key| key.name == name) {
        Some(key) => (key.read_by)(contract),
        None => parameters().any(|parameter| parameter.name == name && contract.reads(parameter)),
    }
}

/// Why a line has no key of this name where [`is_read`] says so: it is for others, or there is none.
pub(crate) fn why_refused(name: &str) -> String {
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return format!("nothing of this contract reads it; {name} is: {}", key.doc);
    }
    if let Some(parameter) = parameters().find(|parameter| parameter.name == name) {
        let formats: Vec<&str> = parameter.formats.iter().map(|format| format.name()).collect();
        return format!("no format of this contract reads it; these do: {}", formats.join(", "));
    }
    let names: Vec<&str> = names().collect();
    format!("unknown parameter; there are {} (docs/case-line.md)", names.join(", "))
}

/// The name of the key in `name=value`, or of one that stands alone.
#[must_use]
pub fn name_of(part: &str) -> &str {
    part.split_once('=').map_or(part, |(name, _)| name)
}

/// The names of all keys.
pub fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name).chain(parameters().map(|parameter| parameter.name))
}

/// What a key takes, in words: for a value that it does not.
#[must_use]
pub fn expected(name: &str) -> String {
    match KEYS.iter().find(|key| key.name == name) {
        Some(key) if key.unit.is_empty() => format!("{name} stands alone, without a value"),
        Some(key) => format!("expected {}; without {name}: {}", key.unit, key.default),
        None => "expected a whole number below 2^32".to_owned(),
    }
}

/// All keys but the parameters of formats as a Markdown table.
#[must_use]
pub fn keys_table() -> String {
    let row = |key: &Key| {
        let value = if key.unit.is_empty() { "(stands alone)" } else { key.unit };
        format!("| `{}` | {value} | {} | {} |\n", key.name, key.default, key.doc)
    };
    let rows: String = KEYS.iter().map(row).collect();
    format!("| key | value | not given | meaning |\n|---|---|---|---|\n{rows}")
}

/// Parameters of the formats as a Markdown table.
#[must_use]
pub fn parameters_table() -> String {
    let row = |p: &Parameter| {
        let formats: Vec<String> = p.formats.iter().map(|f| format!("`{}`", f.name())).collect();
        format!(
            "| `{}` | {} | {} | {} | {} |\n",
            p.name,
            formats.join(", "),
            p.unit,
            p.not_given(),
            p.doc.trim()
        )
    };
    let rows: String = PARAMETERS.iter().map(row).collect();
    format!(
        "| parameter | read by | value | where it is not given | meaning |\n|---|---|---|---|---|\n{rows}"
    )
}
