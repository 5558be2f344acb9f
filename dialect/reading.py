"""The reading form of IR: what MLIR prints, with the operations of the `tile` dialect in a short form. For people only.

    "tile.copy"(%alloc, %arg0, %0, %1) {in_bounds = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 1, 2>}
        : (memref<128x64xf16, 3>, memref<4096x4096xf16>, index, index) -> ()

reads `tile.copy %a[%0, %1] -> %alloc : 128x64xf16`. Constants of integers stand where they are used, arguments have the
names of the source, a loop says what it walks in its first line, and long attributes are `...`.

It works line by line on text, so that a line of the result can be traced to the operation that MLIR printed there.
MLIR does not parse the result, and `parse_module` says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MARK = "// Reading form: not to be parsed. `--emit` writes the IR itself."
"""The first line of every such text."""

_VALUE = re.compile(r"%[\w$.-]+")
_TILE = re.compile(r'^(?P<results>%[^=]+ = )?"tile\.(?P<name>\w+)"\((?P<operands>[^)]*)\)(?P<rest>.*)$')
_CONSTANT = re.compile(r"^(%[\w$.-]+) = (?:arith\.constant|llvm\.mlir\.constant\()\s*\(?(-?\d+|true|false)\b\)?[^<]*$")
_APPLY = re.compile(r"^(%\S+ = )affine\.apply affine_map<\(([^)]*)\)(?:\[([^]]*)\])? -> \((.*)\)>\(([^)]*)\)(.*)$")
_SUBVIEW = re.compile(
    r"memref\.subview (%[\w$.-]+)\[([^]]*)\] \[[^]]*\] \[(?:1(?:, 1)*)\] : (?:memref<.*> )?to (memref<.*>)"
)
_ARGUMENT = re.compile(r'(%arg\d+): [^%]*?\{[^}]*tile\.name = "([A-Za-z_]\w*)"')
_SOURCE_NAME = re.compile(r'tile\.name = "[^"]*"(, )?')
_ALLOC = re.compile(r'memref\.alloc\(\) (?:\{tile\.layout = "(\w+)"\} )?: memref<([\w?]+), 3>')
_LONG = ("tile.problem", "tile.schedule", "tile.reference", "tile.rows")
_LOOP = re.compile(r'^\s*\} \{(?:.*, )?tile\.loop = "(\w+)"')

_MOVES = {
    "load": "{memory}[{offsets}]",
    "store": "{value} -> {memory}[{offsets}]",
    "copy": "{source}[{offsets}] -> {target}",
    "copy_async": "{source}[{offsets}] -> {target}",
    "tma_load": "{source}[{offsets}] -> {target}, {barriers}[{slot}]",
    "tma_store": "{value} -> {memory}[{offsets}], through {staging}",
    "unaligned_store": "{value} -> {memory}[{offsets}], through {staging}",
}
"""How operations that move a tile are written."""
_OPERANDS = {
    "load": ("memory",),
    "store": ("value", "memory"),
    "copy": ("target", "source"),
    "copy_async": ("target", "source"),
    "tma_load": ("target", "source", "barriers", "slot"),
    "tma_store": ("value", "memory", "staging"),
    "unaligned_store": ("value", "memory", "staging"),
}
"""The names of their operands; all others are offsets."""
_AT_A_SLOT = ("producer_acquire", "consumer_wait", "consumer_release")
"""Operations on one stage of a ring: barriers, slot, and perhaps a phase."""


def reading(text: str) -> str:
    """The reading form of a module's text, with the mark that says so in its first line."""
    return "\n".join([MARK, *(line for line in lines(text.splitlines()) if line is not None)]) + "\n"


def lines(printed: Sequence[str]) -> list[str | None]:
    """The reading form of each line of a module's text; None for those that it leaves out."""
    maps = dict(line.split(" = ", 1) for line in printed if line.startswith("#map"))
    form = _Form(_loops(printed), maps)
    return [form.line(number, line) for number, line in enumerate(printed)]


