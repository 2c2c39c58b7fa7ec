"""PyTorch as a backend: CSR, CSC, COO and BSR tensors on "cpu" or "cuda", its argument: two libraries. `addmm` and its like have alpha and beta.

Builds differ in what they take (MKL, CUDA, element types): claimed is what answers for a small matrix. Its blocks are whole ones, so that an
operand whose edge cuts a block is given with that block filled up. On CUDA most calls end in cuSPARSE. TF32 is off by default.
"""

import sys
import warnings

import numpy as np
import score
import sparse_conformance as sc
import torch

warnings.simplefilter("ignore")  # that compressed tensors are in beta
torch.set_num_threads(1)
device, gpu = sys.argv[1], sys.argv[1] == "cuda"
where = torch.cuda.get_device_name() if gpu else f"CPU, one thread, {'MKL' if torch.backends.mkl.is_available() else 'no MKL'}"
backend = sc.Backend(f"torch-{device}", torch.__version__, f"torch.sparse, {where}", "none" if gpu else "runs")
whole = lambda shape, blocks: tuple(-(-extent // side) * side for extent, side in zip(shape, blocks))
grown = lambda t, rows: t if len(t) == rows else torch.cat([t, t.new_zeros(rows - len(t), *t.shape[1:])])  # the filled edge
# NumPy has the bits of bf16.
tensor = lambda n: (torch.from_numpy(n.view(np.int16)).view(torch.bfloat16) if n.dtype == np.uint16 else torch.from_numpy(n)).to(device)
array = lambda t: t.view(torch.int16).cpu().numpy().view(np.uint16) if t.dtype == torch.bfloat16 else t.cpu().numpy()


def load(a):
    (first, second), shape = (tensor(getattr(a, name).astype(np.int64)) for name in score.NAMES[a.format]), (a.rows, a.cols)
    if a.format == "coo":
        return torch.sparse_coo_tensor(torch.stack([first, second]), tensor(a.values), shape)
    if a.format == "bcsr":
        blocks = a.block_rows, a.block_cols
        return torch.sparse_bsr_tensor(first, second, tensor(a.values).reshape(-1, *blocks), whole(shape, blocks))
    return getattr(torch, f"sparse_{a.format}_tensor")(first, second, tensor(a.values), shape)


def store(t, name, rows, cols):
    t = t.coalesce() if name == "coo" else t
    places = t.indices() if name == "coo" else (t.ccol_indices(), t.row_indices()) if name == "csc" else (t.crow_indices(), t.col_indices())
    return score.sparse(name, *map(array, places), array(t.values()), (rows, cols))


def product(task):
    spmm = task.op == "spmm"
    a, b, out = load(task.a), tensor(task.b if spmm else task.x), task.c if spmm else task.y
    a, b = a.t() if task.transpose_a else a, b.t() if task.transpose_b else b
    call, b, c = torch.addmm if spmm else torch.addmv, grown(b, a.shape[1]), grown(tensor(out), a.shape[0])
    out[...] = array(call(c, a, b, alpha=task.alpha, beta=task.beta) if spmm or task.a.format != "coo" else a @ b)[: len(out)]


def sddmm(task):
    s, x, y = load(task.s), tensor(task.x), tensor(task.y)
    task.out[...] = array(torch.sparse.sampled_addmm(s, x, y.t(), alpha=task.alpha, beta=task.beta if task.mode == "add-s" else 0.0).values())


to = lambda t, name: t.to_sparse() if name == "coo" else getattr(t, f"to_sparse_{name}")()
spgemm = lambda task: store(load(task.a) @ load(task.b), task.a.format, task.a.rows, task.b.cols)
transpose = lambda task: store(to(load(task.a).t(), task.a.format), task.a.format, task.a.cols, task.a.rows)
convert = lambda task: store(to(load(task.a), task.to), task.to, task.a.rows, task.a.cols)
READS = {"alpha0-reads-ab": "alpha = 0 still multiplies; documented is only that beta = 0 ignores the input"}
reads, mkl = {} if gpu else READS, torch.backends.mkl.is_available()
# Where sums are formed in half precision, and where alpha is multiplied into A first (SpMV of cuSPARSE, which also takes SpMM with one
# column; kernels of PyTorch itself for COO) is shown by reports/torch_edges.py and torch_alpha.py. BSR of MKL does it with larger blocks.
for kind in (*score.PRODUCTS, "f16_f16_f32_f16", "bf16_bf16_f32_bf16"):
    plain = "any,flush" if gpu and kind[:4] in ("f32_", "bf16") else "any"
    folds = f"{plain},fold-alpha"
    score.claim(backend, product, ["spmm.csr", "spmm.csc"], [kind], profile=reads, arithmetic=plain if gpu or mkl else folds)
    if gpu:
        score.claim(backend, product, ["spmm.csr", "spmm.csc"], [kind], only={"max_n": 1}, arithmetic=folds)
    score.claim(backend, product, ["spmv.csr", "spmv.csc"], [kind], profile=reads, arithmetic=folds if gpu else plain)
    score.claim(backend, product, ["spmm.bcsr"], [kind], (2, 2), {"square_blocks": True}, profile=READS, arithmetic=plain)
    score.claim(backend, product, ["spmv.bcsr"], [kind], (2, 2), {"square_blocks": True}, profile=READS, arithmetic=plain if gpu else folds)
for kind in (*score.PRODUCTS, "f16_f16_f16_f16", "bf16_bf16_bf16_bf16"):
    plain = "any,flush" if gpu and kind[:4] in ("f32_", "bf16") else "any"
    score.claim(backend, product, ["spmm.coo"], [kind], only={"duplicates": False}, profile=reads, arithmetic=f"{plain},fold-alpha")
    score.claim(backend, product, ["spmv.coo"], [kind], only={"duplicates": False, "alpha": [1], "beta": [0]}, arithmetic=plain)
    score.claim(backend, spgemm, ["spgemm.csr", "spgemm.csc"], [kind])
score.claim(backend, sddmm, ["sddmm.csr"], score.PRODUCTS, only={"modes": ["pattern", "add-s"]}, profile=READS)
score.claim(backend, transpose, ["transpose.csr", "transpose.csc"], score.VALUES)
score.claim(backend, convert, ["convert.csr.coo", "convert.csr.csc", "convert.csc.csr"], score.VALUES)
score.claim(backend, convert, ["convert.coo.csr", "convert.coo.csc"], score.VALUES, profile={"duplicates-sum-any-order": "documents no order"})
backend.serve()
