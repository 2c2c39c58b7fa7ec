//! Each family of patterns keeps what its file promises, on its defaults and on many small specs.

use sparse_oracle::format::Csr;
use sparse_oracle::source::generator::{Family, quick_specs};
use sparse_oracle::source::{SourceError, SourceSpec};

/// Runs a check on the defaults and 150 quick specs of a family.
fn check(family: Family, check: impl Fn(&SourceSpec, &Csr<()>)) {
    let quick = (0..150).map(|index| quick_specs(index)[family as usize]);
    for spec in quick.chain([SourceSpec::new(family, 5)]) {
        let (shape, matrix) = (spec.shape().unwrap(), spec.generate().unwrap());
        assert_eq!((matrix.rows as u64, matrix.cols as u64), (shape.rows, shape.cols), "{spec}");
        assert!(matrix.nnz() as u128 <= shape.nnz_at_most, "{spec}: more entries than promised");
        check(&spec, &matrix);
    }
}

fn size(spec: &SourceSpec, key: &str) -> usize {
    spec.get(key).unwrap() as usize
}

fn share(positions: usize, spec: &SourceSpec, key: &str) -> usize {
    positions * size(spec, key) / 1_000_000
}

fn lengths(matrix: &Csr<()>) -> Vec<usize> {
    (0..matrix.rows).map(|row| matrix.row(row).0.len()).collect()
}

fn column_counts(matrix: &Csr<()>) -> Vec<usize> {
    let mut counts = vec![0; matrix.cols];
    matrix.col_idx.iter().for_each(|&col| counts[col as usize] += 1);
    counts
}

fn positions(matrix: &Csr<()>) -> impl Iterator<Item = (usize, usize)> {
    (0..matrix.rows).flat_map(|row| matrix.row(row).0.iter().map(move |&col| (row, col as usize)))
}

fn has(matrix: &Csr<()>, row: usize, col: usize) -> bool {
    matrix.row(row).0.binary_search(&(col as u32)).is_ok()
}

#[test]
fn uniform_and_tails_have_exact_counts() {
    check(Family::Uniform, |spec, m| {
        assert_eq!(m.nnz(), share(m.rows * m.cols, spec, "density"), "{spec}");
    });
    check(Family::Tails, |spec, m| {
        let whole = spec.get("tile").unwrap() * spec.get("tiles").unwrap();
        assert_eq!(m.rows as i64, (whole + spec.get("drow").unwrap()).max(0), "{spec}");
        assert_eq!(m.cols as i64, (whole + spec.get("dcol").unwrap()).max(0), "{spec}");
        assert_eq!(m.nnz(), share(m.rows * m.cols, spec, "density"), "{spec}");
    });
}

#[test]
fn quick_tails_cover_every_tile_and_side() {
    let seen: std::collections::BTreeSet<_> = (0..600)
        .map(|index| quick_specs(index)[Family::Tails as usize])
        .map(|spec| (spec.get("tile"), spec.get("drow"), spec.get("dcol")))
        .collect();
    assert_eq!(seen.len(), 7 * 3 * 3);
}

#[test]
fn banded_stays_in_its_band_and_fills_it() {
    check(Family::Banded, |spec, m| {
        let (lower, upper) = (size(spec, "lower"), size(spec, "upper"));
        let inside = |row: usize, col: usize| row <= col + lower && col <= row + upper;
        assert!(positions(m).all(|(row, col)| inside(row, col)), "{spec}");
        if size(spec, "density") == 1_000_000 {
            let all = (0..m.rows).flat_map(|row| (0..m.cols).map(move |col| (row, col)));
            assert_eq!(m.nnz(), all.filter(|&(row, col)| inside(row, col)).count(), "{spec}");
        }
    });
}

