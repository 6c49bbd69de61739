"""The Rust crates in layers, as docs/architecture.md has them: modules use those below, and long files are taken apart.

Only a module's own code counts. Its tests may use whatever they like.
"""

import re
import tomllib
from collections.abc import Hashable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
STACK = (
    "hold ranges seq shortcut time",
    "path sample scoreboard segment",
    "registry wire",
    "controller",
    "detector event judge reduction scheduler",
    "config",
    "tcp",
    "mptcp",
    "host",
    "testing",
)
"""Of the engine, from the lowest. Modules in one layer may use each other."""
CRATES = (
    "stack",
    "measures pcap",
    "capture wifi",
    "scenario",
    "sim",
    "packetdrill torture",
    "acceptance capi python",
)
"""The crates below crates/, from the lowest. Crates in one layer do not use each other."""
SIM = (
    "legacy",
    "sim",
    "legacy::session",
    "summary",
    "run",
)
"""Of the simulator, which knows the session of the 2011 model only as a `sim::session::Session`."""
SCENARIO = (
    "algorithms decimal error model_2011 nearest",
    "si syntax units",
    "application middlebox weather",
    "model",
    "words",
    "schema",
    "reader overrides",
    "algorithm boxes discipline memory properties trace wifi_high",
    "change config draw mtu synthetic vary wifi",
    "page video",
    "link legacy transfer",
    "topology generated presets measured",
    "path_manager route",
    "connection",
    "parse",
    "source",
    "json template warnings",
)
"""Modules of the crate `scenario`, from the lowest: messages, quantities, the description of a run,
the table of keys, a module for each table of a document, whole documents."""
LINES, BODY = 500, 60
Unit = TypeVar("Unit", bound=Hashable)
LONG = {"crates/python/src/lib.rs: run": "each argument of the Python function has a line"}


def own_code(text: str) -> str:
    """The file without comments and tests."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]


def leaves(tree: str) -> Iterator[str]:
    """The paths of a use tree: `a::{b, c::d}` names `a::b` and `a::c::d`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield head.strip()
        return
    part, depth = "", 1
    for c in rest:
        depth += {"{": 1, "}": -1}.get(c, 0)
        if depth == 0 or (c == "," and depth == 1):
            yield from (head.strip() + leaf for leaf in leaves(part) if part.strip())
            part = ""
            if depth == 0:
                return
        else:
            part += c


def used(text: str, module: list[str]) -> Iterator[list[str]]:
    """Paths within the crate that the code of `module` names."""
    for found in re.finditer(r"\b(?:crate|super)(?:::super)*::", text):
        rest = text[found.end() :]
        tree = re.match(r"[\w:]+(?:::\{)?|\{", rest)
        if tree is None:
            continue
        whole = rest if tree[0].endswith("{") else tree[0]
        up = found[0].count("super")
        base = module[: len(module) - up] if up else []
        for leaf in leaves(whole):
            yield base + [name for name in leaf.split("::") if name]


def shown(root: Path) -> dict[str, list[str]]:
    """What the crate's own file shows at its top, and where it comes from."""
    text = own_code((root / "lib.rs").read_text("utf-8"))
    trees = re.findall(r"^pub use ([^;]+);", text, re.MULTILINE)
    return {leaf.split("::")[-1]: leaf.split("::") for tree in trees for leaf in leaves(tree)}


def graph(root: Path, package: list[str], layers: tuple[str, ...]) -> dict[str, set[str]]:
    """Which units of `package` use which; `mod` is its own file."""
    names = shown(root)
    units = sorted((unit.split("::") for unit in " ".join(layers).split()), key=len, reverse=True)

    def unit(path: list[str]) -> str | None:
        path = names.get(path[0], path) if path else path
        if path[: len(package)] != package:
            return None
        within = path[len(package) :]
        return next(("::".join(u) for u in units if within[: len(u)] == u), "mod")

    found: dict[str, set[str]] = {}
    for file in sorted(root.joinpath(*package).rglob("*.rs")):
        module = list(file.relative_to(root).with_suffix("").parts)
        if "tests" in module or module == ["lib"]:
            continue
        if module[-1] == "mod":
            module.pop()
        own = unit(module)
        assert own is not None
        assert own != "mod" or module == package, f"{file} is in no layer"
        text = own_code(file.read_text("utf-8"))
        others = {unit(path) for path in used(text, module)} - {own, None}
        found.setdefault(own, set()).update(other for other in others if other)
    return found


def upward(found: dict[str, set[str]], layers: tuple[str, ...]) -> set[tuple[str, str]]:
    height = {unit: i for i, units in enumerate(layers) for unit in units.split()}
    top = len(layers)
    return {(a, b) for a, bs in found.items() for b in bs if height.get(b, top) > height.get(a, top)}


