"""SciPy 1.17: a COO product skips stored zeros, which CSR does not, and tobsr turns a stored -0 into +0, and a signalling NaN into a quiet one."""

import numpy as np
import scipy.sparse as sp

coo = sp.coo_array((np.array([0.0]), (np.array([0]), np.array([0]))), (1, 2))
b = np.array([[np.inf, np.nan], [1.0, 1.0]])
with np.errstate(all="ignore"):
    print("0 x Inf and 0 x NaN are NaN; COO gives", coo @ b, "and CSR", coo.tocsr() @ b)
csr = sp.csr_array((np.array([-0.0]), np.array([0]), np.array([0, 1, 1])), (2, 2))
print("a stored -0, sign set:", np.signbit(csr.data[0]), "and in tobsr((2, 2)):", np.signbit(csr.tobsr((2, 2)).data[0, 0, 0]))
nan = np.array([0xFFF0E656256C52D2], np.uint64)
csr = sp.csr_array((nan.view(float), np.array([0]), np.array([0, 1, 1])), (2, 2))
print(f"a signalling NaN: {csr.data.view(np.uint64)[0]:x}", *(f"in tobsr({side}): {csr.tobsr(side).data.view(np.uint64)[0, 0, 0]:x}" for side in ((1, 1), (2, 2))))
