"""What a TCP user keeps of its share in the fluid model: round-trip times are equal, windows rest at their equilibrium.

C2 is 1; `private` is C1 and `crowd` is N1/N2. A TCP's window is sqrt(2/p).
"""

import math
from collections.abc import Callable


def lia(private: float, crowd: float) -> float:
    """Windows go as 1/p (Khalili et al. 2012, scenario C).

    >>> [round(lia(c1, n), 3) for c1, n in ((1, 1), (1, 3), (1.5, 1), (2, 1), (2, 3))]
    [0.704, 0.485, 0.737, 0.765, 0.572]
    """
    r = _root(lambda r: crowd * private * r * r + private * (1 + r * r) * r - 1, 0, 1)
    return 1 - crowd * private * r * r


def balia(private: float, crowd: float) -> float:
    """Increase and decrease of BALIA at rest, the private path being the fastest one.

    A window w of W in all grows by (w/W)^2 g in a round trip, g = (1 + alpha)(4 + alpha)/10, and loses p w^2 m/2, m
    = min(alpha, 3/2):
    W^2 = 2 g / (m p) on either path. On the private one alpha, g and m are 1. A TCP on the other one has W sqrt(m/g).

    >>> [round(balia(c1, n), 3) for c1, n in ((1, 1), (1, 3))]
    [0.754, 0.521]
    """

    def excess(alpha: float) -> float:
        growth, cut = (1 + alpha) * (4 + alpha) / 10, min(alpha, 1.5)
        tcp = private * (1 + 1 / alpha) * math.sqrt(cut / growth)
        return 1 - crowd * private / alpha - tcp

    return 1 - crowd * private / _root(excess, 1.66, 1000)


def olia(crowd: float, probe: float) -> float:
    """All of the shared access point but for a probe by each multipath user.

    >>> round(olia(1, 0.03), 3), round(olia(3, 0.03), 3)
    (0.97, 0.91)
    """
    return 1 - crowd * probe


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that rises is zero."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return low
