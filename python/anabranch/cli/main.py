"""Running the command line, and what becomes of an error; what only an error needs is loaded only then."""

import contextlib
import os
import re
import sys
import traceback
from pathlib import Path

import click

from anabranch.cli.group import EXIT_BAD_INPUT, EXIT_FAILED, ReaderGoneError, cli

_NOT_UTF8 = re.compile("\\S*[\ud800-\udfff]\\S*")


def run_command(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        status = cli.main(arguments, prog_name="anabranch", standalone_mode=False, obj=list(arguments))
        sys.stdout.flush()
    except (ReaderGoneError, BrokenPipeError):
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit:
        raise
    except BaseException as error:
        if "--debug" in arguments:
            traceback.print_exc()
        from anabranch.sentences.escape import visible

        message, status = _explain(error)
        if status == EXIT_BAD_INPUT and not isinstance(error, click.UsageError) and _is_gone():
            message = "; ".join(filter(None, (message, "the working directory was deleted: change to one that exists")))
        click.echo(visible(message, keep="\n"), err=True)
    return status if isinstance(status, int) else 0


def _explain(error: BaseException) -> tuple[str, int]:
    """What to tell of `error`, in one to three lines, and the exit status."""
    from anabranch import _core
    from anabranch.cli.common import Interrupted
    from anabranch.execution import interrupt
    from anabranch.execution.optional_deps import ClusterError, MissingError, missing
    from anabranch.kernel import KernelError
    from anabranch.results.directory import FULL, ResultError, why
    from anabranch.traces.reading import TraceError

    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "anabranch"
            message = error.format_message()
            return f"{command}: {message[:1].lower()}{message[1:].rstrip('.')}\ntry: {command} --help", EXIT_BAD_INPUT
        case Interrupted():
            return error.format_message(), interrupt.status()
        case click.ClickException():
            return error.format_message(), error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return f"interrupted: {interrupt.NOTHING}", interrupt.status()
        case (
            _core.ScenarioError()
            | _core.CaptureError()
            | ResultError()
            | MissingError()
            | ClusterError()
            | KernelError()
            | TraceError()
        ):
            return str(error), EXIT_BAD_INPUT
        case ModuleNotFoundError() if not (error.name or "anabranch").startswith("anabranch"):
            return missing(error), EXIT_BAD_INPUT
        case UnicodeEncodeError() if found := _NOT_UTF8.search(error.object):
            return f"{found[0]}: not a name in UTF-8; give the file or folder another one", EXIT_BAD_INPUT
        case FileNotFoundError() if error.filename is None and _is_gone():
            return "", EXIT_BAD_INPUT
        case OSError() if error.filename is not None:
            return f"{error.filename}: {why(error)}", EXIT_BAD_INPUT
        case OSError() if error.errno in FULL:  # all files are named where they are written
            return "standard output: no space left", EXIT_BAD_INPUT
        case OSError():
            return str(error), EXIT_BAD_INPUT
        case _:
            return _of_a_run(error)


def _of_a_run(error: BaseException) -> tuple[str, int]:
    """As `_explain`, of what no user can mend, and of a run that this machine has no memory for."""
    from anabranch._core import AlgorithmError, RunError

    if isinstance(error, AlgorithmError):
        return _of_an_algorithm(error), EXIT_BAD_INPUT
    if isinstance(error, RunError) and str(error).startswith("memory:"):
        return str(error), EXIT_BAD_INPUT
    if isinstance(error, RunError) and str(error).startswith("timeout:"):
        return str(error), EXIT_FAILED
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "this is a fault of Anabranch; `--debug` shows where it happened",
        EXIT_FAILED,
    )


def _of_an_algorithm(error: BaseException) -> str:
    """The traceback of what an algorithm written in Python raised, and how to run up to there."""
    import traceback

    cause = error.__cause__
    lines = traceback.format_exception(cause) if cause is not None else []
    notes = getattr(error, "__notes__", ())
    return "\n".join(("".join(lines) + str(error), *notes))


def _is_gone() -> bool:
    """Returns True if the working directory does not exist any more."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False
