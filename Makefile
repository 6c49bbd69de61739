# `make demo` and `make test` need Python 3.11 or newer and Rust 1.85 or newer. Everything else is
# installed into .venv and target/.
#
#   make demo         runs a transfer over two unlike links (table, figure, report), then a paper's study in quick form
#   make test         runs the Rust tests and the Python tests: several minutes
#   make lint         runs rustfmt, clippy, rustdoc, ruff, mypy; compares public items and rfc-map.md
#   make release      builds the engine without assertions, a third faster in long sweeps;
#                     then runs release-check
#   make release-check  checks licences, sources and versions of dependencies, and the API of `stack`
#   make coverage     measures which lines the tests run; fails below a floor for `stack`
#   make check-long   runs the tests that take minutes, the whole tutorials and all studies in quick form among them
#   make wheel        builds dist/*.whl, which installs without a compiler, and tests it where there is none
#   make columns      writes the tables of docs/columns.md, from crates/measures/src/measures
#   make public-items writes crates/stack/public-items.txt, the public items of the crate `stack`
#   make rfc-map      writes docs/rfc-map.md, the requirements of the RFCs, from docs/rfc
#   make rfc-proved   mutates the code of requirements; the tests that docs/rfc names must fail: ROWS=8684:3.1
#   make mutants      lists mutants of the engine that no test kills, of a sample of 600
#                     CRATE=sim MUTANTS=300: of the simulator; CRATE=python MUTANTS=100: of the Python package
#   make fuzz         fuzzes every parser, and endpoints with lying peers, guided by coverage: MINUTES=60 each
#   make scripts-public DIR=...  runs a checkout of packetdrill's scripts and prints the outcome of each
#   make capi PREFIX=/usr/local DESTDIR=  installs the C interface: header, libraries, anabranch.pc
#   make capi-dist    packs them as dist/anabranch-capi.tar.gz for users without Rust
#   make capi-header  writes crates/capi/include/anabranch.h from the source of the C interface
#   make capi-test    compiles and runs the example in C, also under address and undefined-behaviour sanitizers
#   make ns3-test     runs examples, tests and comparisons inside ns-3, if ns-3 is installed; NS3=DIR: in a source tree
#   make bench        measures speed and memory
#   make bench-check  compares them with the stored bounds
#   make clean        removes .venv, target/ and dist/

PYTHON ?= python3
CARGO ?= cargo

VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile

# Tools must see this environment, not one that happens to be active.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX
unexport PYTHONHOME
# Without bytecode every command that the tests start compiles all modules of the package.
unexport PYTHONDONTWRITEBYTECODE
export ANABRANCH_COMMIT := $(shell git describe --always --dirty --exclude='*' 2>/dev/null)

