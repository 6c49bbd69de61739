"""The runs of a search, in an order that does not depend on the machine.

A search asks for runs in batches, and works out the next batch only from the results of the batches before. If the
number of runs is used up, the time is over, or Ctrl-C comes in the middle of a batch, the ledger keeps the longest
beginning of the batch of which every run is finished, and forgets the rest. So a search that was ended after N runs,
for whatever reason, knows exactly what a search with ``--runs N`` knows.
"""

import contextlib
import json
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from anabranch.execution.progress import State
from anabranch.recommendation.candidates import Candidate, measured
from anabranch.recommendation.paths import with_queues
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sweeps import threads
from anabranch.sweeps.comparable import CHOICE, TRACE
from anabranch.sweeps.plan import NO_LIMITS, Cell, plan
from anabranch.sweeps.repeats import fingerprint
from anabranch.sweeps.task import FAILED, REFUSED, Record, Task

RUNS, TIME, INTERRUPT = "runs", "time", "interrupt"
"""What may end a search early."""

Maker = Callable[[Iterator[Task], Callable[[list[Record]], None]], Generator[list[Record]]]


class Over(Exception):  # noqa: N818 - not an error
    """Ends a search; `Ledger.ended` says why."""


class Job(NamedTuple):
    """One run: which candidate, with which seed, over queues of how many times their size."""

    candidate: Candidate
    seed: int
    queues: float = 1.0


class Made(NamedTuple):
    """The result of a run.

    Attributes
    ----------
    measures : dict
        Values by field.
    trace : str
        Hash of the trace: two candidates with the same one for the same seed did the same.
    fingerprint : str
        Hash of all that was measured: two seeds with the same one are the same run.
    choice : float or None
        Share of the segments for which more than one subflow could send.
    """

    measures: dict[str, float]
    trace: str
    fingerprint: str
    choice: float | None


@dataclass
class Ledger:
    """The runs of a search.

    Attributes
    ----------
    scenario : Scenario
        The paths and the transfer.
    names : tuple of str
        Names of the paths.
    most : int, optional
        How many runs may be made; no limit if None.
    until : float
        When to end, on the monotonic clock.
    progress : callable, optional
        Called about ten times a second with the number of the batch, its candidates, and how far it is.
    runs : dict
        Results by job.
    failed : dict
        By candidate and how many times their size the queues have: why a run failed, or the scenario is not valid.
    count : int
        Number of runs made; equal scenarios are run once.
    batches : int
        Number of batches begun.
    ended : str
        Why the search ended early; empty if it did not.
    """

    scenario: Scenario
    names: tuple[str, ...]
    most: int | None = None
    until: float = math.inf
    progress: Callable[[int, int, State], None] | None = None
    make_runs: "Maker | None" = None
    runs: dict[Job, Made] = field(default_factory=dict)
    failed: dict[tuple[Candidate, float], str] = field(default_factory=dict)
    count: int = 0
    batches: int = 0
    ended: str = ""
    _cells: dict[tuple[Candidate, float], Cell] = field(default_factory=dict)
    _known: dict[tuple[str, int], Record] = field(default_factory=dict)

    def make(self, jobs: Sequence[Job]) -> None:
        """Make the runs that are missing.

        Raises
        ------
        Over
            If not all of them could be made.
        """
        wanted = [job for job in dict.fromkeys(jobs) if job not in self.runs and self._valid(job)]
        keys = {job: (self._cells[job.candidate, job.queues].sha256, job.seed) for job in wanted}
        todo = [key for key in dict.fromkeys(keys.values()) if key not in self._known]
        affordable = todo if self.most is None else todo[: max(0, self.most - self.count)]
        done: dict[tuple[str, int], Record] = {}
        if todo and time.monotonic() > self.until:
            self.ended = TIME
            raise Over
        if affordable:
            self.batches += 1
            cells = {keys[job]: self._cells[job.candidate, job.queues] for job in wanted}
            tasks = [Task.of(cells[key], key[1]) for key in affordable]
            done = self._perform(tasks, len({job.candidate for job in wanted}))
        for key in todo:
            if key not in done:
                self.ended = self.ended or RUNS
                break
            self._known[key] = done[key]
            self.count += 1
        for job in wanted:
            if keys[job] not in self._known:
                break
            self._note(job, self._known[keys[job]])
        if self.ended:
            raise Over

    def interrupt(self) -> None:
        """Note that Ctrl-C ended the search between two batches."""
        self.ended = INTERRUPT

    def _perform(self, tasks: Sequence[Task], candidates: int) -> dict[tuple[str, int], Record]:
        """Make runs until all are made, the time is over, or Ctrl-C."""
        done: dict[tuple[str, int], Record] = {}
        start = time.monotonic()
        try:
            with contextlib.closing(self._records(iter(tasks))) as making:
                for records in making:
                    done |= {(record.scenario_sha256, record.seed): record for record in records}
                    now = time.monotonic()
                    if self.progress is not None:
                        left = max(self.until - now, 0.0)
                        self.progress(
                            self.batches, candidates, State(len(tasks), 0, len(done), 0, now - start, most=left)
                        )
                    if now > self.until and len(done) < len(tasks):
                        self.ended = TIME
                        break
        except KeyboardInterrupt:
            self.ended = INTERRUPT
        return done

    def _records(self, tasks: Iterator[Task]) -> Generator[list[Record]]:
        if self.make_runs is not None:
            return self.make_runs(tasks, lambda _: None)
        return threads.records(tasks, NO_LIMITS, threads.cores(), lambda _: None)

    def _valid(self, job: Job) -> bool:
        """Whether the candidate makes a valid scenario; its first fault is noted."""
        place = job.candidate, job.queues
        if place in self.failed:
            return False
        if place not in self._cells:
            base = self.scenario if job.queues == 1 else with_queues(self.scenario, job.queues)
            try:
                (self._cells[place],) = plan(base.set(job.candidate.changes(self.names)), {}, 1).cells
            except ScenarioError as error:
                self.failed[place] = str(error)
                return False
        return True

    def _note(self, job: Job, record: Record) -> None:
        if record.status in {REFUSED, FAILED}:
            self.failed[job.candidate, job.queues] = record.error
            return
        summary = json.loads(record.summary)
        self.runs[job] = Made(measured(summary), summary[TRACE], fingerprint(record), summary.get(CHOICE))

    def of(self, candidate: Candidate, seeds: Sequence[int], queues: float = 1.0) -> list[Made]:
        """Return the results of a candidate with these seeds, as far as they are there."""
        jobs = (Job(candidate, seed, queues) for seed in seeds)
        return [self.runs[job] for job in jobs if job in self.runs and (candidate, queues) not in self.failed]
