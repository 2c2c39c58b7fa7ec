//! Locality-aware row reordering (seeds/001, section 3.4).
