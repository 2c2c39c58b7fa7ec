"""SciPy as a backend: products, sparse products, transposes and conversions of CSR, CSC, COO and BSR in f32 and f64.

`a @ b`: alpha is 1 and beta 0. Its blocks are whole ones, so that a BCSR operand whose edge cuts a block is given with that block filled up."""

import platform

import numpy as np
import scipy
import scipy.sparse as sp
import score
import sparse_conformance as sc

backend = sc.Backend("scipy", scipy.__version__, "scipy.sparse arrays, one thread", "threads")
# One term after the other in ascending order, product and sum rounded apart: its wheels for x86-64 hold no FMA.
CHAIN = "muladd" if platform.machine() in ("x86_64", "AMD64") else "any"
ONLY, types = {"alpha": [1], "beta": [0]}, lambda *heads: [f"{head}.{t}*" for head in heads for t in ("f64", "f32")]


def load(a):
    first, second = (getattr(a, name).astype(np.int32) for name in score.NAMES[a.format])
    if a.format == "bcsr":
        blocks = a.block_rows, a.block_cols
        return sp.bsr_array((a.values.reshape(-1, *blocks), second, first), score.whole((a.rows, a.cols), blocks))
    data = (a.values, (first, second)) if a.format == "coo" else (a.values, second, first)
    return getattr(sp, f"{a.format}_array")(data, (a.rows, a.cols))


def store(m, rows, cols, sort=True):
    if sort and m.format != "coo":
        m.sort_indices()
    places = (m.row, m.col) if m.format == "coo" else (m.indptr, m.indices)
    return score.sparse(m.format.replace("bsr", "bcsr"), *places, m.data, (rows, cols), getattr(m, "blocksize", None))


def product(task):
    a, (b, out) = load(task.a), (task.b, task.c) if task.op == "spmm" else (task.x, task.y)
    a, b = a.T if task.transpose_a else a, b.T if task.transpose_b else b
    # A COO matrix of one row gives a scalar, where every other format gives a vector of one (SciPy 1.17).
    out[...] = np.atleast_1d(a @ score.grown(b, a.shape[1]))[: len(out)]


def convert(task):
    m, blocks = load(task.a), (task.params.get("block_rows"), task.params.get("block_cols"))
    if task.to == "bcsr":
        m.resize(*score.whole(m.shape, blocks))
    return store(m.tobsr(blocks) if task.to == "bcsr" else m.asformat(task.to), task.a.rows, task.a.cols)


spgemm = lambda task: store(load(task.a) @ load(task.b), task.a.rows, task.b.cols)
transpose = lambda task: store(load(task.a).T.asformat(task.a.format), task.a.cols, task.a.rows, sort=False)
backend.contract(*types("spm?.csr", "spm?.csc"), arithmetic=CHAIN, only=ONLY)(product)
backend.contract(*types("spm?.bcsr"), only=ONLY)(product)
# Several entries at one position are several terms here, and not, as the contract has it, one that is rounded first.
backend.contract(*types("spm?.coo"), only={**ONLY, "duplicates": False})(product)
backend.contract(*types("spgemm.csr", "spgemm.csc"), arithmetic=CHAIN, profile={"numeric-pattern": "csr_matmat stores no sum that is exactly zero"})(spgemm)
backend.contract(*types("transpose.coo", "transpose.cs[rc]"))(transpose)
backend.contract(*types("convert.coo.csr", "convert.coo.csc"), profile={"duplicates-sum-any-order": "adds duplicates after an unstable sort of each row"})(convert)
backend.contract(*types("convert.csr.coo", "convert.csr.csc", "convert.csc.csr", "convert.csr.bcsr"))(convert)
backend.exclude(*types("convert.bcsr.csr"), reason="keeps every slot of a block, where the contract wants what is not +0")
backend.serve()
