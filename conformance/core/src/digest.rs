//! Content hashes: of the operands that a backend is given, and of the bits that come back.
//!
//! XXH3 over every bit, elements in storage order: 64 bits tell whether an operand changed during a call, 128 bits name
//! inputs and output in a report, so that two runs can be compared without keeping their arrays. What names something is made of
//! 64-bit words whatever the type; what is only compared within a run, of the elements as they are.
//!
//! ```text
//! up to 2^20 elements   the words, one after another
//! more                  pieces of 2^16 elements, each hashed alone on any thread; then their 128-bit hashes, one after another
//! ```

use crate::case::Case;
use crate::operands::Operands;
use crate::placed::{LARGE, PIECE};
use crate::response::Response;
use rayon::prelude::*;
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, FieldRef, Fields};
use sparse_oracle::scalar::{AnySlice, Element, Scalar};
use sparse_oracle::task::RawSparse;
use std::hash::Hasher;
use xxhash_rust::xxh3::Xxh3Default;

/// A 128-bit hash as a report prints it.
#[must_use]
pub fn hex(digest: u128) -> String {
    format!("{digest:032x}")
}

/// A hash of every bit of every operand that a backend may not change.
#[must_use]
pub fn fingerprint(operands: &Operands) -> u64 {
    let (dense, sparse) = held(operands);
    arrays(dense, sparse)
}

/// A hash of every bit of these arrays.
#[must_use]
pub fn arrays<'a>(
    dense: impl Iterator<Item = AnySlice<'a>>,
    sparse: impl IntoIterator<Item = &'a AnySparse>,
) -> u64 {
    let mut hash = Xxh3Default::new();
    hash_arrays((dense, sparse), hash_stored, &mut hash);
    hash.digest()
}

/// Content hash of a case's operands, C among them where it is read.
#[must_use]
pub fn inputs(case: &Case, operands: &Operands) -> u128 {
    let mut hash = Xxh3Default::new();
    hash_arrays(held(operands), hash_values, &mut hash);
    if case.reads_c() {
        for c in &operands.c {
            hash_values(AnySlice::F64(c), &mut hash);
        }
    }
    hash.digest128()
}

/// Hashes while others work, where so many elements are hashed that it takes a while.
pub(crate) fn beside<W: Send, H: Send>(
    elements: usize,
    work: impl FnOnce() -> W + Send,
    hash: impl FnOnce() -> H + Send,
) -> (W, H) {
    if elements > LARGE { rayon::join(work, hash) } else { (work(), hash()) }
}

/// What the runs of one case gave, hashed as they come back.
#[derive(Default)]
pub struct OutputHash {
    hash: Xxh3Default,
    any: bool,
}

impl std::fmt::Debug for OutputHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputHash").field("any", &self.any).finish()
    }
}

impl OutputHash {
    /// Adds the result of a run. A refusal or a crash has no bits.
    pub fn add(&mut self, response: &Response) {
        let hash = &mut self.hash;
        match response {
            Response::Dense(result) => hash_values(result.found(), hash),
            Response::Sparse(raw) => hash_raw(raw, hash),
            Response::Parts(parts) => sparse_oracle::each_parts!(parts, p => {
                hash.write_u8(p.kind() as u8);
                sparse_oracle::each_format!(Parts, p, p => hash_fields(p, hash_values, hash));
            }),
            Response::Refused(_)
            | Response::Panicked(_)
            | Response::TimedOut { .. }
            | Response::Broke(_)
            | Response::NotAsked(_) => {
                return;
            }
        }
        self.any = true;
    }

    /// The hash, if anything came back.
    #[must_use]
    pub fn digest(&self) -> Option<u128> {
        self.any.then(|| self.hash.digest128())
    }
}

/// Elements of a case's dense operands.
pub(crate) fn elements(operands: &Operands) -> usize {
    held(operands).0.map(|numbers| numbers.len()).sum()
}

/// The arrays of a case's operands.
fn held(operands: &Operands) -> (impl Iterator<Item = AnySlice<'_>>, impl Iterator<Item = &AnySparse>) {
    let dense = [&operands.b, &operands.y].into_iter().flatten();
    (dense.map(|dense| dense.data.as_slice()), std::iter::once(&operands.a).chain(&operands.b_sparse))
}

/// How numbers are taken in.
type HashValues = fn(AnySlice<'_>, &mut Xxh3Default);

fn hash_arrays<'a>(
    (dense, sparse): (impl Iterator<Item = AnySlice<'a>>, impl IntoIterator<Item = &'a AnySparse>),
    values: HashValues,
    hash: &mut Xxh3Default,
) {
    dense.for_each(|numbers| values(numbers, hash));
    for sparse in sparse {
        sparse_oracle::each_sparse!(sparse, m => {
            sparse_oracle::each_format!(Sparse, m, m => hash_fields(&**m, values, hash));
        });
    }
}

fn hash_raw(raw: &RawSparse, hash: &mut Xxh3Default) {
    hash.write_u8(raw.kind as u8);
    for extent in
        [raw.rows, raw.cols, raw.width, raw.params.block_rows as usize, raw.params.block_cols as usize]
    {
        hash.write(&(extent as u64).to_le_bytes());
    }
    hash_words(&raw.offsets, u32::to_le_bytes, hash);
    hash_words(&raw.indices, u32::to_le_bytes, hash);
    hash_values(raw.values.as_slice(), hash);
}

