"""The Rust crates that can be mutated, and the tests that their mutants are tried with."""

import math
from dataclasses import dataclass

# Arguments of cargo for each test program: unit tests of a crate, and its integration tests
# (`-it`).
PROGRAMS = {
    "stack": ["--package", "anabranch-stack", "--lib"],
    "stack-it": ["--package", "anabranch-stack", "--test=it"],
    "lab": ["--package", "anabranch-lab", "--lib"],
    "lab-it": ["--package", "anabranch-lab", "--test=it"],
}
# Modules of `lab-it` that run transfers and hold the engine to exact results.
TRANSFERS = """accounting applications bbr changes chance delay determinism ending failover fast_open gaps golden judges
    latency loss_cycles messages middlebox path_mtu paths pep receivers schedulers scripts torture_found"""

# Parts of the names of files of Python tests that analyse captures, read scenarios and traces, or
# compare figures of runs.
PYTHON = """alike analyze applications bad_input capture compare diagnose encapsulation explain floats functions
    identical json link_use nothing_arrived other_links python qlog start trace twin varying version0"""


@dataclass(frozen=True)
class Crate:
    """A crate and the tests of its mutants.

    `name`: its folder; `package`: its name in cargo. `mutated`: folders whose files are mutated,
    without those in `spared`. `tests`: parts of the names of tests to run, by key of `PROGRAMS`.
    `seconds`: limit of the summed durations (processor time without a mutant) of the tests that a
    mutant is tried with, the quick ones first. `always`: parts of the names of tests that compare
    all figures of many runs; they are tried beyond this limit. `python`: parts of the names of
    files of Python tests, with which a mutant is tried that passes the Rust tests;
    `python_seconds`: their limit.
    """

    name: str
    package: str
    mutated: tuple[str, ...]
    spared: tuple[str, ...]
    tests: dict[str, list[str]]
    seconds: float
    always: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    python_seconds: float = 0

    @property
    def root(self) -> str:
        """Returns the path of the crate's root module."""
        return f"{self.name}/src/lib.rs"

    def has(self, file: str) -> bool:
        """True if the mutants of `file` are tried."""
        return file.startswith(self.mutated) and not file.startswith(self.spared)


STACK = Crate(
    name="stack",
    package="anabranch-stack",
    mutated=("stack/src/",),
    # Test support code: mutants there would change the tests, not the engine.
    spared=("stack/src/testing/",),
    tests={
        "stack": [""],
        "stack-it": [""],
        "lab-it": [f"{module}::" for module in TRANSFERS.split()] + ["middlebox_"],
    },
    seconds=math.inf,
)
LAB = Crate(
    name="lab",
    package="anabranch-lab",
    mutated=tuple(f"lab/src/{module}/" for module in ["capture", "metrics", "scenario", "sim", "wifi"]),
    spared=(),
    tests={"lab": [""], "lab-it": [""]},
    seconds=20,
    always=("golden::traces_are_", "capture_accounts::"),
    python=tuple(PYTHON.split()),
    python_seconds=30,
)
CRATES = {crate.name: crate for crate in (STACK, LAB)}
