//! The cases of a report as `report.json` has them: findings whole, and of all else what differs from record to record, in columns.
//!
//! ```text
//! {"stamps":[
//! {"backend":"portable","verdict":{"kind":"within"},"tiers":["T0","T1"]},            <- stamp 0
//! {"backend":"sprs","verdict":{"kind":"unsupported","reason":"no ELL type"}}         <- stamp 1
//! ],
//! "inputs":"XvOb...","outputs":"kKs0...","packed":"eJy0...",                          <- 16 bytes a hash; compressed columns
//! "whole":[
//! {"case":"spmm.ell.f32_f32_f32_f32/rmat:scale=8/n=33","backend":"mine","verdict":{"kind":"wrong",...}}
//! ]}
//! ```
//! A quick tier is a quarter of a million records on 119,000 case lines. With each line once they were 37 MB, of which the lines alone
//! are 18. Their seeds, and the hashes, cannot be guessed, so that little is left to choose but to compress.

mod reader;
mod records;

use super::evidence::Repeated;
use super::model::CaseRecord;
use super::verdict::Criterion;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use std::borrow::Cow;

/// The records of all cases.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoredCases {
    /// What many records have in common, each once.
    pub stamps: Vec<Stamp>,
    /// Content hashes of the operands of each case line: 16 bytes each, zeros where there is none, in base64.
    #[schemars(extend("contentEncoding" = "base64"))]
    pub inputs: String,
    /// Content hashes of outputs: 16 bytes each, in base64. The column `outputs` says whose they are.
    #[schemars(extend("contentEncoding" = "base64"))]
    pub outputs: String,
    /// The columns as JSON, compressed by zlib, in base64.
    #[schemars(with = "PackedColumns")]
    pub packed: String,
    /// Findings, waived or not, and other records of which more is to be said, in their order.
    pub whole: Vec<CaseRecord>,
}

/// What differs from record to record. The columns have an entry for each case line, but for `shares`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The case line: all that is needed to run it again.
    pub case: Vec<String>,
    /// Name of its contract. Null: the case line up to its first slash.
    pub contract: Vec<Option<String>>,
    /// Family of its source. Null: what stands between the first slash of the case line and the next colon or slash.
    pub family: Vec<Option<String>>,
    /// Alternatives that this case cannot tell from the right answer ("alpha=0", "nnz=0"), for records with a stamp.
    pub degenerate: Vec<Vec<String>>,
    /// The stamp of the record of each backend, in the report's order; null: it is the next of `whole`.
    pub stamps: Vec<Vec<Option<usize>>>,
    /// Which output each record with a stamp has: n for the n-th different one of this case line, from 0; null for none.
    pub outputs: Vec<Vec<Option<usize>>>,
    /// Largest error as a share of the bound, of each record whose stamp is "within", in their order.
    pub shares: Vec<f64>,
}

/// Says in the schema what is packed.
struct PackedColumns;

impl JsonSchema for PackedColumns {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PackedColumns".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "contentEncoding": "base64",
            "contentMediaType": "application/zlib",
            "contentSchema": generator.subschema_for::<Columns>(),
        })
    }
}

/// What many records have in common: whose they are, and what the oracle said. No finding has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Name of the backend.
    pub backend: String,
    /// What the oracle says.
    pub verdict: Passing,
    /// Tiers that were applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Criterion>,
    /// What running it again gave, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
}

/// A verdict that is no finding, without its share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "documented at `VerdictRecord`")]
pub enum Passing {
    Exact,
    /// The share stands in the record.
    Within,
    AgreedRefusal {
        refusal: String,
    },
    Unsupported {
        reason: String,
    },
    NotRun {
        reason: String,
    },
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the writer.
pub(super) fn serialize<S: Serializer>(records: &[CaseRecord], serializer: S) -> Result<S::Ok, S::Error> {
    StoredCases::of(records).map_err(S::Error::custom)?.serialize(serializer)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the reader, and of [`StoredCases::records`].
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CaseRecord>, D::Error> {
    StoredCases::deserialize(deserializer)?.records().map_err(D::Error::custom)
}
