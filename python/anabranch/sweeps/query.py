"""A stored sweep as tables of a database, for questions in SQL.

DuckDB reads the Parquet pieces where they are, only the columns and rows that a question needs, with all cores; nothing
is copied or imported. It is chosen over a lazy frame library because a question on the command line is SQL anyhow, and
over the others because it is the smallest of them that reads a million rows in a second (`docs/dependencies.md`).

The tables are

- ``runs``: one row per run, the columns of `Sweep.runs`
- ``subflows``: one row per run and subflow, the columns of `Sweep.subflows`
- ``cells``: one row per cell: ``cell`` (its number), the axes, ``scenario_sha256``, ``error``
- ``texts``: ``scenario_sha256``, ``seed``, and of each run the whole ``summary`` and the ``series`` as JSON
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.execution.optional_deps import need
from anabranch.sweeps import dataset
from anabranch.sweeps.plan import PlanData
from anabranch.sweeps.store import cells_frame, read_marker

if TYPE_CHECKING:
    import os

    import pandas as pd


class QueryError(ValueError):
    """A question that the database does not understand."""


def connect(directory: "str | os.PathLike[str]") -> Any:
    """Open the sweep in `directory` as a database.

    A statement can read and write files in `directory` and nowhere else, and cannot change that: a sweep may come from
    someone else, and so may a statement.

    Returns
    -------
    duckdb.DuckDBPyConnection
        With the tables of this module; ``connection.sql("select ...")`` is a lazy relation.

    Raises
    ------
    ResultError
        If `directory` is not a sweep, or one of its files has a column that no sweep has.
    QueryError
        If the database cannot read the files.
    MissingError
        If DuckDB is not installed.
    """
    duckdb = need("duckdb", "query", "a question in SQL")
    folder = Path(directory)
    plan = read_marker(folder)
    connection = duckdb.connect(config={"python_enable_replacements": "false"})
    try:
        _confine(connection, folder)
        _create_tables(connection, folder, plan)
    except duckdb.Error as error:
        connection.close()
        raise QueryError(f"{folder}: {str(error).strip()}") from None
    except BaseException:
        connection.close()
        raise
    return connection


def _confine(connection: Any, folder: Path) -> None:
    """Allow statements to use files in `folder` only, and no longer to change settings."""
    import duckdb

    allowed = duckdb.ConstantExpression(str(folder.resolve()))
    # DuckDB adds the folder to which it spills to the folders that it allows: in the working directory, ".tmp".
    connection.execute("set temp_directory = ''")
    connection.execute(f"set allowed_directories = [{allowed}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _create_tables(connection: Any, folder: Path, plan: PlanData) -> None:
    import pandas as pd

    connection.register("cells", _cells(plan))
    connection.register("seeds", pd.DataFrame({"seed": plan.seeds}))
    for name in (dataset.RUNS, dataset.SUBFLOWS):
        files = [_examined(file) for file in dataset.pieces(folder.resolve(), name)]
        parts = []
        if files:
            connection.read_parquet(files, union_by_name=True).create_view(f"{name}_pieces")
            parts.append(f"select * from {name}_pieces")
        journal = dataset.journalled(folder, name)
        if len(journal) or not files:
            connection.register(f"{name}_journal", _plain(journal))
            parts.append(f"select * from {name}_journal")
        connection.execute(f"create view {name}_parts as {' union all by name '.join(parts)}")
        connection.execute(f"create view {name}_all as select {_filled(connection, name)} from {name}_parts")
    ((rows,),) = connection.execute(
        "select count(*) - count(distinct (scenario_sha256, seed)) from runs_all"
    ).fetchall()
    if rows:
        _drop_repeated(connection, folder)
    texts = ", ".join(sorted(dataset.TEXTS))
    connection.execute(
        f"create view runs as select cells.* exclude (cell, error, scenario_sha256), runs_all.* exclude ({texts}) "
        "from runs_all join cells using (scenario_sha256) join seeds using (seed)"
    )
    connection.execute(
        "create view subflows as select cells.* exclude (cell, error, scenario_sha256), subflows_all.* "
        "from subflows_all join cells using (scenario_sha256) join seeds using (seed)"
    )
    connection.execute(f"create view texts as select scenario_sha256, seed, {texts} from runs_all")


def query(directory: "str | os.PathLike[str]", statement: str) -> "pd.DataFrame":
    """The answer to a question in SQL.

    Raises
    ------
    QueryError
        If the database does not understand it, or it names a file outside of `directory`.

    Examples
    --------
    >>> import tempfile, anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="100 kB")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = ab.sweep(base, {"mss": [700, 1400]}, seeds=3, out=folder + "/kept")
    ...     frame = query(folder + "/kept", "select mss, count(*) as n from runs group by mss order by mss")
    >>> frame.to_numpy().tolist()
    [[700, 3], [1400, 3]]
    """
    duckdb = need("duckdb", "query", "a question in SQL")
    with connect(directory) as connection:
        try:
            answer = connection.execute(statement)
            frame: pd.DataFrame | None = answer.df() if answer is not None else None
        except duckdb.Error as error:
            raise QueryError(f"{str(error).strip()}\ntables: runs, subflows, cells, texts") from None
        if frame is None:
            raise QueryError('the query is empty; write one, such as "select * from runs"')
        return frame


def _filled(connection: Any, name: str) -> str:
    """All columns, with what a piece of failed runs lacks as in the frames: a text is empty, a truth value NaN."""
    from duckdb import ColumnExpression

    kinds = connection.execute(f"describe {name}_parts").fetchall()
    # Written as SQL, a column expression is the quoted name: names come from files.
    columns = [(str(ColumnExpression(column)), column, kind) for column, kind, *_ in kinds]
    filled = [
        f"coalesce({quoted}, '') as {quoted}"
        for quoted, column, kind in columns
        if kind == "VARCHAR" and column not in dataset.TEXTS
    ]
    for quoted, _, kind in columns:
        if kind == "BOOLEAN" and connection.execute(
            f"select bool_or({quoted} is null) from {name}_parts"
        ).fetchall() == [(True,)]:
            filled.append(f"coalesce({quoted}::double, 'nan'::double) as {quoted}")
    return f"* replace ({', '.join(filled)})" if filled else "*"


def _examined(file: Path) -> str:
    """A piece that is as it was written, with columns of ours: the database would believe anything."""
    dataset.opened(file)
    return str(file)


def _cells(plan: PlanData) -> "pd.DataFrame":
    frame = cells_frame(plan)
    frame.insert(0, "cell", range(len(frame)))
    return frame


def _plain(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Categories as text: a database has them as a type of its own, which is not that of the pieces."""
    few = [name for name in frame.columns if frame[name].dtype == "category"]
    return frame.astype(dict.fromkeys(few, str))


def _drop_repeated(connection: Any, folder: Path) -> None:
    """Of runs that were made again, only the last row: the sweep was interrupted before it tidied up."""
    runs = dataset.read_runs(folder, dataset.columns(folder)).drop_duplicates([*dataset.IDENTITY], keep="last")
    flows = dataset.read_flows(folder).drop_duplicates([*dataset.IDENTITY, "connection", "subflow"], keep="last")
    for name, frame in (("runs_all", runs), ("subflows_all", flows)):
        connection.register(f"{name}_last", _plain(frame))
        connection.execute(f"create or replace view {name} as select * from {name}_last")
