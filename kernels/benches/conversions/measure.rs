//! Seconds, by the clock or on processors, and growth of the resident set.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

/// Set in the child process that measures memory.
pub(crate) const MEMORY: &str = "CONVERSIONS_MEMORY";

/// Seconds by the clock, or on processors.
pub(crate) fn seconds<X>(work: impl FnOnce() -> X) -> (f64, X) {
    if std::env::args().any(|arg| arg == "--cpu") {
        let start = on_processors();
        let result = std::hint::black_box(work());
        return (on_processors() - start, result);
    }
    let start = Instant::now();
    let result = std::hint::black_box(work());
    (start.elapsed().as_secs_f64(), result)
}

/// Seconds that all threads have run (Linux; NaN elsewhere).
fn on_processors() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return f64::NAN;
    };
    let ran = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    threads.flatten().filter_map(ran).sum::<f64>() * 1e-9
}

/// What the child process measured, by name and direction.
pub(crate) fn memory_of_child() -> BTreeMap<(String, String), f64> {
    let child = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(std::env::args().skip(1))
            .env(MEMORY, "1")
            // Every large block is mapped on its own, and unmapped when freed.
            .env("MALLOC_MMAP_THRESHOLD_", "65536")
            .env("MALLOC_TRIM_THRESHOLD_", "65536")
            .output()
    });
    let text = child.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    let fields = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    fields.filter_map(|f| Some(((f.first()?.clone(), f.get(1)?.clone()), f.get(2)?.parse().ok()?))).collect()
}

/// By how many bytes the peak resident set grows while `work` runs.
pub(crate) fn peak_growth<X>(work: impl FnOnce() -> X) -> (Option<f64>, X) {
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = resident("VmRSS").filter(|_| reset);
    let result = work();
    let peak = resident("VmHWM");
    (before.zip(peak).map(|(before, peak)| (peak - before).max(0.0)), result)
}

/// A field of /proc/self/status, in bytes.
fn resident(field: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024.0)
}
