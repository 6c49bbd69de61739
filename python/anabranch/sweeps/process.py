"""A process that makes the runs of algorithms written in Python, for one thread of this process.

The code of the algorithms comes with each run.
"""

from anabranch.execution.child import Child, ChildClosedError, ChildEndedError
from anabranch.sweeps.plan import Options, engine
from anabranch.sweeps.task import FAILED, Record, Stop, Task, machine, perform

_KILL_AFTER = 5.0
"""Seconds after the timeout of a run until its process is killed; the run may end before by itself."""


class Process:
    """The process of one thread; it is started when the first run is made."""

    def __init__(self) -> None:
        self._child = Child(f"{__name__}:answer")

    def perform(self, task: Task, options: Options) -> Record:
        """Make a run there. `Stop` if the process was ended meanwhile.

        A process that dies of a run, or does not come to an end with it, costs this run only.
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
        """Kill the process; what it makes is lost. No other one is started."""
        self._child.end()


def answer(request: tuple[Task, Options]) -> Record:
    """In the process: make a run."""
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
