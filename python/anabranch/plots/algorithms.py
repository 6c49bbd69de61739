"""Colour, hatch and marker of every algorithm, the same in every figure.

No two algorithms of one kind share colour and hatch, and none share a marker. The first six of each kind are told
apart in grey print: their relative luminances differ by 0.06, or their hatches differ. Algorithms of one kind with the
same hatch differ for people with any of the common colour deficiencies. A test holds all of this, and that every
algorithm of the registry has an entry.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

HATCHES = ("", "////", "....", "xxxx", "----")
"""Of bars and boxes, in the order in which they are used."""
_DASHES: "tuple[str | tuple[int, tuple[int, ...]], ...]" = (
    "solid",
    "dashed",
    "dotted",
    "dashdot",
    (0, (5, 1, 1, 1, 1, 1)),
)
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, which people with any of the common colour deficiencies tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Of values that are no algorithms."""


class Appearance(NamedTuple):
    """How an algorithm, or another value of an axis, is drawn.

    Attributes
    ----------
    colour : str
        Of its line, bar or box.
    hatch : str
        Of its bar or box, as matplotlib writes it; a line is dashed instead.
    marker : str
        Of its points.
    """

    colour: str
    hatch: str = ""
    marker: str = "o"

    @property
    def dashes(self) -> "str | tuple[int, tuple[int, ...]]":
        """Line style: solid without a hatch."""
        return _DASHES[HATCHES.index(self.hatch)]

    @property
    def ink(self) -> str:
        """Colour of the hatch: white on dark bars, else black."""
        return "#FFFFFF" if luminance(self.colour) < 0.2 else "#000000"

    def bar(self) -> dict[str, Any]:
        """Arguments of ``ax.bar``."""
        return {"color": self.colour, "hatch": self.hatch, "edgecolor": self.ink, "linewidth": 0.0}


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour (WCAG 2), 0 to 1: what grey print keeps of it.

    >>> luminance("#000000"), luminance("#FFFFFF"), round(luminance("#0072B2"), 3)
    (0.0, 1.0, 0.152)
    """
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_PLAIN, _STRIPED, _DOTTED = HATCHES[:3]

ALGORITHMS: Mapping[str, Mapping[str, Appearance]] = {
    "controller": {
        "uncoupled": Appearance("#56B4E9", _PLAIN, "o"),
        "coupled": Appearance("#D55E00", _PLAIN, "D"),
        "rtt-compensator": Appearance("#882255", _PLAIN, "^"),
        "linked-increases": Appearance("#117733", _PLAIN, "v"),
        "fully-coupled": Appearance("#CC79A7", _PLAIN, "s"),
        "ewtcp": Appearance("#999933", _STRIPED, "P"),
        "cubic": Appearance("#332288", _PLAIN, "X"),
        "olia": Appearance("#44AA99", _STRIPED, "<"),
        "balia": Appearance("#DDCC77", _PLAIN, ">"),
        "wvegas": Appearance("#E69F00", _PLAIN, "p"),
        "aimd": Appearance("#0072B2", _STRIPED, "h"),
        "energy-linked": Appearance("#117733", _STRIPED, "*"),
        "dctcp": Appearance("#882255", _STRIPED, "d"),
        "bbr": Appearance("#000000", _STRIPED, "8"),
        "linux-reno": Appearance("#56B4E9", _STRIPED, "H"),
        "linux-cubic": Appearance("#D55E00", _STRIPED, "x"),
        "linux-olia": Appearance("#DDCC77", _STRIPED, "+"),
        "linux-balia": Appearance("#56B4E9", _DOTTED, "1"),
    },
    "detector": {
        "rfc6675": Appearance("#000000", _PLAIN, "o"),
        "rack": Appearance("#0072B2", _PLAIN, "s"),
        "ncr": Appearance("#009E73", _PLAIN, "^"),
        "reordering-degree": Appearance("#E69F00", _PLAIN, "D"),
    },
    "reduction": {
        "rfc6675": Appearance("#000000", _PLAIN, "o"),
        "prr": Appearance("#D55E00", _PLAIN, "s"),
    },
    "judge": {
        "none": Appearance("#000000", _PLAIN, "o"),
        "dsack": Appearance("#0072B2", _PLAIN, "s"),
        "eifel": Appearance("#E69F00", _PLAIN, "^"),
        "door": Appearance("#009E73", _PLAIN, "D"),
        "frto": Appearance("#D55E00", _STRIPED, "v"),
        "linux": Appearance("#56B4E9", _STRIPED, "P"),
    },
    "response": {
        "default": Appearance("#0072B2", _PLAIN, "s"),
        "rfc4015": Appearance("#E69F00", _PLAIN, "^"),
        "restore": Appearance("#009E73", _PLAIN, "D"),
        "slow-start-to-saved": Appearance("#D55E00", _STRIPED, "v"),
        "none": Appearance("#000000", _PLAIN, "o"),
    },
    "scheduler": {
        "min-rtt": Appearance("#000000", _PLAIN, "X"),
        "round-robin": Appearance("#882255", _PLAIN, "<"),
        "linux": Appearance("#E69F00", _PLAIN, "v"),
        "blest": Appearance("#0072B2", _PLAIN, "o"),
        "ecf": Appearance("#D55E00", _PLAIN, "s"),
        "redundant": Appearance("#56B4E9", _STRIPED, "P"),
        "remp": Appearance("#D55E00", _STRIPED, ">"),
        "duplicate": Appearance("#117733", _STRIPED, "p"),
        "active-standby": Appearance("#000000", _STRIPED, "h"),
        "smallest-delay": Appearance("#CC79A7", _STRIPED, "*"),
        "load-balancing": Appearance("#DDCC77", _STRIPED, "d"),
        "priority": Appearance("#DDCC77", _PLAIN, "8"),
        "cheapest-path-first": Appearance("#332288", _PLAIN, "H"),
        "otias": Appearance("#009E73", _PLAIN, "D"),
        "daps": Appearance("#CC79A7", _PLAIN, "^"),
        "delay-estimating": Appearance("#882255", _STRIPED, "x"),
        "after-sttf": Appearance("#0072B2", _DOTTED, "+"),
        "after-stms": Appearance("#E69F00", _DOTTED, "1"),
        "linux-blest": Appearance("#D55E00", _DOTTED, "2"),
        "linux-ecf": Appearance("#882255", _DOTTED, "3"),
    },
    "profile": {
        "modern": Appearance("#0072B2", _PLAIN, "o"),
        "classic": Appearance("#000000", _PLAIN, "s"),
        "linux-6.1": Appearance("#E69F00", _PLAIN, "^"),
        "linux-6.18": Appearance("#009E73", _DOTTED, "v"),
        "linux": Appearance("#D55E00", _PLAIN, "D"),
    },
}
"""By kind and name, as in the registry (``anabranch list``)."""

_OTHER_NAMES = {"recovery": "judge"}
"""Keys of a scenario that name a kind otherwise than the registry does."""


def kind_of(names: Sequence[str], axis: str = "") -> str:
    """The kind of algorithms that the values of an axis are; empty if they are none.

    Parameters
    ----------
    names : sequence of str
        The values.
    axis : str
        Its name, which may be a key of a scenario.

    >>> kind_of(["none", "x"], "connection.recovery"), kind_of(["cubic", "cubic, fast"], "sender"), kind_of(["a"])
    ('judge', 'controller', '')
    """
    for part in axis.split("."):
        if (kind := _OTHER_NAMES.get(part, part)) in ALGORITHMS:
            return kind
    known = {kind: sum(name in entries for name in names) for kind, entries in ALGORITHMS.items()}
    most = max(known, key=lambda kind: known[kind])
    return most if known[most] else ""


def appearances(names: Sequence[str], axis: str = "") -> list[Appearance]:
    """How the values of an axis are drawn: an algorithm as everywhere, whatever stands beside it; others by position.

    >>> [one.colour for one in appearances(["cubic", "my own", "bbr"], "controller")]
    ['#332288', '#0072B2', '#000000']
    """
    own = ALGORITHMS.get(kind_of(names, axis), {})
    fixed = {name: own[name] for name in names if name in own}
    free = _free([*fixed.values()])
    return [fixed[name] if name in fixed else next(free) for name in names]


def _free(taken: Sequence[Appearance]) -> Iterator[Appearance]:
    """Appearances without end, of which none shares colour and hatch with one of `taken`."""
    used = {(one.colour, one.hatch) for one in taken}
    count = 0
    while True:
        hatch = HATCHES[count // len(PALETTE) % len(HATCHES)]
        found = Appearance(PALETTE[count % len(PALETTE)], hatch, MARKERS[count % len(MARKERS)])
        count += 1
        # Beyond all combinations, colours come again.
        if (found.colour, found.hatch) not in used or count > len(PALETTE) * len(HATCHES):
            yield found
