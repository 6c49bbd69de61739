"""HTML pages that need nothing else: no network, no script, no second file."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from anabranch.measures.table import MEASURES
from anabranch.plots.style import colour
from anabranch.sentences.escape import visible
from anabranch.tables import shortened

STYLE = """
:root { color-scheme: light; }
body { margin: 2.5rem auto; max-width: 60rem; padding: 0 1.5rem; color: #1c1c1c; background: #fff;
       font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .6rem; }
p { margin: .4rem 0; }
.muted, figcaption, th { color: #555; }
.facts { display: flex; flex-wrap: wrap; gap: 2.2rem; margin: 1.6rem 0 1.2rem; padding: 0; }
.facts div { min-width: 6rem; }
.facts dt { font-size: .85rem; color: #555; }
.facts dd { margin: 0; font-size: 1.45rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th { font-weight: 500; vertical-align: bottom; border-bottom: 1px solid #999; }
th, td { text-align: right; padding: .3rem .4rem; white-space: nowrap; }
th { white-space: normal; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td { border-bottom: 1px solid #e6e6e6; }
figure { margin: 0 0 2rem; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre { background: #f5f5f5; padding: .8rem 1rem; overflow-x: auto; border-radius: 4px; }
.words th, .words td { text-align: left; white-space: normal; vertical-align: top; }
.words th { vertical-align: bottom; }
.provenance td { text-align: left; white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
.provenance td:first-child { color: #555; white-space: nowrap; }
@media print { body { margin: 0; max-width: none; } figure, tr { break-inside: avoid; } }
"""


def page(title: str, body: Iterable[str], *styles: str) -> str:
    """A whole page: `title` and the elements of `body` are HTML; `styles` follow the style of all pages."""
    return visible(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} - Anabranch</title>\n<style>{''.join((STYLE, *styles))}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n",
        keep="\n\r\t",
    )


def picture(svg: str, alternative: str, caption: str, attributes: str = "") -> str:
    """A figure: `svg` inside of the page, and below it `caption`, which is HTML as `attributes` are."""
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<figure{attributes}><img alt="{escape(alternative)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def provenance_table(rows: Iterable[tuple[str, str]]) -> str:
    """Who made a result: names and values, which are HTML."""
    cells = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
    return f'<table class="provenance"><tbody>{cells}</tbody></table>'


def maker(made: Mapping[str, object]) -> list[tuple[str, str]]:
    """Rows about the maker of a result whose mark is `made`, as `provenance.mark` writes it."""
    return [(name, escape(str(made[name]))) for name in ("command", "version", "started", "machine", "python")]


def short_table(
    head: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    values: Sequence[float | None],
    whole: Sequence[tuple[str, ...]] = (),
) -> str:
    """A table; of many rows the extremes by `values`, their goodputs, and a line about all; then those in `whole`."""
    kept, about = shortened(rows, values, MEASURES["goodput_mbps"].words)
    return table(head, [*kept, *whole]) + "".join(f'<p class="muted">{escape(line)}</p>' for line in about if line)


def key_mark(connection: int, subflow: int) -> str:
    """A square of a subflow's colour; its look is written out, because a notebook has no style sheet of ours."""
    look = "display:inline-block;width:.75em;height:.75em;margin-right:.5em;border-radius:2px"
    return f'<span style="{look};background:{colour(connection, subflow)}"></span>'


def table(head: tuple[str, ...], rows: Sequence[Sequence[str]], *, words: bool = False) -> str:
    """A table; `head` and the cells are HTML. Its cells stand right for numbers, left and in lines for `words`."""
    kind = "words" if words else "scroll"
    return (
        f'<div class="{kind}"><table><thead><tr>'
        + "".join(f'<th scope="col">{cell}</th>' for cell in head)
        + "</tr></thead><tbody>"
        + "".join("<tr>" + "".join(f"<td>{_padded(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        + "</tbody></table></div>"
    )


def _padded(cell: str) -> str:
    """`cell` with blanks at its end that are as wide as a point and digits, so that points stand below each other."""
    text = cell.rstrip(" ")
    blanks = len(cell) - len(text)
    point = "" if "." in text or not blanks else "\u2008"
    return text + point + "\u2007" * (blanks - len(point))
