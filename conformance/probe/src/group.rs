//! One group (warp or warpgroup): registers to matrices, and the outputs that a candidate expects.
//!
//! ```text
//! words --layout--> rows of A, columns of B (decoded once), C --candidate--> expected D, row-major
//! ```

use super::candidate::{Candidate, Order};
use super::layout::{Layout, chunk_columns, chunks};
use super::operands::Batch;
use sparse_kernels::cuda::probe::{Conversion, Probe, Variant};
use sparse_oracle::arithmetic::Instruction;
use sparse_oracle::model::tensor_core::{Datapath, Line};
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::{Precision, Tf32};

/// The four operand sections of one group.
pub(super) type Sections<'a> = [&'a [u32]; 4];

/// A candidate made ready for one probe; each thread clones its own.
#[derive(Clone, Debug)]
pub struct Judge {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Matrix(Box<Matrix>),
    Convert(Conversion),
}

#[derive(Clone, Debug)]
struct Matrix {
    instruction: Instruction,
    b: Precision,
    variant: Variant,
    path: Datapath,
    layout: Layout,
    /// Products in the order of the line.
    order: Vec<usize>,
    row: Line,
    columns: Vec<Line>,
    gathered: Line,
    places: Vec<usize>,
}

/// Operands of one output element, in ascending k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// Row of A: as compressed, negated where the instruction says so.
    pub(super) a: Vec<u64>,
    /// The values of B that it meets.
    pub(super) b: Vec<u64>,
    /// Accumulator; +0 where it is not read.
    pub(super) acc: u64,
}

impl Judge {
    /// Makes a candidate ready. `None` if it has no arithmetic for a matrix instruction.
    #[must_use]
    pub fn new(probe: &Probe, candidate: &Candidate) -> Option<Judge> {
        let (instruction, b, variant) = match *probe {
            Probe::Matrix { instruction, b, variant } => (instruction, b, variant),
            Probe::Convert(conversion) => {
                return Some(Judge { kind: Kind::Convert(conversion) });
            }
        };
        let path = candidate.path?;
        let mut order = path.order(instruction.products());
        let half = order.len() / 2;
        match candidate.order {
            Order::Own => {}
            Order::HalvesSwapped => order.rotate_left(half),
            Order::Descending => order.reverse(),
        }
        Some(Judge {
            kind: Kind::Matrix(Box::new(Matrix {
                instruction,
                b,
                variant,
                path,
                layout: Layout::of(probe, candidate.metadata)?,
                order,
                row: Line::new(instruction.input, &path),
                columns: vec![Line::new(b, &path); usize::from(instruction.n)],
                gathered: Line::new(b, &path),
                places: Vec::new(),
            })),
        })
    }

    /// Outputs of one group.
    #[must_use]
    pub fn outputs(&self) -> usize {
        match &self.kind {
            Kind::Matrix(m) => usize::from(m.instruction.m) * usize::from(m.instruction.n),
            Kind::Convert(_) => 32,
        }
    }

    /// The outputs that the candidate expects of a group of a batch, row-major.
    ///
    /// # Panics
    /// If the batch has no such group.
    #[must_use]
    pub fn outputs_of(&self, batch: &Batch, group: usize) -> Vec<u64> {
        let mut expected = Vec::new();
        self.clone().expect(sections(batch, group), &mut expected);
        expected
    }

    /// Type of an output.
    #[must_use]
    pub fn output(&self) -> Precision {
        match &self.kind {
            Kind::Matrix(m) => m.instruction.acc,
            Kind::Convert(_) => Precision::F32,
        }
    }

    /// The expected bits of D, row-major.
    pub(super) fn expect(&mut self, sections: Sections<'_>, expected: &mut Vec<u64>) {
        expected.clear();
        match &mut self.kind {
            Kind::Matrix(matrix) => matrix.expect(sections, expected),
            Kind::Convert(conversion) => {
                expected.extend(sections[0].iter().map(|&word| u64::from(convert(*conversion, word))));
            }
        }
    }

    /// The bits of D that came back, row-major.
    pub(super) fn read(&self, d: &[u32], got: &mut Vec<u64>) {
        got.clear();
        match &self.kind {
            Kind::Matrix(m) => {
                let bytes = m.instruction.acc.bytes();
                got.extend(m.layout.c.iter().map(|&place| m.layout.read(d, place, bytes)));
            }
            Kind::Convert(_) => got.extend(d.iter().map(|&word| u64::from(word))),
        }
    }

    /// Operands of output `at`.
    #[must_use]
    pub(super) fn element(&self, sections: Sections<'_>, at: usize) -> Element {
        match &self.kind {
            Kind::Matrix(m) => m.element(sections, at),
            Kind::Convert(_) => Element { a: vec![u64::from(sections[0][at])], b: Vec::new(), acc: 0 },
        }
    }
}

