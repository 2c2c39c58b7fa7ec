//! Which writes to shared memory were made known to `wgmma`, which reads it on a way of its own.
//!
//! ```text
//! write   fence.proxy.async   barrier                       product        by who wrote
//! write                       barrier   fence.proxy.async   product        by who multiplies, all 32 lanes
//! write            barrier    fence.proxy.async   barrier   product        by anybody between
//! ```

use crate::check::{Kind, Partner, Wording};
use crate::machine::block::Shared;
use crate::machine::grid::Machine;
use crate::machine::space::Part;
use crate::machine::step::site;
use crate::machine::warp::Warp;
use crate::memory::Epoch;
use crate::registers::{ALL, LANES, Mask};

/// Who has made known to `wgmma` what was written.
#[derive(Debug)]
pub(in crate::machine) struct Proxy {
    /// By thread, its last fence: what it wrote before is covered.
    last: Vec<Epoch>,
    /// The same at the last barrier of the block.
    met: Vec<Epoch>,
    /// By thread, the last barrier before its last fence: what anybody wrote before that is covered for itself.
    seen: Vec<Epoch>,
    /// By warp, the last barrier of the warp before a fence of one of its lanes: what its lanes wrote before that is covered; and the same at
    /// the last barrier of the block.
    near: Vec<Epoch>,
    met_near: Vec<Epoch>,
    /// The latest of what is `seen`, by any thread, and what it was at the last barrier: covered for all.
    seen_by_any: Epoch,
    met_by_any: Epoch,
}

impl Proxy {
    pub(in crate::machine) fn new(threads: usize) -> Proxy {
        let none = || vec![Epoch::default(); threads];
        let (seen_by_any, met_by_any) = (Epoch::default(), Epoch::default());
        let warps = || vec![Epoch::default(); threads.div_ceil(32)];
        let (near, met_near) = (warps(), warps());
        Proxy { last: none(), met: none(), seen: none(), near, met_near, seen_by_any, met_by_any }
    }

    pub(in crate::machine) fn clear(&mut self) {
        *self = Proxy::new(self.last.len());
    }

    /// A barrier of the whole block.
    pub(in crate::machine) fn meet(&mut self) {
        self.met.clone_from(&self.last);
        self.met_near.clone_from(&self.near);
        self.met_by_any = self.seen_by_any;
    }

    /// A fence of a thread, `era` being the last barrier of the block and `floor` that of its warp.
    fn fence(&mut self, thread: usize, now: Epoch, (era, floor): (Epoch, Epoch)) {
        if let (Some(last), Some(seen)) = (self.last.get_mut(thread), self.seen.get_mut(thread)) {
            (*last, *seen) = (now, era);
            self.seen_by_any = self.seen_by_any.max(era);
        }
        if let Some(near) = self.near.get_mut(thread / 32) {
            *near = floor.max(*near);
        }
    }

    /// Whether a fence stands between a write and a warp that reads now. `loose` is where other things than barriers of the whole block
    /// order threads: any later fence of the two will do.
    fn covers(&self, write: Epoch, reader: u32, loose: bool) -> bool {
        let writer = write.thread();
        let of = |list: &[Epoch], thread: u32| list.get(thread as usize).copied().unwrap_or_default();
        let all = |list: &[Epoch]| (reader..reader + 32).map(|lane| of(list, lane)).min().unwrap_or_default();
        let near = loose || writer / 32 == reader / 32;
        let warp = |list: &[Epoch]| of(list, writer / 32) > write;
        of(&self.met, writer) > write
            || near && (of(&self.last, writer) > write || warp(&self.near))
            || warp(&self.met_near)
            || self.met_by_any > write
            || all(&self.seen) > write
            || loose && all(&self.last) > write
    }
}

/// `fence.proxy.async` by some lanes.
pub(in crate::machine) fn proxy_fence(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    active: Mask,
) {
    let before = (shared.era, warp.floor);
    if let Some(proxy) = &mut shared.proxy {
        let now = Epoch::floor(machine.device.tick());
        (0..LANES).filter(|lane| active >> lane & 1 == 1).for_each(|lane| {
            proxy.fence(warp.first as usize + lane, now, before);
        });
    }
}

/// Whether what these lanes read was.
pub(super) fn check_proxy(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, part: &Part, step: u32) {
    let Some(proxy) = &shared.proxy else { return };
    let loose = shared.fine.is_some() || shared.heard.is_some();
    let lanes = (0..LANES).filter(|&lane| part.mask >> lane & 1 == 1);
    let stray = lanes
        .flat_map(|lane| shared.memory.shadow.writes(part.at[lane] as usize, 16))
        .find(|&write| write >= shared.start && !write.special() && !proxy.covers(write, warp.first, loose));
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
