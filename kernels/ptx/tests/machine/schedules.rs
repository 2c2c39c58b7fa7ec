//! The same program under many orders.

use super::builder::Kernel;
use super::world::{World, clean, errors};
use sparse_ptx::check::Kind;
use sparse_ptx::machine::Outcome;
use sparse_ptx::program::{Program, ShuffleKind, Special};
use sparse_ptx::text::Space::{Global, Shared};

/// Loops of different length, a shuffle, a hand-over through shared memory by a barrier: no order matters.
fn race_free() -> Program {
    let mut k = Kernel::new();
    k.shared(512);
    let (buffer, thread, block) = (k.param(), k.special(Special::Thread(0)), k.special(Special::Block(0)));
    let (one, zero, seven, four, mask) = (k.bits(1), k.bits(0), k.bits(7), k.bits(4), k.bits(127));
    let (i, sum, turns) = (k.add(zero, zero), k.add(zero, block), k.and(thread, seven));
    let (head, end) = (k.label(), k.label());
    k.place(head);
    let p = k.less(i, turns);
    k.when(p, false).branch(end);
    k.lanes(super::builder::add, i, &[i, one]);
    k.lanes(super::builder::add, sum, &[sum, thread]);
    k.branch(head);
    k.place(end);
    let (other, _, _) = k.shuffle(ShuffleKind::Butterfly, sum, 5, 31, u32::MAX);
    let own = k.mul(thread, four);
    k.store(Shared, 4, &[other], (Some(own), 0));
    k.barrier(0, None);
    let fifty = k.bits(50);
    let neighbour = k.add(thread, fifty);
    let neighbour = k.and(neighbour, mask);
    let neighbour = k.mul(neighbour, four);
    let d = k.narrow();
    k.load(Shared, 4, &[d], (Some(neighbour), 0));
    let n = k.bits(128);
    let place = k.mul(block, n);
    let place = k.add(place, thread);
    let at = k.at(buffer, place, 4);
    k.store(Global, 4, &[d], (Some(at), 0));
    k.finish()
}

/// Every thread of every block adds to the same word without an atomic: the result depends on the order.
fn dependent() -> (Program, u32) {
    let mut k = Kernel::new();
    let (buffer, block, three) = (k.param(), k.special(Special::Block(0)), k.bits(3));
    let d = k.narrow();
    let line = k.load(Global, 4, &[d], (Some(buffer), 0));
    let d = k.mul(d, three);
    let d = k.add(d, block);
    k.store(Global, 4, &[d], (Some(buffer), 0));
    (k.finish(), line)
}

fn results(program: &Program, threads: u32, count: usize) -> Vec<(Vec<u32>, Outcome)> {
    let one = |number| {
        let mut world = World::new(6, threads, &[4096]).schedule(number);
        let outcome = world.run(program);
        (world.words(0, count), outcome)
    };
    (0..32).map(one).collect()
}

/// Story: found by the fuzz target `ptx_machine`. Lanes that waited in a shuffle for others, which exited with the last step of the warp's
/// turn, were never asked again, and counted as waiting for lanes that never come: a right kernel was accused in some orders.
#[test]
fn who_waits_for_lanes_that_exit_goes_on_whenever_they_exit() {
    let mut k = Kernel::new();
    let (thread, sixteen) = (k.special(Special::Thread(0)), k.bits(16));
    let end = k.label();
    let stays = k.less(thread, sixteen);
    k.when(stays, false).branch(end);
    k.shuffle(ShuffleKind::Butterfly, thread, 1, 31, u32::MAX);
    k.place(end);
    let mut sum = k.add(thread, thread);
    for _ in 0..6 {
        sum = k.add(sum, thread);
    }
    k.exit();
    let program = k.finish();
    for number in 0..2000 {
        clean(&World::new(1, 32, &[]).schedule(number).run(&program));
    }
}

#[test]
fn a_program_without_races_gives_the_same_memory_under_32_schedules() {
    let all = results(&race_free(), 128, 768);
    for (words, outcome) in &all {
        clean(outcome);
        assert_eq!(words, &all[0].0);
    }
    assert!(all[0].0.iter().any(|&word| word > 100));
    // The orders do differ.
    assert!(all.iter().any(|(_, outcome)| outcome.counters != all[0].1.counters));
}

#[test]
fn an_order_that_matters_shows_and_is_a_race_under_every_schedule() {
    let (program, line) = dependent();
    let all = results(&program, 1, 1);
    for (_, outcome) in &all {
        assert!(errors(outcome).contains(&(Kind::Race, line)));
    }
    assert!(all.iter().any(|(words, _)| words != &all[0].0));
}

#[test]
fn the_same_schedule_gives_the_same_run() {
    for number in [0, 1, 2, 31] {
        for (program, threads) in [(race_free(), 128), (dependent().0, 33)] {
            let run = || {
                let mut world = World::new(6, threads, &[4096]).schedule(number);
                let outcome = world.run(&program);
                (outcome, world.words(0, 1024))
            };
            assert_eq!(run(), run());
        }
    }
}