impl Matrix {
    fn expect(&mut self, sections: Sections<'_>, expected: &mut Vec<u64>) {
        let k = usize::from(self.instruction.k);
        let sparse = self.instruction.engine.is_sparse();
        let (flip_a, flip_b) = self.flips();
        let (layout, b) = (&self.layout, self.b);
        for (n, column) in self.columns.iter_mut().enumerate() {
            let places = &layout.b[n * k..][..k];
            let value = |i: usize| layout.read(sections[1], places[i], b.bytes()) ^ flip_b;
            // Sparse: in ascending k, the rows pick from it. Dense: in the order of the datapath.
            match sparse {
                true => column.load((0..k).map(value)),
                false => column.load(self.order.iter().map(|&i| value(i))),
            }
        }
        for row in 0..usize::from(self.instruction.m) {
            let products = self.order.len();
            let places = &self.layout.a[row * products..][..products];
            let bytes = self.instruction.input.bytes();
            let mut line = std::mem::replace(&mut self.row, Line::new(self.instruction.input, &self.path));
            line.load(self.order.iter().map(|&i| self.layout.read(sections[0], places[i], bytes) ^ flip_a));
            if sparse {
                self.select(sections[3], row);
            }
            for n in 0..self.columns.len() {
                let acc = self.acc(sections[2], row * self.columns.len() + n);
                expected.push(if sparse {
                    self.gathered.gather(&self.columns[n], &self.places);
                    self.path.element(acc, &line, &self.gathered)
                } else {
                    self.path.element(acc, &line, &self.columns[n])
                });
            }
            self.row = line;
        }
    }

    /// The rows of B that a row of A meets, in the order of the datapath.
    fn select(&mut self, metadata: &[u32], row: usize) {
        let ascending = self.selected(metadata, row);
        self.places.clear();
        self.places.extend(self.order.iter().map(|&i| ascending[i]));
    }

    fn selected(&self, metadata: &[u32], row: usize) -> Vec<usize> {
        let columns = chunk_columns(&self.instruction);
        let count = chunks(&self.instruction);
        let mut selected = Vec::with_capacity(self.order.len());
        for chunk in 0..count {
            let place = self.layout.meta[row * count + chunk];
            let nibble = (metadata[place.word as usize] >> place.shift & 15) as usize;
            if columns == 2 {
                // 0100 is the first of the pair, 1110 the second.
                selected.push(2 * chunk + nibble / 8);
            } else {
                selected.extend([nibble & 3, nibble >> 2].map(|index| 4 * chunk + index));
            }
        }
        selected
    }

    /// The sign bits of A and B that the instruction inverts.
    fn flips(&self) -> (u64, u64) {
        match self.variant {
            Variant::Negate { a, b } => (sign(self.instruction.input, a), sign(self.b, b)),
            _ => (0, 0),
        }
    }

    fn acc(&self, c: &[u32], at: usize) -> u64 {
        if self.variant == Variant::WithoutC {
            return 0;
        }
        self.layout.read(c, self.layout.c[at], self.instruction.acc.bytes())
    }

    fn element(&self, sections: Sections<'_>, at: usize) -> Element {
        let (n, k) = (self.columns.len(), usize::from(self.instruction.k));
        let (row, col) = (at / n, at % n);
        let products = self.order.len();
        let selected = if self.instruction.engine.is_sparse() {
            self.selected(sections[3], row)
        } else {
            (0..k).collect()
        };
        let (flip_a, flip_b) = self.flips();
        let a = |i: usize| {
            let place = self.layout.a[row * products + i];
            self.layout.read(sections[0], place, self.instruction.input.bytes()) ^ flip_a
        };
        let b = |i: usize| self.layout.read(sections[1], self.layout.b[col * k + i], self.b.bytes()) ^ flip_b;
        Element {
            a: (0..products).map(a).collect(),
            b: selected.into_iter().map(b).collect(),
            acc: self.acc(sections[2], at),
        }
    }
}

/// The sign bit, where operands are negated.
fn sign(precision: Precision, negated: bool) -> u64 {
    u64::from(negated) << (precision.spec().storage_bits - 1)
}

/// What a conversion returns. rna is, in machine code for `sm_90`, an addition of half a unit to finite words and a mask; its
/// saturating form takes one unit off whatever is not finite then (so that a NaN with the least payload becomes infinity).
fn convert(conversion: Conversion, word: u32) -> u32 {
    let rounded = |mode| encode(decode(u64::from(word), Precision::Tf32), Precision::Tf32, mode) as u32;
    let relu = |bits: u32| if bits >> 31 == 1 { 0 } else { bits };
    let rna = Tf32(word).round_rna().round_rz().0;
    match conversion {
        Conversion::Rna => rna,
        Conversion::RnaSatfinite if !f32::from_bits(rna).is_finite() => rna.wrapping_sub(0x2000),
        Conversion::RnaSatfinite => rna,
        Conversion::Rn => rounded(Rounding::NearestEven),
        Conversion::Rz => rounded(Rounding::TowardZero),
        Conversion::RnRelu => relu(rounded(Rounding::NearestEven)),
        Conversion::RzRelu => relu(rounded(Rounding::TowardZero)),
    }
}

/// The four operand sections of a group.
pub(super) fn sections(batch: &Batch, group: usize) -> Sections<'_> {
    std::array::from_fn(|i| {
        let size = batch.operands[i].len() / batch.groups;
        &batch.operands[i][group * size..][..size]
    })
}
