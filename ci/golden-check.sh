#!/usr/bin/env bash
# Snapshots are what a person reviewed, and all of them are used. Writes none.
#
# The tests are selected from the whole workspace, so that this builds what `ci/test.sh` needs anyway, and nothing else.
source "$(dirname "$0")/env.sh"
failed=0
refuse() { say "$*"; failed=1; }

snapshots() { find . \( -path ./target -o -path ./fuzz/target -o -path ./fuzz/judge/target -o -path ./.git \) -prune -o -type f "$@" -print | sort; }

while IFS= read -r file; do
  refuse "$file was never reviewed: run cargo insta review, or delete it"
done < <(snapshots \( -name '*.snap.new' -o -name '.*.pending-snap' -o -name '*.pending-snap' \))

# insta writes these lines into what waits for a review only; renaming a file is no review.
while IFS= read -r file; do
  if sed -n '2,/^---$/p' "$file" | grep -q '^assertion_line:'; then
    refuse "$file was renamed, not reviewed: it has insta's line 'assertion_line'"
  fi
  if [ -n "$(git ls-files --others --exclude-standard -- "$file" 2>/dev/null)" ]; then
    say "note: $file is not yet committed"
  fi
done < <(snapshots -name '*.snap')

# insta deletes what waits for a review once the reviewed text fits, so the tests run only where nothing waits.
[ "$failed" -eq 0 ] || exit 1

references="$(mktemp)"
trap 'rm -f "$references"' EXIT
INSTA_UPDATE=no INSTA_FORCE_PASS=0 INSTA_SNAPSHOT_REFERENCES_FILE="$references" \
  cargo test --workspace --no-fail-fast --test pinned --test tolerances || failed=1

asserted="$(while IFS= read -r file; do realpath "$file"; done <"$references" | sort -u)"
[ -n "$asserted" ] || refuse "no test asserted a snapshot"
while IFS= read -r file; do
  grep -qxF "$(realpath "$file")" <<<"$asserted" || refuse "$file is asserted by no test: delete it, or bring its test back"
done < <(snapshots -name '*.snap')

[ "$failed" -eq 0 ] || exit 1
say "snapshots: $(snapshots -name '*.snap' | wc -l) reviewed, all asserted"
