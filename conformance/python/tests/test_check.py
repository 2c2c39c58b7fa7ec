"""`check` on functions that are right, and wrong in every way that it looks for: run by ci/wheel.sh in an environment that holds the wheel."""

import sys
import threading
import time

import numpy as np
import pytest
import sparse_conformance as sc

CASE = "spmm.csr.f32_f32_f32_f32/dense:rows=17,cols=4,seed=1/values=ones,1/n=3"


def product(a, b):
    """Row by row, in the order of the entries."""
    columns = (a.rows, *b.shape[1:])
    result = np.zeros(columns, b.dtype)
    with np.errstate(all="ignore"):
        for i in range(a.rows):
            for at in range(a.row_ptr[i], a.row_ptr[i + 1]):
                result[i] += a.values[at] * b[a.col_idx[at]]
    return result


@pytest.fixture
def one_case(monkeypatch):
    monkeypatch.setenv("SPARSE_CASE", CASE)


def found(function, contract="spmm.csr.f32", **options):
    with pytest.raises(sc.Findings) as raised:
        sc.check(function, contract, **options)
    return str(raised.value)


def test_a_right_function_passes_and_says_how_much_was_judged(sparse_check):
    passed = sparse_check(product, "spmm.csr.f32", arithmetic="muladd")
    assert passed.summary.startswith("clean: ") and "[" not in passed.contract, passed.text


def test_one_call_comes_at_a_time():
    """On a machine of 16 cores Triton's interpreter, which keeps where it is in a variable of its module, was accused of crashing."""
    inside = []

    def alone(a, x):
        inside.append(1)
        assert len(inside) == 1
        time.sleep(0.001)
        result = product(a, x)
        inside.pop()
        return result

    sc.check(alone, "spmv.csr.f32")


def test_a_wrong_function_is_told_where_and_how_to_see_it_again():
    def forgets_the_last_row(a, b):
        result = product(a, b)
        if a.rows > 3:
            result[-1] = 0
        return result

    text = found(forgets_the_last_row)
    for part in ("spmm.csr.f32_*", "findings", "SPARSE_CASE='spmm.csr.f32", "expected", "case.txt", "report.html"):
        assert part in text, text


def test_a_function_may_write_its_result(one_case):
    def writes(a, b, c):
        c[...] = product(a, b)

    assert "exact" in sc.check(writes, "spmm.csr.f32").text


def test_a_function_that_returns_instead_of_writing_is_told_so(one_case):
    def returns(a, b, c):
        return product(a, b)

    assert "returned something and wrote nothing" in found(returns)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"arithmetic": "fmaa"}, "unknown unit 'fmaa'"),
        ({"profile": {"nope": "x"}}, 'unknown choice "nope"'),
        ({"tier": "quik"}, "invalid value 'quik' for tier"),
        ({"seed": "abc"}, "invalid value 'abc' for seed"),
        ({"timeout": -1}, "invalid value '-1' for timeout"),
    ],
)
def test_wrong_arguments_are_told_as_what_they_are_called_here(wrong, said):
    """Found by a new user: they came with the path of a socket, twice, or as options of a command that nobody had called."""
    with pytest.raises(RuntimeError) as error:
        sc.check(product, "spmm.csr.f32", **wrong)
    text = str(error.value)
    assert said in text and "--" not in text and "_relay" not in text, text


def test_a_function_may_write_its_result_and_return_it():
    """Found in review: a result of zeros, where the output held zeros before, read as one that was not written."""

    def writes_and_returns(a, b, c):
        c[...] = product(a, b)
        return c

    assert "clean" in sc.check(writes_and_returns, "spmm.csr.f32").text


def test_what_is_written_beside_the_result_is_found(one_case):
    def one_too_many(a, b, c):
        c[...] = product(a, b)
        np.lib.stride_tricks.as_strided(c, (c.size + 2,), (4,))[-1] = 5

    text = found(one_too_many)
    assert "canary" in text and "it wrote outside its result: element 52 of 51" in text


def test_memory_that_is_not_written_holds_nan(one_case):
    def leaves_a_row(a, b):
        result = np.empty((a.rows, b.shape[1]), np.float32)
        result[:-1] = product(a, b)[:-1]
        return result

    assert "found NaN (0xffffffff)" in found(leaves_a_row)


