"""The Rust crates that can be mutated, and the tests that their mutants are tried with."""

import math
from dataclasses import dataclass

# Crates of the laboratory that can be mutated.
LABORATORY = ("capture", "measures", "pcap", "scenario", "sim", "wifi")

# Arguments of cargo for each test program: unit tests of a crate, and its integration tests
# (`-it`).
PROGRAMS = {
    "stack": ["--package", "anabranch-stack", "--lib"],
    "stack-it": ["--package", "anabranch-stack", "--test=it"],
    "acceptance-it": ["--package", "anabranch-acceptance", "--test=it"],
} | {name: ["--package", f"anabranch-{name}", "--lib"] for name in LABORATORY}
# Modules of `acceptance-it` that run transfers and hold the engine to exact results.
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
        return f"crates/{self.name}/src/lib.rs"

    def has(self, file: str) -> bool:
        """True if the mutants of `file` are tried."""
        return file.startswith(self.mutated) and not file.startswith(self.spared)


STACK = Crate(
    name="stack",
    package="anabranch-stack",
    mutated=("crates/stack/src/",),
    # Test support code: mutants there would change the tests, not the engine.
    spared=("crates/stack/src/testing/",),
    tests={
        "stack": [""],
        "stack-it": [""],
        "acceptance-it": [f"{module}::" for module in TRANSFERS.split()] + ["middlebox_"],
    },
    seconds=math.inf,
)


def laboratory(name: str) -> Crate:
    """Returns the crate `name` of the laboratory, with its own tests and those of the whole."""
    return Crate(
        name=name,
        package=f"anabranch-{name}",
        mutated=(f"crates/{name}/src/",),
        # The 2011 model is compared with runs of the original, not unit by unit.
        spared=("crates/sim/src/legacy/",),
        tests={name: [""], "acceptance-it": [""]},
        seconds=20,
        always=("golden::traces_are_", "capture_accounts::"),
        python=tuple(PYTHON.split()),
        python_seconds=30,
    )


CRATES = {"stack": STACK} | {name: laboratory(name) for name in LABORATORY}
