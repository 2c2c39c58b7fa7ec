"""PyTorch: what addmm, addmv and sampled_addmm do with an operand whose factor is 0. Their documentation says that with beta = 0 the content of
the input is ignored, and nan and inf in it are not propagated; of alpha it says nothing.

    python torch_addmm.py [cpu|cuda]
"""

import sys
import warnings

import torch

warnings.simplefilter("ignore")
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
print("PyTorch", torch.__version__, device)
nan = float("nan")
dense = torch.eye(2, device=device)
none = torch.zeros(2, 2, device=device)
blocks = {"BSR": lambda m: m.to_sparse_bsr((2, 2))}
for name, make in {"COO": lambda m: m.to_sparse(), "CSR": lambda m: m.to_sparse_csr(), "CSC": lambda m: m.to_sparse_csc(), **blocks}.items():
    for what, matrix in (("the unit matrix", dense), ("no entries", none)):
        for call, shape in ((torch.addmm, (2, 1)), (torch.addmv, (2,))):
            try:
                one, bad = torch.ones(shape, device=device), torch.full(shape, nan, device=device)
                a = make(matrix)
                print(f"{name}, {what}, {call.__name__}: beta = 0, NaN in the input: {call(bad, a, one, beta=0, alpha=1).flatten().tolist()}; "
                      f"alpha = 0, NaN in the dense operand: {call(one, a, bad, beta=1, alpha=0).flatten().tolist()}")  # fmt: skip
            except RuntimeError as error:
                print(f"{name}, {what}, {call.__name__}: {str(error).splitlines()[0][:90]}")
s = torch.full((1, 1), nan, device=device).to_sparse_csr()
one, bad = torch.ones(1, 1, device=device), torch.full((1, 1), nan, device=device)
print("sampled_addmm, beta = 0, NaN in the sparse input:", torch.sparse.sampled_addmm(s, one, one, beta=0).values().tolist())
print("sampled_addmm, alpha = 0, NaN in a dense operand:", torch.sparse.sampled_addmm(one.to_sparse_csr(), bad, one, alpha=0).values().tolist())
