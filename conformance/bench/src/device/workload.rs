//! Operands that only the device's bench has: dense times N:M as NM-SpMM takes them; and the bytes that must move.

use super::super::operands::Shared;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use sparse_conformance_core::case::{Case, Filling, Params};
use sparse_conformance_core::operands::{DenseOperand, Operands};
use sparse_oracle::contract::{Contract, Op, Types};
use sparse_oracle::format::{
    AnySparse, Entries, Entry, FormatKind, FormatParams, Layout, Nm, NmParts, Sparse,
};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Element, Precision, Scalar, Values};
use sparse_oracle::source::values::ValueFamily;
use sparse_oracle::{Bf16, F16, Tf32, each_sparse, with_scalar};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A product of a dense m x k matrix and a k x n matrix of N:M pattern: `m=4096,k=4096,n=4096,keep=16,of=32,l=32`.
///
/// ```text
/// C (m x n) = D (m x k) W (k x n) is C^T = W^T D^T; D^T and C^T are row-major
///     N:M    A = W, which the case transposes
///     2:4    A = W^T (keep=2,of=4,l=1; of tf32 keep=1,of=2,l=1)
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Structured {
    rows: usize,
    inner: usize,
    cols: usize,
    keep: usize,
    of: usize,
    length: usize,
}

impl fmt::Display for Structured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m={},k={},n={}", self.rows, self.inner, self.cols)?;
        write!(f, ",keep={},of={},l={}", self.keep, self.of, self.length)
    }
}

impl FromStr for Structured {
    type Err = String;

    fn from_str(text: &str) -> Result<Structured, String> {
        let mut parsed = Structured::default();
        for word in text.split(',') {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("{word:?} is not NAME=NUMBER"))?;
            let number: usize = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
            let field = match name {
                "m" => &mut parsed.rows,
                "k" => &mut parsed.inner,
                "n" => &mut parsed.cols,
                "keep" => &mut parsed.keep,
                "of" => &mut parsed.of,
                "l" => &mut parsed.length,
                _ => return Err(format!("{name:?} is not one of m, k, n, keep, of, l")),
            };
            *field = number;
        }
        let Structured { rows, inner, cols, keep, of, length } = parsed;
        let largest = [rows, inner, cols].into_iter().max().unwrap_or(0);
        if [rows, inner, cols, keep, of, length].contains(&0) || keep > of || largest > 1 << 16 {
            return Err("each of m, k, n, keep, of, l is needed; keep is at most of, extents at most 65536"
                .to_owned());
        }
        Ok(parsed)
    }
}

impl Structured {
    /// The operands for these element types: as vector-wise N:M, and in the format of `mma.sp` where that knows the pattern.
    pub(super) fn shared(self, types: Types) -> impl Iterator<Item = Shared> {
        [self.as_nm(types), self.as_two_four(types)].into_iter().flatten()
    }

    fn as_nm(self, types: Types) -> Option<Shared> {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let a = match types.a {
            Precision::F32 => AnySparse::F32(self.pattern::<f32>(&mut rng)?),
            Precision::Tf32 => AnySparse::Tf32(self.pattern::<Tf32>(&mut rng)?),
            Precision::F16 => AnySparse::F16(self.pattern::<F16>(&mut rng)?),
            Precision::Bf16 => AnySparse::Bf16(self.pattern::<Bf16>(&mut rng)?),
            _ => return None,
        };
        let blocks = FormatParams {
            n: self.keep as u32,
            m: self.of as u32,
            l: self.length as u32,
            ..FormatParams::default()
        };
        self.product(types, FormatKind::Nm, blocks, a, &mut rng)
    }

