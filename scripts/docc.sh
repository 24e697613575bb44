#!/usr/bin/env bash
# Writes the library's reference and articles as pages into .build/docc; `make docc`.
#
# SwiftPM's plugin for DocC omits what `Segmenter` re-exports, so this script extracts the symbols itself.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
$swift build --target Segmenter
bin=$($swift build --show-bin-path)
symbols=.build/docc-symbols
rm -rf "$symbols" && mkdir -p "$symbols"
maps=()
for map in Sources/C*/module.modulemap "$bin"/CLinux.build/module.modulemap \
    .build/checkouts/swift-crypto/Sources/C*/include/module.modulemap; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done
tools=$(dirname "$(readlink -f "$(command -v "$swift")")")
"$tools"/swift-symbolgraph-extract -module-name Segmenter -minimum-access-level public \
    -target "$("$tools"/swiftc -print-target-info | sed -n 's/^ *"triple": "\([^"]*\)",$/\1/p')" \
    -I "$bin/Modules" "${maps[@]}" \
    -experimental-allowed-reexported-modules=SegmenterURLs,SegmenterValues -output-dir "$symbols"
"$tools"/docc convert Sources/Segmenter/Segmenter.docc --additional-symbol-graph-dir "$symbols" \
    --warnings-as-errors --transform-for-static-hosting --output-path .build/docc
