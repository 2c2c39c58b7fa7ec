//! `wgmma`: products that count as done only after a wait, and read shared memory on a way of their own.
//!
//! ```text
//! st, cp.async + wait   fence.proxy.async   bar.sync   wgmma.fence   mma_async  mma_async   commit_group   wait_group 0
//!                       |- written for wgmma          |- registers   |------ D and shared memory are its own ------|
//! ```
//!
//! Each warp of the group computes its 16 rows where it comes to the instruction. D is undefined until the wait. What is wrong where it
//! is not done: a `fence.proxy.async` between a write and the product that reads it (by who wrote, before the barrier, or by who
//! multiplies, after it); a `wgmma.fence` after the last write to registers of A or D; the wait, before shared memory or registers of D are
//! written. Not seen: registers of A that are overwritten before the wait, and a write behind the fence of what the register held.

mod checks;
mod layout;
mod operand;
mod proxy;

use super::block::Shared;
use super::grid::Machine;
use super::matrix::defined;
use super::step::site;
use super::warp::Warp;
use crate::check::Kind;
use crate::exec::matrix::{Element, GroupA, PreparedGroup};
use crate::memory::Epoch;
use crate::program::{GroupAct, GroupMma, GroupOperand};
use crate::registers::{ALL, LANES, Mask, Registers, Slot};
pub(super) use checks::check_used;
use checks::{check_group, check_registers, check_results, uniform};
use operand::{Tile, check_reads, operand};
pub(super) use proxy::{Proxy, proxy_fence};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Products of a warp that are remembered while they are open.
const MOST: usize = 256;
/// Warps of a group.
const WARPS: u32 = 4;
/// Rows of a warp.
const ROWS: usize = 16;

/// A register, and the lanes that are defined.
type Word = ([u32; LANES], Mask);

/// Products of a warp that nobody waited for yet.
#[derive(Debug, Default)]
pub(super) struct Products {
    /// The registers of A and D at the last `wgmma.fence`.
    fenced: Option<Vec<Word>>,
    open: Vec<Pending>,
    /// What registers of D will hold.
    results: BTreeMap<u16, Held>,
    /// How often was committed.
    commits: u32,
    /// A digest of the products, and the last of them: all warps of a group have the same.
    digest: u64,
    last: u32,
}

/// A product.
#[derive(Debug)]
struct Pending {
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
    /// Of the product.
    step: u32,
}

impl Products {
    /// Something that is the same in all warps of a group.
    fn note(&mut self, number: u64) {
        self.digest = (self.digest ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }

    /// Whether registers are D of a product that is open.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        !self.results.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Products::default();
    }
}

