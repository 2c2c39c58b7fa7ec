"""CVXOPT as a backend: base.gemm and base.gemv with a sparse A (compressed columns), sparse products and transposes, in f64.

gemm and gemv take alpha, beta and transposes, and write C where it lies; matrices are dense, by columns, without gaps.
"""

import cvxopt
import numpy as np
import sparse_conformance as sc
from cvxopt import base

backend = sc.Backend("cvxopt", cvxopt.__version__, "cvxopt.base.gemm and gemv, spmatrix", "none")
READS = {"alpha0-reads-ab": "base.gemv multiplies A and x by alpha = 0"}
ZEROS = {"stored-zeros-absent": "base.gemm skips zeros that A stores: 0 x Inf is 0"}
ONLY = {"layout_b": "col", "layout_c": "col", "padded": False, "faults": []}


def load(a):
    """The constructor takes triplets; columns come out sorted, as they went in."""
    if not len(a.values):
        return cvxopt.spmatrix([], [], [], (a.rows, a.cols))
    cols = np.repeat(np.arange(a.cols), np.diff(a.col_ptr.astype(np.int64)))
    return cvxopt.spmatrix(a.values.tolist(), a.row_idx.tolist(), cols.tolist(), (a.rows, a.cols))


def store(m):
    rows, cols = m.size
    ptr, idx, values = (np.array(list(part)) for part in m.CCS)
    return sc.Sparse("csc", rows=rows, cols=cols, col_ptr=ptr.astype(np.int64), row_idx=idx.astype(np.int64), values=values.astype(float))


def dense(array):
    return cvxopt.matrix(np.array(array, order="F"), array.shape if array.ndim == 2 else (len(array), 1), "d")


@backend.contract("spmm.csc.f64*", arithmetic="any,fold-alpha", only=ONLY, profile=ZEROS)
def spmm(task):
    c = dense(task.c)
    flags = {"transA": "T" if task.transpose_a else "N", "transB": "T" if task.transpose_b else "N"}
    base.gemm(load(task.a), dense(task.b), c, alpha=task.alpha, beta=task.beta, **flags)
    task.c[...] = np.array(c).reshape(task.c.shape)


@backend.contract("spmv.csc.f64*", arithmetic="any,fold-alpha", only={"faults": []}, profile=READS)
def spmv(task):
    y = dense(task.y)
    base.gemv(load(task.a), dense(task.x), y, trans="T" if task.transpose_a else "N", alpha=task.alpha, beta=task.beta)
    task.y[...] = np.array(y).ravel()


@backend.contract("spgemm.csc.f64*")
def spgemm(task):
    return store(load(task.a) * load(task.b))


@backend.contract("transpose.csc.f64")
def transpose(task):
    return store(load(task.a).T)

backend.serve()
