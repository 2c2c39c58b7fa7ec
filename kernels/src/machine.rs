//! What this machine has, asked of the engines when a program runs.

use crate::feature::Feature;
use crate::kernel::Kernel;

impl Feature {
    /// True when this machine has it.
    #[must_use]
    pub fn is_here(self) -> bool {
        match self {
            Feature::Sm80 | Feature::Sm90 | Feature::Cusparse | Feature::Cublas => {
                crate::cuda::detected(self)
            }
            _ => of_the_cpu(self),
        }
    }

    /// The first of these that this machine lacks.
    #[must_use]
    pub fn missing(needed: &[Feature]) -> Option<Feature> {
        needed.iter().copied().find(|feature| !feature.is_here())
    }
}

impl Kernel {
    /// What this machine lacks to run it.
    #[must_use]
    pub fn missing(&self) -> Option<Feature> {
        Feature::missing(self.needs)
    }
}

#[cfg(target_arch = "x86_64")]
fn of_the_cpu(feature: Feature) -> bool {
    crate::x86::detected(feature)
}

#[cfg(target_arch = "aarch64")]
fn of_the_cpu(feature: Feature) -> bool {
    crate::arm::detected(feature)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn of_the_cpu(_: Feature) -> bool {
    false
}

/// Bits of a vector of SME in streaming mode, on the thread that asks; 0 without SME.
#[cfg(target_arch = "aarch64")]
pub(crate) fn streaming_vector_bits() -> u32 {
    crate::arm::streaming_vector_bits()
}

/// No SME.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) fn streaming_vector_bits() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_of_one_architecture() {
        let x86 = Feature::ALL[..9].iter().any(|f| f.is_here());
        let arm = Feature::ALL[9..14].iter().any(|f| f.is_here());
        assert!(!(x86 && arm));
    }

    #[test]
    fn the_first_that_is_missing_is_named() {
        let absent = Feature::ALL.into_iter().find(|f| !f.is_here()).expect("no machine has all");
        assert_eq!(Feature::missing(&[absent]), Some(absent));
        assert_eq!(Feature::missing(&[]), None);
    }
}
