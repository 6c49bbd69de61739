"""Which lines of a Markdown page are prose, and whether they wrap; as a program, checks the pages it is given."""

import re
import sys
from pathlib import Path

WIDTH = 100


def prose(page: Path) -> list[tuple[int, str]]:
    """Return the numbered lines of a page without code blocks, and without inline code that holds a bracket."""
    lines, fence = [], None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        mark = re.match(r" *(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence or ""):
            fence = None
        elif fence is None:
            lines.append((number, line))
    return lines


def wraps(line: str) -> bool:
    """Whether a line keeps to the width, or is of a kind that cannot be wrapped."""
    return len(line) <= WIDTH or line.lstrip().startswith(("|", ">", "<!--")) or line.startswith("    ") or "](" in line


def wide(page: Path) -> list[str]:
    """Return place and length of each line of prose that is too long."""
    return [f"{page}:{number}: {len(line)} columns" for number, line in prose(page) if not wraps(line)]


if __name__ == "__main__":
    sys.exit("\n".join(line for name in sys.argv[1:] for line in wide(Path(name))) or 0)
