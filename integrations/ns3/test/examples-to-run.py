# SPDX-License-Identifier: GPL-2.0-only
"""Examples that ns-3's test.py runs: command, run it, run it under valgrind."""

cpp_examples = [
    ("anabranch-two-links --bytes=2000000", "True", "False"),
    ("anabranch-failure", "True", "False"),
    ("anabranch-mixed --seconds=5", "True", "False"),
    ("anabranch-phone --seconds=2", "True", "False"),
]

python_examples = []
