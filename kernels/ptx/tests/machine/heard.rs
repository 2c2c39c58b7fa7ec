//! Random atomics, fences and strong accesses of threads of several blocks: the machine finds a race exactly where PTX's memory model has
//! one, written here as relations between all pairs of events.
//!
//! ```text
//! base      program order, barriers, release -> acquire of what was observed; closed over
//! cause     base, and: observed, then base        race   conflicting, not both strong and in each other's scope, not in cause
//! ```

use super::builder::Kernel;
use super::world::World;
use proptest::prelude::*;
use sparse_ptx::check::Kind;
use sparse_ptx::program::{Act, Address, Atomic, MemoryScope, Special, Stores, Strong};
use sparse_ptx::registers::Slot;
use sparse_ptx::text::Space::Global;

const BLOCKS: usize = 3;
const WARPS: usize = 2;

/// What a thread does to a word; `None` is weak.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Load(usize, Option<Strong>),
    Store(usize, Option<Strong>),
    Atomic(usize, Strong),
    Fence(MemoryScope),
}

#[derive(Clone, Debug)]
enum Op {
    /// Of one thread: its block, warp, and lane 0 or 1.
    Thread(Who, Deed),
    /// `bar.sync` of a block.
    Block(usize),
    /// `bar.warp.sync` of both warps of a block.
    Warp(usize),
}

fn scope() -> impl Strategy<Value = MemoryScope> {
    prop_oneof![1 => Just(MemoryScope::Block), 5 => Just(MemoryScope::Device)]
}

/// A signal as kernels send and receive it, at times with something missing: a fence, and a strong store or load, or an atomic.
fn signal(word: usize, sends: bool) -> impl Strategy<Value = Vec<Deed>> {
    (scope(), scope(), any::<bool>(), 0..12u8, any::<bool>()).prop_map(
        move |(scope, other, atomic, how, both)| {
            let strong =
                Strong { scope, acquire: how < 6 && (!sends || both), release: how < 6 && (sends || both) };
            let signal = match (atomic, sends) {
                (true, _) => Deed::Atomic(word, strong),
                (false, true) => Deed::Store(word, Some(Strong { acquire: false, ..strong })),
                (false, false) => Deed::Load(word, Some(Strong { release: false, ..strong })),
            };
            let fence = (5..11).contains(&how).then_some(Deed::Fence(other));
            if sends {
                fence.into_iter().chain([signal]).collect()
            } else {
                [signal].into_iter().chain(fence).collect()
            }
        },
    )
}

type Who = (usize, usize, usize);

fn anyone() -> impl Strategy<Value = Who> {
    (0..BLOCKS, prop_oneof![3 => Just(0), 1 => 0..WARPS], prop_oneof![3 => Just(0), 1 => 0..2usize])
}

/// A thread writes data and signals, another waits for it and reads or writes the data.
fn message() -> impl Strategy<Value = Vec<Op>> {
    (anyone(), anyone(), 0..2usize, 2..4usize, any::<bool>()).prop_flat_map(
        |(from, to, data, word, writes)| {
            (signal(word, true), signal(word, false)).prop_map(move |(send, receive)| {
                let last = if writes { Deed::Store(data, None) } else { Deed::Load(data, None) };
                let sent =
                    [Deed::Store(data, None)].into_iter().chain(send).map(|deed| Op::Thread(from, deed));
                sent.chain(receive.into_iter().chain([last]).map(|deed| Op::Thread(to, deed))).collect()
            })
        },
    )
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let one = |deed: fn(usize) -> Deed| {
        (anyone(), prop_oneof![8 => 0..2usize, 1 => 2..4usize])
            .prop_map(move |(who, word)| vec![Op::Thread(who, deed(word))])
    };
    let signals = |sends: bool| {
        (anyone(), (2..4usize).prop_flat_map(move |word| signal(word, sends)))
            .prop_map(|(who, deeds)| deeds.into_iter().map(|deed| Op::Thread(who, deed)).collect())
    };
    let op = prop_oneof![
        8 => message(),
        2 => one(|word| Deed::Load(word, None)),
        1 => one(|word| Deed::Store(word, None)),
        2 => signals(true),
        2 => signals(false),
        1 => (0..BLOCKS).prop_map(|block| vec![Op::Block(block)]),
        1 => (0..BLOCKS).prop_map(|block| vec![Op::Warp(block)]),
    ];
    prop::collection::vec(op, 1..6).prop_map(|ops: Vec<Vec<Op>>| ops.concat())
}

