#!/usr/bin/env python3
"""Brings the device.json files of `conformance bench --device` together: docs/evidence/NAME.json (every row) and NAME.md (tables).

    ci/evidence.py --commit HASH --driver TEXT --checks FILE.md --out docs/evidence/NAME DEVICE.json...

Ratios are against the fastest f32 product of NVIDIA's libraries on the same operands. Means are geometric. Nothing is chosen: a row
that is wrong is listed as such and left out of the means.
"""
import argparse
import json
import math
import re
import sys
from collections import defaultdict
from pathlib import Path


# Of FormatParams.
DEFAULT_NM = {"n": 2, "m": 4, "l": 4}


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def shown(command):
    """A command line, whether it is kept as text or as words."""
    return command if isinstance(command, str) else " ".join(command)


def pattern(row):
    """N:M of a structured product, from its case line, which leaves out what is the default; none for a matrix."""
    if not row["matrix"].startswith("uniform:"):
        return None
    if ".two_four." in row["case"]:
        return (1, 2, 1) if row["input"] == "tf32" else (2, 4, 1)
    if ".nm." not in row["case"]:
        return None
    found = dict(re.findall(r"/nm_([nml])=(\d+)", row["case"]))
    return tuple(int(found.get(k, default)) for k, default in DEFAULT_NM.items())


def shape(row):
    """m, k, n of C = D W: N:M stores W (k x n), 2:4 its transpose."""
    k, n = (row["cols"], row["rows"]) if ".two_four." in row["case"] else (row["rows"], row["cols"])
    return row["n"], k, n


def key(row):
    return (row["matrix"], row["op"], row["n"], pattern(row))


def speeds(rows):
    """Seconds of the fastest f32 product of a library, cold and warm, for each problem."""
    best = defaultdict(lambda: (math.inf, math.inf))
    for row in rows:
        if not row["ours"] and row["input"] == "f32":
            cold, warm = best[key(row)]
            best[key(row)] = (min(cold, row["cold"]), min(warm, row["warm"]))
    return best


def products(rows, best, out):
    problems = sorted({(r["op"], r["n"]) for r in rows if pattern(r) is None})
    for op, n in problems:
        out.append(f"## {op.upper()}, {'N' if op == 'spmm' else 'inner extent'} = {n}\n")
        out.append("| kernel | matrices | cold | warm | least | most | of the byte bound |\n|---|---:|---:|---:|---:|---:|---:|")
        ratios = defaultdict(dict)
        mine = [r for r in rows if (r["op"], r["n"]) == (op, n) and pattern(r) is None and key(r) in best]
        for kernel in sorted({r["kernel"] for r in mine}):
            of = [r for r in mine if r["kernel"] == kernel]
            for r in of:
                ratios[kernel][r["matrix"]] = best[key(r)][0] / r["cold"]
            cold = list(ratios[kernel].values())
            warm = [best[key(r)][1] / r["warm"] for r in of]
            bound = mean(r["bound"] / r["cold"] for r in of)
            out.append(
                f"| {kernel} | {len(of)} | {mean(cold):.2f} | {mean(warm):.2f} | {min(cold):.2f} | {max(cold):.2f} | {100 * bound:.0f} % |"
            )
        for precision in ("tf32", "f16") if op == "spmm" else ():
            tiled = [k for k in ratios if ("rs_tile" in k or "libra" in k) and f"_{precision}_{precision}_" in k]
            if len(tiled) > 1:
                on = set.intersection(*(set(ratios[k]) for k in tiled))
                better = mean(max(ratios[k][m] for k in tiled) for m in on)
                out.append(f"\nBetter of RSH and Libra, {precision}: {better:.2f} over {len(on)} matrices.")
        out.append("")


def structured(rows, peak, bandwidth, out):
    rows = [r for r in rows if pattern(r) is not None]
    if not rows:
        return
    out.append("## N:M against cuBLAS SGEMM (TF32 off) of the dense product\n")
    out.append("| m, k, n | N:M, L | kernel | ms | times SGEMM | TFLOP/s executed | of min(FFMA, AI x bandwidth) |\n|---|---|---|---:|---:|---:|---:|")
    dense = {}
    for r in rows:
        if "cublas" in r["kernel"] and r["input"] == "f32":
            dense.setdefault(shape(r), []).append(r["cold"])
    for r in sorted(rows, key=lambda r: (*shape(r)[::-1], -pattern(r)[0], pattern(r)[2], r["kernel"])):
        times = sorted(dense.get(shape(r), []))
        against = f"{times[len(times) // 2] / r['cold']:.2f}" if times else ""
        n, m, length = pattern(r)
        rate = share = ""
        if r["ours"]:
            rate = f"{r['operations'] / r['cold'] / 1e12:.1f}"
            if r["input"] == "f32":
                limit = min(peak, r["operations"] / r["bytes"] * bandwidth)
                share = f"{100 * r['operations'] / r['cold'] / limit:.0f} %"
        out.append(f"| {', '.join(map(str, shape(r)))} | {n}:{m}, {length} | {r['kernel']} | {r['cold'] * 1e3:.3f} | {against} | {rate} | {share} |")
    out.append("")


