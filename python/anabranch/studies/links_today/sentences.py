"""Sentences of the report of the study `links-today`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

CALL_ALWAYS = Sentence(
    "While a user walks out of Wi-Fi 6 range with LTE available, 99 % of a video call arrives within {limit!n} ms in "
    "every run: {senders} {count:achieves|achieve} this with every controller."
)
CALL_NEVER_ALWAYS = Sentence(
    "While a user walks out of Wi-Fi 6 range with LTE available, no scheduler delivers 99 % of a video call within "
    "{limit!n} ms in every run with every controller."
)
CALL_SOME = Sentence(
    "{sender} delivers 99 % of the video call within {limit!n} ms in every run only with {controllers}."
)
CALL_NEVER = Sentence(
    "To deliver 99 % of the video call, {senders} {count:takes|take} more than {limit!n} ms in at least one run with "
    "every controller."
)
CALL_WORST = Sentence(
    "The largest 99th percentile of the call's latency among the schedulers that deliver 99 % of the call in time in "
    "every run is {worst!n} ms."
)

ALONE = Sentence(
    "TCP over Wi-Fi alone stops when the access point is out of range. TCP over LTE alone keeps the call: the largest "
    "99th percentile of the call's latency is {worst!n} ms. With a good LTE signal, Wi-Fi saves cost and not delay."
)

ROAD = Sentence(
    "On the road, the goodput of both networks together, compared with the better network alone and with the sum of "
    "both: {carriers}."
)
ROAD_CARRIER = Phrase("with {carrier}: {gains} (published: {best!n} times and {total!n} times)")
ROAD_GAIN = Phrase("{best!n} times the better network and {total!n} times the sum with {controller}")
ROAD_SINGLE = Sentence(
    "The published 177 Mbit/s of Starlink alone is not the goodput of one TCP connection: the second-by-second series "
    "of the same study shows 29 Mbit/s. Here one TCP connection has {rates}."
)
ROAD_RATE = Phrase("{rate} Mbit/s with {controller}")

STEPS = Sentence(
    "A delay that changes in steps costs less than 5 % of the goodput in {cells} cells. The largest loss of goodput is "
    "{share!n} %, with {scheduler} and receive buffer {buffer}."
)

NOTES = (
    Sentence(
        "The walk: 802.11ax, 80 MHz, two streams and Minstrel-HT. The user walks away at 1.5 m/s from 2 m and is out "
        "of range at 33 s; 10 ms of delay lie behind the access point. LTE is at rest with a good signal. The call "
        "sends 10 kB thirty times a second for a minute, downstream, with Nagle's algorithm off."
    ),
    Sentence(
        "The road: Starlink Mobility with 15 ms of delay behind it, and a carrier's network: AT&T for LTE, T-Mobile "
        "for 5G. The published 5G row is of Verizon. Profile linux-6.1, 60 s. The published numbers come from other "
        "drives and from file downloads; the data do not describe their connections."
    ),
    Sentence(
        "The steps: two links of 50 Mbit/s with queues of 200 packets, CUBIC. From 12 s on, the one-way delay of the "
        "first path changes every 15 s: 15, 40, 20, 55, 15, 30 and 60 ms. The second path has 30 ms. In the runs with "
        "constant delay, both paths have 30 ms."
    ),
)
