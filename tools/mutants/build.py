"""Builds a copy of the repository with nearly all mutants compiled in, and its test programs."""

import hashlib
import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from crates import PROGRAMS, STACK, Crate
from schema import File, Schema

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODULE = b"\n#[doc(hidden)]\npub mod mutant;\n"
ENVIRONMENT = os.environ | {
    "RUSTFLAGS": "--cap-lints allow",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "2",
    "CARGO_PROFILE_DEV_DEBUG": "0",
}


def copy(tree: Path, but: Collection[str] = ()) -> None:
    """Copies the files of the repository, except those in `but`, to `tree`.

    Leaves unchanged files untouched, so that cargo builds incrementally.
    """
    told = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    names = {name for name in told.split("\0") if name and (ROOT / name).exists()}
    for name in names.difference(but):
        if (ROOT / name).is_file():
            write(tree / name, (ROOT / name).read_bytes())
        elif not (tree / name).exists():  # a link to a folder
            (tree / name).symlink_to((ROOT / name).readlink())
    # Delete sources that were renamed or removed in the repository since the last copy.
    for package in {name.split("/")[0] for name in names}:
        for place in (tree / package).rglob("*.rs"):
            if str(place.relative_to(tree)) not in names and place.name != "mutant.rs":
                place.unlink()


def write(place: Path, text: bytes) -> None:
    """Writes `text` to `place` only if it differs: cargo rebuilds every file with a newer time."""
    if not place.exists() or place.read_bytes() != text:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)


def quickly_built() -> None:
    """Turns compiler optimisation off for later builds.

    For --rfc, which runs only a few quick tests per mutant, optimised builds take longer than they
    save.
    """
    ENVIRONMENT["CARGO_PROFILE_DEV_OPT_LEVEL"] = "0"


def program(tree: Path, which: str) -> str | None:
    """Builds test program `which` (key of `crates.PROGRAMS`).

    Returns the path of the program, or None if it does not compile.
    """
    command = ["cargo", "test", "--offline", "--no-run", "--message-format", "json", *PROGRAMS[which]]
    done = subprocess.run(command, cwd=tree, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [t["executable"] for t in told if t.get("reason") == "compiler-artifact" and t.get("executable")]
    return found[-1] if done.returncode == 0 else None


def errors(tree: Path, which: str) -> list[dict]:
    """Returns the compiler's error messages (JSON) for test program `which`; [] if it compiles."""
    command = ["cargo", "check", "--offline", "--profile", "test", "--message-format", "json", *PROGRAMS[which]]
    done = subprocess.run(command, cwd=tree, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [t["message"] for t in told if t.get("reason") == "compiler-message" and t["message"]["level"] == "error"]
    if done.returncode != 0 and not found:
        raise SystemExit(done.stderr)
    return found


def blamed(message: dict, schemas: dict[str, Schema], mutants: list[dict]) -> set[int]:
    """Returns the numbers of the mutants that may have caused a compiler error, as few as possible.

    Returns an empty set if no mutant is near the places that the error names.
    """
    spans = sorted(message["spans"], key=lambda s: not s["is_primary"])
    for child in message["children"]:
        spans += child["spans"]
    const = re.search(r"cannot call non-const .*`(?:.*::)?(\w+)(?:::<.*>)?` in", message["message"])
    if const and "`mutant::" not in message["message"]:
        # `schema.py` removes `const` from functions to which it adds mutant switches. The compiler
        # then refuses calls of such a function in a `const` context: all mutants of the called
        # function are the cause. If `const` code itself calls a mutant switch, or no mutant's
        # function has this name, the spans below name the cause.
        name = lambda m: re.split("::|<", (m["function"] or {}).get("function_name", ""))[-1]  # noqa: E731
        named = {n for n, m in enumerate(mutants) if name(m) == const[1]}
        if named:
            return named
    # Blame the mutants of the innermost place that the error points at, else those of the function.
    for find in (Schema.blame, Schema.around):
        for span in spans:
            schema = schemas.get(span["file_name"])
            if schema and (found := find(schema, span["byte_start"])):
                return found
    return set()


def texts(tree: Path, root: str, mutants: list[dict], out: set[int]) -> dict[str, Schema]:
    """Writes the source files with all mutants except those in `out` to `tree`.

    Returns the `Schema` of each file by path. `root`: the crate's root module. `out`: numbers of
    mutants.
    """
    of = defaultdict(list, {root: []})
    for number, mutant in enumerate(mutants):
        of[mutant["file"]].append((number, mutant))
    schemas = {name: File((ROOT / name).read_bytes()).schema(numbered, out) for name, numbered in of.items()}
    for name, schema in schemas.items():
        write(tree / name, schema.text + (MODULE if name == root else b""))
    return schemas


def schema(
    tree: Path, mutants: list[dict], wanted: Collection[int], programs: Collection[str], crate: Crate = STACK
) -> set[int]:
    """Writes the mutants in `wanted` to `tree`, each behind a switch.

    Drops mutants that break the build until all `programs` (keys of `crates.PROGRAMS`) compile.
    `mutants`: mutants of `crate`. `wanted`: indices into `mutants`.

    Returns the numbers of the wanted mutants that have no switch. Saves the numbers of the dropped
    mutants in `left_out.json` beside `tree`. A later call starts from them if the sources, the
    wanted mutants and `schema.py` are unchanged.
    """
    copy(tree, {mutant["file"] for mutant in mutants} | {crate.root})
    write((tree / crate.root).with_name("mutant.rs"), (HERE / "switch.rs").read_bytes())
    record = tree.parent / "left_out.json"
    now = hashlib.sha256(
        (HERE / "schema.py").read_bytes() + repr([mutants[n]["name"] for n in sorted(wanted)]).encode()
    )
    for name in sorted({mutant["file"] for mutant in mutants}):
        now.update((ROOT / name).read_bytes())
    known = json.loads(record.read_text()) if record.exists() else {}
    out = set(known["out"]) if known.get("of") == now.hexdigest() else set(range(len(mutants))) - set(wanted)
    schemas = texts(tree, crate.root, mutants, out)
    while complaints := next(filter(None, (errors(tree, key) for key in programs)), []):
        new: set[int] = set()
        for message in complaints:
            found = blamed(message, schemas, mutants)
            if not found - out and not message["message"].startswith("aborting"):
                print(message["rendered"])
            new |= found
        print(f"{len(complaints)} compiler errors, {len(new - out)} more mutants left out", flush=True)
        if not new - out:
            raise SystemExit("no mutant explains the remaining compiler errors")
        out |= new
        schemas = texts(tree, crate.root, mutants, out)
    record.write_text(json.dumps({"of": now.hexdigest(), "out": sorted(out)}))
    placed = {n for s in schemas.values() for site in s.sites for n, _ in site.mutants}
    return set(wanted) - placed
