//! LOOPS and SR-BCRS, element by element: the pictures in the format files and others worked out by hand, what the
//! parameters do, and limits.

use sparse_oracle::format::{
    Entries, Entry, FormatParams, Loops, LoopsParts, PAD, SLOT_LIMIT, SrBcrs, SrBcrsParts,
};
use sparse_oracle::prelude::*;
use sparse_oracle::{Limit, Refusal, RequestError, Scalar};

fn entries(rows: usize, cols: usize, list: &[(u32, u32, f32)]) -> Entries<f32> {
    let list = list.iter().map(|&(row, col, value)| Entry { row, col, value });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

fn loops_params(boundary: Option<u32>, br: u32) -> FormatParams {
    FormatParams { boundary, br, ..FormatParams::default() }
}

fn sr_bcrs_params(v: u32, stride: u32) -> FormatParams {
    FormatParams { v, stride, ..FormatParams::default() }
}

fn loops(entries: &Entries<f32>, boundary: Option<u32>, br: u32) -> Result<Loops<f32>, Refusal> {
    Loops::from_entries_with(entries, &loops_params(boundary, br))
}

/// The picture of `loops.rs`.
fn loops_picture() -> Entries<f32> {
    entries(4, 4, &[(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0), (1, 3, 4.0), (2, 1, 5.0), (3, 0, 6.0)])
}

#[test]
fn loops_is_laid_out_as_drawn() {
    let parts = LoopsParts {
        rows: 4,
        cols: 4,
        boundary: 1,
        br: 2,
        row_ptr: vec![0, 2],
        col_idx: vec![0, 2],
        csr_values: vec![1.0, 2.0],
        block_ptr: vec![0, 2, 3],
        block_col: vec![1, 3, 0],
        values: vec![3.0, 5.0, 4.0, 0.0, 6.0, 0.0],
    };
    let encoded = loops(&loops_picture(), Some(1), 2).expect("encodes");
    assert_eq!(encoded.clone().into_parts(), parts);
    assert_eq!((encoded.blocks(), encoded.nnz()), (2, 6));
    assert_eq!(encoded.tile(1), [4.0, 0.0]);
    assert_eq!(Loops::try_new(parts).expect("valid").entries(), loops_picture());
}

#[test]
fn sr_bcrs_is_laid_out_as_drawn() {
    let picture = entries(3, 4, &[(0, 0, 1.0), (0, 2, 2.0), (0, 3, 3.0), (1, 0, 4.0), (2, 1, 5.0)]);
    let parts = SrBcrsParts {
        rows: 3,
        cols: 4,
        v: 2,
        stride: 2,
        window_ptr: vec![0, 4, 6],
        vector_col: vec![0, 2, 3, PAD, 1, PAD],
        values: vec![1.0, 2.0, 4.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0],
    };
    let encoded = SrBcrs::from_entries_with(&picture, &sr_bcrs_params(2, 2)).expect("encodes");
    assert_eq!(encoded.clone().into_parts(), parts);
    assert_eq!((encoded.windows(), encoded.nnz()), (2, 5));
    assert_eq!(encoded.group(1), [3.0, 0.0, 0.0, 0.0]);
    assert_eq!(SrBcrs::try_new(parts).expect("valid").entries(), picture);
}

/// Three rows by three columns in one group: transposed inside, rows outermost.
#[test]
fn a_group_is_row_major() {
    let list: Vec<_> = (0..9).map(|i| (i / 3, i % 3, (i + 1) as f32)).collect();
    let full = SrBcrs::from_entries_with(&entries(3, 3, &list), &sr_bcrs_params(3, 4)).expect("encodes");
    assert_eq!(full.vector_col, [0, 1, 2, PAD]);
    assert_eq!(full.values, [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 9.0, 0.0]);
    // Groups of one vector are columns.
    let columns = SrBcrs::from_entries_with(&entries(3, 3, &list), &sr_bcrs_params(3, 1)).expect("encodes");
    assert_eq!(columns.values, [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
}

#[test]
fn windows_without_entries_have_no_vectors() {
    let sparse = entries(9, 5, &[(3, 4, 1.0), (8, 0, 2.0)]);
    let m = SrBcrs::from_entries_with(&sparse, &sr_bcrs_params(2, 2)).expect("encodes");
    assert_eq!(m.window_ptr, [0, 0, 2, 2, 2, 4]);
    assert_eq!(m.vector_col, [4, PAD, 0, PAD]);
    assert_eq!(m.values, [0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
    let l = loops(&sparse, Some(2), 2).expect("encodes");
    assert_eq!((l.row_ptr.as_slice(), l.block_ptr.as_slice()), (&[0, 0, 0][..], &[0, 1, 1, 1, 2][..]));
    assert_eq!((l.block_col.as_slice(), l.values.as_slice()), (&[4, 0][..], &[0.0, 1.0, 2.0, 0.0][..]));
}

#[test]
fn the_boundary_is_half_the_rows_unless_given() {
    for (rows, expected) in [(0, 0), (1, 0), (2, 1), (7, 3), (8, 4)] {
        let m = loops(&entries(rows, 1, &[]), None, 8).expect("encodes");
        assert_eq!((m.boundary, m.params().boundary), (expected, Some(expected as u32)), "{rows} rows");
    }
    // Either part may be empty.
    let (all, none) = (loops(&loops_picture(), Some(4), 2), loops(&loops_picture(), Some(0), 2));
    let (all, none) = (all.expect("encodes"), none.expect("encodes"));
    assert_eq!((all.nnz(), all.csr_values.len(), all.block_ptr.as_slice()), (6, 6, &[0][..]));
    assert_eq!((none.nnz(), none.csr_values.len(), none.row_ptr.as_slice()), (6, 0, &[0][..]));
    assert_eq!(none.values, [1.0, 0.0, 0.0, 3.0, 2.0, 0.0, 0.0, 4.0, 0.0, 6.0, 5.0, 0.0]);
    assert_eq!((all.entries(), none.entries()), (loops_picture(), loops_picture()));
}

/// The CSR part keeps +0.0. The tile part, as all of SR-BCRS, makes it a pad; -0.0 and NaN survive everywhere.
#[test]
fn explicit_zeros_live_in_the_csr_part_only() {
    let zeros = |row| [(row, 0, 0.0), (row, 1, -0.0), (row, 2, f32::NAN)];
    let both: Vec<_> = zeros(0).into_iter().chain(zeros(1)).collect();
    let m = loops(&entries(2, 3, &both), Some(1), 2).expect("encodes");
    assert_eq!((m.nnz(), m.block_col.as_slice()), (5, &[0, 1, 2][..]), "the zero creates its tile");
    let positions: Vec<_> = m.entries().list.iter().map(|e| (e.row, e.col)).collect();
    assert_eq!(positions, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)]);
    let bits: Vec<_> = m.entries().list.iter().map(|e| e.value.bits64()).collect();
    let (minus, nan) = ((-0.0f32).bits64(), f32::NAN.bits64());
    assert_eq!(bits, [0, minus, nan, minus, nan]);
    let s = SrBcrs::from_entries_with(&entries(2, 3, &both), &sr_bcrs_params(2, 4)).expect("encodes");
    assert_eq!((s.nnz(), s.vector_col.as_slice()), (4, &[0, 1, 2, PAD][..]));
}

fn too_large(field: &'static str, found: u128, limit: u64) -> Refusal {
    Refusal::Request(RequestError::TooLarge { field, found, limit })
}

fn past_limit(field: &'static str, found: u128, limit: u64) -> Refusal {
    Refusal::Limit(Limit { field, found, limit })
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let picture = loops_picture();
    let refused = |boundary, br| loops(&picture, boundary, br).expect_err("no such cut");
    assert_eq!(refused(None, 0), Refusal::Request(RequestError::Zero { field: "br" }));
    assert_eq!(refused(None, 65_537), too_large("br", 65_537, 65_536));
    assert_eq!(refused(Some(5), 8), too_large("boundary", 5, 4));
    assert_eq!(refused(Some(u32::MAX), 8), too_large("boundary", u128::from(u32::MAX), 4));
    assert!(loops(&picture, Some(0), 65_536).is_ok());
    let refused = |v, stride| {
        SrBcrs::from_entries_with(&picture, &sr_bcrs_params(v, stride)).expect_err("no such group")
    };
    assert_eq!(refused(0, 4), Refusal::Request(RequestError::Zero { field: "v" }));
    assert_eq!(refused(8, 0), Refusal::Request(RequestError::Zero { field: "stride" }));
    assert_eq!(refused(256, 257), too_large("v * stride", 65_792, 65_536));
    assert_eq!(
        refused(u32::MAX, u32::MAX),
        too_large("v * stride", u128::from(u32::MAX) * u128::from(u32::MAX), 65_536)
    );
    assert!(SrBcrs::from_entries_with(&picture, &sr_bcrs_params(256, 256)).is_ok());
}

#[test]
fn what_is_no_matrix_is_refused_first() {
    let mut bad = loops_picture();
    bad.list.swap(0, 1);
    let expected = bad.check().expect_err("unsorted");
    assert_eq!(loops(&bad, None, 0), Err(expected.clone()));
    assert_eq!(SrBcrs::from_entries_with(&bad, &sr_bcrs_params(0, 0)), Err(expected));
}

/// 2^31 rows and three entries: in proportion to the entries, or refused before anything is allocated.
#[test]
fn tall_matrices_cost_little_or_are_refused() {
    let rows = 1usize << 31;
    let tall = entries(rows, 3, &[(0, 0, 1.0), (0, 2, 1.0), (rows as u32 - 1, 2, 1.0)]);
    let half = (1u128 << 30) + 1;
    assert_eq!(loops(&tall, None, 8), Err(past_limit("row_ptr", half, SLOT_LIMIT)));
    assert_eq!(loops(&tall, Some(0), 4), Err(past_limit("block_ptr", (1 << 29) + 1, SLOT_LIMIT)));
    let m = loops(&tall, Some(1), 1 << 16).expect("2^15 blocks");
    assert_eq!((m.block_ptr.len(), m.values.len()), ((1 << 15) + 1, 1 << 16));
    assert_eq!(m.entries(), tall);
    let sr_bcrs = |v, stride| SrBcrs::from_entries_with(&tall, &sr_bcrs_params(v, stride));
    assert_eq!(sr_bcrs(4, 4), Err(past_limit("window_ptr", (1 << 29) + 1, SLOT_LIMIT)));
    assert_eq!(sr_bcrs(1 << 16, 1).expect("2^15 windows").entries(), tall);
}

/// The last columns of the widest matrix are columns, not pads.
#[test]
fn wide_matrices_reach_the_last_column() {
    let wide = entries(3, u32::MAX as usize, &[(0, u32::MAX - 1, 1.0), (2, 0, 2.0), (2, u32::MAX - 1, 3.0)]);
    assert_eq!(loops(&wide, None, 2).expect("encodes").entries(), wide);
    let m = SrBcrs::from_entries_with(&wide, &sr_bcrs_params(2, 2)).expect("encodes");
    assert_eq!(m.vector_col, [u32::MAX - 1, PAD, 0, u32::MAX - 1]);
    assert_eq!(SrBcrs::try_new(m.clone().into_parts()).expect("valid").entries(), wide);
}

/// Every entry in a tile of its own, and a tile of 2^16 slots.
#[test]
fn scattered_entries_are_too_much_for_high_tiles() {
    let list: Vec<_> = (0..(1 << 12) + 1).map(|i| (i, i, 1.0)).collect();
    let diagonal = entries(1 << 13, 1 << 13, &list);
    let slots = ((1u128 << 12) + 1) << 16;
    assert_eq!(loops(&diagonal, Some(0), 1 << 16), Err(past_limit("slots", slots, SLOT_LIMIT)));
    let sr_bcrs = |v, stride| SrBcrs::from_entries_with(&diagonal, &sr_bcrs_params(v, stride));
    assert_eq!(sr_bcrs(1 << 16, 1), Err(past_limit("slots", slots, SLOT_LIMIT)));
    // Pads count: 2^12 + 1 windows of one vector each, padded to 2^16.
    assert_eq!(sr_bcrs(1, 1 << 16), Err(past_limit("slots", slots, SLOT_LIMIT)));
    assert_eq!(loops(&diagonal, Some(0), 8).expect("in proportion").values.len(), 8 * ((1 << 12) + 1));
}
