//! Every defect by name, for every field of TCF, ME-TCF and BitTCF: the constructor finds it and says which, where and
//! why.
//!
//! ```text
//! . 1 . 2      3 x 4, one window of 8 or 16 rows with columns 0 1 3; and row 16, the third (second) window
//! . . . .
//! 3 . . 4
//! ```

use crate::defects;

use defects::{
    PAST_U32, decreasing, duplicate, first, last, length, out_of_range, past_u32, refuses, unsorted,
};
use sparse_oracle::format::{BitTcf, BitTcfParts, MeTcf, MeTcfParts, PAD, Tcf, TcfParts};
use sparse_oracle::{EncodingError, Refusal};

fn dirty(field: &'static str, at: usize, row: usize) -> Refusal {
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

fn unequal(field: &'static str, at: usize, expected: u64, found: u64) -> Refusal {
    Refusal::Encoding(EncodingError::Unequal { field, at, expected, found })
}

fn stray(at: usize, bit: u32) -> Refusal {
    let field = "tc_local_bit";
    Refusal::Encoding(EncodingError::StrayBit { field, at, bit })
}

#[test]
#[rustfmt::skip]
fn tcf() {
    let mut node_pointer = vec![4; 18];
    node_pointer[..4].copy_from_slice(&[0, 2, 2, 4]);
    node_pointer[17] = 5;
    let valid = TcfParts {
        rows: 17,
        cols: 4,
        node_pointer,
        edge_list: vec![1, 3, 0, 3, 2],
        edge_to_column: vec![1, 2, 0, 2, 0],
        edge_to_row: vec![0, 0, 2, 2, 16],
        block_partition: vec![1, 1],
        values: vec![1.0f32, 2.0, 3.0, 4.0, 5.0],
    };
    refuses(
        &valid,
        Tcf::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("rows past everything", |p| p.rows = usize::MAX, past_u32("rows", usize::MAX as u128)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("more rows than pointers", |p| p.rows = u32::MAX as usize, length("node_pointer", 1 << 32, 18)),
            ("a row less", |p| p.rows = 16, length("node_pointer", 17, 18)),
            ("no pointer", |p| p.node_pointer.clear(), length("node_pointer", 18, 0)),
            ("first offset", |p| p.node_pointer[0] = 1, first("node_pointer", 1)),
            ("decreasing offset", |p| p.node_pointer[2] = 1, decreasing("node_pointer", 2, 2, 1)),
            ("last offset", |p| p.node_pointer[17] = 6, last("node_pointer", 5, 6)),
            ("a value missing", |p| p.values.truncate(4), last("node_pointer", 4, 5)),
            ("a column missing", |p| p.edge_list.truncate(4), length("edge_list", 5, 4)),
            ("a rank missing", |p| p.edge_to_column.truncate(4), length("edge_to_column", 5, 4)),
            ("a row index missing", |p| p.edge_to_row.truncate(4), length("edge_to_row", 5, 4)),
            ("a window missing", |p| p.block_partition.truncate(1), length("block_partition", 2, 1)),
            ("a window too many", |p| p.block_partition.push(0), length("block_partition", 2, 3)),
            ("column out of range", |p| p.edge_list[1] = 4, out_of_range("edge_list", 1, 0, 4, 4)),
            ("columns swapped", |p| p.edge_list.swap(2, 3), unsorted("edge_list", 3, 2, 3, 0)),
            ("column repeated", |p| p.edge_list[3] = 0, duplicate("edge_list", 3, 2, 0)),
            ("another row", |p| p.edge_to_row[2] = 1, unequal("edge_to_row", 2, 2, 1)),
            ("the row inside its window", |p| p.edge_to_row[4] = 0, unequal("edge_to_row", 4, 16, 0)),
            ("column instead of rank", |p| p.edge_to_column[1] = 3, unequal("edge_to_column", 1, 2, 3)),
            ("rank in the whole matrix", |p| p.edge_to_column[4] = 2, unequal("edge_to_column", 4, 0, 2)),
            ("a block too many", |p| p.block_partition[0] = 2, unequal("block_partition", 0, 1, 2)),
            ("no block", |p| p.block_partition[1] = 0, unequal("block_partition", 1, 1, 0)),
        ],
    );
}

/// Ten columns in the first window, so that it has two blocks; row 16 is the only one of the second.
#[test]
#[rustfmt::skip]
fn me_tcf() {
    let mut sparse_a_to_b: Vec<u32> = (0..10).chain([PAD; 6]).chain([5]).collect();
    sparse_a_to_b.resize(24, PAD);
    let valid = MeTcfParts {
        rows: 17,
        cols: 12,
        balanced: true,
        row_window_offset: vec![0, 2, 3],
        tc_offset: vec![0, 9, 11, 12],
        tc_local_id: vec![0, 1, 2, 3, 4, 5, 6, 7, 127, 8, 9, 0],
        sparse_a_to_b,
        block_window: vec![0, 0, 1],
        values: vec![1.0f32; 12],
    };
    refuses(
        &valid,
        MeTcf::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = usize::MAX, past_u32("cols", usize::MAX as u128)),
            ("more rows than windows", |p| p.rows = u32::MAX as usize, length("row_window_offset", (1 << 28) + 1, 3)),
            ("a window too many", |p| p.rows = 16, length("row_window_offset", 2, 3)),
            ("no window offset", |p| p.row_window_offset.clear(), length("row_window_offset", 3, 0)),
            ("first window offset", |p| p.row_window_offset[0] = 1, first("row_window_offset", 1)),
            ("decreasing window offset", |p| p.row_window_offset[1] = 4, decreasing("row_window_offset", 2, 4, 3)),
            ("last window offset", |p| p.row_window_offset[2] = 4, last("row_window_offset", 3, 4)),
            ("no block offset", |p| p.tc_offset.clear(), last("row_window_offset", 0, 3)),
            ("no blocks at all", |p| (p.tc_offset, p.row_window_offset) = (vec![], vec![0; 3]), length("tc_offset", 1, 0)),
            ("a block offset missing", |p| p.tc_offset.truncate(3), last("row_window_offset", 2, 3)),
            ("first block offset", |p| p.tc_offset[0] = 1, first("tc_offset", 1)),
            ("decreasing block offset", |p| p.tc_offset[1] = 12, decreasing("tc_offset", 2, 12, 11)),
            ("last block offset", |p| p.tc_offset[3] = 13, last("tc_offset", 12, 13)),
            ("a value missing", |p| p.values.truncate(11), last("tc_offset", 11, 12)),
            ("a local id missing", |p| p.tc_local_id.truncate(11), length("tc_local_id", 12, 11)),
            ("a column missing", |p| p.sparse_a_to_b.truncate(23), length("sparse_a_to_b", 24, 23)),
            ("column out of range", |p| p.sparse_a_to_b[9] = 12, out_of_range("sparse_a_to_b", 9, 0, 12, 12)),
            ("columns swapped", |p| p.sparse_a_to_b.swap(3, 4), unsorted("sparse_a_to_b", 4, 0, 4, 3)),
            ("columns swapped between blocks", |p| p.sparse_a_to_b.swap(7, 8), unsorted("sparse_a_to_b", 8, 0, 8, 7)),
            ("column repeated", |p| p.sparse_a_to_b[8] = 7, duplicate("sparse_a_to_b", 8, 0, 7)),
            ("a pad in a full block", |p| p.sparse_a_to_b[7] = PAD, out_of_range("sparse_a_to_b", 7, 0, u64::from(PAD), 12)),
            ("a block of pads", |p| p.sparse_a_to_b[16] = PAD, out_of_range("sparse_a_to_b", 16, 1, u64::from(PAD), 12)),
            ("a column after a pad", |p| p.sparse_a_to_b[11] = 11, dirty("sparse_a_to_b", 11, 0)),
            ("zero instead of a pad", |p| p.sparse_a_to_b[23] = 0, dirty("sparse_a_to_b", 23, 1)),
            ("id past the block", |p| p.tc_local_id[8] = 128, out_of_range("tc_local_id", 8, 0, 128, 128)),
            ("id below the matrix", |p| p.tc_local_id[11] = 8, out_of_range("tc_local_id", 11, 2, 8, 8)),
            ("ids swapped", |p| p.tc_local_id.swap(9, 10), unsorted("tc_local_id", 10, 1, 9, 8)),
            ("ids column by column", |p| p.tc_local_id[..3].copy_from_slice(&[0, 8, 1]), unsorted("tc_local_id", 2, 0, 8, 1)),
            ("id repeated", |p| p.tc_local_id[1] = 0, unsorted("tc_local_id", 1, 0, 0, 0)),
            ("id over a pad", |p| p.tc_local_id[10] = 26, dirty("tc_local_id", 10, 3)),
            ("window of a block missing", |p| p.block_window.truncate(2), length("block_window", 3, 2)),
            ("another window", |p| p.block_window[2] = 0, unequal("block_window", 2, 1, 0)),
            ("a window past the last", |p| p.block_window[0] = u32::MAX, unequal("block_window", 0, 0, u64::from(u32::MAX))),
            ("windows though not balanced", |p| p.balanced = false, length("block_window", 0, 3)),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn bit_tcf() {
    let mut sparse_a_to_b: Vec<u32> = (0..10).chain([PAD; 6]).chain([5]).collect();
    sparse_a_to_b.resize(24, PAD);
    let valid = BitTcfParts {
        rows: 9,
        cols: 12,
        balanced: true,
        row_window_offset: vec![0, 2, 3],
        tc_offset: vec![0, 9, 11, 12],
        tc_local_bit: vec![0x80000000000000ff, 0x300, 1],
        sparse_a_to_b,
        block_window: vec![0, 0, 1],
        values: vec![1.0f32; 12],
    };
    refuses(
        &valid,
        BitTcf::try_new,
        vec![
            ("rows past u32", |p| p.rows = usize::MAX, past_u32("rows", usize::MAX as u128)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("more rows than windows", |p| p.rows = u32::MAX as usize, length("row_window_offset", (1 << 29) + 1, 3)),
            ("a window too many", |p| p.rows = 8, length("row_window_offset", 2, 3)),
            ("windows of 16 rows", |p| p.rows = 17, length("row_window_offset", 4, 3)),
            ("first window offset", |p| p.row_window_offset[0] = 1, first("row_window_offset", 1)),
            ("decreasing window offset", |p| p.row_window_offset[1] = 4, decreasing("row_window_offset", 2, 4, 3)),
            ("last window offset", |p| p.row_window_offset[2] = 2, last("row_window_offset", 3, 2)),
            ("no blocks at all", |p| (p.tc_offset, p.row_window_offset) = (vec![], vec![0; 3]), length("tc_offset", 1, 0)),
            ("first block offset", |p| p.tc_offset[0] = 1, first("tc_offset", 1)),
            ("decreasing block offset", |p| p.tc_offset[2] = 8, decreasing("tc_offset", 2, 9, 8)),
            ("last block offset", |p| p.tc_offset[3] = 11, last("tc_offset", 12, 11)),
            ("a value missing", |p| p.values.truncate(11), last("tc_offset", 11, 12)),
            ("a bitmap missing", |p| p.tc_local_bit.truncate(2), length("tc_local_bit", 3, 2)),
            ("a column missing", |p| p.sparse_a_to_b.truncate(23), length("sparse_a_to_b", 24, 23)),
            ("column out of range", |p| p.sparse_a_to_b[16] = 12, out_of_range("sparse_a_to_b", 16, 1, 12, 12)),
            ("columns swapped", |p| p.sparse_a_to_b.swap(3, 4), unsorted("sparse_a_to_b", 4, 0, 4, 3)),
            ("column repeated", |p| p.sparse_a_to_b[8] = 7, duplicate("sparse_a_to_b", 8, 0, 7)),
            ("a pad in a full block", |p| p.sparse_a_to_b[0] = PAD, out_of_range("sparse_a_to_b", 0, 0, u64::from(PAD), 12)),
            ("a column after a pad", |p| p.sparse_a_to_b[15] = 11, dirty("sparse_a_to_b", 15, 0)),
            ("a bit over a pad", |p| p.tc_local_bit[1] = 0x500, stray(1, 10)),
            ("a bit below the matrix", |p| p.tc_local_bit[2] = 0x101, stray(2, 8)),
            ("a bit instead, below the matrix", |p| p.tc_local_bit[2] = 1 << 63, stray(2, 63)),
            ("a bit too many", |p| p.tc_local_bit[0] |= 1 << 20, unequal("tc_offset", 1, 10, 9)),
            ("a bit less", |p| p.tc_local_bit[1] = 0x100, unequal("tc_offset", 2, 10, 11)),
            ("no bit", |p| p.tc_local_bit[2] = 0, unequal("tc_offset", 3, 11, 12)),
            ("an offset between blocks moved", |p| p.tc_offset[1] = 8, unequal("tc_offset", 1, 9, 8)),
            ("window of a block missing", |p| p.block_window.truncate(2), length("block_window", 3, 2)),
            ("another window", |p| p.block_window[1] = 1, unequal("block_window", 1, 0, 1)),
            ("windows though not balanced", |p| p.balanced = false, length("block_window", 0, 3)),
        ],
    );
}
