//! RP-CSC and CP-CSR: with any number of groups, and each the mirror image of the other.

#![no_main]

sparse_fuzz::target!(rp_csc);
