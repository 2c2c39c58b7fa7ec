//! The lane maps of `tiles_ring.cuh` and `libra_sddmm.cu`, followed on the CPU: fragments as the kernels fill them, multiplied
//! as the PTX ISA lays them out, must be the products that are wanted.
//!
//! ```text
//! lane = 4g + t     A (16 x k): row g, row g + 8     B (k x 8): column g     C (16 x 8): rows g, g + 8, columns 2t, 2t + 1
//! ```
//!
//! Source: PTX ISA 9.1, section 9.7.14.5, figures of m16n8k8 (.f16, .tf32) and m16n8k16.

/// What a lane holds for an instruction, in words: `a` two rows by two places along k, `b` two places, `c` the result.
type A = [usize; 4];

/// Places along k of the words of a fragment: tf32 has one number in a word (k = 8), f16 two; m16n8k8 of f16 has one word
/// a row, the others two.
#[derive(Clone, Copy, Debug)]
enum Fragment {
    Tf32,
    F16K8,
    F16K16,
}

impl Fragment {
    /// (row, k) of number `part` of word `word` of A, in lane (g, t).
    fn a(self, g: usize, t: usize, word: usize, part: usize) -> (usize, usize) {
        let (row, half) = (g + 8 * (word % 2), word / 2);
        match self {
            Fragment::Tf32 => (row, t + 4 * half),
            Fragment::F16K8 | Fragment::F16K16 => (row, 2 * t + part + 8 * half),
        }
    }

    /// k of number `part` of word `word` of B, whose column is g.
    fn b(self, t: usize, word: usize, part: usize) -> usize {
        match self {
            Fragment::Tf32 => t + 4 * word,
            Fragment::F16K8 | Fragment::F16K16 => 2 * t + part + 8 * word,
        }
    }

    /// Words of B; A has twice as many.
    fn words(self) -> usize {
        if matches!(self, Fragment::F16K8) { 1 } else { 2 }
    }

    fn parts(self) -> usize {
        if matches!(self, Fragment::Tf32) { 1 } else { 2 }
    }

    fn k(self) -> usize {
        4 * self.words() * self.parts()
    }

    /// The instruction on numbers given by lane, word and part.
    fn multiply(
        self,
        a: impl Fn(usize, usize, usize) -> u64,
        b: impl Fn(usize, usize, usize) -> u64,
    ) -> Vec<[u64; 4]> {
        let (mut left, mut right) = (vec![vec![0; self.k()]; 16], vec![vec![0; 8]; self.k()]);
        for (lane, part) in (0..32).flat_map(|lane| (0..self.parts()).map(move |part| (lane, part))) {
            let (g, t) = (lane / 4, lane % 4);
            for word in 0..2 * self.words() {
                let (row, k) = self.a(g, t, word, part);
                left[row][k] = a(lane, word, part);
            }
            for word in 0..self.words() {
                right[self.b(t, word, part)][g] = b(lane, word, part);
            }
        }
        let element = |row: usize, col: usize| (0..self.k()).map(|k| left[row][k] * right[k][col]).sum();
        let of_lane = |lane: usize| -> [u64; 4] {
            let (g, t) = (lane / 4, lane % 4);
            std::array::from_fn(|i| element(g + 8 * (i / 2), 2 * t + i % 2))
        };
        (0..32).map(of_lane).collect()
    }
}

/// Small numbers that tell positions apart.
fn number(i: usize, j: usize) -> u64 {
    ((i * 37 + j * 101 + i * j * 13) % 251) as u64
}

/// The rows of B that a tile names, in a warp's shared memory: `cw` columns of each for the eight lanes of a slot.
#[derive(Clone, Copy, Debug)]
struct Rows {
    fragment: Fragment,
    cw: usize,
}

impl Rows {
    const ALL: [Rows; 4] = [
        Rows { fragment: Fragment::Tf32, cw: 4 },
        Rows { fragment: Fragment::Tf32, cw: 8 },
        Rows { fragment: Fragment::F16K8, cw: 4 },
        Rows { fragment: Fragment::F16K8, cw: 8 },
    ];

    /// Bytes of a number.
    fn size(self) -> usize {
        4 / self.fragment.parts()
    }

