"""Results are the same on every machine: no floating-point function that a platform may round in its own way.

+, -, * and / and the comparisons are exactly rounded everywhere (IEEE 754-2019 5.4.1). What else the engine may call,
and whatever of the laboratory reaches the trace, is in `EXACT`, with the reason. Everything else comes from the crate
`libm`, which is Rust code and so the same everywhere, or is spelled out.
"""

import re
from pathlib import Path

from test_layers_rust import own_code

ROOT = Path(__file__).parents[1]

EXACT = {
    "sqrt": "correctly rounded: one of the operations of IEEE 754-2019 5.4.1",
    "floor ceil round trunc round_ties_even": "an integer that is a float, exactly: 5.3.1 and 5.9",
    "abs copysign signum": "the sign bit: 5.5.1",
    "fract": "the difference from `trunc`, which is exact",
    "min max clamp total_cmp": "a comparison",
    "recip": "a division",
    "rem_euclid div_euclid": "of integers exact; of floats `%`, which is exact (fmod), and a correctly rounded sum",
}

# Of f32 and f64 in Rust's library: "non-deterministic precision", or hardware's choice.
INEXACT = [
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "ln_gamma",
    "log",
    "log2",
    "log10",
    "powf",
    "powi",
    "cbrt",
    "hypot",
    "mul_add",
    "algebraic_add",
    "algebraic_mul",
    "algebraic_sub",
    "algebraic_div",
    "sin",
    "cos",
    "tan",
    "sin_cos",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "gamma",
    "erf",
    "erfc",
    "to_degrees",
    "to_radians",
]

# Where nothing reaches the trace, and why.
APART = {
    "crates/capture/src": "reads what others recorded: no trace",
    "crates/measures/src": "what is counted of a run, after the fact: summaries and frames, not the trace",
    "crates/sim/src/summary": "the same",
    "crates/sim/src/summary.rs": "the same",
    "crates/torture/src/expect": "what a run's figures are held against, after the fact",
}
# A file in such a place that does reach the trace.
RANDOM = "crates/measures/src/rng.rs"


def calls(text: str) -> set[str]:
    names = "|".join(INEXACT)
    # 2^n of integers is `.pow(n)`; `libm::exp` is what is wanted; `use libm::exp` makes it `exp(`.
    return {m[1] for m in re.finditer(rf"(?:\.|\bf(?:32|64)::)({names})\s*\(", text)}


def test_no_function_that_platforms_round_differently() -> None:
    files = [*ROOT.glob("crates/*/src/**/*.rs")]
    assert len(files) > 150
    wrong = []
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if name != RANDOM and any(name == place or name.startswith(f"{place}/") for place in APART):
            continue
        found = calls(own_code(file.read_text(encoding="utf-8")))
        wrong += [f"{name}: {call}: use libm, or spell it out" for call in sorted(found)]
    assert not wrong, "\n".join(wrong)


def test_the_engine_has_no_library_of_functions() -> None:
    manifest = (ROOT / "crates/stack/Cargo.toml").read_text(encoding="utf-8")
    assert "libm" not in manifest


def test_fused_and_fast_arithmetic_is_not_switched_on() -> None:
    for file in [*ROOT.glob("*/.cargo/config*"), *ROOT.glob(".cargo/config*"), ROOT / "Cargo.toml"]:
        text = file.read_text(encoding="utf-8")
        assert not [word for word in ("target-cpu", "target-feature", "fast-math") if word in text], file


def test_the_lint_finds_what_it_looks_for() -> None:
    assert calls("let x = y.powi(2) + f64::exp(z) + a.sqrt() + libm::exp(b) + n.pow(3) + c.floor();") == {"powi", "exp"}
    assert calls("x.mul_add(y, z) + f32::hypot(a, b)") == {"mul_add", "hypot"}
    assert not set(INEXACT) & {name for names in EXACT for name in names.split()}
