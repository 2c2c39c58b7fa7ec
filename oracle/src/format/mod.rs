//! Storage layouts ([`sparse_types::format`]), and what they encode: each file of `codec` holds the encoder and the decoder of one.
//!
//! ```text
//! Entries  --from_entries-->  arrays  --try_new-->  matrix  --entries-->  Entries
//! ```
//!
//! Encoder (`from_entries`), decoder (`entries`) and validator (`try_new`) share no algorithm: what an encoder writes goes through the
//! validator like anybody else's arrays, and tests compare what comes back. Encoders allocate in proportion to the entries, or at most
//! [`SLOT_LIMIT`] elements per array.

mod by_precision;
pub(crate) mod codec;
pub mod convert;
mod duplicates;
mod entries;
mod raw;

pub use codec::{Codec, Tiling};
pub use duplicates::{CooCodec, Duplicates};
pub(crate) use entries::ascending;
pub use entries::{Entries, Entry, in_order};
/// How RS-Tile divides rows into windows, and their entries into blocks and a residual part.
pub mod rs_partition {
    pub use super::codec::rs_tile::{
        RsTilePartition, RsTileThresholds, WINDOW, estimate_tau_nnz, partition, recover,
    };
}

pub use raw::RawOf;
pub use sparse_types::format::*;