    /// 16 bytes of a row.
    fn chunks(self) -> usize {
        8 * self.cw * self.size() / 16
    }

    /// `Ring::at`, in bytes.
    fn at(self, slot: usize, chunk: usize) -> usize {
        16 * ((slot * self.chunks() + chunk) ^ (slot & 6))
    }

    /// `place`: the column that is m = g of instruction j; m = g + 8 is the one after it.
    fn place(self, g: usize, j: usize) -> usize {
        match self.fragment {
            Fragment::Tf32 => 16 * j + 2 * g,
            _ => self.cw * g + 2 * j,
        }
    }

    /// Slot and column of what the lanes' copies leave at each number of a stage: see `Tiles::rows` in the source.
    fn copied(self) -> Vec<Option<(usize, usize)>> {
        let (chunks, each) = (self.chunks(), 16 / self.size());
        let slots = chunks / 4;
        let mut stage = vec![None; 64 * self.cw];
        for (lane, i) in (0..32).flat_map(|lane| (0..slots).map(move |i| (lane, i))) {
            let (chunk, first) = (lane % chunks, slots * (lane / chunks));
            let to = (self.at(first, chunk) ^ ((i & 2) * 16)) + i * 16 * chunks;
            for number in 0..each {
                let place: &mut Option<_> = &mut stage[to / self.size() + number];
                assert_eq!(place.replace((first + i, chunk * each + number)), None, "written twice");
            }
        }
        stage
    }

    /// What each of the lane's loads reads, in bytes: the first one and how many, of slot 2t + `odd`.
    fn loads(self, lane: usize, odd: usize) -> Vec<(usize, usize)> {
        let (g, t) = (lane / 4, lane % 4);
        let byte = self.size() * self.place(g, 0);
        let even = self.at(2 * t, byte / 16) + byte % 16;
        // Where two rows share 128 bytes, the second is the other half of them.
        let from = if self.chunks() == 4 { even ^ (64 * odd) } else { even + odd * 16 * self.chunks() };
        match self.fragment {
            Fragment::Tf32 => (0..self.cw / 2).map(|j| ((from ^ ((j & 1) * 64)) + j / 2 * 128, 8)).collect(),
            _ => vec![(from, 2 * self.cw)],
        }
    }
}

#[test]
fn a_tile_times_columns_of_b_lands_where_the_kernel_stores_it() {
    for rows in Rows::ALL {
        let Rows { fragment, cw } = rows;
        let tile = |row: usize, slot: usize| number(row, slot + 50) % 3;
        let stage = rows.copied();
        // Number i of what the lane has read of slot 2t + odd.
        let read = |lane: usize, odd: usize, i: usize| {
            let numbers = rows.loads(lane, odd).into_iter().flat_map(|(at, bytes)| {
                let first = at / rows.size();
                first..first + bytes / rows.size()
            });
            let (slot, col) = numbers.clone().nth(i).and_then(|at| stage[at]).expect("copied");
            number(slot, col)
        };
        let mut found = vec![vec![None; 8 * cw]; 8];
        for j in 0..cw / 2 {
            let c = fragment.multiply(
                |lane, word, part| match fragment {
                    // a0 = x0, a1 = x1, a2 = y0, a3 = y1: x of slot 2t, y of slot 2t + 1.
                    Fragment::Tf32 => read(lane, word / 2, 2 * j + word % 2),
                    // a0 = (x[2j], y[2j]), a1 = (x[2j + 1], y[2j + 1]).
                    _ => read(lane, part, 2 * j + word),
                },
                |lane, word, part| tile(lane / 4, 2 * (lane % 4) + word.max(part)),
            );
            for (lane, sums) in c.iter().enumerate() {
                for (i, r) in (0..2).flat_map(|i| (0..2).map(move |r| (i, r))) {
                    let place: &mut Option<u64> = &mut found[2 * (lane % 4) + r][rows.place(lane / 4, j) + i];
                    assert_eq!(place.replace(sums[2 * i + r]), None, "stored twice");
                }
            }
        }
        for (row, col) in (0..8).flat_map(|row| (0..8 * cw).map(move |col| (row, col))) {
            let wanted = (0..8).map(|slot| tile(row, slot) * number(slot, col)).sum();
            assert_eq!(found[row][col], Some(wanted), "{rows:?} ({row}, {col})");
        }
    }
}

