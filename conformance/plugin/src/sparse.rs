//! Sparse operands as the header's structs: every array a copy between guards, every name a C string.
//!
//! Each struct here owns what its C view points to, in allocations that stay where they are when the struct moves.

use crate::abi::{ScArray, ScNumber, ScSparse};
use crate::element::{Plain, code};
use crate::error::RunError;
use crate::guarded::Guarded;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::{AnySparse, FieldRef, Fields, FormatParams, PARAMETERS, Sparse};
use std::ffi::CString;

/// A name of ours as a C string. Names of fields and formats hold no NUL; one that did would be cut there.
pub(crate) fn c_name(name: &str) -> CString {
    let end = name.find('\0').unwrap_or(name.len());
    CString::new(&name[..end]).unwrap_or_default()
}

/// `size_of` as the structs carry it.
pub(crate) fn struct_size<T>() -> u32 {
    size_of::<T>() as u32
}

/// Names and values that a list of [`ScNumber`] points to.
pub(crate) struct Numbers {
    /// Keeps the names where `list` points; moving a `CString` does not move its text.
    _names: Vec<CString>,
    list: Vec<ScNumber>,
}

impl Numbers {
    fn new(numbers: impl Iterator<Item = (&'static str, u64)>) -> Numbers {
        let (names, values): (Vec<CString>, Vec<u64>) =
            numbers.map(|(name, value)| (c_name(name), value)).unzip();
        let list = names.iter().zip(values);
        let list = list.map(|(name, value)| ScNumber { name: name.as_ptr(), value });
        Numbers { list: list.collect(), _names: names }
    }

    /// The parameters that a request says and that are given.
    pub(crate) fn params(contract: &Contract, params: &FormatParams) -> Numbers {
        let said = PARAMETERS.iter().filter(|p| contract.says(p));
        Numbers::new(said.filter_map(|p| (p.get)(params).map(|value| (p.name, u64::from(value)))))
    }

    pub(crate) fn as_ptr(&self) -> *const ScNumber {
        self.list.as_ptr()
    }

    pub(crate) fn len(&self) -> u32 {
        self.list.len() as u32
    }
}

/// A sparse operand.
pub(crate) struct SparseOperand<'a> {
    role: &'static str,
    original: &'a AnySparse,
    format: CString,
    _names: Vec<CString>,
    memory: Vec<Guarded>,
    arrays: Vec<ScArray>,
    extents: Numbers,
}

/// One field's array between guards; `None` for extents and flags.
fn hold<T: Plain>(field: &FieldRef<'_, T>) -> Option<Result<Guarded, RunError>> {
    fn copy<T: Plain>(elements: &[T]) -> Option<Result<Guarded, RunError>> {
        let bytes = size_of_val(elements);
        Some(Guarded::holding(elements).ok_or(RunError::Memory { bytes }))
    }
    match field {
        FieldRef::Extent(_) | FieldRef::Flag(_) => None,
        FieldRef::U8(v) => copy(v),
        FieldRef::U16(v) => copy(v),
        FieldRef::U32(v) => copy(v),
        FieldRef::U64(v) => copy(v),
        FieldRef::Values(v) => copy(v),
    }
}

fn described<T: Plain>(field: &FieldRef<'_, T>) -> (i32, usize) {
    match field {
        FieldRef::Extent(_) | FieldRef::Flag(_) => (0, 0),
        FieldRef::U8(v) => (u8::CODE, v.len()),
        FieldRef::U16(v) => (u16::CODE, v.len()),
        FieldRef::U32(v) => (u32::CODE, v.len()),
        FieldRef::U64(v) => (u64::CODE, v.len()),
        FieldRef::Values(v) => (T::CODE, v.len()),
    }
}

fn differs<T: Plain>(memory: &Guarded, field: &FieldRef<'_, T>) -> Option<usize> {
    match field {
        FieldRef::Extent(_) | FieldRef::Flag(_) => None,
        FieldRef::U8(v) => memory.differs(v),
        FieldRef::U16(v) => memory.differs(v),
        FieldRef::U32(v) => memory.differs(v),
        FieldRef::U64(v) => memory.differs(v),
        FieldRef::Values(v) => memory.differs(v),
    }
}

/// Every field of a matrix with its name.
fn fields<T>(matrix: &Sparse<T>) -> Vec<(&'static str, FieldRef<'_, T>)> {
    sparse_oracle::each_format!(Sparse, matrix, m => Fields::fields(&**m))
}

impl<'a> SparseOperand<'a> {
    pub(crate) fn new(role: &'static str, original: &'a AnySparse) -> Result<SparseOperand<'a>, RunError> {
        sparse_oracle::each_sparse!(original, m => SparseOperand::typed(role, original, m))
    }

    fn typed<T: Plain>(
        role: &'static str,
        original: &'a AnySparse,
        matrix: &Sparse<T>,
    ) -> Result<SparseOperand<'a>, RunError> {
        let (mut names, mut memory, mut arrays, mut extents) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (name, field) in fields(matrix) {
            match field {
                FieldRef::Extent(&value) => extents.push((name, value as u64)),
                FieldRef::Flag(&value) => extents.push((name, u64::from(value))),
                _ => {}
            }
            let Some(held) = hold(&field) else { continue };
            let (held, text) = (held?.named(role, name), c_name(name));
            let (dtype, count) = described(&field);
            arrays.push(ScArray {
                name: text.as_ptr(),
                data: held.data().cast_const().cast(),
                count: count as u64,
                dtype,
                reserved: 0,
            });
            names.push(text);
            memory.push(held);
        }
        Ok(SparseOperand {
            role,
            original,
            format: c_name(matrix.kind().name()),
            _names: names,
            memory,
            arrays,
            extents: Numbers::new(extents.into_iter()),
        })
    }

    pub(crate) fn shape(&self) -> (usize, usize) {
        self.original.shape()
    }

    pub(crate) fn view(&self) -> ScSparse {
        let (rows, cols) = self.original.shape();
        ScSparse {
            struct_size: struct_size::<ScSparse>(),
            dtype: code(self.original.precision()),
            format: self.format.as_ptr(),
            rows: rows as u64,
            cols: cols as u64,
            arrays: self.arrays.as_ptr(),
            extents: self.extents.as_ptr(),
            array_count: self.arrays.len() as u32,
            extent_count: self.extents.len(),
        }
    }

    /// Finds a broken guard or a changed element.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        sparse_oracle::each_sparse!(self.original, m => self.compare(m))
    }

    fn compare<T: Plain>(&self, matrix: &Sparse<T>) -> Result<(), RunError> {
        let arrays = fields(matrix)
            .into_iter()
            .filter(|(_, field)| !matches!(field, FieldRef::Extent(_) | FieldRef::Flag(_)));
        for (memory, (array, field)) in self.memory.iter().zip(arrays) {
            check_guards(memory, self.role, array)?;
            if let Some(at) = differs(memory, &field) {
                let operand = self.role;
                return Err(RunError::Modified { operand, array, at });
            }
        }
        Ok(())
    }
}

/// Finds a guard that was written to.
pub(crate) fn check_guards(
    memory: &Guarded,
    operand: &'static str,
    array: &'static str,
) -> Result<(), RunError> {
    match memory.broken() {
        None => Ok(()),
        Some(at) => Err(RunError::OutOfBounds { operand, array, at, len: memory.len() }),
    }
}
