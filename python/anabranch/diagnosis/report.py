"""A diagnosis on disk: the numbers, and one HTML file that needs nothing else."""

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.diagnosis.over_time import over_time
from anabranch.diagnosis.text import note_on_shares, paths, shares, split_notes
from anabranch.diagnosis.tried import tried_text
from anabranch.measures.causes import CAUSES
from anabranch.measures.units import significant
from anabranch.plots.files import picture as drawing
from anabranch.plots.waiting import height, waiting
from anabranch.plots.zoom import STYLE as ZOOM
from anabranch.results.directory import REPORT, dump
from anabranch.results.page import maker, page, picture, table
from anabranch.results.result_kinds import DIAGNOSIS
from anabranch.results.signed import SignedDraft, sign, write
from anabranch.sentences import diagnose as say

if TYPE_CHECKING:
    from anabranch.captures.data import CaptureData

NUMBERS = "diagnosis.json"


class DiagnosisDraft(SignedDraft):
    """A place for a diagnosis that is not finished yet; `sources` are what is diagnosed."""

    kind = DIAGNOSIS
    files = (NUMBERS, REPORT)

    def _write(self, result: "tuple[Mapping[str, Any], CaptureData | None]", folder: Path) -> None:
        """Of a summary, and what it is of."""
        summary, capture = result
        made = self.signature(summary["version"])
        write(folder, NUMBERS, dump(summary))
        write(folder, REPORT, html(summary, capture, made))
        sign(folder, made)

    def _other(self, folder: Path) -> str | None:
        try:
            names = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError):
            return say.OTHER_UNREADABLE()
        return None if names == self._sources else say.OTHER(files=", ".join(names))


def _waiting(connection: Mapping[str, Any]) -> str:
    """The figure of who waited for whom."""
    svg = drawing(lambda ax: waiting(connection, ax), "svg", {"height": height(connection)}).decode()
    blocked = any(flow["blocked_others_s"] for flow in connection["subflows"])
    caption = [say.REPORT_WAITING_CAPTION(), *([say.REPORT_BLOCKING_CAPTION()] if blocked else [])]
    return picture(svg, say.REPORT_WAITING, " ".join(caption), ' style="margin-top: 1.5rem"')


def _twin(summary: Mapping[str, Any]) -> list[str]:
    """What would help, and the scenario on which it was tried."""
    twin = summary["twin"]
    if twin is None:
        return []
    body = []
    for part in tried_text(summary):
        lines = part.replace("\n  ", " ").split("\n")
        body += [f"<h2>{say.REPORT_REMEDIES}</h2>", *(f"<p>{code(line)}</p>" for line in lines)]
    if summary["remedies"] is not None:
        body.append(_trials(summary["remedies"]))
    return [*body, f"<h3>{say.REPORT_TWIN}</h3>", f"<pre>{escape(twin['toml'])}</pre>"]


def _trials(remedies: Mapping[str, Any]) -> str:
    """Every change that was tried, the best first."""
    rows = [
        (
            code(one["what"]),
            escape(one["kind"]),
            "yes" if one["in_linux"] else "no",
            significant(one["goodput_mbps"]),
            ("+" if one["gain_mbps"] > 0 else "") + significant(one["gain_mbps"]),
            "yes" if one["helps"] else say.REPORT_MAYBE() if one["may_help"] else "no",
        )
        for one in remedies["tried"]
    ]
    return table(say.REPORT_TRIALS, rows)


def code(text: str) -> str:
    """HTML of `text`, of which what stands between backquotes is a command."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def html(summary: Mapping[str, Any], capture: "CaptureData | None", made: Mapping[str, Any]) -> str:
    """The report; without a capture, or without data, there is nothing to draw over time."""
    title = escape(say.REPORT_TITLE(files=", ".join(Path(name).name for name in summary["files"])))
    ends, notes = split_notes(summary)
    body = [f"<h1>{title}</h1>", *(f"<p>{escape(note)}</p>" for note in ends)]
    for connection in summary["connections"]:
        body.append(f"<h2>{escape(connection['name'])}</h2>")
        body += [f"<p>{escape(sentence)}</p>" for sentence in (*connection["incomplete"], *connection["sentences"])]
        heads = (say.REPORT_CAUSES, say.REPORT_PATHS)
        for head, rows in zip(heads, (shares(connection), paths(connection["subflows"])), strict=True):
            if len(rows) == 1:
                continue
            escaped = [[escape(cell) for cell in row] for row in rows]
            body += [f"<h3>{escape(head)}</h3>", table(tuple(escaped[0]), escaped[1:])]
        if connection["causes"]:
            body += [f"<p>{escape(note_on_shares(connection))}</p>", _waiting(connection)]
        body += [f"<p>{escape(event)}</p>" for event in connection["events"]]
        unknown = [[code(u[what]) for what in ("what", "why", "capture")] for u in connection["unknown"]]
        above = f"<h3>{say.REPORT_UNKNOWN}</h3>"
        body += [above, table(say.REPORT_UNKNOWN_HEAD, unknown, words=True)] if unknown else []
    body += _twin(summary)
    body += over_time(capture) if capture is not None and summary["connections"] else []
    body += [f"<p>{escape(note)}</p>" for note in notes]
    grounds = summary["grounds"]
    kinds = [
        (c.name, c.meaning, grounds[key]["kind"], grounds[key]["ground"]) for key, c in CAUSES.items() if key in grounds
    ]
    body += [f"<h2>{say.REPORT_GROUNDS}</h2>", table(say.REPORT_GROUNDS_HEAD, kinds, words=True)]
    body += [f"<h2>{say.REPORT_MADE}</h2>", table(("", ""), maker(made), words=True)]
    return page(title, body, ZOOM)
