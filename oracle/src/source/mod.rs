//! Where matrices come from: files, seeded structured generators, published statistics, adversarial lists.

pub mod generator;
pub mod matrix_market;
pub mod smtx;
pub mod synth;
pub mod values;
