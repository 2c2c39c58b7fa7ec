//! The table of families: the one list that tests, plans and the command line iterate.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::{
    banded, block, borders, circuit, collide, dense_row, empty, lengths, longrows, lp, nm, pairs, power_law,
    simple, stencil, tails, uniform,
};
use crate::source::random::{ONE, Random};
use crate::source::synth;

/// A family of patterns by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the doc line of each is in FAMILIES")]
pub enum Family {
    Uniform,
    Banded,
    Block,
    Rmat,
    Zipf,
    Stencil,
    Circuit,
    Lp,
    Nm,
    Empty,
    DenseRow,
    Dense,
    Diagonal,
    Permutation,
    Arrow,
    Corners,
    Lengths,
    Tails,
    Zero,
    Synth,
    Borders,
    LongRows,
    Collide,
    Pairs,
}

/// What a parameter's value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// An integer.
    Integer,
    /// A share of something, stored in parts per million and printed as a decimal.
    Share,
    /// A row of the table of published matrices; printed first, without a key.
    Matrix,
}

/// One parameter of a family.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name in the line.
    pub key: &'static str,
    /// What the value means.
    pub kind: ParamKind,
    /// Value when the line does not say.
    pub default: i64,
    /// Smallest legal value.
    pub low: i64,
    /// Largest legal value.
    pub high: i64,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FamilyInfo {
    /// The family.
    pub family: Family,
    /// Name in the line.
    pub name: &'static str,
    /// What it makes and guarantees, for the command line's help.
    pub doc: &'static str,
    /// Its parameters, in printing order.
    pub params: &'static [Param],
    /// Shape and cost of a spec, from its parameters alone.
    pub shape: fn(&SourceSpec) -> Result<Shape, SourceError>,
    /// Stores the pattern.
    pub fill: fn(&SourceSpec, &mut Random, &mut Pattern),
}

impl Family {
    /// The row of the table.
    #[must_use]
    pub fn info(self) -> &'static FamilyInfo {
        &FAMILIES[self as usize]
    }

    /// Name in the line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The family with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Family> {
        FAMILIES.iter().find(|info| info.name == name).map(|info| info.family)
    }
}

/// A dimension: rows or columns.
const fn dim(key: &'static str, default: i64) -> Param {
    count(key, default, u32::MAX as i64)
}

const fn count(key: &'static str, default: i64, high: i64) -> Param {
    integer(key, default, 0, high)
}

const fn integer(key: &'static str, default: i64, low: i64, high: i64) -> Param {
    Param { key, kind: ParamKind::Integer, default, low, high }
}

const fn share(key: &'static str, default: i64) -> Param {
    Param { key, kind: ParamKind::Share, default, low: 0, high: ONE as i64 }
}

const U32: i64 = u32::MAX as i64;
const SQUARE: [Param; 2] = [dim("rows", 32), dim("cols", 32)];
const MATRIX: Param =
    Param { key: "matrix", kind: ParamKind::Matrix, default: 0, low: 0, high: synth::COUNT as i64 - 1 };

macro_rules! families {
    ($($family:ident $name:literal $module:ident::{$shape:ident, $fill:ident} [$($param:expr),*] $doc:literal)*) => {
        [$(FamilyInfo {
            family: Family::$family,
            name: $name,
            doc: $doc,
            params: &[$($param),*],
            shape: $module::$shape,
            fill: $module::$fill,
        }),*]
    };
}

