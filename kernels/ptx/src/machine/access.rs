//! `ld` and `st`.

use super::block::Shared;
use super::grid::Machine;
use super::group;
use super::record::record;
use super::space::{Part, Request, addresses, next_part};
use super::warp::Warp;
use crate::memory::Span;
use crate::program::Access;
use crate::registers::{ALL, Class, LANES, Mask, Registers, Slot};

/// `ld`: lanes with bad addresses get [`zeros`].
pub(super) fn load(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    access: &Access,
    step: u32,
    active: Mask,
) {
    let mut at = [0; LANES];
    let undefined = addresses(machine, shared, warp, &access.address, step, active, &mut at);
    let request = Request {
        space: access.space,
        bytes: access.bytes(),
        align: access.bytes().next_power_of_two(),
        writes: false,
        step,
        undefined,
    };
    let mut rest = active;
    let mut good = 0;
    let mut part = Part::new();
    while next_part(machine, shared, warp, request, &at, &mut rest, &mut part) {
        good |= part.mask;
        record(machine, shared, warp, &part, (access, step), false);
        read_part(part.target.span(machine, shared), &mut warp.registers, access, &part);
    }
    if good != active {
        for &slot in access.data.iter().take(usize::from(access.count)) {
            zeros(&mut warp.registers, slot, active & !good);
        }
    }
}

/// What lanes with bad addresses get: these count as defined, since the address was reported already.
pub(super) fn zeros(registers: &mut Registers, slot: Slot, mask: Mask) {
    put_lanes(registers, slot, mask, |_| 0);
    registers.define(slot, mask, ALL);
}

/// `st`: lanes with bad addresses store nothing.
pub(super) fn store(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &mut Warp,
    access: &Access,
    step: u32,
    active: Mask,
) {
    let mut at = [0; LANES];
    let undefined = addresses(machine, shared, warp, &access.address, step, active, &mut at);
    let request = Request {
        space: access.space,
        bytes: access.bytes(),
        align: access.bytes().next_power_of_two(),
        writes: true,
        step,
        undefined,
    };
    if warp.products.holds() {
        let data = access.data.iter().take(usize::from(access.count));
        group::check_used(machine, shared, warp, data, (step, active));
    }
    let mut rest = active;
    let mut part = Part::new();
    while next_part(machine, shared, warp, request, &at, &mut rest, &mut part) {
        record(machine, shared, warp, &part, (access, step), true);
        write_part(part.target.span(machine, shared), &warp.registers, access, &part);
    }
}

fn read_part(span: &Span, registers: &mut Registers, access: &Access, part: &Part) {
    let width = usize::from(access.width);
    for (element, &slot) in access.data.iter().enumerate().take(usize::from(access.count)) {
        let offset = element * width;
        let signed = access.signed;
        match (access.width, slot.class) {
            (4, Class::Narrow) => {
                read_words(span, &mut registers.narrow[usize::from(slot.index)], part, offset);
            }
            (1, _) => put_lanes(registers, slot, part.mask, |lane| {
                extend(span.get::<1>(part.at[lane] as usize + offset), 8, signed)
            }),
            (2, _) => put_lanes(registers, slot, part.mask, |lane| {
                extend(span.get::<2>(part.at[lane] as usize + offset), 16, signed)
            }),
            (4, _) => put_lanes(registers, slot, part.mask, |lane| {
                extend(span.get::<4>(part.at[lane] as usize + offset), 32, signed)
            }),
            _ => put_lanes(registers, slot, part.mask, |lane| span.get::<8>(part.at[lane] as usize + offset)),
        }
        let defined = known(span, part, offset, width, access.count);
        registers.define(slot, part.mask, defined);
    }
}

/// The lanes whose element is defined.
#[inline]
fn known(span: &Span, part: &Part, offset: usize, width: usize, count: u8) -> Mask {
    if span.wholly_defined() {
        return ALL;
    }
    let first = part.at[0] as usize;
    if part.contiguous && count == 1 && (0..width).all(|i| span.is_defined(first + 32 * i, 32)) {
        return ALL;
    }
    let undefined = |lane: usize| !span.is_defined(part.at[lane] as usize + offset, width);
    lanes(part.mask).filter(|&lane| undefined(lane)).fold(ALL, |mask, lane| mask & !(1 << lane))
}

