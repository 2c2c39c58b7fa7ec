//! `wgmma`: products that count as done only after a wait, and read shared memory on a way of their own.
//!
//! ```text
//! st, cp.async + wait   fence.proxy.async   bar.sync   wgmma.fence   mma_async  mma_async   commit_group   wait_group 0
//!                       |- written for wgmma          |- registers   |------ D and shared memory are its own ------|
//! ```
//!
//! Each warp of the group computes its 16 rows where it comes to the instruction. D is undefined until the wait. What is wrong where it
//! is not done: a `fence.proxy.async` between a write and the product that reads it (by who wrote, before the barrier, or by who
//! multiplies, after it); a `wgmma.fence` after the last write to registers of A or D; the wait, before shared memory is written or
//! registers are read. Registers of A that are overwritten before the wait are not seen.

use super::block::Shared;
use super::grid::Machine;
use super::matrix::defined;
use super::operand::Layout;
use super::record::{Touch, conflicts, shadow};
use super::space::{Location, Part};
use super::step::site;
use super::warp::Warp;
use crate::check::{Kind, Partner, Wording};
use crate::exec::matrix::{Element, GroupA, PreparedGroup};
use crate::memory::Epoch;
use crate::program::{GroupAct, GroupMma, GroupOperand};
use crate::registers::{ALL, LANES, Mask, Registers, Slot};
use std::collections::BTreeMap;

/// Open products of a warp that are remembered.
const MOST: usize = 4096;
/// Warps of a group.
const WARPS: u32 = 4;
/// Rows of a warp.
const ROWS: usize = 16;

/// Who has made known to `wgmma` what it wrote: by thread, until now and until the last barrier of the block.
#[derive(Debug)]
pub(super) struct Proxy {
    last: Vec<Epoch>,
    met: Vec<Epoch>,
}

impl Proxy {
    pub(super) fn new(threads: usize) -> Proxy {
        Proxy { last: vec![Epoch::default(); threads], met: vec![Epoch::default(); threads] }
    }

    pub(super) fn clear(&mut self) {
        self.last.fill(Epoch::default());
        self.met.fill(Epoch::default());
    }

