//! What an x86-64 CPU has, asked of the CPU.

use crate::feature::Feature;

/// True when this machine has it.
pub(crate) fn detected(feature: Feature) -> bool {
    match feature {
        Feature::Avx2 => is_x86_feature_detected!("avx2"),
        Feature::Fma => is_x86_feature_detected!("fma"),
        Feature::F16c => is_x86_feature_detected!("f16c"),
        Feature::Avx512f => is_x86_feature_detected!("avx512f"),
        Feature::Avx512bw => is_x86_feature_detected!("avx512bw"),
        Feature::Avx512dq => is_x86_feature_detected!("avx512dq"),
        Feature::Avx512vl => is_x86_feature_detected!("avx512vl"),
        Feature::Popcnt => is_x86_feature_detected!("popcnt"),
        Feature::Bmi1 => is_x86_feature_detected!("bmi1"),
        _ => false,
    }
}
