//! What is read and when each stage is done, for units in the machine's order. Both modes go through it.

use super::counters::{Counters, HighWater, Join};
use super::machine::Machine;
use super::partition::Reuse;
use super::pipeline::Pipeline;

/// A piece of a tile that a unit needs in its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    /// Tile along k.
    pub(super) tile: usize,
    /// Piece of the tile.
    pub(super) piece: usize,
    /// Pieces of the tile.
    pub(super) pieces: usize,
    /// Entries of the piece.
    pub(super) entries: u64,
    /// Bytes of the piece in DRAM.
    pub(super) bytes: u64,
}

/// An operand's buffer.
#[derive(Debug)]
struct Buffer {
    /// Whether its operand stays.
    stays: bool,
    room: u64,
    strip: Option<usize>,
    /// Tiles of the strip that are there as a whole, and that have been read, ascending.
    held: Vec<usize>,
    seen: Vec<usize>,
    used: u64,
    last: Option<(usize, usize)>,
    /// Most entries of a half, and of what stayed.
    half: u64,
    most: u64,
    /// Tiles read again although the operand stays.
    again: u64,
}

impl Buffer {
    fn new(stays: bool, room: u64) -> Buffer {
        Buffer {
            stays,
            room,
            strip: None,
            held: Vec::new(),
            seen: Vec::new(),
            used: 0,
            last: None,
            half: 0,
            most: 0,
            again: 0,
        }
    }

    /// The strip that the next tile of C needs. What stayed of another is dropped; what passes by comes again.
    fn begin(&mut self, strip: usize) {
        self.last = None;
        if self.strip != Some(strip) {
            self.strip = Some(strip);
            self.held.clear();
            self.seen.clear();
            self.used = 0;
        }
    }

    /// Entries and bytes to read: none if the tile stayed, or its piece is still there from the unit before.
    fn read(&mut self, want: Want) -> (u64, u64) {
        let same = self.last == Some((want.tile, want.piece));
        self.last = Some((want.tile, want.piece));
        if same || self.held.binary_search(&want.tile).is_ok() {
            return (0, 0);
        }
        self.half = self.half.max(want.entries);
        if self.stays && want.piece == 0 {
            match self.seen.binary_search(&want.tile) {
                Ok(_) => self.again += 1,
                Err(slot) => self.seen.insert(slot, want.tile),
            }
            // A tile in pieces cannot stay as a whole.
            if want.pieces == 1 && self.used + want.entries <= self.room {
                self.used += want.entries;
                self.most = self.most.max(self.used);
                let slot = self.held.partition_point(|&held| held < want.tile);
                self.held.insert(slot, want.tile);
            }
        }
        (want.entries, want.bytes)
    }
}

/// The machine at work.
pub(super) struct Clock<'a> {
    machine: &'a Machine,
    a: Buffer,
    b: Buffer,
    /// B is encoded too.
    encodes_b: bool,
    pipeline: Pipeline,
    counters: Counters,
}

impl<'a> Clock<'a> {
    pub(super) fn new(machine: &'a Machine, reuse: Reuse, encodes_b: bool) -> Clock<'a> {
        Clock {
            machine,
            a: Buffer::new(reuse == Reuse::Raf, machine.buffer_a),
            b: Buffer::new(reuse == Reuse::Rbf, machine.buffer_b),
            encodes_b,
            pipeline: Pipeline::default(),
            counters: Counters {
                elements: machine.elements(),
                ..Counters::default()
            },
        }
    }

    /// Cycles that DRAM needs for so many bytes.
    pub(super) fn transfer(&self, bytes: u64) -> u64 {
        self.machine.transfer(bytes)
    }

    /// A tile of C, by its strips, that counted this much of its own.
    pub(super) fn begin(&mut self, strips: (usize, usize), own: &Counters) {
        self.a.begin(strips.0);
        self.b.begin(strips.1);
        let c = &mut self.counters;
        c.products += own.products;
        c.fetches += own.fetches;
        c.outputs += own.outputs;
        c.dram.psum_read += own.dram.psum_read;
        c.dram.psum_written += own.dram.psum_written;
        c.dram.c_written += own.dram.c_written;
        c.high.join(&own.high);
        c.overflows.join(&own.overflows);
    }

    /// A pair of pieces.
    pub(super) fn unit(&mut self, a: Want, b: Want, multiply: u64, stall: u64) {
        let ((entries_a, bytes_a), (entries_b, bytes_b)) = (self.a.read(a), self.b.read(b));
        let encoded = if self.encodes_b {
            entries_a.max(entries_b)
        } else {
            entries_a
        };
        let transfer = self.machine.transfer(bytes_a + bytes_b);
        let encode = self.machine.encoding(encoded).max(transfer);
        let c = &mut self.counters;
        c.dram.a_read += bytes_a;
        c.dram.b_read += bytes_b;
        c.cycles.encode += encode;
        c.cycles.multiply += multiply;
        c.cycles.stall += stall;
        self.pipeline.unit(encode, multiply + stall);
    }

    /// The tile of C is complete: mapped in so many cycles, while so many bytes of sums come and C goes.
    pub(super) fn output(&mut self, map: u64, bytes: u64) {
        let map = map.max(self.machine.transfer(bytes));
        self.counters.cycles.map += map;
        self.pipeline.output(map);
    }

    /// What was counted. `unmade` are bytes of C that no unit made. DRAM bounds the time from below.
    pub(super) fn finish(self, unmade: u64) -> Counters {
        let mut c = self.counters;
        c.multiplies = c.products;
        c.adds = c.products;
        c.dram.c_written += unmade;
        c.high.join(&HighWater {
            tile_a: self.a.half,
            tile_b: self.b.half,
            resident: self.a.most.max(self.b.most),
            ..HighWater::default()
        });
        c.overflows.buffer_a += self.a.again;
        c.overflows.buffer_b += self.b.again;
        c.cycles.total = self.pipeline.total().max(self.machine.transfer(c.dram.total()));
        c
    }
}
