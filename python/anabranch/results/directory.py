"""A directory that appears whole or not at all: of a run, of an analysis, whatever its files are."""

import contextlib
import errno
import json
import os
import secrets
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SUMMARY = "summary.json"
SERIES = "subflows.parquet"
ITEMS = "items.parquet"
SCENARIO = "scenario.toml"
PROVENANCE = "provenance.json"
REPORT = "report.html"

_FIGURE_SUFFIXES = {".svg", ".png", ".pdf"}
_LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}

FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class ResultError(ValueError):
    """A directory that is not a result, or must not be replaced by one."""


def why(error: OSError) -> str:
    """What the file system says, in words."""
    full = error.errno in FULL and error.strerror == os.strerror(error.errno)  # and not words of our own
    return "no space left" if full else (error.strerror or str(error)).lower()


@contextlib.contextmanager
def naming(place: str) -> "Iterator[None]":
    """Say of an error of the file system where it was, by the name that the user gave it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, why(error), place) from error


def missing(folder: Path) -> str:
    """Why `folder` is no directory, and what to do if it is an archive of one."""
    if not folder.exists():
        return "no such directory"
    unpack = {".tar": "tar xf", ".tgz": "tar xf", ".gz": "tar xf", ".xz": "tar xf", ".zip": "unzip"}.get(folder.suffix)
    return f"is a file, not a directory; unpack it first: {unpack} {folder}" if unpack else "is a file, not a directory"


def foreign(folder: Path, ours: "Iterable[str]", figures: "Iterable[str]") -> list[str]:
    """Names in `folder` that are neither `ours` nor those of `figures`."""
    known = {*ours, *_LITTER, *(name + suffix for name in figures for suffix in _FIGURE_SUFFIXES)}
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in known)


def dump(value: "Mapping[str, Any]") -> str:
    """`value` as JSON text; NaN and infinities, which JSON does not have, raise ValueError."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def lock(descriptor: int, refusal: str) -> None:
    """Lock an open file or folder. The system gives the lock back when the process ends, however it ends.

    Windows and some network file systems have no such locks: there nothing is locked.

    Raises
    ------
    ResultError
        With the text `refusal`, if another process holds the lock.
    """
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ResultError(refusal) from None
    except OSError:
        pass


class Draft(ABC):
    """A place for a result that is not finished yet: a hidden directory beside the final one.

    Entering it checks that the result can be written where it is wanted, before anything is run. `commit` writes the
    result and moves it into place; leaving without `commit` removes every trace. Meanwhile no other process can have a
    draft for the same place.

    Parameters
    ----------
    directory : path
        Where the result is wanted.
    force : bool
        Whether it may replace an older result of something else.
    """

    def __init__(self, directory: "str | os.PathLike[str]", *, force: bool = True) -> None:
        self.shown = os.fspath(directory)
        self.target = Path(os.path.realpath(directory))
        self._force = force
        self._made: list[Path] = []
        self._folder: Path | None = None
        self._lock: int | None = None

    def __enter__(self) -> Self:
        """Check the place and reserve it."""
        self._check()
        parent = self.target.parent
        missing = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        try:
            for folder in reversed(missing):
                folder.mkdir()
                self._made.append(folder)
            self._folder = self._reserved(parent / f".{self.target.name}.partial")
        except OSError as error:
            self.discard()
            raise OSError(error.errno, why(error), self.shown) from error
        except ResultError:
            self.discard()
            raise
        return self

    def _reserved(self, folder: Path) -> Path:
        """Make the empty folder `folder` and lock it; one that a killed process left is taken over."""
        refusal = f"{self.shown}: another process is writing a result there; wait for it, or choose another directory"
        while os.name != "nt":  # Windows opens no folders
            folder.mkdir(exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY)
            lock(self._lock, refusal)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._lock), folder.stat()):
                    break
            self._unlock()  # the process before has moved or removed the folder meanwhile
        folder.mkdir(exist_ok=True)
        if foreign := self._foreign(folder):
            raise ResultError(
                f"{self.shown}: {folder}, where the result is prepared, holds {_some(foreign)}; move that elsewhere"
            )
        for entry in folder.iterdir():
            entry.unlink()
        return folder

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was not committed."""
        self.discard()

    def commit(self, result: Any) -> None:
        """Write `result` and move it into place."""
        if self._folder is None:
            raise RuntimeError("commit() outside of the draft's `with` block")
        with naming(self.shown):
            self._write(result, self._folder)
        self._check()  # again: a run may take long
        with naming(self.shown):
            self._move(self._folder)

    def _move(self, folder: Path) -> None:
        """Put the finished directory in its place, instead of an older result."""
        old = None
        if self.target.exists():
            old = folder.with_name(f".{self.target.name}.{secrets.token_hex(4)}.old")
            self.target.rename(old)
        try:
            folder.rename(self.target)
        except BaseException:
            if old is not None:
                old.rename(self.target)
            raise
        self._folder = None
        self._made.clear()
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def _check(self) -> None:
        here = Path.cwd()
        if self.target == here or self.target in here.parents:
            raise ResultError(
                f"{self.shown}: is or contains the current directory; a result needs a directory of its own, such as "
                f"{Path(self.shown) / 'out'}"
            )
        if not self.target.exists():
            return
        if not self.target.is_dir():
            raise ResultError(f"{self.shown}: a file of this name exists; a result is a directory")
        if any(self.target.iterdir()):
            if not self._is_ours(self.target):
                raise ResultError(
                    f"{self.shown}: neither empty nor an older result of the same kind, so nothing is written; "
                    "choose another directory"
                )
            foreign = self._foreign(self.target)
            if foreign:
                raise ResultError(
                    f"{self.shown}: holds {_some(foreign)} beside an older result, so nothing is written; "
                    "choose another directory"
                )
            other = None if self._force else self._other(self.target)
            if other:
                raise ResultError(f"{self.shown}: holds {other}; choose another directory, or replace it with --force")

    @abstractmethod
    def _write(self, result: Any, folder: Path) -> None:
        """Write the files of `result` into the existing directory `folder`."""

    @abstractmethod
    def _is_ours(self, folder: Path) -> bool:
        """Whether `folder` bears the mark of such a result."""

    @abstractmethod
    def _foreign(self, folder: Path) -> list[str]:
        """Names in `folder` that are not those of such a result's files."""

    def _other(self, folder: Path) -> str | None:
        """Names the older result in `folder` if it is of something else than the one to be written."""
        return None

    def discard(self) -> None:
        """Remove what was not committed."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        self._unlock()
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._made.clear()


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
