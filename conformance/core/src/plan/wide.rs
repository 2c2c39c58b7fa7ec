//! Landmarks: matrices past the borders of small integers, of blocks and of tables, and requests past those of counters.
//!
//! ```text
//! tall     65,537 x 65,537, a diagonal      rows, columns and entries past 2^16, a last block of one       n = 1
//! packed   33 x 2,048, nearly full          entries past 2^16, rows of 2,000                               n = 1
//! long     7 x 66,000, two full rows        entries of a row past 2^16                                     n = 1
//! heavy    300 x 4,500, two rows of 4,200   long rows far apart, with nothing between                      n = 2
//! waves    1,281 x 1,300                    five blocks of 256 rows and one row                            n = 3
//! wide     6 x 300, two rows of 257         elements of B past 2^16, n past 512                            n = 1,000
//! plates   80 x 80, a diagonal              C past 64 x 64                                                 n = 80
//! columns  65,536 x 3, full, transposed     entries of a row of op(A) past 2^16, where rows of A are short   n = 1
//! many     9 x 9                            300 calls before the judged one                                n = 3
//! myriad   9 x 9                            70,000 calls before the judged one                             n = 3, from full on
//! ranks    65,537 x 65,537, a diagonal      positions of an SDDMM past 2^16, in row and column, too        n = 1
//! sampled  6 x 300, two rows of 257         positions of a row of S past 256                               n = 3
//! rows     3 x 24, 2 x 16                   rows of C of an SpGEMM of hundreds and thousands of entries,   n = 700, 1,500,
//!                                           in each bin of a hash table, to column 2^16                    3,000, .. 65,536
//! lanes    5,000 x 24, 66,000 x 8           its columns                                                    n = 3, 2
//! square   133 x 133, a diagonal            elements of C past 2^17                                        n = 1,000
//! stairs   300 x 300, lower triangle        rows of each length from 1 to 300                              n = 1
//! even     two rows of 512, 1,024, 2,048     lengths that blocks of threads divide                          n = 1
//! deep     65,537 x 1, full                 entries of a column past 2^16                                  n = 1
//! flat     1 x 300, full                    one row, longer than a block of threads                        n = 1
//! larger   4,097 x 4,097, a diagonal        many rows with columns enough for a wide tile                  n = 32
//! broad    9 x 24                           columns of a dense result past 2^11                            n = 2,050
//! equal    33 x 33                          M = N = K, B transposed                                        n = 33
//! lossy    the long rows above              one term in each element of C, which hides nothing             n = 33
//! far      70,000 x 70,000                  row * cols + col past 2^32                                     n = 1, from full on
//! between  9 x 24                           widths between those that plans draw                             n = 48, 96, .. ([`BETWEEN`])
//! tiled    261 x 24, 24 x 261, ..           tiles of C, whole and not (`tiled`)                              n = 31 to 384
//! attacks  133 x 140, 3 x 9000, ..          bugs that no other case told (`attacks`)                         n = 0 to 514
//! ```
//!
//! Formats that store every place of a pattern have the tall ones narrower; those with lengths of 8 bits have shorter rows. In the quick
//! tier they are for the contracts on which seeded bugs are hunted (`measured`), as the 70,000 calls are in every tier. Tiled ones, and
//! SDDMM with rare NaN, are for every contract, since its kernels differ there in the element type.

use super::attacks::ATTACKS;
use super::make::terms;
use super::sources::Choice;
use super::tiled::{TILED, Tiled, Tiles};
use super::{Options, Tier, measured, taken_by_all};
use crate::backend::Backend;
use crate::case::{Case, Filling, Params};
use crate::encodings::Encoding;
use crate::operands::is_unbounded;
use crate::origin::Origin;
use crate::right::Right;
use crate::sequence::After;
use sparse_oracle::contract::{Contract, Returned};
use sparse_oracle::format::FormatKind;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::source::values::ValueFamily;
use std::collections::HashSet;

/// A matrix, by its line without the seed, and who is asked about it: operations by what they return.
pub(super) struct Landmark {
    line: &'static str,
    n: usize,
    returned: &'static [Returned],
    rooms: &'static [Capacity],
    from: Tier,
    /// Calls before the judged one.
    after: Option<After>,
    /// A, B transposed. Where A is, its columns are the rows of op(A).
    transposed: (bool, bool),
    /// `None`: values coded by position, or near one.
    values: Option<ValueFamily>,
    /// A request that kernels with tiles of C take.
    tiled: Option<Tiled>,
    /// Asked of every contract in the quick tier, too.
    everywhere: bool,
    /// What else is asked for.
    also: fn(&mut Params),
}

