//! Registers of one warp (or warpgroup) to matrices.

use super::Sample;
use crate::arithmetic::{Engine, Instruction};
use crate::format::SparseMma;
use crate::model::ModelError;
use crate::model::tensor_core::fragment::Fragment;
use crate::model::tensor_core::sparse::selected_rows;
use crate::scalar::Precision;

/// How many words a warp has in each section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    instruction: Instruction,
    fragment: Fragment,
    sparse: Option<SparseMma>,
}

/// The matrices of one warp, as bits, row-major.
pub(super) struct WarpOperands {
    shape: Instruction,
    a: Vec<u64>,
    b: Vec<u64>,
    c: Vec<u64>,
    d: Vec<u64>,
    /// For each row of A, the rows of B that its values meet; the same 0, 1, 2 .. for dense ones.
    selected: Vec<Vec<usize>>,
}

impl Layout {
    pub(super) fn of(instruction: Instruction) -> Result<Layout, ModelError> {
        let sparse = match instruction.engine {
            Engine::MmaSparse => sparse_shape(&instruction),
            _ => None,
        };
        if instruction.engine == Engine::Wgmma && instruction.n != 8 {
            // How wider tiles of B lie in shared memory is the recorder's choice.
            return Err(ModelError::NoFragment { instruction });
        }
        Ok(Layout { instruction, fragment: Fragment::of(instruction)?, sparse })
    }

    /// Words of one warp in the sections A, B, C, D, metadata.
    fn sections(&self) -> [usize; 5] {
        let lanes = self.fragment.lanes();
        let words = |elements: usize, precision: Precision| elements * lanes * precision.bytes() / 4;
        let Instruction { n, k, input, acc, .. } = self.instruction;
        let b = match self.instruction.engine {
            Engine::Wgmma => usize::from(n) * usize::from(k) * input.bytes() / 4,
            _ => words(self.fragment.b_len(), input),
        };
        let c = words(self.fragment.c_len(), acc);
        let metadata = if self.sparse.is_some() { lanes } else { 0 };
        [words(self.fragment.a_len(), input), b, c, c, metadata]
    }

    /// Selectors that the instruction knows; 1 for dense ones.
    pub(super) fn selectors(&self) -> usize {
        self.sparse.map_or(1, SparseMma::selectors)
    }

    /// Words of one warp.
    pub(super) fn words(&self) -> usize {
        self.sections().iter().sum()
    }

    /// The matrices of warp `group` of `groups`.
    pub(super) fn operands(
        &self,
        words: &[u32],
        groups: usize,
        group: usize,
        selector: usize,
    ) -> Result<WarpOperands, ModelError> {
        let sections = self.sections();
        let section = |index: usize| {
            let before: usize = sections[..index].iter().sum();
            &words[before * groups + group * sections[index]..][..sections[index]]
        };
        let Instruction { m, n, k, input, acc, .. } = self.instruction;
        let (m, n, k) = (usize::from(m), usize::from(n), usize::from(k));
        let (lanes, kept) = (self.fragment.lanes(), self.instruction.products());
        let fragment = &self.fragment;
        let gather =
            |index: usize, (rows, cols), precision, place: &dyn Fn(usize, usize) -> (usize, usize)| {
                let mut matrix = vec![0; rows * cols];
                for (lane, i) in (0..lanes).flat_map(|lane| (0..rows * cols / lanes).map(move |i| (lane, i)))
                {
                    let (row, col) = place(lane, i);
                    matrix[row * cols + col] = element(section(index), lanes, lane, i, precision);
                }
                matrix
            };
        let b = match self.instruction.engine {
            Engine::Wgmma => shared(section(1), (k, n), input),
            _ => gather(1, (k, n), input, &|lane, i| fragment.b(lane, i)),
        };
        Ok(WarpOperands {
            shape: self.instruction,
            a: gather(0, (m, kept), input, &|lane, i| fragment.a(lane, i)),
            b,
            c: gather(2, (m, n), acc, &|lane, i| fragment.c(lane, i)),
            d: gather(3, (m, n), acc, &|lane, i| fragment.c(lane, i)),
            selected: match self.sparse {
                Some(mma) => selections(mma, section(4), selector)?,
                None => vec![(0..k).collect(); m],
            },
        })
    }
}

impl WarpOperands {
    /// Every element of D with what it is made from.
    pub(super) fn samples(&self, group: usize) -> impl Iterator<Item = Sample> + '_ {
        let (m, n) = (usize::from(self.shape.m), usize::from(self.shape.n));
        let kept = self.shape.products();
        (0..m * n).map(move |at| {
            let (row, col) = (at / n, at % n);
            Sample {
                group,
                row,
                col,
                a: self.a[row * kept..][..kept].to_vec(),
                b: self.selected[row].iter().map(|k| self.b[k * n + col]).collect(),
                c: self.c[at],
                d: self.d[at],
            }
        })
    }
}

/// The shape in the vocabulary of the 2:4 format.
fn sparse_shape(instruction: &Instruction) -> Option<SparseMma> {
    let shapes = [true, false].map(|short| SparseMma::of(instruction.input, short));
    let fits = |mma: &SparseMma| mma.k() == usize::from(instruction.k);
    shapes.into_iter().flatten().find(fits)
}

/// Element `i` of a lane: parts of a register, a register, or two.
fn element(section: &[u32], lanes: usize, lane: usize, i: usize, precision: Precision) -> u64 {
    let word = |register: usize| u64::from(section[register * lanes + lane]);
    match precision.bytes() {
        8 => word(2 * i) | word(2 * i + 1) << 32,
        bytes => {
            let (per_word, bits) = (4 / bytes, 8 * bytes);
            word(i / per_word) >> (i % per_word * bits) & (u64::MAX >> (64 - bits))
        }
    }
}

/// B of a warpgroup, from its bytes in shared memory: K-major without swizzle, core matrices of 8 columns x 16 bytes, one after
/// another along k.
fn shared(section: &[u32], (k, n): (usize, usize), precision: Precision) -> Vec<u64> {
    let width = precision.bytes();
    let byte_of = |k: usize, n: usize| k * width / 16 * 128 + n * 16 + k * width % 16;
    let bits = |byte: usize| u64::from(section[byte / 4] >> (byte % 4 * 8)) & (u64::MAX >> (64 - 8 * width));
    (0..k * n).map(|at| bits(byte_of(at / n, at % n))).collect()
}

/// The rows of B that each row of A meets.
fn selections(mma: SparseMma, metadata: &[u32], selector: usize) -> Result<Vec<Vec<usize>>, ModelError> {
    (0..16)
        .map(|row| {
            let nibbles: Vec<u32> = (0..mma.k() / mma.chunk())
                .map(|chunk| {
                    let (word, bit) = mma.nibble_of_chunk(row, chunk);
                    metadata[mma.lane_of_word(word, selector)] >> bit & 15
                })
                .collect();
            selected_rows(mma, &nibbles)
        })
        .collect()
}
