#!/usr/bin/env bash
# Feeds every reader of segget with what libFuzzer makes up, as many at a time as there are processors.
#
#     scripts/fuzz.sh [SECONDS] [TARGET…]     15 seconds each, all targets
#
# It begins from Fuzz/corpus. What it finds is kept in .build-fuzz (or FUZZ_WORK), and so are the inputs
# that broke something. A later build compiles our modules anew, without instruments.
set -euo pipefail
cd "$(dirname "$0")/.."

export seconds=${1:-15}
shift || true
export work=${FUZZ_WORK:-.build-fuzz}
export program=$work/segget-fuzz
mkdir -p "$work"
rm -f "$work"/*.failed
SEGGET_INSTRUMENT=fuzzer "${SWIFT:-swift}" build --product segget-fuzz
cp .build/debug/segget-fuzz "$program"
[ $# -gt 0 ] || mapfile -t targets < <(SEGGET_FUZZ=list "$program")
[ $# -eq 0 ] || targets=("$@")

# libFuzzer reports a crash itself. Swift's runtime never frees what it made of types: that is no leak.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
feed() {
    local target=$1 log=$work/$1.log result=0
    mkdir -p "$work/$target"
    SEGGET_FUZZ=$target "$program" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 \
        -max_len=4096 -dict=Fuzz/tokens.dict -artifact_prefix="$work/$target-" \
        "$work/$target" "Fuzz/corpus/$target" </dev/null >"$log" 2>&1 || result=$?
    printf '%-16s %s\n' "$target" "$(grep -aE '^Done ' "$log" || echo "exit code $result")"
    [ "$result" -eq 0 ] || touch "$work/$target.failed"
}
export -f feed
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I '{}' bash -c 'feed {}'

status=0
for mark in "$work"/*.failed; do
    [ -e "$mark" ] || continue
    status=1
    target=$(basename "$mark" .failed)
    printf '\n== %s\n' "$target"
    tail -n 40 "$work/$target.log" | grep -aE 'Fatal error|ERROR: |SUMMARY|Test unit written' || tail -n 20 "$work/$target.log"
    input=$(grep -aoE "$work/$target-[a-z]+-[0-9a-f]+" "$work/$target.log" | tail -n 1 || true)
    [ -z "$input" ] || echo "replay: SWIFT_BACKTRACE=enable=no SEGGET_FUZZ=$target $program $input"
done >&2
exit "$status"
