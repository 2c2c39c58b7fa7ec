//! Text between two marks of a document, which tests compare with what the suite says, or write anew.

use std::path::Path;

/// It is this one; with `UPDATE_DOCS` in the environment it is written. `tests` are the arguments of `cargo test` that run the caller.
pub(crate) fn assert_stands_between((start, end): (&str, &str), document: &str, expected: &str, tests: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(&path).expect(document);
    let (before, rest) = text.split_once(start).expect("the mark before the text");
    let (found, after) = rest.split_once(end).expect("the mark behind the text");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{start}{expected}{end}{after}"))
            .expect("the document is written");
        return;
    }
    assert_eq!(found, expected, "{document}: run `UPDATE_DOCS=1 cargo test -p sparse-conformance {tests}`");
}
