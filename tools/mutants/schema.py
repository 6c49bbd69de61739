"""Puts all mutants of a source file into one text, each behind a switch (`switch.rs`).

The code that a mutant changes is found in the syntax tree. It is replaced with an expression that
asks at run time which of its mutants is on. Operands are evaluated once, so that the text does not
grow with the depth of nesting. Comments mark the text of each mutant, so that compiler errors can
be traced to mutants.

An operator is exchanged in the syntax tree: `a || b || c` becomes `(a || b) && c`. cargo-mutants
exchanges it in the text, which gives `a || b && c`.
"""

import re
from dataclasses import dataclass, field

import tree_sitter
import tree_sitter_rust

RUST = tree_sitter.Language(tree_sitter_rust.language())
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
MARK = re.compile(rb"/\*(<|>)(\d+)(s|m)\*/")
# Types of syntax node that each genre of mutants changes; []: exactly the mutant's span. If two
# sites have the same extent, the genre listed first is the outer one.
NODES = {
    "Rewrite": [],
    "Drop": [],
    "Negate": [],
    "Default": [],
    "Neighbour": [],
    "FnValue": ["function_item"],
    "StructField": ["field_initializer", "shorthand_field_initializer"],
    "MatchArm": ["match_arm"],
    "MatchArmGuard": [],
    "BinaryOperator": ["binary_expression", "compound_assignment_expr"],
    "UnaryOperator": ["unary_expression"],
}


@dataclass
class Site:
    """A piece of code that mutants change. `mutants`: number and replacement text of each."""

    genre: str
    node: tree_sitter.Node
    start: int
    end: int
    mutants: list[tuple[int, str]] = field(default_factory=list)

    def function(self) -> tree_sitter.Node | None:
        """Returns the function that contains the site; None for a site in a constant."""
        node = self.node
        while node and node.type != "function_item":
            node = node.parent
        return node


@dataclass
class Schema:
    """The text of a source file with all its mutants behind switches."""

    text: bytes
    sites: list[Site]

    def blame(self, at: int) -> set[int]:
        """Returns the numbers of the mutants of the innermost marked text around octet `at`.

        Within the replacement text of one mutant, returns only that mutant.
        """
        stack = []
        for mark in MARK.finditer(self.text):
            if mark.start() > at:
                break
            if mark[1] == b"<":
                stack.append((mark[3], int(mark[2])))
            elif mark.end() <= at:
                stack.pop()
        if not stack:
            return set()
        kind, number = stack[-1]
        if kind == b"m":
            return {number}
        return {n for site in self.sites if site.mutants[0][0] == number for n, _ in site.mutants}

    def around(self, at: int) -> set[int]:
        """Returns the numbers of all mutants in the functions around the line of octet `at`."""
        line = self.text[:at].count(b"\n")
        within = lambda node: node.start_point.row <= line <= node.end_point.row  # noqa: E731
        functions = [site.function() for site in self.sites]
        return {n for site, f in zip(self.sites, functions, strict=True) if f and within(f) for n, _ in site.mutants}


def offset(lines: list[bytes], place: dict) -> int:
    """Returns the octet offset of `place`: line and column from 1, the column in characters."""
    before = lines[place["line"] - 1].decode()[: place["column"] - 1]
    return sum(map(len, lines[: place["line"] - 1])) + len(before.encode())


def own(number: int, text: str) -> str:
    """Marks `text` with comments as the replacement text of mutant `number`."""
    return f"/*<{number}m*/ {text} /*>{number}m*/"


class File:
    """A source file with its syntax tree, in which the code of mutants is looked up."""

    def __init__(self, source: bytes):
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.tree = tree_sitter.Parser(RUST).parse(source)

    def place(self, mutant: dict) -> tuple[tree_sitter.Node, int, int] | None:
        """Returns the node that a mutant changes, and the octets where its text starts and ends.

        Returns None if the mutant cannot be put behind a switch.
        """
        start, end = (offset(self.lines, mutant["span"][key]) for key in ("start", "end"))
        if mutant["genre"] == "Rewrite" and not self.is_whole(start, end):
            return None
        if not NODES[mutant["genre"]]:
            return self.tree.root_node.descendant_for_byte_range(start, end), start, end
        node = self.tree.root_node.descendant_for_byte_range(start, start + 1)
        while node and node.type not in NODES[mutant["genre"]]:
            node = node.parent
        if not node:
            return None
        if mutant["genre"] == "MatchArm":
            pattern = node.child_by_field_name("pattern")
            guard = pattern.child_by_field_name("condition")
            return node, guard.start_byte if guard else pattern.end_byte, pattern.end_byte
        if mutant["genre"] == "FnValue":
            spot = node.child_by_field_name("body").start_byte + 1
            return node, spot, spot
        return node, node.start_byte, node.end_byte

    def is_whole(self, start: int, end: int) -> bool:
        """True if octets `start` to `end` are one expression, or whole statements of a block.

        Only such text can be put behind a switch.
        """
        first = self.tree.root_node.descendant_for_byte_range(start, start)
        last = self.tree.root_node.descendant_for_byte_range(end - 1, end - 1)
        while first.parent and first.parent.start_byte == start and first.parent.end_byte <= end:
            first = first.parent
        while last.parent and last.parent.end_byte == end and last.parent.start_byte >= start:
            last = last.parent
        if first.start_byte != start or last.end_byte != end or first.parent != last.parent:
            return False
        kind = first.parent.type if first.parent else ""
        value = first.is_named and not first.type.endswith(("initializer", "pattern"))
        return kind == "block" or (first == last and value)

    def schema(self, mutants: list[tuple[int, dict]], leave_out: set[int]) -> Schema:
        """Returns the file with all `mutants` (number and mutant) except those in `leave_out`."""
        sites: dict[tuple, Site] = {}
        for number, mutant in mutants:
            # Without a function, the mutant lies in a constant, which cannot have a switch.
            if number in leave_out or not mutant["function"] or (found := self.place(mutant)) is None:
                continue
            node, start, end = found
            site = sites.setdefault((start, end, mutant["genre"]), Site(mutant["genre"], node, start, end))
            site.mutants.append((number, mutant["replacement"]))
        order = sorted(sites.values(), key=lambda s: (s.start, -s.end, list(NODES).index(s.genre)))
        whole = Rendered(self.unconst(order), order).between(0, len(self.source))
        return Schema(whole.encode(), order)

    def unconst(self, sites: list[Site]) -> bytes:
        """Returns the source without the `const` of functions that contain a switch."""
        source = bytearray(self.source)
        for site in sites:
            node = site.node
            while node:
                if node.type == "function_item" and (m := re.match(rb"(pub(\([a-z]+\))? )?const ", node.text)):
                    source[node.start_byte + m.end() - 6 : node.start_byte + m.end()] = b" " * 6
                node = node.parent
        return bytes(source)