fn hash_fields<T: Element>(fields: &impl Fields<T>, values: HashValues, hash: &mut Xxh3Default) {
    for (_, field) in fields.fields() {
        match field {
            FieldRef::Extent(&extent) => hash_words(&[extent as u64], u64::to_le_bytes, hash),
            FieldRef::Flag(&flag) => hash_words(&[u8::from(flag)], u8::to_le_bytes, hash),
            FieldRef::U8(v) => hash_words(v, u8::to_le_bytes, hash),
            FieldRef::U16(v) => hash_words(v, u16::to_le_bytes, hash),
            FieldRef::U32(v) => hash_words(v, u32::to_le_bytes, hash),
            FieldRef::U64(v) => hash_words(v, u64::to_le_bytes, hash),
            FieldRef::Values(v) => values(T::wrap_slice(v), hash),
        }
    }
}

fn hash_values(values: AnySlice<'_>, hash: &mut Xxh3Default) {
    each_precision!(AnySlice, values, numbers => by_pieces(numbers, |piece, hash| {
        hash_words(piece, |x| x.bits64().to_le_bytes(), hash);
    }, hash));
}

/// Numbers in as many bytes as they have.
fn hash_stored(values: AnySlice<'_>, hash: &mut Xxh3Default) {
    each_precision!(AnySlice, values, numbers => by_pieces(numbers, hash_numbers, hash));
}

/// Few numbers as `take` takes them in; many by the hashes of pieces, side by side.
fn by_pieces<T: Scalar>(numbers: &[T], take: fn(&[T], &mut Xxh3Default), hash: &mut Xxh3Default) {
    if numbers.len() <= LARGE {
        return take(numbers, hash);
    }
    let of_piece = |piece| {
        let mut hash = Xxh3Default::new();
        take(piece, &mut hash);
        hash.digest128()
    };
    let pieces: Vec<u128> = numbers.par_chunks(PIECE).map(of_piece).collect();
    hash_words(&pieces, u128::to_le_bytes, hash);
}

fn hash_numbers<T: Scalar>(numbers: &[T], hash: &mut Xxh3Default) {
    match size_of::<T>() {
        1 => hash_words(numbers, |x| (x.bits64() as u8).to_le_bytes(), hash),
        2 => hash_words(numbers, |x| (x.bits64() as u16).to_le_bytes(), hash),
        4 => hash_words(numbers, |x| (x.bits64() as u32).to_le_bytes(), hash),
        _ => hash_words(numbers, |x| x.bits64().to_le_bytes(), hash),
    }
}

/// Numbers as little-endian bytes, a block at a time: one call for each number costs several times as much. Not inlined: who calls it is
/// compiled for every format in every element type.
#[inline(never)]
fn hash_words<T: Copy, const N: usize>(words: &[T], bytes: impl Fn(T) -> [u8; N], hash: &mut Xxh3Default) {
    const BLOCK: usize = 128;
    let mut block = [[0u8; N]; BLOCK];
    for chunk in words.chunks(BLOCK) {
        for (to, &word) in block.iter_mut().zip(chunk) {
            *to = bytes(word);
        }
        hash.write(block[..chunk.len()].as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks are for speed: the hash is that of the bytes in one piece.
    #[test]
    fn blocks_do_not_show_in_the_hash() {
        for len in [0, 1, 127, 128, 129, 1000] {
            let words: Vec<u32> = (0..len).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let mut hash = Xxh3Default::new();
            hash_words(&words, u32::to_le_bytes, &mut hash);
            assert_eq!(hash.digest128(), xxhash_rust::xxh3::xxh3_128(&bytes), "{len}");
        }
    }

    /// Pieces are part of what a hash is: one that is changed, or changes its place, shows, on any number of threads.
    #[test]
    fn many_numbers_are_hashed_by_pieces_of_which_none_is_left_out() {
        let name = |numbers: &[f32]| {
            let mut hash = Xxh3Default::new();
            hash_values(AnySlice::F32(numbers), &mut hash);
            hash.digest128()
        };
        let numbers: Vec<f32> = (0..LARGE + PIECE + 3).map(|i| i as f32).collect();
        let by_hand: Vec<u8> = (numbers.chunks(PIECE))
            .flat_map(|piece| {
                let bytes: Vec<u8> =
                    piece.iter().flat_map(|x| u64::from(x.to_bits()).to_le_bytes()).collect();
                xxhash_rust::xxh3::xxh3_128(&bytes).to_le_bytes()
            })
            .collect();
        assert_eq!(name(&numbers), xxhash_rust::xxh3::xxh3_128(&by_hand));
        let words: Vec<u8> =
            numbers[..LARGE].iter().flat_map(|x| u64::from(x.to_bits()).to_le_bytes()).collect();
        assert_eq!(
            name(&numbers[..LARGE]),
            xxhash_rust::xxh3::xxh3_128(&words),
            "few are hashed as they were"
        );
    }
}
