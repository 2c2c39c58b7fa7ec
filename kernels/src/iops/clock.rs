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

/// A strip of tiles of an operand, as its buffer sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supply {
    pub(super) strip: usize,
    /// Entries of all its tiles.
    pub(super) entries: u64,
    /// Most entries of a piece.
    pub(super) largest: u64,
    /// No tile is in pieces.
    pub(super) whole: bool,
}

/// An operand's buffer.
///
/// ```text
/// all of a strip fits    [ tile | tile | tile | .... ]           each stays where it came; when the last of the strip is
///                                                                multiplied, the others make room for the next strip's
/// it does not            [ tile | tile | passing | passing ]     one is multiplied while the next comes
/// ```
#[derive(Debug)]
struct Buffer {
    /// Whether its operand stays.
    stays: bool,
    capacity: u64,
    strip: Option<usize>,
    /// Entries of the strip that may stay.
    room: u64,
    /// Tiles of the strip that are there as a whole, and that have been read, ascending.
    held: Vec<usize>,
    seen: Vec<usize>,
    used: u64,
    last: Option<(usize, usize)>,
    /// Entries of the piece in use, and the part of it that is not among what stays.
    current: u64,
    passing: u64,
    /// Most entries of a piece, and of all that was there at once.
    half: u64,
    most: u64,
    /// Tiles read again although the operand stays.
    again: u64,
}

impl Buffer {
    fn new(stays: bool, capacity: u64) -> Buffer {
        Buffer {
            stays,
            capacity,
            strip: None,
            room: 0,
            held: Vec::new(),
            seen: Vec::new(),
            used: 0,
            last: None,
            current: 0,
            passing: 0,
            half: 0,
            most: 0,
            again: 0,
        }
    }

    /// The strip that the next tile of C needs. What stayed of another is dropped, but for the piece in use; what passes by
    /// comes again.
    fn begin(&mut self, supply: Supply) {
        self.last = None;
        if self.strip == Some(supply.strip) {
            return;
        }
        self.strip = Some(supply.strip);
        self.held.clear();
        self.seen.clear();
        self.used = 0;
        self.passing = self.current;
        // What cannot stay needs both halves of a double buffer to pass.
        let all = supply.whole && supply.entries <= self.capacity;
        self.room = match (self.stays, all) {
            (false, _) => 0,
            (true, true) => self.capacity,
            (true, false) => self.capacity.saturating_sub(2 * supply.largest),
        };
    }

    /// Entries and bytes to read: none if the tile stayed, or its piece is still there from the unit before.
    fn read(&mut self, want: Want) -> (u64, u64) {
        let same = self.last == Some((want.tile, want.piece));
        self.last = Some((want.tile, want.piece));
        if same {
            return (0, 0);
        }
        self.current = want.entries;
        if self.held.binary_search(&want.tile).is_ok() {
            self.passing = 0;
            return (0, 0);
        }
        self.half = self.half.max(want.entries);
        if self.stays && want.piece == 0 {
            match self.seen.binary_search(&want.tile) {
                Ok(_) => self.again += 1,
                Err(slot) => self.seen.insert(slot, want.tile),
            }
        }
        // A tile in pieces cannot stay as a whole. It comes while the piece before it is in use.
        let stays = want.pieces == 1 && self.used + want.entries <= self.room;
        self.most = self.most.max(self.used + self.passing + want.entries);
        self.passing = want.entries;
        if stays {
            self.passing = 0;
            self.used += want.entries;
            let slot = self.held.partition_point(|&held| held < want.tile);
            self.held.insert(slot, want.tile);
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
            counters: Counters { elements: machine.elements(), ..Counters::default() },
        }
    }

    /// Cycles that DRAM needs for so many bytes.
    pub(super) fn transfer(&self, bytes: u64) -> u64 {
        self.machine.transfer(bytes)
    }

    /// A tile of C, by its strips, that counted this much of its own.
    pub(super) fn begin(&mut self, (a, b): (Supply, Supply), own: &Counters) {
        self.a.begin(a);
        self.b.begin(b);
        let c = &mut self.counters;
        c.products += own.products;
        c.multiplies += own.multiplies;
        c.adds += own.adds;
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
        let encoded = if self.encodes_b { entries_a.max(entries_b) } else { entries_a };
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
        c.dram.c_written += unmade;
        c.high.join(&HighWater {
            tile_a: self.a.half,
            tile_b: self.b.half,
            buffer_a: self.a.most,
            buffer_b: self.b.most,
            ..HighWater::default()
        });
        c.overflows.buffer_a += self.a.again;
        c.overflows.buffer_b += self.b.again;
        c.cycles.total = self.pipeline.total().max(self.machine.transfer(c.dram.total()));
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supply(strip: usize, entries: u64, largest: u64) -> Supply {
        Supply { strip, entries, largest, whole: true }
    }

    fn want(tile: usize, entries: u64) -> Want {
        Want { tile, piece: 0, pieces: 1, entries, bytes: 10 * entries }
    }

    /// Three tiles of 4 in a buffer of 12 stay; the next strip's first comes while the last of them is in use.
    #[test]
    fn a_strip_that_fits_stays() {
        let mut buffer = Buffer::new(true, 12);
        for pass in 0..2 {
            buffer.begin(supply(0, 12, 4));
            for tile in 0..3 {
                let bytes = if pass == 0 { (4, 40) } else { (0, 0) };
                assert_eq!(buffer.read(want(tile, 4)), bytes);
            }
        }
        assert_eq!((buffer.most, buffer.half, buffer.again), (12, 4, 0));
        buffer.begin(supply(1, 6, 6));
        assert_eq!(buffer.read(want(0, 6)), (6, 60));
        assert_eq!((buffer.used, buffer.most), (6, 12));
    }

    /// Five tiles of 4 in a buffer of 16: two halves of 4 are for what passes, so two tiles stay and three come again. All
    /// that is there at once is 16. (Four used to stay, and a fifth to pass through room that was not there.)
    #[test]
    fn what_stays_leaves_room_for_what_passes() {
        let mut buffer = Buffer::new(true, 16);
        let mut read = 0;
        for _ in 0..2 {
            buffer.begin(supply(0, 20, 4));
            read += (0..5).map(|tile| buffer.read(want(tile, 4)).0).sum::<u64>();
        }
        assert_eq!((read, buffer.held.len(), buffer.again), (20 + 12, 2, 3));
        assert_eq!(buffer.most, 16);
    }

    /// The other operand's tile is in two pieces, so each piece of this one is used twice running; in the next tile of C it comes
    /// again.
    #[test]
    fn a_piece_in_use_is_not_read_again() {
        let piece = |piece| Want { piece, pieces: 2, ..want(0, 4) };
        let mut buffer = Buffer::new(false, 16);
        buffer.begin(supply(0, 8, 4));
        let read = [0, 0, 1, 1].map(|at| buffer.read(piece(at)).0);
        assert_eq!((read, buffer.most), ([4, 0, 4, 0], 8));
        buffer.begin(supply(0, 8, 4));
        assert_eq!(buffer.read(piece(1)), (4, 40));
    }

    /// Nothing stays: a piece in use and one that comes.
    #[test]
    fn what_passes_takes_two_halves() {
        let mut buffer = Buffer::new(false, 16);
        buffer.begin(supply(0, 15, 7));
        let read: u64 =
            [5, 7, 3].iter().zip(0..).map(|(&entries, tile)| buffer.read(want(tile, entries)).0).sum();
        assert_eq!((read, buffer.most, buffer.half, buffer.again), (15, 12, 7, 0));
    }
}
