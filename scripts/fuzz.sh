#!/usr/bin/env bash
# Feeds every reader of segget with what libFuzzer makes up.
#
#     scripts/fuzz.sh [SECONDS] [TARGET…]     15 seconds each, all targets
#
# It begins from Fuzz/corpus. What it finds is kept in .build-fuzz (or FUZZ_WORK), and so are the inputs
# that broke something. A later build compiles our modules anew, without instruments.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-15}
shift || true
work=${FUZZ_WORK:-.build-fuzz}
mkdir -p "$work"

SEGGET_INSTRUMENT=fuzzer "${SWIFT:-swift}" build --product segget-fuzz
program=$work/segget-fuzz
cp .build/debug/segget-fuzz "$program"
[ $# -gt 0 ] || mapfile -t targets < <(SEGGET_FUZZ=list "$program")
[ $# -eq 0 ] || targets=("$@")

# libFuzzer tells of a crash itself. Swift's runtime keeps what it made at its start to its end: no leak.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
failed=()
for target in "${targets[@]}"; do
    new=$work/$target
    mkdir -p "$new"
    log=$work/$target.log
    result=0
    SEGGET_FUZZ=$target "$program" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 \
        -max_len=4096 -dict=Fuzz/tokens.dict -artifact_prefix="$work/$target-" \
        "$new" "Fuzz/corpus/$target" </dev/null >"$log" 2>&1 || result=$?
    printf '%-16s %s\n' "$target" "$(grep -aE '^Done |^SUMMARY' "$log" || echo "exit code $result")"
    [ "$result" -eq 0 ] || failed+=("$target")
done
[ ${#failed[@]} -gt 0 ] || exit 0

for target in "${failed[@]}"; do
    printf '\n== %s\n' "$target"
    grep -aE 'Fatal error|ERROR: |Test unit written' "$work/$target.log" || tail -n 20 "$work/$target.log"
    input=$(grep -aoE "$work/$target-[a-z]+-[0-9a-f]+" "$work/$target.log" | tail -n 1 || true)
    [ -z "$input" ] || echo "replay: SWIFT_BACKTRACE=enable=no SEGGET_FUZZ=$target $program $input"
done >&2
exit 1
