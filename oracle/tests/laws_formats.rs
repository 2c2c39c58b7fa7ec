//! One logical matrix, one result: every format of it, through every conversion, gives the same exact product.

use crate::laws_support;
use sparse_oracle::prelude::*;

use laws_support::{Held, Values, equal, product, under_proptest, under_quickcheck};
use sparse_oracle::convert::convert;
use sparse_oracle::exact::Element;
use sparse_oracle::format::{Csr, Dense, Entries, FormatKind, FormatParams, Sparse};
use sparse_oracle::judge::Problem;

fn params(seed: u64) -> FormatParams {
    FormatParams::blocks(1 + (seed % 5) as u32, 1 + (seed / 5 % 5) as u32)
}

/// The fast path of the judge, on the CSR of what a format decodes to.
fn judged_sums(matrix: &Sparse<f64>, b: &Dense<f64>) -> Result<Vec<Vec<Element>>, String> {
    let a = Csr::from_entries(&matrix.entries()).map_err(|e| e.to_string())?;
    let mut rows = vec![Vec::new(); a.rows];
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
    problem.for_each(&mut |site| rows[site.at.0].push(site.sum.clone())).map_err(|e| e.to_string())?;
    Ok(rows)
}

fn formats_agree(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    for kind in FormatKind::GENERAL {
        // A format that pads with zeros cannot hold an explicit +0.0, and is asked about the rest.
        let logical = if kind.pads_with_zeros() { a.without_positive_zeros() } else { a.clone() };
        let expected = product(&logical, b);
        let stored = Sparse::from_entries(kind, params(seed), &logical).map_err(|e| e.to_string())?;
        equal(&format!("{kind:?}"), &judged_sums(&stored, b)?, &expected)?;
        for to in FormatKind::GENERAL.into_iter().filter(|to| kind.pads_with_zeros() || !to.pads_with_zeros())
        {
            let converted = convert(&stored, to, params(seed / 25)).map_err(|e| e.to_string())?;
            equal(&format!("{kind:?} to {to:?}"), &judged_sums(&converted, b)?, &expected)?;
        }
    }
    Ok(())
}

/// On finite operands a dropped +0.0 changes no number, only the count of terms.
fn padded_formats_lose_only_terms(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let whole = product(a, b);
    for kind in [FormatKind::Bcsr, FormatKind::BlockedEll] {
        let stored = Sparse::from_entries(kind, params(seed), a).map_err(|e| e.to_string())?;
        let found = judged_sums(&stored, b)?;
        laws_support::equal_numbers(&format!("{kind:?}"), &found, &whole)?;
        let zeros: Vec<u64> = (0..a.rows)
            .map(|i| a.list.iter().filter(|e| e.row as usize == i && e.value.to_bits() == 0).count() as u64)
            .collect();
        for (i, (f, w)) in found.iter().zip(&whole).enumerate() {
            if f.iter().zip(w).any(|(f, w)| f.terms + zeros[i] != w.terms) {
                return Err(format!("{kind:?}: row {i} has {} zeros, {f:?} against {w:?}", zeros[i]));
            }
        }
    }
    Ok(())
}

#[test]
fn every_format_of_a_matrix_gives_the_same_product() {
    under_proptest(formats_agree, Values::All, 20, 6);
    under_quickcheck(formats_agree, 100);
}

#[test]
fn padded_formats_lose_explicit_zeros_and_nothing_else() {
    under_proptest(padded_formats_lose_only_terms, Values::Finite, 20, 6);
    under_quickcheck(padded_formats_lose_only_terms, 100);
}
