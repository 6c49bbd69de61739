"""Linux 6.1 in virtual time as a judge: a scenario runs in a user-mode kernel as it does here.

``tools/kernel-oracle`` builds the kernel. `guest` is what runs inside, `runner` one run of it, `translate` makes a run
of a scenario, `beside` compares both.
"""

from anabranch.kernel.runner import KernelError

__all__ = ["KernelError"]
