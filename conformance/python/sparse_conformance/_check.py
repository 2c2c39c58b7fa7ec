"""A function of this process judged by the `conformance` command.

    check(fn) -> conformance run --exec _relay.py -> requests -> Task -> arrays of fn's library -> fn -> result -> answer
              <- exit code, findings              <-----------------------------------------------------------'
"""

from __future__ import annotations

import array
import inspect
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ._arrays import library
from .protocol import FIELDS, OPERATIONS, Backend, Sparse, Task, _Broke, _broken_guard, _guarded

_RELAY = Path(__file__).with_name("_relay.py")
_FINDING = re.compile(r"^finding: (?P<words>.*)\n +(?P<again>SPARSE_CASE=.*)", re.MULTILINE)
_PROGRESS = re.compile(r"[0-9,]+/[0-9,]+ (case lines|seeded bugs tried)")
_SHOWN = 5
# A function that returned from none of so many calls hangs.
_HUNG = 3
# What a function of two operands and a result can be asked: no transposes, no padding, alpha = 1, beta = 0, legal requests.
_PLAIN: dict[str, dict[str, Any]] = {
    "spmm": {"alpha": [1], "beta": [0], "transpose_a": False, "transpose_b": False, "layout_b": "row", "layout_c": "row", "padded": False, "faults": []},
    "spmv": {"alpha": [1], "beta": [0], "transpose_a": False, "faults": []},
    "sddmm": {"alpha": [1], "modes": ["pattern"], "layout_b": "row", "padded": False, "faults": []},
    "spgemm": {"faults": []},
    "transpose": {"faults": []},
    "convert": {"faults": []},
}


class Findings(AssertionError):
    """The function is wrong; the text says where, and how to run a case again."""


class Thin(Findings):
    """Nothing wrong was found, but too little was judged to call it right."""


@dataclass(frozen=True)
class Verdict:
    """What a check that passed says."""

    contract: str
    """The pattern of contracts that was asked for."""
    summary: str
    """The judge's last line: how many cases, how long."""
    text: str
    """All that the judge printed."""


def command() -> str:
    """The `conformance` command: `$SPARSE_CONFORMANCE`, that of the wheel, or one on the path."""
    given = os.environ.get("SPARSE_CONFORMANCE")
    if given:
        return given
    beside = Path(sysconfig.get_path("scripts")) / "conformance"
    found = str(beside) if beside.exists() else shutil.which("conformance")
    if found is None:
        raise FileNotFoundError(
            "the command `conformance` is not there: install the wheel, which holds it, or set SPARSE_CONFORMANCE to what "
            "`cargo build --release -p sparse-conformance` made"
        )
    return found


