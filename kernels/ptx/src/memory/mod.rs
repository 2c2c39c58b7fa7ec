//! Memory: of the device, of a block, of a thread.
//!
//! ```text
//! generic address      0x10_0000_0000  shared window    offset into the shared memory of the block
//!                      0x20_0000_0000  local window     offset into the local memory of the thread
//!                    0x7f00_0000_0000  device           allocation | gap | allocation | gap ...
//! span                 bytes, one bit a byte 'defined', shadow: who touched it last, and strong accesses (atomics and their like)
//! heard                what threads know of others by release and acquire; barriers are stamps (entry), partial ones a table (fine)
//! ```
//!
//! Addresses of the device are never used twice within its life, and between two allocations lies a gap that belongs to none, so
//! that an access past the end or after `free` is always recognised.

mod device;
mod entry;
mod fine;
mod hazard;
mod heard;
mod place;
mod shadow;
mod span;
mod strong;

pub use device::{Checked, Device, Leak, Limits, MemoryError};
pub(crate) use entry::{Clock, Conflict, Epoch, Hazard, STAMPS};
pub(crate) use fine::Fine;
pub(crate) use heard::{Given, Heard, Past};
pub(crate) use place::over;
pub(crate) use shadow::Shadow;
pub(crate) use span::{Contents, Span};
pub(crate) use strong::StrongKind;

/// Where shared memory begins among generic addresses.
pub const SHARED_WINDOW: u64 = 0x10_0000_0000;
/// Where local memory begins among generic addresses.
pub const LOCAL_WINDOW: u64 = 0x20_0000_0000;
/// Bytes of each window.
pub const WINDOW_BYTES: u64 = 0x10_0000_0000;
/// The first address of the device.
pub(crate) const DEVICE_BASE: u64 = 0x7f00_0000_0000;
