"""`check-algorithm`: whether an algorithm written in Python does what the engine relies on."""

import click

from anabranch.cli.group import EXIT_FAILED, cli
from anabranch.execution import interrupt
from anabranch.execution.progress import Line
from anabranch.sentences import tools as say


@cli.command(name="check-algorithm")
@click.argument("algorithm", metavar="FILE.py:CLASS")
@click.option("--quiet", is_flag=True, help="Print no progress line.")
def check_algorithm(algorithm: str, quiet: bool) -> int:
    """Check an algorithm that is written in Python.

    The algorithm is a scheduler, controller, detector, reduction or judge. Runs the engine's conformance suite with
    random input. Of twenty scenarios, runs each that accepts the algorithm twice. Prints each fault, and each call that
    can make runs differ: of the clock, of the module random, or of a function of the platform's math library.
    """
    from anabranch.conformance.check import check

    with interrupt.raising(), Line() as line:
        shown = None if quiet or not line.stream.isatty() else line

        def progress(done: int, total: int) -> None:
            if shown is not None:
                shown.show(lambda _: say.SCENARIOS_DONE(number=done, total=total))

        report = check(algorithm, progress)
    for fault in report.faults:
        click.echo(fault)
    if report.refused:
        click.echo(say.SCENARIOS_REFUSED(count=len(report.refused), names=", ".join(report.refused), kind=report.kind))
    if report.faults:
        click.echo(say.FAULTS(name=report.name, count=len(report.faults), runs=len(report.runs)))
        return EXIT_FAILED
    click.echo(say.NO_FAULT(name=report.name, runs=len(report.runs)))
    return 0