def circle(found: dict[str, set[str]]) -> set[str]:
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()


def test_a_use_tree_is_read_to_its_leaves() -> None:
    text = "use crate::{a::{B, c::D}, e};\nuse super::super::f::G;\nfn h() { super::i::j() }"
    paths = ["::".join(path) for path in used(text, ["x", "y"])]
    assert paths == ["a::B", "a::c::D", "e", "f::G", "x::i::j"]
    assert "tests_use" not in own_code("a();\n#[cfg(test)]\nmod tests {\n    tests_use();\n}\n")


def test_modules_of_the_engine_use_those_below() -> None:
    found = graph(ROOT / "crates/stack/src", [], STACK)
    assert found["mptcp"] >= {"tcp", "segment"}
    assert found["host"] >= {"mptcp", "wire"}
    assert shown(ROOT / "crates/stack/src")["Config"] == ["config", "Config"]
    assert upward(found, STACK) == set()
    assert circle(found) == set()


def test_crates_use_those_below() -> None:
    """Dependencies of tests and examples do not count."""
    found = {}
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        tables = tomllib.loads(manifest.read_text("utf-8"))
        names = {name.removeprefix("anabranch-") for name in tables["dependencies"] if name.startswith("anabranch-")}
        found[manifest.parent.name] = names
    assert found["stack"] == set()
    assert found["sim"] >= {"stack", "scenario", "measures", "wifi", "pcap"}
    height = {crate: i for i, crates in enumerate(CRATES) for crate in crates.split()}
    assert set(found) == set(height), "give each crate a layer"
    assert {(a, b) for a, bs in found.items() for b in bs if height[b] >= height[a]} == set()


def test_modules_of_the_simulator_use_those_below() -> None:
    found = graph(ROOT / "crates/sim/src", [], SIM)
    assert found["run"] >= {"sim"}
    assert not {unit for unit in found["sim"] if unit.startswith("legacy")}
    assert found["legacy::session"] >= {"sim", "legacy"}
    assert upward(found, SIM) == set()
    assert circle(found) == set()


def test_modules_of_a_scenario_use_those_below() -> None:
    found = graph(ROOT / "crates/scenario/src", [], SCENARIO)
    assert found["link"] >= {"change", "discipline"}
    assert upward(found, SCENARIO) == set()
    assert circle(found) == set()


def files(root: Path) -> dict[tuple[str, ...], Path]:
    """The files of a crate by the modules that they are, without tests."""
    found = {}
    for file in sorted(root.rglob("*.rs")):
        module = file.relative_to(root).with_suffix("").parts
        if "tests" not in module:
            found[module[:-1] if module[-1] in ("lib", "mod") else module] = file
    return found


