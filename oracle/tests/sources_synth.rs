//! The twenty published matrices against their printed row statistics.

use sparse_oracle::format::Csr;
use sparse_oracle::source::synth::{COUNT, Histogram, PUBLISHED, Published, row_lengths};
use sparse_oracle::source::{SourceError, SourceSpec};
use std::time::Instant;

/// Entries up to which the matrices are generated in full by the ordinary test run.
const AFFORDABLE: u32 = 5_000_000;

fn generate(published: &Published, rest: &str) -> Csr<()> {
    let line = format!("synth:{}{rest},seed=1", published.name);
    line.parse::<SourceSpec>().unwrap().generate().unwrap()
}

fn lengths_of(matrix: &Csr<()>) -> Histogram {
    Histogram::new(matrix.row_ptr.windows(2).map(|w| (w[1] - w[0], 1)).collect())
}

/// Rows, entries and extremes exactly; mean to the printed digits; deviation within 5 %.
fn check(published: &Published, found: &Histogram) {
    let name = published.name;
    let pairs = found.pairs();
    let ends = (pairs[0].0, pairs[pairs.len() - 1].0);
    assert_eq!(found.rows(), u64::from(published.rows), "{name}: rows");
    assert_eq!(found.entries(), u64::from(published.nnz), "{name}: entries");
    assert_eq!(ends, (published.shortest, published.longest), "{name}: extremes");
    let mean = found.entries() as f64 / found.rows() as f64;
    assert_eq!(format!("{mean:.2}"), published.mean, "{name}: mean");
    let printed: f64 = published.deviation.parse().unwrap();
    let off = found.deviation() / printed - 1.0;
    assert!(off.abs() < 0.05, "{name}: deviation {} against {printed}", found.deviation());
    println!(
        "{name:14} rows {:8} nnz {:9} max/min {}/{} mean {mean:.2} std {:.2} (printed {printed})",
        found.rows(),
        found.entries(),
        ends.1,
        ends.0,
        found.deviation()
    );
}

/// Columns are what the class calls for: checked by the share of entries near the diagonal.
fn share_near(matrix: &Csr<()>, distance: usize) -> f64 {
    let near =
        |row: usize| matrix.row(row).0.iter().filter(|&&col| row.abs_diff(col as usize) <= distance).count();
    (0..matrix.rows).map(near).sum::<usize>() as f64 / matrix.nnz() as f64
}

#[test]
fn all_twenty_have_the_printed_row_lengths() {
    for published in &PUBLISHED {
        check(published, row_lengths(published.name).unwrap());
    }
    assert!(row_lengths("nosuch").is_none());
}

#[test]
fn the_smaller_ones_generate_in_full() {
    let (small, large): (Vec<_>, Vec<_>) = PUBLISHED.iter().partition(|p| p.nnz < AFFORDABLE);
    for published in &small {
        let matrix = generate(published, "");
        assert_eq!((matrix.rows, matrix.cols), (published.rows as usize, published.rows as usize));
        check(published, &lengths_of(&matrix));
    }
    assert_eq!(small.len() + large.len(), COUNT);
    eprintln!(
        "generated {} matrices in full; {} of {AFFORDABLE} entries or more were checked by row lengths only \
         (run with --ignored for all)",
        small.len(),
        large.len()
    );
}

#[test]
#[ignore = "all twenty in full: about 200 million entries"]
fn all_generate_in_full() {
    for published in &PUBLISHED {
        let start = Instant::now();
        let matrix = generate(published, "");
        print!(
            "{:6.2} s  near {:.2} ",
            start.elapsed().as_secs_f64(),
            share_near(&matrix, matrix.rows / 100)
        );
        check(published, &lengths_of(&matrix));
    }
}

#[test]
fn smaller_versions_keep_the_shape_roughly() {
    for published in &PUBLISHED {
        let full = row_lengths(published.name).unwrap();
        let small = generate(published, ",rows=4000");
        let found = lengths_of(&small);
        let mean = |h: &Histogram| h.entries() as f64 / h.rows() as f64;
        let ratio = mean(&found) / mean(full);
        assert!((0.7..1.4).contains(&ratio), "{}: mean is off by {ratio}", published.name);
        assert_eq!(found.pairs()[0].0, published.shortest, "{}", published.name);
        let last = found.pairs()[found.pairs().len() - 1].0;
        assert!(last == published.longest || last >= 1000, "{}: longest row {last}", published.name);
    }
}

#[test]
fn any_number_of_rows_is_legal() {
    for published in &PUBLISHED {
        for rows in [1, 2, 3, 5, 8, 23, 24, 25, 100] {
            let small = generate(published, &format!(",rows={rows}"));
            assert_eq!((small.rows, small.cols), (rows, rows));
        }
        let line = format!("synth:{},rows={}", published.name, published.rows + 1);
        let more = line.parse::<SourceSpec>().unwrap().shape();
        assert!(matches!(more, Err(SourceError::Conflict { .. })), "{line}");
    }
}

#[test]
fn columns_follow_the_class() {
    let near = |name: &str| {
        let published = PUBLISHED.iter().find(|p| p.name == name).unwrap();
        share_near(&generate(published, ",rows=20000"), 300)
    };
    for (name, low, high) in [
        ("pwtk", 0.99, 1.0),
        ("cant", 0.99, 1.0),
        ("mc2depi", 0.99, 1.0),
        ("scircuit", 0.6, 0.95),
        ("in-2004", 0.5, 0.9),
        ("Si41Ge41H72", 0.3, 0.8),
        ("econ_fwd500", 0.4, 0.9),
    ] {
        let found = near(name);
        assert!((low..=high).contains(&found), "{name}: {found} of the entries lie near the diagonal");
    }
}
