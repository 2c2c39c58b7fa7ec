"""NumPy as a backend: products of CSR and COO matrices, in every type that NumPy has.

    conformance run --exec "python conformance/python/examples/numpy_backend.py"
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # not needed once the SDK is installed

import numpy as np
import sparse_conformance as sc

backend = sc.Backend("numpy", np.__version__, "np.add.at over the stored entries, product and sum rounded apart", "threads")
# NumPy has no bf16: its elements are read and written, accumulators are f32.
TYPES = ["f64*", "f32*", "f16*", "bf16_bf16_f32*", "e4m3*", "e5m2*"]


def rows_of(a):
    return a.row_idx if a.format == "coo" else np.repeat(np.arange(a.rows), np.diff(a.row_ptr.astype(np.int64)))


# In CSR the terms of a row come in ascending order, so that every bit is fixed; in COO in the order they are stored, where
# several entries at one position are several terms, and not, as the contract has it, one that is rounded first.
@backend.contract(*[f"spm?.csr.{t}" for t in TYPES], arithmetic="muladd", only={"transpose_a": False})
@backend.contract(*[f"spm?.csr.{t}" for t in TYPES])
@backend.contract(*[f"spm?.coo.{t}" for t in TYPES], only={"duplicates": False})
def product(task):
    a, acc = task.a, task.acc
    rows, cols = (rows_of(a), a.col_idx)[:: -1 if task.transpose_a else 1]
    values = sc.decode(a.values, task.types["a"], acc)
    b = sc.decode(task.b if task.op == "spmm" else task.x, task.types["b"], acc)
    b = b.T if task.transpose_b else b
    total = np.zeros((task.c if task.op == "spmm" else task.y).shape, acc)
    with np.errstate(all="ignore"):
        np.add.at(total, rows, (values[:, None] if b.ndim == 2 else values) * b[cols])
        task.update(total)


if __name__ == "__main__":
    backend.serve()
