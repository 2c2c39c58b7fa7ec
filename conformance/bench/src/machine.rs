//! What this machine can do at most, measured in the same run: memory bandwidth and fused multiply-adds.
//!
//! ```text
//! triad   a[i] = b[i] + s * c[i]    three arrays, each four times the last-level cache; 24 bytes per element count
//! peak    12 chains of FMA in registers, as wide as `pulp` finds vectors to be; 2 operations per lane and instruction
//! ```
//!
//! The triad is that of the STREAM benchmark (1995); as there, the read that fetches a line of `a` before it is written does not count.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::Instant;

/// What was measured and read about the machine, beside the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Triad with the run's threads, in 10^9 bytes per second; best of its repetitions.
    pub bandwidth: f64,
    /// Fused multiply-adds of f32 with the run's threads, in 10^9 operations per second.
    pub peak_f32: f64,
    /// The same for f64.
    pub peak_f64: f64,
    /// Bits of the vectors that the peak was measured with.
    pub vector_bits: u64,
    /// Data caches of the first core: level and bytes.
    pub caches: Vec<(u64, u64)>,
    /// Processes that wanted to run in the minute before the start (the system's load average).
    pub load_before: Option<f64>,
}

impl Machine {
    /// Measures in the pool that this is called in.
    #[must_use]
    pub fn measure() -> Machine {
        let load_before = load_average();
        let caches = caches();
        let (peak_f32, lanes) = best(|| peak(Chains::<false>));
        let (peak_f64, _) = best(|| peak(Chains::<true>));
        Machine {
            bandwidth: triad(caches.iter().map(|c| c.1).max().unwrap_or(0)),
            peak_f32,
            peak_f64,
            vector_bits: lanes * 32,
            caches,
            load_before,
        }
    }
}

/// Elements of each array of the triad where the caches are unknown, and the most.
const TRIAD: (u64, u64) = (1 << 23, 1 << 26);
const REPEATS: usize = 5;

fn triad(last_cache: u64) -> f64 {
    let count = (last_cache / 2).clamp(TRIAD.0, TRIAD.1) as usize;
    let (b, c) = (vec![1.0f64; count], vec![2.0f64; count]);
    let mut a = vec![0.0f64; count];
    let chunk = count.div_ceil(rayon::current_num_threads() * 4);
    let mut most = 0.0f64;
    for _ in 0..=REPEATS {
        let start = Instant::now();
        a.par_chunks_mut(chunk).zip(b.par_chunks(chunk).zip(c.par_chunks(chunk))).for_each(|(a, (b, c))| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + 3.0 * c;
            }
        });
        most = most.max(24.0 * count as f64 / start.elapsed().as_secs_f64() / 1e9);
        black_box(&a);
    }
    most
}

fn best(mut measure: impl FnMut() -> (f64, u64)) -> (f64, u64) {
    let first = measure();
    (1..REPEATS).map(|_| measure()).fold(first, |a, b| if b.0 > a.0 { b } else { a })
}

/// Rounds of the loop; about ten milliseconds.
const ROUNDS: usize = 4_000_000;
const CHAINS: usize = 12;

/// All threads at once: 10^9 operations per second, and lanes.
fn peak<W: WithSimd<Output = u64> + Copy + Send + Sync>(chains: W) -> (f64, u64) {
    let arch = Arch::new();
    let start = Instant::now();
    let lanes = rayon::broadcast(|_| arch.dispatch(chains));
    let seconds = start.elapsed().as_secs_f64();
    let operations: u64 = lanes.iter().map(|lanes| lanes * (2 * CHAINS * ROUNDS) as u64).sum();
    (operations as f64 / seconds / 1e9, lanes.first().copied().unwrap_or(0))
}

#[derive(Clone, Copy)]
struct Chains<const WIDE: bool>;

impl WithSimd for Chains<false> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        let (x, y) = (simd.splat_f32s(black_box(0.999)), simd.splat_f32s(black_box(0.001)));
        let mut chains = [x; CHAINS];
        for _ in 0..ROUNDS {
            for chain in &mut chains {
                *chain = simd.mul_add_f32s(*chain, x, y);
            }
        }
        black_box(chains);
        S::F32_LANES as u64
    }
}

impl WithSimd for Chains<true> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u64 {
        let (x, y) = (simd.splat_f64s(black_box(0.999)), simd.splat_f64s(black_box(0.001)));
        let mut chains = [x; CHAINS];
        for _ in 0..ROUNDS {
            for chain in &mut chains {
                *chain = simd.mul_add_f64s(*chain, x, y);
            }
        }
        black_box(chains);
        S::F64_LANES as u64
    }
}

fn load_average() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Linux: what the first core sees; empty where the system does not tell.
fn caches() -> Vec<(u64, u64)> {
    let of = |index: usize| -> Option<(u64, u64)> {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
        };
        let size = read("size")?;
        let (digits, unit) = size.split_at(size.trim_end_matches(char::is_alphabetic).len());
        let scale = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => 1,
        };
        let holds_data = read("type")? != "Instruction";
        let bytes = digits.parse::<u64>().ok()? * scale;
        Some((if holds_data { read("level")?.parse().ok()? } else { 0 }, bytes))
    };
    (0..8).map_while(of).filter(|cache| cache.0 > 0).collect()
}
