//! N:M, 2:4 and V:N:M: pruning, packing and refusing, with any parameters.

#![no_main]

sparse_fuzz::target!(nm_pack);
