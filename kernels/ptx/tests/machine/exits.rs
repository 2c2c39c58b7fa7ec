//! Lanes that exit while others of their warp wait at a barrier: at once, which is worth a note, or after something else.

use super::divergence::start;
use super::world::{World, clean, only, run_one};
use sparse_ptx::check::Kind;
use sparse_ptx::decode;
use sparse_ptx::machine::{Order, Schedule};
use sparse_ptx::program::Program;
use sparse_ptx::text::Space::Global;
use sparse_ptx::text::parse;

/// An entry with one buffer in `%rd1`, `%r1 = %tid.x`, `%p1` for the lower half of a warp and `%p2` for its first lane.
fn program(body: &str) -> Program {
    let text = format!(
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n.reg .pred %p<5>; .reg .b32 %r<5>; \
         .reg .b64 %rd<4>;\nld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;\n\
         setp.lt.u32 %p2, %r1, 1; setp.lt.u32 %p1, %r1, 16;\n{body}\nret;\n}}\n"
    );
    let module = parse(&text).expect("it is PTX");
    decode::program(&module, "k").expect("it can run")
}

/// What each order finds at the line of the barrier: it must be the same.
fn found(body: &str) -> Option<(Kind, String)> {
    let program = program(body);
    let outcomes = (0..8).map(|number| {
        let mut world = World::new(1, 32, &[4096]).schedule(number);
        let outcome = world.run(&program);
        assert!(outcome.complete && outcome.findings.len() < 2, "{body}: {:?}", outcome.findings);
        outcome.findings.first().map(|finding| (finding.kind, finding.explanation.clone()))
    });
    let all: Vec<_> = outcomes.collect();
    let kinds = |of: &Option<(Kind, String)>| of.as_ref().map(|(kind, _)| *kind);
    assert!(all.iter().all(|other| kinds(other) == kinds(&all[0])), "{body}: {all:?}");
    all.into_iter().next().flatten()
}

/// Story: `@p st; @p ret; bar.sync` was a note and the same with a branch a finding; `@p bar.sync; ret` was a finding, with the words that
/// the others had done something else, and the same with a branch a note.
#[test]
fn a_guard_and_a_branch_are_judged_alike() {
    for (same, kind, words) in [
        (
            &[
                "@%p1 st.global.u32 [%rd2], %r1; @%p1 ret; bar.sync 0;",
                "@!%p1 bra go; st.global.u32 [%rd2], %r1; ret; go: bar.sync 0;",
                "@!%p1 bra go; st.global.u32 [%rd2], %r1; go: @%p1 ret; bar.sync 0;",
                "@!%p1 bra go; st.global.u32 [%rd2], %r1; bra end; go: bar.sync 0; end:",
                "@!%p1 bra go; st.global.u32 [%rd2], %r1; go: @%p1 bra end; bar.sync 0; end:",
            ][..],
            Kind::DivergentBarrier,
            "lanes 0xffff0000 of the warp wait here; lanes 0x0000ffff did what stands at line 9, which these have not",
        ),
        (
            &[
                "@%p1 bar.sync 0;",
                "@!%p1 bra end; bar.sync 0; end:",
                "@!%p1 ret; bar.sync 0;",
                "@%p1 bar.sync 0; @!%p1 ret; st.global.u32 [%rd2], %r1;",
                "@!%p1 bra end; bar.sync 0; st.global.u32 [%rd2], %r1; end:",
                "@!%p1 bra past; bar.sync 0; past: @!%p1 ret; st.global.u32 [%rd2], %r1;",
            ],
            Kind::BarrierAfterExit,
            "lanes 0xffff0000 of the warp have exited",
        ),
        (
            &[
                "@%p1 bar.sync 0; @!%p2 ret; st.global.u32 [%rd2], %r1;",
                "@!%p1 bra past; bar.sync 0; past: @!%p2 bra end; st.global.u32 [%rd2], %r1; end:",
                "@%p1 bar.sync 0; @%p2 st.global.u32 [%rd2], %r1;",
            ],
            Kind::DivergentBarrier,
            "lanes 0xffff0000 came to the condition at line 9, which these have not",
        ),
        (
            &[
                "@%p1 bar.sync 0; @!%p1 st.global.u32 [%rd2], %r1;",
                "@!%p1 bra else; bar.sync 0; ret; else: st.global.u32 [%rd2], %r1;",
            ],
            Kind::DivergentBarrier,
            "lanes 0x0000ffff of the warp wait here; lanes 0xffff0000 did what stands at line 9",
        ),
    ] {
        for body in same {
            let (found, said) = found(body).expect("a finding");
            assert_eq!(found, kind, "{body}: {said}");
            assert!(said.contains(words), "{body}: {said}");
        }
    }
}

