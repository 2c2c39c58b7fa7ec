"""The first wrong element of each deviating case, explained by the rule that findings.toml names, in exact fractions and apart from the judge.

    python elements.py CONFORMANCE REPORT.json LIBRARY    (pip install numpy conformance/python; REPORT of run.py)

Operands come from the suite (its case line is replayed on this program, which writes them down), the result of the library from its report.
The sum is worked out here: without the rule it must be another number than the library's, with the rule the same.
"""

import json
import math
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import tomllib
from fractions import Fraction

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


def in_tf32(values, times):
    """Rounded to TF32, ties to even. Twice: what is added for that is not cut off before it is added again."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    for _ in range(times):
        bits = bits + np.uint32(0x0FFF) + ((bits >> np.uint32(13)) & np.uint32(1))
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


# Words of an entry -> which terms count, and which operand alpha is multiplied into first; or None, and where the library has NaN instead of
# the right result; or None, and how often it rounds A to TF32.
RULES = {
    "coo_matmat_dense skips stored zeros": (lambda a, b, scaled: a != 0, None),
    "gemv skips zeros of x": (lambda a, b, scaled: b != 0, "b"),
    "multiplies A by alpha first and skips": (lambda a, b, scaled: scaled != 0, "a"),
    "the dense operand is multiplied by alpha first": (lambda a, b, scaled: True, "b"),
    "axpy_prod visits every position of A, absent": (None, lambda call, i, j, right: not np.isfinite(call["b"][:, j]).all()),
    "0 times row 0 of B is added to rows": (None, lambda call, i, j, right: not np.isfinite(call["b"][0, j])),
    "zeros of A are multiplied where the library chose them": (None, lambda call, i, j, right: not np.isfinite(call["b"][:, j]).all()),
    "A result of -infinity is NaN": (None, lambda call, i, j, right: right == -math.inf),
    "rounded to TF32 twice": (None, 2),
    "the last row also adds 0 times row 0 of the dense operand": (None, lambda call, i, j, right: i + 1 == len(call["c"]) and not np.isfinite(call["b"][0, j])),
}


def write_down():
    """As a backend: the operands of each call go to a file."""
    import sparse_conformance as sc

    backend = sc.Backend("elements")

    def halves(values):
        """NumPy has the bits of bf16, which are the upper ones of f32."""
        return (values.astype(np.uint32) << 16).view(np.float32) if values.dtype == np.uint16 else np.array(values)

    @backend.contract("spmm.nm.f16_f16_f32_f16", "spmm.nm.bf16_bf16_f32_bf16", "spmm.nm.tf32_tf32_f32_f32", only={"transpose_a": True, "params": {"nm_l": [1]}})
    def windows(task):
        # Slot s of a column is row `index` of window s / n. Rows past the end have no operand.
        a, out = task.a, task.c
        slots, cols = np.indices(a.index.reshape(-1, a.cols).shape)
        rows = slots.ravel() // a.n * a.m + a.index.ravel()
        there = rows < a.rows
        call = {"rows": cols.ravel()[there], "cols": rows[there], "values": halves(a.values.ravel())[there],
                "b": halves(task.b.T if task.transpose_b else task.b), "c": halves(out), "alpha": task.alpha, "beta": task.beta}  # fmt: skip
        with open(os.environ["ELEMENTS"], "ab") as file:
            pickle.dump(call, file)
        out[...] = 0

    @backend.contract(*(f"{op}.{form}.{t}" for op in ("spmm", "spmv") for form in ("coo", "csr", "csc") for t in ("f64*", "f32_*")))
    def product(task):
        a, out = task.a, task.c if task.op == "spmm" else task.y
        lanes = lambda ptr: np.repeat(np.arange(len(ptr) - 1), np.diff(ptr.astype(np.int64)))
        rows = a.row_idx if a.format != "csr" else lanes(a.row_ptr)
        cols = a.col_idx if a.format != "csc" else lanes(a.col_ptr)
        b, c = (task.b.T if task.transpose_b else task.b, out) if task.op == "spmm" else (task.x[:, None], out[:, None])
        call = {"rows": np.array(cols if task.transpose_a else rows), "cols": np.array(rows if task.transpose_a else cols), "values": np.array(a.values),
                "b": np.array(b), "c": np.array(c), "alpha": task.alpha, "beta": task.beta}  # fmt: skip
        with open(os.environ["ELEMENTS"], "ab") as file:
            pickle.dump(call, file)
        out[...] = 0

    backend.serve()


def times(x, y, narrow=None):
    """The exact product, rounded to a type where it is stored in one; IEEE's of what is not finite."""
    finite = all(isinstance(z, Fraction) or math.isfinite(z) for z in (x, y))
    with np.errstate(all="ignore"):
        if finite and narrow is None:
            return Fraction(x) * Fraction(y)
        return float((narrow or np.float64)(narrow(x) * narrow(y) if narrow else np.float64(float(x)) * np.float64(float(y))))


