//! `shfl.sync`, `vote.sync`, `redux.sync`.

use super::builder::Kernel;
use super::world::{clean, errors, only, run_one};
use sparse_ptx::check::Kind;
use sparse_ptx::program::{Act, Reduction, ShuffleKind, Special, VoteKind};
use sparse_ptx::text::Space::Global;

/// The shuffle of PTX, written down once more: the lane that is read, and the predicate.
fn expected(kind: ShuffleKind, lane: i64, by: i64, clamp: i64, segment: i64) -> (u32, bool) {
    let max = (lane & segment) | (clamp & !segment & 31);
    let (j, within) = match kind {
        ShuffleKind::Up => (lane - by, lane - by >= max),
        ShuffleKind::Down => (lane + by, lane + by <= max),
        ShuffleKind::Butterfly => (lane ^ by, lane ^ by <= max),
        ShuffleKind::Index => {
            let j = (lane & segment) | (by & !segment & 31);
            (j, j <= max)
        }
    };
    (if within { j } else { lane } as u32, within)
}

#[test]
fn shuffles_read_the_lane_that_ptx_says() {
    for kind in [ShuffleKind::Up, ShuffleKind::Down, ShuffleKind::Butterfly, ShuffleKind::Index] {
        for segment in [0, 16, 24, 28] {
            for by in 0..32 {
                let clamp = if kind == ShuffleKind::Up { 0 } else { 31 };
                let mut k = Kernel::new();
                let (buffer, lane) = (k.param(), k.special(Special::Lane));
                let (d, within, _) = k.shuffle(kind, lane, by, clamp | segment << 8, u32::MAX);
                let (thousand, zero) = (k.bits(1000), k.bits(0));
                let sum = k.add(zero, d);
                k.when(within, true).lanes(super::builder::add, sum, &[sum, thousand]);
                let at = k.at(buffer, lane, 4);
                k.store(Global, 4, &[sum], (Some(at), 0));
                let (outcome, words) = run_one(k, 1, 32);
                clean(&outcome);
                for lane in 0..32 {
                    let (source, within) =
                        expected(kind, lane, i64::from(by), i64::from(clamp), i64::from(segment));
                    assert_eq!(
                        words[lane as usize],
                        source + if within { 1000 } else { 0 },
                        "{kind:?} {by} {segment}"
                    );
                }
            }
        }
    }
}

#[test]
fn diverged_lanes_meet_at_the_same_shuffle() {
    let mut k = Kernel::new();
    let (buffer, lane, limit, value) = (k.param(), k.special(Special::Lane), k.bits(7), k.narrow());
    let (one, two) = (k.bits(1), k.bits(2));
    let meet = k.label();
    let p = k.less(lane, limit);
    k.lanes(super::builder::mul, value, &[lane, one]);
    k.when(p, true).branch(meet);
    k.lanes(super::builder::mul, value, &[lane, two]);
    k.place(meet);
    let (d, _, _) = k.shuffle(ShuffleKind::Butterfly, value, 8, 31, u32::MAX);
    let at = k.at(buffer, lane, 4);
    k.store(Global, 4, &[d], (Some(at), 0));
    let program = k.finish();
    for number in 0..8 {
        let mut world = super::world::World::new(1, 32, &[4096]).schedule(number);
        clean(&world.run(&program));
        let twice = |lane: u32| if lane < 7 { lane } else { 2 * lane };
        assert_eq!(world.words(0, 32), (0..32).map(|lane| twice(lane ^ 8)).collect::<Vec<u32>>());
    }
}

/// Half of the lanes shuffle, with members that are theirs, or everyone.
#[test]
fn members_that_never_come_are_found() {
    for members in [0x0000_ffff, u32::MAX] {
        let mut k = Kernel::new();
        let (_, lane, limit, end) = (k.param(), k.special(Special::Lane), k.bits(16), k.label());
        let p = k.less(lane, limit);
        k.when(p, false).branch(end);
        let (_, _, line) = k.shuffle(ShuffleKind::Down, lane, 1, 31, members);
        k.place(end);
        k.barrier(0, None);
        let (outcome, _) = run_one(k, 1, 32);
        if members == u32::MAX {
            let finding = only(&outcome, Kind::NotConverged, line);
            assert_eq!(finding.thread, [0; 3]);
            assert!(finding.explanation.contains("lanes 0x0000ffff wait here"), "{finding}");
            assert!(finding.explanation.contains("0xffff0000 wait at line"), "{finding}");
        } else {
            clean(&outcome);
        }
    }
}

