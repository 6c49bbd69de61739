"""Chooses the sentences of the report: each number in them is computed from the runs."""

from anabranch.studies.base import Data
from anabranch.studies.pareto import sentences as say
from anabranch.studies.pareto.measures import CONTROLLERS, Network, expected, kept, multipath, networks
from anabranch.studies.words import span


def opening(data: Data) -> str:
    """The answer, then its numbers."""
    return f"{verdict(data)} {_numbers(data)}"


def verdict(data: Data) -> str:
    """In words: who is too aggressive."""
    means = {name: _mean(data, name) for name in CONTROLLERS}
    order = sorted(CONTROLLERS, key=lambda name: means[name])
    least, middle, most = (CONTROLLERS[name] for name in order)
    return say.VERDICT(least=least, middle=middle, most=most)


def _mean(data: Data, controller: str) -> float:
    shown = networks(data)
    return sum(kept(data, network, controller).mean for network in shown) / len(shown)


def _numbers(data: Data) -> str:
    first = networks(data)[0]
    shares = ", ".join(
        say.SHARE(share=f"{100 * kept(data, first, name).mean:.0f}", controller=label)
        for name, label in CONTROLLERS.items()
    )
    lia, balia = (f"{100 * expected(first, name):.0f}" for name in ("coupled", "balia"))
    return say.SHARES(shares=shares, lia=lia, balia=balia)


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    return [_lia(data), _balia(data), _olia(data), _price(data)]


def _apart(data: Data, controller: str) -> str:
    return span(
        [100 * (kept(data, network, controller).mean - expected(network, controller)) for network in networks(data)],
        "{:+.1f}",
    )


def _lia(data: Data) -> str:
    return say.LIA(differences=_apart(data, "coupled"))


def _balia(data: Data) -> str:
    told = say.BALIA(differences=_apart(data, "balia"))
    between = _mean(data, "coupled") < _mean(data, "balia") < _mean(data, "olia")
    return f"{told} {say.BALIA_BETWEEN}" if between else told


def _olia(data: Data) -> str:
    gains = [100 * (kept(data, n, "olia").mean - kept(data, n, "coupled").mean) for n in networks(data)]
    return say.OLIA(gains=span(gains, "{:.0f}"), differences=_apart(data, "olia"))


def _price(data: Data) -> str:
    def lost(network: Network) -> float:
        return 100 * (multipath(data, network, "coupled").mean - multipath(data, network, "olia").mean)

    return say.PRICE(losses=span([lost(n) for n in networks(data)], "{:.0f}"))


NOTES = tuple(note() for note in say.NOTES)
