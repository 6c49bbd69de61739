"""Sentences of the report of the study `simult-flows`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

IN_TIME = Sentence(
    "A transfer over two links takes no longer than the sum of their rates allows, in every case and in either "
    "direction: {ratios!n} times the expected time."
)
LATE = Sentence(
    "A transfer over two links takes no longer than the sum of their rates allows in {cases} cases. These take longer: "
    "{late}."
)
LATE_ONE = Phrase("{sender}, {direction}, {case} ({ratio!n} times the expected time)")
LONGEST = Sentence('The sender "{sender}" takes longest for {case}: {ratios!n} times the expected time.')

NOTES = (
    Sentence(
        "Rates, delays and directions are those of Linux's selftest; delays are one way. Expected is the time of 16 "
        "MiB at the sum of the rates, plus a tenth for headers and the first slow start. A segment of 1400 octets is a "
        "packet of about 1472 octets, a twentieth more."
    ),
    Sentence(
        "The senders are the profiles modern (min-rtt, coupled) and linux-6.1, at both ends. Queues hold 100 packets."
    ),
)