def check(
    function: Callable[..., Any],
    contract: str,
    *,
    arrays: str = "numpy",
    device: str | None = None,
    arithmetic: str = "any",
    profile: Mapping[str, str] | None = None,
    only: Mapping[str, Any] | None = None,
    tier: str = "quick",
    seed: int = 0,
    timeout: float = 10,
    allow_thin: bool = False,
    report: str | os.PathLike[str] | None = None,
) -> Verdict:
    """Judges a function on a contract and raises `Findings` where it is wrong.

    function    takes the operands in the order of `OPERATIONS` (spmm: a, b) and returns the result; with one parameter more it is given
                the result to write into. A function of one parameter called `task` gets the whole `Task`, and answers all requests
    contract    a name, or a pattern (`conformance list contracts`); "spmm.csr.f32" stands for "spmm.csr.f32_*"
    arrays      "numpy", "torch", "cupy" or "jax": whose arrays the function takes and returns; sparse operands are `Sparse` with such arrays
    device      "cuda", "cuda:1", ..: where they lie
    arithmetic  how the function rounds: "any", "fma", "muladd", "sm_90:mma.m16n8k16.f32.f16", .. (PROTOCOL.md)
    profile     choice points settled away from the default, each with its reason
    only        further restrictions on the requests (PROTOCOL.md)
    report      a folder that keeps the whole report, also where nothing is found

    What is returned is compared with exact arithmetic; inputs must not change; what is written beside the result is found; memory that the
    library hands out afresh holds NaN. Progress is printed to standard error every few seconds. The environment variable SPARSE_CASE has a
    case line that is run instead.
    """
    operation = contract.split(".", 1)[0]
    if operation not in OPERATIONS:
        raise ValueError(f"{contract!r} is no contract: it starts with one of {', '.join(OPERATIONS)}")
    pattern = contract
    if operation not in ("transpose", "convert") and "_" not in contract.rsplit(".", 1)[-1] and "*" not in contract:
        pattern = f"{contract}_*"
    answer, whole = _answering(function, operation, library(arrays, device))
    limits = {**({} if whole else _PLAIN[operation]), **(only or {})}
    name = re.sub(r"[^A-Za-z0-9_.+-]", "_", getattr(function, "__name__", "function"))[:64] or "function"
    backend = Backend(name, description=f"{arrays} arrays{f' on {device}' if device else ''}")
    backend.isolated = False
    judge, case = _Judge(), os.environ.get("SPARSE_CASE")
    backend.contract(pattern, arithmetic=arithmetic, only=limits, profile=dict(profile) if profile else None, checked=whole)(
        answer if case is not None else judge.watching(answer)
    )

    kept = Path(report) if report is not None else Path(tempfile.mkdtemp(prefix="sparse-conformance-"))
    with tempfile.TemporaryDirectory(prefix="sc-") as folder, _Listening(Path(folder) / "judge", backend) as listening:
        relay = shlex.join([sys.executable, "-S", str(_RELAY), str(listening.path)])
        program = ["--exec", relay, f"--timeout={timeout}", "--replayed-by", f"SPARSE_CASE={{case}}{_command()}"]
        if case is not None:
            asked = [command(), "replay", case, *program]
        else:
            # One thread asks: a function of this process must not be called twice at a time, as a program of its own for each would allow.
            asked = [command(), "run", "--contracts", pattern, f"--tier={tier}", f"--seed={seed}", "--report", str(kept), "--jobs", "1", *program]
        code, text = judge.run(asked)
    if report is None and (code != 1 or case is not None):
        shutil.rmtree(kept, ignore_errors=True)
    if judge.hangs:
        raise Findings(
            f"{pattern}: the function returned from none of its first {_HUNG} calls, and is called no more; where it needs "
            f"more than {timeout} s for a call, give it more (timeout=)"
        )
    return _concluded(pattern, code, text, kept, (case is not None, allow_thin))


