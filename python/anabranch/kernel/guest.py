"""What runs inside the user-mode kernel: topology, transfer, captures and counters of one run. Standard library only.

Each path is A - R - S - B. Rate and queue are at R, and backwards at S; delay, jitter and loss are one hop further. So
no packet is ever dropped on the sender's own device: Linux TCP would see that as a local drop, reduce its window
without a loss and send again. Neighbours are static where netem stands, because ARP would wait there.

Called as ``guest.py init SPEC`` (process 1), and by itself as ``serve``, ``connect`` and ``capture`` in the namespaces.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOSTS = ("A", "R", "S", "B")
MPTCP = 262
POWER_OFF = 0x4321FEDC
RNDADDENTROPY = 0x40085203
RNDRESEEDCRNG = 0x5207
OUT = Path("/run/out")
READER = Path("/run/reader.json")


def run(*words: object) -> str:
    """Run a command; a failure ends the run with its message."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def inside(host: str, *words: object) -> str:
    """Run a command in the namespace of a host."""
    return run("ip", "netns", "exec", host, *words)


def netem(host: str, device: str, change: str, *words: object) -> None:
    """Install or change the netem queue of a device."""
    inside(host, "tc", "qdisc", change, "dev", device, "root", "netem", *words)


def bottleneck(way: dict[str, Any]) -> list[str]:
    """Netem's words for the bottleneck: rate and queue.

    The packet in transmission counts among netem's packets, and netem counts 14 octets of Ethernet in each.
    """
    return ["rate", f"{way['rate_bps']}bit", str(way["overhead"] - 14), "limit", str(way["queue"] + 1)]


def behind(way: dict[str, Any]) -> list[str]:
    """Netem's words for what happens behind the bottleneck: delay, jitter, loss."""
    words = ["limit", "100000", "delay", f"{way['delay_us']}us"]
    if way["jitter_us"]:
        words.append(f"{way['jitter_us']}us")
    return [*words, "loss", f"{100 * way['loss']:.6f}%"]


def ways(i: int, path: dict[str, Any]) -> tuple[tuple[dict[str, Any], tuple[str, str], tuple[str, str]], ...]:
    """Both directions of path `i`: what it is like, and the devices of its bottleneck and of the hop behind."""
    return ((path["up"], ("R", f"wR{i}"), ("S", f"xS{i}")), (path["down"], ("S", f"wS{i}"), ("R", f"vR{i}")))


