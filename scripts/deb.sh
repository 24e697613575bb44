#!/usr/bin/env bash
# Packs the release build as Debian packages, into dist/: segget_VERSION_ARCH.deb and segget-aria2c_VERSION_all.deb.
#
#     scripts/deb.sh
#
# Called by `make deb`. Times in the packages are SOURCE_DATE_EPOCH, or else the commit's: the same source gives
# the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(scripts/version.sh)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

# The version stands in the source only, and so Debian's changelog is written here.
maintainer=$(sed -n 's/^Maintainer: //p' debian/control)
cat >debian/changelog <<END
segget ($version-1) unstable; urgency=medium

  * Version $version: see changelog.gz beside this file.

 -- $maintainer  $(date --utc --date="@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')
END
mkdir -p dist
# umask 002 of a user and 022 of another would give other folders.
umask 022
debian/rules clean
debian/rules binary
debian/rules clean
rm debian/changelog
# Errors and warnings are to be mended; as root it says each time that this is not recommended.
lintian --fail-on error,warning "dist/segget_$version-1_$(dpkg --print-architecture).deb" "dist/segget-aria2c_$version-1_all.deb" \
    2>&1 | grep -v 'root privileges is not recommended' || [ "${PIPESTATUS[0]}" -eq 0 ]
