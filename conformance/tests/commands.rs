//! The command `conformance`, as a user runs it.
//! One binary: each file of tests is a module, listed here.

mod cli;

mod cli_bad_input;
mod cli_bench;
mod cli_commands;
mod cli_explain;
mod cli_inspect;
mod cli_memory;
mod cli_model;
mod cli_probe;
mod cli_ptx;
mod cli_shell;
mod documents;
mod runs_in_parts;
