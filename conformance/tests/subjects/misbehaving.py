"""A backend that misbehaves by the number of columns of C, for the tests of the Python module."""

import ctypes
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

import numpy as np
import sparse_conformance as sc

backend = sc.Backend("misbehaving", "1")


@backend.contract("spmm.csr.f64*", only={"transpose_a": False})
def spmm(task):
    n = task.c.shape[1]
    print("a line on standard output", flush=True)
    subprocess.run(["echo", "and one of a child"], check=True)
    total = np.zeros(task.c.shape)
    rows = np.repeat(np.arange(task.a.rows), np.diff(task.a.row_ptr.astype(np.int64)))
    np.add.at(total, rows, task.a.values[:, None] * task.b[task.a.col_idx])
    task.update(total)
    if n == 2:
        task.a.values[0] += 1
    elif n == 3:
        task.b[0, 0] = 7
    elif n == 4:
        after = task.c.ctypes.data + task.c.nbytes
        ctypes.memset(after, 0, 8)
    elif n == 5:
        ctypes.memset(task.c.ctypes.data - 8, 0, 8)
    elif n == 6:
        raise sc.Refuse("six columns are too many")
    elif n == 7:
        raise RuntimeError("lost a column")
    elif n == 9:
        ctypes.string_at(0)


backend.serve()
