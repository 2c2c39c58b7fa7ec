//! The twenty published matrices: what is known of their rows.
//!
//! Provenance: rows, columns (all are square) and entries are `rows` and `pattern_entries` (explicit zeros
//! included) of the `SuiteSparse` Matrix Collection's statistics; smallest and largest row, mean and population
//! standard deviation of the row lengths are table 2 of "LOOPS", which covers the same twenty. The paper
//! rounds the largest row of five matrices (1.3M, 2.3M, 66K, 114K, 395K); the round number itself stands here, and
//! is below the number of columns in each. `econ_fwd500` is the collection's `mac_econ_fwd500`. The printed means
//! are the quotients of entries and rows to the last digit, for all twenty.

/// Number of published matrices.
pub const COUNT: usize = 20;

/// Where the columns of a row lie, and how lengths of neighbouring rows relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Circuit simulation: diagonal, near neighbours, a few nearly dense rows and columns.
    Circuit,
    /// Quantum chemistry: a band around the diagonal, dense clusters far from it.
    Chemistry,
    /// Web graph: links inside the host, and to popular pages anywhere.
    Web,
    /// Finite elements and the like: runs of columns around the diagonal, shared by neighbouring rows.
    Structure,
    /// Optimisation: blocks along the diagonal and a few full rows.
    Optimization,
    /// A regular grid: a handful of diagonals.
    Grid,
    /// Economic model: near neighbours and links between sectors, unsymmetric.
    Economy,
}

/// What carries the standard deviation of the row lengths: the one free quantity of each matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// So many rows of one solved length, beside the longest row: nearly dense rows.
    Hubs(u32),
    /// A solved number of rows with lengths in `low..=high`, weighted by `1 / length^power`.
    Tail {
        /// Shortest.
        low: u32,
        /// Longest.
        high: u32,
        /// Exponent: 0 is uniform.
        power: u32,
    },
}

/// How the lengths of all other rows are distributed; their mean is solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A triangle of this half-width around the mean.
    Near(u32),
    /// Weights `1 / (length - shortest + offset)` up to a solved longest.
    Decay(u32),
}

/// One published matrix.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// Name in the paper.
    pub name: &'static str,
    /// Kind of problem.
    pub class: Class,
    /// Rows and columns.
    pub rows: u32,
    /// Stored entries.
    pub nnz: u32,
    /// Entries of the shortest row.
    pub shortest: u32,
    /// Entries of the longest row.
    pub longest: u32,
    /// Mean row length as printed.
    pub mean: &'static str,
    /// Standard deviation of the row length as printed.
    pub deviation: &'static str,
    /// Our choice: what carries the deviation.
    pub spread: Spread,
    /// Our choice: the other rows.
    pub body: Body,
}

#[expect(clippy::too_many_arguments, reason = "a row of the table below, in the order of its fields")]
const fn row(
    name: &'static str,
    class: Class,
    rows: u32,
    nnz: u32,
    [shortest, longest]: [u32; 2],
    mean: &'static str,
    deviation: &'static str,
    spread: Spread,
    body: Body,
) -> Published {
    Published { name, class, rows, nnz, shortest, longest, mean, deviation, spread, body }
}

const fn hubs(count: u32) -> Spread {
    Spread::Hubs(count)
}

const fn tail(low: u32, high: u32, power: u32) -> Spread {
    Spread::Tail { low, high, power }
}

const fn near(half_width: u32) -> Body {
    Body::Near(half_width)
}

const DECAY: Body = Body::Decay(4);
const STEEP: Body = Body::Decay(1);

/// The table, in the order of the paper.
#[rustfmt::skip]
pub const PUBLISHED: [Published; COUNT] = [
    // name, class, rows, entries, [shortest, longest], mean, deviation, spread, body
    row("circuit5M", Class::Circuit, 5_558_326, 59_524_291, [1, 1_300_000], "10.71", "1356.62", hubs(6), near(6)),
    row("Si41Ge41H72", Class::Chemistry, 185_639, 15_011_265, [13, 662], "80.86", "126.97", tail(200, 662, 0), near(20)),
    row("Ga41As41H72", Class::Chemistry, 268_096, 18_488_476, [18, 702], "68.96", "105.39", tail(150, 702, 0), near(20)),
    row("in-2004", Class::Web, 1_382_908, 16_917_053, [0, 7_753], "12.23", "37.23", tail(40, 7753, 2), DECAY),
    row("eu-2005", Class::Web, 862_664, 19_235_140, [0, 6_985], "22.30", "29.33", tail(60, 6985, 2), DECAY),
    row("pwtk", Class::Structure, 217_918, 11_634_424, [2, 180], "53.39", "4.74", tail(10, 100, 0), near(4)),
    row("FullChip", Class::Circuit, 2_987_012, 26_621_990, [1, 2_300_000], "8.91", "1806.80", hubs(2), near(5)),
    row("mip1", Class::Optimization, 66_463, 10_352_819, [4, 66_000], "155.77", "350.74", tail(64, 2000, 1), near(24)),
    row("mc2depi", Class::Grid, 525_825, 2_100_225, [2, 4], "3.99", "0.08", tail(2, 2, 0), near(0)),
    row("webbase-1M", Class::Web, 1_000_005, 3_105_536, [1, 4_700], "3.11", "25.35", tail(20, 4700, 2), STEEP),
    row("shipsec1", Class::Structure, 140_874, 7_813_404, [24, 102], "55.46", "11.07", tail(24, 102, 0), near(12)),
    row("econ_fwd500", Class::Economy, 206_500, 1_273_389, [1, 44], "6.17", "4.44", tail(10, 44, 0), DECAY),
    row("scircuit", Class::Circuit, 170_998, 958_936, [1, 353], "5.61", "4.39", tail(8, 353, 2), near(3)),
    row("pdb1HYS", Class::Structure, 36_417, 4_344_765, [18, 204], "119.31", "31.86", tail(18, 204, 0), near(40)),
    row("consph", Class::Structure, 83_334, 6_010_480, [1, 81], "72.13", "19.08", tail(1, 70, 0), near(3)),
    row("cant", Class::Structure, 62_451, 4_007_383, [1, 78], "64.17", "14.06", tail(1, 60, 0), near(4)),
    row("cop20k_A", Class::Structure, 121_192, 2_624_331, [0, 81], "21.65", "13.79", tail(30, 81, 0), near(10)),
    row("dc2", Class::Circuit, 116_835, 766_396, [1, 114_000], "6.56", "361.50", hubs(1), near(4)),
    row("rma10", Class::Structure, 46_835, 2_374_001, [4, 145], "50.69", "27.78", tail(4, 145, 0), near(20)),
    row("ASIC_680k", Class::Circuit, 682_862, 3_871_773, [1, 395_000], "5.67", "659.81", hubs(2), near(3)),
];
