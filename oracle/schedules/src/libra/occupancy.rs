//! Equations (7) and (8): whether both parts fill the device, and so whether they run at once.

use sparse_oracle::refusal::{Refusal, RequestError};

/// How the two parts are launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// At once, on two streams; in SpMM windows that hold both parts then add atomically.
    Multi,
    /// One after the other.
    Sequential,
}

/// One launch: its grid, and what the device has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Thread blocks along x, y, z.
    pub launched: [u32; 3],
    /// Multiprocessors of the device.
    pub multiprocessors: u32,
    /// Thread blocks of this kernel that one of them holds at a time, from the occupancy API.
    pub resident: u32,
}

/// Occupancy ratio of one part.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Occupancy(f64);

/// Ratios from which a part counts as filling the device. A device's own: measured once, not computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OccupancyThresholds {
    tensor: f64,
    cuda: f64,
}

impl Grid {
    /// (7): thread blocks launched over those resident at a time.
    ///
    /// # Errors
    /// [`RequestError::Zero`] for a device that holds none.
    pub fn occupancy(&self) -> Result<Occupancy, Refusal> {
        for (field, count) in [("multiprocessors", self.multiprocessors), ("resident", self.resident)] {
            if count == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        let launched: u128 = self.launched.iter().map(|&n| u128::from(n)).product();
        let room = u64::from(self.multiprocessors) * u64::from(self.resident);
        Ok(Occupancy(launched as f64 / room as f64))
    }
}

impl Occupancy {
    /// The ratio.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl OccupancyThresholds {
    /// As published for the H100 with 80 GB, from profiling; other devices have their own.
    pub const H100_PUBLISHED: OccupancyThresholds = OccupancyThresholds { tensor: 3.91, cuda: 38.27 };

    /// Thresholds measured on a device.
    ///
    /// # Errors
    /// [`RequestError::NotFinite`] unless both are positive finite numbers.
    pub fn try_new(tensor: f64, cuda: f64) -> Result<OccupancyThresholds, Refusal> {
        for (field, value) in [("tensor threshold", tensor), ("CUDA threshold", cuda)] {
            if value == 0.0 {
                return Err(RequestError::Zero { field }.into());
            }
            if !(value.is_finite() && value > 0.0) {
                return Err(RequestError::NotFinite { field, value: value.to_string() }.into());
            }
        }
        Ok(OccupancyThresholds { tensor, cuda })
    }

    /// (8): both ratios over their thresholds, (tensor, CUDA).
    #[must_use]
    pub fn normalised(&self, tensor: Occupancy, cuda: Occupancy) -> (f64, f64) {
        (tensor.0 / self.tensor, cuda.0 / self.cuda)
    }

    /// Two streams iff neither part fills the device: both normalised ratios are below 1.
    #[must_use]
    pub fn streams(&self, tensor: Occupancy, cuda: Occupancy) -> Streams {
        let (tensor, cuda) = self.normalised(tensor, cuda);
        if tensor.max(cuda) < 1.0 { Streams::Multi } else { Streams::Sequential }
    }
}
