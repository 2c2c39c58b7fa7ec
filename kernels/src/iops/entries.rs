//! The entries of a sparse C: counted before any of them is made, and tiles of them put in rows or columns.

use super::lanes::MatrixLanes;
use super::value::Value;
use crate::portable::moves::Arrays;
use rayon::prelude::*;
use sparse_types::refusal::{Limit, Refusal};

/// An entry of C.
pub(super) type ResultEntry<T> = (u32, u32, T);

/// Tiles of C in the machine's order, by their entries.
pub(super) type EntryTiles<T> = Vec<Vec<ResultEntry<T>>>;

/// Refuses a product of more entries than `limit` before there is any of them: each takes up to 28 bytes here.
pub(super) fn check_entries<T: Value>(
    a: &MatrixLanes<'_, T>,
    b: &MatrixLanes<'_, T>,
    limit: u64,
) -> Result<(), Refusal> {
    let products = |k| a.lane(k).0.len() as u128 * b.lane(k).0.len() as u128;
    let products: u128 = (0..a.count()).map(products).sum();
    if products <= u128::from(limit) {
        return Ok(());
    }
    let found = entries(&a.turned()?, b);
    if found > limit {
        return Err(Limit { field: "nnz of A * B", found: u128::from(found), limit }.into());
    }
    Ok(())
}

/// Entries of a product, A by rows: each row marks the columns that it has seen.
fn entries<T: Value>(a: &MatrixLanes<'_, T>, b: &MatrixLanes<'_, T>) -> u64 {
    let row = |seen: &mut Vec<usize>, row: usize| {
        let mut found = 0;
        for &k in a.lane(row).0 {
            for &column in b.lane(k as usize).0 {
                let seen = &mut seen[column as usize];
                found += u64::from(*seen <= row);
                *seen = row + 1;
            }
        }
        found
    };
    let rows = (0..a.count()).into_par_iter().with_min_len(256);
    rows.map_init(|| vec![0; b.extent], row).sum()
}

/// Tiles of C to rows. Those of a strip of A come by strip of B, so a stable counting sort leaves columns ascending.
pub(super) fn by_rows<T: Value>(tiles: EntryTiles<T>, rows: usize) -> Arrays<T> {
    sorted(tiles, rows, |&(row, column, value)| (row, column, value))
}

/// Tiles of C to columns; rows ascend.
pub(super) fn by_columns<T: Value>(tiles: EntryTiles<T>, columns: usize) -> Arrays<T> {
    sorted(tiles, columns, |&(row, column, value)| (column, row, value))
}

/// A stable counting sort by the first of a triple. A tile is dropped when its entries have moved.
fn sorted<T: Value>(
    tiles: EntryTiles<T>,
    lanes: usize,
    triple: impl Fn(&ResultEntry<T>) -> (u32, u32, T),
) -> Arrays<T> {
    let mut ptr = vec![0u32; lanes + 1];
    for entry in tiles.iter().flatten() {
        ptr[triple(entry).0 as usize + 1] += 1;
    }
    for lane in 0..lanes {
        ptr[lane + 1] += ptr[lane];
    }
    let count = ptr[lanes] as usize;
    let (mut index, mut values) = (vec![0; count], vec![T::default(); count]);
    let mut next = ptr.clone();
    for tile in tiles {
        for (lane, at, value) in tile.iter().map(&triple) {
            let slot = &mut next[lane as usize];
            index[*slot as usize] = at;
            values[*slot as usize] = value;
            *slot += 1;
        }
    }
    (ptr, index, values)
}

#[cfg(test)]
mod tests {
    use super::super::machine::Machine;
    use super::super::partition::plan;
    use super::super::ssmm::{problem, run};
    use super::*;

    /// Two entries in each row, so that some products meet: as many as are made, and refused by a limit of one less.
    #[test]
    fn entries_are_counted_before_they_are_made() {
        let pair = |row: u32| {
            let other = (row * 7 + 3) % 40;
            [row.min(other), row.max(other)]
        };
        let index: Vec<u32> = (0..40).flat_map(pair).collect();
        let ptr: Vec<u32> = (0..=40).map(|row| 2 * row).collect();
        let values = vec![1.0f64; index.len()];
        let by_rows = MatrixLanes { extent: 40, ptr: ptr.into(), index: index.into(), values: values.into() };
        let columns = by_rows.turned().expect("small");
        let machine = Machine::default();
        let cut = plan(&problem(&columns, &by_rows), &machine).expect("fits");
        let (tiles, counters) = run(&columns, &by_rows, &machine, &cut).expect("small");
        let made: usize = tiles.iter().map(Vec::len).sum();
        let found = entries(&by_rows, &by_rows);
        assert_eq!((found, found), (made as u64, counters.outputs), "as many as are made");
        assert!(found < counters.products, "some products meet");
        assert_eq!(check_entries(&columns, &by_rows, found), Ok(()));
        let refusal =
            Refusal::Limit(Limit { field: "nnz of A * B", found: u128::from(found), limit: found - 1 });
        assert_eq!(check_entries(&columns, &by_rows, found - 1), Err(refusal));
    }
}
