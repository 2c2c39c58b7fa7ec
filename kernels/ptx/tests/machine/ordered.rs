//! Random accesses and barriers: the machine finds a race exactly where vector clocks of all pairs of accesses say that there is one, and
//! the two that it names are such a pair.

use super::builder::Kernel;
use super::world::World;
use proptest::prelude::*;
use sparse_ptx::check::Kind;
use sparse_ptx::program::{Operands, Program, Special};
use sparse_ptx::registers::{LANES, Mask, Registers, Slot};
use sparse_ptx::text::Space::{Global, Shared};
use std::collections::HashSet;

/// Two warps.
const THREADS: usize = 64;

#[derive(Clone, Debug)]
enum Op {
    /// Threads of a mask touch bytes `base + stride * thread`.
    Touch { threads: u64, base: u8, stride: u8, width: u8, writes: bool, global: bool },
    /// `bar.sync 0`
    Block,
    /// `bar.warp.sync` of these lanes, in both warps.
    Warp(Mask),
    /// `bar.sync 1, 32` of one warp.
    One(bool),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let threads = prop_oneof![
        3 => (0..64u32).prop_map(|i| 1u64 << i),
        2 => (0..64u32, 0..64u32).prop_map(|(i, j)| 1u64 << i | 1 << j),
        1 => Just(u64::from(u32::MAX)),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
    ];
    let stride = prop_oneof![1 => Just(0u8), 4 => Just(4u8), 1 => Just(2u8)];
    let op = prop_oneof![
        6 => (threads, 0..4u8, stride, 1..3u8, any::<bool>(), any::<bool>()).prop_map(
            |(threads, base, stride, width, writes, global)| {
                // Aligned, and one lane only where all would store to the same place: whether that is a race depends on values.
                let stride = if width == 2 && stride == 2 { 4 } else { stride };
                let writes = writes && (stride > 0 || threads.is_power_of_two());
                Op::Touch { threads, base: 4 * base, stride, width: 2 * width, writes, global }
            }
        ),
        2 => Just(Op::Block),
        2 => prop_oneof![Just(u32::MAX), Just(0xffff), Just(0xffff_0000), Just(0x00ff_ff00), any::<u32>()].prop_map(Op::Warp),
        1 => any::<bool>().prop_map(Op::One),
    ];
    prop::collection::vec(op, 2..10)
}

/// Source 0 and 1: low and high half of a mask; source 2: the thread.
fn member(registers: &mut Registers, operands: &Operands, mask: Mask) {
    let [low, high, thread] =
        [0, 1, 2].map(|i: usize| registers.narrow[usize::from(operands.sources[i].index)]);
    let d = &mut registers.predicates[usize::from(operands.d.index)];
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
        let bits = u64::from(high[lane]) << 32 | u64::from(low[lane]);
        *d = *d & !(1 << lane) | ((bits >> thread[lane] & 1) as u32) << lane;
    }
}

fn guard(k: &mut Kernel, thread: Slot, threads: u64) -> Slot {
    let (p, low, high) = (k.predicate(), k.bits(threads as u32), k.bits((threads >> 32) as u32));
    k.lanes(member, p, &[low, high, thread])
}

/// The program, and the line of each access.
fn build(ops: &[Op]) -> (Program, Vec<u32>) {
    let (mut k, mut lines) = (Kernel::new(), Vec::new());
    k.shared(512);
    let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
    for op in ops {
        match *op {
            Op::Touch { threads, base, stride, width, writes, global } => {
                let p = guard(&mut k, thread, threads);
                let scale = k.bits(u32::from(stride));
                let offset = k.mul(thread, scale);
                let at = k.at(buffer, offset, 1);
                let (space, at) = if global { (Global, at) } else { (Shared, offset) };
                let d = k.narrow();
                let address = (Some(at), i64::from(base));
                lines.push(if writes {
                    k.when(p, true).store(space, width, &[thread], address)
                } else {
                    k.when(p, true).load(space, width, &[d], address)
                });
            }
            Op::Block => {
                k.barrier(0, None);
            }
            Op::Warp(lanes) => {
                let p = guard(&mut k, thread, u64::from(lanes) << 32 | u64::from(lanes));
                k.when(p, true).warp_barrier(lanes);
            }
            Op::One(second) => {
                let p = guard(&mut k, thread, u64::from(u32::MAX) << if second { 32 } else { 0 });
                let (number, threads) = (k.bits(1 + u32::from(second)), k.bits(32));
                k.when(p, true).act(sparse_ptx::program::Act::Barrier {
                    aligned: true,
                    number,
                    threads: Some(threads),
                });
            }
        }
    }
    (k.finish(), lines)
}

