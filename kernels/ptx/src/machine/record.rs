//! What every access leaves behind: counts, the record of who touched what, and the hazards that this shows.

use super::access::lanes;
use super::block::Shared;
use super::grid::Machine;
use super::space::{Location, Part};
use super::step::site;
use super::strong;
use super::warp::Warp;
use crate::check::{Kind, Partner, Wording};
use crate::memory::{Clock, Conflict, Epoch, Hazard};
use crate::program::Access;
use crate::registers::Slot;

/// Counts a request and keeps in the shadow who made it.
pub(super) fn record(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    part: &Part,
    (access, step): (&Access, u32),
    writes: bool,
) {
    let bytes = access.bytes();
    count(machine, part, bytes);
    if machine.launch.checks.races {
        if let Some(strong) = access.strong {
            // A vector is so many accesses.
            let bytes = u32::from(access.width);
            let touch = strong::StrongAccess { strong, reads: !writes, writes, bytes, step };
            for (lane, element) in lanes(part.mask).flat_map(|lane| (0..access.count).map(move |i| (lane, i)))
            {
                strong::record(machine, shared, warp, part, touch, (lane, u32::from(element)));
            }
            strong::finish(machine, shared, warp, part, (strong, step));
            return;
        }
        let touch = Touch { step, bytes, width: u32::from(access.width), writes, special: access.read_only };
        shadow(machine, shared, warp, part, touch);
        if !machine.conflicts.is_empty() {
            conflicts(machine, shared, warp, part, step, |i, j| {
                let value = |lane: usize, slot: Slot| warp.registers.number(slot, lane);
                let data = || access.data.iter().take(usize::from(access.count));
                part.at[i] == part.at[j] && data().all(|&slot| value(i, slot) == value(j, slot))
            });
        }
    }
}

pub(super) fn count(machine: &mut Machine<'_>, part: &Part, bytes: u32) {
    if machine.launch.count {
        match part.target {
            Location::Device(_) => machine.counters.global(part, bytes),
            Location::Shared => machine.counters.shared(part, bytes),
            Location::Local | Location::Param => {}
        }
    }
}

/// An access as the shadow sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) step: u32,
    pub(super) bytes: u32,
    /// Of an element.
    pub(super) width: u32,
    pub(super) writes: bool,
    /// `ld.global.nc`, or a copy that is open.
    pub(super) special: bool,
}

/// Enters an access of some lanes into the shadow; hazards are put into `machine.conflicts`.
#[inline]
pub(super) fn shadow(machine: &mut Machine<'_>, shared: &mut Shared, warp: &Warp, part: &Part, touch: Touch) {
    let Some(live) = part.target.live(machine, shared) else { return };
    let stamp = machine.device.stamp;
    let number = part.target.number();
    let Shared { start, era, heard, fine, memory, finest, .. } = &mut *shared;
    let clock = Clock { live, block: *start, era: *era, warp: warp.floor, heard: heard.as_ref() };
    let span = match part.target {
        Location::Device(i) => &mut machine.device.allocations[i].span,
        _ => memory,
    };
    let len = span.len();
    let width = if fine.is_some() { *finest } else { touch.width };
    span.shadow.prepare(len, width);
    if touch.bytes == 4 && fine.is_none() && span.shadow.is_words() {
        let first = Epoch::new(stamp, warp.first, touch.step, touch.special);
        let lanes = (part.mask, &part.at, part.contiguous);
        span.shadow.words(lanes, touch.writes, first, &clock, &mut machine.conflicts);
        return;
    }
    for lane in lanes(part.mask) {
        let now = Epoch::new(stamp, warp.first + lane as u32, touch.step, touch.special);
        let (at, bytes) = (part.at[lane] as usize, touch.bytes as usize);
        let fine = fine.as_mut().map(|fine| (fine, number));
        let found = if touch.writes {
            span.shadow.write(at, bytes, now, &clock, fine)
        } else {
            span.shadow.read(at, bytes, now, &clock, fine)
        };
        if let Some((before, hazard)) = found {
            machine.conflicts.push(Conflict { lane: lane as u32, at: part.at[lane], before, hazard });
        }
    }
}

/// Enters an access into the shadow and reports its hazards; true where there are some.
pub(super) fn touch(
    machine: &mut Machine<'_>,
    shared: &mut Shared,
    warp: &Warp,
    part: &Part,
    touch: Touch,
) -> bool {
    shadow(machine, shared, warp, part, touch);
    let found = !machine.conflicts.is_empty();
    if found {
        conflicts(machine, shared, warp, part, touch.step, |_, _| false);
    }
    found
}

