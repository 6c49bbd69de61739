"""The answer to "why was it not faster?" for a run: the sentences of its diagnosis, in text and in a notebook."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.algorithms.references import descriptions
from anabranch.captures.data import CaptureData
from anabranch.diagnosis.measure import examined, with_data
from anabranch.diagnosis.of_run import known, numbers
from anabranch.diagnosis.seen import seen
from anabranch.measures.causes import CAUSES
from anabranch.measures.labels import connections_of
from anabranch.measures.units import percent
from anabranch.runs.data import RunData
from anabranch.runs.limits import limits, notices
from anabranch.sentences import diagnose as say

LEGACY = "legacy-2011"
_EACH = 12
"""Connections that are explained one by one."""
_PLAIN = "text-align:left"


class Explanation(str):
    """The first sentences of a diagnosis: text, and in a notebook with the shares as a table.

    Attributes
    ----------
    connections : tuple
        The connections, as ``ab.diagnose`` has them.
    """

    connections: tuple[Mapping[str, Any], ...] = ()

    def _repr_html_(self) -> str:
        if not self.connections:
            return f"<p>{escape(self)}</p>"
        several = len(self.connections) > 1
        return "".join(_table(c, c["name"] if several else "") for c in self.connections)


def explain(run: RunData) -> Explanation:
    """The sentences of the diagnosis of `run`, which is made again for it.

    What has no captures, a connection of the 2011 model, has the shares that the run itself kept.
    """
    own = Explanation(limits(run.summary) or say.NOT_MEASURED())
    try:
        if run.scenario["stack"] == LEGACY:
            return own
        connections = _named(diagnose_run(run)[0]["connections"], run.summary)
    except ValueError:
        return own
    lines = []
    for connection in connections[:_EACH]:
        head = f"{connection['name']}: " if len(connections) > 1 else ""
        lines.append("\n".join([head + connection["sentences"][0], *connection["sentences"][1:]]))
    if len(connections) > _EACH:
        lines.append(say.MORE_CONNECTIONS(count=len(connections) - _EACH))
    lines += notices(run.summary)
    text = Explanation("\n\n".join(lines) or say.NOT_MEASURED())
    text.connections = tuple(connections[:_EACH])
    return text


def _named(connections: Sequence[dict[str, Any]], summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """With the names of the scenario."""
    names = [c["name"] for c in connections_of(summary)]
    found = zip(connections, numbers(connections), strict=True)
    return [{**c, "name": names[n]} if 0 <= n < len(names) else c for c, n in found]


class OtherTraceError(ValueError):
    """A scenario does not give again the trace that its run had."""


def diagnose_run(run: RunData, poll: Callable[[int, int], None] | None = None) -> tuple[dict[str, Any], CaptureData]:
    """The diagnosis of `run`, and its captures: it is run once more, with both hosts', and must give its trace."""
    with tempfile.TemporaryDirectory(prefix="anabranch-") as captures:
        algorithms = descriptions(run.toml, "scenario.toml", [], run.classes)
        done = _core.run(run.toml, "scenario.toml", [], pcap=captures, series=False, causes=True, algorithms=algorithms)
        again = json.loads(done.summary)
        if again["trace_sha256"] != run.summary["trace_sha256"]:
            raise OtherTraceError(again["version"])
        files = [str(file) for file in sorted(Path(captures).glob("*.pcapng")) if not file.stem.endswith(".link")]
        found, capture = examined(files, poll)
    # The folder is gone, and its name differs from time to time.
    for file in found["capture"]["files"]:
        file["name"] = Path(file["name"]).name
    facts = [seen(c) for c in with_data(capture.summary)]
    return {**known(found, again, run.scenario, facts), "files": [Path(file).name for file in files]}, capture


def _table(connection: Mapping[str, Any], name: str) -> str:
    """Sentences and shares: HTML without style sheet, script or picture."""
    head = f"{name}: " if name else ""
    said = "".join(
        f"<p>{escape(part)}</p>" for part in [head + connection["sentences"][0], *connection["sentences"][1:]]
    )
    shares = sorted((connection["causes"] or {}).items(), key=lambda pair: -pair[1])
    cells = "".join(
        f'<tr><td style="{_PLAIN}">{escape(CAUSES[cause].name)}</td><td>{percent(share)}</td>'
        f'<td style="{_PLAIN}"><div style="width:{round(160 * share)}px;height:.7em;background:#0072B2"></div></td>'
        f'<td style="{_PLAIN}">{escape(CAUSES[cause].meaning)}</td></tr>'
        for cause, share in shares
        if share > 0
    )
    return f"{said}<table><tbody>{cells}</tbody></table>" if cells else said