/// One access: its number, thread, its clock, what it knows, and the bytes.
struct Access {
    number: usize,
    thread: usize,
    time: u32,
    knows: Vec<u32>,
    bytes: std::ops::Range<u32>,
    writes: bool,
    global: bool,
}

/// All pairs that race: number of the access and thread of both, either way.
fn races(ops: &[Op]) -> HashSet<[(usize, usize); 2]> {
    let mut clocks: Vec<Vec<u32>> =
        (0..THREADS).map(|t| (0..THREADS).map(|u| u32::from(t == u)).collect()).collect();
    let (mut all, mut number): (Vec<Access>, usize) = (Vec::new(), 0);
    let join = |clocks: &mut Vec<Vec<u32>>, members: u64| {
        let set: Vec<usize> = (0..THREADS).filter(|t| members >> t & 1 == 1).collect();
        let most: Vec<u32> =
            (0..THREADS).map(|u| set.iter().map(|&t| clocks[t][u]).max().unwrap_or(0)).collect();
        for &t in &set {
            clocks[t].clone_from(&most);
            clocks[t][t] += 1;
        }
    };
    for op in ops {
        match *op {
            Op::Touch { threads, base, stride, width, writes, global } => {
                for thread in (0..THREADS).filter(|t| threads >> t & 1 == 1) {
                    let first = u32::from(base) + u32::from(stride) * thread as u32;
                    let (time, knows) = (clocks[thread][thread], clocks[thread].clone());
                    let bytes = first..first + u32::from(width);
                    all.push(Access { number, thread, time, knows, bytes, writes, global });
                }
                number += 1;
            }
            Op::Block => join(&mut clocks, u64::MAX),
            Op::Warp(lanes) => {
                join(&mut clocks, u64::from(lanes));
                join(&mut clocks, u64::from(lanes) << 32);
            }
            Op::One(second) => join(&mut clocks, u64::from(u32::MAX) << if second { 32 } else { 0 }),
        }
    }
    let of_one = |(i, a): (usize, &Access)| {
        let conflicts = |b: &&Access| {
            a.thread != b.thread
                && a.global == b.global
                && (a.writes || b.writes)
                && a.bytes.start < b.bytes.end
                && b.bytes.start < a.bytes.end
                && b.time > a.knows[b.thread]
        };
        let (a, others) = ((a.number, a.thread), all[..i].iter().filter(conflicts));
        others.map(|b| (b.number, b.thread)).flat_map(|b| [[a, b], [b, a]]).collect::<Vec<_>>()
    };
    all.iter().enumerate().flat_map(of_one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn races_are_found_where_vector_clocks_say_so(ops in ops()) {
        let (program, lines) = build(&ops);
        let expected = races(&ops);
        for number in 0..3 {
            let mut world = World::new(1, THREADS as u32, &[512]).schedule(number);
            let outcome = world.run(&program);
            let errors: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
            let found = outcome.findings.iter().any(|f| f.kind == Kind::Race);
            prop_assert!(outcome.complete);
            // Story: of several readers the last was named, which was the thread itself, or one that a barrier orders before it.
            for finding in outcome.findings.iter().filter(|f| f.kind == Kind::Race) {
                let number = |line| lines.iter().position(|&of| of == line).expect("an access");
                let partner = finding.partner.expect("the other access");
                let pair = [
                    (number(finding.line), finding.thread[0] as usize),
                    (number(partner.line.expect("a line")), partner.thread[0] as usize),
                ];
                prop_assert!(expected.contains(&pair), "{:?} {}", ops, finding);
            }
            prop_assert_eq!(found, !expected.is_empty(), "{:?} {:?}", ops, errors);
        }
    }
}

#[test]
fn both_answers_are_asked_for() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut one = || !races(&ops().new_tree(&mut runner).expect("a value").current()).is_empty();
    let races = (0..300).filter(|_| one()).count();
    assert!((60..240).contains(&races), "{races} of 300");
}
