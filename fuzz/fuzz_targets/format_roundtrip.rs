//! Every format: decode(encode(A)) = A, bit for bit, and the encoding is a fixed point.

#![no_main]

sparse_fuzz::target!(format_roundtrip);
