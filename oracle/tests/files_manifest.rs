//! Every file of the shared data (`SPARSE_SHARED`, else `../shared` beside the repository) against its MANIFEST:
//! real matrices, odd headers and masks must read with exactly the recorded statistics; malformed files must be
//! refused, or read as the table below says. Without the data the tests say so and how much they left out.

use sparse_oracle::format::{Coo, Csr, Entries, Entry};
use sparse_oracle::source::file::{FileMatrix, list_dir, read_path};
use sparse_oracle::source::file_error::FileError;
use sparse_oracle::source::statistics::RowStatistics;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// The shared data folder, if it is there; says so when it is not.
fn shared(part: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SPARSE_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let folder = root.join("data").join(part);
    if folder.join("MANIFEST.tsv").is_file() {
        return Some(folder);
    }
    eprintln!(
        "SKIPPED: all of {}: no MANIFEST.tsv there; set SPARSE_SHARED",
        folder.display()
    );
    None
}

type Row = BTreeMap<String, String>;

fn manifest(folder: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("manifest is readable");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("manifest has a header").split('\t').collect();
    let row = |line: &str| {
        names
            .iter()
            .zip(line.split('\t'))
            .map(|(n, v)| (n.to_string(), v.to_string()))
            .collect()
    };
    lines.filter(|l| !l.is_empty()).map(row).collect()
}

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
        (
            "explicit_zeros",
            coo.values.iter().filter(|&&v| v == 0.0).count() as f64,
        ),
        ("duplicate_entries", (coo.nnz() - seen.len()) as f64),
        (
            "nonfinite_values",
            coo.values.iter().filter(|v| !v.is_finite()).count() as f64,
        ),
        (
            "max_abs_value",
            finite.fold(0.0, |most: f64, v| most.max(v.abs())),
        ),
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
    assert!(
        !mask || matrix.coo.values.iter().all(|&v| v == 1.0),
        "{}",
        row["file"]
    );
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
        assert!(
            agrees(column, value, recorded),
            "{}: {column} is {value}, recorded {recorded}",
            row["file"]
        );
        checked += 1;
    }
    checked
}

/// The crate's own statistics against the MANIFEST, for files that are canonical once sorted.
fn check_statistics(row: &Row, coo: &Coo<f64>) {
    let triples = coo.row_idx.iter().zip(&coo.col_idx).zip(&coo.values);
    let mut list: Vec<Entry<f64>> = triples
        .map(|((&row, &col), &value)| Entry { row, col, value })
        .collect();
    list.sort_by_key(|e| (e.row, e.col));
    let csr = Csr::from_entries(&Entries {
        rows: coo.rows,
        cols: coo.cols,
        list,
    });
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
    assert!(
        agrees("row_nnz_mean", s.mean, mean),
        "{}: {} against {mean}",
        row["file"],
        s.mean
    );
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
            assert!(
                matches!(error.root(), FileError::UnsupportedField { .. }),
                "{error}"
            );
            complex += 1;
            continue;
        }
        let matrix = result.unwrap_or_else(|e| panic!("{e}"));
        check_words(row, &matrix);
        columns += check_counts(row, &matrix);
        if row["duplicate_entries"] == "0" && row["row_nnz_min"] != "" {
            check_statistics(row, &matrix.coo);
            canonical += 1;
        }
        read += 1;
    }
    eprintln!(
        "open matrices: {read} read and checked in {columns} columns ({canonical} also through RowStatistics), \
         {complex} complex ones refused, 0 skipped of {}",
        rows.len()
    );
    assert!(
        read >= 70 && complex >= 10,
        "the shared data shrank: {read} read, {complex} complex"
    );
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
        assert!(
            listing.matrices.contains(&folder.join(&row["file"])),
            "{} is not listed",
            row["file"]
        );
    }
    let recorded: HashSet<PathBuf> = rows.iter().map(|r| folder.join(&r["file"])).collect();
    let unrecorded: Vec<_> = listing
        .matrices
        .iter()
        .filter(|p| !recorded.contains(*p))
        .collect();
    eprintln!(
        "listed {} files, {} of them not in the MANIFEST: {unrecorded:?}",
        listing.matrices.len(),
        unrecorded.len()
    );
    for path in unrecorded {
        read_path(path).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// What becomes of a file that SciPy 1.17.1 accepts although something is odd about it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Choice {
    Reads { entries: usize },
    Refused(fn(&FileError) -> bool),
}

