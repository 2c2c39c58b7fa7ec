//! Where matrices come from: files, seeded structured generators, published statistics, adversarial lists.

pub mod generator;
pub mod matrix_market;
pub mod random;
pub mod smtx;
pub mod synth;
pub mod values;

pub use generator::{FAMILIES, Family, SourceError, SourceSpec};
pub use random::Random;
pub use values::ValueFamily;
