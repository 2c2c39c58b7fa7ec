//! Any text is a case line or a typed error; a case prints as a line that parses to the same case.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use sparse_conformance::case::Case;

fuzz_target!(|line: &str| -> Corpus {
    let Ok(case) = line.parse::<Case>() else {
        return Corpus::Keep;
    };
    let printed = case.to_string();
    let again: Case = printed.parse().expect("a printed case parses");
    assert_eq!(again.to_string(), printed);
    Corpus::Keep
});
