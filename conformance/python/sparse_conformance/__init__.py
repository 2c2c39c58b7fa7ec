"""Have your sparse kernels judged, from Python.

    import sparse_conformance as sc

    def spmm(a, b):                                   # a.row_ptr, a.col_idx, a.values, a.rows, a.cols; b: a 2-D array
        return my_product(a, b)

    sc.check(spmm, "spmm.csr.f32")                    # raises AssertionError with the first wrong element

`check` runs the suite's `conformance` command, which is in the wheel, and answers it from this process: with NumPy arrays, or with arrays
of PyTorch, CuPy or JAX where your kernel wants them, on a GPU too. In pytest, the fixture `sparse_check` does the same.

A kernel that may crash or hang, or one that takes transposes, strides, alpha and beta, is a program of its own: see `Backend` and
`python -m pydoc sparse_conformance.protocol`.
"""

from importlib.metadata import PackageNotFoundError, version

from ._check import Findings, Thin, Verdict, check, judged
from .protocol import DTYPES, FIELDS, OPERATIONS, Backend, Refuse, Sparse, Task, decode, encode

try:
    __version__ = version("sparse-conformance")
except PackageNotFoundError:  # a copy of the folder, not installed
    __version__ = "0+copied"

__all__ = [
    "Backend",
    "DTYPES",
    "FIELDS",
    "Findings",
    "OPERATIONS",
    "Refuse",
    "Sparse",
    "Task",
    "Thin",
    "Verdict",
    "__version__",
    "check",
    "decode",
    "encode",
    "judged",
]
