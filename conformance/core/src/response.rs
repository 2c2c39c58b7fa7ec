//! What came back from one call of a backend, before anybody judges it.

use crate::placed::{LARGE, PIECE, Placed};
use rayon::prelude::*;
use sparse_oracle::each_precision;
use sparse_oracle::format::AnyParts;
use sparse_oracle::judge::Place;
use sparse_oracle::scalar::{AnySlice, Element, Precision};
use sparse_oracle::task::RawSparse;
use sparse_oracle::verdict::Mismatch;

/// What came back from one call.
#[derive(Debug)]
pub enum Response {
    /// A dense result (or the values of an SDDMM).
    Dense(DenseResult),
    /// Unchecked sparse arrays of a general format.
    Sparse(RawSparse),
    /// Unchecked sparse arrays of any format.
    Parts(AnyParts),
    /// The backend refused.
    Refused(String),
    /// It panicked.
    Panicked(String),
    /// No answer in time.
    TimedOut {
        /// The limit, in seconds.
        seconds: f64,
        /// It computed next to nothing meanwhile.
        idle: bool,
        /// What it had written to standard error.
        tail: String,
    },
    /// It broke a rule that needs no arithmetic to see.
    Broke(Mismatch),
    /// It was not asked: the machine of the judge could not start it.
    NotAsked(String),
}

/// A dense output after the call.
#[derive(Debug)]
pub struct DenseResult {
    pub(crate) buffer: Placed,
    /// Where element (i, j) is in [`found`](Self::found).
    pub place: Place,
}

impl DenseResult {
    /// The elements, where they are, and the bits of those that were not written.
    #[must_use]
    pub fn output(&self) -> (AnySlice<'_>, Place, Option<u64>) {
        let found = self.found();
        (found, self.place, Some(poison(found.precision())))
    }

    /// True where all elements, padding included, are the same to the last bit.
    #[must_use]
    pub fn same_bits(&self, other: &DenseResult) -> bool {
        let (a, b) = (self.found(), other.found());
        each_precision!(AnySlice, a, a => same_elements(a, b))
    }

    /// The elements, padding included.
    #[must_use]
    pub fn found(&self) -> AnySlice<'_> {
        self.buffer.as_slice()
    }
}

/// NaN payload that outputs are filled with and that no input carries.
#[must_use]
pub fn poison(precision: Precision) -> u64 {
    match precision {
        Precision::F64 => 0x7ff8_0bad_5eed_dead,
        Precision::F32 | Precision::Tf32 => 0x7fcb_adde,
        Precision::F16 => 0x7e77,
        Precision::Bf16 => 0x7fd5,
        // One NaN only: the 8-bit types are never outputs.
        Precision::E4m3 | Precision::E5m2 => 0x7f,
    }
}

fn same_elements<T: Element>(a: &[T], b: AnySlice<'_>) -> bool {
    let same_piece = |(a, b): (&[T], &[T])| a.iter().zip(b).all(|(a, b)| a.bits64() == b.bits64());
    let same = |b: &[T]| match a.len() {
        length if length != b.len() => false,
        0..=LARGE => same_piece((a, b)),
        _ => a.par_chunks(PIECE).zip(b.par_chunks(PIECE)).all(same_piece),
    };
    T::unwrap_slice(b).is_some_and(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: results of other lengths could be the same, and large ones were compared otherwise than small ones.
    #[test]
    fn the_same_elements_are_the_same_bits_and_as_many() {
        let same = |a: &[f32], b: &[f32]| same_elements(a, AnySlice::F32(b));
        assert!(same(&[f32::NAN, 0.0], &[f32::NAN, 0.0]));
        assert!(!same(&[0.0], &[-0.0]));
        assert!(!same(&[1.0, 2.0], &[1.0]) && !same(&[1.0], &[1.0, 2.0]));
        assert!(!same_elements(&[0.0f32], AnySlice::F64(&[0.0])));
        for length in [LARGE, LARGE + 1, LARGE + PIECE + 3] {
            let zeros = vec![0.0f32; length];
            assert!(same(&zeros, &zeros), "{length}");
            assert!(!same(&zeros, &zeros[1..]), "{length}");
            for at in [0, PIECE, length - 1] {
                let mut other = zeros.clone();
                other[at] = 1.0;
                assert!(!same(&zeros, &other), "{length}, element {at}");
            }
        }
    }
}
