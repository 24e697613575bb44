#!/bin/sh
# Installs segget from this unpacked folder, or removes it.
#
#     ./install.sh [PREFIX]                /usr/local without PREFIX; DESTDIR= for another root
#     ./install.sh --uninstall [PREFIX]    the same as PREFIX/libexec/segget/uninstall.sh
#
# Exit codes: 64 wrong usage, 66 nothing to uninstall, 69 libraries are missing, 73 cannot write there,
# 74 the disk is full or failed. After all but 74 nothing has been installed.
set -eu
export LC_ALL=C
umask 022

here=$(cd "$(dirname "$0")" && pwd)
# What was installed, a path below PREFIX in each line; a folder that was made for it ends with `/`.
list=libexec/segget/installed
# What a file is called until all of them are written.
new=.segget-new

fail() {
    code=$1
    shift
    printf 'error: %s\n' "$1" >&2
    shift
    for line; do printf 'hint: %s\n' "$line" >&2; done
    exit "$code"
}

usage() {
    sed -n '4,5s/^#  *//p' "$0" >&2
    exit 64
}

action=install
case ${1-} in
--uninstall)
    action=uninstall
    shift
    ;;
-*) usage ;;
esac
[ $# -le 1 ] || usage
prefix=${1-/usr/local}
case $prefix in
/*) ;;
'') usage ;;
*) prefix=$PWD/$prefix ;;
esac
while [ "${prefix%/}" != "$prefix" ] && [ "$prefix" != / ]; do prefix=${prefix%/}; done
newline='
'
case $prefix in
# systemd would read these in the unit as something else.
*[\ \"\'\\\$%\;\|\&]* | *"$newline"* | *"	"*)
    fail 64 "PREFIX has a space, or one of \"'\\\$%;|&, which the unit for systemd cannot take: \`$prefix\`" \
        "choose another folder"
    ;;
esac
root=${DESTDIR-}$prefix
[ "$root" != / ] || root=

if [ "$action" = uninstall ]; then
    [ -e "$root/$list" ] ||
        fail 66 "\`$prefix\` has no segget that install.sh has installed: \`$root/$list\` is missing"
    exec sh "$root/libexec/segget/uninstall.sh"
fi
case "$(cd "$root/" 2>/dev/null && pwd -P)" in
"$(cd "$here" && pwd -P)")
    fail 64 "PREFIX is this unpacked folder itself" "segget runs from here as it is: $here/bin/segget" ;;
esac

# 1. Libraries

# The packages that have a library: Debian's and Ubuntu's, Fedora's, Arch's.
packages() {
    case $1 in
    libcurl.so.4) echo libcurl4 libcurl curl ;;
    libsqlite3.so.0) echo libsqlite3-0 sqlite-libs sqlite ;;
    libdeflate.so.0) echo libdeflate0 libdeflate libdeflate ;;
    libz.so.1) echo zlib1g zlib zlib ;;
    libstdc++.so.6) echo libstdc++6 libstdc++ gcc-libs ;;
    libgcc_s.so.1) echo libgcc-s1 libgcc gcc-libs ;;
    *) return 1 ;;
    esac
}

# What a program misses, one in a line: a library, a version of one, or what the dynamic linker says.
missing_of() {
    result=0
    if command -v ldd >/dev/null; then
        said=$(ldd -r "$1" 2>&1) || result=$?
    else
        # Then only what is missing first is known.
        said=$("$1" --version 2>&1) || result=$?
    fi
    found=$(printf '%s\n' "$said" | sed -n \
        -e 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' \
        -e "s/^.*: \\([^ ]*\\): version \`\\([^ ]*\\)' not found (required by .*/\\2 (of \\1)/p" \
        -e 's/^.*: error while loading shared libraries: \(lib[^:]*\): cannot open .*/\1/p')
    if [ -n "$found" ]; then
        printf '%s\n' "$found"
    else
        case $said in
        *'undefined symbol: curl_'*) echo "libcurl.so.4 (of libcurl 7.88 or later; there is an older one)" ;;
        *) [ "$result" -eq 0 ] || printf '%s\n' "$said" ;;
        esac
    fi
}

