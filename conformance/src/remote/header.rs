//! The JSON headers of version 1, as data. What each field means is in `conformance/PROTOCOL.md`.

use crate::manifest::{LayoutName, Manifest, ModeName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the judge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the protocol's words")]
pub enum Ask {
    Hello,
    Run,
    Bye,
}

/// What is first read of a message of the judge, and all of a `hello` and a `bye`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Which message.
    #[serde(rename = "type")]
    pub kind: Ask,
}

/// Header of a `run`. A reader ignores fields that it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`Ask::Run`].
    #[serde(rename = "type")]
    pub kind: Ask,
    /// Number of the request; the answer repeats it.
    pub id: u64,
    /// Name of the contract.
    pub contract: String,
    /// Operation, first part of the contract's name.
    pub op: String,
    /// Element types.
    pub types: TypeNames,
    /// Factor of the product, as the bits of an f64 in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<Bits>,
    /// Factor of C (y, S).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Bits>,
    /// Use the transpose of A.
    #[serde(default)]
    pub transpose_a: bool,
    /// Use the transpose of B.
    #[serde(default)]
    pub transpose_b: bool,
    /// Use of the values of S.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeName>,
    /// Target format of a conversion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Parameters of the target format, those that are given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, u32>,
    /// Sparse operands: "a", "b" (SpGEMM), "s" (SDDMM).
    pub sparse: BTreeMap<String, SparseHead>,
    /// Dense operands: "b", "c" | "x", "y" | "x", "y", "out".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dense: BTreeMap<String, DenseHead>,
    /// Name of the dense operand that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where the arrays are: "`a.row_ptr`", "b", ...
    pub arrays: Vec<ArrayHead>,
}

/// Names of element types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named as in the contract's name")]
pub struct TypeNames {
    pub a: String,
    pub b: String,
    pub acc: String,
    pub out: String,
}

/// An f64 as its bits, `"0x3ff0000000000000"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(pub u64);

impl Bits {
    /// The number.
    #[must_use]
    pub fn number(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Bits {
    fn from(number: f64) -> Bits {
        Bits(number.to_bits())
    }
}

impl Serialize for Bits {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("0x{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Bits, D::Error> {
        let text = String::deserialize(from)?;
        let bits = text.strip_prefix("0x").filter(|hex| hex.len() == 16);
        let bits = bits.and_then(|hex| u64::from_str_radix(hex, 16).ok());
        bits.map(Bits)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not 0x and 16 hexadecimal digits")))
    }
}

/// A dimension, a parameter or a flag of a sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "a number or true, false")]
pub enum Extent {
    Flag(bool),
    Number(u64),
}

/// A sparse matrix without its arrays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseHead {
    /// Name of the format.
    pub format: String,
    /// Its dimensions, parameters and flags by name.
    pub extents: BTreeMap<String, Extent>,
}

/// A dense operand without its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenseHead {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Leading dimension, in elements.
    pub ld: usize,
    /// What is adjacent: "row" or "col".
    pub layout: LayoutName,
}

/// Where an array is in the payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayHead {
    /// Its name.
    pub name: String,
    /// Type of its elements: u8, u16, u32, u64 or the name of an element type.
    pub dtype: String,
    /// Number of elements.
    pub count: u64,
    /// Offset of its first byte from the start of the payload; a multiple of 64.
    pub offset: u64,
}

/// What a backend says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the protocol's words")]
pub enum ReplyKind {
    Manifest,
    Answer,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// The output is written; its array follows.
    Written,
    /// A sparse matrix follows.
    Sparse,
    /// The request is refused.
    Refused,
    /// The backend has no such operation, whatever its manifest says.
    Unsupported,
    /// The kernel raised an exception, or died in a way that its process survived; the message says how.
    Failed,
    /// What runs the backend saw it break a rule that needs no arithmetic to see; the message says which.
    Broke,
}

/// Header of a message of the backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Which message.
    #[serde(rename = "type")]
    pub kind: ReplyKind,
    /// The manifest, of a `manifest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
    /// Number of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// How the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AnswerKind>,
    /// Why it is refused or unsupported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// An input changed during the call.
    #[serde(default)]
    pub inputs_modified: bool,
    /// Rounding mode, flushing or traps were left changed after the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub environment_changed: bool,
    /// Memory around the output was written: the first such offset, in elements from the output's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard_broken: Option<i64>,
    /// The sparse matrix without its arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse: Option<SparseHead>,
    /// Where the arrays are: the output's name, or the field names of the sparse matrix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<ArrayHead>,
}

impl Reply {
    /// An answer that says nothing yet.
    #[must_use]
    pub fn answer(id: u64, outcome: AnswerKind) -> Reply {
        Reply {
            kind: ReplyKind::Answer,
            manifest: None,
            id: Some(id),
            outcome: Some(outcome),
            message: None,
            inputs_modified: false,
            environment_changed: false,
            guard_broken: None,
            sparse: None,
            arrays: Vec::new(),
        }
    }
}
