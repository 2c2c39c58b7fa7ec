//! What an operation takes and returns, in one place: [`Op::signature`].
//!
//! Who makes operands, sends them, guards them, counts them or names them iterates the signature and matches no operation, so that
//! a new one needs its line here, its variant of [`Task`](crate::task::Task), its definition and its kernels.

use super::{Op, Types};
use crate::scalar::Precision;

/// A dimension of a request. A is m x k once it is transposed as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Rows of op(A).
    M,
    /// Columns of op(A).
    K,
    /// What a request is free to choose (`n` of a case line).
    N,
    /// One: the operand is a vector.
    One,
}

/// Which of a contract's element types an operand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in `Types`")]
pub enum TypeSlot {
    A,
    B,
    Out,
}

impl TypeSlot {
    /// The element type.
    #[must_use]
    pub const fn of(self, types: &Types) -> Precision {
        match self {
            TypeSlot::A => types.a,
            TypeSlot::B => types.b,
            TypeSlot::Out => types.out,
        }
    }
}

/// An operand that is only read.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Name in messages to backends and in reproducers.
    pub name: &'static str,
    /// Name in words to people.
    pub label: &'static str,
    /// Its element type.
    pub slot: TypeSlot,
    /// Rows, once it is transposed as asked.
    pub rows: Extent,
    /// Columns, once it is transposed as asked.
    pub cols: Extent,
}

impl Operand {
    /// True for one column without a layout of its own.
    #[must_use]
    pub const fn is_vector(&self) -> bool {
        matches!(self.cols, Extent::One)
    }
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A dense m x n matrix, written into the caller's array.
    Matrix,
    /// m elements, written into the caller's array.
    Vector,
    /// One element per stored position of A, in its order, written into the caller's array.
    Sampled,
    /// A sparse matrix with computed values.
    Product,
    /// A sparse matrix with the values of A, bit by bit.
    Moved,
}

/// What an operation takes and returns.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Name in contracts.
    pub name: &'static str,
    /// What it computes, in words.
    pub words: &'static str,
    /// The sparse operands: A (S), and B of a sparse product.
    pub sparse: &'static [Operand],
    /// The dense operands that are read; the last faces A along `inner`.
    pub dense: &'static [Operand],
    /// What comes back.
    pub returned: Returned,
    /// Name of the caller's array in messages to backends and in reproducers.
    pub output: Option<&'static str>,
    /// The dimension that products are summed along.
    pub inner: Extent,
    /// A request may ask for the transpose of A.
    pub transposes_a: bool,
    /// A request may ask for the transpose of B.
    pub transposes_b: bool,
    /// The caller's array holds C before the call, which is added with the factor beta.
    pub updates: bool,
    /// A request says what the stored values of A are for.
    pub has_mode: bool,
    /// A request says parameters: those of the target format where there is one, else those that the contract reads.
    pub has_params: bool,
}

const A: Operand = operand("a", "A", TypeSlot::A, Extent::M, Extent::K);

/// What most operations have in common.
const NOTHING: Signature = Signature {
    name: "",
    words: "",
    sparse: &[A],
    dense: &[],
    returned: Returned::Moved,
    output: None,
    inner: Extent::K,
    transposes_a: false,
    transposes_b: false,
    updates: false,
    has_mode: false,
    has_params: false,
};

impl Op {
    /// What it takes and returns.
    #[must_use]
    pub const fn signature(self) -> &'static Signature {
        match self {
            Op::Spmm => {
                &const {
                    Signature {
                        name: "spmm",
                        words: "sparse x dense matrix (SpMM)",
                        dense: &[operand("b", "B", TypeSlot::B, Extent::K, Extent::N)],
                        returned: Returned::Matrix,
                        output: Some("c"),
                        transposes_a: true,
                        transposes_b: true,
                        updates: true,
                        ..NOTHING
                    }
                }
            }
            Op::Spmv => {
                &const {
                    Signature {
                        name: "spmv",
                        words: "sparse matrix x vector (SpMV)",
                        dense: &[operand("x", "x", TypeSlot::B, Extent::K, Extent::One)],
                        returned: Returned::Vector,
                        output: Some("y"),
                        transposes_a: true,
                        updates: true,
                        ..NOTHING
                    }
                }
            }
            Op::Sddmm => {
                &const {
                    Signature {
                        name: "sddmm",
                        words: "dense x dense at the positions of a sparse matrix (SDDMM)",
                        sparse: &[operand("s", "A", TypeSlot::Out, Extent::M, Extent::K)],
                        dense: &[
                            operand("x", "X", TypeSlot::A, Extent::M, Extent::N),
                            operand("y", "Y", TypeSlot::B, Extent::K, Extent::N),
                        ],
                        returned: Returned::Sampled,
                        output: Some("out"),
                        inner: Extent::N,
                        has_mode: true,
                        ..NOTHING
                    }
                }
            }
            Op::Spgemm => {
                &const {
                    Signature {
                        name: "spgemm",
                        words: "sparse x sparse matrix (SpGEMM)",
                        sparse: &[A, operand("b", "B", TypeSlot::B, Extent::K, Extent::N)],
                        returned: Returned::Product,
                        ..NOTHING
                    }
                }
            }
            Op::Transpose => &const { Signature { name: "transpose", words: "transpose", ..NOTHING } },
            Op::Convert => {
                &const { Signature { name: "convert", words: "conversion", has_params: true, ..NOTHING } }
            }
        }
    }
}

impl Signature {
    /// True where a request is free to choose a dimension.
    #[must_use]
    pub fn has_n(&self) -> bool {
        self.sparse.iter().chain(self.dense).any(|operand| operand.cols == Extent::N)
    }

    /// True where A must be square: both of its extents are one.
    #[must_use]
    pub fn is_square(&self) -> bool {
        self.sparse[0].rows == self.sparse[0].cols
    }

    /// True where something that has the factor beta may be added.
    #[must_use]
    pub fn has_beta(&self) -> bool {
        self.updates || self.has_mode
    }

    /// True where a dense operand is read that has a layout.
    #[must_use]
    pub fn has_layout(&self) -> bool {
        self.dense.iter().any(|operand| !operand.is_vector())
    }

    /// Element type of the stored values of A.
    #[must_use]
    pub fn stored(&self, types: &Types) -> Precision {
        self.sparse[0].slot.of(types)
    }
}

const fn operand(
    name: &'static str,
    label: &'static str,
    slot: TypeSlot,
    rows: Extent,
    cols: Extent,
) -> Operand {
    Operand { name, label, slot, rows, cols }
}
