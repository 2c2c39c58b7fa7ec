//! Races in global and shared memory, whatever the order in which the machine runs.

use super::builder::Kernel;
use super::world::{World, clean, errors, only, run_one};
use sparse_ptx::check::Kind;
use sparse_ptx::program::{Act, Special};
use sparse_ptx::text::Space::{Global, Shared};

/// Each block stores to its own word, or all to the same one.
#[test]
fn blocks_that_store_to_the_same_word_race() {
    for scale in [0, 4] {
        let mut k = Kernel::new();
        let (buffer, block) = (k.param(), k.special(Special::Block(0)));
        let at = k.at(buffer, block, scale);
        let line = k.store(Global, 4, &[block], (Some(at), 0));
        let program = k.finish();
        for number in 0..8 {
            let mut world = World::new(5, 1, &[4096]).schedule(number);
            let outcome = world.run(&program);
            if scale == 0 {
                let finding = only(&outcome, Kind::Race, line);
                assert_eq!((finding.allocation, finding.count), (Some(0), 4));
                assert!(finding.explanation.contains("written by thread (0,0,0) of block ("), "{finding}");
                if number == 0 {
                    assert_eq!(finding.block, [1, 0, 0]);
                }
            } else {
                clean(&outcome);
            }
        }
    }
}

#[test]
fn a_block_that_reads_what_another_stores_races_in_either_order() {
    for number in [0, 1] {
        for reads in [true, false] {
            let mut k = Kernel::new();
            let (buffer, block) = (k.param(), k.special(Special::Block(0)));
            let (other, end, one, d) = (k.label(), k.label(), k.bits(1), k.narrow());
            let p = k.less(block, one);
            k.when(p, false).branch(other);
            let store = k.store(Global, 4, &[one], (Some(buffer), 0));
            k.branch(end);
            k.place(other);
            let load = k.load(Global, 4, &[d], (Some(buffer), if reads { 0 } else { 4 }));
            k.place(end);
            let mut world = World::new(2, 1, &[4096]).schedule(number);
            let outcome = world.run(&k.finish());
            if reads {
                only(&outcome, Kind::Race, if number == 0 { load } else { store });
            } else {
                clean(&outcome);
            }
        }
    }
}

#[test]
fn launches_are_ordered() {
    let mut k = Kernel::new();
    let (buffer, block) = (k.param(), k.special(Special::Thread(0)));
    let d = k.narrow();
    let at = k.at(buffer, block, 4);
    k.load(Global, 4, &[d], (Some(at), 0));
    k.store(Global, 4, &[d], (Some(at), 0));
    let program = k.finish();
    let mut world = World::new(1, 64, &[4096]);
    for _ in 0..3 {
        clean(&world.run(&program));
    }
}

#[test]
fn many_readers_and_a_later_writer_race_unless_a_barrier_comes_between() {
    for threads in [32, 96] {
        for barrier in [false, true] {
            let mut k = Kernel::new();
            let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
            let (d, five, end) = (k.narrow(), k.bits(5), k.label());
            k.load(Global, 4, &[d], (Some(buffer), 0));
            if barrier {
                k.barrier(0, None);
            }
            let p = k.equal(thread, five);
            k.when(p, false).branch(end);
            let line = k.store(Global, 4, &[five], (Some(buffer), 0));
            k.place(end);
            let (outcome, _) = run_one(k, 1, threads);
            if barrier {
                clean(&outcome);
            } else {
                // Warps that run later read what is stored then already.
                assert_eq!(errors(&outcome).len(), if threads == 32 { 1 } else { 2 });
                let finding =
                    outcome.findings.iter().find(|finding| finding.line == line).expect("the store races");
                assert!(finding.explanation.contains("read by thread"), "{finding}");
                assert_eq!((finding.kind, finding.thread), (Kind::Race, [5, 0, 0]));
            }
        }
    }
}

