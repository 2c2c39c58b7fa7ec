"""pydata/sparse 0.19.3: a COO matrix times a dense matrix without columns never returns.

    python pydata_no_columns.py       (pip install sparse; ends by itself after 20 s)

In _dot_coo_ndarray (numba_backend/_common.py) `while didx1 < len(data1)` advances didx1 only inside of `for oidx2 in range(out_shape[1])`.
Expected: (3, 2), then (3, 0).
"""

import faulthandler

import numpy as np
import sparse

a = sparse.COO(np.array([[0, 1], [0, 1]]), np.array([1.0, 2.0]), (3, 4))
print((a @ np.ones((4, 2))).shape, flush=True)
faulthandler.dump_traceback_later(20, exit=True)
print((a @ np.ones((4, 0))).shape)
