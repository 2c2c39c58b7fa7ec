"""CuPy judged by `check`, on the GPU: operands are made there, results are read there. CuPy calls cuSPARSE.

cuSPARSE takes subnormal numbers of f32 for zero, which `"any,flush"` declares.
"""

import sparse_conformance as sc
from cupyx.scipy.sparse import csr_matrix


def product(a, b):
    """A (CSR) times a matrix or a vector: arrays of CuPy in, an array of CuPy out."""
    return csr_matrix((a.values, a.col_idx, a.row_ptr), shape=(a.rows, a.cols)) @ b


for contract, arithmetic in (("spmv.csr.f32", "any,flush"), ("spmm.csr.f32", "any,flush"), ("spmm.csr.f64", "any")):
    try:
        print(sc.check(product, contract, arrays="cupy", arithmetic=arithmetic, allow_thin=True).summary)
    except sc.Findings as findings:
        print(findings)
