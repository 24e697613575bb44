#!/usr/bin/env bash
# Tries the tarball, its install.sh and the recipes for distributions, as far as this machine has their programs.
#
#     scripts/check-recipes.sh DIST [PART…]     DIST has the tarball of scripts/tarball.sh
#
# Parts, all of them without PART: tarball install roots arch nix homebrew gentoo. What cannot be tried is said, with
# the Debian package that it needs. `roots` is for root: it makes Debian systems without the libraries, and needs
# Debian's mirror. `pkgcheck` is PyPI's, 0.10.36 for bash before 5.3: python3 -m venv FOLDER;
# FOLDER/bin/pip install pkgcheck==0.10.36; PATH=$PATH:FOLDER/bin scripts/check-recipes.sh …
set -euo pipefail
[ $# -ge 1 ] || { sed -n '4s/^#  *//p' "$0" >&2; exit 64; }
scripts=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "$1" && pwd)
shift
parts=("${@:-all}")
[ "${parts[0]}" != all ] || parts=(tarball install roots arch nix homebrew gentoo)

tarballs=("$dist"/segget-*-linux-x86_64.tar.xz)
if [ ${#tarballs[@]} -ne 1 ] || [ ! -e "${tarballs[0]}" ]; then
    echo "error: $dist should have one tarball: scripts/tarball.sh BINARIES $dist" >&2
    exit 66
fi
tarball=${tarballs[0]}
folder=$(basename "$tarball" .tar.xz)
version=${folder#segget-}
version=${version%-linux-x86_64}

# Also users other than root get there.
work=$(mktemp -d)
chmod 755 "$work"
server='' service=''
finish() {
    local process
    for process in $server $service; do kill "$process" 2>/dev/null || true; done
    ! mountpoint -q "$work/full" || umount "$work/full"
    chmod -R u+w "$work" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
# Its queue is one of its own.
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run
export XDG_DATA_HOME=$work/data
mkdir -m 700 "$HOME" "$XDG_RUNTIME_DIR"
tar -C "$work" -xf "$tarball"
unpacked=$work/$folder
"$scripts/recipes.sh" "$tarball" "$dist" >/dev/null
recipes=$dist/packaging

ok() { echo "ok: $1"; }
out() { echo "left out: $1"; }
fail() {
    echo "error: $1" >&2
    exit 1
}
# Says whether a program is there, and otherwise what is left out.
have() {
    command -v "$1" >/dev/null && return
    out "$3: it needs \`$1\` (Debian: $2)"
    return 1
}
# Fails unless the command ends with this code; its output goes to $work/said.
ends() {
    local expected=$1 code=0
    shift
    "$@" >"$work/said" 2>&1 || code=$?
    [ "$code" -eq "$expected" ] || {
        cat "$work/said" >&2
        fail "\`$*\` ended with $code instead of $expected"
    }
}
said() { grep -qF -- "$1" "$work/said" || { cat "$work/said" >&2; fail "it should say: $1"; }; }
# The files and folders below a folder.
tree() { (cd "$1" && find . | sort); }

# A file over loopback, for what runs the programs.
serve() {
    mkdir "$work/served"
    head -c 3000000 /dev/urandom >"$work/served/file.bin"
    python3 - "$work/served" "$work/port" <<'END' &
import functools, http.server, os, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
handler.func.log_message = lambda *_: None
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open(sys.argv[2] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
END
    server=$!
    until [ -e "$work/port" ]; do
        kill -0 "$server" || fail "the server on loopback has ended"
        sleep 0.05
    done
}
serve

# Tries what was installed: PREFIX, and PREFIX/bin/NAME behind a link as package managers make them.
works() {
    local prefix=$1 name
    for name in bin/segget libexec/segget/segget-manager; do
        ends 0 "$prefix/$name" --version
        # It begins with it, on standard error too.
        [[ $(cat "$work/said") == "segget $version ("* ]] || fail "$prefix/$name said: $(cat "$work/said")"
    done
    for name in bin/segget-aria2c libexec/segget/aria2c; do
        ends 0 "$prefix/$name" --version
        said "aria2 version"
    done
    ends 0 "$prefix/bin/segget" list
    rm -f "$work/got"
    ends 0 "$prefix/bin/segget" -q -o "$work/got" "http://127.0.0.1:$(cat "$work/port")/file.bin"
    cmp "$work/got" "$work/served/file.bin"
}
# The same for manual, completions and units; what they are called may end with `.gz`.
complete() {
    local prefix=$1 units=$2 bindir=$3 name
    for name in share/man/man1/segget.1 share/man/man1/segget-queue.1 \
        share/bash-completion/completions/segget share/zsh/site-functions/_segget \
        share/fish/vendor_completions.d/segget.fish "$units/segget.socket"; do
        [ -s "$prefix/$name" ] || [ -s "$prefix/$name.gz" ] || fail "$prefix has no $name"
    done
    grep -qxF "ExecStart=$bindir/segget serve" "$prefix/$units/segget.service" ||
        fail "$prefix/$units/segget.service starts: $(grep ExecStart "$prefix/$units/segget.service")"
    ! grep -rqF @bindir@ "$prefix/$units" || fail "$prefix/$units has what nobody filled in"
}

tarball() {
    works "$unpacked"
    ln -s "$unpacked/bin/segget" "$work/link"
    ends 0 "$work/link" list
    local odd
    odd=$(find "$unpacked" -type f ! -perm 644 ! -perm 755)
    [ -z "$odd" ] || fail "modes other than 644 and 755: $odd"
    tar --numeric-owner -tvf "$tarball" >"$work/said"
    ! grep -v ' 0/0 ' "$work/said" || fail "owners other than 0"
    ok "tarball: it runs from its folder, and through a link"
    have cc gcc "tarball: a libcurl without versions of its symbols" || return 0
    # As Fedora's, Gentoo's and Homebrew's: the programs start, and say nothing about it.
    mkdir "$work/unversioned"
    nm -D --defined-only "$(ldd "$unpacked/bin/segget" | sed -n 's/.*libcurl.so.4 => \([^ ]*\).*/\1/p')" |
        sed -n 's/.* T \(curl_[a-z0-9_]*\)@.*/.globl \1\n.type \1,@function\n\1: ret/p' >"$work/stub.s"
    cc -shared -nostdlib -Wl,-soname,libcurl.so.4 -o "$work/unversioned/libcurl.so.4" "$work/stub.s"
    local name
    for name in bin/segget libexec/segget/segget-manager; do
        # It asks that libcurl nothing, which is none.
        ends 0 env LD_LIBRARY_PATH="$work/unversioned" "$unpacked/$name" help
        ! grep -F 'no version information' "$work/said" || fail "with such a libcurl it says so"
    done
    ok "tarball: a libcurl without versions of its symbols does"
}

install_with() {
    local shell=("$@") prefix=$work/prefix
    rm -rf "$prefix"
    # An earlier version, with a file that this one has no more, in a folder of its own.
    cp -a "$unpacked" "$work/older"
    mkdir "$work/older/share/older"
    echo gone >"$work/older/share/older/file"
    ends 0 "${shell[@]}" "$work/older/install.sh" "$prefix"
    works "$prefix"
    complete "$prefix" share/systemd/user "$prefix/bin"
    [ -e "$prefix/share/older/file" ] || fail "the older version was not installed"
    ends 0 "$prefix/libexec/segget/uninstall.sh"
    [ ! -e "$prefix" ] || fail "after uninstalling: $(tree "$prefix")"

    # Over a version that runs; what is the user's stays.
    mkdir -p "$prefix/bin" "$prefix/share/man"
    echo mine >"$prefix/bin/mine"
    tree "$prefix" >"$work/before"
    ends 0 "${shell[@]}" "$work/older/install.sh" "$prefix"
    "$prefix/bin/segget" serve >"$work/serve.log" 2>&1 &
    service=$!
    until grep -qs "runs the queue" "$work/serve.log"; do
        kill -0 "$service" || { cat "$work/serve.log" >&2; fail "the service has ended"; }
        sleep 0.05
    done
    ends 0 "${shell[@]}" "$unpacked/install.sh" "$prefix"
    kill -0 "$service" || fail "the service has ended when another version was installed"
    kill "$service"
    wait "$service" || true
    service=
    [ ! -e "$prefix/share/older/file" ] || fail "what only the older version has is still there"
    works "$prefix"

    # Interrupted when all is written and nothing has its name: the older programs are whole.
    mkdir "$work/stop"
    # shellcheck disable=SC2016  # The inner shell's.
    printf '#!/bin/sh\nkill -KILL $PPID\nsleep 9\n' >"$work/stop/sync"
    chmod 755 "$work/stop/sync"
    if [ "${shell[0]}" != busybox ]; then
        # The shell between says that it was killed.
        # shellcheck disable=SC2016  # The inner shell's.
        ends 137 sh -c '"$@"; exit $?' - env PATH="$work/stop:$PATH" "${shell[@]}" "$work/older/install.sh" "$prefix"
        works "$prefix"
        [ -e "$prefix/bin/segget.segget-new" ] || fail "it was not interrupted where it should be"
    fi
    ends 0 "${shell[@]}" "$unpacked/install.sh" --uninstall "$prefix"
    tree "$prefix" | cmp - "$work/before" || fail "after uninstalling: $(tree "$prefix")"
    ends 66 "${shell[@]}" "$unpacked/install.sh" --uninstall "$prefix"

    # Refusals change nothing.
    ends 64 "${shell[@]}" "$unpacked/install.sh" "$work/with space"
    ends 64 "${shell[@]}" "$unpacked/install.sh" "$unpacked"
    ends 64 "${shell[@]}" "$unpacked/install.sh" --what
    ends 73 "${shell[@]}" "$unpacked/install.sh" "$prefix/bin/mine"
    said "is no folder"
    mkdir "$prefix/bin/segget"
    ends 73 "${shell[@]}" "$unpacked/install.sh" "$prefix"
    rmdir "$prefix/bin/segget"
    ends 73 "${shell[@]}" "$unpacked/install.sh" /proc/segget
    said "nothing was installed"
    if [ "$(id -u)" -eq 0 ]; then
        ends 73 setpriv --reuid 65534 --regid 65534 --clear-groups "${shell[@]}" "$unpacked/install.sh" "$prefix"
        said "cannot be written to"
    fi
    # A disk that is full half-way keeps the earlier version.
    if [ "$(id -u)" -eq 0 ]; then
        mkdir "$work/full"
        mount -t tmpfs -o size=150m tmpfs "$work/full"
        ends 0 "${shell[@]}" "$work/older/install.sh" "$work/full"
        ends 74 "${shell[@]}" "$unpacked/install.sh" "$work/full"
        works "$work/full"
        [ -z "$(find "$work/full" -name '*.segget-new')" ] || fail "temporary files are left"
        ends 0 "$work/full/libexec/segget/uninstall.sh"
        [ "$(tree "$work/full")" = . ] || fail "after uninstalling: $(tree "$work/full")"
        umount "$work/full"
        rmdir "$work/full"
    fi
    # A newer glibc than there is: what ldd says then.
    mkdir "$work/ldd"
    cat >"$work/ldd/ldd" <<'END'
#!/bin/sh
echo "./segget: /lib/x86_64-linux-gnu/libc.so.6: version \`GLIBC_2.99' not found (required by ./segget)" >&2
echo "	libcurl.so.4 => not found"
echo "undefined symbol: curl_easy_init	(./segget)"
exit 1
END
    chmod 755 "$work/ldd/ldd"
    if [ "${shell[0]}" != busybox ]; then
        ends 69 env PATH="$work/ldd:$PATH" "${shell[@]}" "$unpacked/install.sh" "$prefix"
        said "GLIBC_2.99 (of /lib/x86_64-linux-gnu/libc.so.6)"
        said "pacman -S --needed curl"
    fi
    tree "$prefix" | cmp - "$work/before" || fail "after refusals: $(tree "$prefix")"

    ends 0 env DESTDIR="$work/destdir" "${shell[@]}" "$unpacked/install.sh" /usr
    works "$work/destdir/usr"
    complete "$work/destdir/usr" share/systemd/user /usr/bin
    rm -rf "$work/destdir" "$work/older" "$work/stop" "$work/ldd" "$prefix"
    ok "install.sh with ${shell[*]}: new, update of what runs, interruption, refusals, DESTDIR, uninstall"
}

install() {
    install_with dash
    install_with bash
    ! have busybox busybox "install.sh with busybox" || install_with busybox sh
    have systemd-analyze systemd "install.sh: systemd finds the units" || return 0
    local home=$work/user
    ends 0 env HOME="$home" "$unpacked/install.sh" "$home/.local"
    ! grep -F "systemctl --user link" "$work/said" || fail "it says that systemd does not find them"
    env -u XDG_DATA_HOME -u XDG_CONFIG_HOME HOME="$home" systemd-analyze --user unit-paths >"$work/said"
    said "$home/.local/share/systemd/user"
    said "/usr/local/share/systemd/user"
    ok "install.sh: systemd looks for units where they are, for /usr/local and ~/.local"
}

# Runs a command in a root.
inside() {
    local root=$1
    shift
    # shellcheck disable=SC2016  # The inner shell's.
    unshare --mount --propagation private sh -c \
        'mount -t proc proc "$1/proc" && shift && exec "$@"' - "$root" \
        chroot "$root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

roots() {
    [ "$(id -u)" -eq 0 ] || { out "roots: it needs root"; return; }
    have mmdebstrap mmdebstrap "roots: Debian without the libraries" || return 0
    local suite root install
    for suite in bullseye bookworm trixie; do
        root=$work/$suite
        if ! mmdebstrap --quiet --variant=minbase "$suite" "$root" http://deb.debian.org/debian >"$work/log" 2>&1; then
            cat "$work/log" >&2
            out "roots: $suite cannot be made"
            continue
        fi
        cp -a "$unpacked" "$root/root/segget"
        tree "$root/usr/local" >"$work/before"
        ends 69 inside "$root" /root/segget/install.sh
        said "    libcurl.so.4"
        [ "$suite" != bullseye ] || said "GLIBC_2.3"
        tree "$root/usr/local" | cmp - "$work/before" || fail "$suite: it installed something"
        if [ "$suite" = bullseye ]; then
            ok "roots: $suite, too old: $(grep -c '^    ' "$work/said") things are named, nothing is installed"
            continue
        fi
        install=$(sed -n 's/^hint: Debian, Ubuntu:  //p' "$work/said")
        cp /etc/resolv.conf "$root/etc/resolv.conf"
        ends 0 inside "$root" apt-get update
        # shellcheck disable=SC2086  # Words of a command.
        ends 0 inside "$root" $install -y --no-install-recommends
        ends 0 inside "$root" /root/segget/install.sh
        ends 0 inside "$root" segget list
        ends 0 inside "$root" segget --version
        ends 0 inside "$root" /usr/local/libexec/segget/uninstall.sh
        tree "$root/usr/local" | cmp - "$work/before" || fail "$suite: after uninstalling something is left"
        ok "roots: $suite: names what is missing; after \`$install\` it is installed, runs, and is removed"
        rm -rf "$root"
    done
}

arch() {
    have makepkg "makepkg pacman-package-manager" "arch: PKGBUILD" || return 0
    local place=$work/arch as=() package root=$work/arch-root
    mkdir -m 777 "$place"
    cp "$recipes/arch/PKGBUILD" "$tarball" "$place"
    if [ "$(id -u)" -eq 0 ]; then
        chown -R 65534:65534 "$place"
        as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    fi
    cd "$place"
    # --nodeps: Debian's pacman knows no package of Arch.
    ends 0 "${as[@]}" env HOME="$place" PKGEXT=.pkg.tar.zst makepkg --nodeps --noconfirm
    package=$(echo "$place"/segget-bin-*.pkg.tar.zst)
    ends 0 "${as[@]}" env HOME="$place" makepkg --printsrcinfo
    said "depends = libdeflate"
    cd /
    tar -tf "$package" >"$work/said"
    ok "arch: makepkg builds $(basename "$package")"
    if command -v namcap >/dev/null; then
        ends 0 namcap "$package"
        cat "$work/said"
    else
        out "arch: namcap; Debian has none"
    fi
    if [ "$(id -u)" -ne 0 ] || ! command -v pacman >/dev/null; then
        out "arch: pacman -U: it needs root and \`pacman\` (Debian: pacman-package-manager)"
        return
    fi
    mkdir -p "$root/var/lib/pacman" "$root/var/cache"
    printf '[options]\nArchitecture = x86_64\nSigLevel = Never\nLocalFileSigLevel = Never\n' >"$work/pacman.conf"
    pacman_here() {
        ends 0 pacman --config "$work/pacman.conf" --root "$root" --cachedir "$root/var/cache" \
            --hookdir "$root/hooks" --logfile "$work/pacman.log" --noconfirm "$@"
    }
    pacman_here -U -dd "$package"
    works "$root/usr"
    complete "$root/usr" lib/systemd/user /usr/bin
    pacman_here -Qkk segget-bin
    pacman_here -R segget-bin
    [ ! -e "$root/usr" ] || fail "pacman -R leaves: $(tree "$root/usr")"
    ok "arch: pacman installs it into an empty root, it runs, and pacman removes it"
}

nix() {
    have nix-instantiate nix-bin "nix: default.nix" || return 0
    # A store of its own, without a daemon and without the network.
    export NIX_STORE_DIR=$work/nix/store NIX_STATE_DIR=$work/nix/var NIX_LOG_DIR=$work/nix/log
    export NIX_CONF_DIR=$work/nix/conf NIX_REMOTE=''
    mkdir -p "$NIX_CONF_DIR"
    printf 'sandbox = false\nbuild-users-group =\nsubstituters =\n' >"$NIX_CONF_DIR/nix.conf"
    ends 0 nix-instantiate --parse "$recipes/nix/default.nix"
    cp "$tarball" "$work/nix/"
    cat >"$work/nix/stub.sh" <<'END'
# What of nixpkgs' stdenv and of its hooks the recipe uses, in few words.
set -eu
export PATH=/usr/bin:/bin
runHook() { :; }
installManPage() { for f; do install -Dm644 "$f" "$out/share/man/man${f##*.}/${f##*/}"; done; }
installShellCompletion() {
    case $1 in
    --bash) install -Dm644 "$2" "$out/share/bash-completion/completions/${2##*/}" ;;
    --zsh) install -Dm644 "$2" "$out/share/zsh/site-functions/${2##*/}" ;;
    --fish) install -Dm644 "$2" "$out/share/fish/vendor_completions.d/${2##*/}" ;;
    *) exit 1 ;;
    esac
}
substituteInPlace() {
    [ "$2" = --replace-fail ] && grep -qF "$3" "$1" || exit 1
    sed -i "s|$3|$4|g" "$1"
}
cd "$NIX_BUILD_TOP"
tar xf "$src"
cd */
eval "$installPhase"
[ -z "${doInstallCheck:-}" ] || eval "$installCheckPhase"
END
    cat >"$work/nix/stub.nix" <<END
let
  drv = name: derivation { inherit name; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "mkdir \$out" ]; };
  pkgs = {
    lib = {
      licenses.asl20 = { spdxId = "Apache-2.0"; };
      sourceTypes.binaryNativeCode = { isSource = false; };
    };
    stdenv = {
      cc.cc.lib = "libstdc++";
      mkDerivation = attrs: derivation (builtins.removeAttrs attrs [ "meta" ] // {
        name = attrs.pname + "-" + attrs.version;
        system = "x86_64-linux";
        builder = "/bin/bash";
        args = [ $work/nix/stub.sh ];
      }) // { inherit (attrs) meta; };
    };
    # Nix' own fetcher, which compares the checksum; the address is where the tarball lies.
    fetchurl = { url, sha256 }: import <nix/fetchurl.nix> {
      url = "file://$work/nix/" + baseNameOf url;
      inherit sha256;
    };
    autoPatchelfHook = "autoPatchelfHook";
    installShellFiles = "installShellFiles";
    curl = "curl"; libdeflate = "libdeflate"; sqlite = "sqlite"; zlib = "zlib";
  };
  function = import $recipes/nix/default.nix;
in
function (builtins.intersectAttrs (builtins.functionArgs function) pkgs)
END
    ends 0 nix-instantiate --eval --strict --json "$work/nix/stub.nix" -A meta
    said '"mainProgram":"segget"'
    ends 0 nix-build --no-out-link "$work/nix/stub.nix"
    local built
    built=$(tail -n 1 "$work/said")
    works "$built"
    complete "$built" share/systemd/user "$built/bin"
    ok "nix: it is parsed, evaluated and built, with stubs of nixpkgs; Nix compares the checksum; it runs"
    out "nix: autoPatchelfHook and the libraries of nixpkgs"
}