/// Executes an instruction for a warp whose lanes are all there.
pub(super) fn run(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, act: &GroupAct, at: u32) {
    match act {
        GroupAct::Fence => {
            let words = |&slot: &u16| word(&warp.registers, Slot::narrow(slot));
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
    warp.products.note(at.into());
    warp.products.last = at;
    check_group(machine, shared, warp, at);
    check_registers(machine, shared, warp, product, at);
    let prepared = prepared(machine, product, at)?;
    let mut reads = Vec::new();
    let (n, k) = (prepared.columns(), usize::from(product.instruction.k));
    let b = Tile { descriptor: product.b, which: 1, across: 0..n, k, apart: (1, n) };
    let mut b = operand(machine, shared, warp, (product, &b), at, &mut reads)?;
    if product.negative {
        b.iter_mut().for_each(|(bits, _)| *bits ^= sign(product));
    }
    let metadata = product.metadata.map(|(slot, _)| word(&warp.registers, slot));
    let mut scratch = match &product.a {
        GroupOperand::Registers(a) => {
            let a: Vec<_> = a.iter().map(|&slot| word(&warp.registers, slot)).collect();
            prepared.scratch(GroupA::Registers(&a), metadata)
        }
        GroupOperand::Shared(descriptor) => {
            let top = (warp.first / 32 % WARPS) as usize * ROWS;
            let k = prepared.products();
            let a = Tile { descriptor: *descriptor, which: 0, across: top..top + ROWS, k, apart: (k, 1) };
            let rows = operand(machine, shared, warp, (product, &a), at, &mut reads)?;
            prepared.scratch(GroupA::Rows(&rows), metadata)
        }
    };
    let adds = uniform(machine, shared, warp, product.adds, at) != 0;
    warp.products.note(adds.into());
    check_results(machine, shared, warp);
    sums(warp, (product, &prepared), &mut scratch, (&b, adds), at)?;
    product.d.iter().for_each(|&slot| warp.registers.define(slot, ALL, 0));
    if warp.products.open.len() >= MOST {
        let older: Vec<Pending> = warp.products.open.drain(..MOST / 2).collect();
        older.iter().for_each(|product| check_reads(machine, shared, warp, product));
    }
    let since = Epoch::floor(machine.device.tick());
    warp.products.open.push(Pending { step: at, group: warp.products.commits, since, reads });
    Ok(())
}

/// D, 8 columns after another.
fn sums(
    warp: &mut Warp,
    (product, prepared): (&GroupMma, &PreparedGroup),
    scratch: &mut Registers,
    (b, adds): (&[Element], bool),
    at: u32,
) -> Result<(), String> {
    let each = prepared.part().d.len();
    for (j, d) in product.d.chunks(each).enumerate() {
        prepared.put_b(scratch, b, j);
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
        let known = defined(scratch, prepared.part());
        prepared.apply(scratch).map_err(|error| error.to_string())?;
        for ((&from, slot), known) in prepared.part().d.iter().zip(d).zip(known) {
            let words = scratch.narrow[usize::from(from.index)];
            let held = Held { words, defined: known, group: warp.products.commits, step: at };
            warp.products.results.insert(slot.index, held);
        }
    }
    Ok(())
}

/// The instruction, prepared where it is executed for the first time in this launch.
fn prepared(machine: &mut Machine<'_>, product: &GroupMma, at: u32) -> Result<Rc<PreparedGroup>, String> {
    if let Some(prepared) = machine.groups.get(&at) {
        return Ok(Rc::clone(prepared));
    }
    let selector = product.metadata.map(|(_, selector)| selector);
    let new = PreparedGroup::new(machine.launch.architecture, product.instruction, selector);
    let new = Rc::new(new.map_err(|error| error.to_string())?);
    machine.groups.insert(at, Rc::clone(&new));
    Ok(new)
}

/// What a register holds.
fn word(registers: &Registers, slot: Slot) -> Word {
    (registers.narrow[usize::from(slot.index)], registers.defined(slot))
}

/// The bit that is the sign of an element.
fn sign(product: &GroupMma) -> u32 {
    1 << (8 * product.instruction.input.bytes() - 1)
}

/// Completes the products of all but the last groups.
fn wait(machine: &mut Machine<'_>, shared: &mut Shared, warp: &mut Warp, open: u32) {
    check_results(machine, shared, warp);
    let commits = warp.products.commits;
    let complete = |group: u32| u64::from(group) + u64::from(open) < u64::from(commits);
    let mut products = std::mem::take(&mut warp.products);
    for product in products.open.iter().filter(|product| complete(product.group)) {
        check_reads(machine, shared, warp, product);
    }
    products.open.retain(|product| !complete(product.group));
    let Products { results, fenced, .. } = &mut products;
    results.retain(|&slot, held| {
        let done = complete(held.group);
        if done {
            put(&mut warp.registers, slot, held);
            // D of one product is C of the next without another fence.
            let at = machine.group_slots.binary_search(&slot).ok();
            if let (Some(fenced), Some(at)) = (fenced.as_mut(), at) {
                fenced[at] = word(&warp.registers, Slot::narrow(slot));
            }
        }
        !done
    });
    warp.products = products;
}

/// Writes D. What was written to it meanwhile stays, and was found.
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

/// At the end of a block: what was never waited for, and whether the warps of each group have executed the same.
pub(super) fn compare(machine: &mut Machine<'_>, shared: &mut Shared, warps: &mut [Warp]) {
    if machine.group_slots.is_empty() {
        return;
    }
    for warp in &mut *warps {
        check_results(machine, shared, warp);
        let open = std::mem::take(&mut warp.products.open);
        open.iter().for_each(|product| check_reads(machine, shared, warp, product));
    }
    for group in warps.chunks(WARPS as usize) {
        let Some(first) = group.first() else { continue };
        if let Some(other) = group.iter().find(|warp| warp.products.digest != first.products.digest) {
            let place = site(machine, shared, other, other.products.last, 1);
            let (a, b) = (first.first / 32, other.first / 32);
            machine.log.report(Kind::NotConverged, place, || {
                let words = format!(
                    "warps {a} and {b} of a group have not executed the same products with the same descriptors and scale-d; this was the last \
                     of warp {b}"
                );
                (None, words)
            });
        }
    }
}
