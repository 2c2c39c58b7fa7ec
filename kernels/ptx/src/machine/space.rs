//! From addresses to memory: which span the lanes mean, and whether they may.

use super::access::lanes;
use super::block::Shared;
use super::grid::Machine;
use super::step::site;
use super::warp::Warp;
use crate::check::Kind;
use crate::memory::{Epoch, LOCAL_WINDOW, SHARED_WINDOW, Span, WINDOW_BYTES, over};
use crate::program::Address;
use crate::registers::{ALL, Class, LANES, Mask, Registers};
use crate::text::Space;

/// What an instruction wants of memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) space: Space,
    /// Bytes of a lane.
    pub(super) bytes: u32,
    /// What addresses must be a multiple of: a power of two.
    pub(super) align: u32,
    pub(super) writes: bool,
    pub(super) step: u32,
    /// Lanes whose address is undefined, which was reported: where it happens to point says nothing.
    pub(super) undefined: Mask,
}

/// A span of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Device(usize),
    Shared,
    Local,
    Param,
}

/// Lanes that access the same span, within its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) target: Location,
    pub(super) mask: Mask,
    /// Offsets into the span; zero for other lanes.
    pub(super) at: [u32; LANES],
    /// All lanes, one right after another.
    pub(super) contiguous: bool,
}

impl Part {
    /// Of no lane.
    pub(super) fn new() -> Part {
        Part { target: Location::Param, mask: 0, at: [0; LANES], contiguous: false }
    }
}

impl Location {
    /// The span itself.
    #[inline]
    pub(super) fn span<'s>(self, machine: &'s mut Machine<'_>, shared: &'s mut Shared) -> &'s mut Span {
        match self {
            Location::Device(i) => &mut machine.device.allocations[i].span,
            Location::Shared => &mut shared.memory,
            Location::Local => &mut shared.local,
            Location::Param => &mut machine.params,
        }
    }

    /// Accesses before this count no more, being of earlier launches or blocks; nothing where only one thread comes.
    #[inline]
    pub(super) fn live(self, machine: &Machine<'_>, shared: &Shared) -> Option<Epoch> {
        match self {
            Location::Device(_) => Some(machine.live),
            Location::Shared => Some(shared.start),
            Location::Local | Location::Param => None,
        }
    }

    /// A number of the span for the lists of readers.
    pub(super) fn number(self) -> u32 {
        match self {
            Location::Device(i) => i as u32,
            Location::Shared | Location::Local | Location::Param => u32::MAX,
        }
    }
}

/// The addresses of all lanes. Those of lanes that take part and are undefined are reported, and given back where they are.
#[inline]
pub(super) fn addresses(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    address: &Address,
    step: u32,
    mask: Mask,
    all: &mut [u64; LANES],
) -> Mask {
    let registers = &warp.registers;
    let Some(base) = address.base else {
        *all = [address.offset as u64; LANES];
        return 0;
    };
    let undefined = mask & !registers.defined(base);
    if undefined != 0 {
        let site = site(machine, shared, warp, step, undefined);
        machine.log.report(Kind::UndefinedAddress, site, || {
            (None, format!("the address depends on something undefined in lanes {undefined:#010x}"))
        });
    }
    sums(registers, base.class, usize::from(base.index), address.offset, all);
    if machine.launch.checks.undefined { undefined } else { 0 }
}

/// On its own, so that the loops are compiled as loops over vectors.
#[inline(never)]
fn sums(registers: &Registers, class: Class, at: usize, offset: i64, sums: &mut [u64; LANES]) {
    match class {
        Class::Wide => {
            for (sum, base) in sums.iter_mut().zip(&registers.wide[at]) {
                *sum = base.wrapping_add(offset as u64);
            }
        }
        Class::Narrow | Class::Predicate => {
            for (sum, base) in sums.iter_mut().zip(&registers.narrow[at]) {
                *sum = u64::from(base.wrapping_add(offset as u32));
            }
        }
    }
}

/// Whether addresses lie `bytes` apart, one right after another.
#[inline(never)]
fn is_row(addresses: &[u64; LANES], bytes: u64) -> bool {
    let (mut apart, mut next) = (0, addresses[0]);
    for address in addresses {
        apart |= address ^ next;
        next = next.wrapping_add(bytes);
    }
    apart == 0
}

/// The offsets of a row.
#[inline(never)]
fn row(first: u32, bytes: u32, at: &mut [u32; LANES]) {
    for (lane, at) in (0..).zip(at) {
        *at = first.wrapping_add(bytes.wrapping_mul(lane));
    }
}

/// The next lanes of `rest` that access one span; bad accesses among them are reported and left out.
#[inline]
pub(super) fn next_part(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    request: Request,
    addresses: &[u64; LANES],
    rest: &mut Mask,
    part: &mut Part,
) -> bool {
    while *rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        if let Some((target, base, len, stride)) = find(machine, shared, request, addresses[lane]) {
            inside(warp, request, addresses, *rest, (target, base, len, stride), part);
            if part.mask >> lane & 1 == 1 {
                *rest &= !part.mask;
                check_alignment(machine, shared, warp, request, part);
                return true;
            }
        }
        *rest &= !(1 << lane);
        outside(machine, shared, warp, request, addresses[lane], lane as u32);
    }
    false
}

