//! Warps that come apart and together, and barriers of warps and blocks.

use super::builder::Kernel;
use super::world::{World, clean, errors, only, run_one};
use sparse_ptx::check::Kind;
use sparse_ptx::machine::{Order, Schedule};
use sparse_ptx::program::{Act, Special};
use sparse_ptx::registers::Slot;
use sparse_ptx::text::Space::{Global, Shared};

pub(crate) fn start() -> (Kernel, Slot, Slot, Slot) {
    let mut k = Kernel::new();
    let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
    let at = k.at(buffer, thread, 4);
    (k, buffer, thread, at)
}

#[test]
fn nested_ifs_come_together_again() {
    let (mut k, _, thread, at) = start();
    let value = k.add(thread, thread);
    let [two, four, one] = [2, 4, 1].map(|bits| k.bits(bits));
    let (outer, inner) = (k.label(), k.label());
    let p = k.less(thread, four);
    k.when(p, false).branch(outer);
    let q = k.less(thread, two);
    k.when(q, false).branch(inner);
    k.lanes(super::builder::add, value, &[value, one]);
    k.place(inner);
    k.lanes(super::builder::add, value, &[value, one]);
    k.place(outer);
    k.store(Global, 4, &[value], (Some(at), 0));
    let (outcome, words) = run_one(k, 1, 32);
    clean(&outcome);
    assert_eq!(words[..6], [2, 4, 5, 7, 8, 10]);
    // The store ran once for all lanes.
    assert_eq!((outcome.counters.divergences, outcome.counters.stores), (2, 1));
}

#[test]
fn loops_may_end_at_different_times() {
    let (mut k, _, thread, at) = start();
    let [one, zero] = [1, 0].map(|bits| k.bits(bits));
    let (i, sum) = (k.add(zero, zero), k.add(zero, zero));
    let (head, end) = (k.label(), k.label());
    k.place(head);
    let p = k.less(i, thread);
    k.when(p, false).branch(end);
    k.lanes(super::builder::add, i, &[i, one]);
    k.lanes(super::builder::add, sum, &[sum, i]);
    k.branch(head);
    k.place(end);
    k.store(Global, 4, &[sum], (Some(at), 0));
    let program = k.finish();
    for number in 0..8 {
        let mut world = World::new(1, 40, &[4096]).schedule(number);
        let outcome = world.run(&program);
        clean(&outcome);
        assert_eq!(world.words(0, 40), (0..40).map(|i| i * (i + 1) / 2).collect::<Vec<u32>>());
        assert!(number > 0 || outcome.counters.stores == 2);
    }
}

#[test]
fn lanes_may_exit_early() {
    let (mut k, _, thread, at) = start();
    let ten = k.bits(10);
    let p = k.less(thread, ten);
    k.when(p, true).exit();
    k.store(Global, 4, &[ten], (Some(at), 0));
    let (outcome, words) = run_one(k, 1, 33);
    clean(&outcome);
    assert_eq!(
        words[..34],
        (0..34).map(|i| if (10..33).contains(&i) { 10 } else { 0 }).collect::<Vec<u32>>()
    );
}

/// Lanes 16 and up wait in a loop for what lane 0 stores later in the text, or earlier.
#[test]
fn a_lane_that_waits_in_a_loop_for_another_gets_on() {
    let (mut k, buffer, thread, _) = start();
    let [one, sixteen] = [1, 16].map(|bits| k.bits(bits));
    let (spin, high, end, flag) = (k.label(), k.label(), k.label(), k.narrow());
    let p = k.less(thread, sixteen);
    k.when(p, true).branch(high);
    k.place(spin);
    k.load(Global, 4, &[flag], (Some(buffer), 0));
    let q = k.equal(flag, one);
    k.when(q, false).branch(spin);
    k.branch(end);
    k.place(high);
    k.store(Global, 4, &[one], (Some(buffer), 0));
    k.place(end);
    let program = k.finish();
    for number in 0..6 {
        let mut world = World::new(1, 32, &[4096]).schedule(number);
        world.launch.checks.races = false;
        clean(&world.run(&program));
    }
}

/// The upper half of a warp stores, the lower half reads what the upper stored.
fn halves(barrier: bool) -> (Kernel, u32) {
    let (mut k, _, thread, at) = start();
    let base = k.shared(256);
    assert_eq!(base, 0);
    let [four, sixteen] = [4, 16].map(|bits| k.bits(bits));
    let offset = k.mul(thread, four);
    let (upper, end, d) = (k.label(), k.label(), k.narrow());
    let p = k.less(thread, sixteen);
    k.when(p, false).branch(upper);
    if barrier {
        k.warp_barrier(u32::MAX);
    }
    let line = k.load(Shared, 4, &[d], (Some(offset), 64));
    k.store(Global, 4, &[d], (Some(at), 0));
    k.branch(end);
    k.place(upper);
    let line = line.max(k.store(Shared, 4, &[thread], (Some(offset), 0)));
    if barrier {
        k.warp_barrier(u32::MAX);
    }
    k.place(end);
    (k, line)
}

