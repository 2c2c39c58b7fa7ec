"""PyTorch as a backend: CSR, CSC, COO and BSR tensors on "cpu" or "cuda", its argument: two libraries. `addmm` and its like have alpha and beta.

Builds differ in what they take (MKL, CUDA, element types): claimed is what answers for a small matrix. Its blocks are whole ones, so that an
operand whose edge cuts a block is given with that block filled up. On CUDA most calls end in cuSPARSE. TF32 is off by default."""

import warnings

import score
import sparse_conformance as sc
import torch
from torch_tensors import DEVICE, array, grown, load, store, tensor

warnings.simplefilter("ignore")  # that compressed tensors are in beta
torch.set_num_threads(1)
gpu = DEVICE == "cuda"
where = torch.cuda.get_device_name() if gpu else f"CPU, one thread, {'MKL' if torch.backends.mkl.is_available() else 'no MKL'}"
backend = sc.Backend(f"torch-{DEVICE}", torch.__version__, f"torch.sparse, {where}", "none" if gpu else "runs")


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
