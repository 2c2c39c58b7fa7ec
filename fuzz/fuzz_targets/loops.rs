//! LOOPS: any boundary and tile height; rows above are CSR, tiles start at the boundary.

#![no_main]

sparse_fuzz::target!(loops);
