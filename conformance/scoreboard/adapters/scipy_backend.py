"""SciPy as a backend: products, sparse products, transposes and conversions of CSR, CSC, COO and BSR in f32 and f64.

`a @ b`: alpha is 1 and beta 0. Its blocks are whole ones, so that a BCSR operand whose edge cuts a block is given with that block filled up.
"""

import platform

import numpy as np
import scipy
import scipy.sparse as sp
import sparse_conformance as sc

backend = sc.Backend("scipy", scipy.__version__, "scipy.sparse arrays, one thread", "threads")
NAMES = {"coo": ("row_idx", "col_idx"), "csr": ("row_ptr", "col_idx"), "csc": ("col_ptr", "row_idx"), "bcsr": ("block_row_ptr", "block_col")}
# One term after the other in ascending order, product and sum rounded apart: its wheels for x86-64 hold no FMA.
CHAIN = "muladd" if platform.machine() in ("x86_64", "AMD64") else "any"
ONLY = {"alpha": [1], "beta": [0]}
types = lambda *heads: [f"{head}.{t}*" for head in heads for t in ("f64", "f32")]
whole = lambda shape, blocks: tuple(-(-extent // side) * side for extent, side in zip(shape, blocks))


def load(a):
    first, second = (getattr(a, name).astype(np.int32) for name in NAMES[a.format])
    if a.format == "coo":
        return sp.coo_array((a.values, (first, second)), (a.rows, a.cols))
    if a.format == "bcsr":
        blocks = a.block_rows, a.block_cols
        return sp.bsr_array((a.values.reshape(-1, *blocks), second, first), whole((a.rows, a.cols), blocks))
    return {"csr": sp.csr_array, "csc": sp.csc_array}[a.format]((a.values, second, first), (a.rows, a.cols))


def store(m, rows, cols):
    name = "bcsr" if m.format == "bsr" else m.format
    arrays = (m.row, m.col) if name == "coo" else (m.indptr, m.indices)
    blocks = {"block_rows": m.blocksize[0], "block_cols": m.blocksize[1]} if name == "bcsr" else {}
    return sc.Sparse(name, rows=rows, cols=cols, values=m.data, **dict(zip(NAMES[name], arrays)), **blocks)


@backend.contract(*types("spm?.csr", "spm?.csc"), arithmetic=CHAIN, only=ONLY)
@backend.contract(*types("spm?.bcsr"), only=ONLY)
# Several entries at one position are several terms here, and not, as the contract has it, one that is rounded first.
@backend.contract(*types("spm?.coo"), only={**ONLY, "duplicates": False})
def product(task):
    a, b = load(task.a), task.b if task.op == "spmm" else task.x
    a, b, out = a.T if task.transpose_a else a, b.T if task.transpose_b else b, task.c if task.op == "spmm" else task.y
    if a.shape[1] != len(b):  # the filled edge of the block format
        b = np.concatenate([b, np.zeros((a.shape[1] - len(b), *b.shape[1:]), b.dtype)])
    # A COO matrix of one row gives a scalar, where every other format gives a vector of one (SciPy 1.17).
    out[...] = np.atleast_1d(a @ b)[: len(out)]


@backend.contract(*types("spgemm.csr", "spgemm.csc"), arithmetic=CHAIN, profile={"numeric-pattern": "csr_matmat stores no sum that is exactly zero"})
def spgemm(task):
    c = load(task.a) @ load(task.b)
    c.sort_indices()
    return store(c, task.a.rows, task.b.cols)


@backend.contract(*types("transpose.coo", "transpose.csr", "transpose.csc"))
def transpose(task):
    return store(load(task.a).T.asformat(task.a.format), task.a.cols, task.a.rows)


@backend.contract(*types("convert.coo.csr", "convert.coo.csc"), profile={"duplicates-sum-any-order": "adds duplicates after an unstable sort of each row"})
@backend.contract(*types("convert.csr.coo", "convert.csr.csc", "convert.csc.csr", "convert.csr.bcsr"))
def convert(task):
    m, blocks = load(task.a), (task.params.get("block_rows"), task.params.get("block_cols"))
    if task.to == "bcsr":
        m.resize(*whole(m.shape, blocks))
    m = m.tobsr(blocks) if task.to == "bcsr" else m.asformat(task.to)
    if task.to != "coo":
        m.sort_indices()
    return store(m, task.a.rows, task.a.cols)


backend.exclude(*types("convert.bcsr.csr"), reason="keeps every slot of a block, where the contract wants what is not +0")

if __name__ == "__main__":
    backend.serve()
