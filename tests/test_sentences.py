"""The templates of what commands print: each is filled with values at both ends of their ranges, and proof-read.

Modules that choose among the templates of a command have no sentence of their own.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any, get_args

import click
import pytest

import anabranch
from anabranch.cli.group import cli
from anabranch.measures import table as measures
from anabranch.packetdrill import script
from anabranch.sentences import Phrase, Sentence, analyze, common, diagnose, recommend, run, sweep, tools
from anabranch.studies import sentences as studies
from anabranch.studies.alheid_2014_aina import sentences as alheid_2014_aina
from anabranch.studies.alheid_2014_sims import sentences as alheid_2014_sims
from anabranch.studies.alheid_2016_ict import sentences as alheid_2016_ict
from anabranch.studies.arabi_2014_icipee import sentences as arabi_2014_icipee
from anabranch.studies.links_today import sentences as links_today
from anabranch.studies.pareto import sentences as pareto
from anabranch.studies.raiciu_2011_fattree import sentences as raiciu_2011_fattree
from anabranch.studies.receive_buffer import sentences as receive_buffer
from anabranch.studies.reordering_today import sentences as reordering_today
from anabranch.studies.schedulers import sentences as schedulers
from anabranch.studies.simult_flows import sentences as simult_flows

ROOT = Path(anabranch.__file__).parent
WORDS = 30
"""In one sentence."""
BARE = re.compile(r"[+-]?\d[\d.,]*(?:e[+-]?\d+)?(?: (?:to|and) [+-]?\d[\d.,]*)?")
AS_WRITTEN = {"path", "value"}
"""Names that users give, and values as they wrote them."""
OWN = 2
"""Words of a string that is no sentence: a name, a unit, a pair of labels."""

RATES = ("1 bit/s", "400 Gbit/s")
SHARES = ("0.001 %", "100 %")
SPANS = ("0.5", "0.25 to 1.50")
"""Numbers whose unit the template gives, if `VALUES` has none of these."""
FLOWS = ("10.0.0.1:1 - 10.0.0.2:1", "[2001:db8:1:2:3:4:5:6]:65535 - [2001:db8:1:2:3:4:5:7]:65535")
CAUSES = tuple(told["label"] for told in measures.CAUSES)
REMEDIES = tuple(texts["remedy"] for texts in diagnose.CAUSES.values())
CHANGES = ("path0 only", "the controller uncoupled (Linux: reno) instead of linked-increases")
COUNTS = (1, 2, 1_000_000)

VALUES: Mapping[str, tuple[Any, ...]] = {
    **dict.fromkeys(("after", "before", "capacity", "given", "goodput", "rate", "shown"), RATES),
    **dict.fromkeys(("low", "high"), RATES),
    **dict.fromkeys(("count", "lost", "packets", "paths", "runs", "seeds", "segments"), COUNTS),
    "capacities": ("1 bit/s", "at least 5 Mbit/s + 80 Mbit/s (given)"),
    **dict.fromkeys(("cause", "buffer"), CAUSES),
    "causes": (CAUSES[0], ", ".join(CAUSES[3:7])),
    "remedy": REMEDIES,
    "share": SHARES,
    "missing": ("15 kB", "3.5 GB"),
    "shares": ("application 100 %", ", ".join(f"{cause} 9.99 %" for cause in CAUSES[3:7])),
    "subflow": FLOWS,
    **dict.fromkeys(("subflows", "flows"), COUNTS),
    **dict.fromkeys(("connection", "client"), ("10.0.0.1:49152", "[2001:db8::1]:49152")),
    "host": ("client", "server", diagnose.SENDER, diagnose.SENDER_OR_RECEIVER),
    "limits": ("limited by: congestion window 100 %",),
    "reason": ("MP_FAIL", "it ends within a block, at octet 1234567"),
    "percentile": ("median", "99.9th percentile"),
    "receiver": ("client", "server"),
    "twin": (diagnose.TWIN, diagnose.SCENARIO_OF_RUN),
    **dict.fromkeys(("change", "changes"), CHANGES),
    **dict.fromkeys(("file", "files", "folder", "source"), ("c", "captures/client-0.pcapng")),
    **dict.fromkeys(("title", "what", "why", "line", "ground", "error", "found"), ("a text", "another text")),
    **dict.fromkeys(("run", "analysis"), ("a run", "an analysis of captures")),
    **dict.fromkeys(("name", "now", "then", "controller", "scheduler", "linux", "kind"), ("a", "min-rtt")),
    "size": ("1 B", "16 MB"),
    "time": ("1 ms", "2 h 3 min"),
    "rtt": ("0.01 ms", "1234 ms"),
    "path": ("0", "path31", "10.0.0.1"),
    "choices": ("choices: 0 (10.0.0.1)",),
    "pair": ("0=80 Mbit/s",),
    "place": (diagnose.AT_SENDER, diagnose.AT_RECEIVER, diagnose.FROM_BEGINNING),
    "command": ("`ss -tin`",),
    "capture": ("shown by a capture at the sender",),
    "value": ("0.1", "-5"),
    "least": ("0.1",),
    "measure": ("The goodput", "The smoothed RTT of a path"),
    **dict.fromkeys(("difference", "most"), ("+0.1 %", "-20.9 points", "10 % of the time")),
    **dict.fromkeys(("differences",), ("goodput +0.0 %", "goodput -1.2 %, reordering +3.0 points")),
    "is_like": (diagnose.IS_LIKE, diagnose.IS_NOT_LIKE),
    "interval": ("1 bit/s to 2 bit/s",),
    **dict.fromkeys(("reordering", "srtt", "outages"), (-123.4, 0.0, 123.4)),
    **dict.fromkeys(("looks", "pairs", "identical", "seed"), COUNTS),
    **dict.fromkeys(("members", "names"), ("a", "a, b, c, d and min-rtt")),
    "goal": tuple(recommend.GOALS.values()),
    "goals": ("throughput, latency, memory",),
    "direction": tuple(recommend.DIRECTIONS.values()),
    "transfer": ("1 B", "14 s"),
    **dict.fromkeys(("delay", "up", "down", "slow_start"), ("1 ms", "2 h 3 min")),
    "queue": ("1 B", "1200 packets"),
    "queues": ("25 packets", "25 packets, 64 kB"),
    "standard": ("802.11b", "802.11ax"),
    "distance": ("0.5", "100"),
    **dict.fromkeys(("candidate", "other"), ("coupled, min-rtt", "TCP over path0 alone, cubic, frto, buffer 350 kB")),
    "candidates": COUNTS,
    "looked": COUNTS,
    "values": ("goodput 6.23 Mbit/s", "head-of-line delay, 95th percentile 74.5 ms, goodput 17.89 Mbit/s"),
    "unit": ("Mbit/s", "ms", "kB"),
    "details": ("exact; 5 identical pairs, counted as 1 pair", "+38 %; 95 % interval +1.70 to +1.71 Mbit/s; 5 pairs"),
    "verdict": (recommend.SURELY_BETTER, recommend.NOT_SURE_CORRECTED(candidates=99)),
    "same": (common.SAME_TRACE(what="mss", members="1 and 2", runs=2),),
    "factor": ("4", "0.5"),
    "spent": ("1 run", "29.9 s (123 runs)"),
    "needed": (5, 40),
    "reference": ("1.00 Mbit/s",),
    "option": ("--runs 70", "--only"),
    **dict.fromkeys(("text", "form", "example", "scenario", "key", "kinds"), ("a text",)),
    "enough": ("5 s", "66 s"),
    "amount": ("1 B", "1.23 GB"),
    "end": (run.COMPLETED, run.ABORTED(reason="client: reset by the peer"), run.DURATION),
    "content": (run.CONTENT_OK, run.CONTENT_ALTERED(amount="1 kB")),
    "connections": ("connection0", "connection0, connection1 at the client"),
    "within": ("1 ms", "12 s"),
    "jitter": ("0 s", "1.2 ms"),
    "percentiles": (run.NONE_ARRIVED, "median 11 ms, 95th percentile 12 ms, 99th percentile 13 ms"),
    "stops": COUNTS,
    "index": ("0.001", "1"),
    "link": ("path0", "air"),
    "first": ("a", "version 0.2.0 (72ed949)"),
    "second": ("a", "version 0.2.0 (72ed949)"),
    "places": ("captured at both ends", "captured at the client, captured on the way"),
    **dict.fromkeys(("axis", "baseline"), ("min-rtt", "path.1.delay")),
    "status": ("refused", "failed"),
    "alone": COUNTS,
    "corrected": (0, 1, 100),
    "reached": ("0.1 %", "120 %"),
    "total": ("two", "five"),
    "number": ("one", "five"),
    "claims": ("that the gain costs memory (reordering buffer 11 kB without and 470 kB with Eifel)",),
    "claim": ("the gain costs memory",),
    "numbers": ("reordering buffer 11 kB without and 470 kB with Eifel",),
    "detector": ("RACK-TLP", "reordering degree"),
    "than": (reordering_today.MORE_THAN, reordering_today.LESS_THAN),
    "more": (reordering_today.MORE_THAN, reordering_today.NOT_MORE_THAN),
    **dict.fromkeys(
        ("far", "careful", "aggressive", "eifel", "one", "mixed", "both", "rack", "rack_both"), ("0.5", "9.9")
    ),
    **dict.fromkeys(("learned", "steady", "plain", "counter", "degree"), ("0.5", "6.6 and 6.0")),
    "displacement": ("2", "4"),
    "judge": ("Eifel", "none"),
    "needless": ("13.00 %", reordering_today.LITTLE),
    "none": ("0.0", "4.5"),
    "held": ("1", "470"),
    "cost": ("7.8 Mbit/s with equal delays, 6.0 with 2 round trips between them",),
    "gain": ("D-SACK gains 15 % at most",),
    "short": ("300 ms",),
    "longest": ("1000 ms",),
    "timeouts": ("0", "164"),
    "middle": ("BALIA",),
    **dict.fromkeys(("lia", "balia"), ("70", "100")),
    "turned": (0, 1, 40),
    "default": ("min-rtt",),
    "led": (0, 21),
    "examples": ("over WLAN and 3G, bulk with olia: min-rtt with the shortest queue, otias with the longest",),
    "traffic": ("bulk, 16 MiB of buffer", "video"),
    "choice": ("0.0", "99.9"),
    **dict.fromkeys(("small", "large", "bulk", "page", "sooner"), ("0", "-90 to -32")),
    "schedulers": ("BLEST is within 1 % of min-rtt in 30 of 30 cells",),
    "near": (0, 30),
    "theirs": ("+1141", "-5"),
    "agree": (0, 10),
    "senders": ("min-rtt", "min-rtt, ecf and redundant"),
    "sender": ("min-rtt", "Linux 6.1"),
    "controllers": ("cubic", "cubic and bbr"),
    "limit": ("95", "150"),
    "worst": ("30", "103"),
    "carrier": ("LTE", "5G"),
    "carriers": ("with LTE: 1.42 and 0.88 with cubic (published: 1.30 and 0.81)",),
    "gains": ("1.42 and 0.88 with cubic", "1.42 and 0.88 with cubic and 1.59 and 0.86 with bbr"),
    "rates": ("30 Mbit/s with cubic and 56 Mbit/s with bbr",),
    "cells": ("all 8", "7 of 8"),
    "network": ("The small network",),
    "networks": ("16 hosts: 43 % with one subflow, 87 % with eight",),
    "payload": ("95",),
    "goodputs": ("neither 2.1 and both 7.6",),
    "mechanism": ("Retransmission", "Penalisation"),
    "label": ("neither", "both"),
    "sizes": ("16 kB", "16 kB, 32 kB and 64 kB"),
    "case": ("10 + 10 Mbit/s, 0 and 0 ms",),
    "cases": ("all 20", "19 of 20"),
    "ratio": ("0.95", "1.25"),
    "ratios": ("0.95", "0.91 to 1.25"),
    "late": ("Linux 6.1, up, 10 + 10 Mbit/s, 0 and 0 ms (1.25)",),
    "study": ("a study; its sweeps are in its directory sweeps",),
    "power": ("-82", "-123.4"),
    "protocol": ("mptcp", "mptcp version 0"),
    **dict.fromkeys(("useful", "redundant", "unmapped"), ("0 B", "12 MB")),
    "profile": ("modern", "linux-6.1"),
    **dict.fromkeys(("reduction", "wanted"), ("prr", "rack")),
    "duration": (tools.LASTS_UNKNOWN, "about 2 min on 2 threads (estimated from 4 trial runs)"),
    "threads": COUNTS,
    "hash": ("d84f57605ffa",),
    "stored": ("0123456789ab",),
    "meaning": ("1: the rule of the out-of-tree kernel; 0: the rule of the paper",),
    "range": ("whole number, 0 to 1", "0.001 to 0.1 s"),
    "determinism": (tools.DETERMINISM(hash="d84f57605ffa"),),
    "content_ok": ("True", "False"),
    **dict.fromkeys(("ours", "theirs"), ("24.00 24.10 30.20",)),
    "takes": (tools.TAKES(time="22", amount="150 MB"),),
    "mcs": (0, 11),
    **dict.fromkeys(("cells", "better", "worse"), ("all 15", "3 of 15")),
    "below": ("0.912 times the ceiling with Uncoupled at 500 ms",),
    "model": ("legacy model", "independent receiver"),
    "models": ("legacy model 7.0 Mbit/s; independent receiver 10.2 to 10.4 Mbit/s",),
    "recovery": ("D-SACK", "NoPR"),
    "recoveries": ("D-SACK 5.3 Mbit/s (paper: 6.1 Mbit/s; 2 of 3 goodputs within a tenth of the paper's)",),
    "seen": ("D-SACK 0 of 12 episodes, Eifel 12 of 12 episodes",),
    "spurious": (alheid_2014_aina.SPURIOUS_NONE, alheid_2014_aina.SPURIOUS(episodes="0.2")),
    **dict.fromkeys(("stalled", "alive", "choices"), ("0 of 15", "all 15")),
    **dict.fromkeys(("lowest", "highest"), ("as chosen", "MAC queue of today: 500 packets, 500 ms")),
    "spreads": ("legacy model, no recovery 2.40 Mbit/s (no fading) to 4.00 Mbit/s (as chosen), D-SACK 3.10 Mbit/s",),
    "falls": (alheid_2014_sims.FALLS(half=40), alheid_2014_sims.FALLS_NOT(rate="4.20", last=100)),
    "ends": ("", " and has less than 1 Mbit/s from 80 m on"),
    "links": ("two subflows", "three subflows"),
    "together": (arabi_2014_icipee.NO_CHOICE, "as chosen and constant delays"),
    "nothing": ("", arabi_2014_icipee.NOTHING),
    "frto": (arabi_2014_icipee.BELOW(share="35"), arabi_2014_icipee.ABOVE(share="1")),
    "dsack": ("2.40 Mbit/s (no fading) to 4.00 Mbit/s (as chosen)",),
}
"""By name of a value: what it may be, at both ends."""

NUMBERS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    **{f"analyze.{name}": {"count": (0, 1, 7), "total": (1, 7)} for name in ("TOKENS", "HMACS", "ADD_ADDR")},
    **{f"analyze.CHECKSUMS{name}": {"count": (0, 1, 7), "total": (1, 7)} for name in ("", "_INCOMPLETE")},
    "analyze.OMITTED": {"names": ("in flight and round-trip time",), "why": (analyze.OMITTED_ACKS,)},
    "analyze.LARGEST": {"count": (12,)},
    "analyze.CONNECTION": {"place": (analyze.BOTH_ENDS, analyze.AT(host="client"), analyze.ON_THE_WAY)},
    "analyze.ONLY_AT_SENDER": {"names": ("spurious retransmissions, smoothed RTT",)},
    "tools.REFUSED": {"count": (1, 2), "cells": (2, 6)},
    "tools.PARAMETER": {"default": ("1 s",)},
    **{f"tools.{name}": {"runs": (2, 1000), "failures": (0, 2)} for name in ("PROGRESS", "RUNS")},
    **{f"tools.{name}": {"size": ("991",)} for name in ("RESULT", "TOO_LARGE")},
    "tools.FEW_RUNS": {"runs": (4,)},
    "tools.NO_TABLE": {"table": ("'pth'",), "choices": ("connection, path",)},
    "tools.OF_KEYS": {"what": ("a TABLE", "--schema")},
    "diagnose.MAIN_CAUSE_HANDSHAKE_AND_FIN": {"after": SHARES},
    "diagnose.NO_MPTCP": {"source": (diagnose.THE_CAPTURE, diagnose.THE_RUN)},
    "diagnose.HOST_BUSY": {
        "cost": ("2 us", "1.5 ms"),
        "share": ("90 %", "100 %"),
        "remedies": (diagnose.HOST_REMEDIES, diagnose.HOST_REMEDIES_AND_CORES),
    },
    "tools.RANGES": {"least": ("0",), "most": ("1000",)},
    "tools.FIGURE": {"value": ("median 18 Mbit/s",)},
    "alheid_2014_aina.SEEN": {"seen": (0, 300), "total": (1, 300)},
    "arabi_2014_icipee.OPENING": {"worse": (arabi_2014_icipee.WORSE, arabi_2014_icipee.BETTER)},
    **{
        f"{name}.HELPS": {"better": ("1 of 24", "all 24"), "worse": (0, 1, 24)}
        for name in ("arabi_2014_icipee", "alheid_2016_ict")
    },
    "alheid_2016_ict.REPRODUCTION": {"ratios": ("NoPR with Uncoupled 6.5 % (paper: 6.6 %)",)},
    "alheid_2016_ict.COUPLED": {"shares": ("52 to 80 %",)},
    "alheid_2016_ict.INDEPENDENT": {"shares": ("52 to 80 %",), "change": ("-0.1 to 1.2 %",)},
    "arabi_2014_icipee.INDEPENDENT_SHARES": {"shares": ("82 to 90 %",)},
    "alheid_2014_sims.INDEPENDENT": {"change": ("-0.1 to 1.2 %",)},
    "alheid_2014_sims.REPRODUCTION_ONE": {"near": ("all 3", "2 of 3")},
    "alheid_2014_sims.QUEUE": {"shares": ("", " (68 % of 6 Mbit/s over the wireless and 2 % over the wired link)")},
    "alheid_2014_sims.SPREADS": {"none": ("4.00 Mbit/s (as chosen) to 4.10 Mbit/s (no fading)",)},
    "arabi_2014_icipee.REPRODUCTION": {
        "best": ("D-SACK, Uncoupled, 9.51 Mbit/s",),
        "eifel": (arabi_2014_icipee.BELOW(share="35"), arabi_2014_icipee.ABOVE(share="1")),
    },
    "arabi_2014_icipee.BOTH": {"linked": ("4.00 Mbit/s",), "plain": ("4.00 Mbit/s",)},
    "arabi_2014_icipee.PEAK": {"peak": ("10.1 Mbit/s",)},
    "arabi_2014_icipee.WITH_UNIT": {"best": ("D-SACK, Uncoupled, 9.51",)},
    "links_today.ROAD_SINGLE": {"rates": ("30 Mbit/s with cubic and 56 Mbit/s with bbr",)},
    "diagnose.LIKE": {"losses": (-9.9, 9.9), "goodput": (-99.9, 0.0, 123.4), "shares": (0.0, 99.9)},
    "diagnose.FOLLOW": {"time": (0.1, 86400.0)},
    "diagnose.CHOICES": {"paths": ("0 (10.0.0.1)", "0 (10.0.0.1), 1 (10.0.1.1)")},
    "diagnose.CHANGE_BUFFER": {"buffer": ("send buffer", "receive buffer"), "now": ("1 B", "6 MB")},
    "run.FILM": {"stops": (run.FILM_NO_STOP, "1 stop, 3 s in total"), "changes": COUNTS},
    "run.CHANGE": {"what": (run.CHANGE_NOTHING, "4 Mbit/s after it, not settled")},
    "run.LIMITED_MEAN": {"connections": (1, 2, 16)},
    "run.FAST_OPEN_OF": {"connections": (2, 16), "count": (0, 1, 16)},
    "run.OUT_OF_RANGE": {"least": (run.LEAST_NOTICED(power="-82"),)},
    "run.OUT_OF_RANGE_ALWAYS": {"least": (run.LEAST_READ(power="-60", mcs=11),)},
    "run.OUT_OF_ORDER": {"packets": (0, 1, 2515)},
    "sweep.ESTIMATED_SOME": {"count": (1, 99), "total": (2, 100)},
    "sweep.CHANCE": {"count": (2, 100), "confidence": ("95 %",), "misses": ("0.1", "5")},
    "sweep.SOME_SAME_TRACES": {"count": (0, 2), "pairs": (2, 100)},
    "sweep.UNFINISHED": {"count": (1, 100), "runs": (2, 100)},
    "sweep.NOTHING_ARRIVED": {"count": (1, 100), "runs": (2, 100)},
    "sweep.PRECISION_SOME_IDENTICAL": {"count": (1, 99), "cells": (2, 100)},
    "sweep.PRECISION_SOME_FEW": {"count": (1, 99), "cells": (2, 100), "measure": ("goodput_mbps",)},
    "sweep.PRECISION_NONE": {"measure": ("goodput_mbps",)},
    "sweep.SWEEPS": {"measure": ("goodput_mbps",)},
    "sweep.AGAINST": {"measure": ("goodput_mbps",)},
    "sweep.PRECISION_REACHED": {"measure": ("goodput_mbps",)},
    "sweep.PRECISION_MISSED": {"measure": ("goodput_mbps",)},
    "sweep.PRECISION_CAP": {"measure": ("goodput_mbps",)},
    "sweep.OTHER_AXES": {"ours": ("mss",), "theirs": ("scheduler, path.1.delay",)},
    "sweep.OTHER_KINDS": {"kind": ("a run",), "other": ("a sweep",)},
    "sweep.PRECISION_IDENTICAL": {
        "what": (sweep.IDENTICAL_CELL, sweep.IDENTICAL_CELLS),
        "why": (sweep.NOTHING_RANDOM, sweep.NO_CHANCE),
    },
    "sweep.WRONG_PROBABILITY": {"value": (0.1, 1.5)},
    "sweep.TOO_MANY_SEEDS": {"most": (1_000_000,), "cap": (2_000_000,)},
    "reordering_today.TODAY": {"rate": ("10",), "second": ("reordering degree",), "goodput": ("0.5", "9.9")},
    "reordering_today.RACK_JUDGE": {"goodput": ("0.5", "9.9")},
    "reordering_today.ESCAPE": {"none": ("0.7",)},
    "reordering_today.EIFEL_NEEDLESS": {"needless": ("0.0", "13.0"), "before": ("1", "11")},
    "reordering_today.DOOR_LOSS": {"before": ("7.9",), "after": ("2.7",)},
    "reordering_today.JUDGE_GOODPUT": {"goodput": ("0.5", "9.9")},
    "reordering_today.UNLIKE": {"most": ("0.0", "12.3")},
    "reordering_today.STALLS": {"rack": ("0", "164")},
    "reordering_today.DOOR_LOSES": {"goodputs": ("7.9 to 2.7 Mbit/s (RACK-TLP)",)},
    "reordering_today.STALLS_LONG": {"goodputs": ("none 7.3, Eifel 8.5",), "alone": ("7.4",)},
    "pareto.VERDICT": {"least": ("LIA",), "most": ("OLIA",)},
    "pareto.SHARES": {"shares": ("68 % beside LIA, 79 % beside OLIA",)},
    "pareto.SHARE": {"share": ("0", "100")},
    "pareto.OLIA": {"gains": ("0.12 to 0.18",)},
    **{f"pareto.{name}": {"differences": ("-0.049 to -0.029",)} for name in ("LIA", "BALIA")},
    "schedulers.BULK": {"default": ("min-rtt",)},
    "schedulers.LEADERS": {"best": ("redundant",), "most": (1, 23), "cells": (2, 120)},
    "schedulers.EXAMPLE": {"first": ("min-rtt",), "last": ("otias",), "network": ("WLAN and 3G",)},
    "schedulers.ALIKE_ONE": {"cells": (2, 120)},
    "schedulers.PAPER_ONE": {"measure": ("goodput, bulk",), "here": ("-1",)},
    "schedulers.STUCK": {"goodput": ("0.5", "8.6"), "first": ("0.5", "8.6"), "default": ("min-rtt",)},
    "schedulers.PAGE": {"later": ("10 to 20",)},
    "schedulers.NO_BEST": {"count": (2, 40)},
    "schedulers.PAPER": {"count": (2, 10)},
    "links_today.ROAD_CARRIER": {"best": ("1.30",), "total": ("0.81",)},
    "links_today.ROAD_GAIN": {"best": ("1.42",), "total": ("0.88",)},
    "links_today.STEPS": {"share": ("0", "12"), "buffer": ("1 MB", "large")},
    "raiciu_2011_fattree.EVENNESS": {"one": ("0", "50"), "eight": ("1", "95")},
    "raiciu_2011_fattree.NETWORK": {"one": ("0", "50"), "eight": ("1", "95")},
    "raiciu_2011_fattree.SUBFLOWS": {"shares": ("43 %, 60 %, 76 %, 87 %",)},
    **{
        f"receive_buffer.{name}": {"size": (16, 2048), "worst": ("1", "99")}
        for name in ("SIZE", "BOTH", "BOTH_BELOW", "NEITHER_BELOW", "AT")
    },
    "receive_buffer.MECHANISM": {"goodput": ("0.1", "9.8")},
    "recommend.HEADLINE": {"paths": COUNTS},
    "recommend.REPORT_TITLE": {"paths": ("5 Mbit/s", "5 Mbit/s + cellular")},
    "recommend.NO_PATH": {"paths": ("path0", "path0, path1")},
    "recommend.VALUE": {"value": ("0.00", "123.45"), "measure": ("goodput", "head-of-line delay, 95th percentile")},
    "recommend.DIFFERENCE": {"value": ("-0.01", "+123.45"), "measure": ("goodput",)},
    "recommend.DIFFERENCE_SHARE": {"share": ("-0.1", "+38")},
    "recommend.DIFFERENCE_INTERVAL": {"low": ("-1.00",), "high": ("+2.00",)},
    "recommend.SHORT": {"value": ("-0.01", "+123.45")},
    "recommend.SHORT_INTERVAL": {"value": ("-0.01", "+123.45"), "low": ("-1.00",), "high": ("+2.00",)},
    "recommend.NOT_DISTINCT": {"candidates": ("coupled (+0.1 ms; not sure)",)},
    "recommend.NOT_DISTINCT_SIMPLER": {
        "measure": ("goodput",),
        "verdict": (recommend.WORSE, recommend.SURELY_WORSE),
        "best": ("coupled", "TCP over path0 alone, cubic, frto, buffer 350 kB"),
        "candidates": ("coupled (+0.1 ms; not sure)",),
    },
    "recommend.WIDE": {"measure": ("goodput",)},
    **{
        f"recommend.{name}": {"shown": (8,), "looked": (9, 40), "measure": ("goodput",)}
        for name in ("LOOKED_SOME", "LOOKED_GIVEN_SOME")
    },
    "recommend.UNABLE": {"candidates": ("coupled", "coupled; cubic")},
    "recommend.QUEUES_UNABLE": {"value": ("goodput 6.23 Mbit/s",)},
    "recommend.QUEUES_BEST": {"value": ("goodput 6.23 Mbit/s",)},
    "recommend.QUEUES_BETTER": {"value": ("goodput 6.23 Mbit/s",)},
    "recommend.STILL_LOOKING": {"runs": (53, 1000)},
    "recommend.COMPARED": {"runs": ("1 run", "40 runs")},
    "recommend.RESULT": {"runs": ("1 run", "1 run (5 identical)", "40 runs")},
    "recommend.RESULT_AMONG": {"runs": ("1 run", "1 run (5 identical)", "40 runs")},
    "recommend.CONNECTIONS": {"count": (0, 2, 100)},
    "recommend.PACKETS": {"count": (1, 2, 1200)},
    "recommend.NOTHING_RANDOM": {"seeds": (2, 10)},
    "recommend.NO_CHANCE": {"seeds": (2, 10)},
    "recommend.NOT_SURE_CORRECTED": {"candidates": (2, 99)},
    "diagnose.GROUND_RATE": {"low": ("0.1 Mbit/s",), "high": ("9e+03 Mbit/s",)},
}
"""Templates in which a name means something else."""

STUDIES = (
    *(alheid_2014_aina, alheid_2014_sims, alheid_2016_ict, arabi_2014_icipee, links_today, pareto),
    *(raiciu_2011_fattree, receive_buffer, reordering_today, schedulers, simult_flows),
)
COMMANDS = (analyze, common, diagnose, recommend, run, sweep, tools, studies, *STUDIES)
CHOOSING = {
    "analyze": ("captures/text.py", "captures/report.py", "cli/analyze.py"),
    "diagnose": (
        "measures/causes.py", "diagnosis/*.py", "diagnosis/twin/*.py", "cli/diagnose.py"
    ),
    "recommend": ("recommendation/*.py", "cli/recommend.py"),
    "run": ("runs/limits.py", "runs/recovery.py", "runs/applications.py", "runs/text.py", "cli/run.py"),
    "sweep": ("comparison/*.py", "sweeps/table.py", "sweeps/until.py", "sweeps/paired.py"),
    **{
        study: (f"studies/{study}/text.py",)
        for study in (module.__name__.split(".")[-2] for module in STUDIES)
    },
    "studies": ("studies/*/text.py",),
    "tools": (
        *("install/doctor.py", "kernel/beside.py", "cli/listing.py", "packetdrill/script.py", "conformance/check.py"),
        *(f"cli/{name}.py" for name in ("about", "algorithm", "kernel", "scenarios")),
        *(f"cli/{name}.py" for name in ("script", "stored", "study", "torture")),
    ),
    "common": ("sweeps/comparable.py", "sweeps/repeats.py", "cli/diagnose.py", "cli/recommend.py"),
}  # fmt: skip
"""Modules of each command that choose sentences."""
ALSO = {"run": ("captures/text.py",), "sweep": ("cli/sweep.py",)}
"""Modules that use some of a command's sentences, and have others."""
HELP = {
    *("analyze", "check", "compare", "compare_kernel", "demo", "diagnose", "doctor", "import_trace", "list_", "new"),
    *("plot", "recommend", "replay", "run", "script", "study", "torture", "trace"),
}
"""Functions whose option texts stand beside the options."""


