"""What the papers of BLEST and ECF report, as differences to the default scheduler."""

from typing import NamedTuple


class Published(NamedTuple):
    """A figure of the BLEST paper: of a scheduler, the share by which a measure is more than the default's."""

    says: str
    scheduler: str
    traffic: str
    measure: str
    unit: str
    scale: float
    theirs: float


_GOODPUT = ("goodput_mbps", "Mbit/s", 1.0)
_HELD = ("ooo_buffer_max_bytes", "kB", 1e-3)
_DELAY = ("message_latency_p50_ms", "ms", 1.0)
_PAGE = ("page_load_s", "s", 1.0)

PUBLISHED = (
    Published("goodput, bulk", "blest", "bulk", *_GOODPUT, 0.12),
    Published("goodput, bulk", "otias", "bulk", *_GOODPUT, 0.06),
    Published("goodput, bulk", "daps", "bulk", *_GOODPUT, -0.27),
    Published("reordering buffer, bulk", "blest", "bulk", *_HELD, -0.19),
    Published("delay at 1 Mbit/s", "blest", "rate", *_DELAY, 62.8 / 68 - 1),
    Published("delay at 1 Mbit/s", "otias", "rate", *_DELAY, 53.2 / 68 - 1),
    Published("delay at 1 Mbit/s", "daps", "rate", *_DELAY, 843.7 / 68 - 1),
    Published("page of 15 objects, 72 KiB", "blest", "wikipedia", *_PAGE, 0.337 / 0.421 - 1),
    Published("page of 54 objects, 1 MiB", "blest", "amazon", *_PAGE, 1.503 / 1.60 - 1),
    Published("page of 138 objects, 4 MiB", "blest", "huffington-post", *_PAGE, 4.62 / 4.87 - 1),
)
"""Ferlin, Alay, Mehani, Boreli: BLEST, IFIP Networking 2016."""

ECF_FILES = {"128 KiB": "no difference", "256 KiB": "up to 20 % faster"}
"""Lim, Nahum, Towsley, Gibbens: ECF, CoNEXT 2017: files of 256 KiB and more over 10 and 1 Mbit/s."""