/// Every malformed-or-odd file that SciPy accepts, what is done here, and why.
fn choices() -> BTreeMap<&'static str, (Choice, &'static str)> {
    use Choice::{Reads, Refused};
    BTreeMap::from([
        (
            "fmm/overflow_index_gt_int8.mtx",
            (Reads { entries: 1 }, "indices are u32"),
        ),
        (
            "fmm/overflow_value_gt_complex128.mtx",
            (
                Refused(|e| matches!(e, FileError::UnsupportedField { .. })),
                "complex is unsupported",
            ),
        ),
        (
            "fmm/overflow_value_gt_float128.mtx",
            (
                Refused(|e| matches!(e, FileError::RealOverflow { .. })),
                "a finite decimal must not become inf",
            ),
        ),
        (
            "fmm/overflow_value_gt_float64.mtx",
            (
                Refused(|e| matches!(e, FileError::RealOverflow { .. })),
                "a finite decimal must not become inf",
            ),
        ),
        (
            "fmm/overflow_value_gt_int32.mtx",
            (Reads { entries: 1 }, "integers have 64 bits"),
        ),
        (
            "fmm/permissive_banner_leading_spaces_eye3.mtx",
            (Reads { entries: 3 }, "blanks carry no meaning"),
        ),
        (
            "fmm/permissive_banner_one_percent_eye3.mtx",
            (Reads { entries: 3 }, "the word is unmistakable"),
        ),
        (
            "fmm/permissive_lines_indented.mtx",
            (Reads { entries: 1 }, "blanks carry no meaning"),
        ),
        (
            "fmm/windows_lineendings_nist_ex1_more_freeformat.mtx",
            (Reads { entries: 8 }, "CRLF and blank lines"),
        ),
        (
            "fmm/dim_over_32_bit.mtx",
            (
                Refused(|e| matches!(e, FileError::TooLarge { .. })),
                "dimensions are u32 by contract",
            ),
        ),
        (
            "lagraph/mangled5.mtx",
            (
                Refused(|e| matches!(e, FileError::IllegalCombination { .. })),
                "a pattern has no conjugates",
            ),
        ),
        (
            "lagraph/mangled6.mtx",
            (
                Refused(|e| matches!(e, FileError::TrailingToken { .. })),
                "real hermitian reads as symmetric, but \"2 2 1 1\" has a token too many",
            ),
        ),
        (
            "lagraph/mangled14.mtx",
            (Reads { entries: 3 }, "duplicates are kept, and summed later"),
        ),
        (
            "lagraph/mangled_skew.mtx",
            (Reads { entries: 20 }, "a %%GraphBLAS line is a comment"),
        ),
        (
            "sprs/too_many_elems_in_entry.mtx",
            (
                Refused(|e| matches!(e, FileError::TrailingToken { .. })),
                "nothing may follow the value",
            ),
        ),
    ])
}

#[test]
fn every_malformed_file_is_refused_or_read_by_choice() {
    let Some(folder) = shared("malformed") else { return };
    let mut choices = choices();
    let rows = manifest(&folder);
    let (mut refused, mut chosen_refused, mut chosen_read) = (0, 0, 0);
    for row in &rows {
        let result = read_path(&folder.join(&row["file"]));
        if row["scipy_1.17.1_mmread"].starts_with("REJECTS") {
            let error = result.expect_err(&row["file"]);
            println!("{:45} {}", row["file"], error.root());
            refused += 1;
            continue;
        }
        let (choice, why) = choices
            .remove(row["file"].as_str())
            .unwrap_or_else(|| panic!("{}: undecided", row["file"]));
        match (choice, result) {
            (Choice::Reads { entries }, Ok(matrix)) => {
                assert_eq!(matrix.coo.nnz(), entries, "{}: {why}", row["file"]);
                chosen_read += 1;
            }
            (Choice::Refused(expected), Err(e)) => {
                assert!(expected(e.root()), "{}: {e}; but {why}", row["file"]);
                chosen_refused += 1;
            }
            (_, Ok(_)) => panic!("{} was read; {why}", row["file"]),
            (_, Err(e)) => panic!("{e}; {why}"),
        }
    }
    eprintln!(
        "malformed: {refused} refused as by SciPy, {chosen_refused} refused and {chosen_read} read by choice, \
         0 skipped of {}",
        rows.len()
    );
    assert!(
        choices.is_empty(),
        "not in the MANIFEST any more: {:?}",
        choices.keys()
    );
}