def named(module: ModuleType) -> str:
    """The command or the study that has the sentences of `module`."""
    return next(part for part in reversed(module.__name__.split(".")) if part != "sentences")


def templates(module: ModuleType) -> Iterator[tuple[str, Phrase]]:
    """Every template of `module`, with the name under which it stands."""

    def inside(value: object) -> Iterator[Phrase]:
        if isinstance(value, Phrase):
            yield value
        elif isinstance(value, Mapping):
            yield from chain.from_iterable(map(inside, value.values()))
        elif isinstance(value, tuple):
            yield from chain.from_iterable(map(inside, value))

    command = named(module)
    for name, value in vars(module).items():
        if name.isupper():
            yield from ((f"{command}.{name}", one) for one in inside(value))


def filled(name: str, template: Phrase) -> Iterator[str]:
    """The template with the first value of each kind, the last of each, and each single value in turn."""
    fields = template.names()
    known = {**VALUES, **NUMBERS.get(name, {})}
    numbers = [field for field, _ in template.numbers()]
    written = [str(field) for _, field, _, way in Formatter().parse(template) if way == "s"]
    known |= {field: ("0", "12") for field in written if field not in known}
    known |= {field: SPANS for field in numbers if not all(map(bare, known.get(field, ("",))))}
    unknown = [field for field in fields if field not in known]
    assert not unknown, f"{name}: no values are known for {unknown}"
    ranges = {field: known[field] for field in fields}
    for pick in (0, -1):
        yield template(**{field: values[pick] for field, values in ranges.items()})
    for field, values in ranges.items():
        for value in values:
            yield template(**{other: all_[0] for other, all_ in ranges.items()} | {field: value})


