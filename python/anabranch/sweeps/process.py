"""A child process that makes the runs with algorithms in Python, for one thread of this process.

Each request carries the pickled code of the run's algorithms.
"""

from anabranch.execution.child import Child, ChildClosedError, ChildEndedError
from anabranch.sweeps.plan import Options, engine
from anabranch.sweeps.task import FAILED, Record, Stop, Task, machine, perform

_KILL_AFTER = 5.0
"""Seconds from the timeout of a run to the kill of its process. Most runs end by themselves before."""


class Process:
    """The child process of one thread. The first run starts the child."""

    def __init__(self) -> None:
        self._child = Child(f"{__name__}:answer")

    def perform(self, task: Task, options: Options) -> Record:
        """Make a run in the child process.

        If a run kills the child, or does not end in time, only this run fails.

        Raises
        ------
        Stop
            If `end` was called before the run ended.
        """
        limit = None if options.timeout is None else options.timeout + _KILL_AFTER
        try:
            record: Record = self._child.ask((task, options), limit)
        except ChildClosedError:
            raise Stop from None
        except ChildEndedError as ended:
            return _failed(task, options, ended)
        return record

    def end(self) -> None:
        """Kill the child; its run is lost. No further child is started."""
        self._child.end()


def answer(request: tuple[Task, Options]) -> Record:
    """Make a run in the child process."""
    return perform(*request)


def _failed(task: Task, options: Options, ended: ChildEndedError) -> Record:
    """The row of a run that ended its process."""
    if ended.late:
        why = f"timeout: the run did not end within {options.timeout:g} s; does an algorithm loop or sleep?"
    else:
        status = ended.status
        how = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
        why = f"worker: the process that made this run ended ({how}); too little memory?"
    return Record(task.key, task.scenario_sha256, task.seed, FAILED, why, str(engine()), machine(), "")
