"""JAX on the CPU as a backend: BCOO and BCSR matrices times a vector or a matrix, in f64 and f32.

XLA takes subnormal numbers for zero on the CPU (its compiled code runs with FTZ and DAZ set), which is declared as "flush". BCOO adds one
product a stored entry, so that entries at one position are terms of their own.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import sparse_conformance as sc
from jax.experimental import sparse

jax.config.update("jax_enable_x64", True)
backend = sc.Backend("jax", jax.__version__, "jax.experimental.sparse, BCOO and BCSR, CPU", "none")
ONLY = {"alpha": [1], "beta": [0], "faults": []}
TERMS = {"duplicates-are-terms": "a scatter-add of one product a stored entry"}


def load(a):
    if a.format == "coo":
        places = np.stack([a.row_idx, a.col_idx], 1).astype(np.int32)
        return sparse.BCOO((a.values, places), shape=(a.rows, a.cols))
    return sparse.BCSR((a.values, a.col_idx.astype(np.int32), a.row_ptr.astype(np.int32)), shape=(a.rows, a.cols))


@backend.contract("spmv.csr.f64*", "spmv.csr.f32*", arithmetic="any,flush", only={**ONLY, "transpose_a": False})
@backend.contract("spmm.csr.f64*", "spmm.csr.f32*", arithmetic="any,flush", only={**ONLY, "transpose_a": False})
@backend.contract("spmv.coo.f64*", "spmv.coo.f32*", arithmetic="any,flush", only=ONLY, profile=TERMS)
@backend.contract("spmm.coo.f64*", "spmm.coo.f32*", arithmetic="any,flush", only=ONLY, profile=TERMS)
def product(task):
    a, b = load(task.a), task.b if task.op == "spmm" else task.x
    a = a.T if task.transpose_a else a
    task.update(np.asarray(a @ (b.T if task.transpose_b else b)))

backend.serve()
