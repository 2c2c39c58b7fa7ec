//! The published JSON Schema of `report.json`, generated from the types so that it cannot say anything else.

use crate::report::model::{Report, SCHEMA_NAME};
use schemars::generate::SchemaSettings;

/// The schema as checked in at `conformance/schema/report-2.schema.json`: pretty JSON, ending in a line break.
#[must_use]
pub fn schema_text() -> String {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Report>();
    schema.insert("title".to_owned(), SCHEMA_NAME.into());
    format!("{:#}\n", schema.to_value())
}
