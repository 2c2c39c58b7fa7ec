"""CVXOPT 1.3.3: base.gemm with a sparse A multiplies A by alpha first and skips what is zero then. No output here is a matter of rounding.

    python cvxopt_gemm.py       (pip install cvxopt)
"""

import math

import cvxopt
from cvxopt import base


def gemm(a, x, alpha):
    """5 + alpha * a * x."""
    c = cvxopt.matrix([5.0])
    base.gemm(cvxopt.spmatrix([a], [0], [0], (1, 1)), cvxopt.matrix([x]), c, alpha=alpha, beta=1.0)
    return c[0]


print("a stored 0 x Inf is NaN; found", gemm(0.0, math.inf, 1.0))
print("alpha -0.5, 5e-324 x NaN is NaN; found", gemm(5e-324, math.nan, -0.5), "(alpha * a is -0)")
print("alpha 0: 1 x NaN gives", gemm(1.0, math.nan, 0.0), "and Inf x 1 gives", gemm(math.inf, 1.0, 0.0))
