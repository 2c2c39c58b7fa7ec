//! `cp.async`: a pipeline of two stages, right and with each of its parts removed.

use super::builder::Kernel;
use super::world::{World, clean, errors, only};
use sparse_ptx::check::Kind;
use sparse_ptx::machine::Outcome;
use sparse_ptx::program::{Act, Special};
use sparse_ptx::text::Space::{Global, Shared};

/// What is left out of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Without {
    Nothing,
    Wait,
    Barrier,
    Commit,
    LastBarrier,
}

/// Each thread copies 4 bytes a stage, 64 threads; stage i + 1 is under way while stage i is read, which another thread copied.
fn pipeline(without: Without) -> (Outcome, Vec<u32>, [u32; 3]) {
    let mut k = Kernel::new();
    k.shared(512);
    let (from, to, thread) = (k.param(), k.param(), k.special(Special::Thread(0)));
    let (four, mask, step) = (k.bits(4), k.bits(63), k.bits(33));
    let own = k.mul(thread, four);
    let other = k.add(thread, step);
    let other = k.and(other, mask);
    let other = k.mul(other, four);
    let source = k.at(from, thread, 4);
    let target = k.at(to, thread, 4);
    let (d, zero) = (k.narrow(), k.bits(0));
    let sum = k.add(zero, zero);
    let issue = |k: &mut Kernel, stage: i64| {
        let line = k.copy(4, (own, stage % 2 * 256), (source, stage * 256), None);
        if without != Without::Commit {
            k.act(Act::Commit);
        }
        line
    };
    let mut copy = issue(&mut k, 0);
    let mut load = 0;
    for stage in 0..4 {
        if stage < 3 {
            copy = issue(&mut k, stage + 1);
        }
        if without != Without::Wait {
            k.act(Act::Wait(Some(u32::from(stage < 3))));
        }
        if without != Without::Barrier {
            k.barrier(0, None);
        }
        let line = k.load(Shared, 4, &[d], (Some(other), stage % 2 * 256));
        load = if load == 0 { line } else { load };
        k.lanes(super::builder::add, sum, &[sum, d]);
        if without != Without::LastBarrier {
            k.barrier(0, None);
        }
    }
    let store = k.store(Global, 4, &[sum], (Some(target), 0));
    let mut world = World::new(2, 64, &[1024, 256]);
    world.write(0, &(0..256).collect::<Vec<u32>>());
    // Both blocks store the same result to the same place: only the first is run.
    world.launch.grid = [1, 1, 1];
    let outcome = world.run(&k.finish());
    let words = world.words(1, 64);
    (outcome, words, [load, copy, store])
}

#[test]
fn a_pipeline_is_clean() {
    let (outcome, words, _) = pipeline(Without::Nothing);
    clean(&outcome);
    let expected = |i: u32| (0..4).map(|stage| 64 * stage + (i + 33) % 64).sum::<u32>();
    assert_eq!(words, (0..64).map(expected).collect::<Vec<u32>>());
}

#[test]
fn a_missing_wait_is_found() {
    let (outcome, _, [load, ..]) = pipeline(Without::Wait);
    let finding = &outcome.findings[0];
    assert_eq!((finding.kind, finding.line), (Kind::OpenCopy, load), "{finding}");
    assert!(
        finding.explanation.contains("written by a cp.async that is not waited for by thread (33,0,0)"),
        "{finding}"
    );
}

#[test]
fn a_missing_commit_is_found() {
    let (outcome, _, [load, ..]) = pipeline(Without::Commit);
    assert_eq!(errors(&outcome)[0], (Kind::OpenCopy, load));
}

#[test]
fn a_missing_barrier_after_the_wait_is_found() {
    let (outcome, _, [load, ..]) = pipeline(Without::Barrier);
    let all = errors(&outcome);
    assert!(all.iter().any(|&(kind, line)| kind != Kind::Deadlock && line >= load), "{all:?}");
    assert!(!all.is_empty());
}