homebrew() {
    have ruby ruby "homebrew: segget.rb" || return 0
    ends 0 ruby -c "$recipes/homebrew/segget.rb"
    have patchelf patchelf "homebrew: segget.rb's install" || return 0
    cp -a "$unpacked" "$work/brew-build"
    cat >"$work/stub.rb" <<'END'
# What of Homebrew's Formula the recipe uses, in few words.
require "pathname"
require "fileutils"
HOMEBREW_PREFIX = Pathname(ENV.fetch("BREW"))
class Pathname
  def install(*sources)
    sources.flatten.each do |source|
      mkpath
      raise "no #{source}" unless File.exist?(source) || File.symlink?(source)
      FileUtils.mv source, self / File.basename(source)
    end
  end
end
class Formula
  class << self
    attr_reader :tested, :dependencies
    %i[desc homepage url sha256 license].each do |name|
      define_method(name) { |value = nil| value ? instance_variable_set("@#{name}", value) : instance_variable_get("@#{name}") }
    end
    def depends_on(what) = (@dependencies ||= []) << what
    def test(&block) = @tested = block
    def [](name)
      raise "#{name} is no dependency" unless Segget.dependencies.include?(name)
      new
    end
  end
  def prefix = HOMEBREW_PREFIX / "Cellar/segget" / version
  def version = self.class.url[/segget-([^-]+)-linux/, 1]
  def bin = prefix / "bin"
  def libexec = prefix / "libexec"
  def share = prefix / "share"
  def man1 = share / "man/man1"
  def bash_completion = share / "bash-completion/completions"
  def zsh_completion = share / "zsh/site-functions"
  def fish_completion = share / "fish/vendor_completions.d"
  def opt_bin = HOMEBREW_PREFIX / "opt/segget/bin"
  def opt_share = HOMEBREW_PREFIX / "opt/segget/share"
  # Debian's libraries in the place of each dependency's.
  def opt_lib = Pathname("/usr/lib/x86_64-linux-gnu")
  def system(*words) = Kernel.system(*words.map(&:to_s)) || raise("failed: #{words.join(" ")}")
  def shell_output(command) = `#{command}`.tap { raise "failed: #{command}" unless $?.success? }
  def assert_match(wanted, text) = text.include?(wanted) || raise("#{text} has no #{wanted}")
  def inreplace(path, from, to)
    text = File.read(path)
    raise "#{path} has no #{from}" unless text.include?(from)
    File.write(path, text.gsub(from, to.to_s))
  end
end
load ARGV[0]
require "digest"
raise "checksum" unless Digest::SHA256.file(ARGV[1]).hexdigest == Segget.sha256
raise "long description" if Segget.desc.size > 80
formula = Segget.new
formula.install
formula.instance_eval(&Segget.tested)
formula.caveats
END
    mkdir -p "$work/brew/lib"
    ln -s /lib64/ld-linux-x86-64.so.2 "$work/brew/lib/ld.so"
    cd "$work/brew-build"
    ends 0 env BREW="$work/brew" ruby -W0 "$work/stub.rb" "$recipes/homebrew/segget.rb" "$tarball"
    cd /
    works "$work/brew/Cellar/segget/$version"
    complete "$work/brew/Cellar/segget/$version" share/systemd/user "$work/brew/opt/segget/bin"
    ok "homebrew: install and test of segget.rb, with a stub of Formula; it runs"
    out "homebrew: brew audit and brew install, with Homebrew's libraries"
}

