//! Every key that a case line may have after its values, in one table: the parser takes no other, errors list them, and
//! `docs/case-line.md`, PLUGIN.md and PROTOCOL.md show them (`conformance/tests/documented.rs` compares).

use sparse_oracle::format::{PARAMETERS, Parameter};

/// A key of a case line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name: `name=value`, or `name` alone where `unit` is empty.
    pub name: &'static str,
    /// What its value is; empty for a key that stands alone.
    pub unit: &'static str,
    /// What holds where it is not given.
    pub default: &'static str,
    /// What it says.
    pub doc: &'static str,
}

const fn key(name: &'static str, unit: &'static str, default: &'static str, doc: &'static str) -> Key {
    Key { name, unit, default, doc }
}

/// Every key, in the order in which a line has them.
pub const KEYS: &[Key] = &[
    key("n", "columns, 0 to 65536", "8", "columns of B and C (SpMM, SpGEMM); inner dimension of an SDDMM"),
    key("alpha", "a number of the accumulator's type", "1", "factor of the product"),
    key("beta", "a number of the accumulator's type", "0", "factor of C"),
    key("ta", "", "as stored", "use the transpose of the sparse operand"),
    key("tb", "", "as stored", "use the transpose of B"),
    key("lb", "`col`", "row-major", "layout of B (X and Y of an SDDMM): column-major"),
    key("lc", "`col`", "row-major", "layout of C: column-major"),
    key(
        "dups",
        "",
        "sorted, each position once",
        "COO: entries are shuffled, and about one in four is split into duplicates",
    ),
    key(
        "ldb",
        "elements, written `+2`",
        "+0",
        "how many elements the leading dimension of B exceeds its minimum by",
    ),
    key(
        "ldc",
        "elements, written `+2`",
        "+0",
        "how many elements the leading dimension of C exceeds its minimum by",
    ),
    key("ly", "`row` or `col`", "that of X", "SDDMM: layout of Y"),
    key(
        "ldy",
        "elements, written `+2`",
        "those of X",
        "SDDMM: how many elements the leading dimension of Y exceeds its minimum by",
    ),
    key(
        "block",
        "rows x columns, written `4x4`",
        "4x4",
        "BCSR, Blocked-ELL: extents of a block (`block_rows`, `block_cols`)",
    ),
    key(
        "boundary",
        "rows, at most those of the matrix",
        "half the rows, rounded down",
        "LOOPS: rows of the CSR part; tiles begin below",
    ),
    key("br", "rows", "8", "LOOPS: rows of a tile"),
    key(
        "tau",
        "entries",
        "estimated (SEMANTICS.md 7.4)",
        "RS-Tile: most entries of a residual row; 0 for no residual part",
    ),
    key(
        "tau_inc",
        "columns",
        "derived (SEMANTICS.md 7.4)",
        "RS-Tile: threshold on the columns that a row adds to its window",
    ),
    key(
        "as_printed",
        "0 or 1",
        "0",
        "RS-Tile: short rows go to the CUDA part by Algorithm 1 as printed (1), or as the text describes it (0)",
    ),
    key(
        "eta",
        "1/128, 0 to 128",
        "48 for SpMM, 24 for SDDMM",
        "Libra: density from which a vector (a block) goes to the tensor part",
    ),
    key("kb", "columns: 4, 8 or 16", "8", "Libra SpMM: columns of a block"),
    key(
        "fill",
        "0 or 1",
        "0",
        "Libra SpMM: fill the last block of a window with the densest remaining vectors",
    ),
    key("groups", "groups, 1 to 64", "4", "RP-CSC, CP-CSR: number of groups"),
    key("nm_n", "elements", "2", "N:M, V:N:M: how many of a window are kept"),
    key("nm_m", "elements", "4", "N:M, V:N:M: the window"),
    key("nm_l", "columns", "4", "N:M: columns of a window (length of a vector)"),
    key("v", "rows", "8", "V:N:M, SR-BCRS: rows of a block or vector"),
    key("stride", "vectors", "4", "SR-BCRS: vectors per group"),
    key(
        "short_k",
        "0 or 1",
        "0",
        "2:4: packed for the shorter (1) or the longer (0) of the two shapes of the instruction",
    ),
    key("balanced", "0 or 1", "0", "ME-TCF, BitTCF: with the arrays of the load-balanced variant"),
    key(
        "unpruned",
        "",
        "pruned",
        "N:M formats: the matrix stays as it is, and must be refused unless it fits the pattern",
    ),
    key(
        "mode",
        "`scale` or `add-s`",
        "pattern",
        "SDDMM: alpha X Y^T on the pattern of S; `scale`: times S; `add-s`: plus beta S",
    ),
    key(
        "fault",
        "`alpha-nan`, `beta-inf`, `inner-shape`, `short-output` or `small-ldc`",
        "a legal request",
        "the request is broken in this way and must be refused",
    ),
    key(
        "enc",
        "`loose`",
        "canonical",
        "another valid encoding of the sparse operand: empty blocks, pads elsewhere, explicit zeros, as its format admits",
    ),
    key(
        "b",
        "`thin`, `same`, `long`, `collide` or `cancel`",
        "thin",
        "SpGEMM: which positions B stores: few, those of A, long rows, columns that collide in hash tables, equal rows",
    ),
    key(
        "align",
        "elements, 0 to 63",
        "0",
        "dense operands and the output start so many elements past a multiple of 64 bytes (SpMM, SpMV, SDDMM)",
    ),
    key(
        "after",
        "`contents`, `extents`, `freed`, `many`, `myriad` or `other`",
        "no call before",
        "calls that come before the judged one (docs/state.md)",
    ),
    key(
        "calls",
        "`none`, a call's number, or `5-7`",
        "all",
        "the calls of `after` that are made, numbered from 0; the memory is the same without the others",
    ),
    key(
        "vb",
        "`none`, an element's number, or `5-7`",
        "all",
        "values of B (x; X and Y of an SDDMM; entries of B of an SpGEMM) that stay as drawn; the others are 1. Numbers from 0, in storage \
         order without padding, entries row by row. What `placed-special` places and `b=cancel` pairs comes after",
    ),
    key(
        "vc",
        "`none`, an element's number, or `5-7`",
        "all",
        "SpMM, SpMV with a beta other than 0: the same of C",
    ),
];

