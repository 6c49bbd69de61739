"""Sentences of the report of the study `schedulers`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

NO_BEST = Sentence(
    "There is no best scheduler. In {turned!n} of {count!n} combinations of links, traffic and controller, the best "
    "scheduler changes as the queues grow from a quarter to four bandwidth-delay products."
)
NO_DIFFERENCE = Sentence(
    "In {count!n} {count:combination|combinations} of links, traffic and controller the choice of the scheduler makes "
    "no difference."
)
LEADERS = Sentence(
    "Of the {cells!n} cells in which the choice of the scheduler matters, {best} leads in {most!n} {most:cell|cells} "
    "(alone or within 1 % of the first), and {default} in {led!n} {led:cell|cells}."
)
EXAMPLES = Sentence("Examples of combinations whose best scheduler changes with the queue: {examples}.")
EXAMPLE = Phrase(
    "over {network}, {traffic} with {controller}: {first} with the shortest queue, {last} with the longest"
)
BULK = Sentence(
    "A bulk transfer with large buffers leaves the scheduler little choice, since both congestion windows are full. "
    "With {default} over {network}, more than one subflow could take the next segment for {choice!n} % of the segments "
    "({small!n} % with 512 KiB of buffer)."
)
BULK_DIFFERENCES = Sentence(
    "The goodput with BLEST, ECF and OTIAS differs from that with {default} by {large!n} %, and with 512 KiB of buffer "
    "by {small!n} %."
)
ALIKE = Sentence("{schedulers}.")
ALIKE_ONE = Phrase("{scheduler} is within 1 % of {default} in {near!n} of {cells!n} cells")
ALIKE_WHY = Sentence(
    "BLEST and ECF decide whether to wait for the fast path: BLEST waits if the send window would run out, ECF if the "
    "remaining data would be complete sooner. If the congestion windows are the limit and more data are waiting, "
    "neither has a reason to wait."
)
LINUX = Sentence(
    "Linux's scheduler gives a subflow 64 kB ahead of its window. If one link has a thirtieth of the rate of the "
    "other, sending 64 kB over it takes 1.5 s. A page takes {page!n} % longer than with {default}, and the goodput of "
    "bulk changes by {bulk!n} %."
)
LINUX_WHY = Sentence(
    "Linux's scheduler costs bulk the most goodput with the shortest queue: the send buffer grows with the windows, as "
    "in Linux, and the data that wait on the slow link fill a small buffer."
)
PAGE = Sentence(
    "{scheduler} orders segments by their expected arrival. A page over {network} is loaded up to {sooner!n} % sooner, "
    "but single messages arrive {later!n} % later at the 99th percentile: some of them wait on the slow path."
)
MESSAGES = Sentence(
    "Redundancy helps if there is spare capacity. Messages of 1 Mbit/s over a link that loses 1 % of its packets "
    "arrive {sooner!n} % sooner at the 99th percentile."
)
MESSAGES_BULK = Sentence(
    "Redundancy changes the goodput of bulk by {bulk!n} %, because a copy is sent only when there is no other data. On "
    "a shared link, other users would pay for the copies."
)
STUCK = Sentence(
    "A bulk transfer with OLIA and a receive buffer of 512 KiB, over {network} with the longest queues, has "
    "{goodput!n} Mbit/s with smallest-delay and {first!n} Mbit/s with {default}."
)
STUCK_WHY = Sentence(
    "A scheduler that follows the smallest delay can stay on the wrong path. The smoothed round-trip time of LTE is "
    "that of its full queue, and no segment measures it again while all data use Wi-Fi. 3GPP lets hosts probe for this "
    "reason."
)
PAPER = Sentence("{agree!n} of {count!n} differences in the BLEST paper have the same sign here, beyond chance.")
PAPER_AGREE = Sentence("Differences in the BLEST paper that have the same sign here: {differences}.")
PAPER_DIFFER = Sentence(
    "Differences in the BLEST paper that have another sign here, or are not beyond chance here: {differences}."
)
PAPER_ONE = Phrase("{measure} of {scheduler} ({theirs!n} % in the paper, {here!n} % here)")
PAPER_WHY = Sentence(
    "The paper's default scheduler was that of the kernel of its time, with opportunistic retransmission and "
    "penalisation, and other users shared the links."
)

NOTES = (
    Sentence(
        "Delays are one way and vary by 1 %, so that seeds differ and no two paths run in step. All data are sent from "
        "the server to the client."
    ),
    Sentence(
        "Bulk: goodput over 20 s (quick form: 5 s); in the experiments of the BLEST paper over 60 s (quick form: 10 "
        "s). Web: one connection, 1 MiB in 54 objects that depend on the document (a page of the "
        "BLEST paper; the sizes of its objects are drawn). Messages: 1250 octets every 10 ms. Video: segments of 4 s "
        "in six qualities from 0.5 to 16 Mbit/s and a buffer of 12 s, so that the player alternates between fetching "
        "and pausing."
    ),
    Sentence(
        "The schedulers active-standby, priority and cheapest-path-first take the second path only if the first one "
        "cannot send. Cost, priority and weight of the paths are in the scenario files. The schedulers redundant, remp "
        "and duplicate send octets more than once, which takes capacity of the links; no other traffic uses the links "
        "here."
    ),
    Sentence(
        "The BLEST paper had background traffic and an emulated 3G link with a queue of 3750 packets. Expect the same "
        "direction and order, not the same digits."
    ),
)
