"""oneMKL: mkl_sparse_d_mv multiplies an operand by alpha first. The exact value of each alpha * a * x is finite and no subnormal number.

    python mkl_alpha.py       (pip install mkl numpy)
"""

import ctypes as ct
import glob
import os
import sys
from fractions import Fraction

os.environ["MKL_THREADING_LAYER"] = "SEQUENTIAL"
mkl = ct.CDLL(sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))[0], mode=ct.RTLD_GLOBAL)


class Descr(ct.Structure):
    _fields_ = [("type", ct.c_int), ("mode", ct.c_int), ("diag", ct.c_int)]


def mv(operation, alpha, a, x):
    """alpha * op(A) * x with a 1 x 1 CSR matrix."""
    ref, ptr, col, y = ct.c_void_p(), (ct.c_int * 2)(0, 1), (ct.c_int * 1)(0), (ct.c_double * 1)(0)
    values, vector, end = (ct.c_double * 1)(a), (ct.c_double * 1)(x), ct.c_void_p(ct.addressof(ptr) + 4)
    mkl.mkl_sparse_d_create_csr(ct.byref(ref), 0, 1, 1, ptr, end, col, values)
    mkl.mkl_sparse_d_mv(operation, ct.c_double(alpha), ref, Descr(20, 0, 0), vector, ct.c_double(0), y)
    return y[0]


for name, operation in (("as stored", 10), ("transposed", 11)):
    for alpha, a, x in ((1e10, 1e-300, 1e305), (1e10, 1e305, 1e-300), (1e-300, 1e-20, 1e20), (1e-300, 1e20, 1e-20)):
        exact = float(Fraction(alpha) * Fraction(a) * Fraction(x))
        print(f"{name}: {alpha} * {a} * {x} is {exact}, found {mv(operation, alpha, a, x)}")
