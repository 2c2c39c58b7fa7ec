//! Partial sums of one pair of tiles: which columns and rows meet, what each processing element computes and where it
//! puts it, and the order in which it is added.
//!
//! ```text
//! A  k: 0 1 2   B  k: 1 2        k = 1 and 2 match; each pair of groups with its bits set runs an outer product
//!    0  a b .      0  x .        element (0, 0):  address  0   1   2
//!    1  . c d      1  y z                         psum     bx  cx  d.y ...
//!                                                 column   0   0   0        per row: row 0: addresses 0; row 1: 1 2
//! ```
//!
//! A psum goes to the next free address of its element: by k, then row of A, then column of B. Each row keeps the
//! addresses of its psums in that order. Address mapping inserts them one by one into registers sorted by column, an
//! equal column after those that are there; neighbours of equal column are then added from the left. The paper leaves
//! open the order of an outer product and what becomes of equal columns; both are pinned here.

use sparse_oracle::format::{CpCsr, RpCsc};
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::Scalar;
use std::collections::BTreeMap;
use std::ops::Range;

/// A column of A that meets a row of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The inner index, in the tile.
    pub k: u16,
    /// Position in `col_idx` of A.
    pub at_a: usize,
    /// Position in `row_idx` of B.
    pub at_b: usize,
    /// Groups of A that store the column.
    pub groups_a: u64,
    /// Groups of B that store the row.
    pub groups_b: u64,
}

/// A product that is not yet computed, at its address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Psum<T> {
    /// The inner index, in the tile.
    pub k: u16,
    /// Column inside the group of B.
    pub column: u16,
    /// Operand from A.
    pub a: T,
    /// Operand from B.
    pub b: T,
}

/// What one processing element holds between two address mappings.
#[derive(Clone, Debug, PartialEq)]
pub struct PsumBuffer<T> {
    /// Group of rows of A.
    pub group_a: usize,
    /// Group of columns of B.
    pub group_b: usize,
    /// Value and column buffers, by address.
    pub psums: Vec<Psum<T>>,
    /// Addresses of the psums of each row of the group that has any, as they were appended.
    pub addresses: BTreeMap<u16, Vec<u32>>,
}

/// One term of an output row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PsumTerm<T> {
    /// Column of the output tile.
    pub column: u32,
    /// Address in the buffer of its processing element.
    pub address: u32,
    /// The inner index, in the tile.
    pub k: u16,
    /// Operand from A.
    pub a: T,
    /// Operand from B.
    pub b: T,
}

/// Merges the columns of A with the rows of B: those that both store, ascending.
///
/// # Errors
/// [`RequestError::Shape`] when the columns of A are not the rows of B.
pub fn matches<T: Scalar>(a: &RpCsc<T>, b: &CpCsr<T>) -> Result<Vec<Match>, Refusal> {
    if a.cols != b.rows {
        return Err(Refusal::Request(RequestError::Shape {
            left_name: "columns of A",
            left: a.cols,
            right_name: "rows of B",
            right: b.rows,
        }));
    }
    let (mut at_a, mut at_b, mut found) = (0, 0, Vec::new());
    while at_a < a.col_idx.len() && at_b < b.row_idx.len() {
        let (col, row) = (a.col_idx[at_a], b.row_idx[at_b]);
        if col == row {
            found.push(Match {
                k: col,
                at_a,
                at_b,
                groups_a: a.group_bitmap[at_a],
                groups_b: b.group_bitmap[at_b],
            });
        }
        at_a += usize::from(col <= row);
        at_b += usize::from(row <= col);
    }
    Ok(found)
}

/// The entries of each (position, group): `bitmaps`, first length and first entry of each group, lengths.
fn lanes(
    bitmaps: &[u64],
    (lane_ptr, value_ptr): (&[u32], &[u32]),
    lengths: &[u8],
) -> BTreeMap<(usize, usize), Range<usize>> {
    let mut found = BTreeMap::new();
    for group in 0..lane_ptr.len() - 1 {
        let (mut lane, mut start) = (lane_ptr[group] as usize, value_ptr[group] as usize);
        for (at, bits) in bitmaps.iter().enumerate() {
            if bits >> group & 1 == 1 {
                let end = start + usize::from(lengths[lane]);
                found.insert((at, group), start..end);
                (lane, start) = (lane + 1, end);
            }
        }
    }
    found
}