#[test]
fn halves_of_a_warp_hand_over_by_a_warp_barrier() {
    let (outcome, words) = run_one(halves(true).0, 1, 32);
    clean(&outcome);
    assert_eq!(words[..16], (16..32).collect::<Vec<u32>>());
    let (k, line) = halves(false);
    let (outcome, _) = run_one(k, 1, 32);
    let finding = only(&outcome, Kind::Race, line);
    assert_eq!(finding.thread, [16, 0, 0]);
    assert!(
        finding.explanation.contains("stores to byte 64 of shared memory, read by thread (0,0,0)"),
        "{finding}"
    );
}

#[test]
fn a_warp_barrier_whose_members_never_come_is_found() {
    for members in [0xffff_ffff_u32, 0x0000_ffff] {
        let (mut k, _, thread, _) = start();
        let (end, sixteen) = (k.label(), k.bits(16));
        let p = k.less(thread, sixteen);
        k.when(p, false).branch(end);
        let line = k.warp_barrier(members);
        k.place(end);
        // The others wait for the whole block: a barrier of another kind.
        k.barrier(0, None);
        let (outcome, _) = run_one(k, 1, 32);
        if members == u32::MAX {
            let finding = only(&outcome, Kind::NotConverged, line);
            assert!(finding.explanation.contains("0xffff0000 wait at line"), "{finding}");
            assert!(!outcome.complete);
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn lanes_that_have_exited_are_not_waited_for() {
    for number in 0..4 {
        let (mut k, _, thread, at) = start();
        let (out, sixteen) = (k.label(), k.bits(16));
        let p = k.less(thread, sixteen);
        k.when(p, false).branch(out);
        k.warp_barrier(u32::MAX);
        k.store(Global, 4, &[sixteen], (Some(at), 0));
        k.place(out);
        let mut world = World::new(1, 32, &[4096]).schedule(number);
        clean(&world.run(&k.finish()));
        assert_eq!(world.words(0, 17)[15..], [16, 0]);
    }
}

/// All threads of a block pass values to their neighbours in another warp.
fn neighbours(barrier: bool) -> (Kernel, u32) {
    let (mut k, _, thread, at) = start();
    k.shared(1024);
    let [four, hundred, mask] = [4, 33, 127].map(|bits| k.bits(bits));
    let own = k.mul(thread, four);
    k.store(Shared, 4, &[thread], (Some(own), 0));
    if barrier {
        k.barrier(0, None);
    }
    let other = k.add(thread, hundred);
    let other = k.and(other, mask);
    let other = k.mul(other, four);
    let d = k.narrow();
    let line = k.load(Shared, 4, &[d], (Some(other), 0));
    k.store(Global, 4, &[d], (Some(at), 0));
    (k, line)
}

#[test]
fn a_block_hands_over_by_a_barrier() {
    let (outcome, words) = run_one(neighbours(true).0, 1, 128);
    clean(&outcome);
    assert_eq!(words[..128], (0..128).map(|i| (i + 33) % 128).collect::<Vec<u32>>());
    assert_eq!(outcome.counters.barrier_waits, 4);
}

#[test]
fn a_missing_barrier_is_a_race() {
    let (k, line) = neighbours(false);
    let (outcome, _) = run_one(k, 1, 128);
    // Warps run one after another: some read too late, and others are written after they were read.
    let races = errors(&outcome);
    assert!(races.contains(&(Kind::Race, line)), "{races:?}");
}

#[test]
fn barriers_of_some_threads_order_these_only() {
    // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; each pair hands over.
    for partner in [1_u32, 2] {
        let (mut k, _, thread, at) = start();
        k.shared(1024);
        let [four, n] = [4, 64].map(|bits| k.bits(bits));
        let (second, after) = (k.label(), k.label());
        let own = k.mul(thread, four);
        k.store(Shared, 4, &[thread], (Some(own), 0));
        let p = k.less(thread, n);
        k.when(p, false).branch(second);
        k.barrier(1, Some(64));
        k.branch(after);
        k.place(second);
        k.barrier(2, Some(64));
        k.place(after);
        let (step, mask) = (k.bits(32 * partner), k.bits(127));
        let other = k.add(thread, step);
        let other = k.and(other, mask);
        // Partner 1: warps 0 and 2 read 1 and 3, which they met; 1 and 3 read 2 and 0, which they did not.
        let odd = k.bits(32);
        let parity = k.and(thread, odd);
        let skip = k.label();
        let even = k.less(parity, odd);
        k.when(even, false).branch(skip);
        let other = k.mul(other, four);
        let d = k.narrow();
        let line = k.load(Shared, 4, &[d], (Some(other), 0));
        k.store(Global, 4, &[d], (Some(at), 0));
        k.place(skip);
        let (outcome, words) = run_one(k, 1, 128);
        if partner == 1 {
            clean(&outcome);
            assert_eq!(words[..32], (32..64).collect::<Vec<u32>>());
            assert_eq!(words[64..96], (96..128).collect::<Vec<u32>>());
        } else {
            only(&outcome, Kind::Race, line);
        }
    }
}

#[test]
fn lanes_at_different_barriers_are_found() {
    for divergent in [true, false] {
        let (mut k, _, thread, _) = start();
        let (other, end, limit) = (k.label(), k.label(), k.bits(if divergent { 16 } else { 32 }));
        let p = k.less(thread, limit);
        k.when(p, false).branch(other);
        let line = k.barrier(0, None);
        k.branch(end);
        k.place(other);
        k.barrier(0, None);
        k.place(end);
        let (outcome, _) = run_one(k, 1, 64);
        if divergent {
            assert_eq!(only(&outcome, Kind::DivergentBarrier, line).thread, [0; 3]);
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn a_barrier_that_some_never_reach_ends_as_deadlock() {
    for number in [0_u32, 1] {
        let (mut k, _, thread, _) = start();
        let (other, end, limit) = (k.label(), k.label(), k.bits(32));
        let p = k.less(thread, limit);
        k.when(p, false).branch(other);
        let line = k.barrier(0, None);
        k.branch(end);
        k.place(other);
        k.barrier(number, None);
        k.place(end);
        let (outcome, _) = run_one(k, 1, 64);
        if number == 1 {
            assert_eq!(errors(&outcome)[0], (Kind::Deadlock, line));
            assert!(outcome.findings[0].explanation.contains("waits for 64 threads and 32 came"));
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn what_follows_from_a_divergent_barrier_is_not_said_again() {
    let (mut k, _, thread, _) = start();
    let (other, end, limit) = (k.label(), k.label(), k.bits(16));
    let p = k.less(thread, limit);
    k.when(p, false).branch(other);
    let line = k.barrier(0, None);
    k.exit();
    k.place(other);
    k.barrier(0, None);
    k.barrier(0, None);
    k.place(end);
    let (outcome, _) = run_one(k, 1, 32);
    only(&outcome, Kind::DivergentBarrier, line);
}

#[test]
fn wrong_barriers_are_found() {
    for (number, threads, bad) in
        [(16, None, true), (15, None, false), (0, Some(33), true), (0, Some(64), false)]
    {
        let (mut k, ..) = start();
        let line = k.barrier(number, threads);
        let (outcome, _) = run_one(k, 1, 64);
        let found = errors(&outcome).contains(&(Kind::InvalidBarrier, line));
        assert_eq!(found, bad, "{number} {threads:?}");
    }
}

#[test]
fn a_uniform_branch_that_is_not_is_found() {
    for lanes in [16, 32] {
        let (mut k, _, thread, _) = start();
        let (end, limit) = (k.label(), k.bits(lanes));
        let p = k.less(thread, limit);
        let line = k.when(p, true).branch(end);
        if let Some(Act::Branch { uniform, .. }) = k.program().steps.last_mut().map(|step| &mut step.act) {
            *uniform = true;
        }
        k.place(end);
        let (outcome, _) = run_one(k, 1, 32);
        if lanes == 16 {
            only(&outcome, Kind::NotUniform, line);
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn an_endless_loop_is_named() {
    for limit in [100, 100_000] {
        let (mut k, ..) = start();
        let (head, one, thousand) = (k.label(), k.bits(1), k.bits(1000));
        let i = k.add(one, one);
        k.place(head);
        k.lanes(super::builder::add, i, &[i, one]);
        let p = k.less(i, thousand);
        let line = k.when(p, true).branch(head);
        let program = k.finish();
        for fragments in [Order::Forward, Order::Random] {
            let mut world = World::new(1, 32, &[4096]);
            world.launch.schedule = Schedule { fragments, ..Schedule::default() };
            world.launch.step_limit = limit;
            let outcome = world.run(&program);
            if limit == 100 {
                assert!(!outcome.complete);
                assert_eq!(outcome.counters.instructions, 100);
                let finding = &outcome.findings[0];
                assert_eq!((finding.kind, outcome.findings.len()), (Kind::StepLimit, 1));
                assert!((line - 2..=line).contains(&finding.line), "{finding}");
            } else {
                clean(&outcome);
            }
        }
    }
}