# A build that is not incremental takes a quarter less time. If `cargo` has begun incremental builds,
# `make` continues them, so that nothing is built twice.
ifeq ($(wildcard target/lab/incremental/*),)
export CARGO_INCREMENTAL ?= 0
endif

RUST_SOURCES := $(wildcard Cargo.toml Cargo.lock */Cargo.toml) \
	$(shell find crates -name '*.rs' -o -name '*.toml' -path '*/src/*')
# Without the tool of capi-header, whose dependencies give serde other features.
RUST_TESTS := $(CARGO) test --profile lab --workspace --exclude anabranch-python --exclude anabranch-capi-header --locked
# With the variables that maturin sets: without them Cargo would build PyO3 anew for clippy, and anew
# for maturin afterwards.
CLIPPY = $(addprefix env PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=,$(firstword $(wildcard $(CURDIR)/target/maturin/pyo3-config-*.txt))) \
	$(CARGO) clippy --profile lab
STACK_DOCS := RUSTDOCFLAGS="-D warnings" $(CARGO) doc --profile lab --no-deps --locked --package anabranch-stack

# Tools of Cargo: those that are installed, else of our own below target/tools.
DENY := $(or $(shell command -v cargo-deny),target/tools/bin/cargo-deny)
SEMVER := $(or $(shell command -v cargo-semver-checks),target/tools/bin/cargo-semver-checks)
LLVM_COV := $(or $(shell command -v cargo-llvm-cov),target/tools/bin/cargo-llvm-cov)

# Percent of the lines of `stack` that its tests run at least: two points under the last
# measurement.
FLOOR_STACK := 95.6

.PHONY: demo test release release-check semver lint lint-rust lint-python coverage public-items columns rfc-map scripts-public bench bench-check check-long wheel fuzz mutants rfc-proved clean capi capi-dist capi-test ns3-test

demo: $(VENV)/installed
	$(BIN)/anabranch demo --out out/demo --force
	@rm -rf out/alheid-2014-aina
	@echo
	$(BIN)/anabranch study alheid-2014-aina --quick --out out/alheid-2014-aina
	@echo
	@echo "next: . $(BIN)/activate; anabranch new > my.toml; anabranch run my.toml; all pages: docs/index.md"

test: $(VENV)/installed $(VENV)/tools
	$(RUST_TESTS)
	MPLBACKEND=Agg $(PY) -m pytest -q --numprocesses auto --dist loadfile

release: $(VENV)/installed
	@PIP_QUIET=1 $(PY) -m maturin develop --release --locked
	@$(MAKE) --no-print-directory release-check

release-check: $(DENY)
	$(DENY) check bans licenses sources
	$(DENY) --manifest-path crates/capi/Cargo.toml --config crates/capi/deny.toml check licenses
	@before=$$(git tag --merged HEAD --sort=-version:refname --list 'v*' 2>/dev/null \
		| grep -vx "v$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)" | head -n 1); \
	if [ -n "$$before" ]; then $(MAKE) --no-print-directory semver BEFORE=$$before; \
	else echo "semantic versioning of stack: not checked, because git has no tag v* of an earlier version to compare with"; fi

# Compares the public items of `stack` with those of the tag BEFORE.
semver: $(SEMVER)
	$(SEMVER) semver-checks --package anabranch-stack --baseline-rev $(BEFORE)

# Cargo leaves a core idle for most of the time, which mypy uses.
lint: $(VENV)/tools
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=line lint-rust lint-python

lint-rust: $(VENV)/tools
	$(CARGO) fmt --all --check
	$(CLIPPY) --workspace --exclude anabranch-capi-header --all-targets --locked -- -D warnings
	$(CLIPPY) --package anabranch-capi-header --locked -- -D warnings
	$(STACK_DOCS)
	$(PY) tools/public-items --check
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --profile lab --no-deps --locked --package anabranch-capture --package anabranch-measures --package anabranch-packetdrill \
		--package anabranch-pcap --package anabranch-scenario --package anabranch-sim --package anabranch-torture --package anabranch-wifi --document-private-items

lint-python: $(VENV)/tools
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) tools/rfc-map --check

# Files of tests do not count; a `mod tests` inside of a source file does. Needs the compiler's LLVM
# tools: rustup component add llvm-tools. Or LLVM_COV and LLVM_PROFDATA name those of the same major
# version (Debian: llvm-22). Whether a test passes is judged by `make test`: in this slower build,
# tests that bound their own time may fail.
coverage: $(VENV)/installed $(VENV)/tools $(VENV)/coverage $(LLVM_COV)
	$(LLVM_COV) llvm-cov --profile lab --package anabranch-stack --locked --summary-only --ignore-run-fail \
		--ignore-filename-regex 'crates/stack/src/(testing/|.*tests\.rs)' --fail-under-lines $(FLOOR_STACK)
	MPLBACKEND=Agg COVERAGE_FILE=$(CURDIR)/target/.coverage $(PY) -m pytest -q --numprocesses auto --dist loadfile \
		--cov anabranch --cov-report term:skip-covered

public-items: $(VENV)/created
	$(STACK_DOCS)
	$(PY) tools/public-items

