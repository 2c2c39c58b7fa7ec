//! RS-Tile in the optimised conversions: matrices of many chunks, on any number of threads; encodings that are valid, but
//! that no encoder writes; and both sides of every refusal.

use proptest::prelude::*;
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnyParts, AnySparse, Csr, Entries, Entry, FormatKind, FormatParams, ImpactRule, PAD, Parts, RsTile,
    RsTileParts, SLOT_LIMIT, Sparse,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::prelude::*;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Verdict;
use sparse_oracle::{Limit, Precision, Refusal};

fn kernel(from: FormatKind, to: FormatKind) -> &'static Kernel {
    let found = kernels_here().find(|k| {
        let c = k.contract;
        (c.op, c.format, c.to, c.types.a) == (Op::Convert, from, Some(to), Precision::F32)
    });
    found.expect("in the table")
}

fn run(a: &AnySparse, to: FormatKind, params: FormatParams) -> Result<Answer, Refusal> {
    (kernel(a.kind(), to).run)(Task::Convert { a, to, params })
}

fn encode(entries: &Entries<f32>, params: FormatParams) -> Result<AnyParts, Refusal> {
    let csr = Csr::from_entries(entries).expect("encodes");
    match run(&AnySparse::F32(Sparse::Csr(csr)), FormatKind::RsTile, params)? {
        Answer::Parts(parts) => Ok(parts),
        other => panic!("{other:?}"),
    }
}

fn decode(matrix: RsTile<f32>) -> Entries<u64> {
    let matrix = AnySparse::F32(Sparse::RsTile(matrix));
    match run(&matrix, FormatKind::Csr, FormatParams::default()) {
        Ok(Answer::Sparse(raw)) => raw.check().expect("a valid CSR").entries_bits(),
        other => panic!("{other:?}"),
    }
}

/// The entries of a source, every value another one.
fn source(line: &str) -> Entries<f32> {
    let spec: SourceSpec = line.parse().expect("a source");
    let mut next = 0x3f80_0000;
    let pattern = spec.generate().expect("small enough").entries();
    pattern.map(|()| {
        next += 1;
        f32::from_bits(next)
    })
}

/// Many chunks: uneven windows, long rows, long gaps, windows at the edge of a chunk, residual rows only.
const SOURCES: [&str; 10] = [
    "rmat:scale=14",
    "zipf:rows=12000,cols=6000,longest=6000",
    "dense_row:rows=3000,cols=20000,dense=2,density=0.0005",
    // Rows of five entries, and a mean of twenty-five: too long for the estimate, which ends at four.
    "dense_row:rows=3000,cols=20000,dense=3,density=0.00025",
    "arrow:rows=9000,width=2",
    "banded:rows=9001,cols=9001,lower=3,upper=4",
    "empty:rows=5000,cols=300,emptyrows=0.7,emptycols=0.1,density=0.1",
    "dense:rows=3,cols=30000",
    "dense:rows=30000,cols=3",
    "permutation:rows=70000",
];

fn parameters() -> Vec<FormatParams> {
    let mut all = vec![FormatParams::default()];
    for impact in [ImpactRule::AsDescribed, ImpactRule::AsPrinted] {
        for tau_nnz in [0, 2, 8] {
            all.push(FormatParams { tau_nnz: Some(tau_nnz), impact, ..FormatParams::default() });
        }
    }
    all
}

