//! NM-SpMM (seeds/004): blocking, packing, arithmetic intensity.
