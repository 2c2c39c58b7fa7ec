//! Where the columns of a row lie, by class of problem. Appends exactly the asked number of distinct columns,
//! ascending.
//!
//! ```text
//! Structure     ..ddd.dddDddd..ddd......   runs of three (one node) around the own node, shared by its rows
//! Grid          .x......xDx......x......   the four neighbours on a grid, and the diagonal
//! Circuit       .h....xxDx.x......h..x..   near the diagonal, supply nets h, anywhere
//! Web           p....[xx.Dx.xx]...p.....   inside the host [..], and popular pages p
//! Chemistry     ..xx..xxxDxxx....xxxxx..   around the diagonal, and clusters that a stretch of rows shares
//! Optimization  ll......[xxxDxxxx]......   the own block, and the linking columns l in front
//! Economy       .x.....xxDx......x......x  near the diagonal, and the same place in other sectors
//! ```
//!
//! Symmetry is not reproduced. A row that fills more than half the columns is spread evenly in every class.

use super::table::Class;
use crate::source::random::{Random, mix};

/// Columns per node in the finite-element class.
const DOFS: u64 = 3;
/// Rows that share their clusters in the chemistry class.
const STRETCH: u64 = 512;
/// Length of a sector in the economic class.
const SECTOR: u64 = 500;
/// From here on a circuit's row is a supply net, spread evenly.
const NET: u64 = 256;

/// Places the columns of one row after another.
pub(super) struct Placement {
    class: Class,
    cols: u64,
    seed: u64,
}

impl Placement {
    pub(super) fn new(class: Class, cols: u64, seed: u64) -> Placement {
        Placement { class, cols, seed }
    }

    /// Appends the columns of `row`, `length` of them (at most `cols`).
    pub(super) fn place(&self, row: u64, length: u64, random: &mut Random, out: &mut Vec<u32>) {
        if length == 0 {
            return;
        }
        if 2 * length > self.cols || self.cols < 8 * DOFS {
            return random.stratified(0, self.cols, length, out);
        }
        match self.class {
            Class::Structure => self.place_nodes(row, length, out),
            Class::Grid => self.place_neighbours(row, length, random, out),
            Class::Circuit if length > NET => random.stratified(0, self.cols, length, out),
            _ => self.scatter(row, length, random, out),
        }
    }

    /// Runs of `DOFS` columns; the choice depends on the node alone, so that its rows share their columns.
    fn place_nodes(&self, row: u64, length: u64, out: &mut Vec<u32>) {
        let (nodes, runs) = (self.cols / DOFS, length.div_ceil(DOFS));
        let own = (row / DOFS).min(nodes - 1);
        let (low, high) = self.window(own, 3 * runs, nodes);
        let mut random = Random::new(self.seed ^ mix(own), "node");
        let mut chosen = Vec::with_capacity(runs as usize);
        // In proportion to the room on both sides, as far as both have it: the window has room for all of them.
        let (before, after) = (own - low, high - own - 1);
        let left = ((runs - 1) * before / (before + after).max(1)).max((runs - 1).saturating_sub(after));
        random.stratified(low, own, left, &mut chosen);
        chosen.push(own as u32);
        random.stratified(own + 1, high, runs - 1 - left, &mut chosen);
        let columns =
            chosen.iter().flat_map(|&node| (0..DOFS).map(move |dof| node * DOFS as u32 + dof as u32));
        out.extend(columns.take(length as usize));
    }

    /// The stencil's neighbours that exist, completed next to the diagonal on the rim.
    fn place_neighbours(&self, row: u64, length: u64, random: &mut Random, out: &mut Vec<u32>) {
        let side = self.cols.isqrt() as i64;
        let start = out.len();
        let inside = |offset: &i64| (0..self.cols as i64).contains(&(row as i64 + offset));
        let found =
            [0, -1, 1, -side, side].into_iter().filter(inside).map(|offset| (row as i64 + offset) as u32);
        out.extend(found.take(length as usize));
        self.complete(row, length, start, random, out, |row, random| self.near(row, 16, random));
    }

