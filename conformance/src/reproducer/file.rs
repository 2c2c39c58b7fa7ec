//! The matrix of a minimal case as a Matrix Market file that reads back bit for bit.

use super::ReproducerError;
use crate::beside;
use crate::case::{Case, Filling};
use sparse_oracle::format::{Coo, Csr};
use sparse_oracle::prelude::*;
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::matrix_market::{write_matrix_market, write_matrix_market_pattern};
use std::path::Path;

/// Writes the matrix: a pattern where the values are drawn, else with the values, and checks what was written.
pub(super) fn write(case: &Case, coo: &Coo<f64>, path: &Path) -> Result<(), ReproducerError> {
    let failed = |source| ReproducerError::Write { path: path.to_owned(), source };
    let drawn = matches!(case.filling, Filling::Drawn(..));
    beside::write_with(path, |out| match plain(coo).filter(|_| drawn) {
        Some(pattern) => write_matrix_market_pattern(&pattern, out),
        None => write_matrix_market(coo, out),
    })
    .map_err(failed)?;
    let read = read_path(path)
        .map_err(|error| ReproducerError::ReadBack { path: path.to_owned(), reason: error.to_string() })?;
    if same(coo, &read.coo, !drawn) {
        Ok(())
    } else {
        Err(ReproducerError::ReadBack { path: path.to_owned(), reason: "other entries came back".to_owned() })
    }
}

/// The matrix as CSR, if that says the same: sorted, without duplicates.
fn plain(coo: &Coo<f64>) -> Option<Csr<f64>> {
    let places = || coo.row_idx.iter().zip(&coo.col_idx);
    let rising = places().zip(places().skip(1)).all(|(a, b)| a < b);
    rising.then(|| Csr::from_entries(&coo.entries()).ok()).flatten()
}

fn same(a: &Coo<f64>, b: &Coo<f64>, values: bool) -> bool {
    let bits = |m: &Coo<f64>| m.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    (a.rows, a.cols) == (b.rows, b.cols)
        && a.row_idx == b.row_idx
        && a.col_idx == b.col_idx
        && (!values || bits(a) == bits(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::format::CooParts;

    fn written(line: &str, values: Vec<f64>, places: &[(u32, u32)]) -> Result<String, ReproducerError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("matrix.mtx");
        let case: Case = line.parse().expect("a line");
        let parts = CooParts {
            rows: 3,
            cols: 2,
            row_idx: places.iter().map(|p| p.0).collect(),
            col_idx: places.iter().map(|p| p.1).collect(),
            values,
        };
        write(&case, &Coo::try_new(parts).expect("in range"), &path)?;
        Ok(std::fs::read_to_string(&path).expect("text"))
    }

    #[test]
    fn every_value_reads_back_bit_for_bit() {
        let values = vec![
            -0.0,
            f64::NAN,
            f64::NEG_INFINITY,
            5e-324,
            0.1 + 0.2,
            -f64::MAX,
            f64::from_bits(0x3ff0_0000_0000_0001),
        ];
        // Duplicates, out of order.
        let places = [(2, 1), (0, 0), (0, 0), (1, 1), (1, 0), (2, 0), (2, 1)];
        let line = "spmm.coo.f64_f64_f64_f64/rmat:scale=3,seed=1/values=own,0";
        let text = written(line, values, &places).expect("it reads back");
        assert!(text.contains("coordinate real general") && text.contains("-0.0"), "{text}");
    }

    #[test]
    fn a_nan_with_another_payload_is_refused_rather_than_changed() {
        let line = "spmm.csr.f64_f64_f64_f64/rmat:scale=3,seed=1/values=own,0";
        let odd = f64::from_bits(0x7ff8_0000_0000_0001);
        let refused = written(line, vec![odd], &[(0, 0)]);
        assert!(matches!(refused, Err(ReproducerError::ReadBack { .. })), "{refused:?}");
    }

    #[test]
    fn drawn_values_need_no_values_in_the_file() {
        let line = "spmm.csr.f64_f64_f64_f64/rmat:scale=3,seed=1/values=ones,0";
        let text = written(line, vec![7.0, 8.0], &[(0, 1), (2, 0)]).expect("it reads back");
        assert!(text.contains("coordinate pattern general"), "{text}");
    }
}
