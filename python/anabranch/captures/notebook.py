"""What a notebook shows of captures: HTML without style sheet, script or picture."""

from html import escape
from typing import TYPE_CHECKING

from anabranch.captures import text as capture_text
from anabranch.captures.report import subflow_table
from anabranch.measures.labels import connections_of

if TYPE_CHECKING:
    from anabranch.captures.data import CaptureData

_SHOWN = 20
"""Connections that are shown."""


def notebook_html(capture: "CaptureData") -> str:
    """Sentences and tables of captures."""
    first, *others = capture_text.about(capture.summary)
    body = [f"<p><strong>{escape(first)}</strong>{''.join(f'<br>{escape(line)}' for line in others)}</p>"]
    connections = connections_of(capture.summary)
    for c, connection in enumerate(connections[:_SHOWN]):
        lines = capture_text.connection_lines(connection)
        body.append(f"<p>{'<br>'.join(map(escape, lines))}</p>{subflow_table(c, connection)}")
    if len(connections) > _SHOWN:
        body.append(f"<p>and {len(connections) - _SHOWN} more connections, in <code>summary</code></p>")
    return "".join(body)
