//! Any bytes as Matrix Market and as smtx: a typed error, or a matrix that survives writing.

#![no_main]

sparse_fuzz::target!(mtx_parse);
