//! Schedules with one bug each: what the papers print about who does what, against what the oracle pins.
//!
//! A contract asks for a product or an encoding, never for a schedule. Here each schedule is compared with the oracle's function, or
//! put before its check, over inputs that count up from small ones.
//!
//! ```text
//! slip 2  boundary * TP_csr * t_csr = (m - boundary) * TP_tile * t_tile        the faster unit gets fewer rows
//! slip 6  A_s counted as m_s * w_s                                              shared memory overflows
//! slip 7  load into the buffer in use; last inner step; thread grid             a tile is lost, or computed twice
//! ```

use sparse_schedules::loops::{LoopsUnit, row_boundary};
use sparse_schedules::nm::{Block, PipelineStep, Tiles, check_pipeline, k_s};
use sparse_schedules::rs_tile::{prologue, segments};

/// Inputs tried until the first difference, and that difference.
pub type Found = (u64, Option<String>);

/// One wrong schedule.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Name.
    pub name: &'static str,
    /// What its author did.
    pub story: &'static str,
    /// Compares it with the oracle's.
    pub hunt: fn() -> Found,
}

/// All of them.
pub static ALL: &[Schedule] = &[
    Schedule {
        name: "slip 2: boundary of equation (1)",
        story: "LOOPS, the printed balance gives the faster unit fewer rows",
        hunt: || {
            first(boundaries(), |&(rows, csr, tile)| {
                let pinned = row_boundary(rows, unit(csr), unit(tile)).ok()?;
                let printed = (rows as f64 * tile / (csr + tile)).round_ties_even() as usize;
                (printed != pinned)
                    .then(|| format!("{rows} rows, throughputs {csr} and {tile}: {printed}, pinned {pinned}"))
            })
        },
    },
    Schedule {
        name: "slip 6: k_s as printed",
        story: "NM-SpMM, listing 1 counts A_s as m_s x w_s",
        hunt: || {
            first(blockings(), |&(tiles, n, m)| {
                let printed = m * SM / (8 * (n * tiles.m_s + n * tiles.n_s)) / m * m;
                let block = Block {
                    m_s: tiles.m_s,
                    n_s: tiles.n_s,
                    a_columns: printed,
                    w_s: printed / m * n,
                    q_s: 0,
                };
                let pinned = k_s(&tiles, n, m, SM).ok()?;
                (!block.obeys_5(SM)).then(|| format!("{n}:{m}: k_s = {printed} does not fit, {pinned} does"))
            })
        },
    },
    Schedule {
        name: "slip 7: first tile overwritten",
        story: "NM-SpMM, listing 4 loads the second tile into the buffer of the first",
        hunt: || {
            first(1..64, |&tiles| {
                check_pipeline(tiles, &listing_4(tiles)).err().map(|e| format!("{tiles} tiles: {e}"))
            })
        },
    },
    Schedule {
        name: "slip 7: last inner step",
        story: "NM-SpMM, listing 4 ends on buffer 1 whatever w_s is",
        hunt: || {
            first(1..64, |&w_s| {
                check_pipeline(w_s, &listing_4_inner(w_s)).err().map(|e| format!("w_s = {w_s}: {e}"))
            })
        },
    },
    Schedule {
        name: "slip 7: thread grid of listing 2",
        story: "NM-SpMM, listing 2 has 4 x 8 threads where table I needs 8 x 4",
        hunt: || {
            first([Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE], |tiles| {
                let (down, across) = tiles.warps();
                let mut lanes = (0..down * across).flat_map(|warp| (0..32).map(move |lane| (warp, lane)));
                let other = lanes
                    .find(|&(warp, lane)| listing_2(tiles, warp, lane) != tiles.thread_origin(warp, lane))?;
                let (printed, pinned) =
                    (listing_2(tiles, other.0, other.1), tiles.thread_origin(other.0, other.1));
                Some(format!(
                    "{} x {}: warp {}, lane {} begins at {printed:?}, pinned {pinned:?}",
                    tiles.m_s, tiles.n_s, other.0, other.1
                ))
            })
        },
    },
    Schedule {
        name: "slip: second block prefetched unguarded",
        story: "RSH-SpMM, Algorithm 2 loads two blocks before it asks whether there are two",
        hunt: || {
            first(1..64u32, |&blocks| {
                segments(&[0, blocks, blocks + 1]).iter().find_map(|s| {
                    let (printed, pinned) = (s.start..s.start + 2, prologue(s.start, s.end));
                    (printed != pinned).then(|| {
                        format!("segment {}..{}: loads {printed:?}, pinned {pinned:?}", s.start, s.end)
                    })
                })
            })
        },
    },
];

/// Shared memory of an H100's multiprocessor, as table I is used.
const SM: u32 = 192 * 1024;

fn first<T>(inputs: impl IntoIterator<Item = T>, differs: impl Fn(&T) -> Option<String>) -> Found {
    let mut tried = 0;
    for input in inputs {
        tried += 1;
        if let Some(difference) = differs(&input) {
            return (tried, Some(difference));
        }
    }
    (tried, None)
}

fn unit(throughput: f64) -> LoopsUnit {
    LoopsUnit { throughput, threads: 1 }
}

fn boundaries() -> impl Iterator<Item = (usize, f64, f64)> {
    let ratios = [(1.0, 1.0), (1.0, 2.0), (3.0, 1.0)];
    (1..100usize).flat_map(move |rows| ratios.map(|(csr, tile)| (rows, csr, tile)))
}

fn blockings() -> impl Iterator<Item = (Tiles, u32, u32)> {
    let ratios = [(32, 32), (16, 32), (2, 4), (1, 8)];
    ratios.into_iter().flat_map(|(n, m)| [Tiles::SMALL, Tiles::MEDIUM, Tiles::LARGE].map(|t| (t, n, m)))
}

/// Lines 8 to 26, as printed.
fn listing_4(tiles: usize) -> Vec<PipelineStep> {
    let (mut cur, mut nex) = (1, 0);
    let mut steps = vec![PipelineStep::Load { tile: 0, buffer: cur }];
    for tile in 1..tiles {
        (cur, nex) = (cur ^ 1, nex ^ 1);
        steps.push(PipelineStep::Load { tile, buffer: nex });
        steps.push(PipelineStep::Compute { buffer: cur });
    }
    steps.push(PipelineStep::Compute { buffer: cur ^ 1 });
    steps
}

/// Lines 34 to 45, as printed.
fn listing_4_inner(w_s: usize) -> Vec<PipelineStep> {
    let mut steps = vec![PipelineStep::Load { tile: 0, buffer: 0 }];
    for p in 0..w_s - 1 {
        steps.push(PipelineStep::Load { tile: p + 1, buffer: (p + 1) % 2 });
        steps.push(PipelineStep::Compute { buffer: p % 2 });
    }
    steps.push(PipelineStep::Compute { buffer: 1 });
    steps
}

/// Lines 17 to 24, as printed.
fn listing_2(tiles: &Tiles, warp: u32, lane: u32) -> (u32, u32) {
    (warp / 2 * tiles.m_t * 4 + lane / 8 * tiles.m_t, warp % 2 * tiles.n_t * 8 + lane % 8 * tiles.n_t)
}