check_libraries() {
    # The linker is the first that must be there: where another C library is, ldd says nothing useful.
    linker=/lib64/ld-linux-x86-64.so.2
    if [ ! -e "$linker" ]; then
        fail 69 "segget needs glibc, and this system has none ($linker is missing); nothing was installed" \
            "on a system with musl, such as Alpine, segget does not run"
    fi
    missing=$({ missing_of "$here/bin/segget"; missing_of "$here/libexec/segget/segget-manager"; } | sort -u)
    [ -n "$missing" ] || return 0
    debian='' fedora='' arch=''
    while read -r name _; do
        if words=$(packages "$name"); then
            # shellcheck disable=SC2086  # Three words.
            set -- $words
            debian="$debian $1" fedora="$fedora $2" arch="$arch $3"
        fi
    done <<END
$missing
END
    {
        echo "error: this system does not have what segget needs; nothing was installed. Missing:"
        printf '%s\n' "$missing" | sed 's/^/    /'
        if [ -n "$debian" ]; then
            echo "hint: Debian, Ubuntu:  apt-get install$debian"
            echo "hint: Fedora:          dnf install$fedora"
            echo "hint: Arch:            pacman -S --needed$arch"
        fi
        case $missing in
        *GLIBC*)
            echo "hint: GLIBC_2.N comes with glibc 2.N, GLIBCXX and CXXABI with libstdc++: a newer release of"
            echo "hint: this distribution has them"
            ;;
        esac
    } >&2
    exit 69
}

# 2. What is to be installed, and whether it can be

# Where a file of this folder goes, below PREFIX.
target() {
    case $1 in
    # systemd looks for a user's units here, for /usr/local and ~/.local: systemd.unit(5).
    share/systemd/*) echo "share/systemd/user/${1##*/}" ;;
    LICENSE | copyright) echo "share/doc/segget/$1" ;;
    *) echo "$1" ;;
    esac
}

