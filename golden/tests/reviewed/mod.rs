//! The reviewed tables, as they lie beside the tests.

use std::path::Path;

/// The reviewed table of a system; nothing where there is none yet.
pub(crate) fn reviewed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots").join(format!("{name}.snap"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // The text begins after insta's own head, which stands between two lines of dashes.
    text.splitn(3, "---\n").nth(2).unwrap_or_default().to_owned()
}
