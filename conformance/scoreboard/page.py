"""The scoreboard as one static page: a table of libraries by families of contracts, then each library with what it declares and its deviations.

Nothing is loaded from a network, and nothing moves: no script. Light and dark follow the reader's system.
"""

import re
from html import escape

# From what weighs most.
KINDS = ["bug", "not adjudicated", "precision", "policy"]
HEADS = {"spmm": "SpMM", "spmv": "SpMV", "sddmm": "SDDMM", "spgemm": "SpGEMM", "transpose": "transpose", "convert": "conversion"}
FORMATS = ["coo", "csr", "csc", "bcsr"]

STYLE = """
:root { color-scheme: light dark; --ink: #1c1f24; --paper: #fff; --soft: #667; --line: #d8dae0; --head: #f4f5f8;
  --exact: #cdebd3; --within: #e3f1d5; --policy: #fbeec2; --precision: #fbdcb4; --bug: #f4c0bc; --open: #dccdf0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --paper: #15171b; --soft: #9aa0ac; --line: #343840; --head: #1e2127;
  --exact: #1f4a2b; --within: #33481f; --policy: #55470f; --precision: #5e3d12; --bug: #66251f; --open: #43306b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 92rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem } h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem } p { max-width: 62rem; margin: .5rem 0; overflow-wrap: anywhere }
a { color: inherit } .soft { color: var(--soft) } .scroll { overflow-x: auto }
table { border-collapse: collapse; font-size: 12.5px } th, td { border: 1px solid var(--line); padding: .25rem .22rem; text-align: center }
thead th { background: var(--head); font-weight: 600 } th[scope=row] { text-align: left; white-space: nowrap; background: var(--head);
  position: sticky; left: 0; font-weight: 600 } thead th.corner { position: sticky; left: 0 } th[scope=row] span { color: var(--soft); font-weight: 400 }
.exact { background: var(--exact) } .within { background: var(--within) } .policy { background: var(--policy) }
.precision { background: var(--precision) } .bug { background: var(--bug) } .not-adjudicated { background: var(--open) }
.key { margin: .8rem 0 } .key span { display: inline-block; padding: .1rem .5rem; margin-right: .6rem; border: 1px solid var(--line); border-radius: 3px; white-space: nowrap; line-height: 2 }
.deviation { border-left: 4px solid var(--line); padding: .1rem .8rem; margin: .7rem 0 } .tag { padding: .05rem .45rem; border-radius: 3px }
code { font: 12px/1.4 ui-monospace, monospace } pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--head); padding: .4rem .6rem; margin: .3rem 0 }
ul { margin: .3rem 0; padding-left: 1.2rem }
@media (max-width: 40rem) { th[scope=row] span { display: none } }
"""


def columns(board):
    """Families that any library has, in the order of HEADS and FORMATS."""
    seen = {family for row in board["libraries"] for family in row["families"]}
    place = lambda family: [list(HEADS).index(family.split(".")[0]), *(FORMATS.index(part) if part in FORMATS else 99 for part in family.split(".")[1:])]
    return sorted(seen, key=lambda family: (place(family), family))


def cell(counts):
    if counts is None:
        return '<td class="soft" title="not supported">·</td>'
    total = sum(counts[k] for k in ("exact", "within", "agreed", "deviates"))
    told = f"{counts['exact']} exact, {counts['within']} within, {counts['agreed']} agreed refusals, {counts['deviates']} deviate, of {total}"
    if counts["deviates"]:
        worst = min(counts["kinds"], key=KINDS.index)
        return f'<td class="{worst.replace(" ", "-")}" title="{told}: {", ".join(counts["kinds"])}">{counts["deviates"]}/{total}</td>'
    kind = "within" if counts["within"] else "exact"
    return f'<td class="{kind}" title="{told}">{total}</td>'


def table(board):
    families = columns(board)
    groups = {head: [f for f in families if f.split(".")[0] == head] for head in HEADS}
    top = "".join(f'<th colspan="{len(group)}">{HEADS[head]}</th>' for head, group in groups.items() if group)
    names = "".join(f"<th>{'→<br>'.join(part.upper() for part in family.split('.')[1:])}</th>" for family in families)
    rows = "".join(
        f'<tr><th scope="row"><a href="#{escape(row["name"])}">{escape(row["title"])}</a> <span title="{escape(row["version"])}">{escape(short(row["version"]))}</span></th>'
        + "".join(cell(row["families"].get(family)) for family in families) + "</tr>\n"
        for row in board["libraries"]
    )  # fmt: skip
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Libraries by families of contracts"><table><thead><tr><th class="corner" rowspan="2">library</th>{top}</tr><tr>{names}</tr></thead><tbody>\n{rows}</tbody></table></div>'


