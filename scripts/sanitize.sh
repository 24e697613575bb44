#!/usr/bin/env bash
# Runs the tests under sanitizers, and fails on any report, also of a process that was killed.
#
#     scripts/sanitize.sh [thread|address…]     both
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
    local sanitizer=$1 here=$work/$1 name first
    rm -rf "$here"
    mkdir -p "$here"
    # Of whatever user the processes are.
    mkdir -m 1777 "$here/reports"
    SEGGET_INSTRUMENT=$sanitizer "$swift" build --build-tests
    cp .build/debug/segget "$here/segget"
    cp .build/debug/seggetPackageTests.xctest "$here/tests"

    export SWIFT_BACKTRACE=enable=no SEGGET_BINARY=$here/segget SEGGET_INSTRUMENTED=$sanitizer
    export TSAN_OPTIONS="log_path=$here/reports/report:exitcode=66"
    export ASAN_OPTIONS="log_path=$here/reports/report:exitcode=66:detect_leaks=1"
    export LSAN_OPTIONS="suppressions=$PWD/scripts/leaks.supp:print_suppressions=0"
    # The runner of the tests keeps all that it knows of them until it exits.
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 tests "$here/modules.log" "$here/tests" ||
        failed+=("$here/modules.log")
    # Two at a time: most of them wait for something.
    tests "$here/a-to-l.log" "$work/end-to-end" --filter '^EndToEndTests\.[A-L]' &
    first=$!
    tests "$here/m-to-z.log" "$work/end-to-end" --filter '^EndToEndTests\.[M-Z]' ||
        failed+=("$here/m-to-z.log")
    wait "$first" || failed+=("$here/a-to-l.log")
    for name in modules a-to-l m-to-z; do
        printf '%-8s %-8s %s\n' "$sanitizer" "$name" "$(grep -aE '^[✔✘] Test run' "$here/$name.log" || echo 'did not end')"
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