class Rendered:
    """Renders the source with each site replaced by its switch, outer sites first."""

    def __init__(self, source: bytes, sites: list[Site]):
        self.source, self.sites = source, sites

    def between(self, start: int, end: int, after: int = -1) -> str:
        """Returns the text from `start` to `end`; replaces sites with an index above `after`."""
        out, at = [], start
        for index, site in enumerate(self.sites):
            if index <= after or site.start < at or site.end > end or site.start < start:
                continue
            out.append(self.source[at : site.start].decode())
            first = site.mutants[0][0]
            out.append(f"/*<{first}s*/{self.emitted(index, site)}/*>{first}s*/")
            at = site.end
        return "".join(out) + self.source[at:end].decode()

    def emitted(self, index: int, site: Site) -> str:
        """Returns the switch expression or statement that replaces `site`."""
        node, first, count = site.node, site.mutants[0][0], site.mutants[-1][0] - site.mutants[0][0] + 1
        text = lambda n: self.between(n.start_byte, n.end_byte, index)  # noqa: E731
        at = f"crate::mutant::at({first}, {count})"
        match site.genre:
            case "Drop":
                return f"if {at} != 0 {{ {self.between(site.start, site.end, index)} }}"
            case "Rewrite" if self.source[site.end - 1 : site.end] in (b";", b"}"):
                old = self.between(site.start, site.end, index)
                return f"match {at} {{ {arms(site, '{{ {} }}')} _ => {{ {old} }} }}"
            case "Rewrite" | "Negate" | "Default" | "Neighbour":
                old = self.between(site.start, site.end, index)
                return f"(match {at} {{ {arms(site, '{}')} _ => {old} }})"
            case "FnValue":
                return f" match {at} {{ {arms(site, 'return {}')} _ => {{}} }} "
            case "MatchArm" if site.start == site.end:
                return f" if {at} != 0"
            case "MatchArm":
                return f"({self.between(site.start, site.end, index)}) && {at} != 0"
            case "MatchArmGuard":
                instead = ", ".join(own(n, new) for n, new in site.mutants)
                return f"crate::mutant::choose({first}, {self.between(site.start, site.end, index)}, [{instead}])"
            case "UnaryOperator":
                sign = node.children[0].text.decode()
                return (
                    f"(match {text(node.children[1])} {{ v => match {at} {{ 0 => {own(first, 'v')}, _ => {sign}v }} }})"
                )
            case "StructField":
                base = next(c for c in node.parent.children if c.type == "base_field_initializer").children[1]
                name = node.children[0].text.decode()
                old = own(first, f"({text(base)}).{name}")
                return f"{name}: (match {at} {{ 0 => {old}, _ => {text(node.children[-1])} }})"
        return operator(site, at, *(text(node.child_by_field_name(side)) for side in ("left", "right")))


def arms(site: Site, form: str) -> str:
    """Returns a match arm for each mutant of the site; `form` has `{}` for the replacement."""
    return "".join(f"{n - site.mutants[0][0]} => {own(n, form.format(new))}, " for n, new in site.mutants)


def operator(site: Site, at: str, left: str, right: str) -> str:
    """Returns the switch expression that replaces a binary operator or a compound assignment."""
    sign, first = site.node.child_by_field_name("operator").text.decode(), site.mutants[0][0]
    if site.node.type == "compound_assignment_expr":
        place = left.replace("{", "{{").replace("}", "}}")
        return f"(match {right} {{ r => match {at} {{ {arms(site, place + ' {} r')} _ => {left} {sign} r }} }})"
    if sign in COMPARISONS:
        new = dict(site.mutants)
        instead = ", ".join(own(n, f"*l {new.get(n, sign)} *r") for n in range(first, site.mutants[-1][0] + 1))
        chosen = f"crate::mutant::choose({first}, *l {sign} *r, [{instead}])"
        return f"(match (&({left}), &({right})) {{ (l, r) => {chosen} }})"
    if sign in ("&&", "||"):
        told = f"crate::mutant::told({first}, {right}, {str(sign == '&&').lower()})"
        asks = f"crate::mutant::asks({first}, l, {str(sign == '&&').lower()})"
        return f"(match {left} {{ l => if {asks} {{ {told} }} else {{ l }} }})"
    return f"(match ({left}, {right}) {{ (l, r) => match {at} {{ {arms(site, 'l {} r')} _ => l {sign} r }} }})"