def short(version):
    """The number in a version string."""
    found = re.search(r"\d+(\.\d+)*", version)
    return found[0] if found else version


def deviation(d):
    tag = d["kind"].replace(" ", "-")
    where = ", ".join(f"<code>{escape(family)}</code>" for family in d["families"])
    checked = f'<p class="soft">Checked: {escape(d["checked"])}</p>' if d["checked"] else ""
    report = f' Program: <code>conformance/scoreboard/{escape(d["report"])}</code>.' if d["report"] else ""
    return (
        f'<div class="deviation"><p><span class="tag {tag}">{d["kind"]}</span> {escape(d["why"])}{report}</p>'
        f'<p class="soft">{escape(d["verdict"])}; {d["cases"]} cases of {where}. For example: {escape(d["says"])}</p>{checked}'
        f"<pre><code>{escape(d['replay'])}</code></pre></div>\n"
    )


def library(row):
    declared = "".join(f"<li>{escape(d['choice'])} <span class='soft'>({escape(d['reason'])})</span></li>" for d in row["declared"])
    declared = f"<p>Declared beforehand, and judged as declared:</p><ul>{declared}</ul>" if declared else ""
    return (
        f'<h2 id="{escape(row["name"])}"><a href="{escape(row["home"])}">{escape(row["title"])}</a> {escape(row["version"] if len(row["version"]) < 30 else short(row["version"]))}</h2>'
        f'<p class="soft">{escape(row["description"])}. {row["judged"]:,} cases judged on {escape(row["of"]["date"][:10])} by the suite {escape(row["of"]["suite"])} of commit {escape(row["of"]["commit"])}, {escape(row["of"]["plan"])}.</p>{declared}'
        + (f"<p>{row['not_run']} more cases were asked and gave no verdict, most of them because others in the same process had failed.</p>" if row["not_run"] else "")
        + ("".join(map(deviation, row["deviations"])) or "<p>No deviation was found.</p>")
    )


def html(board):
    key = " ".join(
        f'<span class="{name}">{words}</span>'
        for name, words in (
            ("exact", "exact: every case bit for bit"), ("within", "within: inside of the derived bound"), ("policy", "deviates: a policy of its own"),
            ("precision", "deviates: precision"), ("bug", "deviates: bug"), ("not-adjudicated", "deviates: not adjudicated"), ("soft", "· not supported"),
        )
    )  # fmt: skip
    skipped = "".join(f"<li>{escape(s['title'])}: {escape(s['reason'])}</li>" for s in board["skipped"])
    skipped = f"<h2>Not judged</h2><ul>{skipped}</ul>" if skipped else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Sparse scoreboard</title><style>{STYLE}</style></head><body><main>\n<h1>Sparse scoreboard</h1>\n"
        f'<p class="soft">Sparse conformance, {escape(board["date"][:10])}.</p>\n'
        "<p>Each library is asked, through a small adapter, what its interface takes, and each answer is compared with exact arithmetic. A number "
        "is the count of cases; where some deviate, it is how many of how many, in the colour of the worst. Illegal requests that a library refuses, as it should, are among them. A deviation is no bug by itself: below the table each has a "
        "kind, a reason that was checked apart from the suite where it is adjudicated, and the line that runs it again. Few libraries promise what a contract "
        "here asks of infinities, subnormal numbers or stored zeros.</p>\n"
        '<p class="soft">Names of contracts, as spmm.csr.f32: operation, format, type of the elements. The lines that run a case again are for the root of '
        "the repository, after <code>conformance/scoreboard/run.py --only NAME</code>, with its folder (target/scoreboard) in place of the one that "
        "they name under /tmp.</p>\n"
        f'<p class="key">{key}</p>\n{table(board)}\n{"".join(map(library, board["libraries"]))}{skipped}\n</main></body></html>\n'
    )