/// Location, first address, bytes, and bytes a thread (0: shared by all) of what an address means.
#[inline(always)]
fn find(
    machine: &Machine<'_>,
    shared: &Shared,
    request: Request,
    address: u64,
) -> Option<(Location, u64, u64, u32)> {
    let shared_len = shared.memory.len() as u64;
    let local = machine.program.local_bytes;
    match request.space {
        Space::Global | Space::Const => device(machine, address),
        Space::Shared => Some((Location::Shared, 0, shared_len, 0)),
        Space::Local => Some((Location::Local, 0, u64::from(local), local)),
        Space::Param => (!request.writes).then_some((Location::Param, 0, machine.params.len() as u64, 0)),
        Space::Generic => {
            if address.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES {
                Some((Location::Shared, SHARED_WINDOW, shared_len, 0))
            } else if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES {
                Some((Location::Local, LOCAL_WINDOW, u64::from(local), local))
            } else {
                device(machine, address)
            }
        }
    }
}

#[inline(always)]
fn device(machine: &Machine<'_>, address: u64) -> Option<(Location, u64, u64, u32)> {
    let i = machine.device.find(address)?;
    let a = &machine.device.allocations[i];
    (!a.freed).then_some((Location::Device(i), a.base, a.len, 0))
}

/// The lanes of `rest` within the span.
#[inline(always)]
fn inside(
    warp: &Warp,
    request: Request,
    addresses: &[u64; LANES],
    rest: Mask,
    (target, base, len, stride): (Location, u64, u64, u32),
    part: &mut Part,
) {
    let bytes = u64::from(request.bytes);
    let offset = addresses[0].wrapping_sub(base);
    let fits = offset <= len && 32 * bytes <= len - offset;
    if rest == ALL && stride == 0 && fits && is_row(addresses, bytes) {
        row(offset as u32, request.bytes, &mut part.at);
        (part.target, part.mask, part.contiguous) = (target, ALL, true);
        return;
    }
    scattered(warp, request, addresses, rest, (target, base, len, stride), part);
}

/// The same, lane by lane.
fn scattered(
    warp: &Warp,
    request: Request,
    addresses: &[u64; LANES],
    rest: Mask,
    (target, base, len, stride): (Location, u64, u64, u32),
    part: &mut Part,
) {
    let bytes = u64::from(request.bytes);
    let mut mask = 0;
    part.at = [0; LANES];
    if let Some(last) = len.checked_sub(bytes) {
        for lane in lanes(rest) {
            let offset = addresses[lane].wrapping_sub(base);
            let fits = offset <= last;
            let own = (warp.first + lane as u32).wrapping_mul(stride);
            part.at[lane] = if fits { (offset as u32).wrapping_add(own) } else { 0 };
            mask |= u32::from(fits) << lane;
        }
    }
    (part.target, part.mask, part.contiguous) = (target, mask, false);
}

#[inline(always)]
fn check_alignment(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, request: Request, part: &Part) {
    let low =
        if part.contiguous { part.at[0] | request.bytes } else { part.at.iter().fold(0, |low, at| low | at) };
    let low = low & (request.align - 1);
    if low != 0 {
        misaligned(machine, shared, warp, request, part);
    }
}

#[cold]
fn misaligned(machine: &mut Machine<'_>, shared: &Shared, warp: &Warp, request: Request, part: &Part) {
    let Request { bytes, align, .. } = request;
    for lane in lanes(part.mask & !request.undefined) {
        let at = part.at[lane];
        if !at.is_multiple_of(align) {
            let allocation = match part.target {
                Location::Device(i) => u32::try_from(i).ok(),
                Location::Shared | Location::Local | Location::Param => None,
            };
            let site = site(machine, shared, warp, request.step, 1 << lane);
            machine.log.report(Kind::Misaligned, site, || {
                let place = match part.target {
                    Location::Device(i) => machine.device.called(i),
                    Location::Shared => "shared memory".to_owned(),
                    Location::Local => "local memory".to_owned(),
                    Location::Param => "the parameters".to_owned(),
                };
                let words = format!("{bytes} bytes at byte {at} of {place}, which is no multiple of {align}");
                (allocation, words)
            });
        }
    }
}

/// Reports an access that lies in no memory.
#[cold]
fn outside(
    machine: &mut Machine<'_>,
    shared: &Shared,
    warp: &Warp,
    request: Request,
    address: u64,
    lane: u32,
) {
    if request.undefined >> lane & 1 == 1 {
        return;
    }
    let verb = if request.writes { "stores" } else { "reads" };
    let bytes = u64::from(request.bytes);
    let site = site(machine, shared, warp, request.step, 1 << lane);
    let own = |name: &str, base: u64, span: u64| {
        let at = address.wrapping_sub(base);
        let signed = u32::try_from(at).map_or(at as i64, |at| i64::from(at as i32));
        if signed < 0 {
            return format!("{verb} {bytes} bytes at byte {signed} of {name} memory: a negative address");
        }
        let over = over(at.saturating_sub(span));
        format!("{verb} {bytes} bytes at byte {at} of {name} memory, which has {span}{over}")
    };
    let (kind, allocation, words) = match find(machine, shared, request, address) {
        Some((Location::Shared, base, len, _)) => (Kind::OutOfBounds, None, own("shared", base, len)),
        Some((Location::Local, base, len, _)) => (Kind::OutOfBounds, None, own("local", base, len)),
        Some((Location::Param, base, len, _)) => (Kind::OutOfBounds, None, own("parameter", base, len)),
        Some((Location::Device(_), ..)) | None => {
            let (allocation, freed, place) = machine.device.locate(address, bytes);
            let kind = if freed { Kind::UseAfterFree } else { Kind::OutOfBounds };
            (kind, allocation, format!("{verb} {bytes} bytes at {address:#x}: {place}"))
        }
    };
    machine.log.report(kind, site, || (allocation, words));
}
