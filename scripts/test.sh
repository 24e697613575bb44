#!/usr/bin/env bash
# Runs the built tests, or with arguments those that `swift test` takes by them.
#
# In four processes side by side: most tests wait for other processes, for networks and for limits of time.
# Within each, one after the other. What failed is told again at the end, where whoever reads a long log
# looks first.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
[ $# -eq 0 ] || exec "$swift" test --skip-build --no-parallel "$@"

tests=$("$swift" build --show-bin-path)/seggetPackageTests.xctest
logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT
declare -A parts=(
    [modules-and-p]='--skip ^EndToEndTests\.[A-OQ-Z]'
    [a-to-h]='--filter ^EndToEndTests\.[A-H]'
    [i-to-o]='--filter ^EndToEndTests\.[I-O]'
    [q-to-z]='--filter ^EndToEndTests\.[Q-Z]'
)
declare -A pids=()
for part in "${!parts[@]}"; do
    # Two words, and none of them has a space.
    # shellcheck disable=SC2086
    "$tests" --testing-library swift-testing --no-parallel ${parts[$part]} </dev/null >"$logs/$part" 2>&1 &
    pids[$part]=$!
done
failed=()
for part in "${!parts[@]}"; do
    code=0
    wait "${pids[$part]}" || code=$?
    # Without a number of tests that passed, it did not come to its end.
    if [ $code -ne 0 ] || ! grep -aqE 'Test run with [1-9][0-9]* tests .*passed' "$logs/$part"; then
        failed+=("$part")
        cat "$logs/$part"
    fi
    printf '%s, exit code %d: %s\n' "$part" "$code" "$(grep -aE 'Test run with' "$logs/$part" || echo 'it did not end')"
done
# Without root or without namespaces some cannot be tried.
grep -ahE '^. (Test|Suite) .* skipped' "$logs"/* || true
for part in "${failed[@]}"; do
    printf '\n== what failed in %s\n' "$part"
    grep -aE -A 12 'recorded an issue|^error:|Fatal error|Crash' "$logs/$part" | tail -n 80 || true
    grep -aE '^✘ (Test|Suite|Test run)' "$logs/$part" | tail -n 20 || tail -n 30 "$logs/$part"
done >&2
[ ${#failed[@]} -eq 0 ]
