//! NM-SpMM: how `C = A (*) (B', D)` is cut for an SM, and when the columns of A are packed first.
//!
//! ```text
//!            n_s                     m_s x k_s of A, w_s x n_s of B' and w_s x q_s of D lie in shared memory;
//!         +-------+                  w_s = k_s * N / M, q_s = n_s / L
//!     w_s |  B_s  |  D_s
//!   k_s   +-------+                  tiles:    table I, the grid of threads in a warp, CMAR (6)
//! +-----+ +-------+                  blocking: arithmetic intensity (3), limits (4) and (5), k_s
//! | A_s | |  C_s  | m_s              packing:  col_info, D re-indexed and re-laid
//! +-----+ +-------+                  pipeline: which buffer holds which tile
//! ```
//!
//! Everything is counted in f32 elements of 4 bytes, as the paper does; `n`, `m` and `l` are its N, M and L.
//!
//! No kernel of `sparse-kernels` uses or is compared with any of this. Its CUDA kernels have five tiles of their own, none of
//! which is a row of table I; they take the longest slice that fits their shared memory, up to 48 rows of B' and 256 of B, in place of
//! equations (4) and (5); they pack by another rule than [`is_packed`]; and they have no double buffers in registers (listing 4).

mod blocking;
mod packing;
mod pipeline;
mod tiles;

pub use blocking::{Block, Plan, is_packed, k_s, k_s_packed, plan};
pub use packing::{Packing, PackingParts};
pub use pipeline::{PipelineStep, check_pipeline, double_buffered};
pub use tiles::{LdsWidth, Tiles, cmar};

/// An exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Above the line.
    pub numerator: u128,
    /// Below the line, not 0.
    pub denominator: u128,
}

impl Ratio {
    /// The fraction, rounded.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}
