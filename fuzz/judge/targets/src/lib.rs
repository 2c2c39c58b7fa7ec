//! Fuzz targets of all that the judge reads from outside, as plain functions of bytes: what a child process, a plug-in or a file
//! says is a typed error, or something that obeys every rule.
//!
//! ```text
//! bytes -> as they are, or edits of a text of our own -> reader -> error with words | value: prints and reads as itself, keeps the rules
//! ```
//!
//! What a target is, and how bytes become choices, is the other crate's: `sparse-fuzz-targets`, whose targets need none of the
//! crates that these are about and are compiled without them.

#![forbid(unsafe_code)]

mod draft;
mod expectations;
mod frame;
mod journal;
mod json_edit;
mod manifest;
mod plugin;
mod report;
mod sample;
mod wire;

pub use expectations::expectations;
pub use frame::protocol_frame;
pub use journal::journal;
pub use manifest::manifest;
pub use plugin::plugin_result;
pub use report::report_json;

use sparse_fuzz_targets::{FuzzOutcome, Input, Target};

/// Every target. Fuzz binaries, corpora, tests and CI follow this table.
pub const TARGETS: [Target; 6] = [
    Target {
        name: "protocol_frame",
        about: "any bytes as a message: refused, or a request that encodes to itself, an answer that is sent as it was read",
        floor: 5,
        run: protocol_frame,
        seeds: frame::seeds,
        words: frame::words,
    },
    Target {
        name: "manifest",
        about: "any text as a manifest: a typed error, or capabilities that answer for every contract",
        floor: 5,
        run: manifest,
        seeds: manifest::seeds,
        words: manifest::words,
    },
    Target {
        name: "report_json",
        about: "any text as a report: a typed error, or one that every writer writes, `merge` checks and `diff` finds equal to itself",
        floor: 5,
        run: report_json,
        seeds: report::seeds,
        words: report::words,
    },
    Target {
        name: "expectations",
        about: "any text as known deviations: a typed error with file and entry, or entries that hide nothing and expire",
        floor: 5,
        run: expectations,
        seeds: expectations::seeds,
        words: expectations::words,
    },
    Target {
        name: "journal",
        about: "any bytes as the journal of a run: a typed error and the file as it was, or a whole journal that goes on",
        floor: 5,
        run: journal,
        seeds: journal::seeds,
        words: journal::words,
    },
    Target {
        name: "plugin_result",
        about: "calls of `sc_result` in any order: a typed error, or the very arrays that were written",
        floor: 20,
        run: plugin_result,
        seeds: plugin::seeds,
        words: Vec::new,
    },
];