def connect_path(i: int, path: dict[str, Any], spec: dict[str, Any]) -> None:
    """Wire path `i` (from 1) through both routers."""
    mac = f"02:00:00:00:0{i}:0"
    links = (("A", f"vA{i}", "R", f"vR{i}"), ("R", f"wR{i}", "S", f"wS{i}"), ("S", f"xS{i}", "B", f"xB{i}"))
    address = {
        f"vA{i}": (f"10.{i}.1.1", 1), f"vR{i}": (f"10.{i}.1.254", 3), f"wR{i}": (f"10.{i}.3.1", 5),
        f"wS{i}": (f"10.{i}.3.2", 6), f"xS{i}": (f"10.{i}.2.254", 4), f"xB{i}": (f"10.{i}.2.2", 2),
    }  # fmt: skip
    for left, a, right, b in links:
        run("ip", "link", "add", a, "netns", left, "type", "veth", "peer", "name", b, "netns", right)
        for host, device, other in ((left, a, b), (right, b, a)):
            ip, number = address[device]
            run("ip", "-n", host, "link", "set", device, "address", f"{mac}{number}", "mtu", spec["mtu"])
            run("ip", "-n", host, "addr", "add", f"{ip}/24", "dev", device)
            inside(host, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off")
            run("ip", "-n", host, "link", "set", device, "up")
            there, its = address[other]
            run("ip", "-n", host, "neigh", "replace", there, "lladdr", f"{mac}{its}", "dev", device, "nud", "permanent")
    for host, net, via, device in routes(i):
        run("ip", "-n", host, "route", "add", net, "via", via, "dev", device, *spec["route"])
    for way, narrow, wide in ways(i, path):
        netem(*narrow, "add", *bottleneck(way))
        netem(*wide, "add", *behind(way))


def routes(i: int) -> list[tuple[str, str, str, str]]:
    """The static routes of path `i`: host, network, next hop, device."""
    return [
        ("A", f"10.{i}.2.0/24", f"10.{i}.1.254", f"vA{i}"),
        ("B", f"10.{i}.1.0/24", f"10.{i}.2.254", f"xB{i}"),
        ("R", f"10.{i}.2.0/24", f"10.{i}.3.2", f"wR{i}"),
        ("S", f"10.{i}.1.0/24", f"10.{i}.3.1", f"wS{i}"),
    ]


def build(spec: dict[str, Any]) -> None:
    """Make hosts, routers and paths."""
    Path("/run/netns").mkdir(parents=True)
    for host in HOSTS:
        run("ip", "netns", "add", host)
        run("ip", "-n", host, "link", "set", "lo", "up")
        forward = ["net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"]
        inside(host, "sysctl", "-qw", *forward)
    for i, path in enumerate(spec["paths"], 1):
        connect_path(i, path, spec)
    more = len(spec["paths"]) - 1
    for host in ("A", "B"):
        run("ip", "-n", host, "mptcp", "limits", "set", "subflows", more, "add_addr_accepted", more)
        for name, value in spec["sysctl"].items():
            inside(host, "sysctl", "-qw", f"{name}={value}")
    for i in range(2, more + 2):
        run("ip", "-n", "B", "mptcp", "endpoint", "add", f"10.{i}.2.2", "dev", f"xB{i}", "signal")
    if not spec["hystart"]:
        Path("/sys/module/tcp_cubic/parameters/hystart").write_text("0")


def change(spec: dict[str, Any], event: dict[str, Any]) -> None:
    """Do what happens to a path at some time: `event` has the new values of the keys of a direction."""
    i = event["path"] + 1
    for way, narrow, wide in ways(i, spec["paths"][event["path"]]):
        new = {key: event[key] for key in way if key in event}
        way.update(new)
        if new.keys() & {"rate_bps", "queue"}:
            netem(*narrow, "change", *bottleneck(way))
        if new.keys() & {"delay_us", "loss"}:
            netem(*wide, "change", *behind(way))
    if event.get("client_link") == "down":
        run("ip", "-n", "A", "link", "set", f"vA{i}", "down")
    if event.get("client_link") == "up":
        run("ip", "-n", "A", "link", "set", f"vA{i}", "up")
        host, net, via, device = routes(i)[0]
        run("ip", "-n", host, "route", "add", net, "via", via, "dev", device, *spec["route"])


def counters(host: str) -> dict[str, int]:
    """The non-zero TCP and MPTCP counters of a host."""
    lines = inside(host, "cat", "/proc/net/netstat", "/proc/net/snmp").splitlines()
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=False):
        if names.startswith(("TcpExt:", "MPTcpExt:", "Tcp:")):
            found.update({k: int(v) for k, v in zip(names.split()[1:], values.split()[1:], strict=True) if v != "0"})
    return found


def queues(spec: dict[str, Any]) -> dict[str, list[dict[str, int]]]:
    """Octets sent and packets dropped at the queues that the data passes: the bottlenecks, and the hop behind."""
    found: dict[str, list[dict[str, int]]] = {"bottleneck": [], "behind": []}
    for i, path in enumerate(spec["paths"], 1):
        _, narrow, wide = ways(i, path)[spec["direction"] == "down"]
        for name, (host, device) in (("bottleneck", narrow), ("behind", wide)):
            stats = json.loads(inside(host, "tc", "-s", "-j", "qdisc", "show", "dev", device))[0]
            found[name].append({"octets": stats["bytes"], "packets": stats["packets"], "drops": stats["drops"]})
    return found


def start(host: str, *words: object) -> "subprocess.Popen[bytes]":
    """Start this file with other words in the namespace of a host."""
    return subprocess.Popen(["ip", "netns", "exec", host, sys.executable, "-S", __file__, *map(str, words)])


def experiment(spec: dict[str, Any]) -> None:
    """One run, from the topology to the result."""
    build(spec)
    captures = [
        start(host, "capture", OUT / name)
        for host, name in (("A", "client.pcap"), ("B", "server.pcap"))
        if spec["capture"]
    ]
    port = (spec["protocol"], spec["controller"], spec["bytes"], spec["read"], spec["direction"])
    server = start("B", "serve", "0.0.0.0", *port)
    time.sleep(0.5)
    began = time.monotonic()
    client = start("A", "connect", "10.1.2.2", *port)
    for event in sorted(spec["events"], key=lambda e: e["at_s"]):
        while client.poll() is None and (left := began + event["at_s"] - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))
        if client.poll() is None:
            change(spec, event)
    client.wait()
    server.wait()
    if client.returncode or server.returncode:
        raise RuntimeError(f"the client ended with status {client.returncode}, the server with {server.returncode}")
    for process in captures:
        process.send_signal(signal.SIGTERM)
        process.wait()
    result = {"queues": queues(spec), "client": counters("A"), "server": counters("B")}
    for name in ("reader", "client"):
        result[f"{name}_times"] = json.loads(Path(f"/run/{name}.json").read_text())
    (OUT / "result.json").write_text(json.dumps(result))


