//! The lane maps of `tiles_spmm.cu` and `libra_sddmm.cu`, followed on the CPU: fragments as the kernels fill them, multiplied
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

/// Columns of the dense operand in piece `q` of a row: see `column` in the source.
fn column(fragment: Fragment, cw: usize, q: usize, i: usize) -> usize {
    match fragment {
        Fragment::Tf32 => 32 * (i / 4) + 4 * q + i % 4,
        _ => cw * q + i,
    }
}

/// The lane that loaded what lane (g, t) multiplies, and the one that multiplied what lane (u, q) stores.
fn loaded_by(lane: usize) -> usize {
    8 * (lane % 4) + lane / 4
}

fn multiplied_by(lane: usize) -> usize {
    4 * (lane % 8) + lane / 8
}

#[test]
fn a_tile_times_columns_of_b_lands_where_the_kernel_stores_it() {
    for (fragment, cw) in
        [(Fragment::Tf32, 4), (Fragment::Tf32, 8), (Fragment::F16K8, 4), (Fragment::F16K8, 8)]
    {
        let tile = |row: usize, slot: usize| number(row, slot + 50) % 3;
        let mut found = vec![vec![None; 8 * cw]; 8];
        for j in 0..cw / 2 {
            // Lane (u, q) loads piece q of slots 2u and 2u + 1; lane (g, t) decodes row g of the tile.
            let loaded = |lane: usize, slot: usize, i: usize| {
                number(2 * (lane / 8) + slot, column(fragment, cw, lane % 8, i))
            };
            let gathered = |lane: usize, slot: usize, i: usize| loaded(loaded_by(lane), slot, i);
            let c = fragment.multiply(
                |lane, word, part| match fragment {
                    // a0 = x[2j], a1 = x[2j + 1], a2 = y[2j], a3 = y[2j + 1].
                    Fragment::Tf32 => gathered(lane, word / 2, 2 * j + word % 2),
                    // a0 = (x[2j], y[2j]), a1 = (x[2j + 1], y[2j + 1]).
                    _ => gathered(lane, part, 2 * j + word),
                },
                |lane, word, part| tile(lane / 4, 2 * (lane % 4) + word.max(part)),
            );
            for lane in 0..32 {
                let sums = c[multiplied_by(lane)];
                for (i, r) in (0..2).flat_map(|i| (0..2).map(move |r| (i, r))) {
                    let col = column(fragment, cw, lane % 8, 2 * j + i);
                    let place: &mut Option<u64> = &mut found[2 * (lane / 8) + r][col];
                    assert_eq!(place.replace(sums[2 * i + r]), None, "stored twice");
                }
            }
        }
        for (row, col) in (0..8).flat_map(|row| (0..8 * cw).map(move |col| (row, col))) {
            let wanted = (0..8).map(|slot| tile(row, slot) * number(slot, col)).sum();
            assert_eq!(found[row][col], Some(wanted), "{fragment:?} {cw} ({row}, {col})");
        }
    }
}

#[test]
fn eight_neighbouring_lanes_ask_for_one_row() {
    for lane in 0..32 {
        assert_eq!(multiplied_by(loaded_by(lane)), lane, "there and back");
    }
    // Which lanes they are is what the cache sees: a row is 32 words of tf32 or 64 numbers of f16 in eight pieces.
    for (fragment, cw) in [(Fragment::Tf32, 4), (Fragment::F16K8, 8)] {
        let columns = (0..8).flat_map(|q| (0..cw).map(move |i| column(fragment, cw, q, i)));
        assert!(columns.eq(0..8 * cw));
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
