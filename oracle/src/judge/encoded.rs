//! Conversions into the formats of the papers: the whole encoding, array by array, bit for bit.
//!
//! Each of these formats has one canonical encoding for its parameters, so right means equal. What differs is judged
//! from the inside out, so that the message names the cause: another shape, an invalid encoding, another matrix, or
//! the right matrix laid out otherwise.

use super::moves::{bit_entries, compare, same_kind, wrong};
use crate::format::{AnyParts, AnySparse, FieldRef, Fields, Parts};
use crate::scalar::Scalar;
use crate::verdict::{Defect, Verdict};

/// Judges a conversion; `expected` is the oracle's own encoding.
#[must_use]
pub fn judge_encoded(expected: &AnySparse, found: AnyParts) -> Verdict {
    let frame = (found.kind(), found.shape(), found.precision());
    if let Err(mismatch) = same_kind(expected.kind(), expected.shape(), expected.precision(), frame) {
        return Verdict::Wrong(mismatch);
    }
    let Some(difference) = difference(&AnyParts::from(expected.clone()), &found) else {
        return Verdict::Exact;
    };
    let found = match found.check() {
        Ok(found) => found,
        Err(refusal) => return wrong(Defect::Structure, format!("not a valid encoding: {refusal}")),
    };
    match compare(expected.shape(), &bit_entries(expected), &bit_entries(&found)) {
        Some(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        None => wrong(
            Defect::Structure,
            format!("decodes to the right matrix, but is not the format's canonical encoding: {difference}"),
        ),
    }
}

/// The first field that differs, in words.
fn difference(expected: &AnyParts, found: &AnyParts) -> Option<String> {
    macro_rules! pairs {
        ($($v:ident),*) => {
            match (expected, found) {
                $((AnyParts::$v(expected), AnyParts::$v(found)) => first_difference(expected, found),)*
                _ => Some("another element type".to_owned()),
            }
        };
    }
    pairs!(F64, F32, Tf32, F16, Bf16, E4m3, E5m2)
}

/// The first field in which two matrices of one format differ: its name, the offset, and both elements.
pub fn first_difference<T: Scalar>(expected: &Parts<T>, found: &Parts<T>) -> Option<String> {
    let pairs = expected.fields().into_iter().zip(found.fields());
    pairs.into_iter().find_map(|((name, expected), (_, found))| {
        let (expected, found) = (numbers(expected), numbers(found));
        let at = expected.iter().zip(&found).position(|(e, f)| e != f);
        if at.is_none() && expected.len() == found.len() {
            return None;
        }
        let at = at.unwrap_or(expected.len().min(found.len()));
        let show = |list: &[u64]| list.get(at).map_or("nothing".to_owned(), |v| format!("0x{v:x}"));
        Some(format!("{name}[{at}] is {}, expected {}", show(&found), show(&expected)))
    })
}

/// A field as plain numbers; matrix elements as their bits.
fn numbers<T: Scalar>(field: FieldRef<'_, T>) -> Vec<u64> {
    match field {
        FieldRef::Extent(&extent) => vec![extent as u64],
        FieldRef::Flag(&flag) => vec![u64::from(flag)],
        FieldRef::U8(v) => v.iter().map(|&x| u64::from(x)).collect(),
        FieldRef::U16(v) => v.iter().map(|&x| u64::from(x)).collect(),
        FieldRef::U32(v) => v.iter().map(|&x| u64::from(x)).collect(),
        FieldRef::U64(v) => v.to_vec(),
        FieldRef::Values(v) => v.iter().map(|x| x.bits64()).collect(),
    }
}