#[test]
fn lanes_outside_their_members_are_found() {
    for members in [0x7fff_ffff, u32::MAX] {
        let mut k = Kernel::new();
        let (_, lane) = (k.param(), k.special(Special::Lane));
        let (_, _, line) = k.shuffle(ShuffleKind::Down, lane, 1, 31, members);
        let (outcome, _) = run_one(k, 1, 32);
        if members == u32::MAX {
            clean(&outcome);
        } else {
            assert_eq!(only(&outcome, Kind::InvalidMembers, line).thread, [31, 0, 0]);
        }
    }
}

#[test]
fn undefined_members_are_found() {
    for defined in [false, true] {
        let mut k = Kernel::new();
        let (_, lane, d) = (k.param(), k.special(Special::Lane), k.narrow());
        let zero = k.bits(0);
        let members = k.narrow();
        let full = k.bits(u32::MAX);
        if defined {
            k.lanes(super::builder::add, members, &[full, zero]);
        } else {
            // As large a number, but from a register that nobody wrote.
            let never = k.narrow();
            k.lanes(
                |r, o, m| {
                    super::builder::mul(r, o, m);
                    r.narrow[usize::from(o.d.index)] = [u32::MAX; 32];
                },
                members,
                &[never, zero],
            );
        }
        let line = k.act(Act::Shuffle {
            kind: ShuffleKind::Down,
            d,
            within: None,
            sources: [lane, zero, zero, members],
        });
        let (outcome, _) = run_one(k, 1, 32);
        if defined {
            clean(&outcome);
        } else {
            only(&outcome, Kind::UndefinedMembers, line);
        }
    }
}

#[test]
fn votes_count_lanes() {
    let mut k = Kernel::new();
    let (buffer, lane, limit, full) = (k.param(), k.special(Special::Lane), k.bits(5), k.bits(u32::MAX));
    let p = k.less(lane, limit);
    let ballots = [false, true].map(|negated| {
        let d = k.narrow();
        k.act(Act::Vote { kind: VoteKind::Ballot, d, predicate: p, negated, members: full });
        d
    });
    let (one, zero) = (k.bits(1), k.bits(0));
    let sum = k.add(zero, zero);
    for (kind, worth) in [(VoteKind::All, 1), (VoteKind::Any, 2), (VoteKind::Uniform, 4)] {
        let (q, worth) = (k.predicate(), k.bits(worth));
        k.act(Act::Vote { kind, d: q, predicate: p, negated: false, members: full });
        k.when(q, true).lanes(super::builder::add, sum, &[sum, worth]);
    }
    k.store(Global, 4, &[ballots[0], ballots[1]], (Some(buffer), 0));
    k.store(Global, 4, &[sum, one], (Some(buffer), 8));
    let (outcome, words) = run_one(k, 1, 32);
    assert!(errors(&outcome).is_empty());
    assert_eq!(words[..3], [31, !31, 2]);
}

#[test]
fn reductions_fold_lanes() {
    let values = || (0..32u32).map(|i| i.wrapping_mul(0x9000_0001));
    let signed = || values().map(|value| value as i32);
    let cases = [
        (Reduction::Add, values().fold(0, u32::wrapping_add)),
        (Reduction::Min { signed: false }, values().min().unwrap_or(0)),
        (Reduction::Max { signed: false }, values().max().unwrap_or(0)),
        (Reduction::Min { signed: true }, signed().min().unwrap_or(0) as u32),
        (Reduction::Max { signed: true }, signed().max().unwrap_or(0) as u32),
        (Reduction::And, values().fold(u32::MAX, |a, b| a & b)),
        (Reduction::Or, values().fold(0, |a, b| a | b)),
        (Reduction::Xor, values().fold(0, |a, b| a ^ b)),
    ];
    for (reduction, expected) in cases {
        let mut k = Kernel::new();
        let (buffer, lane) = (k.param(), k.special(Special::Lane));
        let (scale, full) = (k.bits(0x9000_0001), k.bits(u32::MAX));
        let (source, d) = (k.mul(lane, scale), k.narrow());
        k.act(Act::Reduce { reduction, d, source, members: full });
        let at = k.at(buffer, lane, 4);
        k.store(Global, 4, &[d], (Some(at), 0));
        let (outcome, words) = run_one(k, 1, 32);
        clean(&outcome);
        assert_eq!(words[..32], [expected; 32], "{reduction:?}");
    }
}
