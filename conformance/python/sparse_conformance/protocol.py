"""Have your sparse kernels judged: the Python side of the conformance protocol, version 1.

    import sparse_conformance as sc

    backend = sc.Backend("mine", version="0.1", description="my CSR kernel")

    @backend.contract("spmm.csr.f32_f32_f32_f32", "spmm.csr.f64*", arithmetic="any")
    def spmm(task):
        task.update(my_product(task.a.row_ptr, task.a.col_idx, task.a.values, task.b))

    if __name__ == "__main__":
        backend.serve()

and then `conformance run --exec "python mine.py"`.

A function is registered for patterns over contract names (`conformance list contracts`) and gets a `Task`:

    task.op, task.contract, task.types      "spmm", its whole name, {"a": "f32", "b": ..., "acc": ..., "out": ...}
    task.alpha, task.beta                   factors
    task.transpose_a, task.transpose_b      use A^T, B^T (spmm; spmv: A only)
    task.a, task.s                          the sparse operand (s in an SDDMM): .format .rows .cols and its arrays by name
    task.b                                  spmm: dense, as a 2-D view of any strides; spgemm: sparse
    task.x, task.y                          spmv: vectors (y is written); sddmm: dense, 2-D
    task.c, task.y, task.out                what is written, in place
    task.mode                               sddmm: "pattern", "scale" or "add-s"
    task.to, task.params                    convert: name and parameters of the target format

A function with a dense output writes it and returns nothing; the others return `Sparse(...)`. `OPERATIONS` has the operands of every
operation. What your kernel does not take it refuses: `raise Refuse("why")`. Any other exception is a finding.

bf16, e4m3 and e5m2 arrays hold bit patterns (uint16, uint8): see `decode` and `encode`. tf32 is stored as float32. A task with
bf16 accumulators has no `task.acc` and no `task.update`.

Standard output belongs to the protocol: what you print goes to standard error. Inputs must not change and memory around the
output must not be written; both are looked at after every call.
"""

from __future__ import annotations

import ctypes
import fnmatch
import json
import math
import os
import struct
import sys
import traceback
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Mapping, Optional, Sequence

import numpy as np

__all__ = ["Backend", "Refuse", "Sparse", "Task", "decode", "encode", "FIELDS", "OPERATIONS"]

PROTOCOL = 1
_PREFIX = struct.Struct("<6sHIQ")
_MAGIC = b"SPCONF"
_ALIGN = 64
_GUARD = 64
_MAX_HEADER = 1 << 21
_MAX_WORDS = 4096

# How each element type is stored.
DTYPES: dict[str, np.dtype[Any]] = {
    "f64": np.dtype("<f8"),
    "f32": np.dtype("<f4"),
    "tf32": np.dtype("<f4"),
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<u2"),
    "e4m3": np.dtype("u1"),
    "e5m2": np.dtype("u1"),
    "u8": np.dtype("u1"),
    "u16": np.dtype("<u2"),
    "u32": np.dtype("<u4"),
    "u64": np.dtype("<u8"),
}

