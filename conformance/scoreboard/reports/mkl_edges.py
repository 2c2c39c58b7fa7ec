"""oneMKL: operands without rows, columns or entries, and the transpose of a BSR matrix times a single column of a wider matrix.

    python mkl_edges.py       (pip install mkl numpy)
"""

import ctypes as ct
from fractions import Fraction

import numpy as np
from mkl_alpha import Descr, mkl, p

make = mkl.mkl_sparse_d_create_csr
for rows, cols in ((2, 2), (0, 2), (2, 0)):
    ref, ptr, some = ct.c_void_p(), np.zeros(rows + 1, np.int32), np.zeros(1)
    args = ct.byref(ref), 0, rows, cols
    last = ct.c_void_p(ptr.ctypes.data + 4)
    print(f"{rows} x {cols} without entries: csr {make(*args, p(ptr), last, p(ptr), p(some))}, csc {mkl.mkl_sparse_d_create_csc(*args, p(ptr), last, p(ptr), p(some))}, "
          f"coo {mkl.mkl_sparse_d_create_coo(*args, 0, p(ptr), p(ptr), p(some))}, bsr {mkl.mkl_sparse_d_create_bsr(ct.byref(ref), 0, 101, rows, cols, 2, p(ptr), last, p(ptr), p(some))}")  # fmt: skip
ref, ptr, idx, one = ct.c_void_p(), np.arange(3, dtype=np.int32), np.arange(2, dtype=np.int32), np.ones(2)
make(ct.byref(ref), 0, 2, 2, p(ptr), ct.c_void_p(ptr.ctypes.data + 4), p(idx), p(one))
b, c = np.ones(8), np.ones(8)
for n in (0, 1):
    print(f"2 x 2 times {n} columns: {mkl.mkl_sparse_d_mm(10, ct.c_double(1), ref, Descr(20, 0, 0), 101, p(b), n, 4, ct.c_double(2), p(c), 4)}")
print("0 is success, 3 is SPARSE_STATUS_INVALID_VALUE")

# C = A^T B by rows, one column, leading dimensions of 3; elements between are 100 in B and 7 in C.
for letter, dtype, real in (("d", np.float64, ct.c_double), ("s", np.float32, ct.c_float)):
    for side in (1, 2, 3, 4, 8):
        size, ref = 2 * side, ct.c_void_p()
        ptr, idx, values = np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32), np.arange(1, 2 * side * side + 1).astype(dtype)
        getattr(mkl, f"mkl_sparse_{letter}_create_bsr")(ct.byref(ref), 0, 101, 2, 2, side, p(ptr), ct.c_void_p(ptr.ctypes.data + 4), p(idx), p(values))
        b, c = np.full((size, 3), 100, dtype), np.full((size, 3), 7, dtype)
        b[:, 0] = np.arange(1, size + 1)
        exact = [sum(Fraction(float(values[(j // side) * side * side + i * side + j % side])) * Fraction(float(b[j // side * side + i, 0])) for i in range(side)) for j in range(size)]
        getattr(mkl, f"mkl_sparse_{letter}_mm")(11, real(1), ref, Descr(20, 0, 0), 101, p(b), 1, 3, real(0), p(c), 3)
        # What a product without leading dimensions leaves: it adds to the first elements of C, as they lie in memory.
        ignored = np.where(np.arange(3 * size) % 3 == 0, 0, 7).astype(dtype)
        ignored[:size] += [sum(values[(j // side) * side * side + i * side + j % side] * b.ravel()[j // side * side + i] for i in range(side)) for j in range(size)]
        right, between = [float(e) for e in exact] == c[:, 0].tolist(), (c[:, 1:] == 7).all()
        print(f"{letter}, blocks of {side}: {'right' if right else f'wrong: {c[:, 0].tolist()[:4]} instead of {[float(e) for e in exact][:4]}'}; "
              f"between the lines of C: {'untouched' if between else f'written: {c[:, 1:].ravel().tolist()[:4]}'}"
              f"{'; all of C as by a product without leading dimensions' if not right and (c.ravel() == ignored).all() else ''}")  # fmt: skip
