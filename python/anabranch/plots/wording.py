"""Texts of a figure as its user wants them: values renamed, axes called otherwise."""

import re
from collections.abc import Mapping


class Wanted(dict[str, str]):
    """Texts in place of others, which remember whether a figure had any use for them.

    Attributes
    ----------
    used : set of str
        Keys that a figure had.
    there : dict
        What figures had that could be a key, in the order in which it was met.
    """

    def __init__(self, *pairs: "Mapping[str, str] | list[tuple[str, str]]") -> None:
        super().__init__(*pairs)
        self.used: set[str] = set()
        self.there: dict[str, None] = {}

    def unused(self) -> list[str]:
        """Keys that no figure had."""
        return [key for key in self if key not in self.used]


def renamed(text: str, rename: Mapping[str, str] | None) -> str:
    """`text` with the values in it renamed: the whole of it, or what stands between commas and colons.

    >>> renamed("cubic", {"cubic": "CUBIC"}), renamed("path 0: 5 Mbit/s, 10 ms", {"path 0": "DSL"})
    ('CUBIC', 'DSL: 5 Mbit/s, 10 ms')
    >>> renamed("a, b", {"a": "b", "b": "a"}), renamed("cubic-fast", {"cubic": "CUBIC"})
    ('b, a', 'cubic-fast')
    """
    if rename is None:
        return plain(text)
    if isinstance(rename, Wanted):
        rename.there[text] = None
    if text in rename:
        return _taken(rename, text)
    olds = sorted((old for old in rename if old), key=len, reverse=True)
    if not olds:
        return plain(text)
    found = "|".join(map(re.escape, olds))
    text = plain(text) if not any("$" in old for old in olds) else text
    return re.sub(rf"(?:(?<=^)|(?<=, )|(?<=: ))(?:{found})(?=$|, |: )", lambda old: _taken(rename, old[0]), text)


def plain(text: str) -> str:
    r"""`text` as matplotlib writes it letter for letter: two dollar signs would make a formula.

    >>> plain("5 $ a GB"), plain("$5 and $6")
    ('5 $ a GB', '\\$5 and \\$6')
    """
    return text.replace("$", r"\$") if text.count("$") > 1 else text


def called(name: str, usual: str, label: Mapping[str, str] | None) -> str:
    """What the axis `name` is called: as wanted, or else as usual.

    >>> called("goodput_mbps", "goodput (Mbit/s)", {"goodput_mbps": "Rate in Mbit/s"}), called("t", "time (s)", None)
    ('Rate in Mbit/s', 'time (s)')
    """
    if isinstance(label, Wanted):
        label.there[name] = None
    return plain(usual) if label is None or name not in label else _taken(label, name)


def _taken(texts: Mapping[str, str], key: str) -> str:
    if isinstance(texts, Wanted):
        texts.used.add(key)
    return texts[key]
