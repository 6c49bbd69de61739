"""Templates with named values."""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any


class _Named(Formatter):
    """As `str.format`; in addition ``{n:one|many}`` is ``one`` if n is 1, else ``many``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return str(super().format_field(value, format_spec))
        one, many = format_spec.split("|")
        return one if value == 1 else many

    def check_unused_args(self, used_args: set[int | str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        left = kwargs.keys() - used_args
        if left:
            raise TypeError(f"values without a place in the template: {', '.join(sorted(left))}")


_NAMED = _Named()


class Phrase(str):
    """A template of a label, of a line in a list, or of a part of a sentence: no full stop at its end.

    >>> Phrase("{seeds} {seeds:seed is|seeds are} too few")(seeds=3)
    '3 seeds are too few'
    """

    __slots__ = ()

    def __call__(self, **values: object) -> str:
        """Return the text with its values.

        Raises
        ------
        KeyError
            If a value is missing.
        TypeError
            If a value has no place in the template.
        """
        return _NAMED.vformat(self, (), values)


class Sentence(Phrase):
    """A template of one or more whole sentences.

    >>> Sentence("The goodput is {goodput}.")(goodput="5 Mbit/s")
    'The goodput is 5 Mbit/s.'
    """

    __slots__ = ()
