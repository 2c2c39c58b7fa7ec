//! The device's own clock: how long a queued kernel takes, apart from preparing, copying and judging.
//!
//! ```text
//! metered(plan, || kernel.run(task))      this thread asks for times
//!    run -> prepare -> queue:  once for the result, then
//!             cold   flush L2 | event, launch, event    `cold` times, each on its own
//!             warm   event, launch x `warm`, event      one after another on the same operands
//! ```
//!
//! Launches are repeated on the same operands, so the kernel must not depend on what C held: with beta = 0 none does. L2 is
//! flushed by reading twice its size. Without a plan, `queue` launches once and costs nothing more.

use super::gpu::Gpu;
use super::measure::flush;
use super::silicon::failed;
use cudarc::driver::sys::CUevent_flags;
use sparse_types::refusal::Refusal;
use std::cell::RefCell;
use std::time::Instant;

/// How often to launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchPlan {
    /// Launches timed one by one with L2 flushed before.
    pub cold: usize,
    /// Launches timed together.
    pub warm: usize,
}

/// What the device's clock said, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Wall time of preparing: encoding for the device and copying the sparse operand there.
    pub preparation: f64,
    /// One launch each, out of memory.
    pub cold: Vec<f64>,
    /// Mean of launches in a row, out of what the caches hold.
    pub warm: f64,
}

thread_local! {
    static ASKED: RefCell<Option<(LaunchPlan, Option<Times>)>> = const { RefCell::new(None) };
}

/// Calls `run`, and has the kernel that it launches timed. No times where it launched none through `queue`.
pub fn metered<T>(plan: LaunchPlan, run: impl FnOnce() -> T) -> (T, Option<Times>) {
    let before = ASKED.replace(Some((plan, None)));
    let result = run();
    let asked = ASKED.replace(before);
    (result, asked.and_then(|(_, times)| times))
}

/// Launches a kernel once, and for the clock where this thread asked for times. `preparation` is passed on.
pub(crate) fn queue(
    gpu: &Gpu,
    preparation: f64,
    mut launch: impl FnMut() -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    launch()?;
    match ASKED.with_borrow(|asked| asked.as_ref().map(|(plan, _)| *plan)) {
        Some(plan) => clocked_as_planned(gpu, plan, preparation, &mut launch),
        None => Ok(()),
    }
}

fn clocked_as_planned(
    gpu: &Gpu,
    plan: LaunchPlan,
    preparation: f64,
    launch: &mut dyn FnMut() -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    gpu.wait()?;
    let mut times = Times { preparation, ..Times::default() };
    // One call is not timed: modules are loaded and clocks are up.
    launch()?;
    for _ in 0..plan.cold {
        flush(gpu)?;
        times.cold.push(clocked(gpu, launch, 1)?);
    }
    if plan.warm > 0 {
        times.warm = clocked(gpu, launch, plan.warm)?;
    }
    ASKED.with_borrow_mut(|asked| {
        if let Some((_, found)) = asked {
            *found = Some(times);
        }
    });
    Ok(())
}

/// Runs `prepare` and returns the seconds that it took, copies to the device included.
pub(crate) fn prepared<P>(
    gpu: &Gpu,
    prepare: impl FnOnce() -> Result<P, Refusal>,
) -> Result<(P, f64), Refusal> {
    let start = Instant::now();
    let made = prepare()?;
    if ASKED.with_borrow(Option::is_some) {
        gpu.wait()?;
    }
    Ok((made, start.elapsed().as_secs_f64()))
}

/// Mean seconds of a launch. Compiled once, not for each kernel.
pub(super) fn clocked(
    gpu: &Gpu,
    launch: &mut dyn FnMut() -> Result<(), Refusal>,
    times: usize,
) -> Result<f64, Refusal> {
    let stream = gpu.silicon()?.stream();
    let event = || {
        let timing = Some(CUevent_flags::CU_EVENT_DEFAULT);
        stream.record_event(timing).map_err(failed("record an event"))
    };
    let start = event()?;
    for _ in 0..times {
        launch()?;
    }
    let end = event()?;
    let milliseconds = start.elapsed_ms(&end).map_err(failed("read an event"))?;
    Ok(f64::from(milliseconds) / 1e3 / times as f64)
}
