//! Libra (seeds/002): distribution, balance, occupancy, threshold tuning.
