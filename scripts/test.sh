#!/usr/bin/env bash
# Runs the built tests, one after the other: most wait for processes and networks, and each has a limit of time.
# Not in parallel, not even those of pure values: all of these together take some twenty seconds.
# What failed is told again at the end, where whoever reads a long log looks first.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "${SWIFT:-swift}" test --skip-build --no-parallel "$@" 2>&1 | tee "$log"; then
    printf '\n== what failed\n' >&2
    grep -aE -A 12 'recorded an issue|^error:|Fatal error|Crash' "$log" | tail -n 80 >&2 || true
    grep -aE '^✘ (Test|Suite|Test run)' "$log" | tail -n 20 >&2 || true
    exit 1
fi
