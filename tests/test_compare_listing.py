"""In Markdown, the difference of two scenarios is one block of code."""

import anabranch as ab
from anabranch.comparison import runs
from anabranch.tables import Document, Listed

TEXT = 'title = "{}"\nseed = {}\n[transfer]\nbytes = "10 kB"\n[[path]]\n'


def test_adjacent_lines_of_a_listing_share_a_block_of_code() -> None:
    document = Document(["a *b*", Listed("-x = 1"), Listed("+x = `2`"), "", "end"])
    assert document.written("markdown") == "a \\*b\\*\n\n```diff\n-x = 1\n+x = `2`\n```\n\nend"
    assert document.written("text") == document.text() == "a *b*\n-x = 1\n+x = `2`\n\nend"
    assert document.written("latex") == "% a *b*\n% -x = 1\n% +x = `2`\n% end"


def test_the_difference_of_two_scenarios_is_a_block_of_code() -> None:
    first, second = (ab.Scenario.from_toml(TEXT.format("a_b", seed)).run() for seed in (1, 2))
    text = runs.document(first, second, ("one", "two")).written("markdown")
    _, _, block = text.partition("```diff\n")
    assert block.splitlines()[:2] == ["--- one", "+++ two"]
    assert {"-seed = 1", "+seed = 2", "```"} <= set(block.splitlines())
    assert text.count("```") == 2
