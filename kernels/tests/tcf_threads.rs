//! TCF, ME-TCF and BitTCF on matrices large enough to be shared out among threads: the same arrays as the reference,
//! with any number of threads.

use sparse_kernels::kernels_here;
use sparse_oracle::Refusal;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnyParts, AnySparse, BitTcf, BitTcfParts, Csr, CsrParts, Entries, Entry, FormatKind, FormatParams, MeTcf,
    MeTcfParts, PAD, Parts, Sparse,
};
use sparse_oracle::prelude::*;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::task::{Answer, Task};

const KINDS: [FormatKind; 3] = [FormatKind::Tcf, FormatKind::MeTcf, FormatKind::BitTcf];

fn convert(a: &AnySparse, to: FormatKind, params: FormatParams) -> Result<Answer, Refusal> {
    let kernel = kernels_here().find(|k| {
        let c = k.contract;
        (c.op, c.format, c.to, c.types.a) == (Op::Convert, a.kind(), Some(to), a.precision())
    });
    (kernel.expect("every conversion has a kernel").run)(Task::Convert { a, to, params })
}

fn encoded(a: &AnySparse, to: FormatKind, params: FormatParams) -> AnyParts {
    match convert(a, to, params).expect("encodes") {
        Answer::Parts(parts) => parts,
        other => panic!("answered {other:?}"),
    }
}

fn decoded(a: &AnySparse) -> AnySparse {
    match convert(a, FormatKind::Csr, FormatParams::default()).expect("decodes") {
        Answer::Sparse(raw) => raw.check().expect("valid"),
        other => panic!("answered {other:?}"),
    }
}

/// A generated pattern, its values the numbers of its entries.
fn generated(spec: &str) -> Csr<f32> {
    let pattern = spec.parse::<SourceSpec>().expect("a source").generate().expect("generates").into_parts();
    let values = (0..pattern.col_idx.len()).map(|i| i as f32).collect();
    let (rows, cols) = (pattern.rows, pattern.cols);
    let (row_ptr, col_idx) = (pattern.row_ptr, pattern.col_idx);
    Csr::try_new(CsrParts { rows, cols, row_ptr, col_idx, values }).expect("valid")
}

/// Few rows that hold everything, many short ones, and none at all between far rows.
#[test]
fn large_matrices_are_encoded_as_the_reference_does() {
    for spec in [
        "rmat:scale=13,seed=7",
        "uniform:rows=40000,cols=70,density=0.02,seed=3",
        "uniform:rows=21,cols=30000,density=0.1,seed=4",
        "uniform:rows=200000,cols=200000,density=0.000001,seed=5",
    ] {
        let csr = generated(spec);
        let entries = csr.entries();
        let a = AnySparse::F32(Sparse::Csr(csr));
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        for (kind, threads) in KINDS.iter().flat_map(|kind| [1, 3].map(|threads| (*kind, threads))) {
            let params = FormatParams { balanced: true, ..FormatParams::default() };
            let expected = Sparse::from_entries(kind, params, &entries).expect("encodes");
            let found = pool(threads).install(|| encoded(&a, kind, params));
            // Not assert_eq, whose message would be the matrices.
            assert!(found == AnyParts::F32(Parts::from(expected.clone())), "{spec} {kind:?} {threads}");
            let back = pool(threads).install(|| decoded(&AnySparse::F32(expected)));
            assert!(back == a, "{spec} {kind:?} {threads}: back");
        }
    }
}

/// Valid encodings that no encoder writes: a column without entries, and a block without any.
#[test]
fn unused_columns_and_blocks_are_decoded_to_nothing() {
    let columns = vec![0, 2, 3, 5, 6, 7, 8, 9, 11, PAD, PAD, PAD, PAD, PAD, PAD, PAD];
    let me = MeTcfParts {
        rows: 3,
        cols: 12,
        balanced: false,
        row_window_offset: vec![0, 2],
        tc_offset: vec![0, 2, 2],
        tc_local_id: vec![1, 17],
        sparse_a_to_b: columns.clone(),
        block_window: vec![],
        values: vec![1.0f32, 2.0],
    };
    let bit = BitTcfParts {
        rows: 3,
        cols: 12,
        balanced: false,
        row_window_offset: vec![0, 2],
        tc_offset: vec![0, 2, 2],
        tc_local_bit: vec![1 << 1 | 1 << 17, 0],
        sparse_a_to_b: columns,
        block_window: vec![],
        values: vec![1.0f32, 2.0],
    };
    let at = |row, value| Entry { row, col: 2, value };
    let entries = Entries::try_new(3, 12, vec![at(0, 1.0), at(2, 2.0)]).expect("sorted");
    let expected = AnySparse::F32(Sparse::Csr(Csr::from_entries(&entries).expect("encodes")));
    let me = Sparse::MeTcf(MeTcf::try_new(me).expect("valid"));
    let bit = Sparse::BitTcf(BitTcf::try_new(bit).expect("valid"));
    for matrix in [me, bit] {
        assert_eq!(decoded(&AnySparse::F32(matrix)), expected);
    }
}
