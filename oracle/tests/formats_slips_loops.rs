//! Encodings of LOOPS and SR-BCRS that are wrong, or not the canonical one: those that follow the paper's slips, and what
//! the judge says of each.

use sparse_oracle::format::{
    AnySparse, Entries, Entry, FormatKind, FormatParams, Loops, LoopsParts, PAD, Parts, Sparse, SrBcrs,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::prelude::*;
use sparse_oracle::verdict::{Defect, Verdict};
use sparse_oracle::{EncodingError, Refusal};

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

/// The picture of `format/loops.rs`.
fn loops_picture() -> Entries<f32> {
    entries(4, 4, &[(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0), (1, 3, 4.0), (2, 1, 5.0), (3, 0, 6.0)])
}

/// Algorithm 1 as printed: absolute rows divided by `br`, the map's tiles in ascending order.
fn encoded_as_printed(entries: &Entries<f32>, boundary: usize, br: usize) -> LoopsParts<f32> {
    let mut parts =
        LoopsParts { rows: entries.rows, cols: entries.cols, boundary, br, ..LoopsParts::default() };
    let mut tiles = std::collections::BTreeMap::new();
    parts.row_ptr.push(0);
    for row in 0..boundary as u32 {
        for e in entries.list.iter().filter(|e| e.row == row) {
            parts.col_idx.push(e.col);
            parts.csr_values.push(e.value);
        }
        parts.row_ptr.push(parts.col_idx.len() as u32);
    }
    for e in entries.list.iter().filter(|e| e.row as usize >= boundary) {
        let row = e.row as usize;
        let tile = tiles.entry((row / br, e.col)).or_insert(vec![0.0; br]);
        tile[row % br] = e.value;
    }
    for block in boundary / br..entries.rows.div_ceil(br) {
        parts.block_ptr.push(parts.block_col.len() as u32);
        for ((_, col), tile) in tiles.range((block, 0)..(block + 1, 0)) {
            parts.block_col.push(*col);
            parts.values.extend(tile);
        }
    }
    parts.block_ptr.push(parts.block_col.len() as u32);
    parts
}

fn judged(entries: &Entries<f32>, found: LoopsParts<f32>) -> Verdict {
    let expected = loops(entries, Some(found.boundary as u32), found.br as u32).expect("encodes");
    judge_encoded(&AnySparse::F32(Sparse::Loops(expected)), Parts::Loops(found).into())
}

/// What is wrong, in words.
fn complaint(verdict: Verdict, defect: Defect) -> String {
    match verdict {
        Verdict::Wrong(mismatch) => {
            assert_eq!(mismatch.defect, defect, "{mismatch}");
            mismatch.to_string()
        }
        other => panic!("not caught: {other:?}"),
    }
}

/// Absolute rows divided by `br`: with an aligned boundary that is right, otherwise the first block's rows start above
/// the boundary and every entry moves down, or the number of blocks is off.
#[test]
fn slip_1_blocks_of_absolute_rows_are_caught_where_the_boundary_is_not_aligned() {
    let list: Vec<_> = (0..8).map(|i| (i, i % 3, (i + 1) as f32)).collect();
    let matrix = entries(8, 3, &list);
    assert_eq!(judged(&matrix, encoded_as_printed(&matrix, 4, 2)), Verdict::Exact);
    // Rows 3..8 are three blocks of two; as printed, rows 2..8, the first of which is also in the CSR part.
    let printed = encoded_as_printed(&matrix, 3, 2);
    assert_eq!(printed.block_ptr, [0, 1, 3, 5]);
    let first_tile = (printed.block_col[0], &printed.values[..2]);
    assert_eq!(first_tile, (0, &[0.0, 4.0][..]), "row 3 in the second slot: the first is row 2");
    let said = complaint(judged(&matrix, printed.clone()), Defect::Structure);
    assert!(said.contains("not a valid encoding"), "the last row falls off the end: {said}");
    assert_eq!(
        Loops::try_new(printed).expect_err("row 7 would be row 8"),
        Refusal::Encoding(EncodingError::DirtyPad { field: "values", at: 9, row: 8 })
    );
    // Were the last row empty, nothing would fall off: a valid encoding of another matrix.
    let open = entries(8, 3, &list[..7]);
    let printed = encoded_as_printed(&open, 3, 2);
    let rows = |m: &Loops<f32>| m.entries().list.iter().map(|e| e.row).collect::<Vec<_>>();
    let read = Loops::try_new(printed.clone()).expect("valid");
    assert_eq!(rows(&read), [0, 1, 2, 4, 5, 6, 7], "every row of the tile part is one too far down");
    let verdict = judged(&open, printed);
    assert!(matches!(verdict, Verdict::Wrong(_)), "{verdict:?}");
    // With a row less, there is a block too many.
    let shorter = entries(7, 3, &list[..7]);
    let said = complaint(judged(&shorter, encoded_as_printed(&shorter, 3, 2)), Defect::Structure);
    assert!(said.contains("block_ptr has 4 elements, expected 3"), "{said}");
}

/// Algorithm 1 appends to `row_ptr` after each row and never before the first.
#[test]
fn slip_1_a_row_ptr_that_was_never_started_is_caught() {
    let mut parts = loops(&loops_picture(), Some(1), 2).expect("encodes").into_parts();
    parts.row_ptr.remove(0);
    assert_eq!(parts.row_ptr, [2]);
    let said = complaint(judged(&loops_picture(), parts), Defect::Structure);
    assert!(said.contains("row_ptr has 1 elements, expected 2"), "{said}");
    // An implementation that reserves the space and fills it from the front leaves the last offset unset.
    let mut parts = loops(&loops_picture(), Some(1), 2).expect("encodes").into_parts();
    parts.row_ptr = vec![2, 0];
    let said = complaint(judged(&loops_picture(), parts), Defect::Structure);
    assert!(said.contains("row_ptr[0] is 2, expected 0"), "{said}");
}

/// The map of tiles is never written out: without its arrays the tile part's entries are missing.
#[test]
fn slip_1_tiles_that_are_never_written_are_caught() {
    let mut parts = loops(&loops_picture(), Some(1), 2).expect("encodes").into_parts();
    (parts.block_ptr, parts.block_col, parts.values) = (Vec::new(), Vec::new(), Vec::new());
    let said = complaint(judged(&loops_picture(), parts.clone()), Defect::Structure);
    assert!(said.contains("block_ptr has 0 elements, expected 3"), "{said}");
    parts.block_ptr = vec![0; 3];
    let verdict = judged(&loops_picture(), parts);
    assert!(matches!(verdict, Verdict::Wrong(_)), "{verdict:?}");
}

/// Tiles in the order of a hash map.
#[test]
fn tiles_out_of_order_are_caught() {
    let mut parts = loops(&loops_picture(), Some(1), 2).expect("encodes").into_parts();
    parts.block_col.swap(0, 1);
    parts.values[..4].rotate_left(2);
    let said = complaint(judged(&loops_picture(), parts), Defect::Structure);
    assert!(said.contains("block_col"), "{said}");
}

/// A tile without entries, or an extra group of pads, decodes to the right matrix and is not its canonical encoding.
#[test]
fn valid_encodings_that_are_not_canonical_are_named() {
    let mut parts = loops(&loops_picture(), Some(1), 2).expect("encodes").into_parts();
    parts.block_ptr[2] += 1;
    parts.block_col.push(3);
    parts.values.extend([0.0; 2]);
    let said = complaint(judged(&loops_picture(), parts), Defect::Structure);
    assert!(said.contains("not the format's canonical encoding: block_ptr[2]"), "{said}");
    let expected = SrBcrs::from_entries_with(&loops_picture(), &sr_bcrs_params(4, 2)).expect("encodes");
    let mut parts = expected.clone().into_parts();
    parts.window_ptr[1] += 2;
    parts.vector_col.extend([PAD; 2]);
    parts.values.extend([0.0; 8]);
    let expected = AnySparse::F32(Sparse::SrBcrs(expected));
    let said = complaint(judge_encoded(&expected, Parts::SrBcrs(parts).into()), Defect::Structure);
    assert!(said.contains("not the format's canonical encoding: window_ptr[1]"), "{said}");
}

/// Another boundary or tile height is another encoding, even where the matrix is the same.
#[test]
fn other_parameters_than_asked_for_are_caught() {
    let expected = AnySparse::F32(Sparse::Loops(loops(&loops_picture(), Some(1), 2).expect("encodes")));
    for (boundary, br, field) in [(2, 2, "boundary"), (1, 4, "br")] {
        let other = loops(&loops_picture(), Some(boundary), br).expect("encodes").into_parts();
        let said = complaint(judge_encoded(&expected, Parts::Loops(other).into()), Defect::Structure);
        assert!(said.contains(field), "{said}");
    }
    assert_eq!(expected.kind(), FormatKind::Loops);
}