#[test]
fn matrices_of_many_chunks_are_encoded_and_decoded_as_the_oracle_does() {
    for line in SOURCES {
        let entries = source(line);
        assert!(entries.nnz() > 1 << 15, "{line}: {} entries are no two chunks", entries.nnz());
        for params in parameters() {
            let matrix = RsTile::from_entries_with(&entries, &params).expect("encodes");
            let expected = AnySparse::F32(Sparse::RsTile(matrix.clone()));
            let found = encode(&entries, params).expect("encodes");
            assert_eq!(judge_encoded(&expected, found), Verdict::Exact, "{line}, {params:?}");
            assert!(decode(matrix) == entries.bits(), "{line}, {params:?}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let entries = source(SOURCES[0]);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let parts = encode(&entries, FormatParams::default()).expect("encodes");
            let AnyParts::F32(Parts::RsTile(tiles)) = parts else {
                panic!("{:?}", parts.kind());
            };
            let decoded = decode(RsTile::try_new(tiles.clone()).expect("valid"));
            (tiles, decoded)
        })
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
}

#[test]
fn too_many_residual_slots_are_refused_in_the_oracle_s_words() {
    let (many, long) = (1u32 << 15, (1u32 << 13) + 1);
    let at = |row, col| Entry { row, col, value: 1.0 };
    let short = (0..many).map(|row| at(row, long + row));
    let list = short.chain((0..long).map(|col| at(many, col))).collect();
    let entries = Entries::try_new(many as usize + 1, (long + many) as usize, list).expect("sorted");
    let params = FormatParams { tau_nnz: Some(u32::MAX), ..FormatParams::default() };
    let expected = Refusal::Limit(Limit {
        field: "residual_slots",
        found: u128::from(many + 1) * u128::from(long),
        limit: SLOT_LIMIT,
    });
    assert_eq!(RsTile::from_entries_with(&entries, &params), Err(expected.clone()));
    assert_eq!(encode(&entries, params), Err(expected));
}

/// What one row of a random encoding does.
#[derive(Clone, Debug)]
enum Piece {
    /// Rows in no part.
    Skip(u32),
    /// A window with this many columns and these bitmaps, cut to what is legal.
    Window(usize, Vec<u64>),
    /// A residual row with these columns.
    Residual(Vec<u32>),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let bits = prop_oneof![1 => Just(0u64), 2 => any::<u64>(), 2 => (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a & b)];
    let piece = prop_oneof![
        2 => (1u32..20).prop_map(Piece::Skip),
        4 => (1usize..40, prop::collection::vec(bits, 5)).prop_map(|(cols, bits)| Piece::Window(cols, bits)),
        3 => prop::collection::btree_set(0u32..50, 0..5).prop_map(|cols| Piece::Residual(cols.into_iter().collect())),
    ];
    prop::collection::vec(piece, 0..12)
}

/// Lays the pieces out one below the other; `cut` rows are missing at the end. Columns of windows are 0, 3, 6, ...
fn laid_out(pieces: &[Piece], spare: usize, cut: usize) -> (RsTileParts<f32>, Entries<f32>) {
    let mut row = 0u32;
    let heights = pieces.iter().map(|p| match p {
        Piece::Skip(rows) => *rows as usize,
        Piece::Window(..) => 8,
        Piece::Residual(_) => 1,
    });
    let last_is_window = matches!(pieces.last(), Some(Piece::Window(..)));
    let rows = heights.sum::<usize>() - if last_is_window { cut } else { 0 };
    let longest = pieces.iter().map(|p| if let Piece::Residual(cols) = p { cols.len() } else { 0 });
    let width = longest.max().unwrap_or(0) + spare;
    let mut parts = RsTileParts {
        rows,
        cols: 120,
        window_block_ptr: vec![0],
        block_value_ptr: vec![0],
        residual_width: width,
        ..RsTileParts::default()
    };
    let mut list = Vec::new();
    let mut value = 0.0;
    let mut next = || {
        value += 1.0;
        value
    };
    for piece in pieces {
        match piece {
            Piece::Skip(rows) => row += rows,
            Piece::Residual(cols) => {
                parts.residual_row.push(row);
                for s in 0..width {
                    let col = cols.get(s).copied();
                    let value = col.map_or(0.0, |_| next());
                    parts.residual_col.push(col.unwrap_or(PAD));
                    parts.residual_values.push(value);
                    list.extend(col.map(|col| Entry { row, col, value }));
                }
                row += 1;
            }
            Piece::Window(columns, bitmaps) => {
                parts.window_row.push(row);
                for (block, &bits) in bitmaps.iter().enumerate().take(columns.div_ceil(8)) {
                    let mut kept = 0;
                    for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                        let (r, c) = (row + bit / 8, 8 * block + bit as usize % 8);
                        if (r as usize) < rows && c < *columns {
                            kept |= 1 << bit;
                            let value = next();
                            parts.values.push(value);
                            let col = 3 * c as u32;
                            list.push(Entry { row: r, col, value });
                        }
                    }
                    parts.bitmap.push(kept);
                    parts.block_value_ptr.push(parts.values.len() as u32);
                    let ids =
                        (8 * block..8 * block + 8).map(|c| if c < *columns { 3 * c as u32 } else { PAD });
                    parts.block_col.extend(ids);
                }
                parts.window_block_ptr.push(parts.bitmap.len() as u32);
                row += 8;
            }
        }
    }
    list.sort_by_key(|e| (e.row, e.col));
    (parts, Entries { rows, cols: 120, list })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Columns and blocks without bits, wide and empty residual rows, windows at empty rows: one meaning for all.
    #[test]
    fn valid_encodings_that_no_encoder_writes_are_decoded_alike(
        pieces in pieces(),
        spare in 0usize..3,
        cut in 0usize..8,
    ) {
        let (parts, expected) = laid_out(&pieces, spare, cut);
        let matrix = RsTile::try_new(parts).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(matrix.entries(), expected.clone());
        prop_assert_eq!(matrix.nnz(), expected.nnz());
        prop_assert_eq!(decode(matrix.clone()), expected.bits());
        // Whatever parameters it is said to have, encoding with them keeps the matrix.
        let again = RsTile::from_entries_with(&expected, &matrix.params()).expect("encodes");
        prop_assert_eq!(again.entries(), expected);
    }
}
