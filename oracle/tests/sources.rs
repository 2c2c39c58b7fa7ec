//! Where matrices come from: files, generators, strategies, other libraries.
//! One binary: each file of tests is a module, listed here.

mod files_shared;
mod matrices;

mod files_corpus;
mod files_malformed;
mod files_manifest;
mod files_paths;
mod files_round_trip;
mod interop_nalgebra;
mod interop_sprs;
mod sources_generator;
mod sources_spec;
mod sources_strategy;
mod sources_synth;
