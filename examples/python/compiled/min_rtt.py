"""The scheduler `min-rtt`, compiled to machine code: needs numba."""

import anabranch as ab


@ab.compiled
def min_rtt(offer, paths):
    """The subflow with the lowest smoothed round-trip time whose window has room."""
    best = ab.WAIT
    for i in range(len(paths)):
        if paths[i].can_send and (best == ab.WAIT or paths[i].srtt < paths[best].srtt):
            best = i
    return best
