"""mdBook's preprocessor for docs/book.toml: pages that lie outside of docs/ and files that pages link to, in the book.

A page stands in the repository once and links to its neighbours there, which GitHub understands. In the book

- a page from outside of docs/ (`../conformance/PLUGIN.md` in SUMMARY.md) is built as conformance/PLUGIN.html;
- a link to a page of the book leads to that page;
- a link to another file or a folder leads to a page that shows it, in the last chapter.

mdBook calls it with `supports html`, then with the book as JSON on standard input, and takes it back from standard output.
"""

import json
import os
import re
import sys

from links import ROOT, links, resolve, summary, tracked

LANGUAGES = {"cu": "cpp", "h": "c", "hpp": "cpp", "py": "python", "rs": "rust", "yml": "yaml", "sh": "bash"}
LANGUAGES |= {name: name for name in ("c", "cpp", "toml", "yaml", "json")}
# Longer files are not shown: recordings and scorecards.
LONGEST = 100_000


def place(path):
    """Where the page of a path, from the root, lies in the book: pages of docs/ come first, what is no page gets a name of one."""
    inside = path.removeprefix("docs/")
    return inside if path.endswith(".md") else f"{inside.rstrip('/')}.file.md"


class Files:
    """Files and folders that pages of the book link to and that are no pages of it."""

    def __init__(self):
        self.files, self.folders = tracked()
        self.pages = set(summary())
        self.wanted = {}

    def target(self, chapter, page, target):
        """What a link on `page`, which is built as `chapter`, becomes."""
        found = resolve(page, target)
        if found is None:
            return target
        path, anchor = found
        if path in self.folders and f"{path}/README.md" in self.pages:
            path = f"{path}/README.md"
        if path not in self.pages:
            if path not in self.files and path not in self.folders:
                sys.exit(f"{page}: {target} leads nowhere")
            self.wanted.setdefault(path)
        there = os.path.relpath(place(path), os.path.dirname(chapter) or ".")
        return f"{there}#{anchor}" if anchor else there

    def relink(self, chapter, page, text):
        for at, target in reversed(links(text)):
            text = text[:at] + self.target(chapter, page, target) + text[at + len(target) :]
        return text

    def shown(self, path):
        """The page of a file or folder."""
        if path in self.folders:
            below = sorted(name for name in self.files if name.startswith(f"{path}/"))
            # What a large folder holds, or what is no text, is named and not shown.
            shown = [name for name in below if len(below) <= 20 and self.text(name) is not None]
            listed = (f"- [{name}]({self.target(place(path), 'README.md', name)})" if name in shown else f"- {name}" for name in below)
            return f"# {path}\n\nA folder of the repository.\n\n" + "\n".join(listed) + "\n"
        text = self.text(path)
        if text is None:
            size = (ROOT / path).stat().st_size
            return f"# {path}\n\nThis file of the repository has {size} bytes, too many for the book, or is no text.\n"
        if path.endswith(".md"):
            return self.relink(place(path), path, text)
        fence = "`" * (3 + max((len(run) for run in re.findall(r"`{3,}", text)), default=0))
        language = LANGUAGES.get(path.rpartition(".")[2], "text")
        return f"# {path}\n\nA file of the repository.\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

    def text(self, path):
        data = (ROOT / path).read_bytes()
        try:
            return data.decode() if len(data) <= LONGEST else None
        except UnicodeDecodeError:
            return None


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def main():
    _, book = json.load(sys.stdin)
    files = Files()
    for chapter in chapters(book["items"]):
        page = os.path.normpath(os.path.join("docs", chapter["path"]))
        chapter["path"] = chapter["source_path"] = place(page)
        chapter["content"] = files.relink(chapter["path"], page, chapter["content"])
    # A folder's page wants the pages of its files.
    while todo := [path for path in files.wanted if files.wanted[path] is None]:
        for path in todo:
            files.wanted[path] = files.shown(path)
    # The sidebar nests chapters by their numbers.
    number = 1 + max(chapter["number"][0] for chapter in chapters(book["items"]) if chapter["number"])

    def made(name, content, path, *numbers):
        chapter = {"name": name, "content": content, "path": path, "source_path": None, "sub_items": []}
        return {"Chapter": chapter | {"number": [number, *numbers], "parent_names": ["Files"] if numbers else []}}

    last = made("Files", "# Files\n\nFiles and folders of the repository that pages of this book link to.\n", "files.md")
    for count, path in enumerate(sorted(files.wanted), 1):
        last["Chapter"]["content"] += f"\n- [{path}]({place(path)})"
        last["Chapter"]["sub_items"].append(made("/".join(path.split("/")[-2:]), files.wanted[path], place(path), count))
    book["items"] += [{"PartTitle": "The repository"}, last]
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(sys.argv[2] != "html")
    main()
