"""SuiteSparse GraphBLAS (python-graphblas) as a backend: plus_times products with vectors and matrices, sparse ones, transposes and builds.

A dense operand is a GraphBLAS matrix in which every position is stored. Positions that a product does not reach are absent, and read as 0.
"""

import graphblas as gb
import numpy as np
import sparse_conformance as sc
from graphblas import binary, semiring

gb.ss.config["nthreads"] = 1
backend = sc.Backend("graphblas", f"{gb.ss.about['library_version'][0]}.{gb.ss.about['library_version'][1]}.{gb.ss.about['library_version'][2]}",
                     "SuiteSparse GraphBLAS through python-graphblas, one thread", "none")  # fmt: skip
ONLY = {"alpha": [1], "beta": [0], "faults": []}
SUMMED = {"duplicates-sum-any-order": "GrB_Matrix_build with dup_op = plus"}


def types(*heads):
    return [f"{head}.{t}*" for head in heads for t in ("f64", "f32")]


def load(a):
    index, shape = (lambda x: x.astype(np.uint64)), {"nrows": a.rows, "ncols": a.cols}
    if a.format == "coo":
        return gb.Matrix.from_coo(index(a.row_idx), index(a.col_idx), a.values, dup_op=binary.plus, **shape)
    if a.format == "csr":
        return gb.Matrix.from_csr(index(a.row_ptr), index(a.col_idx), a.values, ncols=a.cols)
    return gb.Matrix.from_csc(index(a.col_ptr), index(a.row_idx), a.values, nrows=a.rows)


def store(m, kind):
    if kind == "coo":
        rows, cols, values = m.to_coo()
        return sc.Sparse("coo", rows=m.nrows, cols=m.ncols, row_idx=rows, col_idx=cols, values=values)
    outer, inner, values = m.to_csr(sort=True) if kind == "csr" else m.to_csc(sort=True)
    names = ("row_ptr", "col_idx") if kind == "csr" else ("col_ptr", "row_idx")
    return sc.Sparse(kind, rows=m.nrows, cols=m.ncols, values=values, **dict(zip(names, (outer, inner))))


@backend.contract(*types("spm?.cs[rc]"), only=ONLY)
def product(task):
    a, dense = load(task.a), task.b if task.op == "spmm" else task.x
    b = (gb.Matrix if dense.ndim == 2 else gb.Vector).from_dense(np.ascontiguousarray(dense.T if task.transpose_b else dense))
    c = semiring.plus_times((a.T if task.transpose_a else a) @ b).new()
    task.update(c.to_dense(fill_value=0))


@backend.contract(*types("spgemm.cs[rc]"))
def spgemm(task):
    return store(semiring.plus_times(load(task.a) @ load(task.b)).new(), task.a.format)


@backend.contract("convert.coo.cs[rc].f64", "convert.coo.cs[rc].f32", profile=SUMMED)
@backend.contract("transpose.cs[rc].f64", "transpose.cs[rc].f32")
@backend.contract(*(f"convert.{c}.{t}" for c in ("csr.coo", "csr.csc", "csc.csr") for t in ("f64", "f32")))
def moved(task):
    return store(load(task.a).T.new(), task.a.format) if task.op == "transpose" else store(load(task.a), task.to)

backend.serve()
