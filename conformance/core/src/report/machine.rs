//! What a report says of the machine that it was made on.

use super::environment::Environment;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

impl Environment {
    /// Describes this machine and process, started now by its own command line. Words that are not UTF-8 are shown as near as they can be.
    #[must_use]
    pub fn here(threads: usize) -> Environment {
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        Environment::detect(threads, words.collect())
    }

    /// Describes this machine and process, started now.
    #[must_use]
    pub fn detect(threads: usize, command_line: Vec<String>) -> Environment {
        Environment {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cpu: cpu_name(),
            cpu_features: cpu_features(),
            cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
            rustc: env!("SPARSE_CONFORMANCE_RUSTC").to_owned(),
            threads: threads as u64,
            command_line,
            started: rfc3339(SystemTime::now()),
            notes: BTreeMap::new(),
        }
    }
}

fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |key: &str| {
        info.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim() == key)
            .map(|(_, value)| value.trim().to_owned())
    };
    named("model name").or_else(|| named("CPU part")).unwrap_or_default()
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<String> {
    let found = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    found.into_iter().filter(|f| f.1).map(|f| f.0.to_owned()).collect()
}

#[cfg(target_arch = "aarch64")]
fn cpu_features() -> Vec<String> {
    let found = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("fp16", std::arch::is_aarch64_feature_detected!("fp16")),
        ("sve", std::arch::is_aarch64_feature_detected!("sve")),
    ];
    found.into_iter().filter(|f| f.1).map(|f| f.0.to_owned()).collect()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn cpu_features() -> Vec<String> {
    Vec::new()
}

/// UTC time to the second. A clock before 1970 reads as 1970.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let stamp = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    stamp.unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_print_as_date_does() {
        // Reference: `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn this_machine_is_described() {
        let here = Environment::detect(3, vec!["conformance".to_owned()]);
        assert!(here.cores >= 1 && here.threads == 3);
        assert!(here.rustc.starts_with("rustc "), "{}", here.rustc);
    }
}
