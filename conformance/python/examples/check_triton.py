"""A Triton kernel judged by `check`: on a GPU, or, in some minutes, without one by Triton's interpreter
(`TRITON_INTERPRET=1 python check_triton.py`).
"""

import os

import sparse_conformance as sc
import torch
import triton
import triton.language as tl


@triton.jit
def spmv_kernel(row_ptr, col_idx, values, x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start, end = tl.load(row_ptr + row), tl.load(row_ptr + row + 1)
    place = start + tl.arange(0, BLOCK)
    inside = place < end
    column = tl.load(col_idx + place, mask=inside, other=0)
    products = tl.load(values + place, mask=inside, other=0.0) * tl.load(x + column, mask=inside, other=0.0)
    tl.store(y + row, tl.sum(products))


def spmv(a, x, y):
    if a.rows:
        longest = int(torch.diff(a.row_ptr).max())
        spmv_kernel[(a.rows,)](a.row_ptr, a.col_idx, a.values, x, y, BLOCK=triton.next_power_of_2(max(longest, 1)))


device = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"
print(sc.check(spmv, "spmv.csr.f32", arrays="torch", device=device, timeout=60).summary)
