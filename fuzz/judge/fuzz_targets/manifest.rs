//! What a backend says about itself.

#![no_main]

sparse_fuzz::target!(sparse_fuzz_judge_targets::manifest);