/// Story: thread 0 was told to race with itself, as it had read last: of several readers the last one was named.
#[test]
fn the_partner_of_a_race_is_a_thread_that_conflicts() {
    for space in [Shared, Global] {
        for threads in [32, 64] {
            for number in 0..4 {
                let mut k = Kernel::new();
                k.shared(16);
                let (buffer, thread, d, one) =
                    (k.param(), k.special(Special::Thread(0)), k.narrow(), k.bits(1));
                let base = if space == Global { Some(buffer) } else { None };
                let zero = k.bits(0);
                let first = k.equal(thread, zero);
                k.when(first, true).store(space, 4, &[zero], (base, 0));
                k.barrier(0, None);
                let read = k.load(space, 4, &[d], (base, 0));
                k.when(first, true).load(space, 4, &[d], (base, 0));
                let line = k.when(first, true).store(space, 4, &[one], (base, 0));
                let outcome = World::new(1, threads, &[64]).schedule(number).run(&k.finish());
                for finding in outcome.findings.iter().filter(|finding| finding.line == line) {
                    let partner = finding.partner.expect("it is named");
                    assert_ne!(partner.thread, [0; 3], "{finding}");
                    assert_eq!((partner.block, partner.line), (Some([0; 3]), Some(read)), "{finding}");
                }
                assert!(!errors(&outcome).is_empty());
                if threads == 32 {
                    assert_eq!(errors(&outcome), [(Kind::Race, line)]);
                }
            }
        }
    }
}

/// Story: of what had been read by `ld.global.nc`, the thread was named that had read last, by whatever load.
#[test]
fn who_promised_that_nothing_is_written_is_named() {
    let mut k = Kernel::new();
    let (buffer, thread, d) = (k.param(), k.special(Special::Thread(0)), k.narrow());
    let [zero, seven] = [0, 7].map(|bits| k.bits(bits));
    let (first, eighth) = (k.equal(thread, zero), k.equal(thread, seven));
    let mut access = Kernel::access(Global, 4, &[d], (Some(buffer), 0));
    access.read_only = true;
    let promised = k.when(eighth, true).act(Act::Load(access));
    k.load(Global, 4, &[d], (Some(buffer), 0));
    k.barrier(0, None);
    let line = k.when(first, true).store(Global, 4, &[zero], (Some(buffer), 0));
    let (outcome, _) = run_one(k, 1, 64);
    let partner = only(&outcome, Kind::ReadOnly, line).partner.expect("it is named");
    assert_eq!((partner.thread, partner.line), ([7, 0, 0], Some(promised)));
}

#[test]
fn a_thread_does_not_race_with_itself() {
    let mut k = Kernel::new();
    k.shared(512);
    let (thread, four, d) = (k.special(Special::Thread(0)), k.bits(4), k.narrow());
    k.param();
    let own = k.mul(thread, four);
    for _ in 0..2 {
        k.store(Shared, 4, &[thread], (Some(own), 0));
        k.load(Shared, 4, &[d], (Some(own), 0));
        k.store(Shared, 4, &[d], (Some(own), 0));
    }
    clean(&run_one(k, 1, 128).0);
}

#[test]
fn halves_of_a_word_are_apart() {
    for width in [2_u8, 4] {
        let mut k = Kernel::new();
        let (buffer, thread) = (k.param(), k.special(Special::Thread(0)));
        // Words first, so that the record of accesses has to become finer later.
        let d = k.narrow();
        k.load(Global, 4, &[d], (Some(buffer), 1024));
        let at = k.at(buffer, thread, 2);
        let line = k.store(Global, 2, &[thread], (Some(at), 0));
        let four = if width == 4 { Some(k.at(buffer, thread, 4)) } else { None };
        let after = four.map(|at| k.load(Global, 4, &[d], (Some(at), 0)));
        let (outcome, words) = run_one(k, 1, 32);
        assert_eq!(words[1], 3 << 16 | 2);
        match after {
            // Each word holds a half of a neighbour.
            Some(load) => assert_eq!(errors(&outcome), [(Kind::Race, load)]),
            None => clean(&outcome),
        }
        assert!(line > 0);
    }
}

#[test]
fn lanes_of_one_store_that_meet_are_found_by_their_values() {
    for same in [true, false] {
        let mut k = Kernel::new();
        let (buffer, thread, seven) = (k.param(), k.special(Special::Thread(0)), k.bits(7));
        let line = k.store(Global, 4, &[if same { seven } else { thread }], (Some(buffer), 0));
        let (outcome, words) = run_one(k, 1, 32);
        let finding = only(&outcome, if same { Kind::SameValue } else { Kind::Race }, line);
        assert_eq!((finding.count, finding.thread), (31, [1, 0, 0]));
        assert!(finding.explanation.contains("both in one instruction"), "{finding}");
        assert_eq!((outcome.is_clean(), words[0]), (same, if same { 7 } else { 31 }));
    }
}

