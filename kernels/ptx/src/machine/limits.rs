//! What architectures allow of a block.

use sparse_oracle::arithmetic::Architecture;

/// Threads of a block at most.
pub(super) const THREADS: u64 = 1024;
/// x and y of a block, and z.
pub(super) const BLOCK: [u32; 3] = [1024, 1024, 64];
/// x of a grid, y, z.
pub(super) const GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];

/// Bytes of shared memory of a block at most, as an entry may ask for.
#[must_use]
pub const fn shared_limit(architecture: Architecture) -> u32 {
    let kilobytes = match architecture {
        Architecture::Sm70 => 96,
        Architecture::Sm75 => 64,
        Architecture::Sm80 => 163,
        Architecture::Sm86 | Architecture::Sm89 | Architecture::Sm120 => 99,
        Architecture::Sm90 | Architecture::Sm100 => 227,
    };
    kilobytes * 1024
}

/// Bytes of static shared memory at most.
#[must_use]
pub const fn static_shared_limit() -> u32 {
    48 * 1024
}
