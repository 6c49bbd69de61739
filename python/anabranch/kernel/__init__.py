"""Linux 6.1 in virtual time as a judge: a scenario runs in a user-mode kernel (``tools/kernel-oracle``) as it does here.

`guest` is what runs inside the kernel, `runner` one run of it, `translate` makes a run of a scenario, `beside` compares both.
"""

from anabranch.kernel.runner import KernelError

__all__ = ["KernelError"]
