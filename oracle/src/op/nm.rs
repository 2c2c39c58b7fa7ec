//! Products with an N:M sparse matrix on the right, `C = A (*) (B', D)`, and what pruning changes about them
//! (NM-SpMM, equations (1) and (2)).

use crate::exact::{Element, Value, dot_reference};
use crate::format::{Dense, Entries, Nm};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;

/// Equation (1) as corrected: `C[i][j] = sum over u < w of A[i][floor(u / n) * m + D[u][j / l]] * B'[u][j]`, exactly,
/// terms in ascending u. A is m x k dense, B is k x n. The paper's factor `M / N` is alpha, and not applied here.
///
/// A slot without an entry takes no part, so that neither a pad that faces an infinity nor a row past the end matters.
///
/// # Errors
/// [`RequestError::Shape`] unless A has as many columns as B has rows.
pub fn definition<T: Scalar>(a: &Dense<f64>, b: &Nm<T>) -> Result<Vec<Vec<Element>>, Refusal> {
    check_inner(a, b.rows)?;
    let stride = b.cols.div_ceil(b.l) * b.l;
    let w = b.rows.div_ceil(b.m) * b.n;
    let element = |i: usize, j: usize| {
        let slots = (0..w).map(|u| (b.row(u, j / b.l), b.values[u * stride + j]));
        let stored = slots.filter(|(_, value)| !value.is_positive_zero());
        let (left, right): (Vec<f64>, Vec<f64>) = stored.map(|(k, v)| (a.at(i, k), v.to_f64())).unzip();
        dot_reference(&left, &right)
    };
    let row = |i| (0..b.cols).map(|j| element(i, j)).collect();
    Ok((0..a.rows()).map(row).collect())
}

/// The exact product of a dense and a sparse matrix, by the definition.
///
/// # Errors
/// [`RequestError::Shape`] unless A has as many columns as B has rows.
pub fn product(a: &Dense<f64>, b: &Entries<f64>) -> Result<Vec<Vec<Element>>, Refusal> {
    check_inner(a, b.rows)?;
    let element = |i: usize, j: usize| {
        let column = b.list.iter().filter(|e| e.col as usize == j);
        let terms = column.map(|e| (a.at(i, e.row as usize), e.value));
        let (left, right): (Vec<f64>, Vec<f64>) = terms.unzip();
        dot_reference(&left, &right)
    };
    let row = |i| (0..b.cols).map(|j| element(i, j)).collect();
    Ok((0..a.rows()).map(row).collect())
}

fn check_inner(a: &Dense<f64>, rows: usize) -> Result<(), Refusal> {
    if a.cols() == rows {
        return Ok(());
    }
    Err(Refusal::Request(RequestError::Shape {
        left_name: "columns of A",
        left: a.cols(),
        right_name: "rows of B",
        right: rows,
    }))
}

/// Equation (2): how far a product with a pruned matrix is from the original one, element by element.
#[derive(Clone, Debug, PartialEq)]
pub struct Confusion {
    /// Exact `|C'[i][j] - C[i][j]|`, m x n.
    pub differences: Vec<Vec<Value>>,
    /// m * n, which equation (2) divides every element by.
    pub elements: u64,
}

/// The confusion matrix W of `C' = alpha * A * pruned` against `C = A * full`.
///
/// # Errors
/// [`RequestError::Shape`] unless A has as many columns as both have rows, and both have the same number of columns.
pub fn confusion(
    a: &Dense<f64>,
    full: &Entries<f64>,
    pruned: &Entries<f64>,
    alpha: f64,
) -> Result<Confusion, Refusal> {
    if full.cols != pruned.cols {
        return Err(Refusal::Request(RequestError::Shape {
            left_name: "columns of the full matrix",
            left: full.cols,
            right_name: "columns of the pruned one",
            right: pruned.cols,
        }));
    }
    let (exact, approximate) = (product(a, full)?, product(a, pruned)?);
    let difference = |(c, c_pruned): (Element, Element)| (&c_pruned.value.scale(alpha) - &c.value).abs();
    let row = |(c, c_pruned): (Vec<_>, Vec<_>)| c.into_iter().zip(c_pruned).map(difference).collect();
    Ok(Confusion {
        differences: exact.into_iter().zip(approximate).map(row).collect(),
        elements: a.rows() as u64 * full.cols as u64,
    })
}

impl Confusion {
    /// `W[i][j]`: the difference, rounded to f64, divided by m * n.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.differences[i][j].approx() / self.elements as f64
    }

    /// The sum of W, which is the mean difference: the exact sum, rounded to f64, divided by m * n. 0 without elements.
    #[must_use]
    pub fn total(&self) -> f64 {
        if self.elements == 0 {
            return 0.0;
        }
        let all = self.differences.iter().flatten();
        all.fold(Value::ZERO, |sum, d| &sum + d).approx() / self.elements as f64
    }
}
