"""Intel oneMKL's inspector-executor sparse BLAS as a backend (mkl_binding.py calls it): CSR, CSC, COO and BSR, f32 and f64.

Where alpha goes was found with reports/mkl_alpha.py, and is declared kernel by kernel. Its blocks are whole and square, so that a BCSR operand
whose edge cuts a block is given with that block filled up, and B and C with lines of zeros."""

import score
import sparse_conformance as sc
from mkl_binding import Handle, version

backend = sc.Backend("mkl", version(), "mkl_sparse_?_mm, _mv, _spmm, one thread; declared for each kernel: whether alpha is multiplied into A, into B or last", "runs")


def product(task):
    a = Handle(task.a)
    if task.op == "spmv":
        return a.multiply(task.transpose_a, task.alpha, task.x, task.beta, task.y)
    b, c = (task.header["dense"][name] for name in "bc")
    layout = c["layout"] == "row", b["ld"], c["ld"]
    a.multiply(task.transpose_a, task.alpha, task.b.T if task.transpose_b else task.b, task.beta, task.c, layout)


def spgemm(task):
    return score.sparse("csr", *Handle(task.a).times(Handle(task.b)), (task.a.rows, task.b.cols))


A, B, READS = "any,fold-alpha", "any,fold-alpha-b", {"alpha0-reads-ab": "alpha = 0 still multiplies A and B"}


def takes(contract, order, reads=True, **only):
    backend.contract(f"{contract}.f64*", f"{contract}.f32*", arithmetic=order, only=only, profile=READS if reads else {})(product)


# From the last to the first: of several that fit, the one registered last counts.
for turned in (False, True):
    takes("spmv.csr", B if turned else "any", transpose_a=turned)
    takes("spmv.csc", "any", transpose_a=turned)
    takes("spmv.coo", A, reads=False, transpose_a=turned, duplicates=False)
    for side in (1, 2, 3, 4, 8, 16):
        square = {"transpose_a": turned, "params": {"block_rows": [side], "block_cols": [side]}}
        takes("spmv.bcsr", B if (side == 1 if turned else side > 3) else "any", **square)
        # One layout for B and C: B^T by rows is B by columns.
        for b_turned, b, c in ((t, b, c) for t in (False, True) for b in ("row", "col") for c in ("row", "col") if (b == c) != t):
            dense = {"transpose_b": b_turned, "layout_b": b, "layout_c": c}
            if side == 1:
                takes("spmm.csr", B if turned else "any", transpose_a=turned, **dense)
                takes("spmm.bcsr", B if turned else "any", **square, **dense)
            elif c == "row" or not turned:  # the transpose by columns is SPARSE_STATUS_NOT_SUPPORTED
                plain = "any" if side > 4 else A
                takes("spmm.bcsr", A if turned else plain if c == "row" else A if side < 4 else B, **square, **dense)
                if turned:
                    takes("spmm.bcsr", B, max_n=1, **square, **dense)
            if side == 1 and c == "row":  # CSC and COO by columns are SPARSE_STATUS_NOT_SUPPORTED
                takes("spmm.csc", A if turned else B, transpose_a=turned, **dense)
                takes("spmm.coo", A, transpose_a=turned, duplicates=False, **dense)
backend.contract("spgemm.csr.f64*", "spgemm.csr.f32*")(spgemm)
backend.serve()