# Each folder above a path, below PREFIX, from the lowest up; `.` is PREFIX itself.
above() {
    folder=${1%/*}
    while [ "$folder" != "$1" ]; do
        echo "$folder"
        set -- "$folder"
        folder=${1%/*}
    done
    echo .
}

refuse() {
    fail 73 "$1; nothing was installed" \
        "as root: sudo $0 $prefix" "or for yourself alone: $0 ~/.local"
}

# A folder that is not there can be made if the lowest that is there can be written to.
check_folder() {
    folder=$root/$1
    folder=${folder%/.}
    while [ ! -e "$folder" ] && [ ! -L "$folder" ]; do
        case $folder in
        */*) folder=${folder%/*} ;;
        *) folder=/ ;;
        esac
        folder=${folder:-/}
    done
    [ -d "$folder" ] || refuse "\`$folder\` is no folder"
    if [ ! -w "$folder" ] || [ ! -x "$folder" ]; then refuse "\`$folder\` cannot be written to"; fi
}

# 3. Installing

# Writes one file under its temporary name; its mode is as in this folder, whatever the umask there was.
write() {
    from=$here/$1 to=$root/$2$new
    rm -f "$to"
    if [ -L "$from" ]; then
        ln -s "$(readlink "$from")" "$to"
        return
    fi
    case $1 in
    share/systemd/*.service) sed "s|@bindir@|$prefix/bin|" "$from" >"$to" ;;
    *) cat "$from" >"$to" ;;
    esac
    if [ -x "$from" ]; then chmod 755 "$to"; else chmod 644 "$to"; fi
}

write_uninstall() {
    cat >"$root/libexec/segget/uninstall.sh$new" <<'END'
#!/bin/sh
# Removes the segget that install.sh has installed: the files in `installed`, beside this script, and the folders
# that were made for them, where they are empty. Queue and downloads stay.
set -eu
export LC_ALL=C
prefix=$(cd "$(dirname "$0")/../.." && pwd)
list=$prefix/libexec/segget/installed
[ -e "$list" ] || { echo "error: $list, which says what was installed, is missing" >&2; exit 66; }
folders=$(grep '/$' "$list" | sort -r)
lock=$prefix/libexec/segget
[ -w "$lock" ] || {
    echo "error: \`$lock\` cannot be written to; nothing was removed" >&2
    echo "hint: as root: sudo $0" >&2
    exit 73
}
grep -v '/$' "$list" | while IFS= read -r name; do
    # This script and the list go last: what is interrupted can be done again.
    case $name in
    libexec/segget/uninstall.sh | libexec/segget/installed) ;;
    *) rm -f "$prefix/$name" "$prefix/$name.segget-new" ;;
    esac
done
rm -f "$list" "$list.segget-new" "$lock/uninstall.sh.segget-new" "$lock/uninstall.sh"
printf '%s\n' "$folders" | while IFS= read -r name; do
    case $name in
    '') ;;
    ./) rmdir "$prefix" 2>/dev/null || true ;;
    *) rmdir "$prefix/$name" 2>/dev/null || true ;;
    esac
done
echo "segget was removed from $prefix"
END
    chmod 755 "$root/libexec/segget/uninstall.sh$new"
}

# Says what is, or may be, installed from now on: the lines of standard input.
write_list() {
    sort -u >"$root/$list$new"
    chmod 644 "$root/$list$new"
    mv -f "$root/$list$new" "$root/$list"
}

[ -n "${DESTDIR-}" ] || check_libraries

sources=$(cd "$here" && find bin libexec share LICENSE copyright \( -type f -o -type l \) 2>/dev/null | sort)
names=$(for name in $sources; do target "$name"; done)
names="$names
$list
libexec/segget/uninstall.sh"
for name in $names; do
    if [ -d "$root/$name" ]; then refuse "\`$root/$name\` is a folder"; fi
done
# `.` comes first, and a folder before what is in it.
folders=$(for name in $names; do above "$name"; done | sort -u)
for folder in $folders; do check_folder "$folder"; done
# Of an earlier version, or of one whose installation was interrupted.
old=$(cat "$root/$list" 2>/dev/null || true)
made=$(for folder in $folders; do [ -d "$root/$folder" ] || echo "$folder/"; done)

trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
finished=
finish() {
    code=$?
    [ -z "$finished" ] || exit "$code"
    for name in $names; do rm -f "$root/$name$new"; done
    echo "error: not all was installed; each program is of one version or the other, none is half-written" >&2
    echo "hint: run $0 $prefix again, or $root/libexec/segget/uninstall.sh" >&2
    # A command failed: the disk is full, or defective.
    [ "$code" -ne 1 ] || exit 74
    exit "$code"
}
trap finish EXIT

for folder in $folders; do
    mkdir -p "$root/$folder" 2>/dev/null || {
        finished=yes
        refuse "\`$root/$folder\` cannot be made"
    }
done
# From here on uninstall.sh finds everything, whatever stops this.
write_uninstall
mv -f "$root/libexec/segget/uninstall.sh$new" "$root/libexec/segget/uninstall.sh"
printf '%s\n' "$old" "$made" "$names" | sed '/^$/d' | write_list
for name in $sources; do write "$name" "$(target "$name")"; done
# The bytes are on the disk before a name leads to them. busybox may know no `sync -f`.
sync -f "$root/$list" 2>/dev/null || sync
# A program that runs keeps its file: rename gives the name to another one.
for name in $sources; do
    to=$root/$(target "$name")
    mv -f "$to$new" "$to"
done
# What only the earlier version had.
printf '%s\n' "$old" | while IFS= read -r name; do
    case "$newline$names$newline" in
    *"$newline$name$newline"*) ;;
    *)
        case $name in
        '' | */) ;;
        *) rm -f "$root/$name" "$root/$name$new" ;;
        esac
        ;;
    esac
done
{
    printf '%s\n' "$old" | sed -n '/\/$/p'
    printf '%s\n' "$made" "$names" | sed '/^$/d'
} | write_list
finished=yes

echo "segget is installed in $root: $root/libexec/segget/uninstall.sh removes it"
[ -z "${DESTDIR-}" ] || exit 0
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "note: $prefix/bin is not in PATH" ;;
esac
case $prefix in
/usr/local | /usr | "${HOME-}/.local") ;;
*) echo "note: systemd finds the units after: systemctl --user link $prefix/share/systemd/user/segget.*" ;;
esac
