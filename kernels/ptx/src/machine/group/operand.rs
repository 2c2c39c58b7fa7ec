//! A and B in shared memory: read for a product, and its own until it is waited for.

use super::layout::TileLayout;
use super::proxy::{by, check_proxy};
use super::{Pending, uniform};
use crate::check::Kind;
use crate::exec::matrix::Element;
use crate::machine::block::Shared;
use crate::machine::grid::Machine;
use crate::machine::record::{Touch, shadow, touch};
use crate::machine::space::{Location, Part};
use crate::machine::step::site;
use crate::machine::warp::Warp;
use crate::memory::Span;
use crate::program::GroupMma;
use crate::registers::{ALL, LANES, Slot};
use std::ops::Range;

/// What is wanted of an operand in shared memory.
pub(super) struct Tile {
    pub(super) descriptor: Slot,
    /// 0 is A, 1 is B.
    pub(super) which: usize,
    /// Rows of A or columns of B.
    pub(super) across: Range<usize>,
    pub(super) k: usize,
    /// How far apart elements are put that are neighbours across, and along k.
    pub(super) apart: (usize, usize),
}

/// Reads an operand from shared memory.
pub(super) fn operand(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    (product, wanted): (&GroupMma, &Tile),
    at: u32,
    reads: &mut Vec<u32>,
) -> Result<Vec<Element>, String> {
    let Tile { descriptor, which, ref across, k, apart } = *wanted;
    let bits = uniform(machine, shared, warp, descriptor, at);
    warp.products.note(bits);
    let bytes = product.instruction.input.bytes();
    let layout = TileLayout::of(bits, product.transposed[which], (k, bytes))
        .map_err(|why| format!("the descriptor of {} is {bits:#018x}: {why}", ["A", "B"][which]))?;
    let mut elements = vec![(0, false); across.len() * k];
    let (each, transposed) = (layout.each(), layout.transposed());
    let (step_across, step_k, next) = if transposed { (each, 1, apart.0) } else { (1, each, apart.1) };
    let from = reads.len();
    for first in across.clone().step_by(step_across) {
        for first_k in (0..k).step_by(step_k) {
            let place = layout.at(first, first_k);
            reads.push(place);
            let to = (first - across.start) * apart.0 + first_k * apart.1;
            chunk(&shared.memory, place as usize, bytes, elements[to..].iter_mut().step_by(next));
        }
    }
    enter(machine, shared, warp, &reads[from..], at);
    Ok(elements)
}

/// The elements of 16 bytes.
#[inline]
fn chunk<'e>(memory: &Span, at: usize, bytes: usize, to: impl Iterator<Item = &'e mut Element>) {
    let held: [u8; 16] =
        memory.bytes.get(at..at + 16).and_then(|held| held.try_into().ok()).unwrap_or_default();
    let all = memory.is_defined(at, 16);
    let defined = |i: usize| all || memory.is_defined(at + i * bytes, bytes);
    if bytes == 2 {
        for ((i, pair), element) in held.as_chunks::<2>().0.iter().enumerate().zip(to) {
            *element = (u16::from_le_bytes(*pair).into(), defined(i));
        }
    } else {
        for ((i, word), element) in held.as_chunks::<4>().0.iter().enumerate().zip(to) {
            *element = (u32::from_le_bytes(*word), defined(i));
        }
    }
}

/// Reads of 16 bytes each, as lanes make them.
fn part(reads: &[u32]) -> Part {
    let mut part = Part { target: Location::Shared, ..Part::new() };
    for (lane, &read) in reads.iter().enumerate().take(LANES) {
        part.mask |= 1 << lane;
        part.at[lane] = read;
    }
    part
}

/// A read by the whole warp, by this step.
const fn read(step: u32) -> Touch {
    Touch { step, bytes: 16, width: 4, writes: false, special: true }
}

/// Enters reads into the shadow, and looks whether what they read was written for them.
fn enter(machine: &mut Machine<'_>, shared: &mut Shared, warp: &Warp, reads: &[u32], step: u32) {
    let len = shared.memory.len() as u32;
    for reads in reads.chunks(LANES) {
        let mut part = part(reads);
        for lane in (0..reads.len()).filter(|&lane| reads[lane].saturating_add(16) > len) {
            (part.mask, part.at[lane]) = (part.mask & !(1 << lane), 0);
            let place = site(machine, shared, warp, step, 1 << lane);
            let at = reads[lane];
            machine.log.report(Kind::OutOfBounds, place, || {
                (None, format!("the product reads 16 bytes at {at} of shared memory, which has {len}"))
            });
        }
        if machine.launch.checks.races && !touch(machine, shared, warp, &part, read(step)) {
            check_proxy(machine, shared, warp, &part, step);
        }
    }
}

/// Until the wait a product may read at any time: what it reads must not have been written, and was read now.
pub(super) fn check_reads(machine: &mut Machine<'_>, shared: &mut Shared, warp: &Warp, product: &Pending) {
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
            let said = by(
                machine,
                shared,
                write,
                &what,
                "before this was waited for: write behind wgmma.wait_group and a barrier",
            );
            machine.log.add(Kind::OpenProduct, site(machine, shared, warp, product.step, ALL), said);
        }
        return;
    }
    for reads in product.reads.chunks(LANES) {
        shadow(machine, shared, warp, &part(reads), read(product.step));
        machine.conflicts.clear();
    }
}
