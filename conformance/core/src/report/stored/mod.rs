//! The cases of a report as `report.json` has them: each case line once, with a few numbers for each backend, and findings whole.
//!
//! ```text
//! {"stamps":[
//! {"backend":"portable","verdict":{"kind":"within"},"tiers":["T0","T1"]},            <- stamp 0
//! {"backend":"sprs","verdict":{"kind":"unsupported","reason":"no ELL type"}}         <- stamp 1
//! ],
//! "lines":[
//! {"case":"spmm.ell.f32_f32_f32_f32/rmat:scale=8/n=33","inputs":"5e1f...","records":[[0,0.25,"90ab..."],[1]]},
//! ```
//! A tier is a quarter of a million records of which nearly all say the same; written out one by one they were more than a hundred
//! megabytes. What a stamp and its line do not say word for word is written whole, so that nothing is lost.

mod records;

use super::evidence::Repeated;
use super::model::CaseRecord;
use super::verdict::Criterion;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The records of all cases.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoredCases {
    /// What many records have in common, each once.
    pub stamps: Vec<Stamp>,
    /// The cases, by contract and case line.
    pub lines: Vec<StoredCase>,
}

/// What many records have in common: whose they are, and what the oracle said. No finding has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
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

/// A case line, and what each backend made of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StoredCase {
    /// The case line: all that is needed to run it again.
    pub case: String,
    /// Name of its contract. Absent: the case line up to its first slash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// Family of its source. Absent: what stands between the first slash of the case line and the next colon or slash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Alternatives that this case cannot tell from the right answer ("alpha=0", "nnz=0"), for records of backends that were asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degenerate: Vec<String>,
    /// Content hash of the operands, for the same records: 128 bits of XXH3 in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// One per backend, in the report's order.
    pub records: Vec<StoredRecord>,
}

/// A case on a backend.
#[derive(Debug, PartialEq)]
pub enum StoredRecord {
    /// Nothing that its stamp and its case do not say but these.
    Stamped {
        /// Index into [`StoredCases::stamps`].
        stamp: usize,
        /// Largest error as a share of the bound, of a case that is within.
        share: Option<f64>,
        /// Content hash of the bits that came back.
        output: Option<String>,
    },
    /// A finding, or another record of which more is to be said.
    Whole(Box<CaseRecord>),
}

/// `[stamp]`, `[stamp, share]`, `[stamp, share or null, output]`, or the record as an object.
impl Serialize for StoredRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            StoredRecord::Whole(record) => record.serialize(serializer),
            StoredRecord::Stamped { stamp, share, output } => {
                let mut list = serializer.serialize_seq(None)?;
                list.serialize_element(stamp)?;
                if share.is_some() || output.is_some() {
                    list.serialize_element(share)?;
                }
                if let Some(output) = output {
                    list.serialize_element(output)?;
                }
                list.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for StoredRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = StoredRecord;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[stamp, share, output] or a whole record")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StoredRecord, A::Error> {
        let stamp = list.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let share = list.next_element::<Option<f64>>()?.flatten();
        let output = list.next_element()?;
        match list.next_element::<serde::de::IgnoredAny>()? {
            None => Ok(StoredRecord::Stamped { stamp, share, output }),
            Some(_) => Err(A::Error::invalid_length(4, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StoredRecord, A::Error> {
        CaseRecord::deserialize(MapAccessDeserializer::new(map)).map(|r| StoredRecord::Whole(Box::new(r)))
    }
}

#[cfg(feature = "files")]
impl schemars::JsonSchema for StoredRecord {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StoredRecord".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let whole = generator.subschema_for::<CaseRecord>();
        schemars::json_schema!({
            "description": "A case on a backend.",
            "anyOf": [
                {
                    "description": "Index of the stamp, share of the bound (of a case that is within), content hash of the output.",
                    "type": "array",
                    "prefixItems": [
                        { "type": "integer", "minimum": 0 },
                        { "type": ["number", "null"] },
                        { "type": "string" },
                    ],
                    "minItems": 1,
                    "maxItems": 3,
                },
                whole,
            ],
        })
    }
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the writer.
pub(super) fn serialize<S: Serializer>(records: &[CaseRecord], serializer: S) -> Result<S::Ok, S::Error> {
    StoredCases::of(records).serialize(serializer)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the reader, and of [`StoredCases::records`].
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CaseRecord>, D::Error> {
    StoredCases::deserialize(deserializer)?.records().map_err(D::Error::custom)
}
