"""PyTorch: which factor is multiplied by alpha first? Where that is A, alpha * a is rounded: to a multiple of the smallest number.

    python torch_alpha.py [cpu|cuda]
"""

import sys
import warnings

import torch

warnings.simplefilter("ignore")
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
print("PyTorch", torch.__version__, device)
FORMS = {"COO": torch.Tensor.to_sparse, "CSR": torch.Tensor.to_sparse_csr, "CSC": torch.Tensor.to_sparse_csc, "BSR": lambda m: m.to_sparse_bsr((2, 2))}
tiny, big, alpha = 5 * 5e-324, 2.0**1000, 0.3
first, plain = (alpha * tiny) * big, alpha * (tiny * big)
for name, make in FORMS.items():
    for columns in (0, 1, 3):
        results = []
        for of_a, of_b in ((tiny, big), (big, tiny)):
            a, b = make(torch.diag(torch.full((4,), of_a, dtype=torch.float64)).to(device)), torch.full((4, max(columns, 1)), of_b, dtype=torch.float64, device=device)
            c = torch.zeros(4, columns or 1, dtype=torch.float64, device=device)
            try:
                results.append((torch.addmm(c, a, b, alpha=alpha) if columns else torch.addmv(c[:, 0], a, b[:, 0], alpha=alpha)).flatten()[0].item())
            except RuntimeError as error:
                results.append(str(error)[:50])
        said = {first: "first", plain: "not first"}
        print(f"{name}, {f'addmm with {columns} columns' if columns else 'addmv'}: alpha into A {said.get(results[0], results[0])}, "
              f"into B {said.get(results[1], results[1])}")  # fmt: skip
