//! Targets of one family of formats each, with any parameters, and the laws that only that family has.

use super::FuzzOutcome;
use super::input::{Input, SIDE};
use super::parts::{converters, damaged, decoded_alike};
use sparse_oracle::format::{
    AnySparse, Csr, Entries, Entry, FieldRef, Fields, FormatKind, FormatParams, Loops, Parts, PartsElement,
    Sparse,
};
use sparse_oracle::judge::judge_encoded;
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::{Limit, Refusal, RequestError};
use sparse_oracle::scalar::{Element, Scalar};
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::Verdict;
use sparse_oracle::with_scalar;

/// N:M, 2:4 and V:N:M with any parameters: what pruning keeps is encoded, and a matrix is encoded unpruned exactly when
/// pruning keeps all of it.
///
/// # Panics
/// When a law fails, or kernel and reference differ.
pub fn nm_pack(bytes: &[u8]) -> FuzzOutcome {
    let mut input = Input::new(bytes);
    let kind = input.pick(&[FormatKind::Nm, FormatKind::TwoFour, FormatKind::Vnm]);
    with_scalar!(input.pick(kind.precisions()), T => {
        let params = input.params(&[kind]);
        let damage = input.damages();
        let entries = input.entries::<T>(SIDE);
        let kept = match prune(&entries, kind, &params) {
            Ok(kept) => kept,
            Err(refusal) => {
                assert_eq!(encoded_alike(kind, &entries, params).err(), Some(refusal));
                return FuzzOutcome::Refused;
            }
        };
        assert_eq!(
            prune(&kept, kind, &params).map(|again| again.bits()),
            Ok(kept.bits()),
            "pruning twice prunes more"
        );
        let all = encoded_alike(kind, &entries, params);
        if matches!(all, Err(Refusal::Limit(Limit { .. }) | Refusal::Request(RequestError::TooLarge { .. }))) {
            return FuzzOutcome::Refused;
        }
        assert_eq!(all.is_ok(), kept.nnz() == entries.nnz(), "what fits is what pruning keeps: {all:?}");
        let matrix = match encoded_alike(kind, &kept, params) {
            Ok(matrix) => matrix,
            Err(refusal) => {
                assert!(matches!(refusal, Refusal::Limit(Limit { .. }) | Refusal::Request(RequestError::TooLarge { .. })), "{refusal}");
                return FuzzOutcome::Refused;
            }
        };
        let stored = matrix.entries().bits();
        assert_eq!(stored, kept.without_positive_zeros().bits());
        finish(matrix, damage)
    })
}

/// RP-CSC and CP-CSR with any number of groups: CP-CSR of A is RP-CSC of its transpose, array by array.
///
/// # Panics
/// When it is not, or kernel and reference differ.
pub fn rp_csc(bytes: &[u8]) -> FuzzOutcome {
    let mut input = Input::new(bytes);
    let kinds = [FormatKind::RpCsc, FormatKind::CpCsr];
    let mirrored = input.below(2);
    let (kind, mirror) = (kinds[mirrored], kinds[1 - mirrored]);
    with_scalar!(input.pick(kind.precisions()), T => {
        let params = input.params(&kinds);
        let damage = input.damages();
        let entries = input.entries::<T>(SIDE);
        let other = Sparse::from_entries(mirror, params, &entries.transpose());
        match encoded_alike(kind, &entries, params) {
            Err(_) => {
                assert!(other.is_err(), "only one of a matrix and its mirror image is refused");
                FuzzOutcome::Refused
            }
            Ok(matrix) => {
                assert_eq!(matrix.entries().bits(), entries.bits());
                let other = other.expect("the mirror image of a matrix that is encoded");
                // Rows and columns have changed places; the arrays after them are the same.
                assert_eq!(arrays(&Parts::from(matrix.clone())), arrays(&Parts::from(other)));
                finish(matrix, damage)
            }
        }
    })
}

/// LOOPS with any boundary and tile height.
///
/// # Panics
/// When an array is not what the definition says, or kernel and reference differ.
pub fn loops(bytes: &[u8]) -> FuzzOutcome {
    let mut input = Input::new(bytes);
    with_scalar!(input.pick(FormatKind::Loops.precisions()), T => {
        let mut params = input.params(&[FormatKind::Loops]);
        let boundary = input.below(4 * SIDE) as u32;
        let damage = input.damages();
        let entries = input.entries::<T>(SIDE);
        if boundary as usize <= entries.rows + 1 {
            params.boundary = Some(boundary);
        }
        match encoded_alike(FormatKind::Loops, &entries, params) {
            Err(_) => FuzzOutcome::Refused,
            Ok(matrix) => {
                if let Sparse::Loops(m) = &matrix {
                    assert_eq!(m.boundary, params.boundary.map_or(entries.rows / 2, |b| b as usize));
                    check_loops(m, &entries);
                }
                finish(matrix, damage)
            }
        }
    })
}

