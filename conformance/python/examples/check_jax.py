"""JAX judged by `check`: a product through its BCSR matrices. XLA takes subnormal numbers for zero on the CPU: that is declared here.

Without the declaration, the check finds it at once.
"""

import sparse_conformance as sc
from jax.experimental import sparse


def product(a, b):
    return sparse.BCSR((a.values, a.col_idx, a.row_ptr), shape=(a.rows, a.cols)) @ b


for contract in ("spmv.csr.f32", "spmm.csr.f32"):
    print(sc.check(product, contract, arrays="jax", arithmetic="any,flush", timeout=60).summary)
