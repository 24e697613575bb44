#!/usr/bin/env bash
# Says whether the packages were tried with what they are made of today.
#
#     scripts/tried.sh          exit code 0: they were; 1: the content is another one than packaging/tried notes;
#                               2: the content is the same, the libraries that the programs need are not
#     scripts/tried.sh --note   writes today's content into packaging/tried, after `make try-packages`
#
# The content is what git tracks of debian/, packaging/, share/ and scripts/, and the dependencies in
# Package.swift. The libraries are those that the release binaries name.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

content() {
    {
        git ls-files -z -- debian packaging share scripts ':!packaging/tried' ':!scripts/test-times' |
            sort -z | xargs -0 sha256sum
        grep -oE '\.package\(url: [^)]*\)' Package.swift | sort
    } | sha256sum | cut -c1-64
}

libraries() {
    for program in segget segget-manager; do
        readelf -d ".build/release/$program" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'
    done | sort -u | xargs
}

case "${1:-}" in
--note)
    content >packaging/tried
    libraries >>packaging/tried
    ;;
'')
    [ "$(content)" = "$(sed -n 1p packaging/tried)" ] || exit 1
    [ "$(libraries)" = "$(sed -n 2p packaging/tried)" ] || exit 2
    ;;
*)
    echo "usage: scripts/tried.sh [--note]" >&2
    exit 64
    ;;
esac
