//! Fuzz targets as plain functions of bytes, so that libFuzzer (`fuzz/`) and `cargo test` run the very same code.
//!
//! ```text
//! bytes -> input (shapes, entries, parameters, damage) -> code under test, reference -> compare -> FuzzOutcome
//!            ^
//! sources -> seeds (the inverse), committed as fuzz/corpus/TARGET/seed-*
//! ```
//!
//! A finding is a panic that says what differs. Any bytes are an input: what runs out reads as zero. An input counts as
//! accepted when the code under test took it and its result was compared, so that a target that only looks busy shows.

#![forbid(unsafe_code)]

mod bitmaps;
mod corpus;
mod input;
mod moves;
mod papers;
mod parts;
mod products;
mod ptx;
mod ptx_input;
pub mod replay;
mod same;
mod seeds;
mod text;
mod text_input;
mod text_seeds;

use std::fmt;

pub use bitmaps::bitmap_decode;
pub use corpus::{dictionary, write_corpus};
pub use input::Input;
pub use moves::{convert_differential, format_roundtrip};
pub use papers::{loops, nm_pack, rp_csc};
pub use parts::invalid_parts;
pub use products::{sddmm_differential, spgemm_differential, spmm_differential};
pub use ptx::{ptx_machine, ptx_text};
pub use text::{case_line, mtx_parse};

/// What became of an input. Anything wrong is a panic instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuzzOutcome {
    /// Refused with a typed error, by everybody who was asked.
    Refused,
    /// Taken, and the result was compared.
    Accepted,
}

/// One fuzz target.
pub struct Target {
    /// Name of the binary in `fuzz/fuzz_targets`, of its corpus folder, and of the function here.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The least share of accepted inputs that a run must show, in percent: fewer means that it idles.
    pub floor: u32,
    /// Runs one input.
    pub run: fn(&[u8]) -> FuzzOutcome,
    /// The seed corpus, from the sources.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that mean something to it, for libFuzzer's dictionary; empty for targets that read bytes.
    pub words: fn() -> Vec<String>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Every target. Fuzz binaries, corpora, tests and CI follow this table.
pub const TARGETS: [Target; 14] = [
    Target {
        name: "bitmap_decode",
        about: "RS-Tile, BitTCF and Libra arrays: refused, or decoded by the kernel as by the reference",
        floor: 20,
        run: bitmap_decode,
        seeds: seeds::bitmap_decode,
        words: Vec::new,
    },
    Target {
        name: "format_roundtrip",
        about: "every format: decode(encode(A)) = A, bit for bit, and the encoding is a fixed point",
        floor: 20,
        run: format_roundtrip,
        seeds: seeds::format_roundtrip,
        words: Vec::new,
    },
    Target {
        name: "invalid_parts",
        about: "every format's constructor: a typed refusal, or a matrix that every promise holds of",
        floor: 5,
        run: invalid_parts,
        seeds: seeds::invalid_parts,
        words: Vec::new,
    },
    Target {
        name: "convert_differential",
        about: "every conversion and transpose: kernels against the reference, bit for bit",
        floor: 20,
        run: convert_differential,
        seeds: seeds::convert_differential,
        words: Vec::new,
    },
    Target {
        name: "nm_pack",
        about: "N:M, 2:4 and V:N:M: pruning, packing and refusing, with any parameters",
        floor: 20,
        run: nm_pack,
        seeds: seeds::nm_pack,
        words: Vec::new,
    },
    Target {
        name: "rp_csc",
        about: "RP-CSC and CP-CSR: with any number of groups, and each the mirror image of the other",
        floor: 20,
        run: rp_csc,
        seeds: seeds::rp_csc,
        words: Vec::new,
    },
    Target {
        name: "loops",
        about: "LOOPS: any boundary and tile height; rows above are CSR, tiles start at the boundary",
        floor: 20,
        run: loops,
        seeds: seeds::loops,
        words: Vec::new,
    },
    Target {
        name: "mtx_parse",
        about: "any bytes as Matrix Market and as smtx: a typed error, or a matrix that survives writing",
        floor: 2,
        run: mtx_parse,
        seeds: text_seeds::mtx_parse,
        words: text_seeds::mtx_parse_words,
    },
    Target {
        name: "case_line",
        about: "any text as a case line: a typed error, or a case that prints and parses to itself",
        floor: 2,
        run: case_line,
        seeds: text_seeds::case_line,
        words: text_seeds::case_line_words,
    },
    Target {
        name: "ptx_text",
        about: "any text as PTX: entries that can run, or a typed error with its place in the text",
        floor: 2,
        run: ptx_text,
        seeds: ptx::text_seeds,
        words: ptx_input::words,
    },
    Target {
        name: "ptx_machine",
        about: "PTX that is run: what the checks pass leaves the same memory in every order, and without checks",
        floor: 5,
        run: ptx_machine,
        seeds: ptx_input::seeds,
        words: Vec::new,
    },
    Target {
        name: "spmm_differential",
        about: "SpMM and SpMV kernels, judged by the oracle: every format, type, layout and factor",
        floor: 50,
        run: spmm_differential,
        seeds: seeds::spmm_differential,
        words: Vec::new,
    },
    Target {
        name: "sddmm_differential",
        about: "SDDMM kernels, judged by the oracle",
        floor: 50,
        run: sddmm_differential,
        seeds: seeds::sddmm_differential,
        words: Vec::new,
    },
    Target {
        name: "spgemm_differential",
        about: "SpGEMM kernels, judged by the oracle",
        floor: 50,
        run: spgemm_differential,
        seeds: seeds::spgemm_differential,
        words: Vec::new,
    },
];

/// The target with this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
