"""Ticks of axes, none of them beyond the ends of the axis."""

from typing import Any

import numpy as np
from matplotlib.ticker import AutoLocator, Locator

from anabranch.plots.axis import round_numbers


class Within(AutoLocator):
    """matplotlib's usual ticks without those beyond the ends of the axis, which it does not draw."""

    def __call__(self) -> Any:
        """Places of the ticks."""
        ticks = np.asarray(super().__call__(), float)
        if self.axis is None:
            return ticks
        low, high = sorted(self.axis.get_view_interval())
        slack = 1e-9 * (high - low)
        return ticks[(ticks >= low - slack) & (ticks <= high + slack)]


class Round(Locator):
    """Ticks of a logarithmic axis: round numbers, at least two."""

    def __call__(self) -> Any:
        """Places of the ticks."""
        low, high = sorted(self.axis.get_view_interval()) if self.axis is not None else (1.0, 10.0)
        return round_numbers(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Places of the ticks of an axis from `vmin` to `vmax`."""
        return round_numbers(*sorted((vmin, vmax)))
