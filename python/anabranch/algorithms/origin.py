"""Records which Python class made a result, and checks that its code has not changed."""

import hashlib
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anabranch._core import AlgorithmError
from anabranch.algorithms.description import Description
from anabranch.algorithms.identity import identity
from anabranch.algorithms.references import load, short_name


def origin(found: Description) -> dict[str, Any]:
    """Name, file, hashes and description of a class, for `Provenance`. The file is named as from this directory."""
    file = _file(found.cls)
    return {
        "kind": found.kind,
        "name": found.name,
        "file": None if file is None else _written(file),
        "file_sha256": None if file is None else hashlib.sha256(file.read_bytes()).hexdigest(),
        "sha256": identity(found.cls),
        "label": found.label,
        "needs": found.needs,
        "fairness": found.fairness,
        "parameters": [list(row) for row in found.parameters],
    }


def same(stored: Mapping[str, Any], folder: Path, python: str) -> str:
    """Where the class that made a result is now: beside the result, or as from this directory.

    Parameters
    ----------
    stored : mapping
        What `origin` gave when the result was made.
    folder : Path
        The directory of the result.
    python : str
        Version of Python that made it. The code of another version is compared by its file alone.

    Raises
    ------
    AlgorithmError
        If the class is not here, or is another one now.
    """
    kind, name, file = stored["kind"], stored["name"], stored["file"]
    reference = _found(stored, folder)
    cls = load(reference, folder)
    here = _file(cls)
    now = None if here is None else hashlib.sha256(here.read_bytes()).hexdigest()
    what = f'{kind} = "{name}"'
    remedy = "bring back the code that made the result, or make a new result"
    if now != stored["file_sha256"]:
        hashes = f"SHA-256 now {_short(now)}, then {_short(stored['file_sha256'])}"
        raise AlgorithmError(f"{what}: {file or 'its code'} was changed after the run ({hashes}); {remedy}")
    same_python = platform.python_version_tuple()[:2] == tuple(python.split(".")[:2])
    if same_python and identity(cls) != stored["sha256"]:
        raise AlgorithmError(
            f"{what}: code that {short_name(name)} uses was changed after the run "
            f"(SHA-256 now {_short(identity(cls))}, then {_short(stored['sha256'])}); {remedy}"
        )
    return reference


def _short(sha256: str | None) -> str:
    """The beginning of a hash; a class of a notebook has no file that could have one."""
    return sha256[:12] if sha256 else "without a file"


def _found(stored: Mapping[str, Any], folder: Path) -> str:
    name, file = str(stored["name"]), stored["file"]
    try:
        load(name, folder)
    except AlgorithmError as error:
        first = error
    else:
        return name
    if file is not None and Path(file).is_file():
        return file if name.endswith(".py") else f"{file}:{name.rpartition(':')[2]}"
    if file is None:
        raise first
    raise AlgorithmError(
        f'{stored["kind"]} = "{name}": the run needs {file} (SHA-256 {stored["file_sha256"][:12]}): {first}; '
        "bring back the file with this hash"
    )


class StandIn:
    """Description of a class whose file is missing; it cannot create an instance."""

    def __init__(self, stored: Mapping[str, Any]) -> None:
        self.kind = stored["kind"]
        self.compiled = False
        self.name = stored["name"]
        self.label = stored["label"]
        self.summary = f"{self.kind} {self.label}, written in Python"
        self.source = ""
        self.needs = stored["needs"]
        self.fairness = stored["fairness"]
        self.parameters = [tuple(row) for row in stored["parameters"]]
        self._file = stored["file"]

    def make(self, *_: object) -> None:
        """Raise AlgorithmError."""
        where = f"the file {self._file}" if self._file else "its class"
        raise AlgorithmError(
            f'{self.kind} = "{self.name}" needs {where}, which is not here; bring it back to run the scenario'
        )


def _file(cls: type) -> Path | None:
    """The file of a class; None in a notebook."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(file) if isinstance(file, str) and Path(file).is_file() else None


def _written(file: Path) -> str:
    """A file as from this directory; elsewhere only its name, since the folders may tell who made the result."""
    here = Path.cwd()
    path = file.resolve()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else os.fspath(path.name)
