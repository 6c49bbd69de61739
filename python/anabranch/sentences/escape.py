"""Texts from outside, such as names of files, in a terminal and on a page.

A control character may rewrite what a terminal shows, and one that turns the direction of writing makes a reader see
another order than there is. Scenarios are refused if they have any in a name or title; of what cannot be refused they
are shown as the escapes that Python has for them.
"""

import re

_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # controls
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # Unicode's property Bidi_Control
    r"\u2028\u2029"  # separators of lines and of paragraphs
    r"\ud800-\udfff]"  # octets of a name that is not UTF-8
)


def deceives(text: str) -> bool:
    """Whether a character of `text` is not seen, but changes what is."""
    return _UNSEEN.search(text) is not None


def visible(text: str, keep: str = "") -> str:
    r"""`text` with escapes for what would not be seen, but for the characters in `keep`.

    >>> print(visible("a\x1b[2Kb"), visible("exe.\u202efdp"), visible("Zürich, 5 µs"))
    a\x1b[2Kb exe.\u202efdp Zürich, 5 µs
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)
