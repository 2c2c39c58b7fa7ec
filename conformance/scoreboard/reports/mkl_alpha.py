"""oneMKL: where alpha goes, kernel by kernel, and that pads of blocks meet an operand that alpha made infinite.

    python mkl_alpha.py       (pip install mkl numpy)

Diagonal matrices of equal entries a, a dense operand of equal elements b, chosen so that alpha * a * b is finite but alpha * a or alpha * b is
not: what is infinite tells the order. Exact values are those of fractions.
"""

import ctypes as ct
import glob
import os
import sys
from fractions import Fraction

os.environ["MKL_THREADING_LAYER"] = "SEQUENTIAL"
import numpy as np

mkl = ct.CDLL(sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))[0], mode=ct.RTLD_GLOBAL)
p = lambda array: ct.c_void_p(array.ctypes.data)


class Descr(ct.Structure):
    _fields_ = [("type", ct.c_int), ("mode", ct.c_int), ("diag", ct.c_int)]


def product(letter, form, side, a, turned, layout, alpha, b, beta=0.0, c=None):
    """alpha op(a) b + beta c with every element of the square a stored, or with blocks. `layout` None: mkl_sparse_?_mv."""
    real, dtype = (ct.c_double, np.float64) if letter == "d" else (ct.c_float, np.float32)
    size, ref, make = len(a), ct.c_void_p(), getattr(mkl, f"mkl_sparse_{letter}_create_{form}")
    count = size // (side or 1)
    ptr, idx = np.arange(0, count * count + 1, count, dtype=np.int32), np.tile(np.arange(count, dtype=np.int32), count)
    last = ct.c_void_p(ptr.ctypes.data + 4)
    if form == "bsr":
        values = np.ascontiguousarray(a.astype(dtype).reshape(count, side, count, side).transpose(0, 2, 1, 3))
        made = make(ct.byref(ref), 0, 101, count, count, side, p(ptr), last, p(idx), p(values))
    elif form == "coo":
        values, row = a.astype(dtype).ravel(), np.repeat(np.arange(size, dtype=np.int32), size)
        made = make(ct.byref(ref), 0, size, size, size * size, p(row), p(idx), p(values))
    else:
        values = np.ascontiguousarray(a if form == "csr" else a.T, dtype).ravel()
        made = make(ct.byref(ref), 0, size, size, p(ptr), last, p(idx), p(values))
    assert made == 0, made
    order = "F" if layout == 102 else "C"
    b, c = np.array(b, dtype, order=order), np.zeros(b.shape, dtype, order=order) if c is None else np.array(c, dtype, order=order)
    head, ld = (11 if turned else 10, real(alpha), ref, Descr(20, 0, 0)), size if layout == 102 else b.shape[1]
    if layout is None:
        status = getattr(mkl, f"mkl_sparse_{letter}_mv")(*head, p(b), real(beta), p(c))
    else:
        status = getattr(mkl, f"mkl_sparse_{letter}_mm")(*head, layout, p(b), b.shape[1], ld, real(beta), p(c), ld)
    mkl.mkl_sparse_destroy(ref)
    return c if status == 0 else f"status {status}"


if __name__ == "__main__":
    text = ct.create_string_buffer(200)
    mkl.mkl_get_version_string(text, 200)
    print(text.value.decode().strip())
    for letter, big, high, low in (("d", 1e10, 1e305, 1e-300), ("s", 1e5, 1e36, 1e-30)):
        print(f"{letter}: alpha * a * b is {float(Fraction(big) * Fraction(high) * Fraction(low)):g}, exactly; both are finite where alpha goes last")
        for form, side in [("csr", 0), ("csc", 0), ("coo", 0)] + [("bsr", side) for side in (1, 2, 3, 4, 8, 16)]:
            for turned in (False, True):
                for layout, columns in ((None, (1,)), (101, (1, 2, 33)), (102, (1, 2, 33))):
                    found = []
                    for n in columns:
                        size = side * 3 if side else 5
                        with_a = product(letter, form, side, np.eye(size) * high, turned, layout, big, np.full((size, n), low))
                        with_b = product(letter, form, side, np.eye(size) * low, turned, layout, big, np.full((size, n), high))
                        text = with_a if isinstance(with_a, str) else "after the product"
                        text = text if isinstance(with_a, str) or np.isfinite(with_a).all() else "into A"
                        found.append(text if isinstance(with_b, str) or np.isfinite(with_b).all() else "into B")
                    where = {None: "mv", 101: "mm by rows", 102: "mm by columns"}[layout]
                    print(f"  {form} {side or ''} {'transposed' if turned else 'as stored'}, {where}: " + ", ".join(f"n={n}: {w}" for n, w in zip(columns, found)))
    # Row 0 of the block holds pads alone, and x is finite: exactly, the result there is beta * c.
    a, x = np.zeros((4, 4)), np.full((4, 1), 3e38)
    a[1, 0] = 1
    exact = Fraction(2) * Fraction(0) * Fraction(3e38) + Fraction(-1) * Fraction(-5)
    print("pads beside 2 * 3e38 (f32):", float(exact), "exactly, found", product("s", "bsr", 4, a, False, None, 2.0, x, -1.0, np.full((4, 1), -5.0))[0, 0])