#[test]
fn lanes_that_shared_memory_serves_together_read_different_banks() {
    for rows in Rows::ALL {
        for (odd, load) in (0..2).flat_map(|odd| (0..rows.loads(0, 0).len()).map(move |load| (odd, load))) {
            // 128 bytes at a time: 8 lanes of 16 bytes, 16 of 8.
            let together = 128 / rows.loads(0, 0)[load].1;
            for first in (0..32).step_by(together) {
                let mut banks: Vec<usize> = (first..first + together)
                    .flat_map(|lane| {
                        let (at, bytes) = rows.loads(lane, odd)[load];
                        (at..at + bytes).step_by(4).map(|at| at / 4 % 32)
                    })
                    .collect();
                banks.sort_unstable();
                assert_eq!(banks, (0..32).collect::<Vec<usize>>(), "{rows:?}, lanes from {first} on");
            }
        }
    }
}

#[test]
fn a_lane_decodes_its_two_bits_by_counting_those_below() {
    for seed in 0..200u64 {
        let bitmap = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(seed as u32) & !(seed << 7);
        let (low, high) = (bitmap as u32, (bitmap >> 32) as u32);
        for lane in 0..32u32 {
            let (shift, upper) = ((2 * lane) & 31, lane >= 16);
            let below = (1 << shift) - 1;
            let before = (low & if upper { u32::MAX } else { below }).count_ones()
                + (high & if upper { below } else { 0 }).count_ones();
            let here = if upper { high } else { low } >> shift & 3;
            let (g, t) = (lane / 4, lane % 4);
            for (slot, at) in [(0, before), (1, before + (here & 1))] {
                let bit = 8 * g + 2 * t + slot;
                assert_eq!(here >> slot & 1, (bitmap >> bit & 1) as u32);
                assert_eq!(at, (bitmap & ((1 << bit) - 1)).count_ones());
            }
        }
    }
}

/// What lane t holds of sixteen words after the exchange: two for instruction 0, two for instruction 1.
fn exchanged(t: usize) -> A {
    let own: A = std::array::from_fn(|i| 4 * t + i);
    let other: A = std::array::from_fn(|i| 4 * (t ^ 2) + i);
    // A lane sends its upper words if t < 2, else its lower ones.
    if t < 2 { [own[0], own[1], other[0], other[1]] } else { [other[2], other[3], own[2], own[3]] }
}

#[test]
fn a_block_of_outputs_is_a_chain_in_ascending_k() {
    for fragment in [Fragment::Tf32, Fragment::F16K16] {
        let parts = fragment.parts();
        for j in 0..2 {
            let along = |t: usize, word: usize, part: usize| exchanged(t)[2 * j + word] * parts + part;
            // Instruction j takes one half of what was loaded, all of it.
            let mut taken: Vec<usize> = (0..4)
                .flat_map(|t| (0..2).flat_map(move |word| (0..parts).map(move |part| (t, word, part))))
                .map(|(t, word, part)| along(t, word, part))
                .collect();
            taken.sort_unstable();
            assert_eq!(taken, (fragment.k() * j..fragment.k() * (j + 1)).collect::<Vec<usize>>());
            // A: rows of Y of columns g and g + 8 of the block; B: row g of X.
            let (x, y) = (|row, k| number(row, k), |col, k| number(col + 20, k + 3));
            let c = fragment.multiply(
                |lane, word, part| y(lane / 4 + 8 * (word % 2), along(lane % 4, word / 2, part)),
                |lane, word, part| x(lane / 4, along(lane % 4, word, part)),
            );
            for (lane, sums) in c.iter().enumerate() {
                for (i, &sum) in sums.iter().enumerate() {
                    let (row, col) = (2 * (lane % 4) + i % 2, lane / 4 + 8 * (i / 2));
                    let wanted = taken.iter().map(|&k| x(row, k) * y(col, k)).sum::<u64>();
                    assert_eq!(sum, wanted, "{fragment:?} {j} ({row}, {col})");
                }
            }
        }
    }
}