#[test]
fn block_stores_whole_blocks() {
    check(Family::Block, |spec, m| {
        let block = size(spec, "block");
        let (high, wide) = (m.rows.div_ceil(block), m.cols.div_ceil(block));
        let mut full = 0;
        for at in 0..high * wide {
            let (top, left) = (at / wide * block, at % wide * block);
            let rows = top..(top + block).min(m.rows);
            let cells = rows.flat_map(|row| (left..(left + block).min(m.cols)).map(move |col| (row, col)));
            let stored: Vec<bool> = cells.map(|(row, col)| has(m, row, col)).collect();
            assert!(stored.iter().all(|&x| x == stored[0]), "{spec}: block {at} is partly stored");
            full += usize::from(stored[0]);
        }
        assert_eq!(full, share(high * wide, spec, "density"), "{spec}");
    });
}

#[test]
fn rmat_is_bounded_and_skewed() {
    check(Family::Rmat, |spec, m| {
        assert!(m.nnz() <= size(spec, "edges") << size(spec, "scale"), "{spec}");
        assert_eq!(m.nnz() > 0, size(spec, "edges") > 0, "{spec}");
    });
    let big: Csr<()> = "rmat:scale=10,edges=8,seed=1".parse::<SourceSpec>().unwrap().generate().unwrap();
    let longest = lengths(&big).into_iter().max().unwrap();
    assert!(longest > 10 * big.nnz() / big.rows, "the longest row has {longest} of {}", big.nnz());
}

#[test]
fn zipf_has_exact_row_lengths() {
    check(Family::Zipf, |spec, m| {
        let power = size(spec, "power") as u32;
        let length = |rank: usize| (size(spec, "longest") / rank.pow(power)).max(size(spec, "shortest"));
        let expected: Vec<usize> = (1..=m.rows).map(|rank| length(rank).min(m.cols)).collect();
        let mut found = lengths(m);
        found.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(found, expected, "{spec}");
    });
}

#[test]
fn stencil_is_symmetric_with_full_inner_rows() {
    check(Family::Stencil, |spec, m| {
        assert!(positions(m).all(|(row, col)| has(m, col, row)), "{spec}");
        assert!((0..m.rows).all(|row| has(m, row, row)), "{spec}");
        let sides = ["nx", "ny", "nz"].map(|key| size(spec, key));
        let (points, dofs) = (size(spec, "points"), size(spec, "dofs"));
        let flat = points == 5 || points == 9;
        let [inner_x, inner_y, inner_z] = sides.map(|side| side.saturating_sub(2));
        let inner = inner_x * inner_y * if flat { sides[2] } else { inner_z } * dofs;
        let full = lengths(m).into_iter().filter(|&n| n == points * dofs).count();
        assert_eq!(full, inner, "{spec}");
    });
}

#[test]
fn circuit_has_its_diagonal_and_dense_rows() {
    check(Family::Circuit, |spec, m| {
        assert!((0..m.rows).all(|row| has(m, row, row)), "{spec}");
        let (dense, fill) = (size(spec, "dense").min(m.rows), share(m.rows, spec, "fill"));
        let usual = 1 + size(spec, "offdiag") + dense;
        let found = lengths(m);
        assert!(found.iter().filter(|&&n| n > usual).count() <= dense, "{spec}");
        assert!(found.iter().filter(|&&n| n >= fill).count() >= dense, "{spec}");
    });
}

#[test]
fn lp_has_exact_columns() {
    check(Family::Lp, |spec, m| {
        let dense = size(spec, "dense").min(m.rows);
        let a_column = dense + size(spec, "column").min(m.rows - dense);
        assert!(column_counts(m).iter().all(|&n| n == a_column), "{spec}");
        assert!(lengths(m).iter().filter(|&&n| n == m.cols).count() >= dense, "{spec}");
    });
}

#[test]
fn nm_keeps_exactly_n_of_m() {
    check(Family::Nm, |spec, m| {
        let (n, group) = (size(spec, "n"), size(spec, "m"));
        for row in 0..m.rows {
            for first in (0..m.cols).step_by(group) {
                let last = (first + group).min(m.cols);
                let kept =
                    m.row(row).0.iter().filter(|&&col| (first..last).contains(&(col as usize))).count();
                assert_eq!(kept, n.min(last - first), "{spec}: row {row}, group at {first}");
            }
        }
    });
}

