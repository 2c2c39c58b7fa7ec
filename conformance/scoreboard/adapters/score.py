"""What adapters in Python share: the names of arrays, the edge of block formats, and claims of what a library answers at all."""

from types import SimpleNamespace

import numpy as np
import sparse_conformance as sc

NAMES = {"coo": ("row_idx", "col_idx"), "csr": ("row_ptr", "col_idx"), "csc": ("col_ptr", "row_idx"), "bcsr": ("block_row_ptr", "block_col")}
VALUES, PRODUCTS = ("f64", "f32"), ("f64_f64_f64_f64", "f32_f32_f32_f32")


def whole(shape, blocks):
    """The shape of a matrix whose blocks are all whole."""
    return tuple(-(-extent // side) * side for extent, side in zip(shape, blocks))


def grown(array, rows):
    """The array with rows of zeros below, where a library's blocks ask for more than it has."""
    return array if len(array) == rows else np.concatenate([array, np.zeros((rows - len(array), *array.shape[1:]), array.dtype)])


def sparse(name, first, second, values, shape, blocks=None):
    """A matrix in one of these formats; `blocks` of BCSR alone."""
    sides = dict(zip(("block_rows", "block_cols"), blocks)) if blocks else {}
    return sc.Sparse(name, rows=shape[0], cols=shape[1], values=values, **dict(zip(NAMES[name], (first, second))), **sides)


def answers(function, contract, blocks=(1, 1), turned=False):
    """Whether a function of an adapter answers for two blocks of ones on the diagonal."""
    op, name, *to, kind = contract.split(".")
    ones = lambda *shape: np.full(shape, 0x3F80, np.uint16) if kind[0] == "b" else np.ones(shape, f"f{int(kind[1:3]) // 8}")
    shape = 2 * blocks[0], 2 * blocks[1]
    a = sparse(name, np.arange(2 if name == "coo" else 3), np.arange(2), ones(shape[0] * blocks[1]), shape, blocks if name == "bcsr" else None)
    m, k = shape[::-1] if turned else shape
    task = {"op": op, "a": a, "s": a, "b": a if op == "spgemm" else ones(k, 2), "c": ones(m, 2), "out": ones(2)}
    task |= {"mode": "pattern", "to": to[0] if to else None}
    task |= {"x": ones(m, 2), "y": ones(k, 2)} if op == "sddmm" else {"x": ones(k), "y": ones(m)}
    try:
        function(SimpleNamespace(**task, alpha=1.0, beta=0.0, transpose_a=turned, transpose_b=False, params={}))
    except Exception:
        return False
    return True


def claim(backend, function, contracts, kinds=PRODUCTS, blocks=(1, 1), only=None, **rule):
    """Registers a function for those contracts that the library answers, untransposed and transposed apart where `only` says nothing."""
    for contract in (f"{contract}.{kind}" for contract in contracts for kind in kinds):
        for turned in (False, True) if contract.startswith("spm") else (None,):
            if answers(function, contract, blocks, bool(turned)):
                turn = {} if turned is None else {"transpose_a": turned}
                backend.contract(contract, only={**(only or {}), **turn}, **rule)(function)