    /// Of two neighbouring columns one (tf32), of four two (f16, bf16), in each row of W^T, which is stored as such.
    fn as_two_four(self, types: Types) -> Option<Shared> {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let a = match (types.a, self.keep, self.of, self.length) {
            (Precision::Tf32, 1, 2, 1) => AnySparse::Tf32(self.chunks::<Tf32>(&mut rng)?),
            (Precision::F16, 2, 4, 1) => AnySparse::F16(self.chunks::<F16>(&mut rng)?),
            (Precision::Bf16, 2, 4, 1) => AnySparse::Bf16(self.chunks::<Bf16>(&mut rng)?),
            _ => return None,
        };
        self.product(types, FormatKind::TwoFour, FormatParams::default(), a, &mut rng)
    }

    fn product(
        self,
        types: Types,
        format: FormatKind,
        blocks: FormatParams,
        a: AnySparse,
        rng: &mut Pcg64Mcg,
    ) -> Option<Shared> {
        let Structured { rows, inner, cols, keep, of, .. } = self;
        let contract = Contract { op: Op::Spmm, format, to: None, types };
        let shape = a.shape();
        let case = Case {
            contract,
            origin: format!("uniform:rows={},cols={},density=1,seed=7", shape.0, shape.1).parse().ok()?,
            filling: Filling::Drawn(ValueFamily::NearOne, 7),
            params: Params { n: rows, transpose_a: format == FormatKind::Nm, blocks, ..Params::default() },
        };
        let dense: Vec<f64> = (0..rows * inner).map(|_| number(rng)).collect();
        let b = DenseOperand {
            rows: inner,
            cols: rows,
            ld: rows,
            layout: Layout::RowMajor,
            data: Values::from_f64(types.b, &dense).into(),
        };
        let nnz = inner.div_ceil(of) * keep * cols;
        let operands = Operands {
            a,
            b_sparse: None,
            b: Some(b),
            y: None,
            result: (cols, rows),
            c: [Vec::new(), Vec::new()],
            earlier: Vec::new(),
        };
        Some(Shared { case, operands: Arc::new(operands), nnz })
    }

    /// W^T with `keep` random columns of each `of`, and random values.
    fn chunks<T: Element + Scalar>(self, rng: &mut Pcg64Mcg) -> Option<Sparse<T>> {
        let Structured { inner, cols, keep, of, .. } = self;
        let mut list = Vec::with_capacity(cols * inner.div_ceil(of) * keep);
        let mut all: Vec<u32> = (0..of as u32).collect();
        for row in 0..cols {
            for chunk in (0..inner).step_by(of) {
                for place in chosen(&mut all, keep, rng) {
                    let col = chunk as u32 + place;
                    if (col as usize) < inner {
                        let value = T::from_f64(number(rng));
                        let row = row as u32;
                        list.push(Entry { row, col, value });
                    }
                }
            }
        }
        let entries = Entries::try_new(cols, inner, list).ok()?;
        Sparse::from_entries(FormatKind::TwoFour, FormatParams::default(), &entries).ok()
    }

    /// Random rows of each window, ascending, and random values.
    fn pattern<T: Element + Scalar>(self, rng: &mut Pcg64Mcg) -> Option<Sparse<T>> {
        let Structured { inner, cols, keep, of, length, .. } = self;
        let (windows, groups) = (inner.div_ceil(of), cols.div_ceil(length));
        let mut index = vec![0u32; windows * keep * groups];
        let mut all: Vec<u32> = (0..of as u32).collect();
        for window in 0..windows {
            for group in 0..groups {
                for (place, row) in chosen(&mut all, keep, rng).into_iter().enumerate() {
                    index[(window * keep + place) * groups + group] = row;
                }
            }
        }
        let values = (0..index.len() * length).map(|_| T::from_f64(number(rng))).collect();
        let parts = NmParts { rows: inner, cols, n: keep, m: of, l: length, index, values };
        Nm::try_new(parts).ok().map(Sparse::Nm)
    }
}

