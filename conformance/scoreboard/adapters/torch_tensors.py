"""Tensors of PyTorch from what the suite hands over, and back, for torch_backend.py: on the device that is its argument."""

import sys

import numpy as np
import score
import torch

DEVICE = sys.argv[1]
# NumPy has the bits of bf16.
tensor = lambda n: (torch.from_numpy(n.view(np.int16)).view(torch.bfloat16) if n.dtype == np.uint16 else torch.from_numpy(n)).to(DEVICE)
array = lambda t: t.view(torch.int16).cpu().numpy().view(np.uint16) if t.dtype == torch.bfloat16 else t.cpu().numpy()


def grown(t, rows):
    """The tensor with rows of zeros below: the filled edge of its block format."""
    return t if len(t) == rows else torch.cat([t, t.new_zeros(rows - len(t), *t.shape[1:])])


def load(a):
    (first, second), shape = (tensor(getattr(a, name).astype(np.int64)) for name in score.NAMES[a.format]), (a.rows, a.cols)
    if a.format == "coo":
        return torch.sparse_coo_tensor(torch.stack([first, second]), tensor(a.values), shape)
    if a.format == "bcsr":
        blocks = a.block_rows, a.block_cols
        return torch.sparse_bsr_tensor(first, second, tensor(a.values).reshape(-1, *blocks), score.whole(shape, blocks))
    return getattr(torch, f"sparse_{a.format}_tensor")(first, second, tensor(a.values), shape)


def store(t, name, rows, cols):
    t = t.coalesce() if name == "coo" else t
    places = t.indices() if name == "coo" else (t.ccol_indices(), t.row_indices()) if name == "csc" else (t.crow_indices(), t.col_indices())
    return score.sparse(name, *map(array, places), array(t.values()), (rows, cols))
