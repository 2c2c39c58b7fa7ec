"""pydata/sparse as a backend: COO and GCXS (compressed rows or columns) times dense and sparse, transposes and conversions, in f64
(Numba compiles each element type anew in each process, which takes minutes for both).

COO objects add up entries at one position when they are made, and sort them (its documentation of `COO`). Its sparse times sparse
products keep no zeros."""

import numpy as np
import sparse
import sparse_conformance as sc

backend = sc.Backend("pydata-sparse", sparse.__version__, "sparse.COO and sparse.GCXS, Numba", "none")
ONLY = {"alpha": [1], "beta": [0], "faults": []}
SUMMED = {"duplicates-sum-any-order": "COO(...) sums duplicates"}
NONZERO = {"numeric-pattern": "a product stores what is not its fill value, 0", "unsorted": "GCXS products leave lanes as found"}


def types(*heads):
    return [f"{head}.{t}*" for head in heads for t in ("f64",)]


def load(a):
    shape = (a.rows, a.cols)
    if a.format == "coo":
        return sparse.COO(np.stack([a.row_idx, a.col_idx]).astype(np.int64), a.values, shape)
    lanes = (a.col_idx, a.row_ptr, (0,)) if a.format == "csr" else (a.row_idx, a.col_ptr, (1,))
    return sparse.GCXS((a.values, lanes[0].astype(np.int64), lanes[1].astype(np.int64)), shape, compressed_axes=lanes[2])


def store(m, kind):
    rows, cols = m.shape
    if kind == "coo":
        m = m if isinstance(m, sparse.COO) else m.asformat("coo")
        return sc.Sparse("coo", rows=rows, cols=cols, row_idx=m.coords[0], col_idx=m.coords[1], values=m.data)
    m = m.asformat("gcxs", compressed_axes=(0,) if kind == "csr" else (1,)).change_compressed_axes((0,) if kind == "csr" else (1,))
    names = ("row_ptr", "col_idx") if kind == "csr" else ("col_ptr", "row_idx")
    return sc.Sparse(kind, rows=rows, cols=cols, values=m.data, **dict(zip(names, (m.indptr, m.indices))))


@backend.contract(*types("spm?.cs[rc]"), only=ONLY)
@backend.contract(*types("spm?.coo"), only={**ONLY, "duplicates": False})
def product(task):
    a, b = load(task.a), task.b if task.op == "spmm" else task.x
    a = a.T if task.transpose_a else a
    with np.errstate(all="ignore"):
        task.update(a @ np.ascontiguousarray(b.T if task.transpose_b else b))


@backend.contract(*types("spgemm.cs[rc]"), profile=NONZERO)
def spgemm(task):
    return store(load(task.a) @ load(task.b), task.a.format)


@backend.contract("transpose.coo.f64", only={"duplicates": False})
@backend.contract("transpose.cs[rc].f64")
@backend.contract("convert.coo.cs[rc].f64", profile=SUMMED)
@backend.contract(*(f"convert.{c}.{t}" for c in ("csr.coo", "csr.csc", "csc.csr") for t in ("f64",)))
def moved(task):
    return store(load(task.a).T, task.a.format) if task.op == "transpose" else store(load(task.a), task.to)

backend.serve()
