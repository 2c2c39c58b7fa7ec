//! Arrays of a payload: written one after the other at multiples of 64 bytes, and read back by name with their type and count
//! checked.

use super::frame::{ALIGN, FrameError};
use super::header::{ArrayHead, Extent, SparseHead};
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, FieldMut, FieldRef, Fields, FormatKind, Parts};
use sparse_oracle::scalar::{AnySlice, Element, Precision, Scalar, Values};
use sparse_oracle::{each_format, each_sparse};
use std::collections::BTreeMap;

/// A payload under construction.
#[derive(Debug, Default)]
pub(super) struct Payload {
    /// The arrays so far.
    pub(super) heads: Vec<ArrayHead>,
    /// Their bytes.
    pub(super) bytes: Vec<u8>,
}

impl Payload {
    fn start(&mut self, name: String, dtype: &str, count: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGN), 0);
        self.heads.push(ArrayHead {
            name,
            dtype: dtype.to_owned(),
            count: count as u64,
            offset: self.bytes.len() as u64,
        });
    }

    /// Adds elements.
    pub(super) fn values(&mut self, name: String, values: AnySlice<'_>) {
        let precision = values.precision();
        self.start(name, precision.name(), values.len());
        each_precision!(AnySlice, values, v => put(&mut self.bytes, v));
    }

    fn integers<const N: usize, T: Copy>(
        &mut self,
        name: String,
        dtype: &str,
        list: &[T],
        of: impl Fn(T) -> [u8; N],
    ) {
        self.start(name, dtype, list.len());
        append(&mut self.bytes, list, of);
    }

    /// Adds the arrays of a sparse matrix as `prefix` and field name, and returns the rest of it.
    pub(super) fn sparse(&mut self, prefix: &str, matrix: &AnySparse) -> SparseHead {
        each_sparse!(matrix, m => {
            let format = m.kind();
            each_format!(Sparse, m, m => self.fields(prefix, format, Fields::fields(&**m)))
        })
    }

    /// Adds listed fields, as [`sparse`](Self::sparse) does.
    pub(super) fn fields<T: Element>(
        &mut self,
        prefix: &str,
        format: FormatKind,
        fields: Vec<(&'static str, FieldRef<'_, T>)>,
    ) -> SparseHead {
        let mut extents = BTreeMap::new();
        for (field, content) in fields {
            let name = || format!("{prefix}{field}");
            match content {
                FieldRef::Extent(&n) => _ = extents.insert(field.to_owned(), Extent::Number(n as u64)),
                FieldRef::Flag(&on) => _ = extents.insert(field.to_owned(), Extent::Flag(on)),
                FieldRef::U8(list) => self.integers(name(), "u8", list, u8::to_le_bytes),
                FieldRef::U16(list) => self.integers(name(), "u16", list, u16::to_le_bytes),
                FieldRef::U32(list) => self.integers(name(), "u32", list, u32::to_le_bytes),
                FieldRef::U64(list) => self.integers(name(), "u64", list, u64::to_le_bytes),
                FieldRef::Values(list) => self.values(name(), T::wrap_slice(list)),
            }
        }
        SparseHead { format: format.name().to_owned(), extents }
    }
}

/// Adds `N` bytes for each element; without a call for each, since they are nearly all of a message.
fn append<const N: usize, T: Copy>(bytes: &mut Vec<u8>, list: &[T], of: impl Fn(T) -> [u8; N]) {
    let from = bytes.len();
    bytes.resize(from + list.len() * N, 0);
    let places = bytes[from..].as_chunks_mut().0;
    places.iter_mut().zip(list).for_each(|(to, &x)| *to = of(x));
}

fn put<T: Scalar>(bytes: &mut Vec<u8>, values: &[T]) {
    match T::PRECISION.bytes() {
        8 => append(bytes, values, |x| x.bits64().to_le_bytes()),
        4 => append(bytes, values, |x| (x.bits64() as u32).to_le_bytes()),
        2 => append(bytes, values, |x| (x.bits64() as u16).to_le_bytes()),
        _ => append(bytes, values, |x| [x.bits64() as u8]),
    }
}

