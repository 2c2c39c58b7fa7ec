//! What every format makes of one matrix: bytes, pads, tiles, and what goes to which unit.
//!
//! ```text
//! matrix -> variants (formats with parameters) -> encoding -+-> numbers -+-> text    the terminal
//!        \                                                  +-> map -----+-> json    serde
//!         `-> schedules of Libra and RS-Tile -> cost --------------------+-> html    one page without network
//!         `-> the model of the IOPS accelerator -> iops ------------------> text
//! ```
//!
//! Encodings are the reference's. Whatever refuses the matrix is a row that says why.

pub mod blocks;
pub mod cost;
pub mod html;
pub mod iops;
pub mod machine;
pub mod map;
pub mod numbers;
pub mod survey;
pub mod text;
pub mod variant;

pub use cost::{Cost, Costs, ModeCost, Step};
pub use numbers::{Numbers, Split, Tiles};
pub use survey::{EncodingOutcome, Row, Survey};
pub use variant::{Element, ParameterError, Variant};
