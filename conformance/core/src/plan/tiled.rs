//! Landmarks of kernels that hold a tile of C in registers: whole tiles and parts, in each way of leaving them.
//!
//! ```text
//!      n = 133                     An element of a tile has a piece of code of its own: it is compared with the borders of C, multiplied
//!   +---------+--+                 by alpha where that is not 1, and C is added, as it is or times beta, where beta is not 0. A kernel
//!   |  whole  |  |  261 rows       is right in all of it where tiles are whole and parts are left, for each pair of factors.
//!   +---------+--+
//!   +---------+--+                 Rows begin at multiples of 16 bytes, in rows of B and C, since these kernels take no others.
//! ```
//!
//! Those of vector-wise N:M take the transpose of A, in vectors of a multiple of 8 columns. Which of their tiles a product gets depends on
//! how many there are for each multiprocessor; the sizes of C below make each the best of two multiprocessors, which the PTX machine has.

use super::Tier;
use super::wide::{Capacity, Landmark, MATRIX, landmark};
use crate::case::Params;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::Layout;
use sparse_oracle::scalar::Precision;

/// A plain request: factors and pattern.
#[derive(Clone, Copy)]
pub(super) struct Tiled {
    factors: (f64, f64),
    pattern: (u32, u32, u32),
    of: Option<Precision>,
}

/// One matrix and width, with several factors.
pub(super) struct Tiles {
    line: &'static str,
    n: usize,
    rooms: &'static [Capacity],
    transpose: bool,
    /// N, M and L of vector-wise N:M.
    pattern: (u32, u32, u32),
    factors: &'static [(f64, f64)],
    /// The elements that such tiles are for, if not any.
    of: Option<Precision>,
}

/// Alpha and beta: each is the one that nothing is done for, and not.
const EACH: &[(f64, f64)] = &[(1.0, 0.0), (-0.75, 0.0), (1.0, 0.5), (-0.75, 0.5)];
const BOTH: &[(f64, f64)] = &[(-0.75, 0.5)];
const VECTORWISE: &[Capacity] = &[Capacity::Vectors];
const FULL: &[Capacity] = &[Capacity::Full];
const WINDOWS: &[Capacity] = &[Capacity::Windows];

const fn tiles(line: &'static str, n: usize, rooms: &'static [Capacity]) -> Tiles {
    Tiles { line, n, rooms, transpose: false, pattern: (2, 4, 8), factors: EACH, of: None }
}

/// Of W of NM-SpMM, k x columns.
const fn vectors(line: &'static str, n: usize, pattern: (u32, u32, u32)) -> Tiles {
    Tiles { transpose: true, pattern, ..tiles(line, n, VECTORWISE) }
}

impl Tiles {
    const fn once(self) -> Tiles {
        Tiles { factors: BOTH, ..self }
    }

    /// Of the kernels of f32, whose slices hold 48 rows of W: with three of them and one factor.
    const fn of_f32(self) -> Tiles {
        Tiles { of: Some(Precision::F32), ..self.once() }
    }

    pub(super) fn landmarks(&self) -> impl Iterator<Item = Landmark> {
        let of = |&factors| {
            landmark(self.line, self.n, MATRIX, self.rooms, Tier::Quick)
                .transposed(self.transpose, false)
                .tiled(Tiled { factors, pattern: self.pattern, of: self.of })
        };
        self.factors.iter().map(of)
    }
}

pub(super) const TILED: [Tiles; 14] = [
    tiles("uniform:rows=261,cols=24,density=0.5", 133, FULL),
    tiles("uniform:rows=41,cols=40,density=0.3", 63, WINDOWS),
    tiles("uniform:rows=41,cols=40,density=0.3", 31, WINDOWS),
    vectors("uniform:rows=24,cols=261,density=0.5", 133, (2, 4, 8)),
    // One tile of 128 columns for a multiprocessor.
    vectors("uniform:rows=40,cols=131,density=0.5", 128, (2, 4, 32)),
    // Many slices of W, of which some are ahead in shared memory.
    vectors("uniform:rows=400,cols=131,density=0.5", 40, (2, 4, 16)).once(),
    vectors("uniform:rows=400,cols=261,density=0.5", 40, (2, 4, 16)).once(),
    // Wide, broad, large and medium tiles; large, medium and small ones that list rows of B.
    vectors("uniform:rows=200,cols=256,density=0.5", 256, (2, 4, 32)).of_f32(),
    vectors("uniform:rows=600,cols=256,density=0.5", 256, (1, 8, 32)).of_f32(),
    vectors("uniform:rows=200,cols=128,density=0.5", 384, (2, 4, 32)).of_f32(),
    vectors("uniform:rows=200,cols=640,density=0.5", 192, (2, 4, 32)).of_f32(),
    vectors("uniform:rows=600,cols=128,density=0.5", 384, (1, 16, 32)).of_f32(),
    vectors("uniform:rows=600,cols=640,density=0.5", 192, (1, 16, 32)).of_f32(),
    vectors("uniform:rows=600,cols=64,density=0.5", 32, (1, 16, 32)).of_f32(),
];

impl Tiled {
    pub(super) fn concerns(&self, contract: &Contract) -> bool {
        self.of.is_none_or(|of| of == contract.types.a)
    }

    /// Makes a request such that kernels with tiles take it.
    pub(super) fn ask(&self, p: &mut Params) {
        (p.alpha, p.beta) = self.factors;
        (p.blocks.n, p.blocks.m, p.blocks.l) = self.pattern;
        (p.layout_b, p.layout_c, p.transpose_b) = (Layout::RowMajor, Layout::RowMajor, false);
        let pad = p.n.next_multiple_of(8) - p.n;
        (p.pad_b, p.pad_c, p.align) = (pad, pad, 0);
        (p.unpruned, p.duplicates) = (false, false);
    }
}
