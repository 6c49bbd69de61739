# `make demo` and `make test` need Python >= 3.11 and Rust >= 1.85, nothing else: the rest goes into .venv and target/.
#
#   make demo         a transfer over two unlike links: table, picture, report; then a paper's study in its quick form
#   make test         Rust and Python tests, and every study in its quick form
#   make lint         rustfmt, clippy, rustdoc, ruff, mypy, the map of the RFCs' requirements
#   make rfc-map      writes that map anew, docs/rfc-map.md
#   make scripts-public DIR=...  a checkout of packetdrill's scripts, run: what became of each
#   make bench        speed
#   make bench-check  speed against the stored bounds
#   make check-long   tests that take minutes
#   make fuzz         every parser, and endpoints with lying peers, MINUTES=60 each, guided by coverage
#   make mutants      which changes of the engine no test notices: a sample of 600
#                     CRATE=lab MUTANTS=300: of the laboratory; CRATE=python MUTANTS=100: of the Python package
#   make rfc-proved   the code of the RFCs' requirements is broken, and the tests that docs/rfc names must fail: ROWS=8684:3.1
#   make wheel        dist/*.whl, which installs without a compiler; tested where there is none
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
export ANABRANCH_COMMIT := $(shell git describe --always --dirty --exclude='*' 2>/dev/null)

RUST_SOURCES := $(wildcard Cargo.toml Cargo.lock */Cargo.toml) \
	$(shell find stack lab py -name '*.rs' -o -name '*.toml' -path '*/src/*')
RUST_TESTS := $(CARGO) test --profile lab --workspace --exclude anabranch-py --locked

.PHONY: demo test lint rfc-map scripts-public bench bench-check check-long wheel fuzz mutants rfc-proved clean

demo: $(VENV)/installed
	$(BIN)/anabranch demo --out out/demo --force
	@rm -rf out/alheid-2014-aina
	@echo
	$(BIN)/anabranch study alheid-2014-aina --quick --out out/alheid-2014-aina

test: $(VENV)/installed $(VENV)/tools
	$(RUST_TESTS)
	MPLBACKEND=Agg $(PY) -m pytest -q --numprocesses auto --dist loadfile
	@rm -rf out/studies
	$(BIN)/anabranch study all --quick --out out/studies --quiet

lint: $(VENV)/tools
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --locked --package anabranch-stack
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --locked --package anabranch-lab --document-private-items
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) tools/rfc-map --check

rfc-map: $(VENV)/created
	$(PY) tools/rfc-map

# These scripts are not this project's: they are run where they lie (docs/scripts.md).
scripts-public: $(VENV)/installed
	@$(PY) tools/scripts-public "$(DIR)"

bench:
	$(PYTHON) benches/run

bench-check:
	$(PYTHON) benches/run --check

check-long: $(VENV)/installed $(VENV)/tools
	$(RUST_TESTS) -- --ignored
	MPLBACKEND=Agg $(PY) -m pytest -q -m long || [ $$? -eq 5 ]  # 5: there is none

# On Linux the extension is linked by Zig, against a C library so old that every distribution has it or a newer one; the
# machine's own would do for this machine. One wheel serves all Pythons from 3.11 on (abi3).
wheel: $(VENV)/wheel
	@rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PY) -m maturin build --release --locked --out dist $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux2014)
	tests/wheel $(PYTHON) dist/*.whl

MINUTES ?= 60
fuzz:
	fuzz/run $(MINUTES)

CRATE ?= stack
MUTANTS ?= 600
SEED ?= 1
mutants: $(VENV)/mutants $(if $(filter python,$(CRATE)),$(VENV)/installed $(VENV)/tools,target/tools/bin/cargo-mutants)
	$(PY) tools/mutants --crate $(CRATE) --sample $(MUTANTS) --seed $(SEED) --tool target/tools/bin/cargo-mutants

ROWS ?= 8684 9293
LEVEL ?=
rfc-proved: $(VENV)/mutants target/tools/bin/cargo-mutants
	$(PY) tools/mutants --rfc $(ROWS) $(if $(LEVEL),--level $(LEVEL)) --seed $(SEED) --tool target/tools/bin/cargo-mutants; \
		status=$$?; $(PY) tools/rfc-map && exit $$status

target/tools/bin/cargo-mutants:
	$(CARGO) install --quiet --locked --version 27.1.0 --root target/tools cargo-mutants

clean:
	rm -rf $(VENV) target dist

# pip would compile everything, 75 MB of bytecode, most of it tests; this compiles what is imported. The doctor's
# examination also indexes the fonts, so that the first picture does not wait for it.
# Each of these files says when the step named was last done; a step is done again when what it depends on is newer.

$(VENV)/created:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Anabranch needs Python 3.11 or newer; this is %d.%d. Another one: make PYTHON=python3.12" % v[:2])'
	@$(CARGO) --version >/dev/null || { echo "Anabranch needs Rust 1.85 or newer: https://rustup.rs"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python cannot make an environment; on Debian and Ubuntu the package python3-venv is missing"; rm -rf $(VENV); exit 1; }
	@touch $@

$(VENV)/packages: pyproject.toml $(VENV)/created
	@$(PY) -c 'import tomllib as t; p = t.load(open("pyproject.toml", "rb")); print(*p["build-system"]["requires"], *p["project"]["dependencies"], sep="\n")' > $(VENV)/packages.txt
	@echo "installing packages into $(VENV)"
	@$(PIP) -r $(VENV)/packages.txt
	@$(PY) -m compileall -q -j 0 -x '[/\\](tests?|testing|fontTools|pip|setuptools|pkg_resources)[/\\]' \
		"$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
	@touch $@

$(VENV)/tools: pyproject.toml $(VENV)/packages
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], sep="\n")' > $(VENV)/tools.txt
	@echo "installing tools into $(VENV)"
	@$(PIP) -r $(VENV)/tools.txt
	@touch $@

$(VENV)/wheel: pyproject.toml $(VENV)/packages
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["wheel"], sep="\n")' > $(VENV)/wheel.txt
	@echo "installing what links wheels into $(VENV)"
	@$(PIP) -r $(VENV)/wheel.txt
	@touch $@

$(VENV)/mutants: pyproject.toml $(VENV)/created
	@$(PY) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["mutants"], sep="\n")' > $(VENV)/mutants.txt
	@echo "installing what reads Rust into $(VENV)"
	@$(PIP) -r $(VENV)/mutants.txt
	@touch $@

$(VENV)/installed: $(RUST_SOURCES) pyproject.toml $(VENV)/packages
	@echo "building the engine (the first time about a minute)"
	@$(PY) -m maturin develop --release --locked > $(VENV)/build.log 2>&1 || { cat $(VENV)/build.log; exit 1; }
	@$(BIN)/anabranch doctor > $(VENV)/doctor.log || { cat $(VENV)/doctor.log; exit 1; }
	@touch $@