#[test]
fn empty_keeps_rows_and_columns_free() {
    check(Family::Empty, |spec, m| {
        let rows = share(m.rows, spec, "emptyrows");
        let cols = share(m.cols, spec, "emptycols");
        assert!(lengths(m).iter().filter(|&&n| n == 0).count() >= rows, "{spec}");
        assert!(column_counts(m).iter().filter(|&&n| n == 0).count() >= cols, "{spec}");
        assert_eq!(m.nnz(), share((m.rows - rows) * (m.cols - cols), spec, "density"), "{spec}");
    });
}

#[test]
fn dense_row_has_full_rows_and_columns() {
    check(Family::DenseRow, |spec, m| {
        let (rows, cols) = (size(spec, "dense").min(m.rows), size(spec, "densecols").min(m.cols));
        let usual = share(m.cols, spec, "density");
        let found = lengths(m);
        assert!(found.iter().filter(|&&n| n == m.cols).count() >= rows, "{spec}");
        assert!(column_counts(m).iter().filter(|&&n| n == m.rows).count() >= cols, "{spec}");
        assert!(found.iter().all(|&n| n == m.cols || (usual..=usual + cols).contains(&n)), "{spec}");
    });
}

#[test]
fn simple_patterns_are_what_they_are_called() {
    check(Family::Dense, |spec, m| {
        assert_eq!(m.nnz(), m.rows * m.cols, "{spec}");
    });
    check(Family::Zero, |spec, m| assert_eq!(m.nnz(), 0, "{spec}"));
    check(Family::Permutation, |spec, m| {
        assert!(lengths(m).iter().chain(&column_counts(m)).all(|&n| n == 1), "{spec}");
    });
    check(Family::Diagonal, |spec, m| {
        let shift = spec.get("shift").unwrap();
        let expected = (0..m.rows as i64).filter(|row| (0..m.cols as i64).contains(&(row + shift)));
        assert!(positions(m).all(|(row, col)| col as i64 - row as i64 == shift), "{spec}");
        assert_eq!(m.nnz(), expected.count(), "{spec}");
    });
    check(Family::Arrow, |spec, m| {
        let width = size(spec, "width");
        let expected = |row, col| row == col || row < width || col < width;
        let all = (0..m.rows).flat_map(|row| (0..m.cols).map(move |col| (row, col)));
        all.into_iter().for_each(|(row, col)| assert_eq!(has(m, row, col), expected(row, col), "{spec}"));
    });
    check(Family::Corners, |spec, m| {
        let edge = |at: usize, side: usize| at == 0 || at + 1 == side;
        assert!(positions(m).all(|(row, col)| edge(row, m.rows) && edge(col, m.cols)), "{spec}");
        assert_eq!(m.nnz(), m.rows.min(2) * m.cols.min(2), "{spec}");
    });
}

#[test]
fn lengths_cycle_through_the_tails_of_a_loop() {
    check(Family::Lengths, |spec, m| {
        let t = size(spec, "tile");
        let cycle = [0, 1, t - 1, t, t + 1, 2 * t - 1, 2 * t, 2 * t + 1];
        let expected: Vec<usize> = (0..m.rows).map(|row| cycle[row % 8].min(m.cols)).collect();
        assert_eq!(lengths(m), expected, "{spec}");
    });
}

#[test]
fn borders_store_exactly_what_is_asked() {
    check(Family::Borders, |spec, m| {
        let asked = [size(spec, "rows"), size(spec, "cols")];
        assert_eq!([m.rows, m.cols], asked, "{spec}");
        assert_eq!(m.nnz(), size(spec, "entries").min(m.rows * m.cols), "{spec}");
    });
    let seen: std::collections::BTreeSet<_> = (0..600)
        .map(|index| quick_specs(index)[Family::Borders as usize])
        .flat_map(|spec| ["rows", "cols", "entries"].map(|key| (key, spec.get(key))))
        .collect();
    // 32, 64, 128 and 256, each -1, 0 and +1, and 0; entries at 1024 too.
    assert_eq!(seen.len(), 13 + 13 + 16);
}

