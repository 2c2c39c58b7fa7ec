"""Intel MKL's inspector-executor sparse BLAS as a backend, through ctypes: CSR, CSC, COO and BSR, f32 and f64.

    pip install mkl numpy
    conformance run --exec "python conformance/python/examples/mkl_backend.py"
"""

import ctypes as ct
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # not needed once the SDK is installed
os.environ.setdefault("MKL_THREADING_LAYER", "SEQUENTIAL")

import numpy as np
import sparse_conformance as sc

found = sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))
mkl = ct.CDLL(found[0] if found else "libmkl_rt.so", mode=ct.RTLD_GLOBAL)
version = ct.create_string_buffer(200)
mkl.mkl_get_version_string(version, 200)
backend = sc.Backend("mkl", version.value.decode().strip(), "mkl_sparse_?_mm, _mv, _spmm, one thread", "runs")

ZERO_BASED, GENERAL, PLAIN, TRANSPOSE = 0, 20, 10, 11
LAYOUT = {True: 101, False: 102}  # by rows, by columns
STATUS = "SUCCESS NOT_INITIALIZED ALLOC_FAILED INVALID_VALUE EXECUTION_FAILED INTERNAL_ERROR NOT_SUPPORTED".split()


class Descr(ct.Structure):
    _fields_ = [("type", ct.c_int), ("mode", ct.c_int), ("diag", ct.c_int)]


def call(name, *args):
    status = getattr(mkl, name)(*args)
    if status:
        raise sc.Refuse(f"{name} returns SPARSE_STATUS_{STATUS[status]}")


def pointer(array):
    return ct.c_void_p(array.ctypes.data)


