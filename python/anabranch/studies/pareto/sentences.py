"""Sentences of the report of the study `pareto`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

VERDICT = Sentence(
    "{least} is too aggressive to the TCP users at the shared access point; {most} is the least aggressive, and "
    "{middle} is between them. No controller leaves the TCP users all the capacity that the multipath users do not "
    "need."
)
SHARES = Sentence(
    "With as many multipath users as TCP users, and access points of equal rate for each user (C1 = C2), a TCP user "
    "keeps this part of its rate C2: {shares}. The fluid model gives {lia!n} % for LIA and {balia!n} % for BALIA; for "
    "OLIA it gives all but the probing traffic."
)
SHARE = Phrase("{share!n} % beside {controller}")
LIA = Sentence(
    "The equilibrium of LIA in the fluid model has a closed form. A TCP user's measured share differs from this "
    "equilibrium by {differences!n} points; the simulation has drop-tail queues and whole segments, and the model has "
    "a fluid."
)
BALIA = Sentence(
    "The equilibrium of BALIA in the fluid model follows from its increase and decrease. A TCP user's measured share "
    "differs from this equilibrium by {differences!n} points."
)
BALIA_BETWEEN = Sentence(
    "BALIA takes less than LIA, because it cuts the window of a slow path to a quarter, and more than OLIA."
)
OLIA = Sentence(
    "OLIA gives a TCP user {gains!n} % of its rate C2 more than LIA does. In the model, OLIA leaves the TCP users all "
    "but the probing traffic; the measured share differs from this by {differences!n} points. OLIA judges a path by "
    "the larger of what it carried since the last loss and between the last two losses. This amount varies by chance, "
    "and OLIA favours the shared path whenever the amount of that path was large."
)
PRICE = Sentence(
    "The multipath users pay for what OLIA leaves to the TCP users: with OLIA each has less than with LIA, by "
    "{losses!n} % of a TCP user's rate C2. Each still has more than its own access point alone would give."
)

NOTES = (
    Sentence(
        "The rate of a TCP user divided by C2 is taken to be the TCP users' part of what the shared access point "
        "carries. Capacity that the queues leave unused counts for no user."
    ),
    Sentence(
        "C2 is 5 Mbit/s, and the round-trip time without a queue is 80 ms on every path. Queues are drop-tail and hold "
        "one bandwidth-delay product; acknowledgements are not delayed. A probe is one segment per round trip without "
        "a queue."
    ),
    Sentence(
        "The fluid model has equal round-trip times and windows at rest, and all users see losses in proportion to "
        "their packets. The fixed point of BALIA is derived here and not taken from its paper. With equal loss rates "
        "it has another fixed point, at equal windows, that is not stable."
    ),
)
