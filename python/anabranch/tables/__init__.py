"""Tables that people read, as text that fits a terminal, as Markdown and as LaTeX."""

from anabranch.tables.layout import (
    MOST,
    Column,
    Document,
    Listed,
    Table,
    aligned,
    headings,
    kept_rows,
    picked,
    shortened,
    terminal_width,
)

__all__ = [
    "MOST",
    "Column",
    "Document",
    "Listed",
    "Table",
    "aligned",
    "headings",
    "kept_rows",
    "picked",
    "shortened",
    "terminal_width",
]
