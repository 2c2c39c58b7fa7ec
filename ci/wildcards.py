"""Reads what clippy says as JSON, prints what a person must see, and refuses wildcard arms on the enums that grow.

    cargo clippy ... --message-format=json -- ... --force-warn clippy::wildcard_enum_match_arm | python3 ci/wildcards.py

A new operation, task, format or verdict must not fall into an arm that was written before it existed: where the compiler asks for an
arm, somebody decides. Clippy's lint knows no list of enums, so the list is here. Elsewhere a wildcard is fine.
"""

import json
import re
import sys

ENUMS = {"Op", "Task", "FormatKind", "Verdict"}
FOLDERS = ("conformance/src/", "conformance/plugin/src/", "kernels/src/")
LINT = "clippy::wildcard_enum_match_arm"

failed = 0
for line in sys.stdin:
    if not line.startswith("{"):
        print(line, end="")
        continue
    message = json.loads(line).get("message")
    if not isinstance(message, dict) or not message.get("spans"):
        continue
    if (message.get("code") or {}).get("code") != LINT:
        print(message["rendered"], end="")
        continue
    replacements = [s["suggested_replacement"] or "" for c in message["children"] for s in c["spans"]]
    named = {enum for text in replacements for enum in re.findall(r"(\w+)::\w+", text)}
    place = message["spans"][0]
    if named & ENUMS and place["file_name"].startswith(FOLDERS):
        failed += 1
        print(f"{place['file_name']}:{place['line_start']}: a wildcard arm on {'/'.join(sorted(named & ENUMS))}: name the variants")
sys.exit(1 if failed else 0)
