#!/usr/bin/env bash
# Fills the recipes of packaging/ in for a tarball, into DIST/packaging.
#
#     scripts/recipes.sh TARBALL DIST     TARBALL is of scripts/tarball.sh
#
# Each gets version and checksum from the tarball. ADDRESS=, the page of the project, is said here only: there is
# none yet, and what is below example.org is to be replaced (or given: ADDRESS=https://… scripts/recipes.sh …).
set -euo pipefail
[ $# -eq 2 ] || { sed -n '4s/^#  *//p' "$0" >&2; exit 64; }
address=${ADDRESS:-https://example.org/segget}
from=$(cd "$(dirname "$0")/../packaging" && pwd)
tarball=$1
to=$2/packaging

name=$(basename "$tarball")
version=${name#segget-}
version=${version%-linux-x86_64.tar.xz}
[ "$name" = "segget-$version-linux-x86_64.tar.xz" ] || {
    echo "error: $tarball is not called segget-VERSION-linux-x86_64.tar.xz" >&2
    exit 64
}
sha256=$(sha256sum "$tarball" | cut -d ' ' -f 1)
note="Made by scripts/recipes.sh: change packaging/ instead."
case $address in
https://example.org*) note="$note REPLACE the address: the project has none yet." ;;
esac

fill() {
    mkdir -p "$to/$(dirname "$2")"
    sed -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$sha256|g" -e "s|@ADDRESS@|$address|g" -e "s|@NOTE@|$note|g" \
        "$from/$1" >"$to/$2"
    ! grep -nE '@[A-Z0-9]+@' "$to/$2" || { echo "error: $1 has what nobody fills in" >&2; exit 70; }
    echo "$to/$2"
}

rm -rf "$to"
fill arch/PKGBUILD.in arch/PKGBUILD
fill nix/default.nix.in nix/default.nix
fill homebrew/segget.rb.in homebrew/segget.rb
gentoo=gentoo/net-misc/segget-bin
fill $gentoo/segget-bin.ebuild.in "$gentoo/segget-bin-$version.ebuild"
fill $gentoo/metadata.xml $gentoo/metadata.xml
printf 'DIST %s %s BLAKE2B %s SHA512 %s\n' "$name" "$(stat -c %s "$tarball")" \
    "$(b2sum "$tarball" | cut -d ' ' -f 1)" "$(sha512sum "$tarball" | cut -d ' ' -f 1)" >"$to/$gentoo/Manifest"
echo "$to/$gentoo/Manifest"