/// Extents beyond 2^16, 2^17, 2^20 and 2^24 with next to no entries cost their offsets, no more.
#[test]
fn far_extents_are_cheap() {
    for side in [1u64 << 16, 1 << 17, 1 << 20, 1 << 24] {
        for extent in [side - 1, side, side + 1] {
            let tall = format!("borders:rows={extent},cols=3,entries=5,seed=1");
            let wide = format!("borders:rows=3,cols={extent},entries=5,seed=1");
            for (line, limit) in [(tall, extent + 30), (wide, 30)] {
                let m = line.parse::<SourceSpec>().unwrap().generate_within(limit).unwrap();
                assert_eq!(m.nnz(), 5, "{line}");
            }
        }
    }
    let corner: SourceSpec =
        "longrows:rows=1048577,cols=66000,count=1,length=65999,singles=0,seed=1".parse().unwrap();
    let m = corner.generate().unwrap();
    assert_eq!((m.nnz(), lengths(&m).iter().filter(|&&n| n > 0).count()), (65_999, 1));
}

#[test]
fn longrows_are_as_long_and_as_many_as_asked() {
    check(Family::LongRows, |spec, m| {
        let long = size(spec, "count").min(m.rows);
        let length = size(spec, "length").min(m.cols);
        let singles = if m.cols == 0 { 0 } else { share(m.rows - long, spec, "singles") };
        let mut expected = vec![0; m.rows];
        expected[..long].fill(length);
        expected[long..long + singles].fill(1);
        let mut found = lengths(m);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{spec}");
    });
}

#[test]
fn columns_of_a_row_collide() {
    check(Family::Collide, |spec, m| {
        let slots = size(spec, "slots");
        for row in 0..m.rows {
            let columns = m.row(row).0;
            let Some(&first) = columns.first() else {
                assert!(m.cols == 0 || size(spec, "length") == 0, "{spec}: row {row} is empty");
                continue;
            };
            let residue = first as usize % slots;
            assert!(columns.iter().all(|&col| col as usize % slots == residue), "{spec}: row {row}");
            let available = (m.cols - residue).div_ceil(slots);
            assert_eq!(columns.len(), size(spec, "length").min(available), "{spec}: row {row}");
        }
    });
}

#[test]
fn pairs_are_whole_in_two_of_three_rows_and_nowhere_in_the_third() {
    check(Family::Pairs, |spec, m| {
        let count = size(spec, "pairs").min(m.cols / 2);
        for row in 0..m.rows {
            let columns = m.row(row).0;
            let whole = columns.iter().filter(|&&col| col % 2 == 0 && has(m, row, col as usize + 1)).count();
            let expected = if row % 3 == 2 { (count & !1, 0) } else { (2 * count, count) };
            assert_eq!((columns.len(), whole), expected, "{spec}: row {row}");
        }
    });
}

#[test]
fn seeds_change_the_random_families() {
    let fixed =
        [Family::Stencil, Family::Dense, Family::Diagonal, Family::Arrow, Family::Corners, Family::Zero];
    for info in &sparse_oracle::source::FAMILIES {
        let of = |seed| -> Result<Csr<()>, SourceError> {
            let spec = SourceSpec::new(info.family, seed);
            let smaller = if info.family == Family::Synth { spec.with("rows", 300)? } else { spec };
            let thinned =
                if info.family == Family::Banded { smaller.with("density", 500_000)? } else { smaller };
            thinned.generate()
        };
        assert_eq!(of(1) == of(2), fixed.contains(&info.family), "{}", info.name);
        assert_eq!(of(1), of(1), "{}", info.name);
    }
}
