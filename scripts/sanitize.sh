#!/usr/bin/env bash
# Runs the tests under sanitizers, and fails on any report, also of a process that was killed.
#
#     scripts/sanitize.sh [--brief] [thread|address…]     both
#
# With --brief, as the CI has time for: the tests of the modules under both; of the end-to-end tests those
# in which most goes on at a time under ThreadSanitizer, those of hostile input under AddressSanitizer.
#
# The tests of the modules are instrumented themselves; of the end-to-end tests, the program is: optimized,
# and with Swift's libraries as they are, because in a static program the sanitizers' own `malloc` and what
# tells ThreadSanitizer of tasks cannot be found. A later build compiles our modules anew, without
# instruments.
set -euo pipefail
cd "$(dirname "$0")/.."

# What cannot hold under a sanitizer. Nothing is left out for a report that it makes.
skip=(
    # Rates and shares of them: the program takes several times as much CPU.
    --skip 'EndToEndTests\.(LimitRate|MinRate|Share)Tests'
    # Tests of nothing but memory: shadow memory is several times what it stands for.
    --skip 'AttributeTests.memoryDoesNotGrowWithTheFile'
    --skip 'BatchEndToEndTests.aLongListTakesLittleMemory'
    --skip 'PipeEndToEndTests.memoryIsBoundedByTheWindow'
    --skip 'ChildProcessTests.processorTimeAndMemory'
    # They load a library that takes the place of calls which the sanitizers wrap themselves.
    --skip 'EndToEndTests\.(FailingDisk|PowerCut)Tests'
    # ulimit -f: ThreadSanitizer itself writes a file when it starts, and dies.
    --skip 'FullDiskTests.survivesALimitOnTheSizeOfFiles'
    # Everything at random, for a minute and more: what it does, the other tests do one by one.
    --skip 'EndToEndTests\.SoakTests'
)
# Which end-to-end tests, in two halves that run side by side: most of them wait for something.
declare -A halves=(
    [thread-1]='[A-L]' [thread-2]='[M-Z]'
    [address-1]='[A-L]' [address-2]='[M-Z]'
)
leaks=1
if [ "${1:-}" = --brief ]; then
    shift
    # What looks for leaks takes a second at the end of each process, for the one that is none.
    leaks=0
    # One thread that reads options or simulates a network.
    skip+=(
        --skip '\.(Command|Settings|Help|Quantity|BatchLines)Tests'
        --skip 'SimulationTests'
    )
    halves=(
        [thread-1]='(BatchEndToEnd|Ceiling|Pipe)'
        [thread-2]='(MirrorCombination|Signal|SilentServer)'
        [address-1]='(Destination|Hostile)'
        [address-2]='Reply'
    )
fi
swift=${SWIFT:-swift}
work=$PWD/.build-sanitized
mkdir -p "$work"
failed=()

# Runs some tests of the built ones.
tests() {
    local log=$1 program=$2
    shift 2
    "$program" --testing-library swift-testing --no-parallel "${skip[@]}" "$@" </dev/null >"$log" 2>&1
}

# Tells what failed in a log.
tell() {
    printf '\n== %s\n' "$1"
    grep -aE -A 6 'recorded an issue|Fatal error' "$1" | tail -n 60 || true
    grep -aE '^✘ (Test|Suite|Test run)' "$1" | tail -n 20 || tail -n 20 "$1"
}

sanitize() {
    local sanitizer=$1 here=$work/$1 name
    declare -A pids=()
    rm -rf "$here"
    mkdir -p "$here"
    # Of whatever user the processes are.
    mkdir -m 1777 "$here/reports"
    SEGGET_INSTRUMENT=$sanitizer "$swift" build --build-tests
    cp .build/debug/segget "$here/segget"
    cp .build/debug/seggetPackageTests.xctest "$here/modules"

    export SWIFT_BACKTRACE=enable=no SEGGET_BINARY=$here/segget SEGGET_INSTRUMENTED=$sanitizer
    export TSAN_OPTIONS="log_path=$here/reports/report:exitcode=66"
    export ASAN_OPTIONS="log_path=$here/reports/report:exitcode=66:detect_leaks=$leaks"
    export LSAN_OPTIONS="suppressions=$PWD/scripts/leaks.supp:print_suppressions=0"
    # The runner of the tests keeps all that it knows of them until it exits.
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 tests "$here/modules.log" "$here/modules" &
    pids[modules]=$!
    for name in 1 2; do
        tests "$here/end-to-end-$name.log" "$work/end-to-end" \
            --filter "^EndToEndTests\\.${halves[$sanitizer-$name]}" &
        pids[end-to-end-$name]=$!
    done
    for name in "${!pids[@]}"; do
        wait "${pids[$name]}" || failed+=("$here/$name.log")
        printf '%-8s %-12s %s\n' "$sanitizer" "$name" \
            "$(grep -a 'Test run with' "$here/$name.log" || echo 'did not end')"
    done
    for name in "$here"/reports/*; do [ ! -e "$name" ] || failed+=("$name"); done
}

# The tests that start the program are not instrumented; what is built next takes their place.
"$swift" build --build-tests
cp .build/debug/seggetPackageTests.xctest "$work/end-to-end"
[ $# -gt 0 ] || set -- thread address
for sanitizer in "$@"; do sanitize "$sanitizer"; done

for log in "${failed[@]}"; do
    case "$log" in
    */reports/*) printf '\n== %s\n' "$log" && head -n 60 "$log" ;;
    *) tell "$log" ;;
    esac
done >&2
[ ${#failed[@]} -eq 0 ]