# The fields of every format in order: "n" an extent, "?" a flag, "v" matrix elements, or the type of an index array. A test of the suite
# writes this table.
_FIELDS = {
    "coo": "rows:n cols:n row_idx:u32 col_idx:u32 values:v",
    "csr": "rows:n cols:n row_ptr:u32 col_idx:u32 values:v",
    "csc": "rows:n cols:n col_ptr:u32 row_idx:u32 values:v",
    "bcsr": "rows:n cols:n block_rows:n block_cols:n block_row_ptr:u32 block_col:u32 values:v",
    "ell": "rows:n cols:n width:n col_idx:u32 values:v",
    "blocked_ell": "rows:n cols:n block_rows:n block_cols:n width:n block_col:u32 values:v",
    "loops": "rows:n cols:n boundary:n br:n row_ptr:u32 col_idx:u32 csr_values:v block_ptr:u32 block_col:u32 values:v",
    "rs_tile": "rows:n cols:n window_row:u32 window_block_ptr:u32 bitmap:u64 block_value_ptr:u32 block_col:u32 values:v residual_row:u32 residual_width:n residual_col:u32 residual_values:v",
    "libra_spmm": "rows:n cols:n kb:n window_block_ptr:u32 bitmap:u64 block_value_ptr:u32 block_col:u32 values:v row_ptr:u32 col_idx:u32 rest_values:v",
    "libra_sddmm": "rows:n cols:n window_block_ptr:u32 bitmap:u64 block_value_ptr:u32 block_col:u32 values:v position:u32 row_ptr:u32 col_idx:u32 rest_values:v rest_position:u32",
    "rp_csc": "rows:n cols:n groups:n col_idx:u16 group_bitmap:u64 group_col_ptr:u32 col_len:u8 group_value_ptr:u32 row_idx:u16 values:v",
    "cp_csr": "rows:n cols:n groups:n row_idx:u16 group_bitmap:u64 group_row_ptr:u32 row_len:u8 group_value_ptr:u32 col_idx:u16 values:v",
    "nm": "rows:n cols:n n:n m:n l:n index:u32 values:v",
    "two_four": "rows:n cols:n short_k:? metadata:u32 values:v",
    "vnm": "rows:n cols:n v:n n:n m:n column:u32 index:u8 values:v",
    "tcf": "rows:n cols:n node_pointer:u32 edge_list:u32 edge_to_column:u32 edge_to_row:u32 block_partition:u32 values:v",
    "me_tcf": "rows:n cols:n balanced:? row_window_offset:u32 tc_offset:u32 tc_local_id:u8 sparse_a_to_b:u32 block_window:u32 values:v",
    "bit_tcf": "rows:n cols:n balanced:? row_window_offset:u32 tc_offset:u32 tc_local_bit:u64 sparse_a_to_b:u32 block_window:u32 values:v",
    "sr_bcrs": "rows:n cols:n v:n stride:n window_ptr:u32 vector_col:u32 values:v",
}


def _pair(text: str) -> tuple[str, str]:
    name, kind = text.split(":")
    return name, kind


FIELDS: dict[str, list[tuple[str, str]]] = {name: [_pair(f) for f in text.split()] for name, text in _FIELDS.items()}


# The operands of every operation with their extents, once they are transposed as asked ("s": the stored positions of the sparse one). A
# dense operand of one extent is a vector. What an operation writes stands last.
_OPERATIONS = {
    "spmm": "a:mk b:kn c:mn",
    "spmv": "a:mk x:k y:m",
    "sddmm": "s:mk x:mn y:kn out:s",
    "spgemm": "a:mk b:kn",
    "transpose": "a:mk",
    "convert": "a:mk",
}
OPERATIONS: dict[str, dict[str, str]] = {name: dict(_pair(o) for o in text.split()) for name, text in _OPERATIONS.items()}


class Refuse(Exception):
    """The request is refused, for this reason."""


class _Broke(Exception):
    """A rule that a function broke, as this package saw: no exception of the function's. `reply` is what the judge is told beside."""

    def __init__(self, words: str, **reply: Any):
        super().__init__(words)
        self.reply = reply


class Sparse:
    """A sparse matrix: its format, and its extents, flags and arrays as attributes (names and types in `FIELDS`)."""

    if TYPE_CHECKING:
        rows: int
        cols: int

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, format: str, **fields: Any) -> None:
        if format not in FIELDS:
            raise ValueError(f"unknown format {format!r}; there are {', '.join(FIELDS)}")
        wanted = [name for name, _ in FIELDS[format]]
        if sorted(wanted) != sorted(fields):
            raise ValueError(f"{format} has the fields {wanted}, given are {sorted(fields)}")
        self.format = format
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return f"Sparse({self.format!r}, {self.rows} x {self.cols})"


