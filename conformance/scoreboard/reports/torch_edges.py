"""PyTorch's sparse tensors at the edges: what is uninitialised, unsorted, refused, or rounded on the way.

    python torch_edges.py [cpu|cuda]
"""

import math
import sys
import warnings

import torch

warnings.simplefilter("ignore")
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
print("PyTorch", torch.__version__, device)
FORMS = {"COO": torch.Tensor.to_sparse, "CSR": torch.Tensor.to_sparse_csr, "CSC": torch.Tensor.to_sparse_csc, "BSR": lambda m: m.to_sparse_bsr((2, 2))}


def told(call):
    try:
        return call()
    except RuntimeError as error:
        return str(error).splitlines()[0][:90]


places = lambda *list: torch.tensor(list, dtype=torch.int64, device=device)
empty = torch.sparse_csr_tensor(places(0), places(), torch.zeros(0, dtype=torch.float64, device=device), (0, 0))
# What a result that nobody writes would show.
stale = [torch.full((1,), 77, dtype=torch.int64, device=device) for _ in range(64)]
del stale
print("0 x 0 times 0 x 0: crow_indices", told(lambda: (empty @ empty).crow_indices().tolist()), "(must be [0])")

torch.manual_seed(0)
a = (torch.rand(8, 8) > 0.5).double().to(device).to_sparse_csr()
c = told(lambda: a @ a)
valid = lambda: isinstance(c, str) or torch._validate_sparse_csr_tensor_args(c.crow_indices(), c.col_indices(), c.values(), c.shape) or "valid"
first = c if isinstance(c, str) else c.col_indices()[: c.crow_indices()[1]].tolist()
print("CSR @ CSR: columns of the first row", first, "- PyTorch's own check:", told(valid))

one = torch.ones(1, 1, device=device)
print("BSR with blocks of 1 x 1:", told(lambda: torch.addmm(one, one.to_sparse_bsr((1, 1)), one).tolist()), "(must be [[2.0]])")

minus = torch.sparse_coo_tensor(torch.stack([places(0, 1)] * 2), torch.tensor([-0.0, 1.0], device=device), (2, 2))
print("coalesce of -0 and 1, no duplicates:", minus.coalesce().values().tolist())

for kind, big in ((torch.float16, 2048.0), (torch.bfloat16, 256.0)):
    row = torch.ones(2, 10, dtype=kind, device=device)
    row[:, 0] = big
    ones = torch.ones(10, 2, dtype=kind, device=device)
    for name, make in FORMS.items():
        print(kind, name, f"{big:.0f} and nine ones:", told(lambda: torch.addmm(torch.zeros_like(ones[:2]), make(row), ones)[0].tolist()), f"(in f32: {big + 8:.0f})")
    print(kind, "CSR @ CSR:", told(lambda: (row.to_sparse_csr() @ ones.to_sparse_csr()).values()[:1].tolist()))
    two = torch.eye(2, device=device).to(kind)
    print(kind, "COO, beta = 1e39:", told(lambda: torch.addmm(two, two.to_sparse(), two, beta=1e39).tolist()))

# One entry a row, so that each element is one product: which roundings of alpha * a * b + beta * c give it?
for kind in (torch.float16, torch.bfloat16):
    for name, make in FORMS.items():
        for columns in (0, 3):
            a, b, c = (1 + torch.rand(256, wide or 1).to(kind) for wide in (1, columns, columns))
            alpha, beta = 1.0, 1 / 3
            call = lambda: (
                torch.addmm(c.to(device), make(torch.diag(a[:, 0]).to(device)), b.to(device), alpha=alpha, beta=beta)
                if columns
                else torch.addmv(c[:, 0].to(device), make(torch.diag(a[:, 0]).to(device)), b[:, 0].to(device), alpha=alpha, beta=beta)[:, None]
            )
            found = told(call)
            if isinstance(found, str):
                print(kind, name, columns, found)
                continue
            half = lambda x: x.to(kind).double()
            third = torch.tensor(beta, dtype=torch.float32).double()
            product, added = a.double() * b.double(), third * c.double()
            found = found.cpu().double()
            once, apart, both = half(product + added), half(product + half(added)), half(half(product) + half(added))
            in_half = half(product + half(third) * c.double())
            share = lambda what: f"{(found == what).double().mean():.3f}"
            print(kind, name, f"{columns} columns: rounded once {share(once)}; beta * c rounded {share(apart)}, the product, too {share(both)}; "
                  f"either {((found == apart) | (found == both)).double().mean():.3f}; beta in half {share(in_half)}")  # fmt: skip
c = 1 + torch.rand(64).to(torch.float16)
for name, make in FORMS.items():
    none = make(torch.zeros(64, 4, dtype=torch.float16, device=device))
    call = lambda: torch.addmv(c.to(device), none, torch.ones(4, dtype=torch.float16, device=device), beta=math.pi).cpu()
    found = told(call)
    halves = (torch.tensor(math.pi).half().double() * c.double()).half()
    print("f16", name, "without entries, addmv, beta = pi:", found if isinstance(found, str) else f"equal to beta rounded to f16: {(found == halves).all()}")
