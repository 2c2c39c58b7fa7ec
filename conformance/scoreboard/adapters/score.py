"""What adapters in Python share: names of arrays, and small requests that show whether a library takes a contract at all."""

from types import SimpleNamespace

import numpy as np
import sparse_conformance as sc

NAMES = {"coo": ("row_idx", "col_idx"), "csr": ("row_ptr", "col_idx"), "csc": ("col_ptr", "row_idx"), "bcsr": ("block_row_ptr", "block_col")}


def sparse(name, first, second, values, shape, blocks=None):
    """A matrix in one of these formats; `blocks` of BCSR alone."""
    sides = dict(zip(("block_rows", "block_cols"), blocks)) if blocks else {}
    return sc.Sparse(name, rows=shape[0], cols=shape[1], values=values, **dict(zip(NAMES[name], (first, second))), **sides)


def answers(function, contract, kind, blocks=(1, 1), **asked):
    """Whether a function of an adapter answers for two blocks of ones on the diagonal, with elements of one type."""
    op, name = contract.split(".")[:2]
    ones = lambda *shape: np.full(shape, 0x3F80, np.uint16) if kind == "bf16" else np.ones(shape, f"f{int(kind[1:]) // 8}")
    places = np.arange(2 if name == "coo" else 3), np.arange(2)
    shape = 2 * blocks[0], 2 * blocks[1]
    a = sparse(name, *places, ones(2 * blocks[0] * blocks[1]), shape, blocks if name == "bcsr" else None)
    m, k = shape[::-1] if asked.get("transpose_a") else shape
    small = {"a": a, "s": a, "b": a if op == "spgemm" else ones(k, 2), "c": ones(m, 2), "out": ones(2), "alpha": 1.0, "beta": 0.0, "mode": "pattern"}
    small |= {"x": ones(m, 2), "y": ones(k, 2)} if op == "sddmm" else {"x": ones(k), "y": ones(m)}
    small |= {"to": contract.split(".")[2], "params": {"block_rows": 1, "block_cols": 1}} if op == "convert" else {}
    try:
        function(SimpleNamespace(**{"op": op, "transpose_a": False, "transpose_b": False, **small, **asked}))
    except Exception:
        return False
    return True
