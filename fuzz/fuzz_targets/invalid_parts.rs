//! Every format's constructor: a typed refusal, or a matrix that every promise holds of.

#![no_main]

sparse_fuzz::target!(invalid_parts);
