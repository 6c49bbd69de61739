"""Runs the user-mode kernel of tools/kernel-oracle: one run, from a specification to figures."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GUEST = Path(__file__).with_name("guest.py")

_PROCESSOR = "-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-AVX_Fast_Unaligned_Load,-RTM,-BMI2,-MOVBE,-EVEX"
"""What programs in the guest must not use: user-mode Linux 6.1 saves the registers of SSE only. (The C library derives
AVX_Fast_Unaligned_Load from AVX2 before it reads this list; on AMD's processors it goes by it alone.)"""


_LOOK = 0.5
"""Seconds between two looks at how far the guest is."""


class KernelError(Exception):
    """The kernel is missing, or a run failed."""


def cache() -> Path:
    """Where ``tools/kernel-oracle/build`` leaves the kernel."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anabranch" / "kernel-oracle"


def kernel(version: str = "6.1") -> Path:
    """Return the kernel to run: ``$ANABRANCH_KERNEL``, or what ``tools/kernel-oracle/build VERSION`` built.

    Parameters
    ----------
    version : str
        ``"6.1"`` or ``"6.12"``.

    Raises
    ------
    KernelError
        If there is none, or a program that the guest needs is missing.
    """
    name = "linux" if version == "6.1" else f"linux-{version}"
    path = Path(os.environ.get("ANABRANCH_KERNEL") or cache() / name)
    if not path.exists():
        build = f"tools/kernel-oracle/build{'' if version == '6.1' else f' {version}'}"
        remedy = f"build it: {build} (about six minutes)"
        if os.environ.get("ANABRANCH_KERNEL"):
            remedy = f"correct or unset ANABRANCH_KERNEL; to build a kernel: {build} (about six minutes)"
        raise KernelError(f"{path}: there is no such kernel\n  {remedy}")
    missing = [tool for tool in ("ip", "tc", "sysctl", "ethtool") if shutil.which(tool, path=_PATH) is None]
    if missing:
        raise KernelError(
            f"programs that the kernel's run needs are missing: {', '.join(missing)}\n  "
            "on Debian: apt install iproute2 procps ethtool"
        )
    return path


def release(version: str = "6.1") -> str:
    """Return the release that the kernel says it is, such as 6.1.192.

    Raises
    ------
    KernelError
        If there is no kernel, or if the file is none.
    """
    path = kernel(version)
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    except OSError as error:
        raise KernelError(f"{path}: {error.strerror}\n  name a user-mode kernel in ANABRANCH_KERNEL") from None
    if not re.fullmatch(r"\d+\.\d+\S*", said):
        first = said.partition("\n")[0]
        raise KernelError(f'{path}: --version prints "{first}"\n  name a user-mode kernel in ANABRANCH_KERNEL')
    return said


_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def once(
    spec: dict[str, Any],
    *,
    keep: Path | None = None,
    timeout: float = 600.0,
    progress: Callable[[float, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """One run of `spec`; captures go to the directory `keep`.

    `progress` is called now and then with the share of the octets that have been read, and the seconds of wall time.

    Returns
    -------
    dict
        What :mod:`anabranch.kernel.guest` writes: times in seconds, octets and drops of each queue, counters.

    Raises
    ------
    KernelError
        If the kernel is missing, if the run fails, or if it takes longer than `timeout` seconds of wall time.
    """
    linux = kernel(spec["kernel"])
    with tempfile.TemporaryDirectory(prefix="anabranch-kernel-") as scratch:
        place = Path(scratch)
        (place / "spec.json").write_text(json.dumps({**spec, "random": os.urandom(64).hex()}))
        command = [
            str(linux), "mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
            "con=null", "con0=null,null", "quiet", "loglevel=1", "time-travel=inf-cpu", "time-travel-start=0",
            f"GLIBC_TUNABLES=glibc.cpu.hwcaps={_PROCESSOR}",
            f"init={sys.executable}", "--", "-S", str(GUEST), "init", str(place / "spec.json"),
        ]  # fmt: skip
        # The kernel keeps its memory in a file of TMPDIR, and its sockets below HOME.
        environment = {**os.environ, "TMPDIR": _memory(), "HOME": scratch}
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment, start_new_session=True,
        )  # fmt: skip
        try:
            _watch(process, place / "progress", timeout, progress)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
        if (place / "error").exists():
            raise KernelError(f"the run in the kernel failed: {(place / 'error').read_text()}")
        if not (place / "result.json").exists():
            raise KernelError(f"the kernel stopped without a result (status {process.returncode})")
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for name in ("client.pcap", "server.pcap"):
                if (place / name).exists():
                    shutil.move(place / name, keep / name)
        result: dict[str, Any] = json.loads((place / "result.json").read_text())
        return result


def _watch(
    process: "subprocess.Popen[bytes]", file: Path, timeout: float, progress: Callable[[float, float], None]
) -> None:
    """Wait for the end of the kernel, and tell each time that the guest has written a greater share to `file`."""
    began, last = time.monotonic(), 0.0
    while True:
        try:
            process.wait(_LOOK)
        except subprocess.TimeoutExpired:
            pass
        else:
            return
        passed = time.monotonic() - began
        with contextlib.suppress(OSError, ValueError):
            share = float(file.read_text())
            if share > last:
                last = share
                progress(share, passed)
        if passed >= timeout:
            so_far = f"; {100 * last:.0f} % of the octets had been read" if last else ""
            raise KernelError(
                f"the kernel did not finish within {timeout:g} s{so_far}\n  transfer fewer octets (transfer.bytes)"
            )


def _memory() -> str:
    """A directory in memory, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