class Task:
    """One request. See the module's documentation for its attributes."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, header: dict[str, Any], payload: np.ndarray) -> None:
        self.header = header
        self.contract, self.op, self.types = header["contract"], header["op"], header["types"]
        if self.op not in OPERATIONS:
            raise Refuse(f"this version of sparse_conformance has no operation {self.op}")
        self.alpha, self.beta = (_number(header.get(name)) for name in ("alpha", "beta"))
        self.transpose_a, self.transpose_b = bool(header.get("transpose_a")), bool(header.get("transpose_b"))
        self.mode, self.to, self.params = header.get("mode"), header.get("to"), header.get("params", {})
        arrays = {a["name"]: _array(payload, a) for a in header["arrays"]}
        for name, head in header["sparse"].items():
            fields = dict(head["extents"])
            fields.update((field, arrays[f"{name}.{field}"]) for field, kind in FIELDS[head["format"]] if kind not in "n?")
            setattr(self, name, Sparse(head["format"], **fields))
        self._output: Optional[str] = header.get("output")
        self._raw: Optional[np.ndarray] = None
        for name, head in header.get("dense", {}).items():
            flat = arrays[name]
            if name == self._output:
                self._raw, flat = _guarded(flat)
            vector = len(OPERATIONS[self.op][name]) == 1
            setattr(self, name, flat if vector else _view(name, head, flat))

    @property
    def acc(self) -> np.dtype:
        """NumPy type of the accumulator; NumPy has none for bf16."""
        if self.types["acc"] == "bf16":
            raise TypeError("NumPy has no bf16 numbers: compute in a library that has them, or claim no bf16 accumulators")
        return DTYPES[self.types["acc"]]

    def check(self) -> None:
        """Refuses what no backend may take: factors that are not finite, operands that do not fit together."""
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise Refuse(f"{name} is {value}, must be finite")
        known: dict[str, tuple[str, int]] = {}
        for name, extents in OPERATIONS[self.op].items():
            operand = getattr(self, name)
            sparse = isinstance(operand, Sparse)
            shape = (operand.rows, operand.cols) if sparse else operand.shape
            turned = self.transpose_a if name == "a" else self.transpose_b and name == "b"
            label = f"op({name})" if turned else name
            for extent, axis, found in zip(extents, ("rows", "columns"), shape[::-1] if turned else shape):
                axis = f"{axis} of {label}" if len(extents) == 2 else f"length of {label}"
                _same(*known.setdefault(extent, (axis, found)), axis, found)
            if sparse and hasattr(operand, "values"):
                known.setdefault("s", (f"stored positions of {label}", len(operand.values)))

    def update(self, product: Any) -> None:
        """Writes `alpha * product + beta * C`, where alpha = 0 does not read the product, and beta = 0 not C."""
        if self._output is None:
            raise TypeError(f"{self.op} returns its result")
        out, acc = getattr(self, self._output), self.acc
        total = acc.type(self.alpha) * np.asarray(product, acc) if self.alpha != 0 else None
        if self.beta != 0:
            scaled = acc.type(self.beta) * decode(out, self.types["out"], acc)
            # With alpha = 0 the result is beta * C itself: adding a zero would turn a -0 into +0.
            total = scaled if total is None else total + scaled
        total = np.zeros(out.shape, acc) if total is None else total
        out[...] = encode(total, self.types["out"])


Function = Callable[[Task], Any]
_Rule = tuple[tuple[str, ...], Function, tuple[type[BaseException], ...], bool]
# Of an answer: name -> element type, elements.
_Arrays = dict[str, tuple[str, np.ndarray]]


class Backend:
    """What is judged: a name, and functions for contracts."""

    def __init__(self, name: str, version: str = "", description: str = "", determinism: str = "none") -> None:
        self.manifest: dict[str, Any] = {
            "protocol": PROTOCOL,
            "name": name,
            "version": str(version),
            "description": description,
            "determinism": determinism,
            "supports": [],
            "excludes": [],
        }
        self._functions: list[_Rule] = []
        # A process of its own may die with a kernel; one that also runs tests may not.
        self.isolated = True

    def contract(
        self,
        *patterns: str,
        arithmetic: str = "any",
        only: Optional[Mapping[str, Any]] = None,
        profile: Optional[Mapping[str, str]] = None,
        refuses: Sequence[type[BaseException]] = (),
        checked: bool = True,
    ) -> Callable[[Function], Function]:
        """Registers a function for contracts.

        arithmetic  how it rounds: "any" (as the contract admits), "fma", "muladd", ... (`conformance list` and PROTOCOL.md)
        only        restrictions: {"alpha": [1], "beta": [0, 1], "transpose_a": False, "layout_b": "row", ...}
        profile     choice points settled away from the default, each with its reason: {"unsorted": "hash accumulators"}
        refuses     exceptions of a library that count as its refusal
        checked     refuse bad requests (factors, shapes, lengths) before the function is called

        May be given several times; for a request, the first rule that fits its contract and its parameters counts: of
        several decorators of a function, from top to bottom (of calls, the last one first).
        """

        def register(function: Function) -> Function:
            rule: dict[str, Any] = {"contracts": list(patterns), "arithmetic": arithmetic}
            if only:
                rule["only"] = dict(only)
            if profile:
                rule["profile"] = [{"choice": c, "reason": r} for c, r in profile.items()]
            # Decorators apply from the last to the first; rules are read from the first.
            own = [i for i, (_, f, *_) in enumerate(self._functions) if f is function]
            at = own[0] if own else len(self._functions)
            self.manifest["supports"].insert(at, rule)
            self._functions.insert(at, (patterns, function, tuple(refuses), checked))
            return function

        return register

    def exclude(self, *patterns: str, reason: str) -> None:
        """Says why some contracts are not taken."""
        self.manifest["excludes"].append({"contracts": list(patterns), "reason": reason})

    def serve(self) -> None:
        """Answers the judge until it says bye."""
        source, sink = os.fdopen(os.dup(0), "rb", 1 << 16), os.fdopen(os.dup(1), "wb", 1 << 16)
        # Nobody else reads or writes the protocol's streams, not even a library in C.
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.talk(source, sink)

    def talk(self, source: BinaryIO, sink: BinaryIO) -> None:
        """Answers on these streams until the other side says bye or closes them."""
        while True:
            message = _read(source)
            if message is None or message[0].get("type") == "bye":
                return
            header, payload = message
            if header["type"] == "hello":
                _write(sink, {"type": "manifest", "manifest": self.manifest}, {})
            else:
                _write(sink, *self._answer(header, payload))

    def _answer(self, header: dict[str, Any], payload: np.ndarray) -> tuple[dict[str, Any], _Arrays]:
        reply: dict[str, Any] = {"type": "answer", "id": header["id"]}
        arrays: _Arrays = {}
        before = payload.tobytes()
        task = None
        try:
            function, refuses, checked = self._find(header["contract"])
            try:
                task = Task(header, payload)
                if checked:
                    task.check()
                result = function(task)
            except _Broke:
                raise
            except refuses as error:
                raise Refuse(f"{type(error).__name__}: {error}") from error
            if task._output is not None and task._raw is not None:
                reply["outcome"] = "written"
                arrays[task._output] = (task.types["out"], task._raw[_GUARD:-_GUARD])
            elif not isinstance(result, Sparse):
                raise _Broke(f"{task.op} must return Sparse(...), not {type(result).__name__}")
            else:
                reply["outcome"] = "sparse"
                reply["sparse"], arrays = _fields(result, task.types["out"])
        except Refuse as refusal:
            reply["outcome"], reply["message"] = "refused", _words(str(refusal))
        except _Broke as broke:
            reply["outcome"], reply["message"] = "broke", _words(str(broke))
            reply.update(broke.reply)
        except BaseException as error:
            lost = _device_is_lost()
            if self.isolated and (lost or not isinstance(error, Exception)):
                # The judge records it with these last words, and starts a fresh process.
                traceback.print_exc(file=sys.stderr)
                sys.stderr.flush()
                os._exit(70)
            reply["outcome"] = "failed"
            where = "; the device is lost to this process: all that follows fails" if lost else ""
            said = f": {error}" if str(error) else ""
            reply["message"] = _words(f"it raised {type(error).__name__}{said}{where}\n{traceback.format_exc()}")
        after = payload.tobytes()
        reply["inputs_modified"] = after != before or reply.get("inputs_modified", False)
        if after != before:
            at = next(i for i, (old, new) in enumerate(zip(before, after)) if old != new)
            array = max((a for a in header["arrays"] if a["offset"] <= at), key=lambda a: a["offset"])
            reply["message"] = f"it changed the input {array['name']}, byte {at - array['offset']}"
        if task is not None and task._raw is not None:
            broken = _broken_guard(task._raw)
            if broken is not None:
                reply["guard_broken"] = broken
        return reply, arrays

    def _find(self, contract: str) -> tuple[Function, tuple[type[BaseException], ...], bool]:
        for patterns, function, refuses, checked in self._functions:
            if any(fnmatch.fnmatchcase(contract, p) for p in patterns):
                return function, refuses, checked
        raise Refuse(f"no function is registered for {contract}")


def _device_is_lost() -> bool:
    """True where every later call on a GPU of NVIDIA fails as well, as after an access outside of its memory.

    The driver is asked, whichever library called it, about the current context and the one that libraries share.
    """
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False  # nothing in this process uses one
    context, count = ctypes.c_void_p(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return False  # there is none
    if driver.cuCtxGetCurrent(ctypes.byref(context)) == 0 and context and driver.cuCtxSynchronize():
        return True
    for device in range(count.value):
        flags, active = ctypes.c_uint(), ctypes.c_int()
        driver.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active))
        if not active.value:
            continue
        if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) or driver.cuCtxPushCurrent_v2(context):
            return True
        lost = driver.cuCtxSynchronize()
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        driver.cuDevicePrimaryCtxRelease_v2(device)
        if lost:
            return True
    return False


def _words(text: str) -> str:
    """What is sent of a message: not more than the judge keeps, and nothing that is no Unicode."""
    return text[:_MAX_WORDS].encode("utf-8", "backslashreplace").decode()


def decode(array: np.ndarray, type: str, to: Any = np.float32) -> np.ndarray:
    """The numbers of an array of an element type."""
    if type == "bf16":
        return (array.astype("<u4") << 16).view("<f4").astype(to, copy=False)
    if type in ("e4m3", "e5m2"):
        return _TABLES[type][array].astype(to, copy=False)
    return array.astype(to, copy=False)


def encode(array: Any, type: str) -> np.ndarray:
    """Numbers rounded to an element type (nearest, ties to even); not to the 8-bit ones, which are never results."""
    if type == "bf16":
        bits = np.ascontiguousarray(array, "<f4").view("<u4")
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(array), (bits >> 16) | 0x40, rounded).astype("<u2")
    with np.errstate(over="ignore"):
        return np.asarray(array).astype(DTYPES[type], copy=False)


def _float8(exponent_bits: int, fraction_bits: int, bias: int, infinities: bool) -> np.ndarray:
    table = np.empty(256)
    top, scale = (1 << exponent_bits) - 1, 1 << fraction_bits
    for bits in range(256):
        e, f = (bits >> fraction_bits) & top, bits & (scale - 1)
        if e == top and infinities:
            value = math.nan if f else math.inf
        elif e == top and f == scale - 1:
            value = math.nan
        else:
            value = (f / scale) * 2.0 ** (1 - bias) if e == 0 else (1 + f / scale) * 2.0 ** (e - bias)
        table[bits] = -value if bits & 0x80 else value
    return table


_TABLES = {"e4m3": _float8(4, 3, 7, False), "e5m2": _float8(5, 2, 15, True)}


def _number(bits: Optional[str]) -> Any:
    return None if bits is None else struct.unpack("<d", struct.pack("<Q", int(bits, 16)))[0]


def _same(left_name: str, left: int, right_name: str, right: int) -> None:
    if left != right:
        raise Refuse(f"{left_name}: {left}, but {right_name}: {right}")


def _array(payload: np.ndarray, head: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(payload, DTYPES[head["dtype"]], head["count"], head["offset"])


def _view(name: str, head: dict[str, Any], flat: np.ndarray) -> np.ndarray:
    rows, cols, ld = head["rows"], head["cols"], head["ld"]
    by_rows = head["layout"] == "row"
    outer, inner = (rows, cols) if by_rows else (cols, rows)
    if ld < inner:
        raise Refuse(f"ld{name} is {ld}, must be at least {inner}")
    if len(flat) < outer * ld:
        raise Refuse(f"{name} has {len(flat)} elements, expected {outer * ld}")
    view = flat[: outer * ld].reshape(outer, ld)[:, :inner]
    return view if by_rows else view.T


def _guarded(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    raw = np.empty(len(values) + 2 * _GUARD, values.dtype)
    raw.view(np.uint8)[:] = 0xA5
    raw[_GUARD : _GUARD + len(values)] = values
    return raw, raw[_GUARD : _GUARD + len(values)]


def _broken_guard(raw: np.ndarray) -> Optional[int]:
    size, edge = raw.dtype.itemsize, _GUARD * raw.dtype.itemsize
    data = raw.view(np.uint8)
    for start, part in ((0, data[:edge]), (len(data) - edge, data[len(data) - edge :])):
        wrong = np.flatnonzero(part != 0xA5)
        if len(wrong):
            return (start + int(wrong[0])) // size - _GUARD
    return None


def _fields(matrix: Sparse, type: str) -> tuple[dict[str, Any], _Arrays]:
    extents: dict[str, Any] = {}
    arrays: _Arrays = {}
    for name, kind in FIELDS[matrix.format]:
        value = getattr(matrix, name)
        if kind == "n":
            extents[name] = int(value)
        elif kind == "?":
            extents[name] = bool(value)
        elif kind == "v":
            arrays[name] = (type, np.ascontiguousarray(value, DTYPES[type]).ravel())
        else:
            array, limits = np.asarray(value), np.iinfo(DTYPES[kind])
            if array.dtype != DTYPES[kind] and len(array) and not limits.min <= array.min() <= array.max() <= limits.max:
                raise _Broke(f"{name} goes from {array.min()} to {array.max()}, which {kind} does not hold")
            arrays[name] = (kind, np.ascontiguousarray(array, DTYPES[kind]).ravel())
    return {"format": matrix.format, "extents": extents}, arrays


def _read(source: BinaryIO) -> Optional[tuple[dict[str, Any], np.ndarray]]:
    prefix = source.read(_PREFIX.size)
    if not prefix:
        return None
    magic, version, header_length, payload_length = _PREFIX.unpack(prefix)
    if magic != _MAGIC or version != PROTOCOL or header_length > _MAX_HEADER:
        raise SystemExit(f"not a message of protocol {PROTOCOL}: {prefix!r}")
    header = json.loads(source.read(header_length))
    # Arrays start at multiples of 64 bytes in memory too.
    raw = np.empty(payload_length + _ALIGN, np.uint8)
    start = -raw.ctypes.data % _ALIGN
    payload = raw[start : start + payload_length]
    if source.readinto(memoryview(payload.data)) != payload_length:  # type: ignore[attr-defined]
        raise SystemExit("the judge's message is cut")
    return header, payload


def _write(sink: BinaryIO, reply: dict[str, Any], arrays: _Arrays) -> None:
    heads: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    offset = 0
    for name, (dtype, array) in arrays.items():
        pad = -offset % _ALIGN
        heads.append({"name": name, "dtype": dtype, "count": len(array), "offset": offset + pad})
        chunks += [bytes(pad), array.tobytes()]
        offset += pad + array.nbytes
    if heads:
        reply["arrays"] = heads
    header = json.dumps(reply).encode()
    sink.write(_PREFIX.pack(_MAGIC, PROTOCOL, len(header), offset))
    sink.write(header)
    for chunk in chunks:
        sink.write(chunk)
    sink.flush()
