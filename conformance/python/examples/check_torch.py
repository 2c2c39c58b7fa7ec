"""PyTorch judged by `check`, on the CPU or where the GPU is: `python check_torch.py cuda`. Operands are made there, results are read there.

On a GPU the check finds that cuSPARSE takes subnormal numbers of f32 for zero. `arithmetic="any,flush"` would declare that.
"""

import sys
import warnings

import sparse_conformance as sc
import torch

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"


def product(a, b):
    """A (CSR) times a matrix or a vector: tensors of the device in, a tensor of the device out."""
    return torch.sparse_csr_tensor(a.row_ptr, a.col_idx, a.values, (a.rows, a.cols), device=device) @ b


for contract in ("spmv.csr.f32", "spmm.csr.f32", "spmm.csr.f64"):
    try:
        print(sc.check(product, contract, arrays="torch", device=device, allow_thin=True).summary)
    except sc.Findings as findings:
        print(findings)
