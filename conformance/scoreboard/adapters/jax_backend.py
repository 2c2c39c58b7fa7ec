"""JAX as a backend: BCOO and BCSR matrices times a vector or a matrix, in f64 and f32; on the CPU, or with "cuda" as argument on a GPU.

XLA takes subnormal numbers for zero on the CPU (its compiled code runs with FTZ and DAZ set), and on a GPU PTX says so of additions of f32 to
global memory: both are declared as "flush". BCOO adds one product a stored entry, so that entries at one position are terms of their own.
"""

import os
import sys

platform = sys.argv[1] if len(sys.argv) > 1 else "cpu"
os.environ.update(JAX_PLATFORMS=platform, XLA_PYTHON_CLIENT_PREALLOCATE="false")

import jax
import numpy as np
import sparse_conformance as sc
from jax.experimental import sparse

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")  # no TF32
name, where = ("jax", "CPU") if platform == "cpu" else ("jax-cuda", jax.devices()[0].device_kind)
backend = sc.Backend(name, jax.__version__, f"jax.experimental.sparse, BCOO and BCSR, {where}", "none")
ONLY = {"alpha": [1], "beta": [0], "faults": []}
TERMS = {"duplicates-are-terms": "a scatter-add of one product a stored entry"}


def load(a):
    if a.format == "coo":
        places = np.stack([a.row_idx, a.col_idx], 1).astype(np.int32)
        return sparse.BCOO((a.values, places), shape=(a.rows, a.cols))
    return sparse.BCSR((a.values, a.col_idx.astype(np.int32), a.row_ptr.astype(np.int32)), shape=(a.rows, a.cols))


def product(task):
    a, b = load(task.a), task.b if task.op == "spmm" else task.x
    a = a.T if task.transpose_a else a
    task.update(np.asarray(a @ (b.T if task.transpose_b else b)))


for kind in ("f64", "f32"):
    rounds = "any,flush" if platform == "cpu" or kind == "f32" else "any"
    backend.contract(f"spm?.csr.{kind}*", arithmetic=rounds, only={**ONLY, "transpose_a": False})(product)
    backend.contract(f"spm?.coo.{kind}*", arithmetic=rounds, only=ONLY, profile=TERMS)(product)
backend.serve()