    /// A barrier of the whole block.
    pub(super) fn meet(&mut self) {
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

/// Products of a warp that nobody waited for yet.
#[derive(Debug, Default)]
pub(super) struct Products {
    /// The registers of A and D at the last `wgmma.fence`.
    fenced: Option<Vec<[u32; LANES]>>,
    open: Vec<Open>,
    /// What registers of D will hold.
    results: BTreeMap<u16, Held>,
    /// How often was committed.
    commits: u32,
    /// A digest of what was executed, and the last step of it: all warps of a group have the same.
    trail: (u64, u32),
}

/// A product.
#[derive(Debug)]
struct Open {
    step: u32,
    group: u32,
    since: Epoch,
    /// 16 bytes each of shared memory that it reads.
    reads: Vec<u32>,
}

/// What a register of D will hold.
#[derive(Clone, Copy, Debug)]
struct Held {
    words: [u32; LANES],
    defined: Mask,
    group: u32,
}

impl Products {
    pub(super) fn clear(&mut self) {
        *self = Products::default();
    }
}

/// `fence.proxy.async` by some lanes.
pub(super) fn proxy_fence(machine: &mut Machine<'_>, shared: &mut Shared, warp: &Warp, active: Mask) {
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

/// Executes an instruction for a warp whose lanes are all there.
pub(super) fn run(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, act: &GroupAct, at: u32) {
    let (digest, _) = warp.products.trail;
    warp.products.trail =
        ((digest.rotate_left(5) ^ u64::from(at + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15), at);
    match act {
        GroupAct::Fence => {
            let words = |&slot: &u16| warp.registers.narrow[usize::from(slot)];
            warp.products.fenced = Some(machine.group_slots.iter().map(words).collect());
        }
        GroupAct::Commit => warp.products.commits = warp.products.commits.saturating_add(1),
        GroupAct::Wait(open) => wait(machine, shared, warp, *open),
        GroupAct::Multiply(product) => {
            if let Err(why) = multiply(machine, shared, warp, product, at) {
                let place = site(machine, shared, warp, at, warp.live);
                machine.log.report(Kind::Unsupported, place, || (None, why));
                machine.stopped = true;
            }
        }
    }
}

fn multiply(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    product: &GroupMma,
    at: u32,
) -> Result<(), String> {
    check_group(machine, shared, warp, at);
    check_registers(machine, shared, warp, product, at);
    let selector = product.metadata.map(|(_, selector)| selector);
    let prepared = match machine.groups.get(&at) {
        Some(prepared) => prepared.clone(),
        None => {
            let new = PreparedGroup::new(machine.launch.architecture, product.instruction, selector);
            let new = new.map_err(|error| error.to_string())?;
            machine.groups.entry(at).or_insert(new).clone()
        }
    };
    let mut reads = Vec::new();
    let (n, k) = (prepared.columns(), usize::from(product.instruction.k));
    let b = operand(machine, shared, warp, (product, product.b, 1), (0..n, k), at, &mut reads)?;
    let mut columns = vec![(0, false); k * n];
    let sign = if product.negative { sign(product) } else { 0 };
    for (i, &(bits, defined)) in b.iter().enumerate() {
        columns[i % k * n + i / k] = (bits ^ sign, defined);
    }
    let metadata = product.metadata.map(|(slot, _)| word(&warp.registers, slot));
    let mut scratch = match &product.a {
        GroupOperand::Registers(a) => {
            let a: Vec<_> = a.iter().map(|&slot| word(&warp.registers, slot)).collect();
            prepared.scratch(GroupA::Registers(&a), metadata)
        }
        GroupOperand::Shared(descriptor) => {
            let top = (warp.first / 32 % WARPS) as usize * ROWS;
            let rows = (top..top + ROWS, prepared.products());
            let rows = operand(machine, shared, warp, (product, *descriptor, 0), rows, at, &mut reads)?;
            prepared.scratch(GroupA::Rows(&rows), metadata)
        }
    };
    let adds = uniform(machine, shared, warp, product.adds, at) != 0;
    let each = prepared.part().d.len();
    for (j, d) in product.d.chunks(each).enumerate() {
        prepared.put_b(&mut scratch, &columns, j);
        for (&to, slot) in prepared.part().d.iter().zip(d) {
            let held = warp.products.results.get(&slot.index);
            let (words, known) = match held {
                _ if !adds => ([0; LANES], ALL),
                Some(held) => (held.words, held.defined),
                None => word(&warp.registers, *slot),
            };
            scratch.narrow[usize::from(to.index)] = words;
            scratch.define(to, ALL, known);
        }
        let known = defined(&scratch, prepared.part());
        prepared.apply(&mut scratch).map_err(|error| error.to_string())?;
        for ((&from, slot), known) in prepared.part().d.iter().zip(d).zip(known) {
            let words = scratch.narrow[usize::from(from.index)];
            let held = Held { words, defined: known, group: warp.products.commits };
            warp.products.results.insert(slot.index, held);
        }
    }
    product.d.iter().for_each(|&slot| warp.registers.define(slot, ALL, 0));
    if warp.products.open.len() >= MOST {
        warp.products.open.drain(..MOST / 2);
    }
    let since = Epoch::floor(machine.device.tick());
    warp.products.open.push(Open { step: at, group: warp.products.commits, since, reads });
    Ok(())
}

/// A register, and the lanes that are defined.
fn word(registers: &Registers, slot: Slot) -> ([u32; LANES], Mask) {
    (registers.narrow[usize::from(slot.index)], registers.defined(slot))
}

/// The bit that is the sign of an element.
fn sign(product: &GroupMma) -> u32 {
    1 << (8 * product.instruction.input.bytes() - 1)
}

/// All four warps of the group must be there.
fn check_group(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, at: u32) {
    let first = warp.first / (32 * WARPS) * 32 * WARPS;
    let threads = machine.launch.threads() - u64::from(first);
    if threads < u64::from(32 * WARPS) {
        let place = site(machine, shared, warp, at, warp.live);
        machine.log.report(Kind::NotConverged, place, || {
            (
                None,
                format!(
                    "a group of four warps executes this; here are {threads} threads from thread {first} on"
                ),
            )
        });
    }
}

/// Registers of A and D must not have been written since the last `wgmma.fence`, nor belong to a product that is open, but for D itself.
fn check_registers(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, product: &GroupMma, at: u32) {
    let a = match &product.a {
        GroupOperand::Registers(a) => a.as_slice(),
        GroupOperand::Shared(_) => &[],
    };
    let open = a.iter().any(|slot| warp.products.results.contains_key(&slot.index));
    if open {
        let place = site(machine, shared, warp, at, ALL);
        machine.log.report(Kind::OpenProduct, place, || {
            (None, "a register of A is one of D of a product that is not waited for".to_owned())
        });
    }
    let free = a.iter().chain(&product.d).filter(|slot| !warp.products.results.contains_key(&slot.index));
    let changed = match &warp.products.fenced {
        None => true,
        Some(fenced) => free.into_iter().any(|slot| {
            let known = machine.group_slots.binary_search(&slot.index).ok().and_then(|i| fenced.get(i));
            known.is_none_or(|words| *words != warp.registers.narrow[usize::from(slot.index)])
        }),
    };
    if changed {
        let place = site(machine, shared, warp, at, ALL);
        machine.log.report(Kind::NoMatrixFence, place, || {
            let words = "registers of A or D were written after the last wgmma.fence, or there was none";
            (None, words.to_owned())
        });
    }
}

/// What a register or a predicate holds in all lanes.
fn uniform(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, slot: Slot, at: u32) -> u64 {
    let value = |lane: usize| match slot.class {
        crate::registers::Class::Predicate => {
            u64::from(warp.registers.predicates[usize::from(slot.index)] >> lane & 1)
        }
        _ => warp.registers.number(slot, lane),
    };
    let undefined = !warp.registers.defined(slot);
    if undefined != 0 {
        let place = site(machine, shared, warp, at, undefined);
        machine.log.report(Kind::UndefinedAddress, place, || {
            (
                None,
                format!("a descriptor or scale-d depends on something undefined in lanes {undefined:#010x}"),
            )
        });
    }
    let first = value(0);
    let others = (1..LANES).filter(|&lane| value(lane) != first).fold(0, |mask: Mask, lane| mask | 1 << lane);
    if others != 0 {
        let place = site(machine, shared, warp, at, others);
        machine.log.report(Kind::NotUniform, place, || {
            (None, format!("a descriptor or scale-d is another in lanes {others:#010x} than in lane 0"))
        });
    }
    first
}

/// Reads an operand from shared memory: its `k` elements for each row of A or column of B.
fn operand(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    (product, descriptor, which): (&GroupMma, Slot, usize),
    (across, k): (std::ops::Range<usize>, usize),
    at: u32,
    reads: &mut Vec<u32>,
) -> Result<Vec<Element>, String> {
    let bits = uniform(machine, shared, warp, descriptor, at);
    let (digest, last) = warp.products.trail;
    warp.products.trail = (digest ^ bits.wrapping_mul(0xd6e8_feb8_6659_fd93), last);
    let bytes = product.instruction.input.bytes();
    let layout = Layout::of(bits, product.transposed[which], (k, bytes))
        .map_err(|why| format!("the descriptor of {} is {bits:#018x}: {why}", ["A", "B"][which]))?;
    let mut elements = vec![(0, false); across.len() * k];
    let (step_across, step_k) = if layout.transposed() { (layout.each(), 1) } else { (1, layout.each()) };
    let from = reads.len();
    for first in across.clone().step_by(step_across) {
        for first_k in (0..k).step_by(step_k) {
            let place = layout.at(first, first_k);
            reads.push(place);
            for i in 0..layout.each() {
                let (row, col) =
                    if layout.transposed() { (first + i, first_k) } else { (first, first_k + i) };
                let byte = place as usize + i * bytes;
                let value =
                    if bytes == 2 { shared.memory.get::<2>(byte) } else { shared.memory.get::<4>(byte) };
                elements[(row - across.start) * k + col] =
                    (value as u32, shared.memory.is_defined(byte, bytes));
            }
        }
    }
    touch(machine, shared, warp, &reads[from..], at);
    Ok(elements)
}

/// Enters reads of 16 bytes each into the shadow, and looks whether what they read was written for them.
fn touch(machine: &mut Machine<'_>, shared: &mut Shared, warp: &Warp, reads: &[u32], step: u32) {
    let len = shared.memory.len() as u32;
    for reads in reads.chunks(LANES) {
        let mut part = Part { target: Location::Shared, mask: 0, at: [0; LANES], contiguous: false };
        for (lane, &read) in reads.iter().enumerate() {
            if read.saturating_add(16) <= len {
                part.mask |= 1 << lane;
                part.at[lane] = read;
            } else if machine.launch.checks.bounds {
                let place = site(machine, shared, warp, step, 1 << lane);
                machine.log.report(Kind::OutOfBounds, place, || {
                    (None, format!("the product reads 16 bytes at {read} of shared memory, which has {len}"))
                });
            }
        }
        if machine.launch.checks.races {
            shadow(
                machine,
                shared,
                warp,
                &part,
                Touch { step, bytes: 16, width: 4, writes: false, special: false },
            );
            if machine.conflicts.is_empty() {
                check_proxy(machine, shared, warp, &part, step);
            } else {
                conflicts(machine, shared, warp, &part, step, |_, _| false);
            }
        }
    }
}

fn check_proxy(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, part: &Part, step: u32) {
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
fn by(machine: &Machine<'_>, shared: &Shared, write: Epoch, what: &str, why: &str) -> Wording {
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

/// Completes the products of all but the last groups.
fn wait(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, open: u32) {
    let commits = warp.products.commits;
    let complete = |group: u32| u64::from(group) + u64::from(open) < u64::from(commits);
    let mut products = std::mem::take(&mut warp.products);
    for product in products.open.iter().filter(|product| complete(product.group)) {
        check_reads(machine, shared, warp, product);
    }
    products.open.retain(|product| !complete(product.group));
    products.results.retain(|&slot, held| {
        let done = complete(held.group);
        if done {
            put(&mut warp.registers, slot, held);
        }
        !done
    });
    warp.products = products;
}

/// Writes D where nothing else was written meanwhile.
fn put(registers: &mut Registers, slot: u16, held: &Held) {
    let free = !registers.defined(Slot::narrow(slot));
    let words = &mut registers.narrow[usize::from(slot)];
    for (lane, word) in words.iter_mut().enumerate() {
        if free >> lane & 1 == 1 {
            *word = held.words[lane];
        }
    }
    registers.define(Slot::narrow(slot), free, held.defined);
}

/// Until the wait a product may read at any time: what it reads must not have been written, and was read now.
fn check_reads(machine: &mut Machine<'_>, shared: &mut Shared, warp: &Warp, product: &Open) {
    if !machine.launch.checks.races {
        return;
    }
    let written = product.reads.iter().find_map(|&read| {
        let mut writes = shared.memory.shadow.writes(read as usize, 16);
        writes.find(|&write| write >= product.since).map(|write| (read, write))
    });
    if let Some((read, write)) = written {
        if !machine.log.again(Kind::OpenProduct, product.step as usize) {
            let what = format!("reads 16 bytes at {read} of shared memory");
            let said = by(machine, shared, write, &what, "before this was waited for");
            machine.log.add(Kind::OpenProduct, site(machine, shared, warp, product.step, ALL), said);
        }
        return;
    }
    for reads in product.reads.chunks(LANES) {
        let mut part = Part { target: Location::Shared, mask: 0, at: [0; LANES], contiguous: false };
        for (lane, &read) in reads.iter().enumerate() {
            part.mask |= 1 << lane;
            part.at[lane] = read;
        }
        let touch = Touch { step: product.step, bytes: 16, width: 4, writes: false, special: false };
        shadow(machine, shared, warp, &part, touch);
        machine.conflicts.clear();
    }
}

/// At the end of a block: the warps of each group have executed the same.
pub(super) fn compare(machine: &mut Machine<'_>, shared: &Shared, warps: &[Warp]) {
    if machine.group_slots.is_empty() {
        return;
    }
    for group in warps.chunks(WARPS as usize) {
        let Some(first) = group.first() else { continue };
        if let Some(other) = group.iter().find(|warp| warp.products.trail.0 != first.products.trail.0) {
            let place = site(machine, shared, other, other.products.trail.1, 1);
            let (a, b) = (first.first / 32, other.first / 32);
            machine.log.report(Kind::NotConverged, place, || {
                let words = format!(
                    "warps {a} and {b} of a group have not executed the same wgmma instructions with the same descriptors; this was the \
                     last of warp {b}"
                );
                (None, words)
            });
        }
    }
}