#[test]
fn a_missing_barrier_before_the_buffer_is_used_again_is_found() {
    let (outcome, _, [_, copy, _]) = pipeline(Without::LastBarrier);
    let all = errors(&outcome);
    assert!(all.iter().any(|&(kind, line)| kind == Kind::Race && line <= copy), "{all:?}");
}

/// The lane itself reads what it copied.
fn own_copy(wait: Option<Act>) -> (Outcome, u32) {
    let mut k = Kernel::new();
    k.shared(512);
    let (from, thread, sixteen) = (k.param(), k.special(Special::Thread(0)), k.bits(16));
    let own = k.mul(thread, sixteen);
    let source = k.at(from, thread, 16);
    k.copy(16, (own, 0), (source, 0), None);
    k.act(Act::Commit);
    wait.into_iter().for_each(|wait| {
        k.act(wait);
    });
    let d = k.narrow();
    let line = k.load(Shared, 4, &[d], (Some(own), 12));
    (World::new(1, 32, &[4096]).run(&k.finish()), line)
}

#[test]
fn a_lane_sees_its_own_copy_after_the_wait() {
    clean(&own_copy(Some(Act::Wait(None))).0);
    clean(&own_copy(Some(Act::Wait(Some(0)))).0);
    for wait in [None, Some(Act::Wait(Some(1)))] {
        let (outcome, line) = own_copy(wait);
        assert_eq!(only(&outcome, Kind::OpenCopy, line).count, 32);
    }
}

#[test]
fn bytes_beyond_the_source_size_are_zeros_and_never_read() {
    for (size, bad) in [(0, false), (8, false), (16, false), (17, true)] {
        let mut k = Kernel::new();
        k.shared(16);
        let (from, to) = (k.param(), k.param());
        let (zero, size_of) = (k.bits(0), k.bits(size));
        let line = k.copy(16, (zero, 0), (from, 0), Some(size_of));
        k.act(Act::Wait(None));
        let d: Vec<_> = (0..4).map(|_| k.narrow()).collect();
        k.load(Shared, 4, &d, (Some(zero), 0));
        k.store(Global, 4, &d, (Some(to), 0));
        // The source is as long as what may be read.
        let mut world = World::new(1, 1, &[u64::from(size.min(16)), 64]);
        world.write(0, &vec![7; size.min(16) as usize / 4]);
        let outcome = world.run(&k.finish());
        let words: Vec<u32> = (0..4).map(|word| if word * 4 < size.min(16) { 7 } else { 0 }).collect();
        assert_eq!(world.words(1, 4), words);
        if bad {
            only(&outcome, Kind::CopySize, line);
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn copies_past_the_end_are_found_on_both_sides() {
    for (to, from, bad) in [(0, 0, false), (16, 0, true), (0, 64, true)] {
        let mut k = Kernel::new();
        k.shared(16);
        let (source, zero) = (k.param(), k.bits(0));
        let line = k.copy(16, (zero, to), (source, from), None);
        let outcome = World::new(1, 1, &[64]).run(&k.finish());
        if bad {
            let finding = only(&outcome, Kind::OutOfBounds, line);
            assert_eq!(finding.allocation, (from == 64).then_some(0));
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn copies_without_end_and_wait_need_no_memory_without_bound() {
    let mut k = Kernel::new();
    k.shared(16);
    let (from, zero, one, turns) = (k.param(), k.bits(0), k.bits(1), k.bits(20_000));
    let i = k.add(zero, zero);
    let head = k.label();
    k.place(head);
    let line = k.copy(16, (zero, 0), (from, 0), None);
    k.lanes(super::builder::add, i, &[i, one]);
    let p = k.less(i, turns);
    k.when(p, true).branch(head);
    let outcome = World::new(1, 1, &[64]).run(&k.finish());
    assert!(only(&outcome, Kind::OpenCopy, line).count > 19_000);
}
