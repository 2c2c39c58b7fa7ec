//! RS-Tile, BitTCF and Libra arrays: refused, or decoded by the kernel as by the reference.

#![no_main]

sparse_fuzz::target!(bitmap_decode);
