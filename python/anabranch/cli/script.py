"""`script`: conversations written down, run against the engine."""

import dataclasses
import json
import sys

import click

from anabranch import _core
from anabranch.cli.common import key_and_value
from anabranch.cli.group import EXIT_BAD_INPUT, EXIT_FAILED, Choice, cli


@cli.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--profile",
    type=Choice(_core.profiles()),
    default="modern",
    help="Profile that sets the defaults of the stack.  [default: modern]",
)
@click.option(
    "--tolerance",
    metavar="TIME",
    help='Allowed deviation of times, such as "1 ms".  [default: as the script says, else 0]',
)
@click.option("--over-mptcp", is_flag=True, help="Run TCP scripts over Multipath TCP with one subflow.")
@click.option(
    "-D",
    "--define",
    "defines",
    metavar="NAME=VALUE",
    multiple=True,
    help="Replace the word NAME in the scripts by VALUE. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with the outcomes of all scripts.")
@click.option("--quiet", is_flag=True, help="Print only scripts that did not pass.")
def script(
    files: tuple[str, ...],
    profile: str,
    tolerance: str | None,
    over_mptcp: bool,
    defines: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Run packetdrill scripts against the engine.

    Scripts run in virtual time. The exit status is 0 if all scripts pass, 1 if one fails or needs something that the
    engine lacks, and 2 if one is not a script.
    """
    from anabranch.packetdrill import script as scripts

    words = dict(key_and_value(define, "--define", "MSS=1460") for define in defines)
    outcomes = []
    for file in files:
        outcome = scripts.run(file, profile=profile, over_mptcp=over_mptcp, tolerance=tolerance, defines=words)
        outcomes.append(outcome)
        if not as_json and not (quiet and outcome.passed):
            click.echo(str(outcome))
    counts = scripts.summary(outcomes)
    if as_json:
        click.echo(json.dumps({"scripts": [dataclasses.asdict(o) for o in outcomes], "counts": counts}, indent=2))
    elif len(files) > 1 and not quiet:
        click.echo(", ".join(f"{n} {status}" for status, n in counts.items() if n or status == "passed"))
    sys.stdout.flush()
    if counts["invalid"]:
        return EXIT_BAD_INPUT
    return 0 if counts["passed"] + counts["passed with notes"] == len(files) else EXIT_FAILED
