"""The sentences of the report: each number in them is computed from the runs."""

from anabranch.experiments.base import Data
from anabranch.experiments.models import PAIRS
from anabranch.experiments.receive_buffer.measures import BAR, MULTIPATH, goodput, share, sizes
from anabranch.experiments.words import listed


def opening(data: Data) -> str:
    """Whether Multipath TCP with both mechanisms has what TCP has over the better path."""
    shares = {size: share(data, "both", size) for size in sizes(data)}
    low = [f"{size} kB" for size, one in shares.items() if one < BAR]
    least = min(shares, key=shares.__getitem__)
    with_both = "With opportunistic retransmission and penalisation Multipath TCP"
    worst = f"at worst {100 * shares[least]:.0f} %, at {least} kB"
    first = (
        f"{with_both} falls below {100 * BAR:.0f} % of what TCP has over Wi-Fi with receive buffers of {listed(low)}: "
        f"{worst}."
        if low
        else f"{with_both} has at least {100 * BAR:.0f} % of what TCP has over Wi-Fi at every size of the receive "
        f"buffer: {worst}."
    )
    without = {size: share(data, "neither", size) for size in sizes(data)}
    bad = [f"{size} kB" for size, one in without.items() if one < BAR]
    deepest = min(without, key=without.__getitem__)
    if not bad:
        return f"{first} Without them it does, too."
    return (
        f"{first} Without them it falls below that at {listed(bad)}, to {100 * without[deepest]:.0f} % at {deepest} kB."
    )


def findings(data: Data) -> list[str]:
    """Which of the two it is; where nothing happens."""
    deepest = min(sizes(data), key=lambda size: share(data, "neither", size))
    rates = {name: goodput(data, name, deepest).mean for name in MULTIPATH}
    said = listed([f"{label} {rates[name]:.1f}" for name, label in MULTIPATH.items()])
    better = max(("retransmission", "penalisation"), key=rates.__getitem__)
    worse = [size for size in sizes(data) if share(data, "retransmission", size) < share(data, "neither", size) - 0.01]
    harm = (
        f" Retransmission alone is worse than neither at {listed([f'{size} kB' for size in worse])}: whatever the slow "
        "path has comes to block in its turn, each segment of it goes out again on the fast one, and the slow path's "
        "window is as large as before."
        if worse
        else ""
    )
    same = [size for size in sizes(data) if len({round(goodput(data, n, size).mean, 2) for n in MULTIPATH}) == 1]
    idle = (
        f" At {listed([f'{size} kB' for size in same])} all four are the same: a small buffer is used up by the "
        "window of the fast path before the scheduler turns to the slow one, and a large one is never full."
        if same
        else ""
    )
    return [
        f"At {deepest} kB the goodput is in Mbit/s: {said}. It is {better} that frees the fast path.{harm}{idle}",
    ]


NOTES = (
    "Links as the paper has them: 8 Mbit/s, a round trip of 20 ms and 80 ms of buffer; 2 Mbit/s, 150 ms and 2 s. "
    "Scheduler min-rtt, controller coupled. Goodput over 60 s (30 s in the quick form), the first slow start included.",
    "The conditions are those of the out-of-tree kernel (mptcp_rcv_buf_optimization), which differ from the paper's: "
    "a segment is sent again only if its carriers are four times as slow or have a window of four segments at most.",
    PAIRS,
)
