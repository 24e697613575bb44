# make demo    see segget work: download, SIGKILL half-way, resume, verify
# make test    the whole test suite, against the release binary; ONLY=EndCheck tests in whose name that is
#              found (a regular expression on Module.Suite/test), against the debug binary
# make build-tests  all that `make test` runs, which then takes at most 8 minutes on two processors
# make check   lint, build and all tests but the long ones, which is what one runs before a commit
# make build   the release binaries, with static Swift libraries
# make install PREFIX=/usr/local DESTDIR=
# make docs    writes share/, man pages and completions, from what the built program says of itself
# make docc    the library's reference and articles as pages, into .build/docc
# make lint    formatting, and the rules that no compiler checks
# make soak    files through faults and kills for SECONDS=1800, with the release binary; SEED= repeats
# make soak-service  one service of the queue through commands at random, in the same way
# make aria2p  aria2p's own tests, with segget in aria2c's place
# make hub-trial   segget and three versions of huggingface_hub on one cache, kills, wrong bytes; HUB='--help'
# make fleet-trial segget fleet on a Slurm cluster of this machine, as root: time, killed nodes; FLEET='--help'
# make fuzz    feeds the readers of files, headers and names with made-up input; FUZZ='60 manifest url'
# make sanitize the tests under ThreadSanitizer, then under AddressSanitizer
# make api-check  much that nobody would ask for, against the API over TCP; the first time it needs the network
# make page-check   the page in Debian's Chromium; PAGE='-k undo' some of its tests
# make page-shots   pictures of the page's views, in both themes and three widths, into .build/page-shots
# make deb     Debian packages of the release build, in dist/
# make tarball the same for any Linux as old as Debian 12, with an install.sh, in dist/
# make image   the same as a container image (OCI, and for `docker load`), in dist/
# make release VERSION=0.2.0   all three and their SHA256SUMS, of the commit that is that version
# make try-packages   installs, uses, upgrades and removes them in clean systems of their own, as root; the image, too
# make check-recipes  tries install.sh, and what packaging/ has for other distributions, as root
# make try-callers    runs the lines of docs/guide/using-it-from.md with the programs that are there
# make bench   segget against curl, aria2 and others, on loopback and over emulated links, as root; BENCH='--help'
# make bench-hub   segget against hf on a model of the Hub (a stub), over an emulated link, as root; BENCH='--help'

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
# Where zsh looks for completions, below PREFIX; Debian has a place of its own for those of packages.
ZSH_FUNCTIONS ?= share/zsh/site-functions
# Where systemd looks for units of users: in lib below these two, in share below ~/.local, too (systemd.unit(5)).
USER_UNITS ?= $(if $(filter /usr /usr/local,$(PREFIX)),lib,share)/systemd/user
BENCH ?=
HUB ?=
FLEET ?=
FUZZ ?=
DEMO ?=
ONLY ?=
SECONDS ?= 1800
SEED ?=
PAGE ?=
VERSION ?=

BINARY := .build/release/segget
# What the commands about the queue need is in a program of its own, built beside the other.
MANAGER := $(dir $(BINARY))segget-manager
SOURCES := Package.swift $(shell find Sources -type f)
SWIFT_CODE := $(wildcard Package.swift Sources Tests bench Fuzz)

.PHONY: check deb tarball image release try-packages check-recipes try-callers build api-check page-check page-shots build-tests test aria2p soak soak-service demo bench bench-hub hub-trial fleet-trial fuzz sanitize lint docs docc check-docs install clean
.DEFAULT_GOAL := build

# Where the source stands is in no program, so that the same source gives the same bytes: C's __FILE__ begins here;
# modules have no hash of what they were compiled from, and programs none of what is stripped later. What is left is
# the length of the folder's path, which the compiler writes into one function of GRDB (docs/design/packages.md).
# The compiler goes through some of its tables in the order of addresses: they are the same each time, where the system
# lets a process have that (setarch(8)).
SAME_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)
RELEASE := -c release --static-swift-stdlib -Xcc -ffile-prefix-map=$(CURDIR)=. \
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen -Xlinker --build-id=none

# What `--version` says of the commit.
build: export SEGGET_COMMIT ?= $(shell git describe --always --abbrev=12 --exclude='*' --dirty=-modified 2>/dev/null)
build:
	scripts/packages.sh build
	$(SAME_ADDRESSES) $(SWIFT) build $(RELEASE) --product segget
	$(SAME_ADDRESSES) $(SWIFT) build $(RELEASE) --product segget-manager

# What the tests run: the program as it is installed, or for some of them the one that is built quickest.
test soak soak-service: export SEGGET_BINARY ?= $(CURDIR)/.build/$(if $(ONLY),debug,release)/segget

build-tests: $(if $(ONLY),,build)
	scripts/packages.sh test
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error