/// Lanes may do something of their own, and exit at a condition that is met together after all have done something again.
#[test]
fn who_has_worked_and_comes_together_with_the_others_before_it_exits_is_worth_a_note() {
    for work in ["@%p1 st.global.u32 [%rd2], %r1;", "@!%p1 bra on; st.global.u32 [%rd2], %r1; on:"] {
        let body = format!("{work} setp.lt.u32 %p3, %r1, 8; @%p3 ret; bar.sync 0;");
        assert_eq!(found(&body).map(|(kind, _)| kind), Some(Kind::BarrierAfterExit), "{body}");
    }
}

/// Rounds of a loop are told apart: in the second, some leave out the barrier and work on, at a line that all came to in the first.
#[test]
fn work_of_an_earlier_round_is_not_that_of_this_one() {
    for (skip, kind) in [("%p1", Kind::DivergentBarrier), ("%p4", Kind::BarrierAfterExit)] {
        let body = format!(
            "mov.u32 %r2, 0; setp.ne.u32 %p4, %r2, 0; head: setp.eq.u32 %p3, %r2, 0; @%p3 bra wait; @!{skip} bra past;\n\
             wait: bar.sync 0;\npast: add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 2; @%p3 bra head; {}",
            if skip == "%p4" { "@%p1 ret; bar.sync 0;" } else { "" }
        );
        assert_eq!(found(&body).map(|(kind, _)| kind), Some(kind), "{body}");
    }
}

/// Who waits at a shuffle for lanes that exit, and comes to it again, did it once.
#[test]
fn what_was_waited_for_counts_once() {
    let body = "setp.ge.u32 %p3, %r1, 31; @%p3 ret; mov.u32 %r2, 31; setp.lt.u32 %p4, %r1, 24; @%p4 bra on; setp.lt.u32 %p4, %r1, 28; \
                @%p4 ret;\non: shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; @%p1 ret; bar.sync 0;";
    assert_eq!(
        found(body).map(|(kind, _)| kind),
        Some(Kind::DivergentBarrier),
        "lanes 24 to 27 met a condition of their own"
    );
    let body = body.replace("@%p4 bra on; setp.lt.u32 %p4, %r1, 28; @%p4 ret;", "");
    assert_eq!(found(&body).map(|(kind, _)| kind), Some(Kind::BarrierAfterExit));
}

/// `barrier.sync` without `.aligned` promises nothing: lanes of a warp may wait at different ones, or never come.
#[test]
fn a_barrier_that_is_not_aligned_takes_lanes_as_they_come() {
    for (body, kind) in [
        ("@%p1 bra a; BAR 0; bra end; a: BAR 0; end:", Kind::DivergentBarrier),
        ("@%p1 st.global.u32 [%rd2], %r1; @%p1 ret; BAR 0;", Kind::DivergentBarrier),
        ("@%p1 ret; BAR 0;", Kind::BarrierAfterExit),
    ] {
        for (name, aligned) in [
            ("bar.sync", true),
            ("bar.cta.sync", true),
            ("barrier.sync.aligned", true),
            ("barrier.cta.sync.aligned", true),
            ("barrier.sync", false),
            ("barrier.cta.sync", false),
        ] {
            let body = body.replace("BAR", name);
            assert_eq!(found(&body).map(|(kind, _)| kind), aligned.then_some(kind), "{body}");
        }
    }
    // Both kinds meet at one barrier: who promised is told.
    let mixed = found("@%p1 bra a; barrier.sync 0; bra end; a: bar.sync 0; end:").map(|(kind, _)| kind);
    assert_eq!(mixed, Some(Kind::DivergentBarrier));
}