    /// Draws by class until the row is full.
    fn scatter(&self, row: u64, length: u64, random: &mut Random, out: &mut Vec<u32>) {
        let start = out.len();
        if self.class != Class::Web && length > 0 {
            out.push(row as u32);
        }
        self.complete(row, length, start, random, out, |row, random| match self.class {
            Class::Web => self.link(row, length, random),
            Class::Chemistry => self.orbital(row, length, random),
            Class::Optimization => self.linked_block(row, length, random),
            Class::Economy => self.sector(row, random),
            _ => self.net(row, length, random),
        });
    }

    /// Draws what is missing, sorts, drops repeats, until `length` columns follow `start`. After three rounds a
    /// draw may fall anywhere, so that a crowded neighbourhood cannot stall it.
    fn complete(
        &self,
        row: u64,
        length: u64,
        start: usize,
        random: &mut Random,
        out: &mut Vec<u32>,
        draw: impl Fn(u64, &mut Random) -> u64,
    ) {
        let end = start + length as usize;
        for round in 0.. {
            for _ in out.len()..end {
                out.push(if round < 3 { draw(row, random) } else { random.below(self.cols) } as u32);
            }
            out[start..].sort_unstable();
            let mut kept = start;
            for at in start..end {
                if at == start || out[at] != out[kept - 1] {
                    out[kept] = out[at];
                    kept += 1;
                }
            }
            out.truncate(kept);
            if kept == end {
                return;
            }
        }
    }

    /// `width` places around `centre`, shifted to lie inside `0..limit`.
    fn window(&self, centre: u64, width: u64, limit: u64) -> (u64, u64) {
        let low = centre.saturating_sub(width / 2).min(limit.saturating_sub(width));
        (low, (low + width).min(limit))
    }

    fn near(&self, row: u64, width: u64, random: &mut Random) -> u64 {
        let (low, high) = self.window(row, width, self.cols);
        low + random.below(high - low)
    }

    /// A popular column: small ranks are likelier (the cube of a uniform number), ranks lie anywhere.
    fn popular(&self, random: &mut Random) -> u64 {
        let u = random.below(1 << 21);
        let rank = (u128::from(u * u * u) * u128::from(self.cols)) >> 63;
        mix(rank as u64 ^ self.seed) % self.cols
    }

    fn net(&self, row: u64, length: u64, random: &mut Random) -> u64 {
        match random.below(8) {
            0 => mix(random.below(4) ^ self.seed) % self.cols,
            1 => random.below(self.cols),
            _ => self.near(row, 8 * length + 16, random),
        }
    }

    fn link(&self, row: u64, length: u64, random: &mut Random) -> u64 {
        if random.below(4) == 0 {
            return self.popular(random);
        }
        let host = (4 * length).max(256);
        self.near(row / host * host + host / 2, host, random)
    }

    fn orbital(&self, row: u64, length: u64, random: &mut Random) -> u64 {
        if random.below(2) == 0 {
            return self.near(row, 2 * length + 32, random);
        }
        let cluster = mix(self.seed ^ (row / STRETCH * 4 + random.below(4))) % self.cols;
        self.near(cluster, length / 2 + 64, random)
    }

    fn linked_block(&self, row: u64, length: u64, random: &mut Random) -> u64 {
        if random.below(8) == 0 {
            return random.below((self.cols / 64).max(1));
        }
        let block = (2 * length).max(512);
        self.near(row / block * block + block / 2, block, random)
    }

    fn sector(&self, row: u64, random: &mut Random) -> u64 {
        if random.below(2) == 0 {
            return self.near(row, 40, random);
        }
        let sectors = (self.cols / SECTOR).max(1);
        let jump = 1 + random.below(8) * random.below(sectors.div_ceil(8));
        self.near((row + jump * SECTOR) % self.cols, 4, random)
    }
}
