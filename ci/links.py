"""Links in the project's Markdown pages: each relative one must lead to a file or folder that git knows, and each anchor to a heading of
its page; every page in docs/ must stand in docs/SUMMARY.md.

    python3 ci/links.py                 the pages as they are written
    python3 ci/links.py target/book     the book as mdBook has built it
"""

import html.parser
import os
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# `[text](target "title")`, also of pictures; the target is the first group. Reference links and `<https://..>` are not used here.
LINK = re.compile(r"(?<=\]\()([^()\s]+)(?=(?:\s+\"[^\"]*\")?\))")
FENCE = re.compile(r"^( {0,3})(```+|~~~+)[^\n]*\n.*?^ {0,3}\2[`~]* *$\n?", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def tracked():
    """Files that git knows or would take, from the repository's root, and all folders that hold them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    files = {name for name in names.stdout.splitlines() if (ROOT / name).exists()}
    return files, {str(parent) for name in files for parent in Path(name).parents}


def blank(match):
    """As many lines and characters, nothing in them."""
    return re.sub(r"[^\n]", " ", match[0])


def prose(text):
    """The text without code, at the same places: what looks like a link there is none."""
    return CODE.sub(blank, FENCE.sub(blank, text))


def links(text):
    """The place and the target of each link."""
    return [(match.start(), match[1]) for match in LINK.finditer(prose(text))]


def resolve(page, target):
    """Path from the root and anchor of what a link on `page` names; None for another site's."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    return (os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page), anchor


def anchors(text):
    """Anchors of a page's headings, as GitHub makes them; mdBook makes the same of the headings here (the built book is checked too)."""
    found, seen = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)), {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#* *$", FENCE.sub(blank, text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return found


def summary():
    """Pages of the book, from the root, in order."""
    return [resolve("docs/SUMMARY.md", target)[0] for _, target in links((ROOT / "docs/SUMMARY.md").read_text())]


def check_pages():
    files, folders = tracked()
    pages = sorted(name for name in files if name.endswith(".md") and not name.startswith("fuzz/corpus/"))
    texts = {page: (ROOT / page).read_text() for page in pages}
    known = {page: anchors(text) for page, text in texts.items()}
    faults, count = [], 0
    for page, text in texts.items():
        for at, target in links(text):
            found = resolve(page, target)
            if found is None:
                continue
            count += 1
            path, anchor = found
            where = f"{page}:{text.count(chr(10), 0, at) + 1}: {target}"
            if path not in files and path not in folders:
                faults.append(f"{where}: there is no {path}")
            elif anchor and path in known and anchor not in known[path]:
                faults.append(f"{where}: {path} has no heading #{anchor}")
    listed = summary()
    for page in pages:
        if page.startswith("docs/") and page != "docs/SUMMARY.md" and page not in listed:
            faults.append(f"docs/SUMMARY.md: {page} is missing")
    faults += [f"docs/SUMMARY.md: {page} stands there twice" for page in sorted(set(listed)) if listed.count(page) > 1]
    return faults, f"{count} relative links in {len(pages)} pages lead somewhere, and the book has all of docs/"


class Page(html.parser.HTMLParser):
    """Links and ids of one built page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif value and name in ("href", "src") and tag in ("a", "link", "img", "script", "iframe"):
                self.links.append(value)


def check_book(book):
    # toc.html stands in a frame of other pages, and 404.html may stand anywhere.
    paths = (path for path in sorted(book.rglob("*.html")) if path.name not in ("404.html", "toc.html"))
    pages = {path.relative_to(book).as_posix(): Page(path) for path in paths}
    faults, count = [], 0
    for name, page in pages.items():
        for target in page.links:
            found = resolve(name, target)
            if found is None:
                continue
            count += 1
            path, anchor = found
            if not (book / path).is_file():
                faults.append(f"{name}: {target}: there is no {path}")
            elif anchor and path in pages and anchor not in pages[path].ids:
                faults.append(f"{name}: {target}: no #{anchor}")
    return faults, f"{count} links in the {len(pages)} pages of the built book lead somewhere"


if __name__ == "__main__":
    faults, words = check_book(Path(sys.argv[1])) if len(sys.argv) > 1 else check_pages()
    if faults:
        sys.exit("\n".join(faults))
    print(f"ci: {words}")