/// The row of a key.
#[must_use]
pub fn key_of(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The row that documents a parameter of a format; the extents of a block share one.
#[must_use]
pub fn key_of_parameter(parameter: &Parameter) -> Option<&'static Key> {
    key_of(match parameter.name {
        "block_rows" | "block_cols" => "block",
        name => name,
    })
}

/// All keys as a Markdown table.
#[must_use]
pub fn keys_table() -> String {
    let row = |key: &Key| {
        let value = if key.unit.is_empty() { "(stands alone)" } else { key.unit };
        format!("| `{}` | {value} | {} | {} |\n", key.name, key.default, key.doc)
    };
    let rows: String = KEYS.iter().map(row).collect();
    format!("| key | value | not given | meaning |\n|---|---|---|---|\n{rows}")
}

/// Parameters of the formats, as conversions hand them over, as a Markdown table.
#[must_use]
pub fn parameters_table() -> String {
    let row = |parameter: &Parameter| {
        let key = key_of_parameter(parameter)?;
        let (unit, default, doc) = match parameter.name {
            "block_rows" => ("rows", "4", "rows of a block"),
            "block_cols" => ("columns", "4", "columns of a block"),
            _ => (key.unit, key.default, meaning(key.doc)),
        };
        let formats: Vec<String> = parameter.formats.iter().map(|f| format!("`{}`", f.name())).collect();
        let formats = formats.join(", ");
        Some(format!("| `{}` | {formats} | {unit} | {default} | {doc} |\n", parameter.name))
    };
    let rows: String = PARAMETERS.iter().filter_map(row).collect();
    format!(
        "| parameter | read by | value | where it is not given | meaning |\n|---|---|---|---|---|\n{rows}"
    )
}

/// What a key says without the formats that it begins with, which have a column of their own.
fn meaning(doc: &'static str) -> &'static str {
    // "N:M: columns .." has two colons: the last one that a space follows ends the names.
    doc.rfind(": ").map_or(doc, |at| &doc[at + 2..])
}
