"""Functions that give the same result, to the last bit, on every machine; those of `math` do not.

Use them, not those of `math`, in an algorithm whose runs are to have the same hash everywhere. The square root
(`math.sqrt`) is exact already.
"""

from anabranch._core import math_cbrt as cbrt
from anabranch._core import math_exp as exp
from anabranch._core import math_log as log
from anabranch._core import math_pow as pow

__all__ = ["cbrt", "exp", "log", "pow"]