/// Every outer product of two tiles. A buffer of `capacity` psums that is full is mapped and starts anew (the paper's
/// rare overflow): then the same pair of groups comes again. By group of A, group of B, time.
///
/// # Errors
/// [`RequestError::Shape`] when the columns of A are not the rows of B; no capacity, or 2^32 or more.
pub fn outer_products<T: Scalar>(
    a: &RpCsc<T>,
    b: &CpCsr<T>,
    capacity: Option<usize>,
) -> Result<Vec<PsumBuffer<T>>, Refusal> {
    let capacity = capacity.unwrap_or(u32::MAX as usize);
    if capacity == 0 {
        return Err(RequestError::Zero { field: "psum" }.into());
    }
    sparse_oracle::refusal::check_u32("psum", capacity as u128)?;
    let lanes_a = lanes(&a.group_bitmap, (&a.group_col_ptr, &a.group_value_ptr), &a.col_len);
    let lanes_b = lanes(&b.group_bitmap, (&b.group_row_ptr, &b.group_value_ptr), &b.row_len);
    let mut elements = BTreeMap::<(usize, usize), Vec<PsumBuffer<T>>>::new();
    for m in matches(a, b)? {
        for group_a in (0..64).filter(|group| m.groups_a >> group & 1 == 1) {
            for group_b in (0..64).filter(|group| m.groups_b >> group & 1 == 1) {
                let buffers = elements.entry((group_a, group_b)).or_default();
                for i in lanes_a[&(m.at_a, group_a)].clone() {
                    for j in lanes_b[&(m.at_b, group_b)].clone() {
                        if buffers.last().is_none_or(|buffer| buffer.psums.len() == capacity) {
                            buffers.push(PsumBuffer::new(group_a, group_b));
                        }
                        let psum = Psum { k: m.k, column: b.col_idx[j], a: a.values[i], b: b.values[j] };
                        if let Some(buffer) = buffers.last_mut() {
                            buffer.append(a.row_idx[i], psum);
                        }
                    }
                }
            }
        }
    }
    Ok(elements.into_values().flatten().collect())
}

impl<T: Scalar> PsumBuffer<T> {
    fn new(group_a: usize, group_b: usize) -> Self {
        PsumBuffer { group_a, group_b, psums: Vec::new(), addresses: BTreeMap::new() }
    }

    fn append(&mut self, row: u16, psum: Psum<T>) {
        let address = self.psums.len() as u32;
        self.psums.push(psum);
        self.addresses.entry(row).or_default().push(address);
    }

    /// Address mapping of one row of the group: its addresses by column, equal columns in order of appending.
    pub fn mapped(&self, row: u16) -> Vec<u32> {
        let column = |address: u32| self.psums[address as usize].column;
        let mut registers: Vec<u32> = Vec::new();
        for &address in self.addresses.get(&row).into_iter().flatten() {
            let larger = registers.iter().position(|&other| column(other) > column(address));
            registers.insert(larger.unwrap_or(registers.len()), address);
        }
        registers
    }
}

/// The terms of each output row of two tiles, in the order in which they are added: by buffer (group of columns, then
/// time), then as mapped. Rows without a term are absent.
///
/// # Errors
/// See [`outer_products`].
pub fn terms<T: Scalar>(
    a: &RpCsc<T>,
    b: &CpCsr<T>,
    capacity: Option<usize>,
) -> Result<BTreeMap<u32, Vec<PsumTerm<T>>>, Refusal> {
    let (height, width) = (a.rows.div_ceil(a.groups), b.cols.div_ceil(b.groups));
    let mut rows = BTreeMap::<u32, Vec<PsumTerm<T>>>::new();
    for buffer in outer_products(a, b, capacity)? {
        let first_col = (buffer.group_b * width) as u32;
        for &row in buffer.addresses.keys() {
            let terms = rows.entry((buffer.group_a * height) as u32 + u32::from(row)).or_default();
            for address in buffer.mapped(row) {
                let psum = buffer.psums[address as usize];
                terms.push(PsumTerm {
                    column: first_col + u32::from(psum.column),
                    address,
                    k: psum.k,
                    a: psum.a,
                    b: psum.b,
                });
            }
        }
    }
    Ok(rows)
}
