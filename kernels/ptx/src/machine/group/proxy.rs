//! Which writes to shared memory were made known to `wgmma`, which reads it on a way of its own.
//!
//! ```text
//! write   fence.proxy.async   barrier                       product        by who wrote
//! write                       barrier   fence.proxy.async   product        by who multiplies, all 32 lanes
//! ```

use crate::check::{Kind, Partner, Wording};
use crate::machine::block::Shared;
use crate::machine::grid::Machine;
use crate::machine::space::Part;
use crate::machine::step::site;
use crate::machine::warp::Warp;
use crate::memory::Epoch;
use crate::registers::{ALL, LANES, Mask};

/// Who has made known to `wgmma` what it wrote: by thread, until now and until the last barrier of the block.
#[derive(Debug)]
pub(in crate::machine) struct Proxy {
    last: Vec<Epoch>,
    met: Vec<Epoch>,
}

impl Proxy {
    pub(in crate::machine) fn new(threads: usize) -> Proxy {
        Proxy { last: vec![Epoch::default(); threads], met: vec![Epoch::default(); threads] }
    }

    pub(in crate::machine) fn clear(&mut self) {
        self.last.fill(Epoch::default());
        self.met.fill(Epoch::default());
    }

    /// A barrier of the whole block.
    pub(in crate::machine) fn meet(&mut self) {
        self.met.clone_from(&self.last);
    }

    /// Whether a fence stands between a write and a warp that reads now: `loose` where other things than barriers of the whole
    /// block order threads, and any fence of the writer will do.
    fn covers(&self, write: Epoch, reader: u32, (era, loose): (Epoch, bool)) -> bool {
        let writer = write.thread();
        let of = |list: &[Epoch], thread: u32| list.get(thread as usize).copied().unwrap_or_default();
        let near = loose || writer / 32 == reader / 32;
        let after = || (reader..reader + 32).map(|thread| of(&self.last, thread)).min().unwrap_or_default();
        of(&self.met, writer) > write
            || near && of(&self.last, writer) > write
            || write < era && after() > era
    }
}

/// `fence.proxy.async` by some lanes.
pub(in crate::machine) fn proxy_fence(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    active: Mask,
) {
    if let Some(proxy) = &mut shared.proxy {
        let now = Epoch::floor(machine.device.tick());
        for (lane, thread) in (warp.first..).take(LANES).enumerate() {
            if active >> lane & 1 == 1
                && let Some(last) = proxy.last.get_mut(thread as usize)
            {
                *last = now;
            }
        }
    }
}

/// Whether what these lanes read was.
pub(super) fn check_proxy(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, part: &Part, step: u32) {
    let Some(proxy) = &shared.proxy else { return };
    let loose = shared.fine.is_some() || shared.heard.is_some();
    let lanes = (0..LANES).filter(|&lane| part.mask >> lane & 1 == 1);
    let stray =
        lanes.flat_map(|lane| shared.memory.shadow.writes(part.at[lane] as usize, 16)).find(|&write| {
            write >= shared.start && !write.special() && !proxy.covers(write, warp.first, (shared.era, loose))
        });
    let Some(write) = stray else { return };
    if !machine.log.again(Kind::NoProxyFence, step as usize) {
        let words = "without a fence.proxy.async of that thread before the barrier between them, or of this warp after it";
        let said = by(machine, shared, write, "reads shared memory", words);
        machine.log.add(Kind::NoProxyFence, site(machine, shared, warp, step, ALL), said);
    }
}

/// What is said about a write to shared memory.
pub(super) fn by(machine: &Machine<'_>, shared: &Shared, write: Epoch, what: &str, why: &str) -> Wording {
    let thread = machine.thread_index(write.thread());
    let line = write.step().map(|step| machine.log.line(step));
    let at = line.map_or_else(String::new, |line| format!(" at line {line}"));
    let [x, y, z] = thread;
    let explanation = format!("{what}, written by thread ({x},{y},{z}){at}, {why}");
    Wording {
        allocation: None,
        partner: Some(Partner { thread, block: Some(shared.index), line }),
        explanation,
    }
}
