"""Finds names of types that stand for two things within one crate.

    python3 ci/names.py [CRATE ...]          exit code 1 and the places of each such name, if there is one

A type is a `struct`, `enum`, `union`, `trait` or `type`, private ones too. Not counted: what is inside a function, an `impl`, a trait or a
macro, what is compiled for tests only, and definitions of one file of which `cfg` chooses one. A crate of UNFINISHED may have the
findings that it has today, which are printed with their number, and no more.
"""

import re
import sys
from pathlib import Path

CRATES = [
    "oracle/types",
    "oracle",
    "oracle/schedules",
    "kernels",
    "kernels/ptx",
    "kernels/ptx/device",
    "conformance/plugin",
    "conformance/core",
    "conformance/check",
    "conformance/peers/mkl",
    "conformance/peers",
    "conformance/selftest",
    "conformance/bench",
    "conformance/probe",
    "conformance",
    "fuzz/targets",
    "fuzz/judge/targets",
    "golden",
]
# How many names a crate may still use for two things. It goes down only.
UNFINISHED = {"conformance": 9, "conformance/core": 2}
SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|[bc]?r(\#*)".*?"\1|[bc]?"(?:\\.|[^"\\])*"|b?'(?:\\[^']*|[^'\\])'""", re.S)
TOKEN = re.compile(r"\w+|[{}();\[\]#!=]")
KINDS = {"struct", "enum", "union", "trait", "type"}


def blanked(text):
    """The source without comments and literals; lines stay where they are."""
    return SKIPPED.sub(lambda match: "\n" * match[0].count("\n"), text)


def types(text):
    """Name and line of each type that stands in a module of this file, and whether a `cfg` stands before it."""
    found, stack, item, line = [], [], [], 1
    at = 0
    for match in TOKEN.finditer(text):
        word, line, at = match[0], line + text.count("\n", at, match.start()), match.start()
        if word == "{":
            stack.append(None if "test" in item and "cfg" in item else "mod" if item[-2:-1] == ["mod"] else None)
            item = []
        elif word == "}":
            stack = stack[:-1]
            item = []
        elif word == ";":
            item = []
        else:
            is_name = item and item[-1] in KINDS and all(stack) and re.fullmatch(r"[A-Z]\w*", word)
            is_item = is_name and not {"macro_rules", "fn"} & set(item)
            if is_item and not ("cfg" in item and "test" in item):
                found.append((word, line, "cfg" in item))
            item.append(word)
    return found


def of_tests(src):
    """The files that a `#[cfg(test)] mod NAME;` brings in, and what is below them."""
    for file in src.rglob("*.rs"):
        folder = file.parent if file.stem in {"lib", "main", "mod"} else file.with_suffix("")
        for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub(?:\([\w ]+\))? )?mod (\w+);", file.read_text(encoding="utf-8")):
            yield from (folder / f"{name}.rs", folder / name)


def findings(crate):
    """Each name that is defined more than once, with its places."""
    src, places = Path(crate) / "src", {}
    tests = set(of_tests(src))
    for file in sorted(src.rglob("*.rs")):
        if file in tests or tests & set(file.parents):
            continue
        chosen = set()
        for name, line, is_chosen in types(blanked(file.read_text(encoding="utf-8"))):
            if not (is_chosen and name in chosen):
                places.setdefault(name, []).append(f"{file}:{line}")
            chosen |= {name} if is_chosen else set()
    return {name: at for name, at in sorted(places.items()) if len(at) > 1}


def main():
    failed = False
    for crate in sys.argv[1:] or CRATES:
        found, allowed = findings(crate), UNFINISHED.get(crate, 0)
        for name, at in found.items():
            print(f"{crate}: {name} is {len(at)} types: {', '.join(at)}")
        if allowed:
            print(f"{crate}: {len(found)} names are used for two things, of {allowed} that may be until they are renamed")
        failed |= len(found) > allowed
    if failed:
        sys.exit("a name of a type stands for two things: qualify one of them")


if __name__ == "__main__":
    main()
