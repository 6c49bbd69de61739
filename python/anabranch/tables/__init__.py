"""Tables that people read, as text that fits a terminal, as Markdown and as LaTeX."""

from anabranch.tables.layout import (
    MOST,
    Column,
    Document,
    Table,
    aligned,
    headings,
    kept_rows,
    picked,
    shortened,
    terminal_width,
)
from anabranch.tables.run import (
    COLUMNS,
    document,
    nothing_arrived,
    setting,
    subflow_columns,
    subflow_csv,
    subflow_rows,
    title_of,
    verdict,
)

__all__ = [
    "COLUMNS",
    "MOST",
    "Column",
    "Document",
    "Table",
    "aligned",
    "document",
    "headings",
    "kept_rows",
    "nothing_arrived",
    "picked",
    "setting",
    "shortened",
    "subflow_columns",
    "subflow_csv",
    "subflow_rows",
    "terminal_width",
    "title_of",
    "verdict",
]
