"""SECURITY.md: each promise names a test that exists and is run."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def rust_tests() -> set[str]:
    files = [
        *ROOT.glob("crates/stack/src/**/*.rs"),
        *ROOT.glob("crates/stack/tests/it/*.rs"),
        *ROOT.glob("fuzz/tests/*.rs"),
    ]
    attribute = r"#\[test\]\s*(?:#\[should_panic[^\]]*\]\s*)?fn (\w+)\("
    return {name for file in files for name in re.findall(attribute, file.read_text(encoding="utf-8"))}


def promises() -> list[tuple[str, list[str]]]:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    table = text.split("## What is promised")[1].split("## What is not promised")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    return [(row[0].strip(), re.findall(r"`(\w+)`", row[2])) for row in rows]


def test_each_promise_names_tests_that_exist() -> None:
    known = rust_tests()
    assert len(promises()) > 25
    for attack, names in promises():
        assert names, f"SECURITY.md: no test for: {attack}"
        for name in names:
            assert name in known, f"SECURITY.md: {attack}: there is no test {name}"


def test_each_test_of_an_attack_proves_a_promise() -> None:
    named = {name for _, names in promises() for name in names}
    for file in ROOT.glob("crates/stack/tests/it/attack_*.rs"):
        for name in re.findall(r"#\[test\]\s*fn (\w+)\(", file.read_text(encoding="utf-8")):
            assert name in named, f"SECURITY.md says nothing of {file.name}: {name}"