/// Every family, in the order of [`Family`].
pub static FAMILIES: [FamilyInfo; 24] = families! {
    Uniform "uniform" uniform::{shape, fill} [SQUARE[0], SQUARE[1], share("density", 100_000)]
        "floor(density * rows * cols) entries anywhere"
    Banded "banded" banded::{shape, fill}
        [SQUARE[0], SQUARE[1], count("lower", 2, U32), count("upper", 2, U32), share("density", 1_000_000)]
        "entries only at -lower <= col - row <= upper; density 1 fills the band"
    Block "block" block::{shape, fill} [SQUARE[0], SQUARE[1], integer("block", 4, 1, U32), share("density", 250_000)]
        "full block x block squares at floor(density * positions) aligned positions, cut at the edges"
    Rmat "rmat" power_law::{rmat_shape, rmat_fill}
        [count("scale", 5, 31), count("edges", 8, 1 << 20), share("a", 570_000), share("b", 190_000), share("c", 190_000)]
        "2^scale vertices, edges * 2^scale draws into recursive quadrants of shares a, b, c, 1-a-b-c; repeats merge"
    Zipf "zipf" power_law::{zipf_shape, zipf_fill}
        [SQUARE[0], SQUARE[1], count("longest", 16, U32), count("shortest", 1, U32), integer("power", 1, 1, 8)]
        "row lengths max(shortest, longest / rank^power), cut to cols, in random order"
    Stencil "stencil" stencil::{shape, fill}
        [count("points", 5, 27), dim("nx", 6), dim("ny", 6), dim("nz", 1), integer("dofs", 1, 1, 64)]
        "5, 7, 9 or 27 points on an nx x ny x nz grid, a full dofs x dofs block per pair; symmetric"
    Circuit "circuit" circuit::{shape, fill}
        [dim("rows", 40), count("offdiag", 3, U32), count("dense", 1, U32), share("fill", 500_000)]
        "square: full diagonal, up to offdiag near or far entries a row, `dense` rows and columns of share fill"
    Lp "lp" lp::{shape, fill} [dim("rows", 20), dim("cols", 48), count("column", 3, U32), count("dense", 1, U32)]
        "constraint matrix: `dense` full rows, exactly `column` entries a column in the other rows"
    Nm "nm" nm::{shape, fill} [SQUARE[0], SQUARE[1], count("n", 2, U32), integer("m", 4, 1, U32)]
        "exactly n of every m columns in each row (fewer in a last group narrower than n)"
    Empty "empty" empty::{shape, fill}
        [SQUARE[0], SQUARE[1], share("emptyrows", 500_000), share("emptycols", 250_000), share("density", 300_000)]
        "the shares of rows and columns given stay empty; density counts in what is left"
    DenseRow "dense_row" dense_row::{shape, fill}
        [dim("rows", 40), dim("cols", 40), count("dense", 1, U32), count("densecols", 0, U32), share("density", 50_000)]
        "`dense` full rows and `densecols` full columns in a matrix of floor(density * cols) entries a row"
    Dense "dense" simple::{dense_shape, dense_fill} [dim("rows", 17), dim("cols", 17)]
        "every position stored"
    Diagonal "diagonal" simple::{diagonal_shape, diagonal_fill} [SQUARE[0], SQUARE[1], integer("shift", 0, -U32, U32)]
        "every position with col - row = shift"
    Permutation "permutation" simple::{permutation_shape, permutation_fill} [dim("rows", 32)]
        "square: one entry in each row and each column"
    Arrow "arrow" simple::{arrow_shape, arrow_fill} [dim("rows", 32), count("width", 1, U32)]
        "square: full diagonal, the first `width` rows and columns full"
    Corners "corners" simple::{corners_shape, corners_fill} [dim("rows", 33), dim("cols", 33)]
        "only the four corners"
    Lengths "lengths" lengths::{shape, fill} [dim("rows", 32), dim("cols", 40), integer("tile", 8, 1, 1 << 30)]
        "row i has 0, 1, t-1, t, t+1, 2t-1, 2t, 2t+1 entries (i mod 8), cut to cols: tails of loops over a row"
    Tails "tails" tails::{shape, fill}
        [integer("tile", 8, 1, 1 << 16), count("tiles", 2, 1 << 16), integer("drow", 1, -64, 64),
         integer("dcol", 1, -64, 64), share("density", 300_000)]
        "uniform of (tile * tiles + drow) x (tile * tiles + dcol): shapes around tile sizes"
    Zero "zero" simple::{zero_shape, zero_fill} [dim("rows", 0), dim("cols", 0)]
        "no entries: 0 x 0, 0 x k, m x 0, or m x k"
    Synth "synth" synth::{shape, fill} [MATRIX, dim("rows", 0)]
        "a published matrix rebuilt from its row statistics; rows=0 is full size, fewer rows approximate"
    Borders "borders" borders::{shape, fill} [dim("rows", 64), dim("cols", 64), count("entries", 256, U32)]
        "exactly `entries` entries anywhere: extents and counts at the borders of blocks, grids and index types"
    LongRows "longrows" longrows::{shape, fill}
        [dim("rows", 64), dim("cols", 2048), count("count", 2, U32), count("length", 300, U32), share("singles", 250_000)]
        "`count` rows of exactly `length` entries; of the others the share `singles` holds one entry, the rest none"
    Collide "collide" collide::{shape, fill}
        [dim("rows", 32), dim("cols", 2048), integer("slots", 64, 1, U32), count("length", 12, U32)]
        "up to `length` entries a row, all columns of a row equal modulo `slots`: collisions in a hash table of so many slots"
    Pairs "pairs" pairs::{shape, fill} [SQUARE[0], SQUARE[1], count("pairs", 3, U32)]
        "two of three rows hold `pairs` pairs of columns 2c, 2c + 1, the third even columns only: with values x, -x and equal rows \
         2c, 2c + 1 of B whole rows cancel"
};
