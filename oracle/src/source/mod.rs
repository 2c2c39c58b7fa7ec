//! Where matrices come from: files, seeded structured generators, published statistics, adversarial lists.

pub mod embedded;
pub mod file;
pub mod file_error;
pub mod generator;
mod input;
pub mod matrix_market;
pub mod random;
pub mod smtx;
pub mod spy;
pub mod statistics;
pub mod synth;
pub mod values;

pub use generator::{FAMILIES, Family, SourceError, SourceSpec};
pub use random::Random;
pub use values::ValueFamily;
