#!/usr/bin/env bash
# Runs the tests under a sanitizer, and fails on any report of it, also of a process that was killed.
#
#     scripts/sanitize.sh thread|address
#
# The tests of the modules are instrumented themselves; of the end-to-end tests, the program is: in a
# release build, as it is installed. A later build compiles our modules anew, without instruments.
set -euo pipefail
cd "$(dirname "$0")/.."

# What cannot hold under a sanitizer, and why. Nothing is left out for a report that it makes.
skip=(
    # The program takes several times as much memory and CPU: rates, shares and sizes say nothing.
    'ShareTests' 'LimitRateTests' 'MinRateTests'
)
case "${1:-}" in
thread) ;;
address) ;;
*)
    echo "usage: scripts/sanitize.sh thread|address" >&2
    exit 64
    ;;
esac
sanitizer=$1
swift=${SWIFT:-swift}
work=$PWD/.build-$sanitizer
mkdir -p "$work"
reports=$work/reports
rm -rf "$reports"
mkdir -m 1777 "$reports"

# The tests that start the program, as they are; what is built next takes their place.
"$swift" build --build-tests
tests=$work/tests
cp .build/debug/seggetPackageTests.xctest "$tests"

export SEGGET_INSTRUMENT=$sanitizer
"$swift" build -c release --static-swift-stdlib --product segget
# Moved, so that nobody installs it.
mv .build/release/segget "$work/segget"
"$swift" build --build-tests
cp .build/debug/seggetPackageTests.xctest "$work/unit-tests"
unset SEGGET_INSTRUMENT

export SWIFT_BACKTRACE=enable=no
# Swift's runtime never frees what it made of the types that a program has: leaks are not told.
export TSAN_OPTIONS="log_path=$reports/report:exitcode=66"
export ASAN_OPTIONS="log_path=$reports/report:exitcode=66:detect_leaks=0"
export SEGGET_BINARY=$work/segget

failed=()
# Runs some tests, telling of those that fail.
run() {
    local name=$1 program=$2
    shift 2
    local arguments=(--testing-library swift-testing --no-parallel)
    for word in "${skip[@]}"; do arguments+=(--skip "$word"); done
    "$program" "${arguments[@]}" "$@" </dev/null >"$work/$name.log" 2>&1
}
# Two at a time: most of the tests wait for something.
run unit "$work/unit-tests" || failed+=(unit)
run end-to-end-1 "$tests" --filter '^EndToEndTests\.[A-L]' &
first=$!
run end-to-end-2 "$tests" --filter '^EndToEndTests\.[M-Z]' || failed+=(end-to-end-2)
wait "$first" || failed+=(end-to-end-1)

for name in "${failed[@]}"; do
    printf '\n== %s\n' "$work/$name.log"
    grep -aE -A 6 'recorded an issue|Fatal error' "$work/$name.log" | tail -n 60 || true
    grep -aE '^✘ (Test|Suite|Test run)' "$work/$name.log" | tail -n 20 || tail -n 20 "$work/$name.log"
done >&2
for report in "$reports"/*; do
    [ -e "$report" ] || continue
    printf '\n== %s\n' "$report"
    head -n 60 "$report"
    failed+=("$report")
done >&2
grep -ahE '^[✔✘] Test run' "$work"/*.log || true
[ ${#failed[@]} -eq 0 ]