def seed_random(seed: str) -> None:
    """Seed the kernel's random numbers.

    At its boot in virtual time nothing else does, and all runs would begin with the same losses.
    """
    octets = bytes.fromhex(seed)
    with Path("/dev/urandom").open("wb", buffering=0) as device:
        fcntl.ioctl(device, RNDADDENTROPY, struct.pack("ii", 8 * len(octets), len(octets)) + octets)
        fcntl.ioctl(device, RNDRESEEDCRNG)


def init(spec_file: str, *_: str) -> None:
    """Process 1: mount what is needed, run, power off. User-mode Linux appends words of its own."""
    os.environ.update(PATH="/usr/sbin:/usr/bin:/sbin:/bin", HOME="/run")
    out = str(Path(spec_file).parent)
    for kind, where in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run")):
        run("mount", "-t", kind, kind, where)
    OUT.mkdir()
    run("mount", "-t", "hostfs", "hostfs", OUT, "-o", out)
    try:
        spec = json.loads(Path(spec_file).read_text())
        seed_random(spec["random"])
        experiment(spec)
    except Exception as error:
        (OUT / "error").write_text(f"{type(error).__name__}: {error}")
    os.sync()
    ctypes.CDLL(None).reboot(POWER_OFF)


def endpoint(protocol: str, controller: str) -> socket.socket:
    """A socket with a congestion controller."""
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP if protocol == "mptcp" else socket.IPPROTO_TCP)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
    return s


def receive(c: socket.socket, total: int, rate: float) -> None:
    """Read the stream to its end and leave in a file when what arrived.

    `rate` is in octets per second, 0 for as fast as it comes.
    """
    got, first, last = 0, None, 0.0
    deciles: list[float] = []
    per_half_second: dict[int, int] = {}
    while data := c.recv(1 << 20 if not rate else max(1, int(rate / 100))):
        last = time.monotonic()
        first = last if first is None else first
        got += len(data)
        while len(deciles) < 10 and got >= total * (len(deciles) + 1) // 10:
            deciles.append(last - first)
            tell(len(deciles) / 10)
        slot = int((last - first) / 0.5)
        per_half_second[slot] = per_half_second.get(slot, 0) + len(data)
        if rate:
            time.sleep(len(data) / rate)
    marks = [per_half_second.get(k, 0) for k in range(max(per_half_second, default=-1) + 1)]
    times = {"octets": got, "first": first, "last": last, "deciles": deciles, "half_seconds": marks}
    READER.write_text(json.dumps(times))


def tell(share: float) -> None:
    """Leave for the host which share of the octets has been read."""
    with contextlib.suppress(OSError):
        (OUT / "progress").write_text(str(share))


def write(c: socket.socket, left: int) -> None:
    """Write the stream and end it."""
    block = bytes(65536)
    while left > 0:
        c.sendall(block[:left])
        left -= len(block[:left])
    c.shutdown(socket.SHUT_WR)


def serve(host: str, protocol: str, controller: str, octets: str, rate: str, direction: str) -> None:
    """The passive end: reads the stream, or writes it if the direction is "down"."""
    listener = endpoint(protocol, controller)
    listener.bind((host, 5001))
    listener.listen(1)
    c, _ = listener.accept()
    if direction == "up":
        receive(c, int(octets), float(rate))
    else:
        write(c, int(octets))
        c.recv(1)
    c.close()


def connect(host: str, protocol: str, controller: str, octets: str, rate: str, direction: str) -> None:
    """The active end: writes the stream and waits for the peer's close, or reads it."""
    began = time.monotonic()
    s = endpoint(protocol, controller)
    s.connect((host, 5001))
    connected = time.monotonic()
    if direction == "up":
        write(s, int(octets))
        s.recv(1)
    else:
        receive(s, int(octets), float(rate))
        s.close()
    times = {"began": began, "connected": connected, "closed": time.monotonic()}
    Path("/run/client.json").write_text(json.dumps(times))


def capture(file: str) -> None:
    """Capture all devices of this namespace into one file (pcap, nanoseconds, Ethernet) until SIGTERM."""
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    sockets = []
    for _, name in socket.if_nameindex():
        if name != "lo":
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
            s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
            s.bind((name, 0))
            sockets.append(s)
    with Path(file).open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 1))
        while not stop:
            ready, _, _ = select.select(sockets, [], [], 0.2)
            for s in ready:
                data, extra, _, _ = s.recvmsg(1 << 16, 64)
                seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
                out.write(struct.pack("<IIII", seconds, nanoseconds, min(96, len(data)), len(data)) + data[:96])


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"init": init, "serve": serve, "connect": connect, "capture": capture}
    commands[sys.argv[1]](*sys.argv[2:])
