"""STK (the sparse toolkit of MegaBlocks, in Triton) as a backend: SpMM of BCSR in f16 with blocks of 128 x 128, the only ones that it has.

`stk.ops.dsd(a, b)`: alpha is 1 and beta 0. Its extents are multiples of 128: operands are filled up with zeros.
"""

import importlib.metadata

import numpy as np
import score
import sparse_conformance as sc
import stk
import torch

SIDE = 128
where = torch.cuda.get_device_name()
version = importlib.metadata.version("stanford-stk")
backend = sc.Backend("stk", version, f"stk.ops.dsd, Triton, {where}", "none")
whole = lambda extent: -(-extent // SIDE) * SIDE


def product(task):
    a, (rows, cols) = task.a, task.c.shape
    offsets = torch.from_numpy(a.block_row_ptr.astype(np.int32)).cuda()
    columns = torch.from_numpy(a.block_col.astype(np.int16)).cuda()
    lines = torch.from_numpy(np.repeat(np.arange(len(a.block_row_ptr) - 1), np.diff(a.block_row_ptr)).astype(np.int16)).cuda()
    values = torch.from_numpy(a.values).reshape(-1, SIDE, SIDE).cuda()
    matrix = stk.Matrix((whole(a.rows), whole(a.cols)), values, lines, columns, offsets)
    matrix = matrix.t() if task.transpose_a else matrix
    b = np.zeros((matrix.shape[1], whole(cols)), np.float16)
    b[: task.b.shape[0], :cols] = task.b
    task.c[...] = stk.ops.dsd(matrix, torch.from_numpy(b).cuda())[:rows, :cols].cpu().numpy()


only = {"alpha": [1], "beta": [0], "transpose_b": False, "params": {"block_rows": [SIDE], "block_cols": [SIDE]}}
score.claim(backend, product, ["spmm.bcsr"], ["f16_f16_f32_f16"], (SIDE, SIDE), only)
backend.serve()
