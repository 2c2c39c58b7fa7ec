#!/usr/bin/env bash
# What the GitHub Action beside this runs, and any other CI can: fetches a released `conformance`, compares its checksum, judges, and ends
# with its exit code. Everything comes from variables:
#
#   CONFORMANCE_RUN      options of `conformance run`, quoted as for a shell: --exec 'python mine.py' --tier full
#   CONFORMANCE_SHARD    I/N or auto: a part of the plan, whose findings (exit code 1) are left to the merge; empty for all of it
#   CONFORMANCE_MERGE    folders of parts' reports, instead of a run
#   CONFORMANCE_REPORT   folder for the report
#   CONFORMANCE_RELEASE  folder or https address that holds conformance-<machine>-linux.tar.xz and SHA256SUMS; empty: the release of
#                        ACTION_REPOSITORY at ACTION_REF. Where `conformance` is on the path already, nothing is fetched
set -euo pipefail
report="${CONFORMANCE_REPORT:-conformance-report}"

if ! command -v conformance >/dev/null; then
  release="${CONFORMANCE_RELEASE:-https://github.com/${ACTION_REPOSITORY:?where is the release?}/releases/download/${ACTION_REF:?of which version?}}"
  archive="conformance-$(uname -m)-linux.tar.xz"
  folder="$(mktemp -d)"
  for file in "$archive" SHA256SUMS; do
    if [ -d "$release" ]; then cp "$release/$file" "$folder"; else curl -fsSL --retry 3 -o "$folder/$file" "$release/$file"; fi
  done
  (cd "$folder" && grep " $archive\$" SHA256SUMS | sha256sum --check --quiet -) || {
    echo "::error::$archive of $release is not what its SHA256SUMS says"
    exit 2
  }
  tar -xJf "$folder/$archive" -C "$folder"
  export PATH="$folder:$PATH"
fi

summary=()
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then summary=(--github); fi
if [ -n "${CONFORMANCE_MERGE:-}" ]; then
  read -r -a parts <<<"$CONFORMANCE_MERGE"
  asked=(merge "$report" "${parts[@]}")
else
  # Words as a shell quotes them, without running any of them.
  mapfile -t options < <(xargs -n 1 printf '%s\n' <<<"${CONFORMANCE_RUN:?who is judged?}")
  asked=(run "${options[@]}" --report "$report")
  if [ -n "${CONFORMANCE_SHARD:-}" ]; then asked+=(--shard "$CONFORMANCE_SHARD") summary=(); fi
fi
outcome=0
conformance "${asked[@]}" "${summary[@]}" || outcome=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then echo "outcome=$outcome" >>"$GITHUB_OUTPUT"; fi
if [ -n "${CONFORMANCE_SHARD:-}" ] && [ "$outcome" -eq 1 ]; then exit 0; fi
exit "$outcome"
