//! The registers of a step, with what it does to them: the one place that lists them for each [`Act`].

use crate::program::{Access, Act, Address, GroupAct, GroupOperand, Step};
use crate::registers::Slot;

/// What a step does to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads it.
    Read,
    /// Writes it in every lane that comes here.
    Write,
    /// Writes it where the guard is true: where not, the old value stays, as if it had been read and written again.
    Keep,
}

/// Calls `see` with each register: those that are read first.
pub(super) fn visit(step: &mut Step, see: &mut impl FnMut(Role, &mut Slot)) {
    let write = if step.guard.is_some() { Role::Keep } else { Role::Write };
    if let Some(guard) = &mut step.guard {
        see(Role::Read, &mut guard.predicate);
    }
    match &mut step.act {
        Act::Lanes { operands, .. } => {
            let count = usize::from(operands.count);
            operands.sources.iter_mut().take(count).for_each(|slot| see(Role::Read, slot));
            see(write, &mut operands.d);
            operands.second.iter_mut().for_each(|slot| see(write, slot));
        }
        Act::Load(access) => {
            base(&mut access.address, see);
            data(access).for_each(|slot| see(write, slot));
        }
        Act::Store(access) => {
            base(&mut access.address, see);
            data(access).for_each(|slot| see(Role::Read, slot));
        }
        Act::Atomic(atomic) => {
            base(&mut atomic.address, see);
            atomic.sources.iter_mut().for_each(|slot| see(Role::Read, slot));
            atomic.d.iter_mut().for_each(|slot| see(write, slot));
        }
        Act::Copy(copy) => {
            base(&mut copy.to, see);
            base(&mut copy.from, see);
            copy.source_bytes.iter_mut().for_each(|slot| see(Role::Read, slot));
        }
        Act::LoadMatrix { d, address, .. } => {
            base(address, see);
            d.iter_mut().for_each(|slot| see(write, slot));
        }
        Act::Mma(mma) => {
            mma.a.iter_mut().chain(&mut mma.b).chain(&mut mma.c).for_each(|slot| see(Role::Read, slot));
            mma.metadata.iter_mut().for_each(|(slot, _)| see(Role::Read, slot));
            mma.d.iter_mut().for_each(|slot| see(write, slot));
        }
        Act::Group(act) => group(act, see),
        Act::Shuffle { d, within, sources, .. } => {
            sources.iter_mut().for_each(|slot| see(Role::Read, slot));
            see(write, d);
            within.iter_mut().for_each(|slot| see(write, slot));
        }
        Act::Vote { d, predicate, members, .. } => {
            see(Role::Read, predicate);
            see(Role::Read, members);
            see(write, d);
        }
        Act::Reduce { d, source, members, .. } => {
            see(Role::Read, source);
            see(Role::Read, members);
            see(write, d);
        }
        Act::WarpBarrier { members } => see(Role::Read, members),
        Act::Barrier { number, threads, .. } => {
            see(Role::Read, number);
            threads.iter_mut().for_each(|slot| see(Role::Read, slot));
        }
        Act::Fence(_)
        | Act::ProxyFence { .. }
        | Act::Commit
        | Act::Wait(_)
        | Act::Branch { .. }
        | Act::Exit => {}
    }
}

/// D is read too: what it was stays where the product is not waited for. When it is written, only a wait says: see `allocate`.
fn group(act: &mut GroupAct, see: &mut impl FnMut(Role, &mut Slot)) {
    let GroupAct::Multiply(product) = act else { return };
    match &mut product.a {
        GroupOperand::Registers(a) => a.iter_mut().for_each(|slot| see(Role::Read, slot)),
        GroupOperand::Shared(descriptor) => see(Role::Read, descriptor),
    }
    see(Role::Read, &mut product.b);
    see(Role::Read, &mut product.adds);
    product.metadata.iter_mut().for_each(|(slot, _)| see(Role::Read, slot));
    product.d.iter_mut().for_each(|slot| see(Role::Keep, slot));
}

fn base(address: &mut Address, see: &mut impl FnMut(Role, &mut Slot)) {
    address.base.iter_mut().for_each(|slot| see(Role::Read, slot));
}

fn data(access: &mut Access) -> impl Iterator<Item = &mut Slot> {
    access.data.iter_mut().take(usize::from(access.count))
}
