"""Intel oneMKL's inspector-executor sparse BLAS in Python, through ctypes, for mkl_backend.py: handles and products."""

import ctypes as ct
import glob
import os
import sys

import numpy as np
import score
import sparse_conformance as sc

os.environ["MKL_THREADING_LAYER"] = "SEQUENTIAL"
mkl = ct.CDLL(sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))[0], mode=ct.RTLD_GLOBAL)
STATUS = "SUCCESS NOT_INITIALIZED ALLOC_FAILED INVALID_VALUE EXECUTION_FAILED INTERNAL_ERROR NOT_SUPPORTED".split()
GENERAL = 20  # SPARSE_MATRIX_TYPE_GENERAL


class Descr(ct.Structure):
    _fields_ = [("type", ct.c_int), ("mode", ct.c_int), ("diag", ct.c_int)]


def version():
    text = ct.create_string_buffer(200)
    mkl.mkl_get_version_string(text, 200)
    return text.value.decode().strip()


def call(name, *args):
    status = getattr(mkl, name)(*args)
    if status:
        raise sc.Refuse(f"{name} returns SPARSE_STATUS_{STATUS[status]}")


def pointer(array):
    return ct.c_void_p(array.ctypes.data)


def grown_lines(array, ld, rows, by_rows):
    """The array with lines of zeros added for the edge of the block format, and its leading dimension; itself if there is none."""
    if len(array) == rows:
        return array, ld
    ld = ld if by_rows else max(ld, rows)
    new = np.zeros((rows, ld), array.dtype)[:, : array.shape[1]] if by_rows else np.zeros((array.shape[1], ld), array.dtype).T[:rows]
    new[: len(array)] = array
    return new, ld


class Handle:
    """A sparse matrix in MKL, with the arrays that it points to. MKL's blocks are whole ones: `shape` is that of all blocks."""

    def __init__(self, a):
        self.letter, self.real = ("d", ct.c_double) if a.values.dtype == np.float64 else ("s", ct.c_float)
        self.ref, self.kept = ct.c_void_p(), [getattr(a, name).astype(np.int32) for name in score.NAMES[a.format]] + [a.values]
        first, second, values = map(pointer, self.kept)
        last, side = ct.c_void_p(self.kept[0].ctypes.data + 4), getattr(a, "block_rows", 1)
        self.shape = score.whole((a.rows, a.cols), (side, side))
        if a.format == "coo":
            what, rest = "coo", (a.rows, a.cols, len(a.values), first)
        elif a.format == "bcsr":
            what, rest = "bsr", (101, self.shape[0] // side, self.shape[1] // side, side, first, last)
        else:
            what, rest = a.format, (a.rows, a.cols, first, last)
        call(f"mkl_sparse_{self.letter}_create_{what}", ct.byref(self.ref), 0, *rest, second, values)

    def __del__(self):
        if self.ref:
            mkl.mkl_sparse_destroy(self.ref)

    def multiply(self, turned, alpha, b, beta, c, layout=None):
        """c = alpha * op(this) * b + beta * c, of vectors, or of matrices whose `layout` is (by rows, ldb, ldc)."""
        head = 11 if turned else 10, self.real(alpha), self.ref, Descr(GENERAL, 0, 0)
        m, k = self.shape[:: -1 if turned else 1]
        if layout is None:
            full_b, full_c = score.grown(b, k), score.grown(c, m)
            call(f"mkl_sparse_{self.letter}_mv", *head, pointer(full_b), self.real(beta), pointer(full_c))
        else:
            by_rows, ldb, ldc = layout
            (full_b, ldb), (full_c, ldc) = grown_lines(b, ldb, k, by_rows), grown_lines(c, ldc, m, by_rows)
            tail = pointer(full_b), c.shape[1], ldb, self.real(beta), pointer(full_c), ldc
            call(f"mkl_sparse_{self.letter}_mm", *head, 101 if by_rows else 102, *tail)
        if full_c is not c:
            c[...] = full_c[: len(c)]

    def times(self, other):
        """Row offsets, columns and values of this times another one, both CSR, in order."""
        ref = ct.c_void_p()
        call("mkl_sparse_spmm", 10, self.ref, other.ref, ct.byref(ref))
        call("mkl_sparse_order", ref)
        m, n, base, index, real = ct.c_int(), ct.c_int(), ct.c_int(), ct.POINTER(ct.c_int), ct.POINTER(self.real)
        start, end, col, val = index(), index(), index(), real()
        call(f"mkl_sparse_{self.letter}_export_csr", ref, *map(ct.byref, (base, m, n, start, end, col, val)))
        take = lambda array, count: np.ctypeslib.as_array(array, (count,)).copy() if count else np.zeros(0, array._type_)
        offsets = np.append(0, take(end, m.value))
        result = offsets, take(col, offsets[-1]), take(val, offsets[-1])
        mkl.mkl_sparse_destroy(ref)
        return result
