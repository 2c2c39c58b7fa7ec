"""`check` on tensors of PyTorch, on the CPU and on a GPU: what it looks for in NumPy arrays it looks for there too. Skipped without PyTorch."""

import pytest
import sparse_conformance as sc

torch = pytest.importorskip("torch")
CASE = "spmm.csr.f32_f32_f32_f32/dense:rows=17,cols=4,seed=1/values=ones,1/n=3"


@pytest.fixture(params=["cpu", "cuda"])
def device(request, monkeypatch):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    monkeypatch.setenv("SPARSE_CASE", CASE)
    return request.param


def product(a, b):
    rows = torch.repeat_interleave(torch.arange(a.rows, device=b.device), torch.diff(a.row_ptr))
    zeros = torch.zeros((a.rows, b.shape[1]), dtype=b.dtype, device=b.device)
    return zeros.index_add_(0, rows, a.values[:, None] * b[a.col_idx])


def found(function, device):
    with pytest.raises(sc.Findings) as raised:
        sc.check(function, "spmm.csr.f32", arrays="torch", device=device)
    return str(raised.value)


def test_tensors_lie_where_they_are_asked_for(device):
    def right(a, b):
        assert {a.row_ptr.device.type, a.values.device.type, b.device.type} == {device}
        assert a.row_ptr.dtype == torch.int32
        return product(a, b)

    assert "exact" in sc.check(right, "spmm.csr.f32", arrays="torch", device=device).text


def test_memory_that_is_not_written_holds_nan(device):
    def leaves_a_row(a, b):
        result = torch.empty((a.rows, b.shape[1]), device=device)
        result[:-1] = product(a, b)[:-1]
        return result

    def leaves_a_row_of_the_given(a, b, c):
        c[:-1] = product(a, b)[:-1]

    assert "poison" in found(leaves_a_row_of_the_given, device)
    if device == "cuda":  # the allocator of the CPU may hand out other memory
        assert "found NaN" in found(leaves_a_row, device)


def test_what_is_written_beside_the_result_is_found(device):
    def one_too_many(a, b, c):
        c[...] = product(a, b)
        torch.as_strided(c, (c.numel() + 2,), (1,))[-1] = 5

    assert "it wrote outside its result: element 52 of 51" in found(one_too_many, device)


def test_inputs_must_not_change(device):
    def scales(a, b):
        result = product(a, b)
        a.values.mul_(2)
        return result

    assert "it changed the input a.values" in found(scales, device)


def test_a_result_of_another_type_is_a_finding(device):
    assert "the result is torch.float64" in found(lambda a, b: product(a, b).double(), device)


@pytest.mark.parametrize("type", ["f16_f16_f32_f16", "bf16_bf16_f32_bf16"])
def test_halves_are_tensors_of_their_type(device, monkeypatch, type):
    monkeypatch.setenv("SPARSE_CASE", CASE.replace("f32_f32_f32_f32", type))

    def right(a, b):
        assert a.values.dtype == b.dtype == {"f": torch.float16, "b": torch.bfloat16}[type[0]]
        whole = sc.Sparse("csr", rows=a.rows, cols=a.cols, row_ptr=a.row_ptr, col_idx=a.col_idx, values=a.values.float())
        return product(whole, b.float()).to(b.dtype)

    assert "exact" in sc.check(right, f"spmm.csr.{type}", arrays="torch", device=device).text


def test_arrays_of_a_papers_format_are_tensors_too(device, monkeypatch):
    """Bitmaps are 64 bits wide: comparing them after the call raised a KeyError, of which the function was accused."""
    monkeypatch.setenv("SPARSE_CASE", CASE.replace("csr", "rs_tile"))

    def nothing(a, b):
        assert a.bitmap.dtype == torch.uint64 and a.bitmap.device.type == device
        return torch.zeros((a.rows, b.shape[1]), device=device)

    with pytest.raises(sc.Findings, match="expected"):
        sc.check(nothing, "spmm.rs_tile.f32", arrays="torch", device=device)
