//! What a plug-in hands back.

#![no_main]

sparse_fuzz::target!(sparse_fuzz_judge_targets::plugin_result);
