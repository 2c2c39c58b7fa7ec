//! Reports as merge and diff read them.

#![no_main]

sparse_fuzz::target!(sparse_fuzz_judge_targets::report_json);
