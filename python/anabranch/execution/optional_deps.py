"""Packages that only some need: the extras of pyproject.toml."""

import re
import shlex
import sys
from importlib import import_module, metadata
from typing import Any


class MissingError(ImportError):
    """A package is not installed; the message says how it is."""


class ClusterError(RuntimeError):
    """A cluster cannot make runs: nobody answers, or a worker is not fit for it."""


def missing(error: ModuleNotFoundError) -> str:
    """Returns what to do about a package that a complete installation has."""
    name = (error.name or str(error)).partition(".")[0]
    return f"{name} is not installed, and Anabranch needs it: python -m pip install {name}"


def need(module: str, extra: str, what: str) -> Any:
    """Import `module`, which `what` needs and ``anabranch[extra]`` brings."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        # Works for a wheel and for a clone: it names this Python, and not Anabranch, which no index
        # may have.
        command = shlex.join(
            [sys.executable or "python", "-m", "pip", "install", *(_requirements(extra) or [str(error.name)])]
        )
        raise MissingError(f"{what} needs {error.name}: {command}") from None


def _requirements(extra: str) -> list[str]:
    """Returns the requirements of an extra, as pip takes them."""
    parts = (requirement.partition(";") for requirement in metadata.requires("anabranch") or ())
    return [name.strip() for name, _, marker in parts if re.search(rf"extra == ['\"]{extra}['\"]", marker)]
