"""CuPy as a backend: cupyx.scipy.sparse CSR, CSC and COO times dense and sparse, transposes and conversions, in f64 and f32, by cuSPARSE.

`a @ b`: alpha is 1 and beta 0. CuPy adds up entries at one position before it multiplies or converts, by atomic additions. Products of f32
take subnormal numbers for zero, as cuSPARSE does (python/examples/check_cupy.py). Versions differ: claimed is what answers for a small matrix.
"""

import cupy
import numpy as np
import score
import sparse_conformance as sc
from cupyx.scipy import sparse

name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
backend = sc.Backend("cupy", cupy.__version__, f"cupyx.scipy.sparse, {name}", "none")


def load(a):
    first, second = (cupy.asarray(getattr(a, name).astype(np.int32)) for name in score.NAMES[a.format])
    values, shape = cupy.asarray(a.values), (a.rows, a.cols)
    if a.format == "coo":
        return sparse.coo_matrix((values, (first, second)), shape=shape)
    return {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}[a.format]((values, second, first), shape=shape)


def store(m, name, rows, cols):
    m = m.asformat(name)
    if name != "coo":
        m.sort_indices()  # which a conversion does not promise
    places = (m.row, m.col) if name == "coo" else (m.indptr, m.indices)
    return score.sparse(name, *map(cupy.asnumpy, places), cupy.asnumpy(m.data), (rows, cols))


def product(task):
    spmm = task.op == "spmm"
    a, b, out = load(task.a), cupy.asarray(task.b if spmm else task.x), task.c if spmm else task.y
    a, b = a.T if task.transpose_a else a, b.T if task.transpose_b else b
    out[...] = cupy.asnumpy(a @ b)


spgemm = lambda task: store(load(task.a) @ load(task.b), task.a.format, task.a.rows, task.b.cols)
transpose = lambda task: store(load(task.a).T, task.a.format, task.a.cols, task.a.rows)
convert = lambda task: store(load(task.a), task.to, task.a.rows, task.a.cols)
ONLY = {"alpha": [1], "beta": [0]}
for kind, arithmetic in zip(score.PRODUCTS, ("any", "any,flush")):
    score.claim(backend, product, ["spmm.csr", "spmm.csc", "spmv.csr", "spmv.csc"], [kind], only=ONLY, arithmetic=arithmetic)
    score.claim(backend, product, ["spmm.coo", "spmv.coo"], [kind], only={**ONLY, "duplicates": False}, arithmetic=arithmetic)
score.claim(backend, spgemm, ["spgemm.csr", "spgemm.csc"])
score.claim(backend, transpose, ["transpose.coo", "transpose.csr", "transpose.csc"], score.VALUES)
score.claim(backend, convert, ["convert.csr.coo", "convert.csr.csc", "convert.csc.csr"], score.VALUES)
score.claim(backend, convert, ["convert.coo.csr", "convert.coo.csc"], score.VALUES, profile={"duplicates-sum-any-order": "atomic additions"})
backend.serve()
