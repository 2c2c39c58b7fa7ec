"""Writes docs/coverage.md from what `cargo llvm-cov report --json` says: shares by folder, and the lines that no test runs."""

import collections
import json
import pathlib
import sys

# What must be covered, and how much of it, in percent of lines.
FOLDERS = ("oracle/types/src", "oracle/src", "conformance/core/src")
FLOOR = 95.0

INTRODUCTION = """# Which lines the tests run

Written by `ci/coverage.sh`; do not edit. Lines of the oracle, the types that it shares with kernels, and the judge's core, with all tests
of these crates, of the command line, of reports, of programs outside and of fuzz targets; the self-test's and the probe's left out.

"""

REASONS = """
## What is left, and why

- `const fn` that only the compiler runs, to make tables (`table.rs`, `keys.rs`, `wide.rs`, `signature.rs`, `family.rs`): what they make is
  tested.
- Arms that a match must have and no value reaches, because an earlier check refuses it (a type that no output has, an operation that
  the caller has handled); they return `None`, a refusal, or a reason.
- Tiers and sizes that would take a test hours (`Tier::Extensive`, arrays of more than a million elements, a full memory).
- Small functions for users of the library (`is_empty`, `Default`, `Debug`).
- Answers of backends that misbehave in ways that a program outside shows (`conformance/tests/subjects`), whose process is killed before
  it can write what it ran.

"""


def lines_of(file):
    """Lines with code, and those of them that no test ran."""
    run, missed = set(), set()
    segments = file["segments"]
    for (line, _, count, has_count, _, is_gap), (end, column, *_) in zip(segments, segments[1:]):
        if has_count and not is_gap:
            (run if count else missed).update(range(line, end + (column > 1)))
    return run | missed, missed - run


def main(report, page):
    root = str(pathlib.Path.cwd()) + "/"
    counts, left = collections.defaultdict(lambda: [0, 0]), []
    for file in json.loads(pathlib.Path(report).read_text())["data"][0]["files"]:
        name = file["filename"].removeprefix(root)
        folder = next((f for f in FOLDERS if name.startswith(f + "/")), None)
        if folder is None:
            continue
        summary = file["summary"]["lines"]
        below = name.removeprefix(folder + "/").split("/")
        for group in (folder, f"{folder}/{below[0]}" if len(below) > 1 else None):
            if group:
                counts[group][0] += summary["count"]
                counts[group][1] += summary["covered"]
        missed = sorted(lines_of(file)[1])
        if missed:
            left.append(f"- `{name}`: {', '.join(map(str, missed))}")
    table = "| folder | lines | run by tests |\n|---|---:|---:|\n"
    for group, (lines, covered) in sorted(counts.items()):
        table += f"| `{group}` | {lines} | {100 * covered / lines:.1f} % |\n"
    pathlib.Path(page).write_text(INTRODUCTION + table + REASONS + "\n".join(sorted(left)) + "\n")
    low = [f for f in FOLDERS if 100 * counts[f][1] < FLOOR * counts[f][0]]
    for folder in FOLDERS:
        lines, covered = counts[folder]
        print(f"{folder}: {covered} of {lines} lines, {100 * covered / lines:.1f} %")
    sys.exit(f"below {FLOOR} %: {', '.join(low)}" if low else 0)


main(*sys.argv[1:])
