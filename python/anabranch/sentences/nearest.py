"""The known word that is nearest to a mistyped one, for messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(word: str, known: Iterable[str]) -> str:
    """Returns a question that ends a message, or an empty string if no known word is near.

    >>> hint("anlyze", ["analyze", "run"])
    '; did you mean `analyze`?'
    >>> hint("Fig10", ["fig-10", "fig-11"]), hint("x", ["analyze"])
    ('; did you mean `fig-10`?', '')
    """
    words = {each.casefold(): each for each in reversed(list(known))}
    near = get_close_matches(word.casefold(), list(words), 1)
    return f"; did you mean `{words[near[0]]}`?" if near else ""