def bare(value: object) -> bool:
    """Whether a value is a number or a span of numbers without a unit."""
    return BARE.fullmatch(str(value)) is not None


def without_unit(name: str, template: Phrase) -> Iterator[str]:
    """Numbers without a unit in the template, and texts whose values are bare numbers."""
    numbers = dict(template.numbers())
    yield from (f"{field}: a number without a unit" for field, known in numbers.items() if not known)
    for _, field, form, conversion in Formatter().parse(template):
        if field and conversion != "s" and "|" not in (form or "") and field not in numbers and field not in AS_WRITTEN:
            values = filter(bare, {**VALUES, **NUMBERS.get(name, {})}[field])
            yield from (f"{field}: the text {one!r} is a number; write {{{field}!n}} and its unit" for one in values)


def faults(template: Phrase, text: str) -> Iterator[str]:
    """What is wrong with a filled template."""
    if text != text.strip() or "  " in text.replace("\n  ", " ") or not text.isascii():
        yield "blanks or characters"
    if re.search(r"[{}]|\bNone\b|\bnan\b|\binf\b", text):
        yield "an empty value"
    bare = re.sub("`[^`]*`", "x", text)
    if re.search(r" [,;:)]| \.(?!\.)|\( |\(\)|(?<!\.)\.\.$|,,|: ?[.;,]", bare):
        yield "punctuation"
    if re.search(r"(?<![\d.:])1 (?!ms|bit/s)\w+s\b", text):
        yield "one of many"
    if re.search(r"(?<![\d.])(?:2|1000000) (?:seed|run|path|packet|connection|subflow|segment|time|pair)\b", text):
        yield "many of one"
    if any(len(part.split()) > WORDS for part in re.split(r"(?<=[.:;]) ", text)):
        yield f"more than {WORDS} words"
    if isinstance(template, Sentence) != text.endswith("."):
        yield "full stop"
    if isinstance(template, Sentence) and text[0].islower() and not template.startswith("{"):
        yield "small letter"