@dataclass
class _Form:
    """What is known of the names at a line."""

    loops: dict[int, str]
    """What loops walk, by the number of their first line."""
    maps: dict[str, str]
    """Affine maps by the names that stand for them."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """What stands in place of a value."""

    def line(self, number: int, line: str) -> str | None:
        indent = line[: len(line) - len(line.lstrip())]
        bare = line[len(indent) :]
        if bare.startswith(("#map", "#set", "#loc")):
            return None
        if "func" in bare and " @" in bare and bare.endswith("{"):
            self.names = {}
            self.names.update({name: f"%{source}" for name, source in _ARGUMENT.findall(bare)})
            return indent + self._named(
                _without_long(_SOURCE_NAME.sub("", bare)).replace(" {},", ",").replace(" {})", ")")
            )
        constant = _CONSTANT.match(bare) if "constant" in bare else None
        if constant and _is_small(bare):
            self.names[constant[1]] = constant[2]
            return None
        for name in _VALUE.findall(bare.partition(" = ")[0]) if bare.startswith("%") else ():
            self.names.pop(name, None)  # a name that is used again, in another region
        if "affine.apply #" in bare:
            bare = re.sub(r"#map\d*", lambda found: self.maps.get(found[0], found[0]), bare)
        named = self._named(bare)
        written = _tile(named) or _apply(named) or self._plain(named)
        if number in self.loops:
            written = f"{written}  // {self.loops[number]}"
        return indent + written

    def _plain(self, bare: str) -> str:
        bare = _without_long(bare)
        if bare.startswith("}"):
            bare = re.sub(r'(, )?tile\.loop = "\w+"', "", bare).replace(" {}", "")
            bare = _closing(bare)
        if "memref.alloc" in bare:
            bare = _ALLOC.sub(lambda found: f"memref.alloc() : shared {found[2]}{_in_words(found[1])}", bare)
        if "memref.subview" in bare:
            bare = _SUBVIEW.sub(lambda found: f"{found[1]}[{_leading(found[2])}] : {_shape(found[3])}", bare)
        return bare

    def _named(self, text: str) -> str:
        return _VALUE.sub(lambda found: self.names.get(found[0], found[0]), text)


def _in_words(layout: str | None) -> str:
    return f" {layout}" if layout else ""


def _leading(indices: str) -> str:
    """Indices without the zeros at their end."""
    return re.sub(r"(, 0)+$", "", indices)


def _is_small(bare: str) -> bool:
    """Whether a constant is a number, not a vector of them."""
    return "dense" not in bare and "vector<" not in bare


def _loops(printed: Iterable[str]) -> dict[int, str]:
    """What loops walk, by the number of their first line: the attribute stands at the end of their last one."""
    found: dict[int, str] = {}
    open_at: dict[int, int] = {}
    for number, line in enumerate(printed):
        depth = len(line) - len(line.lstrip())
        walks = _LOOP.match(line)
        if walks and depth in open_at:
            found[open_at[depth]] = walks[1]
        if line.endswith("{"):
            open_at[depth] = number
    return found


def _without_long(line: str) -> str:
    """A line with `...` for the attributes that take hundreds of characters."""
    if "tile." not in line:
        return line
    for name in _LONG:
        start = line.find(f"{name} = ")
        if start >= 0:
            start += len(name) + 3
            line = f"{line[:start]}...{line[_end_of_value(line, start) :]}"
    return line


def _end_of_value(line: str, start: int) -> int:
    """Where the attribute's value that begins at `start` ends."""
    depth, inside, position = 0, False, start
    while position < len(line):
        character = line[position]
        if inside:
            position += character == "\\"
            inside = character != '"'
        elif character == '"':
            inside = True
        elif character in "{[(<":
            depth += 1
        elif character in "}])" or (character == ">" and line[position - 1] != "-"):
            if depth == 0:
                return position
            depth -= 1
        elif character == "," and depth == 0:
            return position
        position += 1
    return position


def _closing(line: str) -> str:
    """The last line of an operation with regions in the generic form, without types and operand segment sizes."""
    if not line.startswith("})"):
        return line
    attributes, _ = _rest(line[2:])
    return "})" + _shown(attributes)