class Handle:
    """A sparse matrix in MKL, with the arrays that it points to."""

    def __init__(self, a):
        self.letter, self.real = ("d", ct.c_double) if a.values.dtype == np.float64 else ("s", ct.c_float)
        self.ref, self.values = ct.c_void_p(), a.values
        names = {"coo": ("row_idx", "col_idx"), "csr": ("row_ptr", "col_idx"), "csc": ("col_ptr", "row_idx"),
                 "bcsr": ("block_row_ptr", "block_col")}[a.format]  # fmt: skip
        self.first, self.second = (getattr(a, name).astype(np.int32) for name in names)
        first, second, values = map(pointer, (self.first, self.second, self.values))
        last, head = ct.c_void_p(self.first.ctypes.data + 4), [ct.byref(self.ref), ZERO_BASED]
        if a.format == "coo":
            self.shape = (a.rows, a.cols)
            call(f"mkl_sparse_{self.letter}_create_coo", *head, *self.shape, len(a.values), first, second, values)
        elif a.format == "bcsr":
            side = a.block_rows
            blocks = (-(-a.rows // side), -(-a.cols // side))
            self.shape = tuple(extent * side for extent in blocks)
            call(f"mkl_sparse_{self.letter}_create_bsr", *head, LAYOUT[True], *blocks, side, first, last, second, values)
        else:
            self.shape = (a.rows, a.cols)
            call(f"mkl_sparse_{self.letter}_create_{a.format}", *head, *self.shape, first, last, second, values)

    def __del__(self):
        if self.ref:
            mkl.mkl_sparse_destroy(self.ref)


def grown(array, rows, by_rows, tight):
    """The array with zero rows added, for the edge of the block format, or without pads; itself if there is nothing to do."""
    if array.shape[0] == rows and not tight:
        return array
    new = np.zeros((rows, array.shape[1]), array.dtype, "C" if by_rows else "F")
    new[: array.shape[0]] = array
    return new


def product(task):
    b, c = (task.b, task.c) if task.op == "spmm" else (task.x[:, None], task.y[:, None])
    b = b.T if task.transpose_b else b
    if 0 in c.shape or len(task.a.values) == 0:  # MKL takes no empty operands
        return task.update(np.zeros(c.shape if task.op == "spmm" else len(task.y), c.dtype))
    a = Handle(task.a)
    m, k = a.shape[::-1] if task.transpose_a else a.shape
    by_rows = task.op == "spmv" or task.header["dense"]["c"]["layout"] == "row"
    # MKL 2026 looks at no leading dimension inside a block when the transpose of a BSR matrix meets a single column: it reads the pads
    # of B and writes those of C.
    tight = task.op == "spmm" and task.a.format == "bcsr" and task.transpose_a and c.shape[1] == 1
    whole_b, whole_c = grown(b, k, by_rows, tight), grown(c, m, by_rows, tight)
    operation, descr = TRANSPOSE if task.transpose_a else PLAIN, Descr(GENERAL, 0, 0)
    alpha, beta = a.real(task.alpha), a.real(task.beta)
    if task.op == "spmv":
        call(f"mkl_sparse_{a.letter}_mv", operation, alpha, a.ref, descr, pointer(whole_b), beta, pointer(whole_c))
    else:
        ldb, ldc = (max(task.header["dense"][n]["ld"], 1) if w is v else max(w.shape[by_rows], 1)
                    for n, w, v in (("b", whole_b, b), ("c", whole_c, c)))  # fmt: skip
        call(f"mkl_sparse_{a.letter}_mm", operation, alpha, a.ref, descr, LAYOUT[by_rows], pointer(whole_b), c.shape[1], ldb,
             beta, pointer(whole_c), ldc)  # fmt: skip
    if whole_c is not c:
        c[...] = whole_c[: c.shape[0]]


# One layout for B and C: B^T by rows is B by columns.
LAYOUTS = [{"transpose_b": t, "layout_b": b, "layout_c": c} for t in (False, True) for b in ("row", "col") for c in ("row", "col")
           if (b == c) != t]  # fmt: skip
SIDES = [{"params": {"block_rows": [n], "block_cols": [n]}} for n in (1, 2, 3, 4, 8, 16)]
BY_ROWS = [dense for dense in LAYOUTS if dense["layout_c"] == "row"]
READS = {"alpha0-reads-ab": "alpha = 0 still multiplies A and B"}
for t in ("f64*", "f32*"):
    for dense in LAYOUTS:
        backend.contract(f"spmm.csr.{t}", only=dense, profile=READS)(product)
        for side in SIDES:  # its transpose by columns is SPARSE_STATUS_NOT_SUPPORTED
            plain = {} if dense in BY_ROWS else {"transpose_a": False}
            backend.contract(f"spmm.bcsr.{t}", only={**dense, **side, **plain}, profile=READS)(product)
    for dense in BY_ROWS:  # CSC and COO by columns are SPARSE_STATUS_NOT_SUPPORTED
        backend.contract(f"spmm.csc.{t}", only=dense, profile=READS)(product)
        backend.contract(f"spmm.coo.{t}", only={**dense, "duplicates": False}, profile=READS)(product)
    backend.contract(f"spmv.csr.{t}", f"spmv.csc.{t}", profile=READS)(product)
    backend.contract(f"spmv.coo.{t}", only={"duplicates": False})(product)
    for side in SIDES:
        backend.contract(f"spmv.bcsr.{t}", only=side, profile=READS)(product)


@backend.contract("spgemm.csr.f64*", "spgemm.csr.f32*")
def spgemm(task):
    rows, cols, ref = task.a.rows, task.b.cols, ct.c_void_p()
    if not (len(task.a.values) and len(task.b.values)):  # MKL takes no empty operands
        empty = np.zeros(0, np.uint32)
        return sc.Sparse("csr", rows=rows, cols=cols, row_ptr=np.zeros(rows + 1, np.uint32), col_idx=empty, values=empty)
    a, b = Handle(task.a), Handle(task.b)
    call("mkl_sparse_spmm", PLAIN, a.ref, b.ref, ct.byref(ref))
    call("mkl_sparse_order", ref)
    m, n, base = ct.c_int(), ct.c_int(), ct.c_int()
    index, real = ct.POINTER(ct.c_int), ct.POINTER(a.real)
    start, end, col, val = index(), index(), index(), real()
    call(f"mkl_sparse_{a.letter}_export_csr", ref, *map(ct.byref, (base, m, n, start, end, col, val)))
    ptr = np.append(0, np.ctypeslib.as_array(end, (rows,)))
    take = lambda array: np.ctypeslib.as_array(array, (ptr[-1],)).copy() if ptr[-1] else np.zeros(0, np.uint32)
    result = sc.Sparse("csr", rows=rows, cols=cols, row_ptr=ptr, col_idx=take(col), values=take(val))
    mkl.mkl_sparse_destroy(ref)
    return result


if __name__ == "__main__":
    backend.serve()
