"""The commented sweep file that ``anabranch new --sweep`` prints."""

TEXT = """\
# A sweep: one scenario with every combination of the values of its axes, each combination (cell) with the same seeds.
#
#   anabranch check FILE             cells, runs, and how long they will take
#   anabranch sweep FILE             a table, one line a cell; nothing is written
#   anabranch sweep FILE --out DIR   keeps every run, with figures and a report; repeated, the
#                                    command makes the missing runs

seeds = 5                              # 1 to 5; or a list, [1, 7]; or as many as a precision needs: "until 1 %"
# timeout = "60 s"                     # wall-clock time that a run may take; no limit if not given
# memory = "500 MB"                    # memory that the engine may use for a run; no limit if not given
# series = 200                         # keep the series over time of each run, at most at 200 times
# set = { "path.0.loss" = "1 %" }      # changes of the scenario in all cells

# What all cells have in common: here, or in a file: scenario = "base.toml". `anabranch new` prints every key.
[scenario]
duration = "5 min"                     # upper bound; a run ends when its transfers do

[scenario.transfer]
bytes = "5 MB"

[[scenario.path]]
rate = "10 Mbit/s"
delay = "10 ms"
delay_variation = "5 %"                # without chance in the scenario all seeds give the same run

[[scenario.path]]
rate = "5 Mbit/s"
delay = "40 ms"
delay_variation = "5 %"

[axes]
scheduler = ["min-rtt", "round-robin"] # short for connection.scheduler
"path.1.delay" = ["40 ms", "200 ms"]   # any key path of a scenario, in quotes
# "judge.t1" = [0.5, 1.0]              # a parameter of an algorithm (anabranch list --long)

[axes.buffer]                          # several changes under one name
small = { receive_buffer = "128 kB" }
large = { receive_buffer = "6 MB" }
"""
