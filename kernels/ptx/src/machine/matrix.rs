//! `ldmatrix`, `mma` and `wgmma`: instructions of a whole warp.

use super::access::lanes;
use super::block::Shared;
use super::grid::Machine;
use super::group;
use super::record::{Touch, count, touch};
use super::space::{Part, Request, addresses, next_part};
use super::step::{Flow, site};
use super::warp::{State, Warp};
use crate::check::Kind;
use crate::exec::matrix::{MatrixError, PreparedMma};
use crate::program::{Act, Address, Mma};
use crate::registers::{ALL, LANES, Mask, Registers, Slot};
use crate::text::Space;
use std::collections::btree_map::Entry;

/// Waits for the lanes that live, and runs.
pub(super) fn run(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    act: &Act,
    at: u32,
    active: Mask,
) -> Flow {
    let joined = warp.gather(at);
    let here = active | joined;
    if warp.live & !here != 0 {
        warp.push(at, here, State::Collective { live: warp.live });
        return Flow::Lanes { joined: 0, parked: here };
    }
    if here != ALL {
        let place = site(machine, shared, warp, at, here);
        machine.log.report(Kind::NotConverged, place, || {
            let absent = !here;
            (
                None,
                format!(
                    "all 32 lanes have to execute this; lanes {absent:#010x} have exited or do not exist"
                ),
            )
        });
    }
    match act {
        Act::LoadMatrix { d, transposed, address } => {
            load(machine, shared, warp, (d, *transposed, address), at, here);
        }
        Act::Mma(mma) => multiply(machine, shared, warp, mma, at),
        Act::Group(act) => group::run(machine, shared, warp, act, at),
        Act::Lanes { .. }
        | Act::Load(_)
        | Act::Store(_)
        | Act::Atomic(_)
        | Act::Fence(_)
        | Act::ProxyFence { .. }
        | Act::Copy(_)
        | Act::Commit
        | Act::Wait(_)
        | Act::Shuffle { .. }
        | Act::Vote { .. }
        | Act::Reduce { .. }
        | Act::WarpBarrier { .. }
        | Act::Barrier { .. }
        | Act::Branch { .. }
        | Act::Exit => {}
    }
    Flow::Lanes { joined, parked: 0 }
}

/// The only place that computes a product of matrices.
fn multiply(machine: &mut Machine<'_>, shared: &Shared, warp: &mut Warp, mma: &Mma, at: u32) {
    let defined = defined(&warp.registers, mma);
    match prepared(machine, mma, at).and_then(|prepared| prepared.apply(&mut warp.registers)) {
        Ok(()) => {
            for (&slot, lanes) in mma.d.iter().zip(defined) {
                warp.registers.define(slot, ALL, lanes);
            }
        }
        Err(error) => {
            let place = site(machine, shared, warp, at, warp.live);
            machine.log.report(Kind::Unsupported, place, || (None, error.to_string()));
            machine.stopped = true;
        }
    }
}

/// The instruction, prepared where it is executed for the first time in this launch.
fn prepared<'a>(machine: &'a mut Machine<'_>, mma: &Mma, at: u32) -> Result<&'a PreparedMma, MatrixError> {
    match machine.matrices.entry(at) {
        Entry::Occupied(known) => Ok(known.into_mut()),
        Entry::Vacant(new) => Ok(new.insert(PreparedMma::new(machine.launch.architecture, mma)?)),
    }
}

/// The lanes of each register of D that depend on nothing undefined. Lanes 4g to 4g + 3 hold rows g and g + 8 of A (every second
/// register each) and column g of B; D has rows g, g + 8 and columns 2t, 2t + 1 in lane 4g + t.
pub(super) fn defined(registers: &Registers, mma: &Mma) -> Vec<Mask> {
    let all = |slots: &mut dyn Iterator<Item = &Slot>| {
        slots.fold(ALL, |mask, &slot| mask & registers.defined(slot))
    };
    let metadata = mma.metadata.map_or(ALL, |(slot, _)| registers.defined(slot));
    let rows: [Mask; 2] =
        std::array::from_fn(|half| quads(metadata & all(&mut mma.a.iter().skip(half).step_by(2))));
    let columns = quads(all(&mut mma.b.iter()));
    let tall = mma.instruction.m == 16;
    let column = |n: usize| columns >> (4 * n) & 1;
    mma.d
        .iter()
        .zip(&mma.c)
        .enumerate()
        .map(|(i, (_, &c))| {
            // Two elements a register, or one.
            let pairs = mma.d.len() == 2 && tall;
            let row = match (tall, pairs) {
                (false, _) => rows[0] & if mma.a.len() > 1 { rows[1] } else { ALL },
                (true, true) => rows[i & 1],
                (true, false) => rows[(i / 2) & 1],
            };
            let of_column = (0..LANES).fold(0, |mask, lane| {
                let first = 2 * (lane % 4);
                let both = column(first) & column(first + 1);
                mask | if pairs { both } else { column(first + i % 2) } << lane
            });
            row & of_column & registers.defined(c)
        })
        .collect()
}

/// Lanes whose four neighbours are all in the mask.
fn quads(mask: Mask) -> Mask {
    let pairs = mask & mask >> 1;
    let first = pairs & pairs >> 2 & 0x1111_1111;
    first * 15
}

/// Rows of 16 bytes from shared memory, as their lanes name them; each lane gets two elements of each matrix.
fn load(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    (d, transposed, address): (&[Slot], bool, &Address),
    step: u32,
    here: Mask,
) {
    let named = if d.len() == 4 { ALL } else { (1 << (8 * d.len())) - 1 };
    let mut at = [0; LANES];
    let undefined = addresses(machine, shared, warp, address, step, here & named, &mut at);
    let request = Request { space: Space::Shared, bytes: 16, align: 16, writes: false, step, undefined };
    let mut rows = [[0u16; 8]; LANES];
    let mut known = [0xffu8; LANES];
    let mut rest = here & named;
    let mut part = Part::new();
    while next_part(machine, shared, warp, request, &at, &mut rest, &mut part) {
        count(machine, &part, 16);
        if machine.launch.checks.races {
            let read = Touch { step, bytes: 16, width: 4, writes: false, special: false };
            touch(machine, shared, warp, &part, read);
        }
        let span = part.target.span(machine, shared);
        for lane in lanes(part.mask) {
            for (i, element) in rows[lane].iter_mut().enumerate() {
                let at = part.at[lane] as usize + 2 * i;
                *element = span.get::<2>(at) as u16;
                known[lane] &= !(u8::from(!span.is_defined(at, 2)) << i);
            }
        }
    }
    for (matrix, &slot) in d.iter().enumerate() {
        let rows = &rows[8 * matrix..][..8];
        let known = &known[8 * matrix..][..8];
        let place = |lane: usize, i: usize| {
            let (row, column) = (lane / 4, 2 * (lane % 4) + i);
            if transposed { (column, row) } else { (row, column) }
        };
        let mut defined = 0;
        let register = &mut warp.registers.narrow[usize::from(slot.index)];
        for (lane, value) in register.iter_mut().enumerate() {
            let [(r0, c0), (r1, c1)] = [place(lane, 0), place(lane, 1)];
            *value = u32::from(rows[r0][c0]) | u32::from(rows[r1][c1]) << 16;
            defined |= u32::from(known[r0] >> c0 & known[r1] >> c1 & 1) << lane;
        }
        warp.registers.define(slot, ALL, defined);
    }
}
