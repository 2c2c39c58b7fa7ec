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
    const ALL: [Rows; 5] = [
        Rows { fragment: Fragment::Tf32, cw: 4 },
        Rows { fragment: Fragment::Tf32, cw: 8 },
        Rows { fragment: Fragment::F16K8, cw: 4 },
        Rows { fragment: Fragment::F16K8, cw: 8 },
        Rows { fragment: Fragment::F16K8, cw: 16 },
    ];

    /// Bytes of a number.
    fn size(self) -> usize {
        4 / self.fragment.parts()
    }

    /// 16 bytes of a row.
    fn chunks(self) -> usize {
        8 * self.cw * self.size() / 16
    }

    /// `swizzle`.
    fn swizzle(self, slot: usize) -> usize {
        match (self.fragment, self.cw) {
            (Fragment::Tf32, _) => slot & 6,
            (_, 4) => slot / 2,
            _ => slot,
        }
    }

    /// `Ring::at`, in bytes.
    fn at(self, slot: usize, chunk: usize) -> usize {
        16 * ((slot * self.chunks() + chunk) ^ self.swizzle(slot))
    }

    /// `place`: the column that is m = g + 8h of instruction j.
    fn place(self, g: usize, j: usize, h: usize) -> usize {
        match self.fragment {
            Fragment::Tf32 => 16 * j + 2 * g + h,
            _ => 16 * j + 8 * h + g,
        }
    }

    /// Slot and column of what the lanes' copies leave at each number of a stage: see `Tiles::rows` in the source.
    fn copied(self) -> Vec<Option<(usize, usize)>> {
        let (chunks, each) = (self.chunks(), 16 / self.size());
        let slots = chunks / 4;
        let mut stage = vec![None; 64 * self.cw];
        for (lane, i) in (0..32).flat_map(|lane| (0..slots).map(move |i| (lane, i))) {
            let (chunk, first) = (lane % chunks, slots * (lane / chunks));
            let to = (self.at(first, chunk) ^ (16 * self.swizzle(i))) + i * 16 * chunks;
            for number in 0..each {
                let place: &mut Option<_> = &mut stage[to / self.size() + number];
                assert_eq!(place.replace((first + i, chunk * each + number)), None, "written twice");
            }
        }
        stage
    }

    /// Where the lane's addresses begin.
    fn from(self, lane: usize) -> usize {
        let (slot, byte) = match self.fragment {
            Fragment::Tf32 => (2 * (lane % 4), 8 * (lane / 4)),
            _ => (lane % 8, 16 * (lane / 8)),
        };
        self.at(slot, byte / 16) + byte % 16
    }

    /// The byte of number `part` of word `word` of operand A of instruction j.
    fn read(self, lane: usize, j: usize, word: usize, part: usize) -> usize {
        match self.fragment {
            // a0 = x0, a1 = x1, a2 = y0, a3 = y1: x of slot 2t, y of slot 2t + 1.
            Fragment::Tf32 => {
                let row = (self.from(lane) ^ ((j & 1) * 64)) + j / 2 * 128 + word / 2 * 32 * self.cw;
                row + 4 * (word % 2)
            }
            // ldmatrix.trans: lane 4g + t gets column g of rows 2t and 2t + 1 of each of the four matrices, the rows of matrix i
            // being where lanes 8i .. 8i + 7 say.
            _ => {
                let (g, t, matrix) = (lane / 4, lane % 4, 2 * (j % 2) + word);
                let row = self.from(8 * matrix + 2 * t + part);
                (row ^ (j / 2 % 2 * 64)) + j / 4 * 128 + 2 * g
            }
        }
    }

    /// The bytes that shared memory serves together, load by load: those of sixteen lanes of 8, or the eight rows of a matrix.
    fn loads(self) -> Vec<Vec<usize>> {
        let bytes = |at: usize, count: usize| at..at + count;
        match self.fragment {
            Fragment::Tf32 => {
                let half = |j: usize, word: usize, first: usize| -> Vec<usize> {
                    (first..first + 16).flat_map(|lane| bytes(self.read(lane, j, word, 0), 8)).collect()
                };
                let all = (0..self.cw / 2).flat_map(|j| [0, 2].map(|word| (j, word)));
                all.flat_map(|(j, word)| [0, 16].map(|first| half(j, word, first))).collect()
            }
            _ => {
                // Column 0 of a matrix begins its rows.
                let matrix = |j: usize, word: usize| -> Vec<usize> {
                    let rows = (0..4).flat_map(|t| [0, 1].map(|part| self.read(t, j, word, part)));
                    rows.flat_map(|at| bytes(at, 16)).collect()
                };
                (0..self.cw / 2).flat_map(|j| [0, 1].map(|word| matrix(j, word))).collect()
            }
        }
    }
}

#[test]
fn a_tile_times_columns_of_b_lands_where_the_kernel_stores_it() {
    for rows in Rows::ALL {
        let Rows { fragment, cw } = rows;
        let tile = |row: usize, slot: usize| number(row, slot + 50) % 3;
        let stage = rows.copied();
        let mut found = vec![vec![None; 8 * cw]; 8];
        for j in 0..cw / 2 {
            let c = fragment.multiply(
                |lane, word, part| {
                    let at = rows.read(lane, j, word, part) / rows.size();
                    let (slot, col) = stage[at].expect("copied");
                    number(slot, col)
                },
                |lane, word, part| tile(lane / 4, 2 * (lane % 4) + word.max(part)),
            );
            for (lane, sums) in c.iter().enumerate() {
                for (h, r) in (0..2).flat_map(|h| (0..2).map(move |r| (h, r))) {
                    let place: &mut Option<u64> = &mut found[2 * (lane % 4) + r][rows.place(lane / 4, j, h)];
                    assert_eq!(place.replace(sums[2 * h + r]), None, "stored twice");
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
fn what_shared_memory_serves_together_lies_in_different_banks() {
    for rows in Rows::ALL {
        for (load, together) in rows.loads().into_iter().enumerate() {
            let mut banks: Vec<usize> = together.into_iter().step_by(4).map(|at| at / 4 % 32).collect();
            banks.sort_unstable();
            assert_eq!(banks, (0..32).collect::<Vec<usize>>(), "{rows:?}, load {load}");
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