fn build(ops: &[Op]) -> sparse_ptx::program::Program {
    let mut k = Kernel::new();
    let (buffer, thread, block) = (k.param(), k.special(Special::Thread(0)), k.special(Special::Block(0)));
    let (factor, one) = (k.bits(64), k.bits(1));
    let by_block = k.mul(block, factor);
    let id = k.add(by_block, thread);
    let is = |k: &mut Kernel, id: Slot, number: usize| {
        let number = k.bits(number as u32);
        k.equal(id, number)
    };
    for op in ops {
        match *op {
            Op::Thread((block, warp, lane), deed) => {
                let (p, d) = (is(&mut k, id, 64 * block + 32 * warp + lane), k.narrow());
                let at = |word: usize| (Some(buffer), 4 * word as i64);
                k.when(p, true).act(match deed {
                    Deed::Load(word, strong) => {
                        let mut access = Kernel::access(Global, 4, &[d], at(word));
                        access.strong = strong;
                        Act::Load(access)
                    }
                    Deed::Store(word, strong) => {
                        let mut access = Kernel::access(Global, 4, &[one], at(word));
                        access.strong = strong;
                        Act::Store(access)
                    }
                    Deed::Atomic(word, strong) => Act::Atomic(Box::new(Atomic {
                        space: Global,
                        width: 4,
                        updates: [|old, b, _| old.wrapping_add(b); 2],
                        d: Some(d),
                        sources: [one; 2],
                        address: Address { base: Some(buffer), offset: 4 * word as i64 },
                        strong,
                        stores: Stores::Result,
                    })),
                    Deed::Fence(scope) => Act::Fence(scope),
                });
            }
            // A barrier of some blocks only: a branch around it that all threads of a block take alike.
            Op::Block(of) | Op::Warp(of) => {
                let (here, over) = (is(&mut k, block, of), k.label());
                k.when(here, false).branch(over);
                if matches!(op, Op::Block(_)) {
                    k.barrier(0, None)
                } else {
                    k.warp_barrier(u32::MAX)
                };
                k.place(over);
            }
        }
    }
    k.finish()
}

/// One thing that a thread does, in the order in which the machine does them: block after block, warp after warp between two barriers.
#[derive(Clone, Copy, Debug)]
enum Event {
    Deed(Who, Deed),
    /// Of a block, or of one of its warps.
    Barrier(usize, Option<usize>),
}

fn events(ops: &[Op]) -> Vec<Event> {
    let mut events = Vec::new();
    for block in 0..BLOCKS {
        let mine: Vec<&Op> = ops
            .iter()
            .filter(|op| matches!(op, Op::Thread((of, ..), _) | Op::Block(of) | Op::Warp(of) if *of == block))
            .collect();
        for segment in mine.split_inclusive(|op| matches!(op, Op::Block(_))) {
            for warp in 0..WARPS {
                for op in segment {
                    match **op {
                        Op::Thread(who, deed) if who.1 == warp => events.push(Event::Deed(who, deed)),
                        Op::Warp(_) => events.push(Event::Barrier(block, Some(warp))),
                        _ => {}
                    }
                }
            }
            if let Some(Op::Block(_)) = segment.last() {
                events.push(Event::Barrier(block, None));
            }
        }
    }
    events
}

/// Word, whether it reads and writes, and how strong it is.
fn access(event: Event) -> Option<(usize, bool, bool, Option<Strong>)> {
    match event {
        Event::Deed(_, Deed::Load(word, strong)) => Some((word, true, false, strong)),
        Event::Deed(_, Deed::Store(word, strong)) => Some((word, false, true, strong)),
        Event::Deed(_, Deed::Atomic(word, strong)) => Some((word, true, true, Some(strong))),
        _ => None,
    }
}

fn who(event: Event) -> Option<Who> {
    if let Event::Deed(who, _) = event { Some(who) } else { None }
}

/// Whether two strong accesses, or fences, are in each other's scope.
fn mutual(events: &[Event], (i, a): (usize, MemoryScope), (j, b): (usize, MemoryScope)) -> bool {
    let block = |event| who(event).map(|who| who.0);
    block(events[i]) == block(events[j]) || a.min(b) == MemoryScope::Device
}

