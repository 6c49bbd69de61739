"""Files of a sweep that appear whole or not at all, and that show damage.

A disk, a copy or a cable may change a bit, and neither JSON nor Parquet's readers notice: they give another number, or
fall. So each file carries a SHA-256 of the rest of it. In a JSON object that is one more key. In a Parquet file it
stands between the last column and the footer, where the format leaves room (readers find both by their offsets), so
that it is a Parquet file like any other; and as it is one file, it cannot part from its hash.
"""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.results.directory import ResultError, dump, naming
from anabranch.results.drafts import whole as complete

if TYPE_CHECKING:
    import pandas as pd

_MARK = b"SHA-256:"
_SEAL = len(_MARK) + hashlib.sha256().digest_size
_TAIL = 8
"""Octets after a Parquet footer: its length and ``PAR1``."""
_KEY = "sha256"
_LINE = len(',"0123456789abcdef"]')
"""Octets at the end of a journal's line: the hash of what is before."""


def frame_octets(frame: "pd.DataFrame") -> bytes:
    """`frame` as a sealed Parquet file."""
    import fastparquet

    buffer = io.BytesIO()
    keep, buffer.close = buffer.close, lambda: None  # type: ignore[method-assign] # the writer closes what it is given
    fastparquet.write("frame", frame, compression="ZSTD", write_index=False, open_with=lambda *_: buffer)
    content = buffer.getvalue()
    keep()
    at = _footer(content)
    return content[:at] + _MARK + hashlib.sha256(content).digest() + content[at:]


def whole(content: bytes) -> bool:
    """Whether `content` is a sealed Parquet file as it was written."""
    at = _footer(content)
    seal = content[at - _SEAL : at] if at >= _SEAL else b""
    view = memoryview(content)
    digest = hashlib.sha256(view[: max(0, at - _SEAL)])
    digest.update(view[at:] if at > 0 else b"")
    return seal == _MARK + digest.digest()


def _footer(content: bytes) -> int:
    """Where the footer begins; not above 0 if there is none."""
    return len(content) - _TAIL - int.from_bytes(content[-_TAIL:-4], "little")


def opened(file: Path) -> bytes:
    """The octets of a sealed Parquet file, or ResultError."""
    content = file.read_bytes()
    if not whole(content):
        raise damaged(file, "changed after it was written")
    return content


def damaged(file: Path, why: str) -> ResultError:
    """The piece `file` cannot be used."""
    return ResultError(
        f"{file}: damaged ({why}); delete it and the other files with its number, then run the sweep again"
    )


def sealed(value: Mapping[str, Any]) -> str:
    """`value` as JSON text with its hash."""
    return dump({**value, _KEY: _digest(value)})


def is_sealed(value: Mapping[str, Any]) -> bool:
    """Whether `value`, read from JSON, has the hash of what it holds."""
    return value.get(_KEY) == _digest({key: entry for key, entry in value.items() if key != _KEY})


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(dump(value).encode()).hexdigest()


def line(values: "tuple[Any, ...]") -> bytes:
    """`values` as one line of JSON, a list that ends with a hash of what is before."""
    text = json.dumps(values, separators=(",", ":")).encode()[:-1]
    return text + b',"' + _short(text) + b'"]\n'


def unsealed(text: bytes) -> list[Any]:
    """The values of a line without its end; ValueError if it is not as it was written."""
    body, end = text[:-_LINE], text[-_LINE:]
    if end != b',"' + _short(body) + b'"]':
        raise ValueError("not as it was written")
    values: list[Any] = json.loads(body + b"]")
    return values


def _short(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()


def write_frame(path: Path, frame: "pd.DataFrame") -> None:
    """Write a sealed Parquet file whole or not at all."""
    write_whole(path, frame_octets(frame))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with naming(str(path)), complete(path) as draft, draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
