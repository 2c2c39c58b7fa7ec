//! Every malformed or odd file of the shared data: what `SciPy` rejects must be refused, the rest is read or refused
//! as the table below says, with the reason. Without the data the test says so and leaves everything out.

use crate::files_shared;

use files_shared::{manifest, say, shared};
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::file_error::FileError;
use std::collections::BTreeMap;

/// What becomes of a file that `SciPy` 1.17.1 accepts although something is odd about it.
#[derive(Clone, Copy)]
enum Choice {
    Reads { entries: usize },
    Refused(fn(&FileError) -> bool),
}

/// Every malformed-or-odd file that `SciPy` accepts, what is done here, and why.
fn choices() -> BTreeMap<&'static str, (Choice, &'static str)> {
    use Choice::{Reads, Refused};
    BTreeMap::from([
        ("fmm/overflow_index_gt_int8.mtx", (Reads { entries: 1 }, "indices are u32")),
        (
            "fmm/overflow_value_gt_complex128.mtx",
            (Refused(|e| matches!(e, FileError::UnsupportedField { .. })), "complex is unsupported"),
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
        ("fmm/overflow_value_gt_int32.mtx", (Reads { entries: 1 }, "integers have 64 bits")),
        ("fmm/permissive_banner_leading_spaces_eye3.mtx", (Reads { entries: 3 }, "blanks carry no meaning")),
        ("fmm/permissive_banner_one_percent_eye3.mtx", (Reads { entries: 3 }, "the word is unmistakable")),
        ("fmm/permissive_lines_indented.mtx", (Reads { entries: 1 }, "blanks carry no meaning")),
        (
            "fmm/windows_lineendings_nist_ex1_more_freeformat.mtx",
            (Reads { entries: 8 }, "CRLF and blank lines"),
        ),
        (
            "fmm/dim_over_32_bit.mtx",
            (Refused(|e| matches!(e, FileError::TooLarge { .. })), "dimensions are u32 by contract"),
        ),
        (
            "lagraph/mangled5.mtx",
            (Refused(|e| matches!(e, FileError::IllegalCombination { .. })), "a pattern has no conjugates"),
        ),
        (
            "lagraph/mangled6.mtx",
            (
                Refused(|e| matches!(e, FileError::TrailingToken { .. })),
                "real hermitian reads as symmetric, but \"2 2 1 1\" has a token too many",
            ),
        ),
        ("lagraph/mangled14.mtx", (Reads { entries: 3 }, "duplicates are kept, and summed later")),
        ("lagraph/mangled_skew.mtx", (Reads { entries: 20 }, "a %%GraphBLAS line is a comment")),
        (
            "sprs/too_many_elems_in_entry.mtx",
            (Refused(|e| matches!(e, FileError::TrailingToken { .. })), "nothing may follow the value"),
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
        let (choice, why) =
            choices.remove(row["file"].as_str()).unwrap_or_else(|| panic!("{}: undecided", row["file"]));
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
    say!(
        "malformed: {refused} refused as by SciPy, {chosen_refused} refused and {chosen_read} read by choice, \
         0 skipped of {}",
        rows.len()
    );
    assert!(choices.is_empty(), "not in the MANIFEST any more: {:?}", choices.keys());
}
