"""PyTorch as a backend: CSR, CSC, COO and BSR tensors on "cpu" or "cuda", its argument: two libraries. `addmm` and its like have alpha and beta.

Builds differ in what they take (MKL, CUDA, element types): claimed is what answers for a small matrix. Its blocks are whole ones, so that an
operand whose edge cuts a block is given with that block filled up. On CUDA cuSPARSE does most of it; PyTorch's default is no TF32."""

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
    return score.sparse(name, *map(array, places), array(t.values()), (rows, cols), t.values().shape[1:])


def product(task):
    spmm = task.op == "spmm"
    a, b, out = load(task.a), tensor(task.b if spmm else task.x), task.c if spmm else task.y
    a, b = a.t() if task.transpose_a else a, b.t() if task.transpose_b else b
    call, b, c = torch.addmm if spmm else torch.addmv, grown(b, a.shape[1]), grown(tensor(out), a.shape[0])
    out[...] = array(call(c, a, b, alpha=task.alpha, beta=task.beta) if spmm or task.a.format != "coo" else a @ b)[: len(out)]


def sddmm(task):
    s, x, y = load(task.s), tensor(task.x), tensor(task.y)
    task.out[...] = array(torch.sparse.sampled_addmm(s, x, y.t(), alpha=task.alpha, beta=task.beta if task.mode == "add-s" else 0.0).values())


spgemm = lambda task: store(load(task.a) @ load(task.b), task.a.format, task.a.rows, task.b.cols)
transpose = lambda task: store(getattr(load(task.a).t(), f"to_sparse_{task.a.format}")(), task.a.format, task.a.cols, task.a.rows)
to_coo = lambda task: store(load(task.a).to_sparse(), "coo", task.a.rows, task.a.cols)
convert = lambda task: store(getattr(load(task.a), f"to_sparse_{task.to}")(), task.to, task.a.rows, task.a.cols)


def claim(function, *contracts, kinds=("f64", "f32", "f16_f16_f32_f16", "bf16_bf16_f32_bf16"), flush=False, blocks=(1, 1), only=None, profile=None):
    for contract, kind in ((c, k) for c in contracts for k in kinds):
        turned = {"transpose_a": only["transpose_a"]} if only and "transpose_a" in only else {}
        if score.answers(function, contract, kind.split("_")[0], blocks, **turned):
            rounds = "any,flush" if flush and gpu and kind == "f32" else "any"
            backend.contract(f"{contract}.{kind}*", arithmetic=rounds, only=only, profile=profile)(function)


for turned in (False, True):
    claim(product, "spmm.csr", "spmm.csc", "spmv.csr", "spmv.csc", flush=True, only={"transpose_a": turned})
    claim(product, "spmm.bcsr", "spmv.bcsr", blocks=(2, 2), only={"transpose_a": turned, "square_blocks": True})
    claim(product, "spmm.coo", flush=True, only={"transpose_a": turned, "duplicates": False})
    claim(product, "spmv.coo", flush=True, only={"transpose_a": turned, "duplicates": False, "alpha": [1], "beta": [0]})
claim(spgemm, "spgemm.csr", "spgemm.csc")
claim(sddmm, "sddmm.csr", only={"modes": ["pattern", "add-s"]})
plain = "f64", "f32", "f16", "bf16"
claim(transpose, "transpose.csr", "transpose.csc", kinds=plain)
claim(to_coo, "convert.csr.coo", kinds=plain)
claim(convert, "convert.csr.csc", "convert.csc.csr", kinds=plain)
claim(convert, "convert.coo.csr", "convert.coo.csc", kinds=plain, profile={"duplicates-sum-any-order": "coalesce documents no order of its sums"})
backend.serve()
