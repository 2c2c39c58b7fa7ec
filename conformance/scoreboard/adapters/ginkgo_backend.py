"""Ginkgo as a backend, through pyGinkgo: products and transposes of CSR and COO in f64, f32 and f16. `A.apply(b, x)`: alpha is 1, beta 0.

The wheel on PyPI has one executor that computes, the reference executor: the others are stubs. Its kernels add one term after the other in the
order of the entries, product and sum rounded apart (reference/matrix/csr_kernels.cpp, coo_kernels.cpp). Its half flushes subnormals, read and
written (base/half.hpp).
"""

import importlib.metadata
import pathlib

import numpy as np
import score
import sparse_conformance as sc
from pyGinkgo import pyGinkgoBindings as gko

binding = importlib.metadata.version("pyginkgo")
library = next(pathlib.Path(gko.__file__).parent.glob("libginkgo.so.*")).name.removeprefix("libginkgo.so.")
backend = sc.Backend("ginkgo", f"{library} (pyGinkgo {binding})", "Csr.apply and Coo.apply of the reference executor, one thread", "threads")
REFERENCE = gko.ReferenceExecutor()
TYPES = {np.dtype(np.float64): "double", np.dtype(np.float32): "float", np.dtype(np.float16): "half"}


def load(a):
    first, second = (getattr(a, name).astype(np.int32) for name in score.NAMES[a.format])
    new = getattr(gko.matrix, f"{a.format.capitalize()}_{TYPES[a.values.dtype]}_int32")
    return new(REFERENCE, (a.rows, a.cols), a.values, second, first)


def dense(array):
    return getattr(gko.matrix, f"dense_{TYPES[array.dtype]}")(REFERENCE, np.ascontiguousarray(array))


def store(m, name, rows, cols):
    places = (m.row, m.col) if name == "coo" else (m.indptr, m.indices)
    return score.sparse(name, *map(np.array, places), np.array(m.data), (rows, cols))


def product(task):
    a, b, out = load(task.a), task.b if task.op == "spmm" else task.x[:, None], task.c if task.op == "spmm" else task.y[:, None]
    x = dense(out)
    (a.T() if task.transpose_a else a).apply(dense(b.T if task.transpose_b else b), x)
    out[...] = np.array(x).reshape(out.shape)  # one column comes back as a vector


def transpose(task):
    return store(load(task.a).T(), task.a.format, task.a.cols, task.a.rows)


for kind in (*score.PRODUCTS, "f16_f16_f16_f16"):
    only, flush = {"alpha": [1], "beta": [0]}, ",flush" if kind[:3] == "f16" else ""
    score.claim(backend, product, ["spmm.csr", "spmv.csr"], [kind], only=only, arithmetic=f"muladd{flush}")
    # Entries of COO need not ascend, so that the order of the terms is not one that the suite declares.
    score.claim(backend, product, ["spmm.coo", "spmv.coo"], [kind], only={**only, "duplicates": False}, arithmetic=f"any{flush}")
score.claim(backend, transpose, ["transpose.csr", "transpose.coo"], (*score.VALUES, "f16"))
backend.serve()
