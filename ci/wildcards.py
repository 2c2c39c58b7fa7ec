"""Refuses arms of a match that would take a new variant of the enums that grow, without anybody having decided so.

    python3 ci/wildcards.py [FILE ...]        exit code 1 and the place of each such arm; without files, all sources of FOLDERS

Where an operation, task, format or verdict is added, the compiler shall ask for an arm. So in a match of which some arm names a
variant of such an enum, alone or within a tuple, an `Option` or another pattern, no arm may have `_`, a name or `..` at that place, or
around it. An arm with a guard may: the compiler asks for another one after it.

Sources are read without their types, tests and disabled features included. So these enums must go by their own names: that their
variants are imported, or that they are renamed, is refused too. What is not seen: a test for some variants alone (`matches!`, `if let`,
`let else`, `==`), which says "these and no other" by itself; a match that names no variant; and a scrutinee that is an `if` or a
`match`.
"""

import re
import sys
from pathlib import Path

ENUMS = {"Op", "Task", "FormatKind", "Verdict", "VerdictRecord"}
FOLDERS = (
    "kernels/src",
    *(f"conformance/{crate}src" for crate in ("", "core/", "check/", "peers/", "selftest/", "bench/", "probe/", "plugin/")),
    "fuzz/targets/src",
    "fuzz/judge/targets/src",
)
TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<literal>[bc]?r(\#*)".*?"\3|[bc]?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'|\d[\w.]*\b)
    |(?P<lifetime>'\w+)
    |(?P<word>\w+)
    |(?P<mark>::|=>|\.\.=|\.\.|.)""",
    re.S | re.X,
)
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
NAMES = "|".join(sorted(ENUMS))
# Another crate's enum may have the name; it is renamed on import.
RENAMED = re.compile(
    rf"\b(?:use (?:(?:crate|super|self|sparse_\w+)::[^;]*?)?\b(?:{NAMES})(?:::| as\b)|type (?!VerdictRecord\b)\w+(?:<[^>]*>)? = (?:\w+::)*(?:{NAMES})\b)"
)


def tokens(text):
    """The words and marks of a source with their lines; of a literal only that it is one."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        if match.lastgroup != "skip":
            found.append(("0" if match["literal"] else match[0], line))
        line += match[0].count("\n")
    return found


def closing(found, at):
    """Where the bracket at `at` is closed."""
    depth = 0
    for place in range(at, len(found)):
        depth += (found[place][0] in OPEN) - (found[place][0] in CLOSE)
        if depth == 0:
            return place
    return len(found) - 1


def split(found, marks):
    """The pieces between marks outside brackets, the empty ones left out."""
    pieces, at = [[]], 0
    while at < len(found):
        end = closing(found, at) + 1 if found[at][0] in OPEN else at + 1
        if found[at][0] in marks:
            pieces.append([])
        else:
            pieces[-1].extend(found[at:end])
        at = end
    return [piece for piece in pieces if piece]


def arms(body):
    """The patterns of the arms of a match that have no guard."""
    at = 0
    while at < len(body):
        start = at
        while at < len(body) and body[at][0] != "=>":
            at = closing(body, at) + 1 if body[at][0] in OPEN else at + 1
        head, at = body[start:at], at + 1
        while head and head[0][0] == "#":
            head = head[closing(head, 1) + 1 :]
        if head and len(split(head, {"if"})) == 1:
            yield head
        if at < len(body) and body[at][0] == "{":
            at = closing(body, at) + 1
            at += at < len(body) and body[at][0] == ","
        else:
            while at < len(body) and body[at][0] != ",":
                at = closing(body, at) + 1 if body[at][0] in OPEN else at + 1
            at += 1


def matches(found):
    """The patterns of each match, those of matches within matches too."""
    for at, (word, _) in enumerate(found):
        if word != "match":
            continue
        start = at + 1
        while start < len(found) and found[start][0] not in {"{", ";", "}", ")"}:
            start = closing(found, start) + 1 if found[start][0] in OPEN else start + 1
        if start < len(found) and found[start][0] == "{":
            end = closing(found, start)
            # `match unsafe { call() } { arms }`
            if end + 1 < len(found) and found[end + 1][0] == "{":
                start, end = end + 1, closing(found, end + 1)
            yield list(arms(found[start + 1 : end]))


def alternatives(pattern):
    """A pattern without what does not matter, as the patterns it is one of: `x @ (A | &B)` gives A and B."""
    pieces = split(pattern, {"|"})
    if len(pieces) > 1:
        return [one for piece in pieces for one in alternatives(piece)]
    bound = split(pattern, {"@"})[-1] if pattern else []
    while bound and bound[0][0] in {"&", "ref", "mut", "|"}:
        bound = bound[1:]
    is_group = bound and bound[0][0] == "(" and closing(bound, 0) == len(bound) - 1
    if is_group and "," not in {mark for mark, _ in flat(bound[1:-1])} and bound[1:-1] and bound[1][0] != "..":
        return alternatives(bound[1:-1])
    return [bound] if bound else []


def flat(found):
    """What stands outside brackets."""
    at = 0
    while at < len(found):
        yield found[at]
        at = closing(found, at) + 1 if found[at][0] in OPEN else at + 1


def enums(pattern):
    """The enums whose variants a pattern names."""
    words = [word for word, _ in pattern]
    return {a for a, mark, _ in zip(words, words[1:], words[2:]) if mark == "::" and a in ENUMS}


def takes_all(pattern):
    words = [word for word, _ in pattern]
    return words in (["_"], [".."]) or len(words) == 1 and re.fullmatch(r"[a-z_]\w*", words[0]) and words[0] not in {"true", "false"}


def parts(pattern):
    """What a pattern takes apart and its parts by their place: `Some((a, ..))` gives `Some` and `{0: (a, ..)}`, `..` under `None`."""
    start = next((i for i, (word, _) in enumerate(pattern) if word in OPEN), None)
    if start is None:
        return None, {}
    name = "".join(word for word, _ in pattern[:start]).rsplit("::", 1)[-1]
    inner = split(pattern[start + 1 : closing(pattern, start)], {","})
    found, rest = {}, None
    for number, piece in enumerate(inner):
        if piece[0][0] == "..":
            rest = number
            found[None] = piece
        elif pattern[start][0] == "{":
            key = next(word for word, _ in piece if word not in {"ref", "mut"})
            found[key] = split(piece, {":"})[-1]
        else:
            found[number if rest is None else number - len(inner)] = piece
    return name + pattern[start][0], found


def wildcards(column):
    """The places of the patterns that take a new variant, with the enums of these."""
    column = [one for pattern in column for one in alternatives(pattern)]
    named = set().union(*map(enums, column)) if column else set()
    if not named:
        return
    yield from ((one[0][1], named) for one in column if takes_all(one))
    apart = {}
    for one in column:
        name, found = parts(one)
        if found:
            apart.setdefault(name, []).append(found)
    for group in apart.values():
        # Places after `..` are counted from the end: where another arm says how many there are, they get its numbers.
        size = max((len(found) for found in group if None not in found), default=0)
        group = [{k + size if isinstance(k, int) and k < 0 and size else k: p for k, p in found.items()} for found in group]
        for key in {key for found in group for key in found} - {None}:
            yield from wildcards([p for found in group for p in [found.get(key, found.get(None))] if p])


def findings(text):
    """What is wrong in a source: lines and words."""
    for match in RENAMED.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, "an enum that grows, or its variants, get another name here: use it by its own"
    for column in matches(tokens(text)):
        for line, named in wildcards(column):
            yield line, f"an arm takes any new {'/'.join(sorted(named))}: name the variants"


def main():
    files = [Path(word) for word in sys.argv[1:]] or sorted(f for folder in FOLDERS for f in Path(folder).rglob("*.rs"))
    failed = 0
    for file in files:
        for line, words in sorted(set(findings(file.read_text(encoding="utf-8")))):
            print(f"{file}:{line}: {words}")
            failed += 1
    sys.exit(1 if failed or not files else 0)


if __name__ == "__main__":
    main()
