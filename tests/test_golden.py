"""Golden traces in the builds that `cargo test` with its usual profile does not make.

The traces are in crates/acceptance/tests/data/golden.toml.
"""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import anabranch as ab

ROOT = Path(__file__).parents[1]
GOLDENS = tomllib.loads((ROOT / "crates/acceptance/tests/data/golden.toml").read_text(encoding="utf-8"))["golden"]
ARM = "aarch64-unknown-linux-gnu"


def cargo(*arguments: str, **environment: str) -> None:
    command = ["cargo", "test", "--locked", "--package", "anabranch-acceptance", "--test", "it", *arguments, "golden::"]
    done = subprocess.run(command, check=False, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "2 passed" in done.stdout


def test_the_installed_build_gives_the_golden_traces(tmp_path: Path) -> None:
    """`make` installs a build with the profile `lab`, `make release` a release build."""
    assert len(GOLDENS) >= 30
    shutil.copy(ROOT / "examples/cellular.trace", tmp_path)
    wrong = []
    for golden in GOLDENS:
        file = tmp_path / "golden.toml"
        file.write_text(golden["scenario"], encoding="utf-8")
        summary = ab.Scenario.load(file).run().summary
        low, high = golden["goodput"]
        if summary["trace_sha256"] != golden["sha256"] or not low <= summary["goodput_mbps"] <= high:
            wrong.append(f"{golden['name']}: {summary['trace_sha256']}, {summary['goodput_mbps']} in {low} to {high}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_a_debug_build_gives_the_golden_traces() -> None:
    cargo("--profile", "dev")


@pytest.mark.long
def test_aarch64_gives_the_golden_traces() -> None:
    """Another instruction set, with fused multiply-add at hand."""
    command = ["rustc", "--print", "target-libdir", "--target", ARM]
    library = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    if not library or not any(Path(library).glob("libstd-*.rlib")):
        pytest.skip(f"no standard library of Rust for {ARM} (rustup target add {ARM})")
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    linker = shutil.which("aarch64-linux-gnu-gcc")
    if not emulator or not linker:
        pytest.skip("no qemu-aarch64, or no aarch64-linux-gnu-gcc (Debian: qemu-user gcc-aarch64-linux-gnu)")
    name = ARM.upper().replace("-", "_")
    runner = f"{emulator} -L /usr/aarch64-linux-gnu"
    settings = {f"CARGO_TARGET_{name}_LINKER": linker, f"CARGO_TARGET_{name}_RUNNER": runner}
    cargo("--profile", "lab", "--target", ARM, **settings)
