"""The controller `cubic`: CUBIC (RFC 9438) with HyStart++ (RFC 9406)."""

import math

import anabranch as ab

BETA = 0.7  # RFC 9438 4.6
C = 0.4  # RFC 9438 5.1
ALPHA = 3.0 * (1.0 - BETA) / (1.0 + BETA)  # RFC 9438 4.3


def cube_root(x):
    """Cube root by Newton's method, from above."""
    if x <= 0.0:
        return 0.0
    y = max(x, 1.0)
    while True:
        following = (2.0 * y + x / (y * y)) / 3.0
        if following >= y:
            return y
        y = following


class HyStart:
    """The first slow start (RFC 9406 4.2, 4.3); times in nanoseconds."""

    def __init__(self):
        self.window_end = 0
        self.last_min = self.current_min = math.inf
        self.samples = 0
        self.baseline = None
        """Round-trip time at the begin of conservative slow start; None in slow start."""
        self.rounds = 0

    def on_ack(self, ack, controller):
        """Grow the window; set the threshold if slow start is over."""
        if ack.snd_una > self.window_end and self.round_ends_it(ack.snd_nxt):
            controller.ssthresh = controller.cwnd
            return
        growth = min(float(ack.growth), 8.0 * controller.mss)
        controller.cwnd += growth if self.baseline is None else growth / 4.0
        controller.cwnd = min(controller.cwnd, controller.ssthresh)
        rtt = ack.rtt_ns
        if rtt is None:
            return
        self.current_min = min(self.current_min, rtt)
        self.samples += 1
        if self.samples < 8 or self.last_min == math.inf:
            return
        if self.baseline is None:
            step = max(4_000_000, min(16_000_000, self.last_min // 8))
            if self.current_min >= self.last_min + step:
                self.baseline, self.rounds = self.current_min, 0
        elif self.current_min < self.baseline:
            self.baseline = None

    def round_ends_it(self, snd_nxt):
        """Begin a round; True after five rounds of conservative slow start."""
        self.window_end = snd_nxt
        self.last_min, self.current_min = self.current_min, math.inf
        self.samples = 0
        if self.baseline is None:
            return False
        self.rounds += 1
        return self.rounds >= 5


class Cubic(ab.Controller):
    """CUBIC on each subflow separately; windows in segments, times in seconds, as in the RFC."""

    source = "RFC 9438, RFC 9406"
    fairness = "subflow"

    def __init__(self):
        self.w_max = self.cwnd_prior = self.k = self.w_est = 0.0
        self.epoch_ns = None
        """Begin of the present stage of congestion avoidance."""
        self.last_ack_ns = 0
        self.hystart = HyStart()

    def w_cubic(self, t):
        """RFC 9438 4.2, figure 1, at `t` seconds."""
        d = t - self.k
        return C * d * d * d + self.w_max

    def on_ack(self, ack, paths, me):
        """Grow the window: HyStart++, then the larger of the cubic function and the Reno-friendly estimate."""
        idle_ns = ack.now_ns - self.last_ack_ns
        self.last_ack_ns = ack.now_ns
        if not ack.cwnd_limited:
            if self.epoch_ns is not None:
                self.epoch_ns += idle_ns  # 5.8
            return
        if self.in_slow_start:
            if self.hystart is None:
                self.slow_start(ack)
            else:
                self.hystart.on_ack(ack, self)
            return
        cwnd = self.cwnd / self.mss
        if self.epoch_ns is None:
            self.begin_stage(cwnd, ack.now_ns)
        t = (ack.now_ns - self.epoch_ns) / 1e9
        segments = ack.growth / self.mss
        self.w_est += (1.0 if self.w_est >= self.cwnd_prior else ALPHA) * segments / cwnd
        if self.w_cubic(t) < self.w_est:
            following = max(cwnd, self.w_est)
        else:
            target = max(cwnd, min(1.5 * cwnd, self.w_cubic(t + paths[me].srtt)))
            following = cwnd + (target - cwnd) / cwnd * segments
        self.cwnd = following * self.mss

    def begin_stage(self, cwnd, now_ns):
        """RFC 9438 4.2: K, from the window at which the stage begins."""
        if self.w_max <= cwnd:
            self.w_max, self.k = cwnd, 0.0
        else:
            self.k = cube_root((self.w_max - cwnd) / C)
        self.w_est = cwnd
        self.epoch_ns = now_ns

    def on_congestion(self, congestion, paths, me):
        """Reduce what is in flight to 0.7 (4.6), with fast convergence (4.7)."""
        cwnd = self.cwnd / self.mss
        if not congestion.repeated and not congestion.nested:
            self.cwnd_prior = cwnd
            self.w_max = cwnd * (1.0 + BETA) / 2.0 if cwnd < self.w_max else cwnd
        if congestion.cause == "timeout":
            self.w_max = 0.0  # 4.8
        self.epoch_ns = self.hystart = None
        target = congestion.flight_size * BETA
        self.cut(congestion, target)
        if congestion.cause == "ecn":
            self.cwnd = max(target, self.mss)