def conversions(found, out):
    if not found:
        return
    out.append("## Preprocessing on the device, beside the optimised conversion on all cores of the same machine\n")
    out.append("| matrix | nnz | conversion | on the device, ms | its passes alone | CPU, ms | threads | times | verdict |")
    out.append("|---|---:|---|---:|---:|---:|---:|---:|---|")
    for c in found:
        out.append(
            f"| {c['matrix']} | {c['nnz']} | {c['kernel']} | {c['whole'] * 1e3:.2f} | {c['passes'] * 1e3:.2f} | {c['cpu'] * 1e3:.1f}"
            f" | {c['threads']} | {c['cpu'] / c['whole']:.1f} | {'right' if c['right'] else 'WRONG'}: {c['verdict']['kind']} |"
        )
    out.append("")


def every_row(rows, best, out):
    out.append("## Every row\n\n| matrix | nnz | N | kernel | tiers | cold us | warm us | bound us | times | convert ms | prepare ms |")
    out.append("|---|---:|---:|---|---|---:|---:|---:|---:|---:|---:|")
    for r in rows:
        if pattern(r) is None:
            times = f"{best[key(r)][0] / r['cold']:.2f}" if key(r) in best else ""
            out.append(
                f"| {r['matrix']} | {r['nnz']} | {r['n']} | {r['kernel']} | {' '.join(r['tiers'])} | {r['cold'] * 1e6:.1f} | {r['warm'] * 1e6:.1f}"
                f" | {r['bound'] * 1e6:.1f} | {times} | {r['conversion'] * 1e3:.1f} | {r['preparation'] * 1e3:.1f} |"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("commit", "driver", "checks", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    reports = [json.loads(file.read_text()) for file in args.files]
    head = reports[0]
    rows = [row for report in reports for row in report["rows"]]
    for row in rows:
        row["matrix"] = re.sub(r"^file:\[(?:.*/)?open/(.*)\]$", r"\1", row["matrix"])
    same = ("schema", "suite_version", "device", "capability", "driver", "bandwidth", "peak_f32")
    gathered = {name: head[name] for name in same} | {
        "driver_library": args.driver,
        "commit": args.commit,
        "commands": sorted({shown(r["environment"]["command_line"]) for r in reports}),
        "rows": rows,
        "conversions": [c for report in reports for c in report.get("conversions", [])],
        "skipped": [skipped for report in reports for skipped in report["skipped"]],
    }
    Path(f"{args.out}.json").write_text(json.dumps(gathered) + "\n")
    timed = [r for r in rows if r["right"] and r["cold"] > 0]
    best = speeds(timed)
    out = [
        f"# {head['device']}, {Path(args.out).name}\n",
        f"Compute capability {head['capability'][0]}.{head['capability'][1]}, {args.driver}. Copies on the device {head['bandwidth'] / 1e12:.2f} TB/s,"
        f" fused multiply-adds of f32 {head['peak_f32'] / 1e12:.1f} TFLOP/s, both measured in the run. Commit {args.commit}.\n",
        Path(args.checks).read_text(),
    ]
    products(timed, best, out)
    structured(timed, head["peak_f32"], head["bandwidth"], out)
    conversions(gathered["conversions"], out)
    wrong = [r for r in rows if not r["right"]]
    out.append(f"{len(gathered['conversions'])} conversions, {sum(not c['right'] for c in gathered['conversions'])} wrong.\n")
    out.append(f"{len(rows)} rows, {len(wrong)} wrong ({sum(r['ours'] for r in wrong)} of them ours).\n")
    out += [f"- {r['kernel']} on {r['matrix']}: {json.dumps(r['verdict'])[:200]}" for r in wrong]
    every_row(timed, best, out)
    Path(f"{args.out}.md").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    sys.exit(main())
