# The front door: each target sets up what it needs (scripts/setup.sh) and then does one thing.
# The build itself is CMake's; this file only saves typing.

PREFIX ?= /usr/local
SETUP := scripts/setup.sh
RELEASE := build/release
MINUTES ?= 1

.PHONY: build demo test test-long fuzz bench api format lint symbols install uninstall wheel deb dist clean help

build: ## build the library and the command (the default)
	@$(SETUP) build
	cmake --preset release
	cmake --build --preset release

demo: build ## train and compare on generated characters; needs no data
	$(RELEASE)/bin/imp demo

test: ## run all tests but the long ones
	@$(SETUP) build test
	scripts/test.sh

test-long: ## run all tests, with threads watched, fuzzers, a browser and a clean Debian
	@$(SETUP) build test long wheel package
	scripts/test.sh --long

fuzz: ## run the fuzzers, each for MINUTES (1)
	@$(SETUP) build test
	cmake --preset fuzz
	cmake --build --preset fuzz
	scripts/fuzz.sh $(MINUTES)

bench: build ## measure the speed and compare it with other libraries
	@$(SETUP) bench
	bench/run.sh

api: build ## make pages of the C and the Python API, in build/api
	@$(SETUP) long
	scripts/api-docs.sh $(RELEASE)/lib/libimp.so build/api

format: ## format the C files
	@$(SETUP) test
	scripts/format.sh

lint: build ## static analysis of C files and scripts
	@$(SETUP) lint
	scripts/lint.sh

symbols: build ## record the symbols the library exports, after a change that is meant
	scripts/symbols.sh --update $(RELEASE)/lib/libimp.so

install: ## install to PREFIX (/usr/local), under DESTDIR if that is set
	@$(SETUP) build
	cmake --preset release "-DCMAKE_INSTALL_PREFIX=$(PREFIX)"
	cmake --build --preset release
	DESTDIR="$(DESTDIR)" cmake --install $(RELEASE)

uninstall: ## remove what the last installation wrote, under DESTDIR if that is set
	DESTDIR="$(DESTDIR)" cmake --build --preset release --target uninstall

wheel: ## make a wheel that holds the library, in build/wheel
	@$(SETUP) build wheel
	scripts/wheel.sh

deb: ## make Debian packages, in build/deb
	@$(SETUP) build package
	cmake --preset deb
	cmake --build --preset deb
	cd build/deb && cpack

dist: ## make a release: sources, wheel, Debian packages and checksums, in build/dist
	@$(SETUP) build wheel package
	scripts/dist.sh

clean: ## remove everything that was built
	rm -rf build

help: ## show this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
