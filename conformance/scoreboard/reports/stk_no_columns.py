"""STK: a matrix without columns of blocks can't be made, since its columns are counted by `torch.histc`, which takes no zero of bins.

    python stk_no_columns.py    on a machine with a GPU
"""

import importlib.metadata

import stk
import torch

SIDE = 128
print("STK", importlib.metadata.version("stanford-stk"), "PyTorch", torch.__version__)
for cols in (2, 1, 0):
    blocks = torch.ones(cols, SIDE, SIDE, dtype=torch.float16, device="cuda")
    lines = torch.zeros(cols, dtype=torch.int16, device="cuda")
    columns = torch.arange(cols, dtype=torch.int16, device="cuda")
    offsets = torch.tensor([0, cols], dtype=torch.int32, device="cuda")
    try:
        matrix = stk.Matrix((SIDE, SIDE * cols), blocks, lines, columns, offsets)
        b = torch.ones(SIDE * cols, SIDE, dtype=torch.float16, device="cuda")
        print(f"1 x {cols} blocks of ones: every element of the product with ones is", stk.ops.dsd(matrix, b).unique().tolist())
    except RuntimeError as error:
        print(f"1 x {cols} blocks: RuntimeError: {str(error).splitlines()[0]}")
