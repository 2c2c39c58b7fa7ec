//! IOPS: tiles that RP-CSC and CP-CSR have room for, partial sums and their address mapping, the adaptive
//! partition.
//!
//! ```text
//!            k tiles                  n tiles               an output tile is done when its k tiles are:
//! A  m tiles [RP-CSC] [ .. ]   x   B [CP-CSR] [ .. ]        for m, n:  for k ascending:  outer products -> psums
//!            [ .. ]   [ .. ]         [ .. ]   [ .. ]                   address mapping -> running sums of C
//! ```
//!
//! Everything here is a reference: plain data and pure functions, against which an executable model is checked. One
//! processing element owns one pair of groups, of rows of A and of columns of B.

mod limits;
mod partition;
mod product;
mod psums;
mod tiles;

pub use partition::{Machine, Mode, OperandSize, Partition, ProductShape, Reuse, partition};
pub use product::{sdmm, ssmm};
pub use psums::{Match, Psum, PsumBuffer, PsumTerm, matches, outer_products, terms};
pub use tiles::{Grouped, Tile, Tiling};
