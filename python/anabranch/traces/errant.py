"""Profiles and speed tests as ERRANT has them (Trevisan et al., Computer Networks 176, 2020): a row is a network.

The spread of the latency in such tables is between tests, not between packets, and is left out.
"""

from anabranch.traces.names import bare
from anabranch.traces.reading import Found, TraceError, Wanted, cut
from anabranch.traces.table import Table, table
from anabranch.traces.writing import changing

DOWN = ("download_kbps", "download_mbps")
UP = ("upload_kbps", "upload_mbps")
DELAY = ("latency_ms_avg", "latency_ms", "rtt_ms")


def read(name: str, text: str, wanted: Wanted) -> Found:
    """Returns keys of a link: those of one row, or of several, one after another."""
    found = table(name, text)
    columns = (
        found.find(None, DOWN, "the downlink"),
        found.find(None, UP, "the uplink"),
        found.find(None, DELAY, "delay"),
    )
    where = {found.find(word, (), ""): value for word, value in wanted.where.items()}
    for column, value in where.items():
        have = {row[found.header.index(column)] for _, row in found.rows}
        if value.lower() not in {each.lower() for each in have}:
            raise TraceError(f"{name}: no row with {column} = {value!r}; values: {', '.join(sorted(have))}")
    chosen = [
        (line, row)
        for line, row in found.rows
        if all(row[found.header.index(c)].lower() == v.lower() for c, v in where.items())
    ]
    if not chosen:
        asked = ", ".join(f"{c}={v}" for c, v in where.items())
        raise TraceError(f"{name}: no row has all of: {asked}; leave out a --where")
    if len(chosen) > 1 and wanted.step is None:
        apart = [
            c for c in found.header if c not in columns and len({row[found.header.index(c)] for _, row in chosen}) > 1
        ]
        by = f" (COLUMN: {', '.join(apart)})" if apart else ""
        remedy = f"choose one with --where COLUMN=VALUE{by}, or say with --step TIME how long each row lasts"
        raise TraceError(f"{name}: {len(chosen)} rows without times; {remedy}")
    step = wanted.step or 1.0
    rows, _ = cut([(i * step, r) for i, r in enumerate(chosen)], len(chosen) * step, wanted, name)
    said = [f"{name}: " + (", ".join(f"{c}={v}" for c, v in where.items()) or "all rows")]
    keys = changing(said, [(t, _keys(found, line, row, columns)) for t, (line, row) in rows])
    return Found(keys, found.unused())


def _keys(found: Table, line: int, row: tuple[str, ...], columns: tuple[str, str, str]) -> dict[str, str]:
    values = [found.number(line, row, column) for column in columns]
    for column, value in zip(columns, values, strict=True):
        if not value > 0:
            raise TraceError(f"{found.name}, line {line}: {column} is 0 or missing; give a value above 0")
    scale = [1.0 if bare(column).endswith("_kbps") else 1e3 for column in columns]
    down, up = values[0] * scale[0], values[1] * scale[1]
    return {"rate_down": f"{down:.6g} kbit/s", "rate_up": f"{up:.6g} kbit/s", "delay": f"{values[2] / 2:.6g} ms"}
