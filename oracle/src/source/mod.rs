//! Where matrices come from: files, seeded structured generators, published statistics, adversarial lists.

pub mod embedded;
pub mod file;
pub mod file_error;
pub mod generator;
mod input;
pub mod matrix_market;
pub mod smtx;
pub mod spy;
pub mod statistics;
pub mod synth;
pub mod values;