def test_inputs_must_not_change(one_case):
    def scales(a, b):
        result = product(a, b)
        b *= 2
        return result

    text = found(scales)
    assert "input-modified" in text and "it changed the input b" in text


@pytest.mark.parametrize("error", [KeyError("k"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_function_raises_is_a_finding_and_not_the_end(one_case, error):
    def raises(a, b):
        raise error

    assert type(error).__name__ in found(raises)


def test_a_function_that_hangs_is_timed_out(one_case):
    def hangs(a, b):
        time.sleep(4)
        return product(a, b)

    assert "timed out" in found(hangs, timeout=0.2)


def test_a_function_that_never_returns_is_not_called_for_ever():
    """A function that hung on everything cost its time limit in each of some hundred cases, and nothing was printed meanwhile."""
    calls = []

    def hangs(a, x):
        calls.append(a.rows)
        threading.Event().wait()

    with pytest.raises(sc.Findings, match="returned from none of its first 3 calls"):
        sc.check(hangs, "spmv.csr.f32_f32_f32_f32", timeout=0.2)
    assert len(calls) == 4


def test_how_far_a_check_is_is_printed_at_once(capfd):
    said = "1,024/4,096 case lines, 0 findings, 3 without an answer in time"
    program = f"import sys; print({said!r}, file=sys.stderr, flush=True); print('clean: all'); sys.exit(1)"
    assert sc._check._Judge().run([sys.executable, "-c", program]) == (1, f"{said}\nclean: all\n")
    assert capfd.readouterr().err == f"{said}\n"


def test_a_result_of_another_type_or_shape_is_a_finding(one_case):
    assert "the result is float64, the contract says f32" in found(lambda a, b: product(a, b).astype(np.float64))
    assert "the result has the shape (3, 17), must have (17, 3)" in found(lambda a, b: product(a, b).T)
    text = found(lambda a, b: None)
    assert "the function returned None" in text and "crashed" not in text, "nothing was raised"


def test_every_plain_function_is_asked_legal_requests_only():
    """A right SpGEMM without checks was accused of having accepted operands of different inner extents."""
    assert all(asked["faults"] == [] for asked in sc._check._PLAIN.values())


def test_sparse_results_pass(monkeypatch):
    monkeypatch.setenv("SPARSE_CASE", "transpose.csr.f64/dense:rows=5,cols=4,seed=1/values=small-int,1")

    def transpose(a):
        order = np.argsort(a.col_idx, kind="stable")
        rows = np.repeat(np.arange(a.rows), np.diff(a.row_ptr.astype(int)))
        counts = np.bincount(a.col_idx, minlength=a.cols)
        pointer = np.concatenate([[0], np.cumsum(counts)])
        return sc.Sparse("csr", rows=a.cols, cols=a.rows, row_ptr=pointer, col_idx=rows[order], values=a.values[order])

    assert "exact" in sc.check(transpose, "transpose.csr.f64").text


def test_a_whole_task_may_be_answered(monkeypatch):
    monkeypatch.setenv("SPARSE_CASE", CASE + "/beta=1/tb")

    def whole(task):
        task.update(product(task.a, task.b.T if task.transpose_b else task.b))

    assert "exact" in sc.check(whole, "spmm.csr.f32", only={"transpose_a": False}).text


@sc.judged("spmv.csr.f64")
def test_a_decorated_function_is_a_test(a, x):
    return product(a, x)


def test_what_cannot_be_judged_is_said():
    with pytest.raises(ValueError, match="starts with one of spmm"):
        sc.check(product, "gemm.csr.f32")
    with pytest.raises(TypeError, match=r"takes \(a, b\) or \(a, b, c\)"):
        sc.check(lambda a: a, "spmm.csr.f32")
    with pytest.raises(ValueError, match="'torch'"):
        sc.check(product, "spmm.csr.f32", arrays="tensorflow")
    with pytest.raises(RuntimeError, match="f31"):
        sc.check(product, "spmm.csr.f31")
    assert sc.__version__[0].isdigit()
