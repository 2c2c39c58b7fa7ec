"""CuPy: what cuSPARSE adds in the last row of a product, and what becomes of duplicates.

    python cupy_edges.py
"""

import cupy
import numpy as np
from cupyx.scipy import sparse

print("CuPy", cupy.__version__)
diagonal = sparse.csr_matrix(cupy.eye(3, 5))
for row in range(5):
    b = cupy.ones((5, 32))
    b[row] = cupy.inf
    found = cupy.asnumpy(diagonal @ b)[:, 0]
    print(f"row {row} of B infinite: column 0 of the 3 x 5 diagonal times B is {found.tolist()}", "(NaN in the last row)" if np.isnan(found[2]) else "")
at = cupy.zeros(2, np.int32)
for name, bits in (("subnormal", [5, 0x116C2]), ("signalling NaN", [0x7F812345, 0x3F800000]), ("-0", [0x80000000, 0x80000000])):
    values = cupy.asarray(np.array(bits, np.uint32).view(np.float32))
    apart = sparse.coo_matrix((values, (cupy.arange(2), cupy.arange(2))), shape=(2, 2)).tocsr().data
    added = sparse.coo_matrix((values, (at, at)), shape=(2, 2)).tocsr().data
    shown = lambda data: [hex(x) for x in cupy.asnumpy(data).view(np.uint32).tolist()]
    print(f"{name}: tocsr of two entries {shown(apart)}, of two at one position {shown(added)}")
