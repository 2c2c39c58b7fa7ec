//! RSH-SpMM (seeds/001): row partition, thresholds, balance.