#[test]
fn shuffles_order_nothing() {
    for barrier in [false, true] {
        let mut k = Kernel::new();
        k.shared(256);
        let (buffer, thread, four, mask) = (k.param(), k.special(Special::Thread(0)), k.bits(4), k.bits(31));
        let own = k.mul(thread, four);
        k.store(Shared, 4, &[thread], (Some(own), 0));
        k.shuffle(sparse_ptx::program::ShuffleKind::Index, thread, 0, 31, u32::MAX);
        if barrier {
            k.warp_barrier(u32::MAX);
        }
        let (one, d) = (k.bits(1), k.narrow());
        let other = k.add(thread, one);
        let other = k.and(other, mask);
        let other = k.mul(other, four);
        let line = k.load(Shared, 4, &[d], (Some(other), 0));
        let at = k.at(buffer, thread, 4);
        k.store(Global, 4, &[d], (Some(at), 0));
        let (outcome, _) = run_one(k, 1, 32);
        if barrier {
            clean(&outcome);
        } else {
            only(&outcome, Kind::Race, line);
        }
    }
}

#[test]
fn knowledge_is_passed_on_by_partial_barriers() {
    // Lanes 0..16 store, meet 16..24 at a barrier, these meet 24..32 at another: 24..32 know what 0..16 stored.
    for chained in [true, false] {
        let mut k = Kernel::new();
        k.shared(256);
        let (buffer, thread, four) = (k.param(), k.special(Special::Thread(0)), k.bits(4));
        let own = k.mul(thread, four);
        let limits = [16, 24].map(|limit| k.bits(limit));
        let [low, middle] = limits.map(|limit| k.less(thread, limit));
        k.when(low, true).store(Shared, 4, &[thread], (Some(own), 0));
        k.when(middle, true).warp_barrier(0x00ff_ffff);
        if chained {
            k.when(low, false).warp_barrier(0xffff_0000);
        }
        let d = k.narrow();
        let line = k.when(middle, false).load(Shared, 4, &[d], (Some(own), -96));
        let at = k.at(buffer, thread, 4);
        k.when(middle, false).store(Global, 4, &[d], (Some(at), 0));
        let (outcome, words) = run_one(k, 1, 32);
        if chained {
            clean(&outcome);
            assert_eq!(words[24..32], (0..8).collect::<Vec<u32>>());
        } else {
            only(&outcome, Kind::Race, line);
        }
    }
}

#[test]
fn readers_that_met_at_a_partial_barrier_may_be_overwritten() {
    // All of warps 0 and 1 read a word; a barrier of these 64 threads; then thread 0 stores. Warp 2 may have read as well.
    for threads in [64, 96] {
        let mut k = Kernel::new();
        k.shared(64);
        let (thread, d, zero, n) = (k.special(Special::Thread(0)), k.narrow(), k.bits(0), k.bits(64));
        k.param();
        let end = k.label();
        let first = k.equal(thread, zero);
        k.when(first, true).store(Shared, 4, &[zero], (None, 0));
        k.barrier(0, None);
        k.load(Shared, 4, &[d], (None, 0));
        let p = k.less(thread, n);
        k.when(p, false).branch(end);
        k.barrier(1, Some(64));
        let line = k.when(first, true).store(Shared, 4, &[n], (None, 0));
        k.place(end);
        let (outcome, _) = run_one(k, 1, threads);
        if threads == 64 {
            clean(&outcome);
        } else {
            only(&outcome, Kind::Race, line);
        }
    }
}

#[test]
fn read_only_loads_of_what_the_launch_writes_are_found() {
    for (offset, early) in [(0, true), (0, false), (64, true)] {
        let mut k = Kernel::new();
        let (buffer, d) = (k.param(), k.narrow());
        let mut access = Kernel::access(Global, 4, &[d], (Some(buffer), offset));
        access.read_only = true;
        let one = k.bits(1);
        let line = if early {
            k.act(Act::Load(access));
            k.store(Global, 4, &[one], (Some(buffer), 0))
        } else {
            k.store(Global, 4, &[one], (Some(buffer), 0));
            k.act(Act::Load(access))
        };
        let (outcome, _) = run_one(k, 1, 1);
        if offset == 0 {
            only(&outcome, Kind::ReadOnly, line);
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn a_million_races_are_one_finding() {
    let mut k = Kernel::new();
    let (buffer, block) = (k.param(), k.special(Special::Block(0)));
    let line = k.store(Global, 4, &[block], (Some(buffer), 0));
    let program = k.finish();
    let mut world = World::new(2000, 512, &[4096]);
    let outcome = world.run(&program);
    assert_eq!(outcome.findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [line, line]);
    assert_eq!(outcome.findings.iter().map(|finding| finding.count).sum::<u64>(), 2000 * 512 - 1);
}
