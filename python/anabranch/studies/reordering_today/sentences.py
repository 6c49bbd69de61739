"""Sentences of the report of the study `reordering-today`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

# The opening: conclusions of 2014, and today's detectors.

ALL_STAND = Sentence("All {total} conclusions of the papers of 2014 still hold: {claims}.")
NONE_STANDS = Sentence("No conclusion of the {total} of the papers of 2014 still holds: {claims}.")
SOME_STAND = Sentence(
    "Of {total} conclusions of the papers of 2014, {number} still {count:holds|hold} with a receiver that follows RFC "
    "8684: {claims}."
)
SOME_FALL = Sentence("{number} of the conclusions of the papers of 2014 {count:does|do} not hold: {claims}.")
CLAIM = Phrase("that {claim} ({numbers})")
TODAY = Sentence(
    "A detector that expects reordering does not need the four judges of 2014. At a displacement of one round trip, "
    "the best detector alone ({detector}) has {goodput!n} Mbit/s of {rate!n} Mbit/s, {than} RFC 6675 with the best of "
    "these judges. At two round trips the best detector ({second}) has {far!n} Mbit/s."
)
MORE_THAN = Phrase("more than")
LESS_THAN = Phrase("less than")
NOT_MORE_THAN = Phrase("not more than")

# Findings.

RACK = Sentence(
    "RACK-TLP works up to a displacement of one round trip: without a judge it has {near!n} Mbit/s at one round trip "
    "and {far!n} Mbit/s at {displacement!n} round trips. Its reordering window is never longer than the smoothed "
    "round-trip time (RFC 8985 6.2, step 4). This window grows by quarters of the minimum round-trip time, which is "
    "short if delays vary much."
)
RACK_JUDGE = Sentence(
    "Beyond a displacement of one round trip, a judge helps RACK-TLP as it helped the senders of 2014: {goodput!n} "
    "Mbit/s with {judge}. The detector reordering degree has no such limit: without a judge it has {degree!n} Mbit/s "
    "at all displacements."
)
NCR = Sentence(
    "NCR judges nearly every segment correctly, but its careful form is slow: {careful!n} Mbit/s at a displacement of "
    "a quarter of a round trip, and {aggressive!n} Mbit/s in the aggressive form. The careful form sends {needless} of "
    "its segments needlessly."
)
LITTLE = Phrase("less than 0.01 %")
NCR_WHY = Sentence(
    "In the trace, the window of NCR's careful form stays at ten segments without losses. When a hole fills, RFC 4653 "
    "3.3 limits the window to the data in flight, and slow start returns to the previous flight. The careful form "
    "sends one new segment for two that arrive, so the flight has shrunk by then. On a link that always reorders, the "
    "next hole appears before slow start ends, and the flight stays small. The RFC is about occasional reordering."
)
ESCAPE = Sentence(
    "The aggressive form of NCR with Eifel has {eifel!n} Mbit/s at {displacement!n} round trips, and {none!n} Mbit/s "
    "without Eifel. The goodput with Eifel at {displacement} round trips is {more} the goodput with Eifel at one round "
    "trip ({near!n} Mbit/s)."
)
ESCAPE_WHY = Sentence(
    "In the trace, the window of NCR's aggressive form does not grow between loss episodes: each hole that fills takes "
    "back the segment that a round trip has added (31 segments, 32, 31). An episode that is undone widens the window, "
    "from 14 to 26 segments at once. RFC 4015 restores the data in flight, including what extended limited transmit "
    "sent beyond the window. With a displacement within a round trip, episodes that are undone are rare."
)
EIFEL = Sentence(
    "Eifel is the best of the four judges, because it needs only one acknowledgement within the round trip of the "
    "episode. D-SACK comes a round trip later and needs a report for each retransmission of the episode."
)
EIFEL_NEEDLESS = Sentence(
    "Eifel repairs windows and prevents no needless retransmission. With RFC 6675 at one round trip, {needless!n} % of "
    "the segments are sent needlessly, and {none!n} % without Eifel. The reordering buffer is {held!n} kB instead of "
    "{before!n} kB. F-RTO judges timeouts, and these losses cause hardly any timeout."
)
DOOR = Sentence(
    "TCP-DOOR holds the window and the timer while packets are reported out of order. On a link that always reorders, "
    "this is the case in every round trip: the window stays at its size of the first report, ten segments in the run "
    "that was traced."
)
DOOR_LOSES = Sentence("At a displacement of one round trip, TCP-DOOR lowers the goodput from {goodputs}.")
DOOR_LOSS = Phrase("{before!n} to {after!n} Mbit/s ({detector})")
TWO = Sentence(
    "Two subflows have the sum of the goodputs of each, if the receiver acknowledges each subflow on its own. The "
    "displacement is one round trip here. RFC 6675 without a judge has {one!n} Mbit/s over one reordering link, "
    "{mixed!n} Mbit/s over this and a steady link, and {both!n} Mbit/s over two reordering links. RACK-TLP has "
    "{rack!n} Mbit/s over one reordering and one steady link, and {rack_both!n} Mbit/s over two reordering links."
)
TWO_WHY = Sentence(
    "The displacement of each link is repaired on its own subflow, and a subflow that collapses takes nothing from the "
    "other."
)
UNLIKE = Sentence(
    "Over steady links with different delays, the case of 2014, no judge changes the goodput of any detector by more "
    "than {most!n} % with the independent receiver. TCP-DOOR causes most of this difference: its TCP options take "
    "space in each packet."
)
UNLIKE_COUPLED = Sentence(
    "Under the coupled receiver, different delays do lower the goodput ({cost}). The four judges, as their own papers "
    "and RFCs define them, recover little of this loss ({gain})."
)
COUPLED = Sentence(
    "With the coupled receiver there are no SACK blocks, so RACK-TLP and NCR cannot be used. At a displacement of one "
    "round trip NewReno has {first!n} Mbit/s, and {learned!n} Mbit/s if its duplicate-ACK threshold grows by one with "
    "each D-SACK report."
)
COUPLED_COUNTER = Sentence(
    "On a link that reorders, raising the duplicate-ACK threshold by one with each D-SACK report would have helped the "
    "senders of 2014 more than any of their recoveries. With different delays it helps less: over two steady links "
    "whose one-way delays differ by one and by two round trips, NewReno has {plain!n} Mbit/s, and {counter!n} Mbit/s "
    "with this threshold."
)
COUPLED_STEADY = Sentence(
    "Without any displacement NewReno with the coupled receiver has {steady!n} Mbit/s. Its window overflows the queue "
    "in slow start and again every few seconds. Without SACK only one lost segment is repaired in each round trip. The "
    "retransmission timer often expires before all are repaired, and much is then sent again that had arrived."
)
STALLS = Sentence(
    "A delay spike reorders no packets, so no detector takes a delayed segment for lost. Only the retransmission timer "
    "can expire too early. A stall of {short} costs RFC 6675 "
    "{timeouts!n} retransmissions by timeout in a run, and RACK-TLP {rack!n} retransmissions. The tail loss probe of "
    "RACK-TLP is sent first and restarts the timer (RFC 8985 7.3)."
)
STALLS_LONG = Sentence(
    "In a stall of {longest} every timer expires, and a judge that recognises this helps. With RFC 6675 the goodput by "
    "judge is: {goodputs}. With RACK-TLP the goodput is {alone!n} Mbit/s without a judge and {eifel!n} Mbit/s with "
    "Eifel."
)
STALLS_FRTO = Sentence(
    "F-RTO, which was made for delay spikes, does not judge the second timeout of a stall (RFC 5682 2.1, step 1), but "
    "Eifel does. D-SACK and TCP-DOOR recognise almost no spurious timeout."
)
JUDGE_GOODPUT = Phrase("{judge} {goodput!n} Mbit/s")

NOTES = (
    Sentence(
        "Displacement: how much later than in its turn a packet may arrive, in round trips of the link without a "
        "queue. The one-way delay is drawn again for each packet, uniformly, from a span of that many round trips "
        "about the same mean, and packets overtake each other. The whole round trip is in the uplink; acknowledgements "
        "keep their order. At two round trips the shortest delay is zero."
    ),
    Sentence(
        "One controller, NewReno on each subflow (uncoupled), and one reduction, PRR, with the independent receiver. "
        "The coupled receiver has the profile classic, whose recovery is NewReno's. Each judge has the response of its "
        "own source. The reordering degree follows a quarter of the way (variant 3) with SACK. Without SACK, where the "
        "length of a reordering is not visible, it counts by one (variant 0)."
    ),
    Sentence(
        "Links of 10 Mbit/s and 40 ms with a queue of 34 packets (one round trip). Transfers last a set time and have "
        "unlimited buffers, so that memory is measured and limits nothing. The first slow start is included."
    ),
    Sentence(
        "A delay spike is a frame that a radio sends again and again while the rest waits behind it: the one-way delay "
        "rises for 20 ms, and no packet overtakes. The studies of SIMS 2014 and ICT 2016 have a radio link that also "
        "loses frames for good."
    ),
)
