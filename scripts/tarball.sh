#!/usr/bin/env bash
# Makes DIST/segget-VERSION-linux-x86_64.tar.xz of built release binaries.
#
#     scripts/tarball.sh BINARIES DIST     BINARIES has `segget` and `segget-manager`
#
# It holds what `make install` installs, in one folder: it runs from there, and its install.sh installs it.
# The same binaries give the same tarball, byte for byte: SOURCE_DATE_EPOCH, else the last commit, is its date.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '4s/^#  *//p' "$0" >&2; exit 64; }
root=$(cd "$(dirname "$0")/.." && pwd)
binaries=$(cd "$1" && pwd)
mkdir -p "$2"
dist=$(cd "$2" && pwd)

version=$("$root/scripts/version.sh")
for program in segget segget-manager; do
    machine=$(LC_ALL=C readelf -h "$binaries/$program" | sed -n 's/^ *Machine: *//p')
    case $machine in
    *X86-64) ;;
    *) echo "error: $binaries/$program is for $machine; the tarball is for x86-64" >&2; exit 65 ;;
    esac
    says=$("$binaries/$program" --version | head -n 1)
    [[ $says == "segget $version "* ]] || {
        echo "error: $binaries/$program says \`$says\`, and Version.swift $version" >&2
        echo "hint: build anew: make build" >&2
        exit 65
    }
done
date=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
name=segget-$version-linux-x86_64
folder=$stage/$name
umask 022
make --no-print-directory -s -C "$root" -o "$binaries/segget" -o "$binaries/segget-manager" install \
    BINARY="$binaries/segget" DESTDIR="$folder" PREFIX=
for program in bin/segget libexec/segget/segget-manager; do
    python3 "$root/scripts/any-libcurl.py" "$folder/$program"
done
# The units become templates again: install.sh and the recipes of distributions know the folder of programs.
rm -r "${folder:?}/lib" "${folder:?}/share/systemd"
install -D -m 644 -t "$folder/share/systemd" "$root"/share/systemd/segget.{service,socket}
install -m 644 "$root/LICENSE" "$root/packaging/INSTALL" "$folder"
[ ! -e "$root/debian/copyright" ] || install -m 644 "$root/debian/copyright" "$folder"
install -m 755 "$root/packaging/install.sh" "$folder"

tarball=$dist/$name.tar.xz
LC_ALL=C tar -C "$stage" --sort=name --format=gnu --mtime="@$date" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX -cf - "$name" | xz -6 --threads=1 >"$tarball.new"
mv "$tarball.new" "$tarball"
echo "$tarball"
