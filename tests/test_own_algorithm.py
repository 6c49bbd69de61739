"""A crate outside the repository, made as docs/how-to/own-algorithm.md says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MANIFEST = """[package]
name = "stranger"
version = "0.1.0"
edition = "2024"

[dependencies]
{dependencies}
[profile.dev]
opt-level = 1

[workspace]
"""


@pytest.mark.long
def test_a_crate_of_ones_own_brings_a_scheduler_and_a_controller(tmp_path: Path) -> None:
    """Checked, registered, listed, run by name in a sweep, and tortured: through public items only."""
    page = (ROOT / "docs/how-to/own-algorithm.md").read_text("utf-8")
    crates = ("stack", "sim", "torture")
    assert all(f"cargo add --path ../anabranch/crates/{crate}\n" in page for crate in crates)
    assert "cp ../anabranch/crates/torture/examples/stranger.rs src/main.rs" in page
    paths = "".join(f'anabranch-{crate} = {{ path = "{ROOT}/crates/{crate}" }}\n' for crate in crates)
    (tmp_path / "Cargo.toml").write_text(MANIFEST.format(dependencies=paths), "utf-8")
    # The versions that the repository builds with, so that the network is not needed.
    shutil.copy(ROOT / "Cargo.lock", tmp_path / "Cargo.lock")
    (tmp_path / "src").mkdir()
    shutil.copy(ROOT / "crates/torture/examples/stranger.rs", tmp_path / "src/main.rs")
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/stranger")}
    command = ["cargo", "run", "--quiet", "--offline"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"name": "most-room"' in done.stdout
    assert '"name": "step"' in done.stdout
    rows = done.stdout.split("scheduler,controller,seed,goodput_mbps\n")[1].splitlines()[:12]
    assert len({tuple(row.split(",")[:3]) for row in rows}) == 12
    # 30 Mbit/s are there for payload and headers together.
    assert all(1 < float(row.split(",")[3]) < 30 for row in rows)
    goodput = {row.rsplit(",", 1)[0]: row.rsplit(",", 1)[1] for row in rows}
    assert goodput["min-rtt,uncoupled,1"] != goodput["min-rtt,step,1"], "the controller decides something"
    assert done.stdout.endswith("torture: 50 runs, 0 failures\n")
