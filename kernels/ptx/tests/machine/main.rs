//! The PTX machine: programs built by hand, each planted bug beside its repaired twin.

mod access;
mod async_copy;
mod builder;
mod collective;
mod counters;
mod divergence;
mod exits;
mod heard;
mod launch;
mod matrix;
mod memory;
mod ordered;
mod races;
mod random;
mod schedules;
mod speed;
mod world;
