//! What is counted, by name: one table for what is printed, for JSON and for the documentation.

use sparse_ptx::machine::Counters;

/// A counter.
#[derive(Debug)]
pub struct Counter {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its line in what is printed; part of the one above where it is indented.
    pub label: &'static str,
    /// What it counts, in a sentence.
    pub about: &'static str,
    /// Its value.
    pub of: fn(&Counters) -> u64,
    /// The key of the counter that it is also printed a piece of.
    pub each: Option<&'static str>,
}

/// All, in the order in which they are printed.
#[rustfmt::skip]
pub const COUNTERS: &[Counter] = &[
    one("blocks", "blocks", "Blocks that ran.", |c| c.blocks),
    one("instructions", "warp instructions", "Instructions, one for all lanes of a warp that run it together: a warp whose lanes have parted runs it once a part.", |c| c.instructions),
    one("lanes", "  arithmetic and moves", "Those of registers alone.", |c| c.lanes),
    one("loads", "  ld", "`ld`, of all memories, parameters too.", |c| c.loads),
    one("stores", "  st", "`st`, of all memories.", |c| c.stores),
    one("copies", "  cp.async, commit, wait", "`cp.async`, `cp.async.commit_group`, `cp.async.wait_group` and `wait_all`.", |c| c.copies),
    one("atomics", "  atom, red, fence", "`atom`, `red`, `fence` and `membar`.", |c| c.atomics),
    one("matrix_loads", "  ldmatrix", "`ldmatrix`.", |c| c.matrix_loads),
    one("mma", "  mma", "`mma.sync`, `mma.sp`; `wgmma` with its fences, commits and waits.", |c| c.mma),
    one("collectives", "  shfl, vote, redux", "What lanes of a warp tell each other.", |c| c.collectives),
    one("barriers", "  barriers", "`bar.sync` and `bar.warp.sync`.", |c| c.barriers),
    one("branches", "  branches", "`bra`, taken or not.", |c| c.branches),
    one("exits", "  exits", "`ret` and `exit`, also where the guard lets no lane exit.", |c| c.exits),
    one("guarded_off", "lanes off by guard", "Lanes that an instruction left out because its guard was false for them, summed over instructions (branches too).", |c| c.guarded_off),
    one("divergences", "divergent branches", "Branches that some lanes of those together took and others not.", |c| c.divergences),
    one("barrier_waits", "waits at barriers", "Times that a warp, or a part of it, came to a `bar.sync` and waited.", |c| c.barrier_waits),
    one("global_requests", "global requests", "Accesses of a warp to global memory, one an instruction and buffer; of `cp.async` the reads.", |c| c.global_requests),
    Counter { key: "global_sectors", label: "sectors of 32 bytes", about: "Aligned pieces of 32 bytes that these requests touch, each once a request. 32 lanes that read 4 bytes side by side touch 4.", of: |c| c.global_sectors, each: Some("global_requests") },
    one("shared_requests", "shared requests", "Accesses of a warp to shared memory, one an instruction; of `cp.async` the writes.", |c| c.shared_requests),
    Counter { key: "bank_conflicts", label: "bank conflicts", about: "Passes beyond those of a request without conflicts: a bank gives one word of 4 bytes a pass. 8 bytes a lane go by half warps, 16 by quarters.", of: |c| c.bank_conflicts, each: Some("shared_requests") },
];

const fn one(
    key: &'static str,
    label: &'static str,
    about: &'static str,
    of: fn(&Counters) -> u64,
) -> Counter {
    Counter { key, label, about, of, each: None }
}