def _apply(line: str) -> str:
    """An affine.apply as the expression that it computes; empty for anything else."""
    found = _APPLY.match(line) if "affine.apply" in line else None
    if not found:
        return ""
    results, dims, symbols, expression, operands, rest = found.groups()
    symbol_values = re.match(r"\[([^]]*)\]", rest)
    given_values = f"{operands},{symbol_values[1] if symbol_values else ''}"
    values = [each.strip() for each in given_values.split(",") if each.strip()]
    names = [each.strip() for each in f"{dims},{symbols or ''}".split(",") if each.strip()]
    given = dict(zip(names, values, strict=False))
    return results + re.sub(r"\b[ds]\d+\b", lambda name: given.get(name[0], name[0]), expression)


def _tile(line: str) -> str:
    """An operation of the tile dialect in its short form; empty for anything else."""
    found = _TILE.match(line) if '"tile.' in line else None
    if not found:
        return ""
    name, operands = found["name"], [each for each in found["operands"].split(", ") if each]
    attributes, types = _rest(found["rest"])
    results = re.sub(r":\d+ = $", " = ", found["results"] or "")
    opens = " {" if found["rest"].rstrip().endswith("({") else ""
    return f"{results}tile.{name}{_spaced(_body(name, operands, attributes, types))}{_shown(attributes)}{opens}"


def _spaced(text: str) -> str:
    return f" {text}" if text else ""


def _body(name: str, operands: list[str], attributes: dict[str, str], types: list[str]) -> str:
    if name in _MOVES:
        known = _OPERANDS[name]
        given = dict(zip(known, operands, strict=False))
        moved = types[-1] if name == "load" else types[0]
        text = _MOVES[name].format(offsets=", ".join(operands[len(known) :]), **given)
        return f"{text} : {_shape(moved)}"
    if name == "mma" and len(operands) == 3:
        a, b, accumulator = operands
        orders = [attributes.pop(each, '""').strip('"') for each in "ab"]
        return f"{a}[{orders[0]}], {b}[{orders[1]}], {accumulator} : {_shape(types[-1])}"
    if name in _AT_A_SLOT:
        phase = f", phase {operands[2]}" if len(operands) > 2 else ""
        return f"{operands[0]}[{operands[1]}]{phase}"
    return ", ".join(operands)


def _rest(text: str) -> tuple[dict[str, str], list[str]]:
    """The attributes after an operation's operands, and the types of its operands and results."""
    text = re.sub(r"^ <\{(.*?)\}>", r" {\1}", text)
    attributes: dict[str, str] = {}
    if text.startswith(" {"):
        end = _end_of_value(text, 1 + 1)
        while text[end] == ",":
            end = _end_of_value(text, end + 1)
        for each in _parts(text[2:end]):
            key, _, value = each.partition(" = ")
            attributes[key] = value
        text = text[end + 1 :]
    for name in ("operandSegmentSizes", "resultSegmentSizes"):
        attributes.pop(name, None)
    _, _, signature = text.partition(" : ")
    given, _, results = signature.partition(") -> ")
    return attributes, [*_parts(given.lstrip("(")), *_parts(results.strip("()"))]


def _parts(text: str) -> list[str]:
    """What commas outside brackets divide."""
    found: list[str] = []
    start = 0
    while start < len(text):
        end = _end_of_value(text, start)
        end = end + 1 if end < len(text) and text[end] != "," else end
        found.append(text[start:end].strip())
        start = end + 1
    return [each for each in found if each]


def _shown(attributes: dict[str, str]) -> str:
    """Attributes, in the order in which they are printed."""
    if attributes.get("in_bounds", "").count("false") == 0 and "in_bounds" in attributes:
        attributes["in_bounds"] = ""
    words = [f"{name} = {_value(value)}" if value else name for name, value in attributes.items()]
    return f" {{{', '.join(words)}}}" if words else ""


def _value(text: str) -> str:
    array = re.fullmatch(r"array<\w+: (.*)>", text)
    return f"[{array[1]}]" if array else text.removesuffix(" : i64").strip('"')


def _shape(type_: str) -> str:
    """A memref's or a vector's shape and elements."""
    found = re.match(r"(?:memref|vector)<((?:[\d?]+x)*[\w!.<>]+?)[,>]", type_)
    return found[1] if found else type_