/// The arrays of LOOPS, each from the entries by its definition.
fn check_loops<T: Scalar>(m: &Loops<T>, entries: &Entries<T>) {
    let bits = |values: &[T]| values.iter().map(|v| v.bits64()).collect::<Vec<_>>();
    let (above, below): (Vec<_>, Vec<_>) = entries.list.iter().partition(|e| (e.row as usize) < m.boundary);
    assert_eq!(m.col_idx, above.iter().map(|e: &&Entry<T>| e.col).collect::<Vec<_>>());
    assert_eq!(bits(&m.csr_values), above.iter().map(|e| e.value.bits64()).collect::<Vec<_>>());
    let upto = |row: usize| above.iter().filter(|e| (e.row as usize) < row).count() as u32;
    assert_eq!(m.row_ptr, (0..=m.boundary).map(upto).collect::<Vec<_>>());
    // Tiles are counted from the boundary.
    let block = |e: &Entry<T>| (e.row as usize - m.boundary) / m.br;
    let mut tiles: Vec<(usize, u32)> = below.iter().map(|e| (block(e), e.col)).collect();
    tiles.sort_unstable();
    tiles.dedup();
    assert_eq!(m.block_col, tiles.iter().map(|t| t.1).collect::<Vec<_>>());
    let before = |b: usize| tiles.iter().filter(|t| t.0 < b).count() as u32;
    let blocks = (m.rows - m.boundary).div_ceil(m.br);
    assert_eq!(m.block_ptr, (0..=blocks).map(before).collect::<Vec<_>>());
    let mut values = vec![0; tiles.len() * m.br];
    for e in below {
        let tile = tiles.binary_search(&(block(e), e.col)).expect("every entry has a tile");
        values[tile * m.br + (e.row as usize - m.boundary) % m.br] = e.value.bits64();
    }
    assert_eq!(bits(&m.values), values);
}

/// The encoding as it is, and once more with damage: decoded alike.
fn finish<T: PartsElement + Element>(matrix: Sparse<T>, mut damage: Vec<Input<'_>>) -> FuzzOutcome
where
    AnySparse: From<Sparse<T>>,
{
    if !damage.is_empty() {
        let parts = damaged(matrix.clone().into(), &mut damage);
        if let Ok(taken) = parts.check() {
            decoded_alike(taken);
        }
    }
    decoded_alike(matrix)
}

/// Encodes with the reference and the kernels: the same arrays, or the same refusal.
pub(super) fn encoded_alike<T: PartsElement + Element>(
    kind: FormatKind,
    entries: &Entries<T>,
    params: FormatParams,
) -> Result<Sparse<T>, Refusal>
where
    AnySparse: From<Sparse<T>>,
{
    let expected = Sparse::from_entries(kind, params, entries);
    let csr = Csr::from_entries(entries).expect("a small matrix has a CSR");
    let csr = AnySparse::from(Sparse::Csr(csr));
    for kernel in converters(FormatKind::Csr, kind, T::PRECISION) {
        let answer = (kernel.run)(Task::Convert { a: &csr, to: kind, params });
        match (&expected, answer) {
            (Ok(matrix), Ok(Answer::Parts(parts))) => {
                let verdict = judge_encoded(&AnySparse::from(matrix.clone()), parts);
                assert_eq!(verdict, Verdict::Exact, "{}", kernel.name);
            }
            (Err(expected), Err(refusal)) => assert_eq!(*expected, refusal, "{}", kernel.name),
            (expected, answer) => {
                panic!("{}: the reference says {expected:?}, the kernel {answer:?}", kernel.name)
            }
        }
    }
    expected
}

/// Every array of some parts, without names and without extents.
fn arrays<T: Scalar>(parts: &Parts<T>) -> Vec<Vec<u64>> {
    let fields = parts.fields().into_iter();
    fields
        .filter_map(|(_, field)| match field {
            FieldRef::Extent(_) | FieldRef::Flag(_) => None,
            FieldRef::U8(v) => Some(v.iter().map(|&x| u64::from(x)).collect()),
            FieldRef::U16(v) => Some(v.iter().map(|&x| u64::from(x)).collect()),
            FieldRef::U32(v) => Some(v.iter().map(|&x| u64::from(x)).collect()),
            FieldRef::U64(v) => Some(v.to_vec()),
            FieldRef::Values(v) => Some(v.iter().map(|x| x.bits64()).collect()),
        })
        .collect()
}
