"""SciPy 1.17: a COO product skips stored zeros, which CSR does not, and tobsr turns a stored -0 into +0."""

import numpy as np
import scipy.sparse as sp

coo = sp.coo_array((np.array([0.0]), (np.array([0]), np.array([0]))), (1, 2))
b = np.array([[np.inf, np.nan], [1.0, 1.0]])
with np.errstate(all="ignore"):
    print("0 x Inf and 0 x NaN are NaN; COO gives", coo @ b, "and CSR", coo.tocsr() @ b)
csr = sp.csr_array((np.array([-0.0]), np.array([0]), np.array([0, 1, 1])), (2, 2))
print("a stored -0, sign set:", np.signbit(csr.data[0]), "and in tobsr((2, 2)):", np.signbit(csr.tobsr((2, 2)).data[0, 0, 0]))
