//! Dense operands as the header's struct, and the dense result: a copy between guards that goes back when the library is done.

use crate::abi::ScDense;
use crate::element::{Plain, code};
use crate::error::RunError;
use crate::guarded::Guarded;
use crate::sparse::{check_guards, struct_size};
use sparse_oracle::each_precision;
use sparse_oracle::format::Layout;
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{DenseMut, DenseRef};

/// Shape and place of a dense operand in memory.
#[derive(Clone, Copy)]
struct Frame {
    rows: usize,
    cols: usize,
    ld: usize,
    layout: Layout,
}

fn dense_view(frame: Frame, count: usize, dtype: i32, memory: &Guarded) -> ScDense {
    ScDense {
        struct_size: struct_size::<ScDense>(),
        dtype,
        rows: frame.rows as u64,
        cols: frame.cols as u64,
        ld: frame.ld as u64,
        count: count as u64,
        layout: i32::from(frame.layout == Layout::ColMajor),
        reserved: 0,
        data: memory.data().cast(),
    }
}

/// A dense operand that is only read.
pub(crate) struct DenseInput<'a> {
    role: &'static str,
    original: DenseRef<'a>,
    memory: Guarded,
}

impl<'a> DenseInput<'a> {
    pub(crate) fn new(role: &'static str, original: DenseRef<'a>) -> Result<DenseInput<'a>, RunError> {
        let memory = each_precision!(AnySlice, original.data, v => {
            Guarded::holding(v).ok_or(RunError::Memory { bytes: size_of_val(v) })
        })?;
        let memory = memory.named(role, "data");
        Ok(DenseInput { role, original, memory })
    }

    /// A vector: one column.
    pub(crate) fn vector(role: &'static str, data: AnySlice<'a>) -> Result<DenseInput<'a>, RunError> {
        let rows = data.len();
        let original = DenseRef { rows, cols: 1, ld: rows, layout: Layout::ColMajor, data };
        DenseInput::new(role, original)
    }

    pub(crate) fn view(&self) -> ScDense {
        let DenseRef { rows, cols, ld, layout, data } = self.original;
        let frame = Frame { rows, cols, ld, layout };
        dense_view(frame, data.len(), code(data.precision()), &self.memory)
    }

    pub(crate) fn check(&self) -> Result<(), RunError> {
        check_guards(&self.memory, self.role, "data")?;
        match each_precision!(AnySlice, self.original.data, v => self.memory.differs(v)) {
            None => Ok(()),
            Some(at) => Err(RunError::Modified { operand: self.role, array: "data", at }),
        }
    }
}

/// The dense result: a copy that the library writes, and the caller's memory that it goes to afterwards.
pub(crate) struct DenseOutput<'a> {
    frame: Frame,
    dtype: i32,
    count: usize,
    target: AnySliceMut<'a>,
    memory: Guarded,
}

impl<'a> DenseOutput<'a> {
    pub(crate) fn new(c: DenseMut<'a>) -> Result<DenseOutput<'a>, RunError> {
        let DenseMut { rows, cols, ld, layout, data: target } = c;
        let held = each_precision!(AnySliceMut, &target, v => {
            let bytes = size_of_val(&**v);
            (Guarded::output(v).ok_or(RunError::Memory { bytes }), v.len(), code_of(v))
        });
        let (memory, count, dtype) = held;
        Ok(DenseOutput {
            frame: Frame { rows, cols, ld, layout },
            dtype,
            count,
            target,
            memory: memory?.named("C", "data"),
        })
    }

    /// A vector: one column.
    pub(crate) fn vector(data: AnySliceMut<'a>) -> Result<DenseOutput<'a>, RunError> {
        let rows = each_precision!(AnySliceMut, &data, v => v.len());
        DenseOutput::new(DenseMut { rows, cols: 1, ld: rows, layout: Layout::ColMajor, data })
    }

    pub(crate) fn view(&self) -> ScDense {
        dense_view(self.frame, self.count, self.dtype, &self.memory)
    }

    /// Finds a broken guard or written padding.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        check_guards(&self.memory, "C", "data")?;
        each_precision!(AnySliceMut, &self.target, v => self.check_padding(v))
    }

    /// Padding may not change: with every line compared from its used part on, against what was there before.
    fn check_padding<T: Plain>(&self, before: &[T]) -> Result<(), RunError> {
        let Frame { rows, cols, ld, layout } = self.frame;
        let used = if layout == Layout::RowMajor { cols } else { rows };
        if ld <= used {
            return Ok(());
        }
        for line in (0..before.len()).step_by(ld) {
            let end = before.len().min(line + ld);
            if let Some(at) = self.memory.differs_in(before, end.min(line + used)..end) {
                let inner = at - line;
                return Err(RunError::Padding { at, inner, used });
            }
        }
        Ok(())
    }

    /// Gives the caller what the library wrote.
    pub(crate) fn deliver(self) {
        each_precision!(AnySliceMut, self.target, v => self.memory.copy_to(v));
    }
}

fn code_of<T: Plain>(_: &[T]) -> i32 {
    T::CODE
}
