//! Counts of a launch, against what can be counted by hand.

use super::builder::Kernel;
use super::world::{clean, run_one};
use sparse_ptx::program::Special;
use sparse_ptx::text::Space::{Global, Shared};

#[test]
fn sectors_of_a_request() {
    // Lanes `stride` bytes apart touch so many sectors of 32 bytes.
    for (stride, sectors) in [(4, 4), (8, 8), (32, 32), (64, 32), (0, 1), (16, 16)] {
        let mut k = Kernel::new();
        let (buffer, lane, d) = (k.param(), k.special(Special::Lane), k.narrow());
        let at = k.at(buffer, lane, stride);
        k.load(Global, 4, &[d], (Some(at), 0));
        let (outcome, _) = run_one(k, 1, 32);
        clean(&outcome);
        assert_eq!(
            (outcome.counters.global_requests, outcome.counters.global_sectors),
            (1, sectors),
            "{stride}"
        );
    }
}

#[test]
fn sectors_do_not_depend_on_the_order_of_lanes() {
    let mut k = Kernel::new();
    let (buffer, lane, d) = (k.param(), k.special(Special::Lane), k.narrow());
    // 5 i mod 32: all words of a line, in another order.
    let (five, mask) = (k.bits(5), k.bits(31));
    let i = k.mul(lane, five);
    let i = k.and(i, mask);
    let at = k.at(buffer, i, 4);
    k.load(Global, 4, &[d], (Some(at), 0));
    let (outcome, _) = run_one(k, 1, 32);
    assert_eq!(outcome.counters.global_sectors, 4);
}

#[test]
fn bank_conflicts_of_a_request() {
    for (stride, width, conflicts) in
        [(4, 4, 0), (8, 4, 1), (16, 4, 3), (128, 4, 31), (0, 4, 0), (8, 8, 0), (16, 8, 2), (136, 8, 0)]
    {
        let mut k = Kernel::new();
        k.shared(8192);
        let (lane, scale) = (k.special(Special::Lane), k.bits(stride));
        k.param();
        let at = k.mul(lane, scale);
        let d = if width == 4 { k.narrow() } else { k.wide() };
        k.load(Shared, width, &[d], (Some(at), 0));
        let (outcome, _) = run_one(k, 1, 32);
        clean(&outcome);
        assert_eq!(outcome.counters.bank_conflicts, conflicts, "{stride} {width}");
        assert_eq!(outcome.counters.shared_requests, 1);
    }
}

#[test]
fn instructions_by_class() {
    let mut k = Kernel::new();
    let (buffer, lane) = (k.param(), k.special(Special::Thread(0)));
    let (end, limit) = (k.label(), k.bits(20));
    let p = k.less(lane, limit);
    k.when(p, false).branch(end);
    let at = k.at(buffer, lane, 4);
    k.when(p, true).store(Global, 4, &[lane], (Some(at), 0));
    k.place(end);
    k.barrier(0, None);
    let (outcome, _) = run_one(k, 2, 64);
    let c = outcome.counters;
    // Two blocks store to the same words: the counts are the same, whatever is found.
    assert_eq!((c.blocks, c.loads, c.branches, c.barriers, c.exits), (2, 4, 4, 4, 4));
    // Of the second warp no lane comes to the store.
    assert_eq!((c.lanes, c.stores, c.divergences, c.global_requests), (4 + 2, 2, 2, 2));
    assert_eq!(c.instructions, c.loads + c.lanes + c.branches + c.stores + c.barriers + c.exits);
    // The branch lets 20 lanes pass in the first warp and none in the second.
    assert_eq!(c.guarded_off, 2 * 20);
}
