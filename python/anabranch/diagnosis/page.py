"""A diagnosis in a notebook: HTML without style sheet, script or picture, which looks as the notebook does."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from anabranch.diagnosis.text import SHOWN, note_on_shares, paths, shares, split_notes
from anabranch.diagnosis.tried import tried_text
from anabranch.measures.causes import CAUSES
from anabranch.sentences.escape import visible

_LEFT = "text-align:left"


def notebook_html(summary: Mapping[str, Any]) -> str:
    """Sentences and tables of each connection, and what was tried."""
    ends, notes = split_notes(summary)
    body = [f"<p>{escape(note)}</p>" for note in ends]
    connections = summary["connections"]
    for number, connection in enumerate(connections):
        if len(connections) > 1:
            body.append(f"<p><strong>{escape(connection['name'])}</strong></p>")
        body += [f"<p>{escape(sentence)}</p>" for sentence in (*connection["incomplete"], *connection["sentences"])]
        if number < SHOWN:
            if connection["causes"]:  # a capture of one direction shows none
                body += [_table(shares(connection), 1), f"<p>{escape(note_on_shares(connection))}</p>"]
            body.append(_table(paths(connection["subflows"]), 2))
            body += [f"<p>{escape(event)}</p>" for event in connection["events"]]
    body += [f"<p>{'<br>'.join(map(escape, part.splitlines()))}</p>" for part in tried_text(summary)]
    body += [f"<p>{escape(note)}</p>" for note in notes]
    return visible("".join(body), keep="\n")


def _table(rows: Sequence[Sequence[str]], left: int) -> str:
    """`rows` with the first as heading; the first `left` columns are flush left."""
    meanings = {cause.name: cause.meaning for cause in CAUSES.values()}

    def cell(tag: str, number: int, text: str) -> str:
        look = f' style="{_LEFT}"' if number < left else ""
        meaning = meanings.get(text.removesuffix(" (?)"))
        title = f' title="{escape(meaning)}"' if meaning else ""
        return f"<{tag}{look}{title}>{escape(text)}</{tag}>"

    lines = [
        "".join(cell("th" if i == 0 else "td", number, text) for number, text in enumerate(row))
        for i, row in enumerate(rows)
    ]
    head, *others = (f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead>{head}</thead><tbody>{''.join(others)}</tbody></table>"
