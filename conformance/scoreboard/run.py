#!/usr/bin/env python3
"""The scoreboard: installs the libraries of libraries.toml, judges each with the quick tier, and writes scoreboard.json and scoreboard.html.

    python3 conformance/scoreboard/run.py --conformance target/release/conformance

Needs Debian 12 (as root for what apt-get installs), a C++ compiler and Python 3.11; libraries in Rust need cargo, too. What can't be
installed, built or judged in time is skipped with a word. findings.toml says what each deviation is. Exit code: 0; 1 where a deviation
is not adjudicated, or a library that --only names could not be judged here; 2 where findings.toml no longer says what a kept row says.
"""

import argparse
import base64
import datetime
import fnmatch
import json
import pathlib
import re
import shlex
import shutil
import sys
import textwrap
import tomllib
import zlib

import page
from build import HERE, ROOT, Skip, call, elsewhere, install, last_line, target

PASSES = {"exact": "exact", "within": "within", "agreed_refusal": "agreed"}
SILENT = {"unsupported", "not_run"}
SCHEMA = "sparse-conformance-report-2"
# One thread everywhere, so that a run can be repeated.
THREADS = ["OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "NUMBA_NUM_THREADS=1"]


def must(command, what):
    """Runs a command without which nothing can be judged."""
    try:
        code, output = call(command, what)
    except Skip as reason:
        sys.exit(str(reason))
    if code:
        sys.exit(f"{what} ends with {code}: {output.strip()}")


def judge(library, work, options):
    """Leaves the report of a library in `work`, with the options that judged it, the suite's commit and the day; or Skip."""
    reason = elsewhere(library)
    if reason:
        raise Skip(reason)
    install(library, work, options)
    what = target(library, work, options)
    report = work / "reports" / library["name"]
    shutil.rmtree(report, ignore_errors=True)
    env = [] if "backend" in library else [part for pair in THREADS for part in ("--env", pair)]
    # A process that holds a CUDA context takes some GiB of the host's memory.
    more = ["--memory", "16384"] if library.get("gpu") else []
    command = [options.conformance, "run", *what, *env, *more, "--allow-thin", "--no-shrink", "--report", str(report)]
    code, output = call(command, "conformance run", options.limit)
    if code not in (0, 1) or not (report / "report.json").is_file():
        raise Skip(f"conformance run ends with {code}: {last_line(output)}")
    of = {"commit": options.commit or commit(), "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    # Written last: a run that was broken off has none.
    (report / "what.json").write_text(json.dumps({"what": [readable(part) for part in (*what, *env, *more)], "of": of}))


def judged(library, work, findings, committed):
    """What is known of a library: by its report in `work`, or by the committed scoreboard.json where that is newer; None where nothing is."""
    folder = work / "reports" / library["name"]
    before = committed.get(library["name"])
    if not (folder / "what.json").is_file():
        return before
    told = json.loads((folder / "what.json").read_text())
    # A list is of a script that kept no date.
    if not isinstance(told, dict) or before and before["of"]["date"] > told["of"]["date"]:
        return before
    report = json.loads((folder / "report.json").read_text())
    plan = f"{report['plan']['tier']} tier, seed {report['plan']['seed']}"
    of = {**told["of"], "suite": report["suite_version"], "plan": plan}
    return {**summary(library, report, told["what"], findings), "of": of}


def records(report):
    """The cases of a report one by one: findings are whole, the rest is in packed columns (docs/reports.md)."""
    if report["schema"] != SCHEMA:
        raise Skip("its report is of another schema: judge it again")
    cases = report["cases"]
    columns, whole = json.loads(zlib.decompress(base64.b64decode(cases["packed"]))), iter(cases["whole"])
    for line, contract, stamps in zip(columns["case"], columns["contract"], columns["stamps"], strict=True):
        for stamp in stamps:
            named = {"case": line, "contract": contract or line.split("/")[0]}
            yield next(whole) if stamp is None else {**named, **cases["stamps"][stamp]}


def empty(case, sources):
    """Whether an operand of the judged call has no rows or columns."""
    parts = case["case"].split("/")
    return "n=0" in parts or 0 in sources.get(parts[1], ())[:2]


def adjudicate(name, case, findings, sources, explained):
    """The entry of findings.toml that a deviating case belongs to, or None; `explained` counts the cases of each, of which there may be `most`."""
    verdict = case["verdict"]
    words = json.dumps(verdict, ensure_ascii=False)
    for place, entry in enumerate(findings):
        if (
            entry["library"] == name
            and entry["verdict"] == verdict["kind"]
            and entry.get("defect") in (None, verdict.get("what"))
            and any(fnmatch.fnmatchcase(case["case"], pattern) for pattern in entry["cases"])
            and re.search(entry.get("says", ""), words)
            and (not entry.get("empty") or empty(case, sources))
            and (not entry.get("bare") or sources.get(case["case"].split("/")[1], (1, 1, 1))[2] == 0)
            and explained.get(place, 0) < entry.get("most", sys.maxsize)
        ):
            explained[place] = explained.get(place, 0) + 1
            return entry
    return None


def family(contract):
    """`spmm.csr`, or `convert.coo.csr`."""
    parts = contract.split(".")
    return ".".join(parts[: 3 if parts[0] == "convert" else 2])


def words_of(verdict):
    for key in ("message", "refusal", "last_words", "reason"):
        if verdict.get(key):
            # The exception, and not where on this machine.
            words = str(verdict[key]).strip()
            return textwrap.shorten(words.split("Traceback")[0].strip() or last_line(words), 300, placeholder=" ...")
    return verdict["kind"]


def summary(library, report, what, findings):
    """What scoreboard.json says of a library."""
    backend = report["backends"][0]
    sources = {s["spec"]: (s["rows"], s["cols"], s["nnz"]) for s in report["sources"]}
    families, groups, explained, not_run = {}, {}, {}, 0
    for case in records(report):
        kind = case["verdict"]["kind"]
        not_run += kind == "not_run"
        if kind in SILENT:
            continue
        counts = families.setdefault(family(case["contract"]), {"exact": 0, "within": 0, "agreed": 0, "deviates": 0, "kinds": []})
        if kind in PASSES:
            counts[PASSES[kind]] += 1
            continue
        counts["deviates"] += 1
        entry = adjudicate(library["name"], case, findings, sources, explained)
        label = entry["kind"] if entry else "not adjudicated"
        if label not in counts["kinds"]:
            counts["kinds"] = sorted([*counts["kinds"], label])
        named = f"{kind.replace('_', ' ')}: {case['verdict']['what']}" if case["verdict"].get("what") else kind.replace("_", " ")
        # Entries of one reason are one deviation.
        key = entry["why"] if entry else f"{family(case['contract'])} {named}"
        group = groups.setdefault(key, {"entry": entry, "verdicts": set(), "cases": []})
        group["verdicts"].add(named)
        group["cases"].append(case)
    deviations = []
    for group in groups.values():
        first = min(group["cases"], key=lambda case: (len(case["case"]), case["case"]))
        entry = group["entry"] or {}
        deviations.append({
            "kind": entry.get("kind", "not adjudicated"), "verdict": ", ".join(sorted(group["verdicts"])),
            "why": entry.get("why", "not adjudicated"), "checked": entry.get("checked"), "report": entry.get("report"),
            "cases": len(group["cases"]), "families": sorted({family(case["contract"]) for case in group["cases"]}),
            "example": first["case"], "says": words_of(first["verdict"]),
            "replay": f"conformance replay '{first['case']}' {shlex.join(what)}",
        })  # fmt: skip
    deviations.sort(key=lambda d: (page.KINDS.index(d["kind"]), d["families"], d["verdict"]))
    judged = sum(counts[k] for counts in families.values() for k in ("exact", "within", "agreed", "deviates"))
    if not judged:
        raise Skip("no case was judged")
    return {
        "name": library["name"], "title": library["title"], "home": library["home"], "version": backend["version"],
        "description": backend.get("description", ""), "judged": judged, "families": dict(sorted(families.items())),
        "declared": [{"choice": f"{d['point']}: {d['choice']}", "reason": d["reason"]} for d in backend.get("deviations", [])],
        "deviations": deviations, "not_run": not_run,
    }  # fmt: skip


def commit():
    """That of the checkout, with a plus where files have changed since."""
    try:
        names = [call(["git", "-C", str(ROOT), *of], "git") for of in (["rev-parse", "--short=8", "HEAD"], ["status", "--porcelain"])]
    except Skip:
        return "unknown"
    return "unknown" if any(code for code, _ in names) else names[0][1].strip() + ("+" if names[1][1].strip() else "")


def readable(part):
    """An option without the paths of this machine."""
    return part.replace(sys.executable, "python3").replace(str(ROOT) + "/", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conformance", default=shutil.which("conformance") or str(ROOT / "target/release/conformance"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/scoreboard", help="folder for what is installed and built")
    parser.add_argument("--out", type=pathlib.Path, help="folder for scoreboard.json and scoreboard.html; that of --work by default")
    parser.add_argument("--only", default="", help="names of libraries, comma-separated; the others stay as they were judged before")
    parser.add_argument("--no-install", dest="install", action="store_false", help="install nothing")
    parser.add_argument("--again", action="store_true", help="judge nothing: write the page from the reports that are there")
    parser.add_argument("--commit", help="of the suite that judges; that of the checkout by default")
    parser.add_argument("--limit", type=int, default=900, help="seconds for judging one library")
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    out = options.out or work
    libraries = tomllib.loads((HERE / "libraries.toml").read_text())["library"]
    findings = tomllib.loads((HERE / "findings.toml").read_text()).get("finding", [])
    chosen = set(options.only.split(",")) if options.only else {library["name"] for library in libraries}
    unknown = chosen - {library["name"] for library in libraries}
    if unknown:
        parser.error(f"no library of this name: {', '.join(sorted(unknown))}")
    if options.install and not options.again:
        if not (work / "venv/bin/python").exists():
            must([sys.executable, "-m", "venv", str(work / "venv")], "venv")
        must([str(work / "venv/bin/pip"), "install", "-q", "numpy", str(ROOT / "conformance/python")], "pip")
    committed = {row["name"]: row for row in json.loads((HERE / "scoreboard.json").read_text())["libraries"]}
    rows, skipped, failed, kept = [], [], [], 0
    for library in libraries:
        asked = library["name"] in chosen and not options.again
        reason = "" if asked else "not judged in this run"
        try:
            if asked:
                judge(library, work, options)
        except Skip as skip:
            reason = str(skip)
            failed.append(library["name"])
        try:
            row = judged(library, work, findings, committed)
        except Skip as skip:
            row, reason = committed.get(library["name"]), str(skip)
        if row is None:
            skipped.append({"title": library["title"], "reason": reason})
            print(f"{library['title']}: skipped: {reason}", flush=True)
            continue
        rows.append(row)
        kept += bool(reason)
        if asked:
            deviate = sum(d["cases"] for d in row["deviations"])
            before = f"; kept as it was judged on {row['of']['date']}: {reason}" if reason else ""
            print(f"{row['title']} {row['version']}: {row['judged']} cases judged, {deviate} deviate, {row['not_run']} not run{before}", flush=True)
    if not rows:
        sys.exit("nothing was judged")
    board = {"date": max(row["of"]["date"] for row in rows), "libraries": rows, "skipped": skipped}
    out.mkdir(parents=True, exist_ok=True)
    (out / "scoreboard.json").write_text(json.dumps(board, indent=1, ensure_ascii=False) + "\n")
    (out / "scoreboard.html").write_text(page.html(board))
    open_ones = sum(d["kind"] == "not adjudicated" for row in rows for d in row["deviations"])
    print(f"{len(rows)} libraries, {kept} of them kept as they were, {len(skipped)} skipped, {open_ones} kinds of deviations not adjudicated: {out / 'scoreboard.html'}")
    # A row that was kept has the words of the day on which it was judged.
    says = {(e["library"], e["kind"], e["why"], e.get("checked"), e.get("report")) for e in findings}
    for row in rows:
        for d in row["deviations"]:
            if d["kind"] != "not adjudicated" and (row["name"], d["kind"], d["why"], d["checked"], d["report"]) not in says:
                print(f"{row['title']}: findings.toml no longer says this; judge it again: {d['why']}", file=sys.stderr)
                sys.exit(2)
    # Who names a library wants it judged.
    sys.exit(1 if open_ones or options.only and failed else 0)


if __name__ == "__main__":
    main()
