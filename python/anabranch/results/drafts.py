"""Files that appear whole or not at all.

A process writes to a draft, a hidden file ``.NAME.PROCESS.TOKEN.partial`` beside the final one, and renames the draft
when it is complete. If the process is killed, the draft stays. The next process that writes the same file removes it:
the name says whose it is, and the system says whether that process still runs. How old a draft is says nothing, since a
run may take days.

Nothing here follows a symbolic link to a file: the link is replaced. A pipe or a device is written as it is.
"""

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from anabranch.execution import interrupt

_DRAFT = re.compile(r"\.([1-9][0-9]{0,6})(?:\.([0-9a-f]{8})[0-9a-f]{8})?\.partial")
"""What follows the name in the name of a draft: process, and a token whose first half tells where that runs."""
_DESCRIPTOR = re.compile(r"/(?:dev/fd|proc/(?:self|thread-self|[0-9]+)/fd)/([0-9]+)")
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def draft_of(target: Path) -> Path:
    """Return a new name for a draft of `target`, beside it."""
    return target.with_name(f".{target.name}.{os.getpid()}.{_machine()}{secrets.token_hex(4)}.partial")


def remove_dead(target: Path) -> None:
    """Remove the drafts of `target` whose processes no longer run."""
    with contextlib.suppress(OSError):
        for entry in list(target.parent.iterdir()):
            if entry.name.startswith(f".{target.name}.") and _is_dead(entry.name[len(target.name) + 1 :]):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink()


def _is_dead(end: str) -> bool:
    """Whether the draft whose name ends in `end` belongs to a process of this machine that no longer runs."""
    found = _DRAFT.fullmatch(end)
    if found is None or found[2] not in {None, _machine()} or os.name == "nt":  # on Windows, signal 0 is none
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@cache
def _machine() -> str:
    """Eight digits that tell machines, and containers on one machine, apart: their numbers of processes differ."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return hashlib.sha256(f"{platform.node()} {numbers}".encode()).hexdigest()[:8]


def is_direct(file: "str | os.PathLike[str]") -> bool:
    """Return whether `file` is written as it is: a pipe, a device, or a descriptor of this process."""
    path = Path(file)
    return _descriptor(path) is not None or (path.exists() and not path.is_file() and not path.is_dir())


def _descriptor(path: Path) -> int | None:
    """The open descriptor that `path` names, such as 1 for ``/dev/stdout``."""
    text = os.path.normpath(path.absolute())
    if text in _STREAMS:
        return _STREAMS[text]
    found = _DESCRIPTOR.fullmatch(text)
    return int(found[1]) if found else None


@contextlib.contextmanager
def whole(file: "str | os.PathLike[str]") -> Iterator[Path]:
    """Where to write what becomes `file` when the block ends, and is removed if it fails.

    What is no ordinary file, such as a pipe or a terminal, is written as it is. If a file stands behind a descriptor,
    as behind ``/dev/stdout``, the text goes to the place where the descriptor stands.
    """
    target = Path(file)
    descriptor = _descriptor(target)
    if descriptor is not None and target.is_file():
        with tempfile.TemporaryDirectory() as scratch:
            yield Path(scratch) / "draft"
            _append(Path(scratch) / "draft", descriptor)
        return
    if descriptor is not None or (target.exists() and not target.is_file()):
        yield target
        return
    remove_dead(target)
    draft = draft_of(target)
    with interrupt.undoing(lambda: draft.unlink(missing_ok=True)), _shown_as(draft, file):
        try:
            yield draft
            _move(draft, target)
        finally:
            draft.unlink(missing_ok=True)


def _append(file: Path, descriptor: int) -> None:
    """Copy `file` to an open descriptor."""
    sys.stdout.flush()
    with file.open("rb") as source, open(descriptor, "wb", closefd=False) as sink:
        shutil.copyfileobj(source, sink)


@contextlib.contextmanager
def _shown_as(draft: Path, file: "str | os.PathLike[str]") -> Iterator[None]:
    """Say the name of `file` in errors that have the name of its draft: nobody knows the draft."""
    try:
        yield
    except OSError as error:
        if error.filename is None and str(draft) in str(error):
            raise OSError(str(error).replace(str(draft), os.fspath(file))) from error
        if str(error.filename).startswith(str(draft)):
            raise OSError(error.errno, error.strerror, os.fspath(file)) from error
        raise


def _move(draft: Path, target: Path) -> None:
    if target.exists() and not target.is_symlink():
        shutil.copymode(target, draft)
    draft.replace(target)


@contextlib.contextmanager
def whole_files(folder: "str | os.PathLike[str]") -> Iterator[Path]:
    """A folder to write files into, which move to `folder` when the block ends, and are removed if it fails.

    `folder` is made if it is not there. A pipe or a device in it is written as it is.
    """
    place = Path(folder)
    missing = [each for each in (place, *place.parents) if not each.exists()]
    draft = draft_of(place / "files")

    def discard() -> None:
        shutil.rmtree(draft, ignore_errors=True)
        for each in missing:
            with contextlib.suppress(OSError):
                each.rmdir()

    with interrupt.undoing(discard), _shown_as(draft, folder):
        try:
            draft.mkdir(parents=True)
            remove_dead(place / "files")
            for entry in place.iterdir():
                if is_direct(entry):
                    (draft / entry.name).symlink_to(entry.absolute())
            yield draft
            for file in sorted(draft.iterdir()):
                if not file.is_symlink():
                    _move(file, place / file.name)
        finally:
            discard()
