"""SciPy as a backend: products, sparse products, transposes and conversions of CSR, CSC, COO and BSR in f32 and f64.

    conformance run --exec "python conformance/python/examples/scipy_backend.py"
"""

import os
import platform
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # not needed once the SDK is installed

import numpy as np
import scipy
import scipy.sparse as sp
import sparse_conformance as sc

backend = sc.Backend("scipy", scipy.__version__, "scipy.sparse arrays, one thread", "threads")
# One term after the other in ascending order, product and sum rounded apart: its wheels for x86-64 hold no FMA.
CHAIN = "muladd" if platform.machine() in ("x86_64", "AMD64") else "any"


def types(*heads):
    return [f"{head}.{t}*" for head in heads for t in ("f64", "f32")]


def load(a):
    """The matrix as SciPy holds it; its block format wants whole blocks, so that the edges are filled up."""
    shape = (a.rows, a.cols)
    if a.format == "coo":
        return sp.coo_array((a.values, (a.row_idx.astype(np.int32), a.col_idx.astype(np.int32))), shape)
    if a.format == "bcsr":
        blocks = (a.block_rows, a.block_cols)
        whole = tuple(-(-extent // side) * side for extent, side in zip(shape, blocks))
        values = a.values.reshape(-1, *blocks)
        return sp.bsr_array((values, a.block_col.astype(np.int32), a.block_row_ptr.astype(np.int32)), whole)
    index, offset = (a.col_idx, a.row_ptr) if a.format == "csr" else (a.row_idx, a.col_ptr)
    kind = sp.csr_array if a.format == "csr" else sp.csc_array
    return kind((a.values, index.astype(np.int32), offset.astype(np.int32)), shape)


def store(m, rows, cols):
    """A SciPy matrix as the judge reads it."""
    if m.format == "coo":
        return sc.Sparse("coo", rows=rows, cols=cols, row_idx=m.row, col_idx=m.col, values=m.data)
    if m.format == "bsr":
        r, c = m.blocksize
        blocks = {"block_rows": r, "block_cols": c, "block_row_ptr": m.indptr, "block_col": m.indices}
        return sc.Sparse("bcsr", rows=rows, cols=cols, values=m.data, **blocks)
    names = ("row_ptr", "col_idx") if m.format == "csr" else ("col_ptr", "row_idx")
    return sc.Sparse(m.format, rows=rows, cols=cols, values=m.data, **dict(zip(names, (m.indptr, m.indices))))


@backend.contract(*types("spm?.csr", "spm?.csc"), arithmetic=CHAIN)
@backend.contract(*types("spm?.bcsr"))
# Several entries at one position are several terms here, and not, as the contract has it, one that is rounded first.
@backend.contract(*types("spm?.coo"), only={"duplicates": False})
def product(task):
    a, b = load(task.a), task.b if task.op == "spmm" else task.x
    a = a.T if task.transpose_a else a
    b = b.T if task.transpose_b else b
    out, extra = task.c if task.op == "spmm" else task.y, a.shape[1] - b.shape[0]
    if extra:  # the filled edge of the block format
        b = np.concatenate([b, np.zeros((extra, *b.shape[1:]), b.dtype)])
    with np.errstate(all="ignore"):
        # A COO matrix of one row gives a scalar, where every other format gives a vector of one (SciPy 1.17).
        task.update(np.atleast_1d(a @ b)[: out.shape[0]])


PATTERN = {"numeric-pattern": "csr_matmat stores no sum that is exactly zero"}


@backend.contract(*types("spgemm.csr", "spgemm.csc"), arithmetic=CHAIN, profile=PATTERN)
def spgemm(task):
    c = load(task.a) @ load(task.b)
    c.sort_indices()
    return store(c, task.a.rows, task.b.cols)


@backend.contract(*types("transpose.coo", "transpose.csr", "transpose.csc"))
def transpose(task):
    return store(load(task.a).T.asformat(task.a.format), task.a.cols, task.a.rows)


DUPLICATES = {"duplicates-sum-any-order": "adds duplicates after an unstable sort of each row"}


@backend.contract(*types("convert.coo.csr", "convert.coo.csc"), profile=DUPLICATES)
@backend.contract(*types("convert.csr.coo", "convert.csr.csc", "convert.csc.csr", "convert.csr.bcsr"))
def convert(task):
    m = load(task.a)
    if task.to == "bcsr":  # whole blocks only, as above
        sides = task.params["block_rows"], task.params["block_cols"]
        m.resize(*(-(-extent // side) * side for extent, side in zip(m.shape, sides)))
        m = m.tobsr(sides)
    else:
        m = m.asformat(task.to)
    if task.to != "coo":
        m.sort_indices()
    return store(m, task.a.rows, task.a.cols)


backend.exclude(*types("convert.bcsr.csr"), reason="keeps every slot of a block, where the contract wants what is not +0")

if __name__ == "__main__":
    backend.serve()
