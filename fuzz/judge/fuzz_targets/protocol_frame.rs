//! What judge and backend read of each other: messages, requests, answers.

#![no_main]

sparse_fuzz::target!(sparse_fuzz_judge_targets::protocol_frame);
