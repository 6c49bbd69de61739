"""The complaints of ``examples/slow``, as they are and with their remedies, diagnosed: for ``tools/slow-examples``."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import anabranch as ab
from anabranch.measures.causes import CAUSES
from anabranch.measures.units import percent, rate

FOLDER = Path(__file__).parent.parent / "examples" / "slow"


@dataclass(frozen=True)
class Answer:
    """What a complaint gets."""

    name: str
    thread: str
    got_mbps: float
    main: str
    share: float
    remedy: str
    after_mbps: float

    def row(self) -> str:
        """A line of the table in docs/diagnose.md."""
        cause = f"{CAUSES[self.main].name} {percent(self.share)}"
        cells = (self.thread, f"`{self.name}`", rate(self.got_mbps * 1e6), cause, f"`{self.remedy}`")
        return "| " + " | ".join((*cells, rate(self.after_mbps * 1e6))) + " |"


def names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def remedy(text: str) -> dict[str, str]:
    """The settings of the line ``# remedy:``."""
    (line,) = re.findall(r"^# remedy: (.+)$", text, re.MULTILINE)
    parts = re.split(r" (?=[a-z_]+[.\[])", line)
    return dict(part.split("=", 1) for part in parts)


def answer(name: str) -> Answer:
    """Runs, diagnoses, runs again with the remedy."""
    text = (FOLDER / f"{name}.toml").read_text("utf-8")
    scenario = ab.Scenario.load(FOLDER / f"{name}.toml")
    run = scenario.run()
    (connection,) = run.explain().connections
    changes = remedy(text)
    after = scenario.set(changes).run()
    (thread, *_) = re.findall(r"(?:OpenMPTCProuter|mptcp|mptcp_net-next)\s(?:# )?#\d+", text)
    thread = " ".join(thread.replace("# #", "#").split())
    cause = connection["main_cause"]
    return Answer(
        name,
        thread,
        run.summary["goodput_mbps"],
        cause,
        connection["causes"][cause],
        " ".join(f"{key}={value}" for key, value in changes.items()),
        after.summary["goodput_mbps"],
    )


HEAD = "| thread | scenario | gets | waits most for | remedy | then gets |\n|---|---|---|---|---|---|"


def main(chosen: list[str]) -> None:
    """Prints the table."""
    sys.stdout.write(HEAD + "\n")
    for name in chosen or names():
        sys.stdout.write(answer(name).row() + "\n")
        sys.stdout.flush()