impl Landmark {
    const fn after(self, after: After) -> Landmark {
        Landmark { after: Some(after), ..self }
    }

    pub(super) const fn transposed(self, a: bool, b: bool) -> Landmark {
        Landmark { transposed: (a, b), ..self }
    }

    pub(super) const fn of(self, values: ValueFamily) -> Landmark {
        Landmark { values: Some(values), ..self }
    }

    pub(super) const fn also(self, also: fn(&mut Params)) -> Landmark {
        Landmark { also, ..self }
    }

    /// The family it asks of a contract; of sums in 16 bits about which nothing is promised the one in which they are exact.
    fn values_for(&self, contract: &Contract, matrix: &Choice) -> Option<ValueFamily> {
        let asked = Params { n: self.n, transpose_a: self.transposed.0, ..Params::default() };
        let terms = terms(contract, &asked, matrix);
        self.values.or(is_unbounded(contract.types.acc, terms).then_some(INTEGERS))
    }

    pub(super) const fn tiled(self, tiled: Tiled) -> Landmark {
        Landmark { tiled: Some(tiled), ..self }.everywhere()
    }

    pub(super) const fn everywhere(self) -> Landmark {
        Landmark { everywhere: true, ..self }
    }
}

pub(super) const fn landmark(
    line: &'static str,
    n: usize,
    returned: &'static [Returned],
    rooms: &'static [Capacity],
    from: Tier,
) -> Landmark {
    Landmark {
        line,
        n,
        returned,
        rooms,
        from,
        after: None,
        transposed: (false, false),
        values: None,
        tiled: None,
        everywhere: false,
        also: |_| {},
    }
}

const ONE_TERM: ValueFamily = ValueFamily::OneTerm;
/// Sums of products are exact in an f32, however long: a term that is lost shows.
pub(super) const INTEGERS: ValueFamily = ValueFamily::SmallInt;
const MOVED: &[Returned] = &[Returned::Moved];
pub(super) const VECTORS: &[Returned] = &[Returned::Matrix, Returned::Vector, Returned::Moved];
const DENSE: &[Returned] = &[Returned::Matrix, Returned::Vector, Returned::Sampled];
pub(super) const PRODUCTS: &[Returned] = &[Returned::Matrix, Returned::Vector];
pub(super) const MATRIX: &[Returned] = &[Returned::Matrix];
pub(super) const SAMPLED: &[Returned] = &[Returned::Sampled];
const WIDTHS: &[Returned] = &[Returned::Matrix, Returned::Sampled];
pub(super) const SPARSE_PRODUCT: &[Returned] = &[Returned::Product];