def imports(root: Path) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Which files of a crate use which others, but for the modules around them and within them."""
    modules, names = files(root), shown(root)
    found = {}
    for module, file in modules.items():
        others = set()
        for path in used(own_code(file.read_text("utf-8")), list(module)):
            other = tuple(names.get(path[0], path) if path else path)
            while other and other not in modules:
                other = other[:-1]
            around = module[: len(other)] == other or other[: len(module)] == module
            if other and not around:
                others.add(other)
        found[module] = others
    return found


def knots(found: dict[Unit, set[Unit]]) -> set[frozenset[Unit]]:
    """The largest sets of units that all use each other, straight or by way of others."""
    reached: dict[Unit, set[Unit]] = {}
    for unit in found:
        seen: set[Unit] = set()
        waiting = [unit]
        while waiting:
            new = found.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        reached[unit] = seen
    return {frozenset(b for b in reached[a] if a in reached[b]) for a in found if a in reached[a]}


def test_files_do_not_use_each_other_in_circles() -> None:
    assert knots({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == {frozenset("abc")}
    found = {knot for crate in ROOT.glob("crates/*/src") for knot in knots(imports(crate))}
    assert found == set(), "a type or constant goes where both can use it"


def long_functions(text: str) -> Iterator[str]:
    """Those of more than `BODY` lines; rustfmt puts the last brace under the first letter."""
    for found in re.finditer(r"^( *)(?:pub(?:\([^)]*\))? )?(?:const )?fn (\w+)[^;{]*\{[^\n]*\n", text, re.MULTILINE):
        rest = text[found.start() :]
        last = re.search(rf"^{found[1]}\}}", rest, re.MULTILINE)
        if last is not None and rest[: last.start()].count("\n") + 1 > BODY:
            yield found[2]


def test_no_file_and_no_function_is_long() -> None:
    assert [*long_functions("fn a() {\n" + "    b();\n" * 59 + "}\n")] == ["a"]
    assert [*long_functions("fn a() {\n" + "    b();\n" * 58 + "}\n")] == []
    found = set()
    for file in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        text, name = file.read_text("utf-8"), file.relative_to(ROOT).as_posix()
        if len(text.splitlines()) > LINES:
            found.add(name)
        found |= {f"{name}: {function}" for function in long_functions(text)}
    assert found == set(LONG)


FIELDS = 24
READ_ONLY = {
    "Info": "figures of a subflow at a moment, for programs that look at it",
    "AckSample": "what one acknowledgement says, filled once and handed down",
}
"""Records of the engine with more fields than an object that changes may have. `Config`, too, is one: a
macro declares it."""


def structs(text: str) -> Iterator[tuple[str, int]]:
    """Name and number of fields of each struct."""
    for found in re.finditer(r"^(?:pub(?:\([^)]*\))? )?struct (\w+)[^;{(]*\{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        yield found[1], len(re.findall(r"^    (?:pub(?:\([^)]*\))? )?\w+:", found[2], re.MULTILINE))


def test_no_object_of_the_engine_has_many_fields() -> None:
    assert [*structs("struct A {\n    pub a: u8,\n    b: u8,\n}\nstruct B(u8);\n")] == [("A", 2)]
    found = [
        of for file in (ROOT / "crates/stack/src").rglob("*.rs") for of in structs(own_code(file.read_text("utf-8")))
    ]
    large = {name for name, fields in found if fields > FIELDS}
    assert large == set(READ_ONLY), "divide an object by what owns each part; see docs/architecture.md"


OWNERS = (
    [
        *("addresses", "distribution", "distribution/cork", "fallback", "fast_path", "liveness", "negotiation"),
        *("recv_stream", "send_stream", "timers"),
    ],
    ["recovery"],
)
"""The parts of a connection, and of a sender, whose fields nobody else may write."""


def test_the_fields_of_an_owner_are_private_and_it_knows_no_connection() -> None:
    for folder, names in zip(("crates/stack/src/mptcp", "crates/stack/src/tcp/sender"), OWNERS, strict=True):
        for name in names:
            text = own_code((ROOT / folder / f"{name}.rs").read_text("utf-8"))
            assert not re.search(r"\b(?:Connection|Sender|Subflow)\b", text), name
            if name != "recovery":  # its record of what is due has no rules
                assert not re.search(r"^    pub(?:\([^)]*\))? \w+:", text, re.MULTILINE), name


def test_a_module_names_what_it_uses() -> None:
    """Only tests take everything of the module above them."""
    found = set()
    for file in ROOT.glob("crates/*/src/**/*.rs"):
        if "tests" not in file.with_suffix("").parts:
            text = own_code(file.read_text("utf-8"))
            if re.search(r"^use super::\*;", text, re.MULTILINE):
                found.add(file.relative_to(ROOT).as_posix())
    assert found == set()


MPTCP = ROOT / "crates/stack/src/mptcp"
METHODS, FIELDS_OF_A_CONNECTION, OPEN_FIELDS_OF_PATHS = 80, 13, 5
"""How much is left in the hands of `Connection`, and how much of `Paths` others may write. These only fall."""


def methods_of(name: str, text: str) -> list[str]:
    """The methods of `impl NAME` blocks."""
    blocks = re.findall(rf"^impl {name} \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^    (?:pub(?:\([^)]*\))? )?(?:const )?fn (\w+)", "\n".join(blocks), re.MULTILINE)


def of_the_connection() -> str:
    files = [MPTCP / "connection.rs", *sorted((MPTCP / "connection").glob("*.rs"))]
    return "\n".join(own_code(file.read_text("utf-8")) for file in files if file.stem != "tests")


def test_a_connection_asks_its_parts() -> None:
    assert methods_of("A", "impl A {\n    pub fn b() {\n    }\n    fn c() {\n    }\n}\n") == ["b", "c"]
    text = of_the_connection()
    assert len(methods_of("Connection", text)) <= METHODS
    assert dict(structs(text))["Connection"] <= FIELDS_OF_A_CONNECTION
    paths = own_code((MPTCP / "paths.rs").read_text("utf-8"))
    assert len(re.findall(r"^    pub(?:\([^)]*\))? \w+:", paths, re.MULTILINE)) <= OPEN_FIELDS_OF_PATHS


def test_only_the_parts_end_short_paths() -> None:
    """Their methods take the `FastPath` that they invalidate, so that no caller can forget it."""
    assert not re.search(r"\.(?:invalidate|end_quiet)\(", of_the_connection())
    assert "fast.invalidate()" in (MPTCP / "negotiation.rs").read_text("utf-8")
