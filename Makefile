# make demo    see segget work: download, SIGKILL half-way, resume, verify
# make test    the whole test suite
# make build   the release binary, with static Swift libraries
# make install PREFIX=/usr/local DESTDIR=
# make lint    formatting, and the rules that no compiler checks
# make bench   segget against curl and others on loopback; BENCH='--help' shows the options

SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
BENCH ?=
DEMO ?=

BINARY := .build/release/segget
SOURCES := Package.swift $(shell find Sources -type f)
SWIFT_CODE := $(wildcard Package.swift Sources Tests bench)

.PHONY: build test demo bench lint install clean
.DEFAULT_GOAL := build

build:
	scripts/packages.sh build
	$(SWIFT) build -c release --static-swift-stdlib --product segget

test:
	scripts/packages.sh test
	$(SWIFT) build --build-tests
	SWIFT=$(SWIFT) scripts/test.sh

demo: build
	scripts/packages.sh demo
	python3 scripts/demo.py $(DEMO)

bench: build
	scripts/packages.sh bench
	python3 bench/compare.py $(BENCH)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_CODE)
	scripts/check.sh

# Builds only when a source is newer, so that `sudo make install` after `make` compiles nothing as root.
$(BINARY): $(SOURCES)
	$(MAKE) build
	touch $(BINARY)

install: $(BINARY)
	install -D -m 755 -s $(BINARY) $(DESTDIR)$(PREFIX)/bin/segget

clean:
	$(SWIFT) package clean
