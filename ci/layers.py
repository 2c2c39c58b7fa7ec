"""Draws the imports between the top-level modules of each crate, and fails where they go round in a cycle.

    python3 ci/layers.py [CRATE ...]          exit code 1 and the imports of each cycle, if there is one
    python3 ci/layers.py --draw [CRATE ...]   each module with what it imports, lowest layer first

A module is a file or folder of src. Its imports are the paths that start with `crate::`, or with as many `super::` as lead out of the
module; a name that lib.rs hands on stands for the module that lib.rs takes it from, and `*` for all modules. Tests and comments don't
count. What has no such path is not seen: a method that another module defines for a type of this one, or for a trait that this one has
in scope; what a macro's text names, if the macro is used elsewhere; and `super::` inside a module that has no file of its own is
counted as if it stood outside.
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
    "conformance/peers",
    "conformance/selftest",
    "conformance/bench",
    "conformance/probe",
    "conformance",
    "fuzz/targets",
    "fuzz/judge/targets",
    "golden",
]
PATH = re.compile(r"\b(crate|super(?:::super)*)::(\w+|\{|\*)")


def code(path):
    """The source without comments and without the tests at its end."""
    text = re.split(r"\n#\[cfg\(test\)\]\nmod tests", path.read_text(encoding="utf-8"))[0]
    return re.sub(r"//[^\n]*", "", text)


def heads(text):
    """The first names of a group of imports: `a::b, c::{d, e}` gives a and c."""
    depth, fresh = 0, True
    for token in re.findall(r"\w+|[{},]", text):
        if token == "{":
            depth += 1
        elif token == "}":
            if depth == 0:
                return
            depth -= 1
        elif token == ",":
            fresh = fresh or depth == 0
            continue
        elif depth == 0 and fresh:
            yield token
        fresh = False


def imports(text, depth):
    """The names that a source takes from the top level of its crate, which is `depth` modules above it; `*` for all of them."""
    for match in PATH.finditer(text):
        root, first = match.groups()
        if root != "crate" and root.count("super") != depth:
            continue
        # In a module within the file, `super::*` is what the file has.
        if match[0] == "super::*" and not text[: match.start()].endswith("\nuse "):
            continue
        yield from heads(text[match.end() :]) if first == "{" else [first]


def graph(src):
    """Every module, and what it imports: `{module: {other: files}}`."""
    lib = code(src / "lib.rs")
    of_tests = set(re.findall(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod (\w+);", lib))
    handed_on = {}
    for module, group in re.findall(r"pub(?:\(crate\))? use (?:crate::)?(\w+)((?:::[^;]*)?);", lib):
        handed_on |= {name: module for name in re.findall(r"\w+", group)}
    modules = {}
    for entry in sorted(src.iterdir()):
        if entry.stem not in {"lib", "main", *of_tests} and (entry.is_dir() or entry.suffix == ".rs"):
            files = sorted(entry.rglob("*.rs")) if entry.is_dir() else [entry]
            modules.setdefault(entry.stem, []).extend(files)
    edges = {module: {} for module in modules}
    for module, files in modules.items():
        for file in files:
            depth = len([part for part in file.relative_to(src).with_suffix("").parts if part != "mod"])
            for name in imports(code(file), depth):
                targets = modules if name == "*" else [name if name in modules else handed_on.get(name)]
                for target in targets:
                    if target in modules and target != module:
                        edges[module].setdefault(target, set()).add(str(file.relative_to(src)))
    return edges


def reachable(edges, start):
    """What `start` imports, directly or not."""
    seen, todo = set(), [start]
    while todo:
        for target in edges[todo.pop()]:
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def main():
    words = sys.argv[1:]
    draw, crates = "--draw" in words, [w for w in words if w != "--draw"] or CRATES
    cycles = 0
    for crate in crates:
        edges = graph(Path(crate) / "src")
        below = {module: reachable(edges, module) for module in edges}
        if draw:
            print(crate)
            for module in sorted(edges, key=lambda m: (len(below[m]), m)):
                print(f"  {module:<16}{' '.join(sorted(edges[module]))}")
        for module in (m for m in sorted(edges) if m in below[m]):
            cycles += 1
            for target in sorted(t for t in edges[module] if module in below[t]):
                print(f"{crate}: {module} imports {target}, which imports it: {', '.join(sorted(edges[module][target]))}")
    if cycles:
        sys.exit("imports go round in a cycle: move what both need to a module below them")


if __name__ == "__main__":
    main()