fn get<T: Scalar>(bytes: &[u8], to: &mut [T]) {
    match T::PRECISION.bytes() {
        8 => read(bytes, to, u64::from_le_bytes),
        4 => read(bytes, to, |word| u32::from_le_bytes(word).into()),
        2 => read(bytes, to, |word| u16::from_le_bytes(word).into()),
        _ => read(bytes, to, |[byte]| byte.into()),
    }
}

fn read<const N: usize, T: Scalar>(bytes: &[u8], to: &mut [T], bits: impl Fn([u8; N]) -> u64) {
    let words = bytes.as_chunks().0;
    words.iter().zip(to).for_each(|(&word, to)| *to = T::from_bits64(bits(word)));
}

/// The arrays of a message that came in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrays<'a> {
    heads: &'a [ArrayHead],
    payload: &'a [u8],
    /// Bytes of the payload up to the end of the last array.
    end: u128,
}

/// Most arrays that a message may have.
const MAX_ARRAYS: usize = 64;

impl<'a> Arrays<'a> {
    /// Checks that names are unique and that every array lies in the payload.
    ///
    /// # Errors
    /// The first array that does not.
    pub(super) fn new(heads: &'a [ArrayHead], payload: &'a [u8]) -> Result<Arrays<'a>, FrameError> {
        if heads.len() > MAX_ARRAYS {
            return Err(bad("...", format!("{} arrays, at most {MAX_ARRAYS} are read", heads.len())));
        }
        let mut last = 0;
        for (i, head) in heads.iter().enumerate() {
            if heads[..i].iter().any(|other| other.name == head.name) {
                return Err(bad(&head.name, "is there twice".to_owned()));
            }
            let size = width(&head.dtype).ok_or_else(|| {
                bad(
                    &head.name,
                    format!("dtype {:?} is none; there are u8 u16 u32 u64 and element types", head.dtype),
                )
            })?;
            let end = u128::from(head.offset) + u128::from(head.count) * size as u128;
            last = end.max(last);
            if end > payload.len() as u128 {
                let reason = format!(
                    "{} elements of {} at byte {} end at {end}, past the payload's {} bytes",
                    head.count,
                    head.dtype,
                    head.offset,
                    payload.len()
                );
                return Err(bad(&head.name, reason));
            }
            if head.offset % ALIGN as u64 != 0 {
                return Err(bad(&head.name, format!("offset {} is no multiple of {ALIGN}", head.offset)));
            }
        }
        Ok(Arrays { heads, payload, end: last })
    }

    /// Checks that the payload ends with its last array.
    ///
    /// # Errors
    /// Bytes that belong to none.
    pub(super) fn whole(&self) -> Result<(), FrameError> {
        let rest = usize::try_from(self.end).ok().and_then(|end| self.payload.get(end..)).unwrap_or_default();
        // Zeros up to the next multiple of ALIGN are the padding of an array that could follow.
        if rest.len() < ALIGN && rest.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        Err(FrameError::Trailing { rest: rest.len() as u64 })
    }

    /// The names, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.heads.iter().map(|head| head.name.as_str())
    }

    fn bytes(&self, name: &str, dtype: &str) -> Result<&'a [u8], FrameError> {
        let head = self.heads.iter().find(|head| head.name == name);
        let head = head.ok_or_else(|| {
            let there: Vec<&str> = self.names().collect();
            bad(name, format!("is missing; there are [{}]", there.join(", ")))
        })?;
        if head.dtype != dtype {
            return Err(bad(name, format!("is of type {:?}, expected {dtype:?}", head.dtype)));
        }
        let size = width(dtype).unwrap_or(1);
        // Checked by `new`: offset and end lie in the payload.
        let start = head.offset as usize;
        Ok(&self.payload[start..start + head.count as usize * size])
    }

    /// Elements by name.
    ///
    /// # Errors
    /// No such array, or of another type.
    pub(super) fn values(&self, name: &str, precision: Precision) -> Result<Values, FrameError> {
        let bytes = self.bytes(name, precision.name())?;
        let mut values = Values::filled(precision, bytes.len() / precision.bytes(), 0);
        each_precision!(Values, &mut values, v => get(bytes, v));
        Ok(values)
    }

    /// Elements by name into a slice of the same number of elements.
    ///
    /// # Errors
    /// No such array, of another type, or of another length.
    pub(super) fn copy_to<T: Scalar>(&self, name: &str, to: &mut [T]) -> Result<(), FrameError> {
        let bytes = self.bytes(name, T::PRECISION.name())?;
        let count = bytes.len() / T::PRECISION.bytes();
        if count != to.len() {
            return Err(bad(name, format!("has {count} elements, expected {}", to.len())));
        }
        get(bytes, to);
        Ok(())
    }

    fn integers<const N: usize, T>(
        &self,
        name: &str,
        dtype: &str,
        of: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, FrameError> {
        let chunks = self.bytes(name, dtype)?.as_chunks::<N>().0;
        Ok(chunks.iter().map(|&chunk| of(chunk)).collect())
    }

    /// The arrays and extents of a sparse matrix, unchecked as such.
    ///
    /// # Errors
    /// A field that is missing, of another type, or that the format does not have.
    pub(super) fn parts<T: Element>(&self, prefix: &str, head: &SparseHead) -> Result<Parts<T>, FrameError> {
        let format = FormatKind::from_name(&head.format)
            .ok_or_else(|| bad(prefix, format!("format {:?} is none of the suite", head.format)))?;
        let mut parts = Parts::<T>::empty(format);
        let (mut extents, mut arrays) = (0, 0);
        for (field, content) in parts.fields_mut() {
            let name = format!("{prefix}{field}");
            let extent = head.extents.get(field);
            let wrong = || {
                bad(&name, format!("the extent is {extent:?}, expected a number or flag as {format:?} has"))
            };
            arrays += 1;
            match content {
                FieldMut::Extent(n) => {
                    let Some(&Extent::Number(found)) = extent else {
                        return Err(wrong());
                    };
                    *n = usize::try_from(found).map_err(|_| wrong())?;
                    (extents, arrays) = (extents + 1, arrays - 1);
                }
                FieldMut::Flag(on) => {
                    let Some(&Extent::Flag(found)) = extent else {
                        return Err(wrong());
                    };
                    *on = found;
                    (extents, arrays) = (extents + 1, arrays - 1);
                }
                FieldMut::U8(list) => *list = self.integers(&name, "u8", u8::from_le_bytes)?,
                FieldMut::U16(list) => *list = self.integers(&name, "u16", u16::from_le_bytes)?,
                FieldMut::U32(list) => *list = self.integers(&name, "u32", u32::from_le_bytes)?,
                FieldMut::U64(list) => *list = self.integers(&name, "u64", u64::from_le_bytes)?,
                FieldMut::Values(list) => {
                    let bytes = self.bytes(&name, T::PRECISION.name())?;
                    list.resize(bytes.len() / T::PRECISION.bytes(), T::default());
                    get(bytes, list);
                }
            }
        }
        let named = self.names().filter(|name| name.starts_with(prefix)).count();
        if extents != head.extents.len() || prefix.is_empty() && arrays != named {
            let reason = format!("has fields that {} does not have", head.format);
            return Err(bad(if prefix.is_empty() { "the sparse matrix" } else { prefix }, reason));
        }
        Ok(parts)
    }
}

/// Bytes of one element of a type by name.
#[must_use]
pub(super) fn width(dtype: &str) -> Option<usize> {
    match dtype {
        "u8" => Some(1),
        "u16" => Some(2),
        "u32" => Some(4),
        "u64" => Some(8),
        other => Precision::from_name(other).map(Precision::bytes),
    }
}

pub(super) fn bad(name: &str, reason: String) -> FrameError {
    FrameError::Array { name: name.chars().take(80).collect(), reason }
}