@pytest.mark.parametrize("module", COMMANDS)
def test_a_template_gives_correct_text_with_every_value(module: ModuleType) -> None:
    found = [
        f"{name}: {fault}: {text}"
        for name, template in templates(module)
        for text in dict.fromkeys(filled(name, template))
        for fault in faults(template, text)
    ]
    assert found == []


@pytest.mark.parametrize("module", COMMANDS)
def test_every_number_has_its_unit_or_a_noun(module: ModuleType) -> None:
    found = [f"{name}: {fault}" for name, one in templates(module) for fault in without_unit(name, one)]
    assert found == []


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ("The goodput is {near!n}.", "near: a number without a unit"),
        ("The goodput is {near!n} with {count!n} {count:seed|seeds}.", "near: a number without a unit"),
        ("The goodput is from {low!n} to {high!n}.", "low: a number without a unit"),
        ("The goodput is {worst!n} Mbit/second.", "worst: a number without a unit"),
        ("It took {losses:+.1f}.", "losses: a number without a unit"),
        ("The goodput is {worst} Mbit/s.", "worst: the text '30' is a number; write {worst!n} and its unit"),
    ],
)
def test_a_number_without_a_unit_is_found(template: str, fault: str) -> None:
    assert next(without_unit("", Sentence(template))) == fault