def total(parts, dtype):
    special = {part for part in parts if isinstance(part, float) and math.isinf(part)}
    if any(isinstance(part, float) and math.isnan(part) for part in parts) or len(special) == 2:
        return math.nan
    exact = sum((Fraction(part) for part in parts if part not in special), Fraction(0))
    if special:
        return special.pop()
    bound = bounded(exact, dtype)
    return float(dtype(float(exact))) if bound is exact else bound


def bounded(part, dtype):
    """What overflows is infinite, as a library has it that keeps products in the type of its elements."""
    over = isinstance(part, Fraction) and abs(part) > Fraction(float(np.finfo(dtype).max))
    return (math.inf if part > 0 else -math.inf) if over else part


def element(call, i, j, rule):
    """What the contract has at an element, and what the rule has."""
    counts, folded = rule
    alpha, dtype = call["alpha"], call["values"].dtype.type
    if isinstance(folded, int):
        # A subnormal number in the first column of its pair is lost.
        lost = (call["cols"] % 2 == 0) & (np.abs(call["values"]) < np.finfo(np.float32).tiny)
        made = lambda values: element({**call, "values": values, "b": in_tf32(call["b"], 1)}, i, j, (lambda *_: True, None))[0]
        return made(in_tf32(call["values"], 1)), made(in_tf32(np.where(lost, np.float32(0), call["values"]), folded))
    terms = [(float(call["values"][e]), float(call["b"][call["cols"][e], j])) for e in np.flatnonzero(call["rows"] == i)]
    start = [times(call["beta"], float(call["c"][i, j]))] if call["beta"] != 0 else []
    plain = total(start + ([times(times(a, b), alpha) for a, b in terms] if alpha != 0 else []), dtype)
    if counts is None:
        return plain, math.nan if folded(call, i, j, plain) else plain
    parts = []
    for a, b in terms:
        scaled = times(alpha, a if folded == "a" else b, dtype)
        if counts(a, b, scaled):
            parts.append(bounded(times(scaled, b if folded == "a" else a) if folded else times(times(a, b), alpha), dtype))
    return plain, total(start + parts, dtype)


def main():
    import run

    conformance, path, library = sys.argv[1:]
    report, explained, seen = json.loads(pathlib.Path(path).read_text()), {}, {}
    findings = tomllib.loads((HERE.parent / "findings.toml").read_text())["finding"]
    sources = {s["spec"]: (s["rows"], s["cols"], s["nnz"]) for s in report["sources"]}
    like = lambda x, y: (math.isnan(x) and math.isnan(y)) or x == y or math.isclose(x, y, rel_tol=1e-4)
    for case in run.records(report):
        verdict = case["verdict"]
        entry = verdict["kind"] == "wrong" and run.adjudicate(library, case, findings, sources, explained)
        words = next((words for words in RULES if entry and words in entry["why"]), None)
        if not words:
            continue
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([conformance, "replay", case["case"], "--exec", f"{sys.executable} {__file__}", "--env", f"ELEMENTS={file.name}"], capture_output=True)
            calls = []
            while file.peek(1):
                calls.append(pickle.load(file))
        at, found = verdict["at"], float(verdict["found"])
        # Where a call before the judged one is wrong, the report says which element of it, and not which shape it has. The second of two
        # calls from different C is not seen here, because zeros are wrong in the first one: such a case may count as not explained.
        calls = [c for c in calls if c["c"].shape[0] > at["row"] and c["c"].shape[1] > at["column"]] if re.search(r"in call \d+ before", verdict["message"]) else calls[-1:]
        both = [element(call, at["row"], at["column"], RULES[words]) for call in calls]
        # Two that differ by a last bit of TF32 are told apart by which one is near.
        near = lambda plain, ruled: 8 * abs(ruled - found) < abs(plain - found)
        right = any(like(ruled, found) and (not like(plain, found) or near(plain, ruled)) for plain, ruled in both)
        count = seen.setdefault(words, [0, 0])
        count[0] += right
        count[1] += 1
        if not right:
            print("not explained:", case["case"], verdict["message"], both)
    for words, (right, count) in seen.items():
        print(f"{library}, '{words}': {right} of {count} cases explained")


if __name__ == "__main__":
    write_down() if "ELEMENTS" in os.environ else main()
