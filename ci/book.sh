#!/usr/bin/env bash
# The book of docs/ in target/book. Links in all Markdown pages lead somewhere, and the book has each page of docs/: that needs Python only.
# Then mdBook builds it, and links in what it built are checked.
#   ci/book.sh                   mdBook of the version below: the one on the path, or compiled into target/tools (half a minute)
#   MDBOOK_INSTALL=0 ci/book.sh  compiles nothing: the one on the path, or none
source "$(dirname "$0")/env.sh"
version=0.5.4
command -v python3 >/dev/null || { skip "the book: no python3"; exit 0; }
python3 ci/links.py

target="${CARGO_TARGET_DIR:-$PWD/target}"
tools="$target/tools"
mkdir -p "$tools"
export PATH="$tools/bin:$PATH"
have() { [ "$(mdbook --version 2>/dev/null)" = "mdbook v$version" ]; }
if ! have && [ "${MDBOOK_INSTALL:-1}" = 1 ]; then
  # Without optimisation: it builds this book in three seconds. A browser's search is all that is wanted of its features.
  if ! CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$tools/target" \
    cargo install mdbook --version "$version" --locked --debug --no-default-features --features search --root "$tools" >"$tools/mdbook.txt" 2>&1; then
    tail -n 5 "$tools/mdbook.txt"
  fi
  rm -rf "$tools/target"
fi
have || { skip "the book is not built: mdBook $version is not on the path and was not installed"; exit 0; }
# A book of before must not hide that a page is gone.
rm -rf "$target/book"
mdbook build docs --dest-dir "$target/book"
python3 ci/links.py "$target/book"
say "the book is in $target/book: open index.html"
