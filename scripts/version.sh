#!/usr/bin/env bash
# Prints the version of segget, which stands in the source.
set -euo pipefail
cd "$(dirname "$0")/.."
sed -nE 's/^public let seggetVersion = "([^"]+)"$/\1/p' Sources/SegmenterValues/Version.swift | grep .