const LANDMARKS: [Landmark; 43] = [
    landmark("diagonal:rows=65537,cols=65537", 1, VECTORS, PLAIN, Tier::Quick),
    landmark("diagonal:rows=65536,cols=65536", 1, VECTORS, NARROW, Tier::Quick),
    landmark("uniform:rows=65537,cols=8,density=0.3", 1, VECTORS, FULL, Tier::Quick),
    landmark("uniform:rows=33,cols=2048,density=0.97", 1, VECTORS, ROOMY, Tier::Quick).of(INTEGERS),
    landmark("longrows:rows=7,cols=65536,count=2,length=65535", 1, VECTORS, SHORT_COLUMNS, Tier::Quick)
        .of(INTEGERS),
    landmark("longrows:rows=300,cols=4500,count=2,length=4200", 2, VECTORS, SHORT_COLUMNS, Tier::Quick)
        .of(INTEGERS),
    landmark("uniform:rows=400,cols=400,density=0.5", 1, VECTORS, NARROW, Tier::Quick),
    landmark("longrows:rows=7,cols=66000,count=2,length=65999", 1, VECTORS, ROOMY, Tier::Quick).of(INTEGERS),
    landmark("longrows:rows=300,cols=4500,count=2,length=4200", 2, VECTORS, ROOMY, Tier::Quick).of(INTEGERS),
    landmark("uniform:rows=1281,cols=1300,density=0.003", 3, VECTORS, ANY, Tier::Quick),
    landmark("longrows:rows=6,cols=300,count=2,length=257", 1000, PRODUCTS, ROOMY, Tier::Quick),
    landmark("longrows:rows=6,cols=300,count=2,length=200", 1000, PRODUCTS, NARROW, Tier::Quick),
    landmark("diagonal:rows=80,cols=80", 80, MATRIX, ANY, Tier::Quick),
    landmark("uniform:rows=9,cols=9,density=0.4", 3, DENSE, ANY, Tier::Quick).after(After::Many),
    landmark("uniform:rows=9,cols=9,density=0.4", 3, DENSE, ANY, Tier::Full).after(After::Myriad),
    landmark("dense:rows=65536,cols=3", 1, PRODUCTS, SHORT_ROWS, Tier::Quick).transposed(true, false),
    landmark("diagonal:rows=65537,cols=65537", 1, SAMPLED, ANY, Tier::Quick),
    landmark("longrows:rows=6,cols=300,count=2,length=257", 3, SAMPLED, ANY, Tier::Quick),
    landmark("uniform:rows=3,cols=24,density=0.9", 5000, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("uniform:rows=2,cols=16,density=0.9", 65_536, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("uniform:rows=5000,cols=24,density=0.3", 3, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("uniform:rows=66000,cols=8,density=0.4", 2, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("diagonal:rows=133,cols=133", 1000, MATRIX, ROOMY, Tier::Quick),
    landmark("uniform:rows=70000,cols=70000,density=0.000001", 1, VECTORS, SPARSE, Tier::Full),
    landmark("banded:rows=300,cols=300,lower=299,upper=0,density=1", 1, VECTORS, ROOMY, Tier::Quick),
    landmark("longrows:rows=5,cols=600,count=2,length=512", 1, VECTORS, ROOMY, Tier::Quick).of(INTEGERS),
    landmark("longrows:rows=5,cols=1100,count=2,length=1024", 1, VECTORS, ROOMY, Tier::Quick).of(INTEGERS),
    landmark("longrows:rows=5,cols=2100,count=2,length=2048", 1, VECTORS, ROOMY, Tier::Quick).of(INTEGERS),
    landmark("dense:rows=65537,cols=1", 1, MOVED, ROOMY, Tier::Quick),
    landmark("diagonal:rows=4097,cols=4097", 32, MATRIX, PLAIN, Tier::Quick),
    landmark("dense:rows=1,cols=300", 1, PRODUCTS, ROOMY, Tier::Quick),
    landmark("uniform:rows=3,cols=24,density=0.9", 700, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("uniform:rows=3,cols=24,density=0.9", 1500, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("uniform:rows=3,cols=24,density=0.9", 3000, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("uniform:rows=3,cols=24,density=0.9", 10_000, SPARSE_PRODUCT, ANY, Tier::Quick),
    landmark("banded:rows=200,cols=200,lower=199,upper=0,density=1", 1, VECTORS, NARROW, Tier::Quick),
    landmark("uniform:rows=9,cols=24,density=0.4", 2050, WIDTHS, ANY, Tier::Quick),
    landmark("uniform:rows=33,cols=33,density=0.4", 33, MATRIX, ANY, Tier::Quick).transposed(false, true),
    landmark("longrows:rows=6,cols=300,count=5,length=257", 33, PRODUCTS, ROOMY, Tier::Quick).of(ONE_TERM),
    landmark("longrows:rows=6,cols=300,count=5,length=200", 33, PRODUCTS, NARROW, Tier::Quick).of(ONE_TERM),
    landmark("longrows:rows=300,cols=4500,count=9,length=4200", 33, PRODUCTS, SHORT_COLUMNS, Tier::Quick)
        .of(ONE_TERM),
    landmark("longrows:rows=300,cols=4500,count=9,length=4200", 33, PRODUCTS, ROOMY, Tier::Quick)
        .of(ONE_TERM),
    landmark("uniform:rows=9,cols=24,density=0.4", 1000, SAMPLED, ANY, Tier::Quick).of(ONE_TERM),
];

/// Widths of a dense result (inner extents of an SDDMM) between those that plans draw: 34 to 62, 66 to 126, 130 to 254, 258 to 510. Kernels
/// take columns by 32, 64, 128, and what is left in another way: multiples of 16, of 8 and of 4, and odd ones.
const BETWEEN: [(usize, Tier); 24] = {
    use Tier::{Full, Quick};
    [
        (48, Quick),
        (96, Quick),
        (192, Quick),
        (384, Quick),
        (37, Full),
        (40, Full),
        (45, Full),
        (51, Full),
        (56, Full),
        (60, Full),
        (72, Full),
        (91, Full),
        (101, Full),
        (112, Full),
        (119, Full),
        (141, Full),
        (160, Full),
        (211, Full),
        (224, Full),
        (239, Full),
        (289, Full),
        (320, Full),
        (448, Full),
        (479, Full),
    ]
};

/// All of them, in the order of their numbers, which cases are drawn by.
fn landmarks() -> impl Iterator<Item = Landmark> {
    let between = |(n, from)| landmark("uniform:rows=9,cols=24,density=0.4", n, WIDTHS, ANY, from);
    LANDMARKS
        .into_iter()
        .chain(BETWEEN.map(between))
        .chain(TILED.iter().flat_map(Tiles::landmarks))
        .chain(ATTACKS)
}

/// What the formats of a contract have room for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Capacity {
    /// Lengths of rows (of CP-CSR, in a group) in 8 bits, extents in 16.
    Narrow,
    /// Lengths of columns (of RP-CSC) in 8 bits, extents in 16.
    ShortColumns,
    /// Places are stored, entries or not.
    Full,
    /// As full, in vectors of a length of their own.
    Vectors,
    /// Arrays grow with entries, rows and columns, not with their product.
    Plain,
    /// As plain, in windows of rows whose tiles are those of tensor cores.
    Windows,
    /// As plain, and nothing is stored for a place without an entry.
    Sparse,
}

impl Capacity {
    fn of(contract: &Contract) -> Capacity {
        let formats = [Some(contract.format), contract.to];
        let any = |has: fn(FormatKind) -> bool| formats.into_iter().flatten().any(has);
        match () {
            () if any(|f| f == FormatKind::CpCsr) => Capacity::Narrow,
            () if any(|f| f == FormatKind::RpCsc) => Capacity::ShortColumns,
            () if any(|f| f == FormatKind::Nm) => Capacity::Vectors,
            () if any(FormatKind::is_structured) => Capacity::Full,
            () if any(|f| IN_WINDOWS.contains(&f)) => Capacity::Windows,
            () if any(FormatKind::pads_with_zeros) => Capacity::Plain,
            () => Capacity::Sparse,
        }
    }
}

/// Formats with tiles of tensor cores in windows of rows.
const IN_WINDOWS: [FormatKind; 6] = [
    FormatKind::RsTile,
    FormatKind::LibraSpmm,
    FormatKind::Tcf,
    FormatKind::MeTcf,
    FormatKind::BitTcf,
    FormatKind::SrBcrs,
];

pub(super) const ANY: &[Capacity] = &[
    Capacity::Narrow,
    Capacity::ShortColumns,
    Capacity::Full,
    Capacity::Vectors,
    Capacity::Plain,
    Capacity::Windows,
    Capacity::Sparse,
];
pub(super) const NARROW: &[Capacity] = &[Capacity::Narrow, Capacity::ShortColumns];
const SHORT_ROWS: &[Capacity] = &[Capacity::Narrow];
const SHORT_COLUMNS: &[Capacity] = &[Capacity::ShortColumns];
const FULL: &[Capacity] = &[Capacity::Full, Capacity::Vectors];
pub(super) const PLAIN: &[Capacity] = &[Capacity::Plain, Capacity::Windows, Capacity::Sparse];
pub(super) const ROOMY: &[Capacity] =
    &[Capacity::Full, Capacity::Vectors, Capacity::Plain, Capacity::Windows, Capacity::Sparse];
const SPARSE: &[Capacity] = &[Capacity::Windows, Capacity::Sparse];

/// Cases on the landmarks of a tier, for each backend that claims the contract.
pub(super) fn cases(
    options: &Options,
    contracts: &[(u64, Contract)],
    backends: &[&dyn Backend],
) -> Vec<Case> {
    let measured: HashSet<Contract> = backends.iter().flat_map(|b| measured(*b, options.seed)).collect();
    let mut cases = Vec::new();
    for (place, landmark) in landmarks().enumerate() {
        if landmark.from > options.tier {
            continue;
        }
        let of_all =
            landmark.everywhere || options.tier != Tier::Quick && landmark.after != Some(After::Myriad);
        let is_asked = |c: &Contract| {
            (of_all || measured.contains(c)) && concerns(&landmark, c) && backends.iter().any(|b| b.claims(c))
        };
        let asked: Vec<(u64, Contract)> = contracts.iter().copied().filter(|(_, c)| is_asked(c)).collect();
        // Large matrices are made for those who are asked about them.
        if asked.is_empty() {
            continue;
        }
        let Ok(spec) = landmark.line.parse::<SourceSpec>() else {
            continue;
        };
        let spec = spec.with_seed(options.seed);
        let Some(matrix) = Choice::of(spec) else {
            continue;
        };
        let origin = Origin::Spec(spec);
        for (i, contract) in asked {
            let key = [options.seed, i, 3000 + place as u64];
            let usual = if i % 2 == 0 { ValueFamily::Coded } else { ValueFamily::NearOne };
            // What only moves shows where it went.
            let family = landmark.values_for(&contract, &matrix).filter(|_| !contract.op.is_exact());
            let change = |case: &mut Case| shown(case, &landmark, family, usual);
            cases.extend(taken_by_all(contract, &origin, backends, &key, change));
        }
    }
    cases
}

/// Makes a drawn case one whose result shows every element: with values of the family that is asked for, or the usual one.
fn shown(case: &mut Case, landmark: &Landmark, family: Option<ValueFamily>, usual: ValueFamily) {
    let (contract, op) = (case.contract, case.contract.op);
    let p = &mut case.params;
    if op.signature().has_n() {
        p.n = landmark.n;
    }
    // A sum that is scaled away shows nothing, nor does one beside a huge C.
    let size = |v: f64| v == 0.0 || !(1.0 / 64.0..=64.0).contains(&v.abs());
    if size(p.alpha) {
        p.alpha = 1.0;
    }
    if size(p.beta) {
        p.beta = 0.0;
    }
    if op.signature().sparse.len() == 2 {
        p.right = if landmark.n < 100 { Right::Thin } else { Right::Long };
    }
    // An alpha that is no power of two, and a C that is added, round what they are given.
    if family.is_some() {
        (p.alpha, p.beta) = (1.0, 0.0);
    }
    // Long rows of A are those of op(A), stored in order; and one call of this size is enough.
    (p.transpose_a, p.after) = (landmark.transposed.0, landmark.after);
    if landmark.transposed.1 {
        p.transpose_b = true;
    }
    (p.encoding, p.unpruned) = (Encoding::Canonical, false);
    if let Some(tiled) = &landmark.tiled {
        tiled.ask(p);
    }
    (landmark.also)(p);
    p.blocks = p.blocks.only(|parameter| contract.reads(parameter));
    if let Filling::Drawn(_, seed) = case.filling {
        case.filling = Filling::Drawn(family.unwrap_or(usual), seed);
    }
}

fn concerns(landmark: &Landmark, contract: &Contract) -> bool {
    let is_square = || {
        let shape = landmark.line.parse::<SourceSpec>().ok().and_then(|spec| spec.shape().ok());
        shape.is_some_and(|shape| shape.rows == shape.cols)
    };
    let signature = contract.op.signature();
    (!signature.is_square() || is_square())
        && landmark.returned.contains(&signature.returned)
        && landmark.rooms.contains(&Capacity::of(contract))
        && landmark.tiled.is_none_or(|tiled| tiled.concerns(contract))
        && reads(landmark, contract)
}

/// False where no format of the contract reads a parameter that the landmark is for.
fn reads(landmark: &Landmark, contract: &Contract) -> bool {
    let mut asked = Params::default();
    (landmark.also)(&mut asked);
    let default = Params::default().blocks;
    asked.blocks == default || asked.blocks.only(|parameter| contract.reads(parameter)) != default
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_parse_and_every_format_has_some() {
        for landmark in landmarks() {
            let spec: SourceSpec = landmark.line.parse().expect("a legal line");
            spec.shape().expect("a shape");
        }
        for contract in sparse_oracle::contract::all_contracts() {
            let count = landmarks().filter(|l| concerns(l, contract)).count();
            assert!(count >= 1, "{contract}");
        }
    }
}
