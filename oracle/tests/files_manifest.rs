//! Every readable file of the shared data against its MANIFEST: real matrices, odd headers and masks must read with
//! exactly the recorded statistics. Without the data the tests say so and leave everything out.

use crate::files_shared;
use sparse_oracle::prelude::*;

use files_shared::{Row, manifest, say, shared};
use sparse_oracle::format::{Coo, Csr, Entries, Entry};
use sparse_oracle::source::embedded;
use sparse_oracle::source::file::{FileMatrix, list_dir, read_path};
use sparse_oracle::source::file_error::FileError;
use sparse_oracle::source::statistics::RowStatistics;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// What the MANIFEST counts, counted here again from the triples, without the crate's own statistics.
fn recount(coo: &Coo<f64>) -> BTreeMap<&'static str, f64> {
    let (mut row_len, mut col_len) = (vec![0usize; coo.rows], vec![0usize; coo.cols]);
    let mut seen = HashSet::new();
    for (&r, &c) in coo.row_idx.iter().zip(&coo.col_idx) {
        row_len[r as usize] += 1;
        col_len[c as usize] += 1;
        seen.insert(u64::from(r) << 32 | u64::from(c));
    }
    let empty = |lengths: &[usize]| lengths.iter().filter(|&&l| l == 0).count() as f64;
    let finite = coo.values.iter().filter(|v| v.is_finite());
    BTreeMap::from([
        ("rows", coo.rows as f64),
        ("cols", coo.cols as f64),
        ("nnz_expanded", coo.nnz() as f64),
        ("row_nnz_min", row_len.iter().copied().min().unwrap_or(0) as f64),
        ("row_nnz_max", row_len.iter().copied().max().unwrap_or(0) as f64),
        ("row_nnz_mean", coo.nnz() as f64 / coo.rows as f64),
        ("empty_rows", empty(&row_len)),
        ("empty_cols", empty(&col_len)),
        ("col_nnz_max", col_len.iter().copied().max().unwrap_or(0) as f64),
        ("explicit_zeros", coo.values.iter().filter(|&&v| v == 0.0).count() as f64),
        ("duplicate_entries", (coo.nnz() - seen.len()) as f64),
        ("nonfinite_values", coo.values.iter().filter(|v| !v.is_finite()).count() as f64),
        ("max_abs_value", finite.fold(0.0, |most: f64, v| most.max(v.abs()))),
    ])
}

/// The printed precision of a column: the mean has 3 decimals, the largest value 6 significant digits.
fn agrees(column: &str, counted: f64, recorded: f64) -> bool {
    match column {
        "row_nnz_mean" => (counted - recorded).abs() <= 0.000_500_1,
        "max_abs_value" => (counted - recorded).abs() <= 5.1e-6 * recorded,
        _ => counted == recorded,
    }
}

fn check_words(row: &Row, matrix: &FileMatrix) {
    let mask = row["object_format"].starts_with("smtx");
    assert_eq!(matrix.field.name(), row["field"], "{}", row["file"]);
    assert_eq!(matrix.symmetry.name(), row["symmetry"], "{}", row["file"]);
    assert_eq!(matrix.pattern_only, row["field"] == "pattern", "{}", row["file"]);
    assert!(!mask || matrix.coo.values.iter().all(|&v| v == 1.0), "{}", row["file"]);
}

/// Compares every column that has a number; returns how many there were.
fn check_counts(row: &Row, matrix: &FileMatrix) -> usize {
    let mut checked = 0;
    let mut counted = recount(&matrix.coo);
    counted.insert("nnz_stored", matrix.stored_entries as f64);
    for (column, &value) in &counted {
        // "dense" or nothing: the MANIFEST does not count it for array files, nor values for masks.
        let Ok(recorded) = row[*column].parse::<f64>() else {
            continue;
        };
        assert!(agrees(column, value, recorded), "{}: {column} is {value}, recorded {recorded}", row["file"]);
        checked += 1;
    }
    checked
}

/// The crate's own statistics against the MANIFEST, for files that are canonical once sorted.
fn check_statistics(row: &Row, coo: &Coo<f64>) {
    let triples = coo.row_idx.iter().zip(&coo.col_idx).zip(&coo.values);
    let mut list: Vec<Entry<f64>> = triples.map(|((&row, &col), &value)| Entry { row, col, value }).collect();
    list.sort_by_key(|e| (e.row, e.col));
    let csr = Csr::from_entries(&Entries { rows: coo.rows, cols: coo.cols, list })
        .expect("sorted, without duplicates");
    let s = RowStatistics::of(&csr);
    let counts = [
        ("row_nnz_min", s.min),
        ("row_nnz_max", s.max),
        ("empty_rows", s.empty_rows),
        ("empty_cols", s.empty_cols),
        ("col_nnz_max", s.col_max),
    ];
    for (column, value) in counts {
        assert_eq!(value.to_string(), row[column], "{}: {column}", row["file"]);
    }
    let mean: f64 = row["row_nnz_mean"].parse().expect("mean is a number");
    assert!(agrees("row_nnz_mean", s.mean, mean), "{}: {} against {mean}", row["file"], s.mean);
}

