"""The scheduler `min-rtt`: the lowest smoothed round-trip time among the subflows that have room."""

import anabranch as ab


class MinRtt(ab.Scheduler):
    """The subflow with the lowest smoothed round-trip time whose window has room."""

    source = "Raiciu et al., NSDI 2012, section 4.2"
    asks = "choices"

    def pick(self, offer):
        """Choose the path with the lowest smoothed round-trip time."""
        best, least = None, None
        for i, path in enumerate(offer.paths):
            if path.can_send and (least is None or path.srtt_ns < least):
                best, least = i, path.srtt_ns
        return ab.Wait() if best is None else best
