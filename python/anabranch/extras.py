"""Packages that only some need: `pip install anabranch[...]`."""

from importlib import import_module
from typing import Any


class MissingError(ImportError):
    """A package is not installed; the message says how it is."""


class ClusterError(RuntimeError):
    """A cluster cannot make runs: nobody answers, or a worker is not fit for it."""


def missing(error: ModuleNotFoundError) -> str:
    """What to do about a package that a complete installation has."""
    name = (error.name or str(error)).partition(".")[0]
    return f"{name} is not installed, and Anabranch needs it: python -m pip install {name}"


def need(module: str, extra: str, what: str) -> Any:
    """Import `module`, which `what` needs and ``anabranch[extra]`` brings."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise MissingError(f"{what} needs {error.name}: pip install 'anabranch[{extra}]'") from None