#[test]
fn every_open_matrix_reads_as_recorded() {
    let Some(folder) = shared("matrices/open") else {
        return;
    };
    let rows = manifest(&folder);
    let (mut read, mut complex, mut columns, mut canonical) = (0, 0, 0, 0);
    for row in &rows {
        let result = read_path(&folder.join(&row["file"]));
        if row["field"] == "complex" {
            let error = result.expect_err(&row["file"]);
            assert!(matches!(error.root(), FileError::UnsupportedField { .. }), "{error}");
            complex += 1;
            continue;
        }
        let matrix = result.unwrap_or_else(|e| panic!("{e}"));
        check_words(row, &matrix);
        columns += check_counts(row, &matrix);
        if row["duplicate_entries"] == "0" && !row["row_nnz_min"].is_empty() {
            check_statistics(row, &matrix.coo);
            canonical += 1;
        }
        read += 1;
    }
    say!(
        "open matrices: {read} read and checked in {columns} columns ({canonical} also through RowStatistics), \
         {complex} complex ones refused, 0 skipped of {}",
        rows.len()
    );
    assert!(read >= 70 && complex >= 10, "the shared data shrank: {read} read, {complex} complex");
}

#[test]
fn the_listing_finds_every_file_of_the_manifest() {
    let Some(folder) = shared("matrices/open") else {
        return;
    };
    let listing = list_dir(&folder).expect("the folder can be listed");
    assert!(listing.matrices.is_sorted());
    assert_eq!(listing.skipped, [folder.join("MANIFEST.tsv")]);
    let rows = manifest(&folder);
    for row in &rows {
        assert!(listing.matrices.contains(&folder.join(&row["file"])), "{} is not listed", row["file"]);
    }
    let recorded: HashSet<PathBuf> = rows.iter().map(|r| folder.join(&r["file"])).collect();
    let unrecorded: Vec<_> = listing.matrices.iter().filter(|p| !recorded.contains(*p)).collect();
    say!(
        "listed {} files, {} of them not in the MANIFEST: {unrecorded:?}",
        listing.matrices.len(),
        unrecorded.len()
    );
    for path in unrecorded {
        read_path(path).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// The triples that are not zero, sorted: what two ways of writing one matrix have in common.
fn nonzeros(folder: &Path, name: &str) -> Vec<(u32, u32, u64)> {
    let coo = read_path(&folder.join(name)).unwrap_or_else(|e| panic!("{e}")).coo;
    let triple = |i: usize| (coo.row_idx[i], coo.col_idx[i], coo.values[i].to_bits());
    let mut list: Vec<_> = (0..coo.nnz()).filter(|&i| coo.values[i] != 0.0).map(triple).collect();
    list.sort_unstable();
    list
}

#[test]
fn one_matrix_written_in_several_ways_reads_the_same() {
    let Some(folder) = shared("matrices/open") else {
        return;
    };
    // Coordinate and array form (the other array files of that set hold other matrices than their namesakes: the
    // general ones are listed by rows, the skew-symmetric ones have an entry more); free layout; shuffled; padded
    // with empty rows.
    let pairs = [
        ("header_variety/mmtype-02.mtx", "header_variety/mmtype-11.mtx"),
        ("header_variety/mmtype-05.mtx", "header_variety/mmtype-14.mtx"),
        ("header_variety/fmm_nist_ex1.mtx", "header_variety/fmm_nist_ex1_freeformat.mtx"),
        ("header_variety/fmm_nist_ex1.mtx", "header_variety/fmm_nist_ex1_more_freeformat.mtx"),
        ("west0067.mtx", "header_variety/lagraph_west0067_jumbled.mtx"),
        ("LFAT5.mtx", "header_variety/lagraph_LFAT5_hypersparse.mtx"),
    ];
    for (one, other) in pairs {
        assert_eq!(nonzeros(&folder, one), nonzeros(&folder, other), "{one} and {other}");
    }
    say!("one matrix in two files: {} pairs equal, 0 skipped", pairs.len());
}

#[test]
fn the_embedded_pack_is_the_shared_data_unchanged() {
    let Some(folder) = shared("matrices/open") else {
        return;
    };
    for pack in embedded::all() {
        let recorded: Vec<Row> = manifest(&folder);
        let row = recorded.iter().find(|r| r["file"].rsplit('/').next() == Some(pack.file));
        let row = row.unwrap_or_else(|| panic!("{} is not in the MANIFEST", pack.file));
        assert_eq!(row["licence"], pack.licence, "{}", pack.file);
        assert!(pack.origin.contains(&row["origin"]), "{}", pack.file);
        assert!(std::fs::read(folder.join(&row["file"])).expect("readable") == pack.bytes(), "{}", pack.file);
    }
    say!("embedded pack: {} files equal to the shared ones, 0 skipped", embedded::all().len());
}
