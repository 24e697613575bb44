#!/usr/bin/env bash
# Says whether the packages were tried with what they are made of today.
#
#     scripts/tried.sh          exit code 0 if packaging/tried has the hash of today's content, else 1
#     scripts/tried.sh --note   writes that hash into packaging/tried, after `make try-packages`
#
# The content is what git tracks of debian/, packaging/, share/ and scripts/, the dependencies in
# Package.swift, and the shared libraries that the release binaries need.
set -euo pipefail
cd "$(dirname "$0")/.."

content() {
    git ls-files -z -- debian packaging share scripts ':!packaging/tried' ':!scripts/test-times' |
        sort -z | xargs -0 sha256sum
    grep -oE '\.package\(url: [^)]*\)' Package.swift | sort
    for program in segget segget-manager; do
        readelf -d ".build/release/$program" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | sort
    done
}

hash=$(content | sha256sum | cut -c1-64)
case "${1:-}" in
--note) echo "$hash" >packaging/tried ;;
'') [ "$hash" = "$(cat packaging/tried 2>/dev/null)" ] ;;
*)
    echo "usage: scripts/tried.sh [--note]" >&2
    exit 64
    ;;
esac
