//! The checked-in schema is the one that the types give, accepts the sample report, and rejects what it must.

use crate::report_sample;

use serde_json::{Value, json};
use sparse_conformance::report::schema::schema_text;

const CHECKED_IN: &str = include_str!("../schema/report-2.schema.json");

fn sample() -> Value {
    serde_json::to_value(report_sample::sample(2)).unwrap()
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(CHECKED_IN).unwrap()).unwrap()
}

#[test]
fn checked_in_schema_is_current() {
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/report-2.schema.json");
        std::fs::write(path, schema_text()).unwrap();
        return;
    }
    assert_eq!(
        CHECKED_IN,
        schema_text(),
        "the types changed: run `UPDATE_SCHEMA=1 cargo test -p sparse-conformance --test reports schema`, review \
         the difference, and raise the number in SCHEMA_NAME if old readers would break"
    );
}

#[test]
fn sample_report_is_valid() {
    let errors: Vec<String> =
        validator().iter_errors(&sample()).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
}

type Damage = fn(&mut Value);

/// The first record that is written whole.
fn whole(report: &mut Value) -> &mut Value {
    &mut report["cases"]["whole"][0]
}

/// What serde cannot see: a constant's value (`Report::read` checks it), and fields beside the tag of a unit variant.
const SCHEMA_ONLY: [&str; 2] = ["other schema name", "unknown field in a verdict"];

/// Every way to damage a report that the schema must notice.
#[test]
fn damaged_reports_are_invalid() {
    let damages: [(&str, Damage); 13] = [
        ("other schema name", |r| {
            r["schema"] = json!("sparse-conformance-report-3");
        }),
        ("unknown field at the top", |r| r["extra"] = json!(1)),
        ("unknown field among the columns", |r| r["cases"]["extra"] = json!(1)),
        ("unknown field in a record", |r| whole(r)["extra"] = json!(1)),
        ("columns that are no text", |r| r["cases"]["packed"] = json!({})),
        ("unknown verdict of a stamp", |r| {
            r["cases"]["stamps"][0]["verdict"] = json!({"kind": "fine"});
        }),
        ("a finding as a stamp", |r| {
            r["cases"]["stamps"][0]["verdict"] = json!({"kind": "crashed", "message": ""});
        }),
        ("unknown verdict", |r| {
            whole(r)["verdict"] = json!({"kind": "fine"});
        }),
        ("share missing", |r| {
            whole(r)["verdict"] = json!({"kind": "within"});
        }),
        ("unknown field in a verdict", |r| {
            whole(r)["verdict"] = json!({"kind": "exact", "share": 0});
        }),
        ("mismatch without message", |r| {
            whole(r)["verdict"] = json!({"kind": "wrong", "tier": "T0", "what": "value"});
        }),
        ("unknown field in a mismatch", |r| {
            whole(r)["verdict"] =
                json!({"kind": "wrong", "tier": "T0", "what": "value", "message": "", "extra": 1});
        }),
        ("no environment", |r| {
            drop(r.as_object_mut().unwrap().remove("environment"));
        }),
    ];
    let validator = validator();
    for (name, damage) in damages {
        let mut report = sample();
        damage(&mut report);
        assert!(!validator.is_valid(&report), "{name} was accepted by the schema");
        let types = serde_json::from_value::<sparse_conformance::report::Report>(report);
        assert!(types.is_err() || SCHEMA_ONLY.contains(&name), "{name} was accepted by the types");
    }
}