test: build-tests
	scripts/test.py $(if $(ONLY),--only '$(ONLY)')

check: lint build-tests
	SEGGET_BINARY=$(CURDIR)/.build/release/segget scripts/test.py --longest 30

soak soak-service: build-tests
	SEGGET_SOAK_SECONDS=$(SECONDS) $(if $(SEED),SEGGET_SOAK_SEED=$(SEED)) $(SWIFT) test --skip-build \
	    --no-parallel --filter '[.]$(if $(filter soak,$@),Soak,ServiceSoak)Tests/'

demo: build
	scripts/packages.sh demo
	python3 scripts/demo.py $(DEMO)

api-check: build
	python3 scripts/api-check.py

page-check page-shots: build
	scripts/packages.sh test
	mkdir -p .build/page-shots
	.build/servers/bin/python -m pytest -q -n 3 -p no:cacheprovider Tests/Page \
	    $(if $(filter page-shots,$@),-k axe --shots .build/page-shots) $(PAGE)

bench: build
	scripts/packages.sh bench
	python3 bench/compare.py $(BENCH)

bench-hub: build
	scripts/packages.sh bench
	scripts/servers.sh
	python3 bench/hub.py $(BENCH)

hub-trial: build
	scripts/packages.sh demo
	scripts/packages.sh lint
	python3 scripts/hub-trial.py $(HUB)

fleet-trial: build
	scripts/packages.sh fleet
	python3 scripts/fleet-trial.py $(FLEET)

fuzz:
	scripts/packages.sh test
	SWIFT=$(SWIFT) scripts/fuzz.sh $(FUZZ)

sanitize:
	scripts/packages.sh test
	SWIFT=$(SWIFT) scripts/sanitize.sh

lint:
	scripts/packages.sh lint
	$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_CODE)
	scripts/check.sh

docs:
	$(SWIFT) build --product segget
	$(SWIFT) build --product segget-manager
	python3 scripts/docs.py "$$($(SWIFT) build --show-bin-path)/segget"

docc:
	SWIFT=$(SWIFT) scripts/docc.sh

check-docs:
	$(SWIFT) build --product segget
	$(SWIFT) build --product segget-manager
	python3 scripts/docs.py "$$($(SWIFT) build --show-bin-path)/segget" --check

# Builds only when a source is newer, so that `sudo make install` after `make` compiles nothing as root.
$(BINARY) $(MANAGER) &: $(SOURCES)
	$(MAKE) build
	touch $(BINARY) $(MANAGER)

# Called by a name that contains `aria2c`, the program takes aria2c's command line. Nothing in bin has just
# that name, so that a real aria2c stays what is called.
install: $(BINARY) $(MANAGER)
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/segget
	install -D -m 755 $(MANAGER) $(DESTDIR)$(PREFIX)/libexec/segget/segget-manager
	strip $(DESTDIR)$(PREFIX)/bin/segget $(DESTDIR)$(PREFIX)/libexec/segget/segget-manager
	ln -sfn segget $(DESTDIR)$(PREFIX)/bin/segget-aria2c
	ln -sfn ../../bin/segget $(DESTDIR)$(PREFIX)/libexec/segget/aria2c
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 share/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -D -m 644 share/completions/segget.bash \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/segget
	install -D -m 644 share/completions/_segget $(DESTDIR)$(PREFIX)/$(ZSH_FUNCTIONS)/_segget
	install -D -m 644 share/completions/segget.fish \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/segget.fish
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/$(USER_UNITS)
	set -e; \
	for unit in $(USER_UNITS)/segget.socket $(USER_UNITS)/segget.service lib/systemd/system/segget@.service; do \
	    sed 's|@bindir@|$(PREFIX)/bin|' share/systemd/$${unit##*/} >$(DESTDIR)$(PREFIX)/$$unit; \
	    chmod 644 $(DESTDIR)$(PREFIX)/$$unit; \
	done

deb: build
	scripts/packages.sh deb
	scripts/deb.sh

tarball: build
	scripts/tarball.sh .build/release dist
	scripts/recipes.sh dist/segget-$$(scripts/version.sh)-linux-x86_64.tar.xz dist

image: deb
	scripts/image.py dist/segget_$$(scripts/version.sh)-1_amd64.deb dist

release:
	scripts/release.sh $(VERSION)

# An earlier version is built from the same source, and upgraded.
try-packages: image
	scripts/packages.sh try
	scripts/old-package.sh .build-0.1.99
	scripts/try-packages.py --old .build-0.1.99/dist
	scripts/try-image.py dist/segget-$$(scripts/version.sh)-oci-x86_64.tar

check-recipes: tarball
	scripts/check-recipes.sh dist

try-callers: build
	scripts/try-callers.py

clean:
	$(SWIFT) package clean