/// `keep` of all, ascending, each choice as likely; what is left is shuffled.
fn chosen(all: &mut [u32], keep: usize, rng: &mut Pcg64Mcg) -> Vec<u32> {
    for place in 0..keep {
        all.swap(place, rng.random_range(place..all.len()));
    }
    let mut kept = all[..keep].to_vec();
    kept.sort_unstable();
    kept
}

/// A number of either sign, from 1 to 2 in size.
fn number(rng: &mut Pcg64Mcg) -> f64 {
    let size = 1.0 + f64::from(rng.random_range(0..1u32 << 20)) / f64::from(1u32 << 20);
    if rng.random_range(0..2u32) == 0 { size } else { -size }
}

/// Bytes of the dense operands that a product must touch, each once: rows of B (Y) that an entry names, the rows of X that have
/// one, and all of C.
pub(super) fn touched(shared: &Shared) -> u64 {
    let Operands { a, result, .. } = shared.operands.as_ref();
    let types = shared.case.contract.types;
    let size = |precision: Precision| with_scalar!(precision, T => size_of::<T>() as u64);
    let (rows, cols) = a.shape();
    let (mut named_rows, mut named_cols) = (vec![false; rows], vec![false; cols]);
    each_sparse!(a, m => {
        for entry in &m.entries().list {
            named_rows[entry.row as usize] = true;
            named_cols[entry.col as usize] = true;
        }
    });
    let count = |named: &[bool]| named.iter().filter(|&&n| n).count() as u64;
    let n = shared.case.params.n as u64;
    let out = (result.0 * result.1) as u64 * size(types.out);
    let inner = if shared.case.params.transpose_a { &named_rows } else { &named_cols };
    if shared.case.contract.op.is_sampled() {
        // The values of S are counted with its format and not read in this mode: as many bytes as are written.
        (count(&named_rows) + count(&named_cols)) * n * size(types.a)
    } else {
        count(inner) * n * size(types.b) + out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each window (N:M) or chunk (2:4) the right number is kept.
    #[test]
    fn products_have_the_pattern_that_was_asked_for() {
        let types = |a| Types { a, b: a, acc: Precision::F32, out: Precision::F32 };
        let asked: Structured = "m=3,k=12,n=5,keep=2,of=4,l=1".parse().expect("a shape");
        assert_eq!(asked.to_string(), "m=3,k=12,n=5,keep=2,of=4,l=1");
        let made: Vec<_> = asked.shared(types(Precision::F16)).collect();
        let formats: Vec<_> = made.iter().map(|shared| shared.case.contract.format).collect();
        assert_eq!(formats, [FormatKind::Nm, FormatKind::TwoFour]);
        for shared in &made {
            let turned = shared.case.params.transpose_a;
            assert_eq!(shared.operands.a.shape(), if turned { (12, 5) } else { (5, 12) });
            let mut kept = [[0; 3]; 5];
            each_sparse!(&shared.operands.a, m => {
                for e in &m.entries().list {
                    let (k, n) = if turned { (e.row, e.col) } else { (e.col, e.row) };
                    kept[n as usize][k as usize / 4] += 1;
                }
            });
            assert_eq!(kept, [[2; 3]; 5]);
        }
        let one_of_two: Structured = "m=3,k=12,n=5,keep=1,of=2,l=1".parse().expect("a shape");
        assert_eq!(one_of_two.shared(types(Precision::Tf32)).count(), 2);
        assert_eq!(one_of_two.shared(types(Precision::F16)).count(), 1);
        assert_eq!(asked.shared(types(Precision::F64)).count(), 0);
        // Windows of N:M are full: here 2:4 comes alone, and the bench says that N:M is missing.
        let ragged: Structured = "m=3,k=10,n=5,keep=2,of=4,l=1".parse().expect("a shape");
        let formats: Vec<_> =
            ragged.shared(types(Precision::F16)).map(|shared| shared.case.contract.format).collect();
        assert_eq!(formats, [FormatKind::TwoFour]);
    }
}
