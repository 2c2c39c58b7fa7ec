"""Compiles kernels/cuda/*.cu to PTX with NVRTC through ctypes, and assembles it with ptxas. See ptx.sh."""

import concurrent.futures
import ctypes
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path("kernels/cuda")
SOURCES = pathlib.Path("kernels/src/cuda/source.rs")
TARGETS = [(8, 0), (8, 9), (9, 0)]
DOCS = pathlib.Path("docs/cuda-kernels.md")


def fnv(*texts: bytes) -> str:
    """FNV-1a, 64 bits: the same as in source.rs."""
    hash = 0xCBF29CE484222325
    for byte in b"".join(texts):
        hash = (hash ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{hash:016x}"


class Nvrtc:
    def __init__(self, folder: pathlib.Path):
        # The builtins are looked for by name: load them first.
        lib = next(folder.rglob("libnvrtc.so.13")).parent
        ctypes.CDLL(str(next(lib.glob("libnvrtc-builtins.so.13*"))), mode=ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL(str(lib / "libnvrtc.so.13"))

    def compile(self, name: str, text: bytes, options: list[str]) -> str:
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), text, f"{name}.cu".encode(), 0, None, None)
        given = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        status = self.lib.nvrtcCompileProgram(program, len(options), given)
        log = self.read(program, "ProgramLog")
        if status != 0:
            sys.exit(f"{name} {options}:\n{log}")
        if log.strip():
            print(f"{name} {options}:\n{log}", file=sys.stderr)
        return self.read(program, "PTX")

    def read(self, program, what: str) -> str:
        size = ctypes.c_size_t()
        getattr(self.lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.lib, f"nvrtcGet{what}")(program, buffer)
        return buffer.value.decode()


def strip(ptx: str) -> str:
    """Without comments and empty lines."""
    lines = (re.sub(r"\s*//.*$", "", line).rstrip() for line in ptx.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def rows() -> list[tuple[str, tuple[int, int], list[str]]]:
    """Name, capability and headers of every row of the table in source.rs."""
    found = re.findall(r'row!\(\s*"(\w+)",\s*\((\d+), (\d+)\),\s*[\w:]+((?:,\s*"\w+")*)', SOURCES.read_text())
    return [(name, (int(major), int(minor)), re.findall(r"\w+", headers)) for name, major, minor, headers in found]


def source(name: str, headers: list[str]) -> bytes:
    """The text of a row, as source.rs puts it together."""
    parts = [f'#line 1 "{h}.cuh"\n'.encode() + (ROOT / f"{h}.cuh").read_bytes() + f'\n#line 1 "{name}.cu"\n'.encode() for h in headers]
    return b"".join(parts) + (ROOT / f"{name}.cu").read_bytes()


def assemble(ptxas: pathlib.Path, ptx: str, arch: str) -> list[dict]:
    """Registers, spills and static shared memory of each kernel, as ptxas reports them."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        done = subprocess.run(
            [ptxas, "-v", f"-arch={arch}", "-o", "/dev/null", file.name], capture_output=True, text=True
        )
    if done.returncode != 0:
        sys.exit(f"ptxas {arch}: {done.stderr}")
    if "wgmma.mma_async instructions are serialized" in done.stderr:
        sys.exit(f"ptxas {arch}: products wait for each other: {done.stderr}")
    figures, current = [], None
    for line in done.stderr.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            current = {"kernel": match[1], "smem": 0, "spill": 0, "stack": 0, "registers": 0}
            figures.append(current)
        if match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            current["stack"], current["spill"] = int(match[1]), int(match[2]) + int(match[3])
        if match := re.search(r"Used (\d+) registers", line):
            current["registers"] = int(match[1])
        if match := re.search(r"(\d+) bytes smem", line):
            current["smem"] = int(match[1])
    return sorted(figures, key=lambda f: f["kernel"])


def main() -> None:
    tools, check = pathlib.Path(sys.argv[1]), "--check" in sys.argv[2:]
    nvrtc = Nvrtc(tools)
    ptxas = next(tools.rglob("bin/ptxas"))
    prelude = (ROOT / "prelude.cuh").read_bytes()
    written, table = {}, []

    def built(row: tuple[str, tuple[int, int], list[str]]) -> tuple[str, list[tuple]]:
        name, capability, headers = row
        text = source(name, headers)
        unit = prelude + f'\n#line 1 "{name}.cu"\n'.encode() + text
        compiled = {
            target: strip(
                nvrtc.compile(name, unit, [f"--gpu-architecture=compute_{number(target, capability)}", "--std=c++17"])
            )
            for target in TARGETS
            if target >= capability
        }
        found = []
        # What users get: the committed PTX, assembled for each architecture. What is compiled for one must assemble too.
        for target in compiled:
            arch = f"sm_{number(target, capability)}"
            if target != capability:
                assemble(ptxas, compiled[target], arch)
            for f in assemble(ptxas, compiled[capability], arch):
                found.append((name, f["kernel"], arch, f["registers"], f["spill"], f["stack"], f["smem"]))
        return f"// source {fnv(prelude, text)}\n{compiled[capability]}", found

    # Both compilers work outside of the interpreter's lock.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _, _), (ptx, found) in zip(rows(), pool.map(built, rows())):
            written[ROOT / "ptx" / f"{name}.ptx.gz"] = ptx
            table += found
    written[DOCS] = docs(table)
    stale = [path for path, text in written.items() if read(path) != text]
    if check and stale:
        sys.exit(f"stale: {', '.join(map(str, stale))}; run ci/ptx.sh and commit what it writes")
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = written[path].encode()
        path.write_bytes(gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content)
    size = sum(path.stat().st_size for path in written if path != DOCS)
    print(f"{len(written) - 1} sources, {len(table)} kernels x architectures, {size} bytes of PTX, {len(stale)} files changed")
    spilled = [f"{kernel} ({arch})" for _, kernel, arch, _, spill, _, _ in table if spill]
    if spilled:
        print(f"spills: {', '.join(spilled)}")


def number(target: tuple[int, int], capability: tuple[int, int]) -> str:
    """`90a` for a file of 9.0, which is for that architecture alone: see Row::is_bound in source.rs."""
    return f"{target[0]}{target[1]}{'a' if capability == (9, 0) else ''}"


def read(path: pathlib.Path) -> str | None:
    """The text of a file, uncompressed: what a compressor makes of it differs from version to version."""
    if not path.exists():
        return None
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def docs(table: list[tuple]) -> str:
    head = (
        "# CUDA kernels: registers, spills, shared memory\n\n"
        "Written by `ci/ptx.sh`: the committed PTX of `kernels/cuda/ptx`, assembled by ptxas 13.0.88. Spills are bytes stored\n"
        "plus bytes loaded; shared memory is the static part.\n\n"
        "| source | kernel | architecture | registers | spill | stack | shared |\n|---|---|---|---:|---:|---:|---:|\n"
    )
    return head + "".join(f"| {' | '.join(map(str, row))} |\n" for row in table)


main()
