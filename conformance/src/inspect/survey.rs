//! One row per encoding: its numbers, or why the format refuses the matrix.

use super::cost::{Costs, Step, costs, partitions};
use super::map::{Map, draw};
use super::numbers::{Numbers, measure};
use super::variant::{Element, Variant, variants};
use serde::Serialize;
use sparse_oracle::format::{Entries, FormatKind, FormatParams, Sparse};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;
use sparse_oracle::{F16, Precision, Refusal, Tf32};

/// The formats whose blocks are drawn.
pub const DRAWN: [FormatKind; 4] =
    [FormatKind::BitTcf, FormatKind::RsTile, FormatKind::LibraSpmm, FormatKind::LibraSddmm];

/// What all formats make of a matrix.
#[derive(Clone, Debug, Serialize)]
pub struct Survey {
    /// Version of this record.
    pub schema: &'static str,
    /// The matrix, by name.
    pub source: String,
    /// Its rows.
    pub rows: u64,
    /// Its columns.
    pub cols: u64,
    /// Its entries, explicit zeros included.
    pub entries: u64,
    /// Element type that was asked for.
    pub values: String,
    /// One row per encoding, in the order of [`FormatKind::ALL`].
    pub formats: Vec<Row>,
    /// Libra's costs by operation and unit, or why its parameters are refused.
    pub costs: Costs,
    /// RS-Tile's partition by threshold.
    pub partitions: Vec<Step>,
    /// Pictures of the block formats that took the matrix.
    #[serde(skip)]
    pub maps: Vec<Map>,
}

/// One encoding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the format.
    pub format: &'static str,
    /// Parameters that are not at their default.
    pub parameters: String,
    /// Element type of the values.
    pub values: String,
    /// Whether it is the pruned matrix, which fits the format's pattern, that was encoded.
    pub pruned: bool,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: EncodingOutcome,
}

/// Numbers, or a refusal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EncodingOutcome {
    /// The format holds the matrix.
    Encoded(Box<Numbers>),
    /// It does not: why.
    Refused(String),
}

impl Survey {
    /// Encodes `entries` in every format, one after the other: one encoding is in memory at a time.
    #[must_use]
    pub fn of(source: String, entries: &Entries<f64>, element: Element, params: FormatParams) -> Survey {
        let mut survey = Survey {
            schema: "sparse-inspect/1",
            source,
            rows: entries.rows as u64,
            cols: entries.cols as u64,
            entries: entries.nnz() as u64,
            values: element.precision().to_string(),
            formats: Vec::new(),
            costs: costs(entries, &params),
            partitions: partitions(entries),
            maps: Vec::new(),
        };
        for variant in variants(params) {
            match element.of(variant.kind) {
                Some(Precision::F16) => survey.add::<F16>(variant, entries),
                Some(Precision::Tf32) => survey.add::<Tf32>(variant, entries),
                Some(_) => survey.add::<f32>(variant, entries),
                None => {
                    let reason = format!("{} is not defined for this element type", variant.kind.name());
                    survey.formats.push(row::<f32>(variant, false, EncodingOutcome::Refused(reason)));
                }
            }
        }
        survey
    }

    /// The row of one variant; of a structured format that refuses the matrix, also that of the pruned matrix.
    fn add<T: Scalar>(&mut self, variant: Variant, entries: &Entries<f64>) {
        let entries = entries.map(|&value| T::from_f64(value));
        let encoded = Sparse::from_entries(variant.kind, variant.params, &entries);
        let refused = encoded.is_err();
        if let Ok(matrix) = &encoded
            && DRAWN.contains(&variant.kind)
            && self.maps.iter().all(|map| map.kind != variant.kind)
        {
            self.maps.extend(draw(matrix, variant));
        }
        let nnz = entries.nnz();
        self.formats.push(row::<T>(variant, false, outcome(encoded, nnz)));
        if refused && variant.kind.is_structured() {
            let pruned = prune(&entries, variant.kind, &variant.params);
            let nnz = pruned.as_ref().map_or(0, Entries::nnz);
            let encoded = pruned.and_then(|kept| Sparse::from_entries(variant.kind, variant.params, &kept));
            self.formats.push(row::<T>(variant, true, outcome(encoded, nnz)));
        }
    }
}

fn outcome<T: Scalar>(encoded: Result<Sparse<T>, Refusal>, nnz: usize) -> EncodingOutcome {
    match encoded {
        Ok(matrix) => EncodingOutcome::Encoded(Box::new(measure(matrix, nnz as u64))),
        Err(refusal) => EncodingOutcome::Refused(refusal.to_string()),
    }
}

fn row<T: Scalar>(variant: Variant, pruned: bool, outcome: EncodingOutcome) -> Row {
    Row {
        format: variant.kind.name(),
        parameters: variant.parameters(),
        values: T::PRECISION.to_string(),
        pruned,
        outcome,
    }
}

impl Row {
    /// What tells it from the plain format with the values asked for: `balanced=1`, `pruned`, `tf32`.
    #[must_use]
    pub fn remarks(&self, values: &str) -> Vec<&str> {
        let parameters = Some(self.parameters.as_str()).filter(|p| !p.is_empty());
        let pruned = self.pruned.then_some("pruned");
        let values = Some(self.values.as_str()).filter(|own| *own != values);
        [parameters, pruned, values].into_iter().flatten().collect()
    }

    /// The numbers, if the format took the matrix.
    #[must_use]
    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.outcome {
            EncodingOutcome::Encoded(numbers) => Some(numbers),
            EncodingOutcome::Refused(_) => None,
        }
    }
}
