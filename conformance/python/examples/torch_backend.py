"""PyTorch on the CPU as a backend: sparse CSR and COO products and sampled_addmm, f32 and f64.

    conformance run --exec "python conformance/python/examples/torch_backend.py"
"""

import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))  # not needed once the SDK is installed

import numpy as np
import sparse_conformance as sc
import torch

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
torch.set_num_threads(1)
backend = sc.Backend("torch", torch.__version__, "torch.sparse on the CPU, one thread", "runs")


def types(*heads):
    return [f"{head}.{t}*" for head in heads for t in ("f64", "f32")]


def load(a):
    shape, values = (a.rows, a.cols), torch.from_numpy(a.values)
    index = lambda array: torch.from_numpy(array.astype(np.int64))
    if a.format == "coo":
        return torch.sparse_coo_tensor(torch.stack([index(a.row_idx), index(a.col_idx)]), values, shape)
    return torch.sparse_csr_tensor(index(a.row_ptr), index(a.col_idx), values, shape)


@backend.contract(*types("spm?.csr"), only={"transpose_a": False})
@backend.contract(*types("spm?.coo"), only={"duplicates": False})
def product(task):
    a, b = load(task.a), task.b if task.op == "spmm" else task.x
    a = a.t() if task.transpose_a else a
    b = torch.from_numpy(np.ascontiguousarray(b.T if task.transpose_b else b))
    task.update((a @ b).numpy())


READS = {"alpha0-reads-ab": "sampled_addmm multiplies the dense product by alpha, so that 0 x NaN reaches the result"}


@backend.contract(*types("sddmm.csr"), only={"modes": ["pattern"]}, profile=READS)
@backend.contract(*types("sddmm.csr"), only={"modes": ["add-s"]}, profile=READS)
def sddmm(task):
    s, x, y = load(task.s), *(torch.from_numpy(np.ascontiguousarray(m)) for m in (task.x, task.y))
    beta = task.beta if task.mode == "add-s" else 0.0
    task.out[...] = torch.sparse.sampled_addmm(s, x, y.t(), alpha=task.alpha, beta=beta).values().numpy()


if __name__ == "__main__":
    backend.serve()
