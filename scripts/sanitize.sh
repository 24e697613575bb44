#!/usr/bin/env bash
# Runs the tests under sanitizers, and fails on any report, also of a process that was killed.
#
#     scripts/sanitize.sh [--brief] [thread|address…]     both
#
# With --brief, as the CI has time for, the programs only: under ThreadSanitizer the end-to-end tests in which most
# goes on at a time, under AddressSanitizer those of hostile input.
#
# The tests of the modules are instrumented themselves; of the end-to-end tests, the program is: optimized,
# and with Swift's libraries as they are, because in a static program the sanitizers' own `malloc` and what
# describes tasks to ThreadSanitizer cannot be found. A later build compiles our modules anew, without
# instruments.
set -euo pipefail
cd "$(dirname "$0")/.."

# What cannot hold under a sanitizer. Nothing is left out for a report that it makes.
skip=(
    # Rates and shares of them: the program takes several times as much CPU.
    --skip 'EndToEndTests\.(LimitRate|MinRate|Share)Tests'
    # Tests of nothing but memory: shadow memory is several times what it stands for.
    --skip 'AttributeTests.memoryDoesNotGrowWithTheFile'
    --skip 'BatchEndToEndTests.longListTakesLittleMemory'
    --skip 'PipeEndToEndTests.windowLimitsMemory'
    --skip 'RunTests.measuresProcessorTimeAndMemory'
    # They load a library that takes the place of calls which the sanitizers wrap themselves.
    --skip 'EndToEndTests\.(FailingDisk|PowerCut|QueuePowerCut)Tests'
    # ulimit -f: ThreadSanitizer itself writes a file when it starts, and dies.
    --skip 'FullDiskTests.survivesFileSizeLimit'
    # Everything at random, for a minute and more: what it does, the other tests do one by one.
    --skip 'EndToEndTests\.SoakTests'
)
# Which end-to-end tests.
declare -A only=([thread]='' [address]='')
brief=false
leaks=1
if [ "${1:-}" = --brief ]; then
    shift
    brief=true
    # What looks for leaks takes a second at the end of each process, for the one that is none.
    leaks=0
    only=(
        [thread]='(BatchEndToEnd|ServerLimitEndToEnd|MirrorCombination|Pipe|QueueKill|Signal|SilentServer)'
        [address]='(Destination|Hostile|Reply)'
    )
fi
swift=${SWIFT:-swift}
work=$PWD/.build-sanitized
mkdir -p "$work"
failed=false

# Runs some tests of the built ones; with instruments all takes longer.
tests() {
    local name=$1 program=$2
    shift 2
    scripts/test.py --binary "$program" --logs "$work/$name" --patience 5 "${skip[@]}" "$@"
}

sanitize() {
    local sanitizer=$1 here=$work/$1 name modules='' end_to_end
    rm -rf "$here"
    mkdir -p "$here"
    # Of whatever user the processes are.
    mkdir -m 1777 "$here/reports"
    export SEGGET_INSTRUMENT=$sanitizer
    # What is fuzzed has AddressSanitizer, too: then both are one build.
    ! $brief || [ "$sanitizer" != address ] || SEGGET_INSTRUMENT=fuzzer
    if $brief; then
        "$swift" build --product segget
        "$swift" build --product segget-manager
    else
        "$swift" build --build-tests
        cp .build/debug/seggetPackageTests.xctest "$here/modules"
    fi
    unset SEGGET_INSTRUMENT
    cp .build/debug/segget .build/debug/segget-manager "$here/"

    export SWIFT_BACKTRACE=enable=no SEGGET_BINARY=$here/segget SEGGET_INSTRUMENTED=$sanitizer
    export TSAN_OPTIONS="log_path=$here/reports/report:exitcode=66"
    export ASAN_OPTIONS="log_path=$here/reports/report:exitcode=66:detect_leaks=$leaks"
    export LSAN_OPTIONS="suppressions=$PWD/scripts/leaks.supp:print_suppressions=0"
    # The runner of the tests keeps all that it knows of them until it exits.
    if [ -e "$here/modules" ]; then
        ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 tests "$sanitizer/modules-logs" "$here/modules" --jobs 1 &
        modules=$!
    fi
    tests "$sanitizer/end-to-end-logs" "$work/end-to-end" --jobs 3 \
        --only "^EndToEndTests\\.${only[$sanitizer]}" &
    end_to_end=$!
    [ -z "$modules" ] || wait $modules || failed=true
    wait $end_to_end || failed=true
    for name in "$here"/reports/*; do
        [ -e "$name" ] || continue
        failed=true
        printf '\n== %s\n' "$name"
        head -n 60 "$name"
    done >&2
}

# The tests that start the program are not instrumented; what is built next takes their place.
"$swift" build --build-tests
cp .build/debug/seggetPackageTests.xctest "$work/end-to-end"
[ $# -gt 0 ] || set -- thread address
for sanitizer in "$@"; do sanitize "$sanitizer"; done
! $failed
