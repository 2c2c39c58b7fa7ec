"""Ginkgo as a backend, through pyGinkgo: products and transposes of CSR and COO, sparse products of CSR, in f64, f32 and f16. `A.apply(b, x)`:
alpha is 1, beta 0.

The wheel on PyPI has one executor that computes, the reference executor: the others are stubs. Its kernels add one term after the other in the
order of the entries, product and sum rounded apart (reference/matrix/csr_kernels.cpp, coo_kernels.cpp). Its half flushes subnormals, read and
written (include/ginkgo/core/base/half.hpp)."""

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
dense = lambda array: getattr(gko.matrix, f"dense_{TYPES[array.dtype]}")(REFERENCE, np.ascontiguousarray(array))


def new(name, shape, values, first, second):
    return getattr(gko.matrix, f"{name.capitalize()}_{TYPES[values.dtype]}_int32")(REFERENCE, shape, values, second, first)


def load(a):
    return new(a.format, (a.rows, a.cols), a.values, *(getattr(a, name).astype(np.int32) for name in score.NAMES[a.format]))


def store(m, name, rows, cols):
    places = (m.row, m.col) if name == "coo" else (m.indptr, m.indices)
    return score.sparse(name, *map(np.array, places), np.array(m.data), (rows, cols))


def product(task):
    a, b, out = load(task.a), task.b if task.op == "spmm" else task.x[:, None], task.c if task.op == "spmm" else task.y[:, None]
    x = dense(out)
    (a.T() if task.transpose_a else a).apply(dense(b.T if task.transpose_b else b), x)
    out[...] = np.array(x).reshape(out.shape)  # one column comes back as a vector


def spgemm(task):
    c = new("csr", (task.a.rows, task.b.cols), task.a.values[:0], np.zeros(task.a.rows + 1, np.int32), np.zeros(0, np.int32))
    load(task.a).apply(load(task.b), c)
    return store(c, "csr", task.a.rows, task.b.cols)


transpose = lambda task: store(load(task.a).T(), task.a.format, task.a.cols, task.a.rows)
TERMS = {"duplicates-are-terms": "each stored entry is a product and a sum"}
for kind in (*score.PRODUCTS, "f16_f16_f16_f16"):
    only, flush = {"alpha": [1], "beta": [0]}, ",flush" if kind[:3] == "f16" else ""
    score.claim(backend, product, ["spmm.csr", "spmv.csr"], [kind], only=only, arithmetic=f"muladd{flush}")
    score.claim(backend, spgemm, ["spgemm.csr"], [kind], arithmetic=f"muladd{flush}")
    # Entries of COO need not ascend, so that the order of the terms is not one that the suite declares. Transposes are sorted.
    score.claim(backend, product, ["spmm.coo", "spmv.coo"], [kind], only=only, arithmetic=f"any{flush}", profile=TERMS)
    backend.contract(f"spm?.coo.{kind}", only={**only, "transpose_a": True}, arithmetic=f"muladd{flush}", profile=TERMS)(product)
score.claim(backend, transpose, ["transpose.csr", "transpose.coo"], (*score.VALUES, "f16"))
backend.serve()
