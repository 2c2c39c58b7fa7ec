//! Cases, backends and verdicts.
//! One binary: each file of tests is a module, listed here.

mod backend_peers;
mod case_line;
mod coverage;
mod declared_choices;
mod declared_pairs;
mod declared_zeros;
mod determinism;
mod encodings;
mod formats_illegal_parameters;
mod judge_declarations;
mod judge_honest;
mod manifest;
mod plan_files;
mod plan_restricted;
mod reach;
mod silicon_digests;
mod state;
