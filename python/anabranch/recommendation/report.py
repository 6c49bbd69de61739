"""A recommendation on disk: the numbers, the recommended scenario, and one HTML file that needs nothing else."""

import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.recommendation.text import compared, html, looked, table_html
from anabranch.results import page as pages
from anabranch.results import provenance
from anabranch.results.directory import PROVENANCE, REPORT, SCENARIO, Draft, dump, foreign
from anabranch.results.page import maker, table
from anabranch.sentences import recommend as say
from anabranch.sentences.escape import visible

if TYPE_CHECKING:
    import os

    from anabranch.scenario import Scenario

FORMAT = "anabranch-recommendation"
RECOMMENDATION = "recommendation.json"


class RecommendationDraft(Draft):
    """A place for a recommendation that is not finished yet; see `Draft`."""

    def __init__(self, directory: "str | os.PathLike[str]", command: Sequence[str] | None = None) -> None:
        super().__init__(directory)
        self.command = "python" if command is None else visible(shlex.join(["anabranch", *command]))

    def _write(self, result: "tuple[Mapping[str, Any], Scenario | None]", folder: Path) -> None:
        """Write a summary, and the scenario that is recommended if there is one."""
        summary, scenario = result
        made = {
            "format": FORMAT,
            "format_version": 1,
            "version": summary["version"],
            "machine": provenance.machine(),
            "python": platform.python_version(),
            "command": self.command,
            "started": provenance.now(),
        }
        (folder / RECOMMENDATION).write_text(dump(summary), encoding="utf-8", newline="\n")
        (folder / REPORT).write_text(page(summary, made), encoding="utf-8", newline="\n")
        (folder / PROVENANCE).write_text(dump(made), encoding="utf-8", newline="\n")
        if scenario is not None:
            (folder / SCENARIO).write_text(f"{scenario.expanded().toml}\n", encoding="utf-8", newline="\n")

    def _is_ours(self, folder: Path) -> bool:
        try:
            marker = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(marker, dict) and marker.get("format") == FORMAT

    def _foreign(self, folder: Path) -> list[str]:
        return foreign(folder, {RECOMMENDATION, REPORT, PROVENANCE, SCENARIO}, ())


def page(summary: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """Return the report."""
    title = escape(say.REPORT_TITLE(paths=" + ".join(path["described"].split(",")[0] for path in summary["paths"])))
    body = [f"<h1>{title}</h1>", html(summary)]
    for one in summary["queues"]:
        body.append(f"<h2>{escape(say.REPORT_QUEUES(queues=', '.join(one['queues'])))}</h2>")
        body.append(table_html(compared(one)))
    body += [f"<h2>{say.REPORT_LOOK}</h2>", f"<p>{say.REPORT_LOOK_CAPTION(seed=summary['seed'])}</p>"]
    body += [table_html(looked(summary))] if summary["first_look"] else []
    why = [(escape(name), escape(text)) for name, text in [*summary["refused"].items(), *summary["failed"].items()]]
    body += [f"<h2>{say.REPORT_LEFT_OUT}</h2>", table(say.REPORT_LEFT_OUT_HEAD, why, words=True)] if why else []
    made_by = [(escape(say.REPORT_AGAIN), escape(summary["command"])), *maker(made)]
    body += [f"<h2>{say.REPORT_MADE}</h2>", table(("", ""), made_by, words=True)]
    return pages.page(title, body)