/// The common case: 4 bytes into a register of 32 bits.
#[inline]
fn read_words(span: &Span, register: &mut [u32; LANES], part: &Part, offset: usize) {
    let first = part.at[0] as usize;
    if part.contiguous
        && offset == 0
        && let Some((words, [])) = span.bytes.get(first..first + 4 * LANES).map(<[u8]>::as_chunks::<4>)
        && part.at[1] == part.at[0] + 4
    {
        register.iter_mut().zip(words).for_each(|(value, word)| *value = u32::from_le_bytes(*word));
    } else if part.mask == ALL {
        for (value, at) in register.iter_mut().zip(&part.at) {
            *value = span.get::<4>(*at as usize + offset) as u32;
        }
    } else {
        for lane in lanes(part.mask) {
            register[lane] = span.get::<4>(part.at[lane] as usize + offset) as u32;
        }
    }
}

fn write_part(span: &mut Span, registers: &Registers, access: &Access, part: &Part) {
    let width = usize::from(access.width);
    for (element, &slot) in access.data.iter().enumerate().take(usize::from(access.count)) {
        let offset = element * width;
        let index = usize::from(slot.index);
        match (access.width, slot.class) {
            (4, Class::Narrow) => write_words(span, &registers.narrow[index], part, offset),
            (width, Class::Narrow | Class::Predicate) => {
                let register = &registers.narrow[index];
                write_lanes(span, width, part, offset, |lane| u64::from(register[lane]));
            }
            (width, Class::Wide) => {
                let register = &registers.wide[index];
                write_lanes(span, width, part, offset, |lane| register[lane]);
            }
        }
        mark(span, part, offset, (width, access.count), registers.defined(slot));
    }
}

#[inline]
fn write_words(span: &mut Span, register: &[u32; LANES], part: &Part, offset: usize) {
    let first = part.at[0] as usize;
    if part.contiguous
        && offset == 0
        && part.at[1] == part.at[0] + 4
        && let Some((words, [])) =
            span.bytes.get_mut(first..first + 4 * LANES).map(<[u8]>::as_chunks_mut::<4>)
    {
        words.iter_mut().zip(register).for_each(|(word, value)| *word = value.to_le_bytes());
    } else {
        lanes(part.mask)
            .for_each(|lane| span.put::<4>(part.at[lane] as usize + offset, u64::from(register[lane])));
    }
}

#[inline]
fn write_lanes(span: &mut Span, width: u8, part: &Part, offset: usize, value: impl Fn(usize) -> u64) {
    for lane in lanes(part.mask) {
        let (at, value) = (part.at[lane] as usize + offset, value(lane));
        match width {
            1 => span.put::<1>(at, value),
            2 => span.put::<2>(at, value),
            4 => span.put::<4>(at, value),
            _ => span.put::<8>(at, value),
        }
    }
}

/// Marks what was stored as defined or not.
#[inline]
fn mark(span: &mut Span, part: &Part, offset: usize, (width, count): (usize, u8), defined: Mask) {
    let whole = defined & part.mask == part.mask;
    if whole && span.wholly_defined() {
        return;
    }
    if whole && part.contiguous && count == 1 {
        (0..width).for_each(|i| span.define(part.at[0] as usize + 32 * i, 32, true));
        return;
    }
    for lane in lanes(part.mask) {
        span.define(part.at[lane] as usize + offset, width, defined >> lane & 1 == 1);
    }
}

/// The lanes of a mask.
#[inline]
pub(super) fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

#[inline]
fn extend(value: u64, bits: u32, signed: bool) -> u64 {
    if signed { ((value << (64 - bits)) as i64 >> (64 - bits)) as u64 } else { value }
}

#[inline]
pub(super) fn put_lanes(registers: &mut Registers, slot: Slot, mask: Mask, value: impl Fn(usize) -> u64) {
    let index = usize::from(slot.index);
    match slot.class {
        Class::Wide => lanes(mask).for_each(|lane| registers.wide[index][lane] = value(lane)),
        Class::Narrow => lanes(mask).for_each(|lane| registers.narrow[index][lane] = value(lane) as u32),
        Class::Predicate => {}
    }
}
