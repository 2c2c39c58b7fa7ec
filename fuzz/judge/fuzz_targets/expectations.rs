//! Files of known deviations.

#![no_main]

sparse_fuzz::target!(sparse_fuzz_judge_targets::expectations);
