"""A recommendation on disk: the numbers, the recommended scenario, and one HTML file that needs nothing else."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.recommendation.command import has_candidates
from anabranch.recommendation.text import compared, html, looked, table_html
from anabranch.results import page as pages
from anabranch.results.directory import REPORT, SCENARIO, dump
from anabranch.results.page import maker, table
from anabranch.results.result_kinds import RECOMMENDATION
from anabranch.results.signed import SignedDraft, sign, write
from anabranch.sentences import recommend as say

if TYPE_CHECKING:
    from anabranch.scenario import Scenario

NUMBERS = "recommendation.json"


class RecommendationDraft(SignedDraft):
    """A place for a recommendation that is not finished yet."""

    kind = RECOMMENDATION
    files = (NUMBERS, REPORT, SCENARIO)

    def _write(self, result: "tuple[Mapping[str, Any], Scenario | None]", folder: Path) -> None:
        """Write a summary, and the scenario that is recommended if there is one."""
        summary, scenario = result
        made = self.signature(summary["version"])
        write(folder, NUMBERS, dump(summary))
        write(folder, REPORT, page(summary, made))
        sign(folder, made)
        if scenario is not None:
            write(folder, SCENARIO, f"{scenario.expanded().toml}\n")


def page(summary: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """Return the report."""
    title = escape(say.REPORT_TITLE(paths=" + ".join(path["described"].split(",")[0] for path in summary["paths"])))
    body = [f"<h1>{title}</h1>", html(summary)]
    for one in summary["queues"]:
        body.append(f"<h2>{escape(say.REPORT_QUEUES(queues=', '.join(one['queues'])))}</h2>")
        body.append(table_html(compared(one)))
    if summary["first_look"]:
        caption = say.REPORT_LOOK_GIVEN if has_candidates(summary["command"]) else say.REPORT_LOOK_CAPTION
        body += [f"<h2>{say.REPORT_LOOK}</h2>", f"<p>{caption(seed=summary['seed'])}</p>", table_html(looked(summary))]
    why = [(escape(name), escape(text)) for name, text in [*summary["refused"].items(), *summary["failed"].items()]]
    body += [f"<h2>{say.REPORT_LEFT_OUT}</h2>", table(say.REPORT_LEFT_OUT_HEAD, why, words=True)] if why else []
    made_by = [(escape(say.REPORT_AGAIN), escape(summary["command"])), *maker(made)]
    body += [f"<h2>{say.REPORT_MADE}</h2>", table(("", ""), made_by, words=True)]
    return pages.page(title, body)
