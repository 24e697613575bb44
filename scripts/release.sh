#!/usr/bin/env bash
# Builds a release into dist/: the Debian packages, the tarball with the recipes, the image, and SHA256SUMS.
#
#     scripts/release.sh VERSION
#
# Called by `make release VERSION=…`. Nothing is built unless the tree, CHANGELOG.md, the man pages and the source
# agree that they are of this version.
set -euo pipefail
cd "$(dirname "$0")/.."

refuse() {
    printf 'error: %s; nothing was built\nhint: %s\n' "$1" "$2" >&2
    exit 65
}

wanted=${1:-}
version=$(scripts/version.sh)
[ -n "$wanted" ] || refuse "no version was named" "say it: make release VERSION=$version"
[ "$wanted" = "$version" ] ||
    refuse "the source is version $version, not $wanted" "correct Sources/SegmenterValues/Version.swift"
[ -z "$(git status --porcelain)" ] || refuse "files differ from the commit" "see git status; commit or remove them"
# The newest section is the version's, with a date, and nothing waits above it.
above=$(sed -n '/^## \[Unreleased\]/,/^## \[[0-9]/p' CHANGELOG.md | grep -v '^## \[' || true)
[ -z "${above//[[:space:]]/}" ] || refuse "CHANGELOG.md has what is not released" "move it into the version's section"
section=$(grep -m 1 -E '^## \[[0-9]' CHANGELOG.md || true)
[[ $section =~ ^"## [$version] - "20[0-9]{2}-[0-9]{2}-[0-9]{2}$ ]] ||
    refuse "CHANGELOG.md begins with \`$section\`" "it should begin with \`## [$version] - $(date --utc +%F)\`"
for page in share/man/*.1; do
    grep -q "^\.TH .*\"segget ${version//./\\.}\"" "$page" || refuse "$page is of another version" "make docs"
done
tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" || true)
[ -z "$tagged" ] || [ "$tagged" = "$(git rev-parse HEAD)" ] ||
    refuse "the tag v$version is another commit" "a version that was released stays as it is: raise it"

rm -rf dist
make deb tarball image
(cd dist && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
printf '\nVersion %s, commit %s, in dist/:\n' "$version" "$(git rev-parse --short=12 HEAD)"
cat dist/SHA256SUMS