/// Reports the hazards of an instruction. `same` says whether two lanes store the same to the same place.
#[cold]
pub(super) fn conflicts(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    part: &Part,
    step: u32,
    same: impl Fn(usize, usize) -> bool,
) {
    let mut list = std::mem::take(&mut machine.conflicts);
    for conflict in list.drain(..) {
        let Conflict { lane, before, hazard, .. } = conflict;
        if hazard == Hazard::Undecided {
            (machine.undecided, machine.stopped) = (true, true);
            continue;
        }
        let other = before.thread().wrapping_sub(warp.first) as usize;
        let together = hazard == Hazard::WriteAfterWrite
            && before.step() == Some(step as usize)
            && machine.is_of_this_block(before)
            && other < lane as usize
            && part.mask >> other & 1 == 1
            && part.at[other].abs_diff(part.at[lane as usize]) < 32;
        let kind = match hazard {
            Hazard::OpenCopy => Kind::OpenCopy,
            Hazard::ReadOnlyWritten | Hazard::WrittenReadOnly => Kind::ReadOnly,
            Hazard::WriteAfterWrite if together && same(other, lane as usize) => Kind::SameValue,
            Hazard::ReadAfterWrite
            | Hazard::WriteAfterWrite
            | Hazard::WriteAfterRead
            | Hazard::Scope
            | Hazard::Overlap
            | Hazard::Undecided => Kind::Race,
        };
        if machine.log.again(kind, step as usize) {
            continue;
        }
        let place = site(machine, shared, warp, step, 1 << lane);
        let said = explain(machine, shared.index, part.target, conflict, together);
        machine.log.add(kind, place, said);
    }
    machine.conflicts = list;
}

fn explain(
    machine: &Machine<'_>,
    block: [u32; 3],
    target: Location,
    conflict: Conflict,
    together: bool,
) -> Wording {
    let Conflict { at, before, hazard, .. } = conflict;
    let (now, then) = match hazard {
        Hazard::ReadAfterWrite => ("reads", "written"),
        Hazard::WriteAfterWrite => ("stores to", "written"),
        Hazard::WriteAfterRead => ("stores to", "read"),
        Hazard::OpenCopy => ("touches", "written by a cp.async that is not waited for"),
        Hazard::ReadOnlyWritten => ("reads by ld.global.nc", "written in this launch"),
        Hazard::WrittenReadOnly => ("stores to", "read by ld.global.nc in this launch"),
        Hazard::Scope | Hazard::Overlap | Hazard::Undecided => ("touches", "touched"),
    };
    let (allocation, place) = match target {
        Location::Device(i) => (u32::try_from(i).ok(), machine.device.called(i)),
        Location::Shared | Location::Local | Location::Param => (None, "shared memory".to_owned()),
    };
    let near = machine.is_of_this_block(before);
    let partner = Partner {
        thread: machine.thread_index(before.thread()),
        block: if near { Some(block) } else { machine.block_of(before) },
        line: before.step().map(|step| machine.log.line(step)),
    };
    let [x, y, z] = partner.thread;
    let line = partner.line.map_or_else(String::new, |line| format!(" at line {line}"));
    let whose = match partner.block {
        _ if near => String::new(),
        Some([x, y, z]) => format!(" of block ({x},{y},{z})"),
        None => " of another block".to_owned(),
    };
    let why = match hazard {
        Hazard::ReadAfterWrite | Hazard::WriteAfterWrite | Hazard::WriteAfterRead if together => {
            "; both in one instruction"
        }
        Hazard::ReadAfterWrite | Hazard::WriteAfterWrite | Hazard::WriteAfterRead => {
            if machine.synchronises {
                "; no barrier orders the two, nor release and acquire"
            } else {
                "; no barrier orders the two"
            }
        }
        Hazard::Scope => "; both are atomic or strong, but the scope of one leaves the other's block out",
        Hazard::Overlap => "; both are atomic or strong, but not of the same bytes",
        Hazard::Undecided | Hazard::OpenCopy | Hazard::ReadOnlyWritten | Hazard::WrittenReadOnly => "",
    };
    let explanation = format!("{now} byte {at} of {place}, {then} by thread ({x},{y},{z}){whose}{line}{why}");
    Wording { allocation, partner: Some(partner), explanation }
}
