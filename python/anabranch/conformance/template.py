"""Short files with an algorithm that runs: the examples of the base classes."""

import doctest
import inspect
import re
from importlib import import_module

_HEAD = '''"""A {kind}. Save this file as mine.py; then

    anabranch check-algorithm mine.py:{name}
    anabranch new > scenario.toml
    anabranch run scenario.toml --set connection.{kind}=mine.py:{name} --out mine
    anabranch run scenario.toml --out other
    anabranch compare mine other
    anabranch diagnose mine

All methods, and what each is given: python -c "import anabranch as ab; help(ab.{base})"
"""

import anabranch as ab


'''


def template(kind: str) -> str:
    r"""A file with an algorithm of a kind.

    >>> print(template("scheduler").partition("import anabranch as ab\n\n\n")[2])
    class Fastest(ab.Scheduler):
        def pick(self, offer):
            return offer.open()
    <BLANKLINE>
    """
    base = getattr(import_module(f"anabranch.algorithms.{kind}"), kind.capitalize())
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(base) or "")
    source = next(one.source for one in examples if one.source.startswith("class "))
    found = re.match(r"class (\w+)", source)
    assert found is not None
    return _HEAD.format(kind=kind, name=found[1], base=base.__name__) + source
