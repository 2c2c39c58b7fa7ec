"""Intel oneMKL's inspector-executor sparse BLAS as a backend, through ctypes: CSR, CSC, COO and BSR, f32 and f64.

Where alpha goes was found with reports/mkl_alpha.py, and is declared kernel by kernel. Its blocks are whole and square, so that a BCSR operand
whose edge cuts a block is given with that block filled up, and B and C with lines of zeros.
"""

import ctypes as ct
import glob
import os
import sys

import numpy as np
import sparse_conformance as sc

os.environ["MKL_THREADING_LAYER"] = "SEQUENTIAL"
mkl = ct.CDLL(sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))[0], mode=ct.RTLD_GLOBAL)
version = ct.create_string_buffer(200)
mkl.mkl_get_version_string(version, 200)
backend = sc.Backend("mkl", version.value.decode().strip(), "mkl_sparse_?_mm, _mv, _spmm, one thread; declared for each kernel: whether alpha is multiplied into A, into B or last", "runs")
NAMES = {"coo": ("row_idx", "col_idx"), "csr": ("row_ptr", "col_idx"), "csc": ("col_ptr", "row_idx"), "bcsr": ("block_row_ptr", "block_col")}
STATUS = "SUCCESS NOT_INITIALIZED ALLOC_FAILED INVALID_VALUE EXECUTION_FAILED INTERNAL_ERROR NOT_SUPPORTED".split()


class Descr(ct.Structure):
    _fields_ = [("type", ct.c_int), ("mode", ct.c_int), ("diag", ct.c_int)]


def call(name, *args):
    status = getattr(mkl, name)(*args)
    if status:
        raise sc.Refuse(f"{name} returns SPARSE_STATUS_{STATUS[status]}")


pointer = lambda array: ct.c_void_p(array.ctypes.data)


class Handle:
    """A sparse matrix in MKL, with the arrays that it points to."""

    def __init__(self, a):
        self.letter, self.real = ("d", ct.c_double) if a.values.dtype == np.float64 else ("s", ct.c_float)
        self.ref, self.kept = ct.c_void_p(), [getattr(a, name).astype(np.int32) for name in NAMES[a.format]] + [a.values]
        first, second, values = map(pointer, self.kept)
        last, side = ct.c_void_p(self.kept[0].ctypes.data + 4), getattr(a, "block_rows", 1)
        blocks = -(-a.rows // side), -(-a.cols // side)
        self.shape = blocks[0] * side, blocks[1] * side
        what, rest = ("bsr", (101, *blocks, side, first, last)) if a.format == "bcsr" else (a.format, (a.rows, a.cols, first, last))
        if what == "coo":
            rest = a.rows, a.cols, len(a.values), first
        call(f"mkl_sparse_{self.letter}_create_{what}", ct.byref(self.ref), 0, *rest, second, values)

    def __del__(self):
        if self.ref:
            mkl.mkl_sparse_destroy(self.ref)


def grown(array, ld, rows, by_rows):
    """The array with lines of zeros added for the edge of the block format, and its leading dimension; itself if there is none."""
    if len(array) == rows:
        return array, ld
    ld = ld if by_rows else max(ld, rows)
    new = np.zeros((rows, ld), array.dtype)[:, : array.shape[1]] if by_rows else np.zeros((array.shape[1], ld), array.dtype).T[:rows]
    new[: len(array)] = array
    return new, ld


def product(task):
    spmv = task.op == "spmv"
    a, (b, c) = Handle(task.a), (task.x[:, None], task.y[:, None]) if spmv else (task.b, task.c)
    by_rows, (m, k) = spmv or task.header["dense"]["c"]["layout"] == "row", a.shape[:: -1 if task.transpose_a else 1]
    ldb, ldc = (1, 1) if spmv else (task.header["dense"][name]["ld"] for name in "bc")
    (whole_b, ldb), (whole_c, ldc) = grown(b.T if task.transpose_b else b, ldb, k, by_rows), grown(c, ldc, m, by_rows)
    head = 11 if task.transpose_a else 10, a.real(task.alpha), a.ref, Descr(20, 0, 0)
    if spmv:
        call(f"mkl_sparse_{a.letter}_mv", *head, pointer(whole_b), a.real(task.beta), pointer(whole_c))
    else:
        call(f"mkl_sparse_{a.letter}_mm", *head, 101 if by_rows else 102, pointer(whole_b), c.shape[1], ldb, a.real(task.beta), pointer(whole_c), ldc)
    if whole_c is not c:
        c[...] = whole_c[: len(c)]


A, B, READS = "any,fold-alpha", "any,fold-alpha-b", {"alpha0-reads-ab": "alpha = 0 still multiplies A and B"}


def takes(contract, order, reads=True, **only):
    backend.contract(f"{contract}.f64*", f"{contract}.f32*", arithmetic=order, only=only, profile=READS if reads else {})(product)


# From the last to the first: of several that fit, the one registered last counts.
for turned in (False, True):
    takes("spmv.csr", B if turned else "any", transpose_a=turned)
    takes("spmv.csc", "any", transpose_a=turned)
    takes("spmv.coo", A, reads=False, transpose_a=turned, duplicates=False)
    for side in (1, 2, 3, 4, 8, 16):
        square = {"transpose_a": turned, "params": {"block_rows": [side], "block_cols": [side]}}
        takes("spmv.bcsr", B if (side == 1 if turned else side > 3) else "any", **square)
        # One layout for B and C: B^T by rows is B by columns.
        for b_turned, b, c in ((t, b, c) for t in (False, True) for b in ("row", "col") for c in ("row", "col") if (b == c) != t):
            dense = {"transpose_b": b_turned, "layout_b": b, "layout_c": c}
            if side == 1:
                takes("spmm.csr", B if turned else "any", transpose_a=turned, **dense)
                takes("spmm.bcsr", B if turned else "any", **square, **dense)
            elif c == "row" or not turned:  # the transpose by columns is SPARSE_STATUS_NOT_SUPPORTED
                plain = "any" if side > 4 else A
                takes("spmm.bcsr", A if turned else plain if c == "row" else A if side < 4 else B, **square, **dense)
                if turned:
                    takes("spmm.bcsr", B, max_n=1, **square, **dense)
            if side == 1 and c == "row":  # CSC and COO by columns are SPARSE_STATUS_NOT_SUPPORTED
                takes("spmm.csc", A if turned else B, transpose_a=turned, **dense)
                takes("spmm.coo", A, transpose_a=turned, duplicates=False, **dense)


@backend.contract("spgemm.csr.f64*", "spgemm.csr.f32*")
def spgemm(task):
    a, b, ref = Handle(task.a), Handle(task.b), ct.c_void_p()
    call("mkl_sparse_spmm", 10, a.ref, b.ref, ct.byref(ref))
    call("mkl_sparse_order", ref)
    m, n, base, index, real = ct.c_int(), ct.c_int(), ct.c_int(), ct.POINTER(ct.c_int), ct.POINTER(a.real)
    start, end, col, val = index(), index(), index(), real()
    call(f"mkl_sparse_{a.letter}_export_csr", ref, *map(ct.byref, (base, m, n, start, end, col, val)))
    take = lambda array, count: np.ctypeslib.as_array(array, (count,)).copy() if count else np.zeros(0, array._type_)
    ptr = np.append(0, take(end, m.value))
    result = sc.Sparse("csr", rows=task.a.rows, cols=task.b.cols, row_ptr=ptr, col_idx=take(col, ptr[-1]), values=take(val, ptr[-1]))
    mkl.mkl_sparse_destroy(ref)
    return result


if __name__ == "__main__":
    backend.serve()