columns:
	ANABRANCH_WRITE_COLUMNS=1 $(CARGO) test --profile lab --package anabranch-acceptance --locked --test it columns::

rfc-map: $(VENV)/created
	$(PY) tools/rfc-map

# These scripts belong to other projects: they are run where they are (docs/scripts.md).
scripts-public: $(VENV)/installed
	@$(PY) tools/scripts-public $(if $(FREEBSD),--freebsd) "$(DIR)"

bench:
	$(PYTHON) benches/run
	$(PYTHON) benches/python-algorithms

bench-check:
	$(PYTHON) benches/run --check

check-long: $(VENV)/installed $(VENV)/tools
	$(RUST_TESTS) -- --ignored
	MPLBACKEND=Agg $(PY) -m pytest -q -m long || [ $$? -eq 5 ]  # 5: no test was selected
	@rm -rf out/studies
	$(BIN)/anabranch study all --quick --out out/studies --quiet
	$(MAKE) --no-print-directory ns3-test-long

# On Linux, Zig links the extension against a C library so old that every distribution has it or a
# newer one. With the C library of this machine the wheel might run on this machine alone. One wheel
# serves all Pythons from 3.11 on (abi3).
wheel: $(VENV)/wheel
	@rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PY) -m maturin build --release --locked --out dist $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux2014)
	tests/wheel $(PYTHON) dist/*.whl

MINUTES ?= 60
fuzz:
	fuzz/run $(MINUTES)

PREFIX ?= /usr/local
DESTDIR ?=
CAPI_PROFILE ?= release
CC ?= cc
# What a program needs that is linked with the static library.
CAPI_SYSTEM := -lpthread -ldl -lm
capi:
	$(CARGO) build --profile $(CAPI_PROFILE) --locked --package anabranch-capi
	install -d "$(DESTDIR)$(PREFIX)/include" "$(DESTDIR)$(PREFIX)/lib/pkgconfig"
	install -m 644 crates/capi/include/anabranch.h "$(DESTDIR)$(PREFIX)/include/"
	install -m 644 target/$(CAPI_PROFILE)/libanabranch.a "$(DESTDIR)$(PREFIX)/lib/"
	install -m 755 target/$(CAPI_PROFILE)/libanabranch.so "$(DESTDIR)$(PREFIX)/lib/"
	sed -e 's|@PREFIX@|$(PREFIX)|' -e "s|@VERSION@|$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)|" \
		crates/capi/anabranch.pc.in > "$(DESTDIR)$(PREFIX)/lib/pkgconfig/anabranch.pc"

capi-dist:
	rm -rf target/capi-dist
	$(MAKE) --no-print-directory capi PREFIX=/ DESTDIR=$(CURDIR)/target/capi-dist/anabranch-capi
	sed -i 's|^prefix=.*|prefix=$${pcfiledir}/../..|' target/capi-dist/anabranch-capi/lib/pkgconfig/anabranch.pc
	install -d dist
	tar -C target/capi-dist -czf dist/anabranch-capi.tar.gz anabranch-capi

.PHONY: capi-header
CAPI_HEADER := $(CARGO) run --quiet --profile lab --locked --package anabranch-capi-header --
capi-header:
	$(CAPI_HEADER)

# The sanitizers see the C program and what it passes on.
capi-test: CAPI_PROFILE := lab
capi-test: capi-stage
	$(CAPI_HEADER) --check
	$(CARGO) test --profile lab --locked --package anabranch-capi
	$(CC) -std=c11 -Wall -Wextra -Werror -O1 -Itarget/capi/include crates/capi/examples/pipe.c \
		target/capi/lib/libanabranch.a $(CAPI_SYSTEM) -o target/capi/pipe
	target/capi/pipe
	$(CC) -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover -Itarget/capi/include \
		crates/capi/examples/pipe.c target/capi/lib/libanabranch.a $(CAPI_SYSTEM) -o target/capi/pipe-sanitized
	target/capi/pipe-sanitized

.PHONY: capi-stage
STAGE := lab
capi-stage:
	$(MAKE) --no-print-directory capi CAPI_PROFILE=$(STAGE) PREFIX=/ DESTDIR=$(CURDIR)/target/capi

NS3 ?=
NS3_HEADERS := $(wildcard /usr/include/ns3/core-module.h)
NS3_FLAGS := -O1
NS3_RUN := LD_LIBRARY_PATH=target/capi/lib
.PHONY: ns3-build ns3-test-long
ifneq ($(NS3),)
# NS3=DIR: as contrib/anabranch of the source tree DIR, with its tools. NS3_CONFIGURE: further options of
# `./ns3 configure`; the last of two that disagree counts.
NS3_CONFIGURE ?=
ns3-test ns3-test-long: capi-stage
	ln -sfn "$(CURDIR)/integrations/ns3" "$(NS3)/contrib/anabranch"
	cd "$(NS3)" && ANABRANCH_ROOT="$(CURDIR)/target/capi" \
		./ns3 configure --build-profile=optimized --enable-examples --enable-tests --enable-modules=anabranch \
		--filter-module-examples-and-tests=anabranch --enable-precompiled-headers $(NS3_CONFIGURE)
	cd "$(NS3)" && ./ns3 build
	cd "$(NS3)" && ./test.py --no-build --suite=anabranch --fullness=$(if $(filter %-long,$@),EXTENSIVE,QUICK)
	cd "$(NS3)" && ./ns3 run --no-build anabranch-two-links
else ifeq ($(NS3_HEADERS),)
ns3-test ns3-test-long:
	@echo "skipped: ns-3 is not installed"
else
ns3-build: capi-stage
	cmake -S integrations/ns3 -B target/ns3 -DANABRANCH_ROOT=$(CURDIR)/target/capi -DCMAKE_CXX_FLAGS_RELEASE=$(NS3_FLAGS)
	cmake --build target/ns3 --parallel 2

ns3-test: ns3-build $(VENV)/installed
	$(NS3_RUN) target/ns3/anabranch-two-links
	$(NS3_RUN) target/ns3/anabranch-failure
	$(NS3_RUN) target/ns3/anabranch-mixed --seconds=5
	$(NS3_RUN) target/ns3/anabranch-phone --seconds=2
	$(NS3_RUN) target/ns3/anabranch-test-runner --suite=anabranch --verbose --fullness=QUICK
	$(NS3_RUN) $(PY) integrations/ns3/test/bars.py target/ns3

# Instructions are counted without checks of the engine, as users have it.
ns3-test-long: STAGE := release
ns3-test-long: NS3_FLAGS := -O2
ns3-test-long: ns3-build $(VENV)/installed
	$(NS3_RUN) target/ns3/anabranch-test-runner --suite=anabranch --verbose --fullness=EXTENSIVE
	$(NS3_RUN) $(PY) integrations/ns3/test/bars.py target/ns3 --long
endif

CRATE ?= stack
MUTANTS ?= 600
SEED ?= 1
mutants: $(VENV)/mutants $(if $(filter python,$(CRATE)),$(VENV)/installed,target/tools/bin/cargo-mutants) $(if $(filter-out stack,$(CRATE)),$(VENV)/tools)
	$(PY) tools/mutants --crate $(CRATE) --sample $(MUTANTS) --seed $(SEED) --tool target/tools/bin/cargo-mutants

ROWS ?= 8684 9293
LEVEL ?=
rfc-proved: $(VENV)/mutants target/tools/bin/cargo-mutants
	$(PY) tools/mutants --rfc $(ROWS) $(if $(LEVEL),--level $(LEVEL)) --seed $(SEED) --tool target/tools/bin/cargo-mutants; \
		status=$$?; $(PY) tools/rfc-map && exit $$status

target/tools/bin/cargo-mutants: VERSION := 27.1.0
target/tools/bin/cargo-deny: VERSION := 0.20.2
target/tools/bin/cargo-semver-checks: VERSION := 0.51.0
target/tools/bin/cargo-llvm-cov: VERSION := 0.9.1
target/tools/bin/cargo-%:
	@echo "building cargo-$* into target/tools: some minutes"
	$(CARGO) install --quiet --locked --version $(VERSION) --root target/tools cargo-$*

clean:
	rm -rf $(VENV) target dist

# Each of these files marks when its step was last done. Make repeats a step if one of its
# prerequisites is newer. Where Python already has pip, pip installs pip in a third of the time that
# `venv` takes for it. pip would compile everything to bytecode, 75 MB, most of it tests; compileall
# below compiles what is imported. `anabranch doctor` also indexes the fonts, so that the
# first figure does not wait for that.

$(VENV)/created:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Anabranch needs Python 3.11 or newer; this is %d.%d. Name another one: make PYTHON=python3.12" % v[:2])'
	@$(CARGO) --version >/dev/null || { echo "Anabranch needs Rust 1.85 or newer: https://rustup.rs"; exit 1; }
	@{ $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) install --quiet --disable-pip-version-check --no-compile pip; } 2>/dev/null \
		|| $(PYTHON) -m venv $(VENV) || { echo "Python cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv"; rm -rf $(VENV); exit 1; }
	@touch $@

# cargo compiles the engine while pip installs the packages that the engine is used with. If cargo
# fails, it fails again when the engine is installed, and says why.
$(VENV)/packages: pyproject.toml $(VENV)/created
	@$(PY) -c 'import tomllib as t; p = t.load(open("pyproject.toml", "rb")); print(*p["build-system"]["requires"], *p["project"]["dependencies"], sep="\n")' > $(VENV)/packages.txt
	@$(PIP) $$($(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@echo "installing Python packages into $(VENV): numpy, pandas, matplotlib and what they need"
	@echo "building the engine with cargo: about two minutes on two cores the first time"
	@$(PY) -m maturin develop --profile lab --locked --skip-install & \
	$(PIP) -r $(VENV)/packages.txt && $(PY) -m compileall -q -x '[/\\](tests?|testing|fontTools|pip|setuptools|pkg_resources)[/\\]' \
		"$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"; \
	installed=$$?; wait; exit $$installed
	@touch $@

$(VENV)/tools: pyproject.toml $(VENV)/packages
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], sep="\n")' > $(VENV)/tools.txt
	@echo "installing the tools of the tests into $(VENV): pytest, ruff, mypy, dask, duckdb"
	@$(PIP) -r $(VENV)/tools.txt
	@touch $@

$(VENV)/wheel: pyproject.toml $(VENV)/packages
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["wheel"], sep="\n")' > $(VENV)/wheel.txt
	@echo "installing the linker of wheels into $(VENV): Zig"
	@$(PIP) -r $(VENV)/wheel.txt
	@touch $@

$(VENV)/mutants: pyproject.toml $(VENV)/created
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["mutants"], sep="\n")' > $(VENV)/mutants.txt
	@echo "installing the parser of Rust into $(VENV): tree-sitter"
	@$(PIP) -r $(VENV)/mutants.txt
	@touch $@

$(VENV)/coverage: pyproject.toml $(VENV)/packages
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["coverage"], sep="\n")' > $(VENV)/coverage.txt
	@echo "installing the measurement of coverage into $(VENV): pytest-cov"
	@$(PIP) -r $(VENV)/coverage.txt
	@touch $@

# The profile `lab` shares its build with the Rust tests.
$(VENV)/installed: $(RUST_SOURCES) pyproject.toml $(VENV)/packages
	@echo "installing the engine: cargo builds what has changed"
	@PIP_QUIET=1 $(PY) -m maturin develop --profile lab --locked --compression-method stored
	@echo "examining the installation: anabranch doctor"
	@$(BIN)/anabranch doctor > $(VENV)/doctor.log || { cat $(VENV)/doctor.log; exit 1; }
	@tail -n 1 $(VENV)/doctor.log
	@touch $@
