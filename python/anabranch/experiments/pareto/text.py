"""The sentences of the report: each number in them is computed from the runs."""

from anabranch.experiments.base import Data
from anabranch.experiments.pareto.measures import CONTROLLERS, Network, expected, kept, multipath, networks
from anabranch.experiments.words import span


def opening(data: Data) -> str:
    """The answer, then its numbers."""
    return f"{verdict(data)} {_numbers(data)}"


def verdict(data: Data) -> str:
    """In words: who is too aggressive."""
    means = {name: _mean(data, name) for name in CONTROLLERS}
    order = sorted(CONTROLLERS, key=lambda name: means[name])
    least, middle, most = (CONTROLLERS[name] for name in order)
    return (
        f"{least} is too aggressive to the TCP users whom it meets at one of its two access points, {most} is so "
        f"least, "
        f"and {middle} stands between them; none leaves them what its own users do not need."
    )


def _mean(data: Data, controller: str) -> float:
    shown = networks(data)
    return sum(kept(data, network, controller).mean for network in shown) / len(shown)


def _numbers(data: Data) -> str:
    first = networks(data)[0]
    said = ", ".join(
        f"{100 * kept(data, first, name).mean:.0f} % beside {label}" for name, label in CONTROLLERS.items()
    )
    return (
        f"With C1 = C2 and as many multipath users as TCP users, a TCP user keeps of its share {said}; the fluid "
        f"model has "
        f"{100 * expected(first, 'coupled'):.0f} % for LIA, {100 * expected(first, 'balia'):.0f} % for BALIA, and all "
        f"but the "
        "probing traffic for OLIA."
    )


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    return [_lia(data), _balia(data), _olia(data), _price(data)]


def _apart(data: Data, controller: str) -> list[float]:
    return [kept(data, network, controller).mean - expected(network, controller) for network in networks(data)]


def _lia(data: Data) -> str:
    return (
        f"LIA's equilibrium is in closed form, and what is measured lies {span(_apart(data, 'coupled'), '{:+.3f}')} "
        f"from it, with "
        "drop-tail queues and whole segments in place of the model's fluid."
    )


def _balia(data: Data) -> str:
    return (
        f"BALIA's, worked out from its increase and decrease, is met within {span(_apart(data, 'balia'), '{:+.3f}')}. "
        f"It takes less than "
        "LIA, because a slow path's window is cut to a quarter, and more than OLIA."
    )


def _olia(data: Data) -> str:
    gains = [kept(data, n, "olia").mean - kept(data, n, "coupled").mean for n in networks(data)]
    return (
        f"OLIA gives a TCP user {span(gains, '{:.2f}')} of C2 more than LIA does, and stays "
        f"{span(_apart(data, 'olia'), '{:+.3f}')} from "
        "all but a probe: it judges a path by the last two intervals between losses, which chance spreads, and "
        "favours the "
        "shared one whenever they were long."
    )


def _price(data: Data) -> str:
    def lost(network: Network) -> float:
        return multipath(data, network, "coupled").mean - multipath(data, network, "olia").mean

    return (
        f"The multipath users pay for it: with OLIA each has {span([lost(n) for n in networks(data)], '{:.2f}')} of "
        f"C2 less than with "
        "LIA, and still more than an access point of its own would give."
    )


NOTES = (
    "A TCP user's rate over C2 is the TCP users' part of what the shared access point carries, so that what the "
    "queues leave "
    "unused counts for nobody.",
    "C2 is 5 Mbit/s, the round-trip time without a queue 80 ms on every way, queues are drop-tail of one "
    "bandwidth-delay product; "
    "acknowledgements are not delayed. A probe is one segment in a round trip without a queue.",
    "Fluid model: equal round-trip times, windows at rest, all losses seen by all in proportion to their packets. "
    "BALIA's fixed "
    "point is worked out here and not taken from its paper; on equal loss rates it has another one, at equal windows, "
    "that does not "
    "hold.",
)