def judged(contract: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """Makes a test of a function: `@judged("spmm.csr.f32") def test_spmm(a, b): ...`. The options are those of `check`."""

    def decorate(function: Callable[..., Any]) -> Callable[[], None]:
        def test() -> None:
            check(function, contract, **options)

        test.__name__, test.__qualname__ = function.__name__, function.__qualname__
        test.__doc__, test.__module__ = function.__doc__, function.__module__
        return test

    return decorate


class _Judge:
    """The process that judges a function."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.begun, self.returned, self.hangs = 0, False, False

    def watching(self, answer: Callable[[Task], Any]) -> Callable[[Task], Any]:
        """The same function, which ends the judge where it never returns: each call would cost the whole time limit."""

        def answers(task: Task) -> Any:
            self.begun += 1
            if self.begun > _HUNG and not self.returned and self.process is not None:
                self.hangs = True
                self.process.kill()
            try:
                return answer(task)
            finally:
                self.returned = True

        return answers

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        """The exit code, and all that it printed; how far it is, which it says every few seconds, is printed at once."""
        lines = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as self.process:
            try:
                for line in self.process.stdout or ():
                    lines.append(line)
                    if _PROGRESS.match(line) and sys.stderr is not None:
                        print(line, end="", file=sys.stderr, flush=True)
            except BaseException:
                self.process.kill()
                raise
        return self.process.returncode, "".join(lines)


def _concluded(pattern: str, code: int, text: str, kept: Path, how: tuple[bool, bool]) -> Verdict:
    """A verdict, or what is raised instead."""
    replayed, allow_thin = how
    # What a replay says last is what the tiers are.
    told = [line for line in text.strip().splitlines() if not line.startswith("  T0: ")]
    summary = told[-1].strip() if told else ""
    if code == 0:
        return Verdict(pattern, summary, text)
    if replayed:
        raise Findings(text) if code == 1 else RuntimeError(text)
    findings = list(_FINDING.finditer(text))
    if code == 1 and not findings:
        if allow_thin:
            return Verdict(pattern, summary, text)
        raise Thin(f"{pattern}: {text.strip()}")
    if code != 1:
        raise RuntimeError(f"the judge did not judge {pattern}:\n{_in_python(text)}")
    lines = [f"{pattern}: {summary}"]
    for finding in findings[:_SHOWN]:
        lines += [f"  {finding['words']}", f"    again: {finding['again']}"]
    if any(re.search(r"found NaN \(0x(ff)+\)", finding["words"]) for finding in findings):
        lines.append("  NaN of bits 0xff.. is what fresh memory holds in a check: such an element was not written")
    small = sorted(kept.glob("reproducers/*/case.txt"))
    lines += [f"  smallest case, and how to run it again: {path}" for path in small[:1]]
    lines += [f"  the whole report: {kept / 'report.html'}"]
    raise Findings("\n".join(lines))


def _in_python(text: str) -> str:
    """What the command says of its options, as who called `check` knows them."""
    text = re.sub(r'conformance: --exec "[^"]*": "[^"]*": ', "", text).replace("For more information, try '--help'.", "")
    return re.sub(r"'--([a-z]+) <[A-Z]+>'", r"\1", text).strip()


def _command() -> str:
    """The command that runs this script again, where that is what runs."""
    script = sys.argv[0] if sys.argv else ""
    is_script = script.endswith(".py") and Path(script).is_file() and not {"pytest", "ipykernel"} & sys.modules.keys()
    # `python -m` runs a module, and not its file.
    is_file = is_script and getattr(sys.modules.get("__main__"), "__spec__", None) is None
    return f" {shlex.join([Path(sys.executable or 'python3').name, str(Path(script).resolve()), *sys.argv[1:]])}" if is_file else ""


def _answering(function: Callable[..., Any], operation: str, lib: Any) -> tuple[Callable[[Task], Any], bool]:
    """The function as one of a task; and whether it takes a whole task already."""
    parameters = [
        p for p in inspect.signature(function).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if [p.name for p in parameters] == ["task"]:
        return function, True
    operands = list(OPERATIONS[operation])
    dense = operation in ("spmm", "spmv", "sddmm")
    inputs, output = (operands[:-1], operands[-1]) if dense else (operands, None)
    required = sum(p.default is p.empty for p in parameters)
    writes = dense and required == len(inputs) + 1
    if not writes and not required <= len(inputs) <= len(parameters):
        wanted = f"({', '.join(inputs)})" + (f" or ({', '.join(operands)})" if dense else "")
        raise TypeError(f"a function for {operation} takes {wanted}, not {inspect.signature(function)}")
    if writes and not lib.writes:
        raise TypeError("nobody can write to arrays of JAX: let the function return its result")

    def answer(task: Task) -> Any:
        given: list[Any] = []
        before: list[tuple[str, Any, np.ndarray, str]] = []
        for name in inputs:
            operand = getattr(task, name)
            given.append(_given(operand, task.types, name, lib, before))
        type = task.types["out"]
        if output is None:
            result = function(*given)
            _unchanged(before, lib)
            return _sparse(result, task, lib)
        out = getattr(task, output)
        if writes:
            _write_into(function, given, out, type, lib)
        else:
            lib.poison(out.shape, type)
            made = function(*given)
            if made is None:
                raise _Broke("the function returned None: the result must be returned, not written into an argument")
            result = lib.take(made, type)
            if result.shape != out.shape:
                raise _Broke(f"the result has the shape {result.shape}, must have {out.shape}")
            out[...] = result
        _unchanged(before, lib)
        return None

    return answer, False


def _given(operand: Any, types: Mapping[str, str], name: str, lib: Any, before: list[tuple[str, Any, np.ndarray, str]]) -> Any:
    """An operand in arrays of the library; what they held is noted."""

    def array_of(values: np.ndarray, label: str, type: str) -> Any:
        made = lib.give(np.ascontiguousarray(values), type)
        before.append((label, made, np.ascontiguousarray(values), type))
        return made

    if not isinstance(operand, Sparse):
        return array_of(operand, name, types["b"])
    element = types["out"] if name == "s" else types["a"]
    fields = {}
    for field, kind in FIELDS[operand.format]:
        value = getattr(operand, field)
        fields[field] = value if kind in "n?" else array_of(value, f"{name}.{field}", element if kind == "v" else kind)
    return Sparse(operand.format, **fields)


def _unchanged(before: Sequence[tuple[str, Any, np.ndarray, str]], lib: Any) -> None:
    for label, made, held, type in before:
        if not lib.same(made, held, type):
            raise _Broke(f"it changed the input {label}", inputs_modified=True)


def _write_into(function: Callable[..., Any], given: list[Any], out: np.ndarray, type: str, lib: Any) -> None:
    """Lets the function write between guards, into what the judge filled with poison."""
    raw, inside = _guarded(out.reshape(-1))
    made, start = lib.give(raw, type), (len(raw) - len(inside)) // 2
    # The judge's NaN, which no right result is; a zero or an infinity, which the result may hold before the call as well, can be right.
    numbers = inside if inside.dtype.kind == "f" else (inside.astype(np.uint32) << 16).view(np.float32)
    poison = inside.tobytes() if np.isnan(numbers).all() else b""
    returned = function(*given, made[start : start + out.size].reshape(out.shape))
    raw[...] = lib.take(made, type)
    broken = _broken_guard(raw)
    if broken is not None:
        where = f"element {broken} of {out.size}" if out.size else "it has no elements"
        raise _Broke(f"it wrote outside its result: {where}", guard_broken=broken)
    if returned is not None and poison and inside.tobytes() == poison:
        raise _Broke("the function returned something and wrote nothing: with a parameter for the result, it must be written there")
    out[...] = inside.reshape(out.shape)


def _sparse(result: Any, task: Task, lib: Any) -> Sparse:
    """A sparse result in NumPy arrays: a `Sparse`, or a CSR, CSC or COO matrix of SciPy or CuPy."""
    type = task.types["out"]
    if not isinstance(result, Sparse):
        result = _of_scipy(result)
    fields = {}
    for field, kind in FIELDS[result.format]:
        value = getattr(result, field)
        if kind == "v":
            value = lib.take(value, type)
        elif kind not in "n?":
            value = np.asarray(value if isinstance(value, np.ndarray) or not hasattr(value, "get") else value.get())
        fields[field] = value
    return Sparse(result.format, **fields)


def _of_scipy(matrix: Any) -> Sparse:
    rows, cols = matrix.shape
    if matrix.format == "csr":
        return Sparse("csr", rows=rows, cols=cols, row_ptr=matrix.indptr, col_idx=matrix.indices, values=matrix.data)
    if matrix.format == "csc":
        return Sparse("csc", rows=rows, cols=cols, col_ptr=matrix.indptr, row_idx=matrix.indices, values=matrix.data)
    if matrix.format == "coo":
        return Sparse("coo", rows=rows, cols=cols, row_idx=matrix.row, col_idx=matrix.col, values=matrix.data)
    raise _Broke(f"a {matrix.format} matrix of SciPy; return csr, csc or coo, or sparse_conformance.Sparse")


class _Listening:
    """Takes over the ends of the pipes of each relay that the judge starts, and answers on them."""

    def __init__(self, path: Path, backend: Backend) -> None:
        self.path, self.backend = path, backend
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def __enter__(self) -> _Listening:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed: the judge is done
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            ends = array.array("i")
            _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_LEN(2 * ends.itemsize))
            for _, _, data in ancillary:
                ends.frombytes(data[: len(data) - len(data) % ends.itemsize])
            if len(ends) != 2:
                return
            try:
                with os.fdopen(ends[0], "rb", 1 << 16) as source, os.fdopen(ends[1], "wb", 1 << 16) as sink:
                    self.backend.talk(source, sink)
            except (BrokenPipeError, SystemExit):
                pass  # the judge gave up on this call: a time limit
