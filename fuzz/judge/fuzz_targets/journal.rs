//! The journal of an interrupted run.

#![no_main]

sparse_fuzz::target!(sparse_fuzz_judge_targets::journal);