gentoo() {
    local ebuild=$recipes/gentoo/net-misc/segget-bin/segget-bin-$version.ebuild
    bash -n "$ebuild"
    cp -a "$unpacked" "$work/ebuild"
    cat >"$work/stub.bash" <<'END'
# What of Portage's helpers and eclasses the ebuild uses, in few words.
set -eu
EPREFIX= into=/usr WORKDIR=${0%/*} PV=$2 D=$3
die() { exit 1; }
inherit() { :; }
put() { local mode=$1 to=$2; shift 2; install -d "$D$to"; install -m "$mode" "$@" "$D$to"; }
dobin() { put 755 /usr/bin "$@"; }
exeinto() { into=$1; }
doexe() { put 755 "$into" "$@"; }
dosym() { install -d "$D${2%/*}"; ln -s "$1" "$D$2"; }
doman() { put 644 /usr/share/man/man1 "$@"; }
dobashcomp() { put 644 /usr/share/bash-completion/completions "$@"; }
dozshcomp() { put 644 /usr/share/zsh/site-functions "$@"; }
dofishcomp() { put 644 /usr/share/fish/vendor_completions.d "$@"; }
systemd_douserunit() { put 644 /usr/lib/systemd/user "$@"; }
source "$1"
src_install
END
    cd "$work/ebuild"
    ends 0 bash "$work/stub.bash" "$ebuild" "$version" "$work/gentoo-image"
    cd /
    works "$work/gentoo-image/usr"
    complete "$work/gentoo-image/usr" lib/systemd/user /usr/bin
    ok "gentoo: src_install, with stubs of Portage's helpers; it runs"
    if ! command -v pkgcheck >/dev/null; then
        out "gentoo: pkgcheck is not installed (PyPI has it)"
        return
    fi
    gentoo_pkgcheck
}

# Lets pkgcheck read the recipe in a repository that has the names of what it depends on.
gentoo_pkgcheck() {
    local repository=$work/repository name
    mkdir -p "$repository"/{profiles/default,metadata,eclass,licenses}
    cp -r "$recipes/gentoo/net-misc" "$repository/"
    echo stub >"$repository/profiles/repo_name"
    echo amd64 >"$repository/profiles/arch.list"
    printf '%s\n' app-arch dev-db net-misc sys-devel sys-libs virtual >"$repository/profiles/categories"
    echo 'amd64 default stable' >"$repository/profiles/profiles.desc"
    echo 8 >"$repository/profiles/default/eapi"
    printf 'ARCH="amd64"\nACCEPT_KEYWORDS="amd64"\n' >"$repository/profiles/default/make.defaults"
    printf 'masters =\nprofile-formats = portage-2\nthin-manifests = true\nmanifest-hashes = BLAKE2B SHA512\n' \
        >"$repository/metadata/layout.conf"
    touch "$repository/licenses/Apache-2.0"
    for name in shell-completion systemd; do
        printf '# @ECLASS: %s.eclass\n# @MAINTAINER:\n# a@example.org\n# @BLURB: stub\n' "$name" \
            >"$repository/eclass/$name.eclass"
    done
    for name in app-arch/libdeflate-1 dev-db/sqlite-3 net-misc/curl-8 sys-devel/gcc-14 sys-libs/glibc-2.41 \
        virtual/zlib-1; do
        mkdir -p "$repository/${name%-*}"
        printf 'EAPI=8\nDESCRIPTION="stub"\nHOMEPAGE="https://example.org"\nLICENSE="Apache-2.0"\nSLOT="%s"\n%s\n' \
            "$([ $name = dev-db/sqlite-3 ] && echo 3 || echo 0)" 'KEYWORDS="amd64"; IUSE="+ssl"' \
            >"$repository/${name%-*}/${name##*/}.ebuild"
    done
    # The stubs of eclasses have no functions that could be used.
    ends 0 pkgcheck scan --repo "$repository" --exit error --keywords=-UnusedInherits net-misc/segget-bin
    cat "$work/said"
    ok "gentoo: pkgcheck finds no error, in a repository of stubs"
    out "gentoo: emerge, with Gentoo's eclasses and libraries"
}

for part in "${parts[@]}"; do
    case $part in
    tarball | install | roots | arch | nix | homebrew | gentoo) "$part" ;;
    *) fail "there is no part \`$part\`" ;;
    esac
done
