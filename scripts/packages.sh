#!/usr/bin/env bash
# Installs what is missing on this Debian or Ubuntu machine to build, test or try segget.
#
#     scripts/packages.sh build|lint|test|demo|bench|fleet|deb|try
#
# Nothing is missing: says nothing, needs no network and no rights. Otherwise it uses apt-get, with
# sudo unless it runs as root. For `lint` and `test`, scripts/servers.sh does the same with programs from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()

# Names the package unless the command is there. Servers may stand in sbin, outside a user's PATH.
need_command() {
    PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1" >/dev/null || missing+=("$2")
}

# Names the package unless the compiler would find the C library.
need_library() {
    pkg-config --exists "$1" 2>/dev/null || missing+=("$2")
}

# Names the package unless a file stands there.
need_file() {
    [ -e "$1" ] || missing+=("$2")
}

# Names the package unless nginx's module is there.
need_module() {
    local found
    found=$(compgen -G "/usr/lib*/nginx/modules/ngx_$1_module.so" || true)
    [ -n "$found" ] || missing+=("$2")
}

case "${1:-}" in
build | lint | test | demo | bench | fleet | deb | try) ;;
*)
    echo "usage: scripts/packages.sh build|lint|test|demo|bench|fleet|deb|try" >&2
    exit 64
    ;;
esac

need_command git git
need_command pkg-config pkg-config
need_command strip binutils
need_library libcurl libcurl4-openssl-dev
need_library zlib zlib1g-dev
need_library libdeflate libdeflate-dev
need_library sqlite3 libsqlite3-dev
[ -e /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates)
case "$1" in
lint | test)
    need_command python3 python3
    # Python's module is a package of its own.
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    ;;&
test)
    need_command apache2 apache2-bin
    need_file /usr/lib/apache2/modules/mod_auth_gssapi.so libapache2-mod-auth-gssapi
    need_file /usr/lib/apache2/modules/mod_evasive20.so libapache2-mod-evasive
    need_command aria2c aria2
    need_command caddy caddy
    need_command cc gcc
    need_command curl curl
    need_command fish fish
    need_command flock util-linux
    need_command ip iproute2
    need_command kadmin.local krb5-admin-server
    need_command kinit krb5-user
    need_command krb5kdc krb5-kdc
    need_command lighttpd lighttpd
    need_command mandoc mandoc
    need_command microsocks microsocks
    need_command mini_httpd mini-httpd
    need_command nghttpd nghttp2-server
    need_command nft nftables
    need_command nginx nginx-light
    need_command openssl openssl
    need_command ruby ruby
    need_command strace strace
    need_command tinyproxy tinyproxy-bin
    need_command tmux tmux
    need_command webfsd webfs
    need_command wget wget
    need_command wget2 wget2
    need_command zsh zsh
    # Elsewhere it is no package of this kind; the test that has it download is left out then.
    ! grep -qx ID=debian /etc/os-release || need_command chromium chromium
    need_file /etc/mime.types media-types
    # Its Ruby package has no command.
    ruby -e 'require "webrick"' 2>/dev/null || missing+=(ruby-webrick)
    # Debian's own Python has it, whatever other one stands in PATH.
    /usr/bin/python3 -c 'import fusepy' 2>/dev/null || missing+=(python3-fusepy)
    need_module stream libnginx-mod-stream
    ;;
bench)
    need_command aria2c aria2
    need_command axel axel
    need_command curl curl
    need_command gcc gcc
    need_command hyperfine hyperfine
    need_command ip iproute2
    need_command lftp lftp
    need_command nginx nginx-light
    need_command openssl openssl
    need_command python3 python3
    need_command rclone rclone
    need_command wget2 wget2
    need_module stream libnginx-mod-stream
    ;;
fleet)
    need_command aria2c aria2
    need_command ip iproute2
    need_command munged munge
    need_command nginx nginx-light
    need_command nsenter util-linux
    need_command python3 python3
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    need_command sbatch slurm-wlm
    need_command slurmctld slurm-wlm
    need_command slurmd slurm-wlm
    # Another program of this name is in moreutils.
    [[ $(parallel --version 2>/dev/null </dev/null || true) == GNU* ]] || missing+=(parallel)
    ;;
deb | try)
    need_command dh debhelper
    need_command lintian lintian
    need_file /usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring
    ;;&
try)
    need_command crun crun
    need_command ip iproute2
    need_command mmdebstrap mmdebstrap
    need_command podman podman
    need_command skopeo skopeo
    need_command systemd-nspawn systemd-container
    need_command umoci umoci
    ;;
demo)
    need_command curl curl
    need_command nginx nginx-light
    need_command openssl openssl
    need_command python3 python3
    ;;
esac

if ! command -v swift >/dev/null; then
    echo "error: Swift is not installed, or not in PATH" >&2
    echo "hint: install Swift 6.2 or later from https://www.swift.org/install/linux/" >&2
    exit 69
fi

# What is not Debian's comes last.
finish() {
    case "$1" in lint | test) scripts/servers.sh ;; esac
    exit 0
}
[ ${#missing[@]} -gt 0 ] || finish "$1"

if ! command -v apt-get >/dev/null; then
    echo "error: missing, by their Debian names: ${missing[*]}" >&2
    echo "hint: there is no apt-get here; install them with this system's package manager" >&2
    exit 69
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "error: missing: ${missing[*]}" >&2
        echo "hint: as root, run \`apt-get install ${missing[*]}\`" >&2
        exit 69
    fi
    as_root=(sudo)
fi

echo "installing: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
"${apt[@]}" update </dev/null

# Debian's servers are started when they are installed, web servers on port 80, and at every boot. Nobody
# asked for that: segget's scripts start their own, on loopback. policy-rc.d is Debian's way to say so.
services=()
for package in "${missing[@]}"; do
    case "$package" in
    caddy | krb5-admin-server | krb5-kdc | lighttpd | mini-httpd) services+=("$package.service") ;;
    libapache2-mod-*) services+=(apache2.service) ;;
    munge) services+=(munge.service) ;;
    nginx-light) services+=(nginx.service) ;;
    slurm-wlm) services+=(slurmctld.service slurmd.service) ;;
    webfs) services+=(webfs.service) ;;
    esac
done
policy=/usr/sbin/policy-rc.d
if [ ${#services[@]} -gt 0 ] && [ ! -e $policy ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null
if [ -d /run/systemd/system ]; then
    for service in "${services[@]}"; do "${as_root[@]}" systemctl disable "$service"; done
fi
finish "$1"
