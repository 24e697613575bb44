#!/usr/bin/env bash
# Builds the package of this source as it would be if its version were 0.1.99, for upgrades to be tried.
#
#     scripts/old-package.sh FOLDER     FOLDER/dist gets it; the folder is kept, so that later builds are short
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
# What is the same keeps its place and time, so that it is not compiled again.
git ls-files -z | tar --null --files-from=- -cf - | tar -C "$1" -xf - --overwrite
sed -i 's/^public let seggetVersion = .*/public let seggetVersion = "0.1.99"/' "$1/Sources/SegmenterValues/Version.swift"
rm -rf "$1/dist"
export SEGGET_COMMIT=''
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) make -C "$1" deb