/// What is stored before `barrier.sync` is there behind it, in other warps as well.
#[test]
fn a_barrier_that_is_not_aligned_orders_memory() {
    for (barrier, races) in [("barrier.sync 0;", false), ("", true)] {
        let body = format!(
            "st.global.u32 [%rd2], %r1; {barrier} xor.b32 %r2, %r1, 32; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2; \
             ld.global.u32 %r3, [%rd2];"
        );
        let outcome = World::new(1, 64, &[4096]).run(&program(&body));
        if races {
            assert!(outcome.findings.iter().all(|finding| finding.kind == Kind::Race) && !outcome.is_clean());
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn a_barrier_after_the_exit_of_lanes_is_worth_a_note() {
    let (mut k, _, thread, _) = start();
    let limit = k.bits(48);
    let p = k.less(thread, limit);
    k.when(p, false).exit();
    let line = k.barrier(0, None);
    let (outcome, _) = run_one(k, 1, 64);
    only(&outcome, Kind::BarrierAfterExit, line);
    assert!(outcome.is_clean());
}

/// Story: a reader of docs/ptx.md let half a warp skip `bar.sync` and go on working; the machine had only a note for that, as those
/// lanes had exited by the time the barrier was let go. A note also followed each divergent barrier.
#[test]
fn who_skips_a_barrier_and_works_meanwhile_is_found_and_who_exits_at_once_is_not() {
    for (works, diverges) in [(false, false), (true, true)] {
        for fragments in [Order::Forward, Order::Reverse, Order::Random] {
            let (mut k, _, thread, _) = start();
            let (other, end, limit) = (k.label(), k.label(), k.bits(16));
            let p = k.less(thread, limit);
            k.when(p, false).branch(other);
            let line = k.barrier(0, None);
            k.branch(end);
            k.place(other);
            if works {
                k.add(thread, limit);
            }
            k.place(end);
            let program = k.finish();
            let mut world = World::new(1, 64, &[4096]);
            world.launch.schedule = Schedule { fragments, ..Schedule::default() };
            let outcome = world.run(&program);
            let kind = if diverges { Kind::DivergentBarrier } else { Kind::BarrierAfterExit };
            assert_eq!(only(&outcome, kind, line).count, 1);
            assert_eq!(outcome.is_clean(), !diverges);
        }
    }
}

/// Story: in NVIDIA's sample of divergent threads, lanes skip the barrier of the last round of a loop, and return at the condition behind the
/// loop. That they return right after a condition made a note of it; but who waits at the barrier has not met that condition.
#[test]
fn who_skips_a_barrier_and_returns_at_a_later_condition_is_found() {
    for fragments in [Order::Forward, Order::Reverse, Order::Random] {
        let (mut k, _, thread, at) = start();
        let (after, end) = (k.label(), k.label());
        let [half, one] = [16, 1].map(|bits| k.bits(bits));
        let p = k.less(thread, half);
        k.when(p, false).branch(after);
        let line = k.barrier(0, None);
        k.place(after);
        let first = k.less(thread, one);
        k.when(first, false).branch(end);
        k.store(Global, 4, &[thread], (Some(at), 0));
        k.place(end);
        let program = k.finish();
        let mut world = World::new(1, 64, &[4096]);
        world.launch.schedule = Schedule { fragments, ..Schedule::default() };
        let outcome = world.run(&program);
        assert_eq!(only(&outcome, Kind::DivergentBarrier, line).count, 1);
    }
}

/// Lanes leave a loop with a barrier at different times, and return: all have met the condition of the loop.
#[test]
fn who_leaves_a_loop_of_barriers_and_returns_is_worth_a_note() {
    for number in 0..8 {
        let (mut k, _, thread, _) = start();
        let [one, zero] = [1, 0].map(|bits| k.bits(bits));
        let i = k.add(zero, zero);
        let head = k.label();
        k.place(head);
        let line = k.barrier(0, None);
        k.lanes(super::builder::add, i, &[i, one]);
        let p = k.less(i, thread);
        k.when(p, true).branch(head);
        let program = k.finish();
        let mut world = World::new(1, 40, &[4096]).schedule(number);
        let outcome = world.run(&program);
        only(&outcome, Kind::BarrierAfterExit, line);
        assert!(outcome.is_clean());
    }
}