/// The pairs (earlier, later) that race.
fn races(ops: &[Op]) -> Vec<(Event, Event)> {
    let events = events(ops);
    let count = events.len();
    let mut base = vec![vec![false; count]; count];
    let mut observed = vec![vec![false; count]; count];
    for j in 0..count {
        for i in 0..j {
            base[i][j] = match (events[i], events[j]) {
                (Event::Deed(a, _), Event::Deed(b, _)) => a == b,
                (Event::Deed(a, _), Event::Barrier(block, warp))
                | (Event::Barrier(block, warp), Event::Deed(a, _)) => {
                    a.0 == block && warp.is_none_or(|warp| warp == a.1)
                }
                (Event::Barrier(a, x), Event::Barrier(b, y)) => {
                    a == b && (x.is_none() || y.is_none() || x == y)
                }
            };
        }
    }
    let fences = |of: usize, after: bool| {
        let events = &events;
        (0..count).filter_map(move |f| match events[f] {
            Event::Deed(by, Deed::Fence(scope)) if Some(by) == who(events[of]) && (f > of) == after => {
                Some((f, scope))
            }
            _ => None,
        })
    };
    for j in 0..count {
        let Some((word, true, _, Some(reader))) = access(events[j]) else { continue };
        // What it observes: the last write, and through atomics those before; each link is between two that are strong to one another.
        let mut newer = (j, reader.scope);
        for i in (0..j).rev() {
            let Some((_, reads, true, strong)) = access(events[i]).filter(|&(of, ..)| of == word) else {
                continue;
            };
            let Some(writer) = strong else { break };
            if !mutual(&events, (i, writer.scope), newer) {
                break;
            }
            newer = (i, writer.scope);
            observed[i][j] = true;
            let mut from: Vec<(usize, MemoryScope)> = fences(i, false).collect();
            from.extend(writer.release.then_some((i, writer.scope)));
            let mut to: Vec<(usize, MemoryScope)> = fences(j, true).collect();
            to.extend(reader.acquire.then_some((j, reader.scope)));
            for &a in &from {
                for &b in &to {
                    base[a.0][b.0] |= mutual(&events, a, b);
                }
            }
            if !reads {
                break;
            }
        }
    }
    for k in 0..count {
        let through = base[k].clone();
        for row in base.iter_mut().filter(|row| row[k]) {
            row.iter_mut().zip(&through).for_each(|(to, &from)| *to |= from);
        }
    }
    // A strong access is seen with a later one of its thread to the same word.
    let strong_of = |i: usize| access(events[i]).filter(|a| a.3.is_some()).map(|a| (who(events[i]), a.0));
    let seen = |i: usize, r: usize| {
        observed[i][r]
            || strong_of(i).is_some() && (i..count).any(|k| observed[k][r] && strong_of(k) == strong_of(i))
    };
    let cause = |i: usize, j: usize| base[i][j] || (0..count).any(|r| base[r][j] && seen(i, r));
    let mut found = Vec::new();
    for j in 0..count {
        for i in 0..j {
            let (Some(a), Some(b)) = (access(events[i]), access(events[j])) else { continue };
            let conflict = a.0 == b.0 && (a.2 || b.2) && who(events[i]) != who(events[j]);
            let strong =
                matches!((a.3, b.3), (Some(x), Some(y)) if mutual(&events, (i, x.scope), (j, y.scope)));
            if conflict && !strong && !cause(i, j) {
                found.push((events[i], events[j]));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60_000, ..ProptestConfig::default() })]

    #[test]
    fn races_are_found_where_the_memory_model_has_them(ops in ops()) {
        let mut world = World::new(BLOCKS as u32, 32 * WARPS as u32, &[64]);
        let outcome = world.run(&build(&ops));
        let found: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
        prop_assert!(outcome.complete, "{:?}", found);
        prop_assert!(outcome.findings.iter().all(|finding| finding.kind == Kind::Race), "{:?}", found);
        let expected = races(&ops);
        prop_assert_eq!(!found.is_empty(), !expected.is_empty(), "{:#?}\nfound {:#?}\nexpected {:#?}", ops, found, expected);
    }
}

/// The programs above are of both kinds, and many that do not race are so by release and acquire alone.
#[test]
fn both_answers_are_asked_for() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut racing, mut saved) = (0, 0);
    for _ in 0..4000 {
        let mut ops = ops().new_tree(&mut runner).expect("a value").current();
        let races_so = !races(&ops).is_empty();
        racing += usize::from(races_so);
        for op in &mut ops {
            if let Op::Thread(_, Deed::Load(_, Some(s)) | Deed::Store(_, Some(s)) | Deed::Atomic(_, s)) = op {
                (s.acquire, s.release) = (false, false);
            }
        }
        ops.retain(|op| !matches!(op, Op::Thread(_, Deed::Fence(_))));
        saved += usize::from(!races_so && !races(&ops).is_empty());
    }
    assert!((800..3600).contains(&racing), "{racing} of 4000");
    assert!(saved > 40, "{saved} of 4000");
}
