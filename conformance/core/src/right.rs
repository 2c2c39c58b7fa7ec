//! B of SpGEMM: which positions it stores.
//!
//! ```text
//! thin      up to three entries a row, every fourth row empty
//! same      B is A, which must be square: A * A
//! long      one row in four holds a quarter of all columns to all of them, the others one entry or none
//! collide   columns of a row are equal modulo 2^4 to 2^9: they meet in one place of a hash table of so many slots
//! cancel    rows 2c and 2c + 1 are equal, values too: where A holds x, -x in those columns, rows of C cancel wholly
//! ```

use sparse_oracle::source::random::Random;

/// Kinds of B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    /// Up to three entries a row.
    #[default]
    Thin,
    /// B is A.
    Same,
    /// Long rows among empty ones.
    Long,
    /// Rows whose columns collide in hash tables of 2^k slots.
    Collide,
    /// Equal rows in pairs.
    Cancel,
}

/// Most entries of the long rows of one B together.
pub(crate) const LONG_ENTRIES: u64 = 1 << 18;

impl Right {
    /// All kinds with their names in case lines.
    pub const ALL: [(Right, &str); 5] = [
        (Right::Thin, "thin"),
        (Right::Same, "same"),
        (Right::Long, "long"),
        (Right::Collide, "collide"),
        (Right::Cancel, "cancel"),
    ];

    /// Name in case lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        Right::ALL.iter().find(|one| one.0 == self).map_or("?", |one| one.1)
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Right> {
        Right::ALL.iter().find(|one| one.1 == name).map(|one| one.0)
    }
}

/// The columns of each row of a B of `rows` x `cols`, ascending; none for the kinds that are not drawn here.
#[must_use]
pub(crate) fn columns(right: Right, rows: usize, cols: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Random::new(seed, right.name());
    let (rows, cols) = (rows as u64, cols as u64);
    match right {
        Right::Thin | Right::Same => Vec::new(),
        _ if cols == 0 => vec![Vec::new(); rows as usize],
        Right::Long => long(rows, cols, &mut random),
        Right::Collide => collide(rows, cols, &mut random),
        Right::Cancel => cancel(rows, cols, &mut random),
    }
}

fn distinct(random: &mut Random, limit: u64, count: u64) -> Vec<u64> {
    let mut columns = Vec::new();
    random.distinct(limit, count, &mut columns);
    columns
}

fn long(rows: u64, cols: u64, random: &mut Random) -> Vec<Vec<u64>> {
    let mut left = LONG_ENTRIES;
    let row = |_| match random.below(4) {
        0 => {
            let length = random.between(cols.div_ceil(4) as i64, cols as i64) as u64;
            let length = if length > left { left.min(1) } else { length };
            left -= length;
            distinct(random, cols, length)
        }
        1 => distinct(random, cols, 1),
        _ => Vec::new(),
    };
    (0..rows).map(row).collect()
}

fn collide(rows: u64, cols: u64, random: &mut Random) -> Vec<Vec<u64>> {
    let slots = (1u64 << random.between(4, 9)).min(cols.div_ceil(4));
    // Few places, so that rows of B that meet in a row of C collide with one another too.
    let places = [random.below(slots), random.below(slots)];
    let row = |_| {
        if random.below(4) == 0 {
            return Vec::new();
        }
        let place = *random.pick(&places);
        let wanted = 1 + random.below(24);
        let steps = distinct(random, (cols - place).div_ceil(slots), wanted);
        steps.into_iter().map(|step| place + slots * step).collect()
    };
    (0..rows).map(row).collect()
}

fn cancel(rows: u64, cols: u64, random: &mut Random) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = Vec::new();
    for row in 0..rows as usize {
        let columns = if row % 2 == 1 {
            all[row - 1].clone()
        } else {
            let wanted = 1 + random.below(6);
            distinct(random, cols, wanted)
        };
        all.push(columns);
    }
    all
}

/// Gives row 2c + 1 the values of row 2c, which stores the same columns. Positions come row by row.
pub(crate) fn pair_values(positions: &[(u32, u32)], values: &mut [f64]) {
    let mut start = 0;
    while start < positions.len() {
        let row = positions[start].0;
        let length = positions[start..].iter().take_while(|at| at.0 == row).count();
        let follows =
            positions.get(start + length).is_some_and(|at| row.is_multiple_of(2) && at.0 == row + 1);
        if follows {
            values.copy_within(start..start + length, start + length);
        }
        start += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_long_and_bounded() {
        let rows = columns(Right::Long, 200, 3000, 5);
        assert!(rows.iter().filter(|row| row.len() >= 750).count() > 30);
        assert!(rows.iter().filter(|row| row.is_empty()).count() > 60);
        let many = columns(Right::Long, 60_000, 3000, 5);
        assert!(many.iter().map(Vec::len).sum::<usize>() < (1 << 18) + 60_000);
    }

    #[test]
    fn columns_of_a_row_meet_in_one_place_of_a_table() {
        for seed in 0..20 {
            let rows = columns(Right::Collide, 100, 1000, seed);
            let apart = rows.iter().flat_map(|row| row.windows(2).map(|pair| pair[1] - pair[0]));
            let step = apart.fold(0, |a: u64, b| {
                (1..=a.max(b)).rev().find(|d| a.is_multiple_of(*d) && b % d == 0).unwrap_or(a)
            });
            assert!(step >= 16 && rows.iter().any(|row| row.len() > 1), "seed {seed}: {step}");
        }
    }

    #[test]
    fn equal_rows_come_in_pairs_and_no_shape_panics() {
        let rows = columns(Right::Cancel, 31, 40, 3);
        assert!(rows.chunks_exact(2).all(|pair| pair[0] == pair[1] && !pair[0].is_empty()));
        for right in [Right::Long, Right::Collide, Right::Cancel] {
            for (rows, cols) in [(0, 0), (5, 0), (0, 5), (5, 1), (5, 2), (3, 17)] {
                let found = columns(right, rows, cols, 1);
                assert_eq!(found.len(), rows);
                assert!(found.iter().flatten().all(|&col| col < cols as u64));
                assert!(found.iter().all(|row| row.windows(2).all(|w| w[0] < w[1])));
            }
        }
    }
}