@pytest.mark.parametrize(
    "template",
    [
        "The goodput is {near!n} Mbit/s with {count!n} {count:seed|seeds}.",
        "It is {near!n}, {far!n} and {worst!n} % of {goodput}.",
        "It sent {count!n} lost packets in {runs!n} of {total!n} runs, {losses:+.1f} points more.",
    ],
)
def test_a_number_with_a_unit_passes(template: str) -> None:
    assert list(without_unit("", Sentence(template))) == []


@pytest.mark.parametrize(
    ("template", "text", "fault"),
    [
        (Sentence("x"), "The goodput is 5 Mbit/s", "full stop"),
        (Phrase("x"), "for 1 seeds", "one of many"),
        (Phrase("x"), "for 2 seed", "many of one"),
        (Sentence("x"), "The cause is None.", "an empty value"),
        (Sentence("x"), "The cause is  slow.", "blanks or characters"),
        (Sentence("x"), "The cause is: .", "punctuation"),
        (Sentence("x"), "the cause is slow.", "small letter"),
        (Sentence("x"), "A " + "long " * 30 + "sentence.", "more than 30 words"),
    ],
)
def test_a_fault_is_found(template: Phrase, text: str, fault: str) -> None:
    assert list(faults(template, text)) == [fault]


def test_a_value_too_many_or_too_few_is_an_error() -> None:
    with pytest.raises(KeyError):
        diagnose.GOODPUT()
    with pytest.raises(TypeError, match="share"):
        diagnose.GOODPUT(goodput="1 bit/s", share="1 %")


def commands(group: click.Group, name: str = "anabranch") -> Iterator[tuple[str, click.Command]]:
    """All commands, and those inside others."""
    for word in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), word)
        assert command is not None
        yield f"{name} {word}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")


def test_help_is_in_whole_sentences() -> None:
    """Of a command and of each option; the default stands behind it in brackets."""
    found = []
    for name, command in [("anabranch", cli), *commands(cli)]:
        texts = {name: " ".join((command.help or "").split())}
        for option in command.params:
            if isinstance(option, click.Option):
                texts[f"{name} {option.opts[0]}"] = re.sub(r" *\[default: .*\]$", "", option.help or "").strip()
        found += [
            f"{where}: {text}"
            for where, text in texts.items()
            if not re.search(r"^[A-Z].*\.$", text)
            or "  " in text
            or any(len(part.split()) > WORDS for part in re.split(r"(?<=[.:;]) ", text))
        ]
    assert not found, "\n".join(found)


def literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings of a module that are no documentation, f-strings with their values left out, and their lines."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "_" for p in node.values)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in HELP:
            skipped |= {id(part) for deco in node.decorator_list for part in ast.walk(deco)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def words(text: str) -> list[str]:
    """Words of a text without markup, keys and code."""
    text = re.sub(r"^\[.*\]$|^\w+ = .*", "", text, flags=re.MULTILINE)
    bare = re.sub(r"<[^>]*>?|\w+ = |[\w-]+:[\w.-]+|[\w.]+\[[^\]]*\]|\w*[_=./{}]\w*|--\w+", " ", text)
    return re.findall(r"\b[A-Za-z][a-z]{2,}\b", bare)


@pytest.mark.parametrize("command", CHOOSING)
def test_modules_that_choose_sentences_have_none(command: str) -> None:
    files = sorted({file for pattern in CHOOSING[command] for file in ROOT.glob(pattern)})
    assert len(files) >= len(CHOOSING[command])
    own = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in files
        for line, text in literals(ast.parse(file.read_text("utf-8")))
        if len(words(text)) > OWN and text not in get_args(script.Status)
    ]
    assert not own, "\n".join(own)


@pytest.mark.parametrize("module", COMMANDS)
def test_every_template_is_used(module: ModuleType) -> None:
    command = named(module)
    used = (*CHOOSING[command], *ALSO.get(command, ()))
    text = "\n".join(file.read_text("utf-8") for pattern in used for file in ROOT.glob(pattern))
    names = [name for name in vars(module) if name.isupper()]
    assert [name for name in names if not re.search(rf"\b(say|common)\.{name}\b|import .*\b{name}\b", text)] == []
