"""Writes docs/reference.md: stages, passes, parts, fields, operations and attributes, from the code.

python docs/make/reference.py            # writes the page
python docs/make/reference.py --check    # says whether it is what the code says today
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mlir_gemm.dialect.tile import OTHER_FILES
from mlir_gemm.parts.described import description, file_of, kind_of
from mlir_gemm.parts.fields import AnyPart, field_of, owners
from mlir_gemm.parts.registry import layouts, mainloops, mmas, optional_parts, rasters
from mlir_gemm.parts.wording import shown_value
from mlir_gemm.pipeline.registry import about, describe
from mlir_gemm.spec.schedule import FIELDS, Schedule
from mlir_gemm.spec.stages import ALL_SLOTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference.md"
DIALECT = ("tile", *OTHER_FILES)
"""The files of the dialect that define operations."""
SHARED = {
    "PLACE": ("dims", "in_bounds"),
    "ALIGNED": ("aligned", "flat"),
    "SCOPE": ("scope",),
    "_SHARED": ("blocks", "cluster_group"),
    "WINDOWS": ("sizes", "strides", "shape", "low", "high"),
}
"""Attributes that several operations have, by the name under which their rules stand."""


def one_line(text: str | None) -> str:
    """Text for a cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


def documented(path: Path, name: str = "") -> Iterator[tuple[str, ast.expr | None, str]]:
    """The names that a module, or a class of it, gives values to or declares, with the docstrings after them."""
    body = ast.parse(path.read_text()).body
    if name:
        body = next(each for each in body if isinstance(each, ast.ClassDef) and each.name == name).body
    for each, after in zip(body, [*body[1:], None], strict=False):
        said = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            said = str(after.value.value)
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id, each.value, said
        elif isinstance(each, ast.Assign):
            targets = each.targets[0]
            values = targets.elts if isinstance(targets, ast.Tuple) else [targets]
            given = each.value.elts if isinstance(each.value, ast.Tuple) else [each.value]
            for target, value in zip(values, given, strict=False):
                yield ast.unparse(target), value, said


def stages() -> Iterator[str]:
    """The stages, their slots, and the passes that may run there."""
    yield "## Stages and passes\n"
    yield "A stage runs its slots in order. What every kernel has, and the parts of its schedule, put passes at slots."
    yield "`mlir-gemm opt FILE PASS` runs one alone; its options stand after its name with their defaults.\n"
    rows = describe()
    for stage, slots in ALL_SLOTS.items():
        yield f"### {stage}\n"
        if slots:
            yield f"Slots: {', '.join(f'`{slot}`' for slot in slots)}.\n"
        found = [(name, options) for at, name, options, _ in rows if at == stage]
        if not found:
            yield "No passes: LLVM makes PTX of the module.\n" if stage == "ptx" else ""
            continue
        yield "| pass | what it does | options |\n|---|---|---|"
        for name, options in found:
            path, said = about(name)
            yield f"| [`{name}`](../{path}) | {one_line(said)} | {' '.join(f'`{each}`' for each in options.split())} |"
        yield ""


def parts() -> Iterator[str]:
    """What kernels are made of."""
    yield "## Parts\n"
    yield "What a kernel is made of; the schedule names or implies them.\n"
    yield "| kind | part | what it is | fields of its own |\n|---|---|---|---|"
    every: list[AnyPart] = [
        *mmas().values(), *mainloops().values(), *layouts().values(), *rasters().values(), *optional_parts(),
    ]  # fmt: skip
    for part in every:
        fields = ", ".join(f"`{field.name}`" for field in part.fields)
        yield f"| {kind_of(part)} | [`{part.name}`](../{file_of(part)}) | {one_line(description(part))} | {fields} |"
    yield ""


def fields() -> Iterator[str]:
    """The fields of the schedule."""
    yield "## Fields of the schedule\n"
    yield "`--schedule NAME=VALUE,...` fixes some, and the model chooses the rest. A field of a part that a schedule"
    yield "does not have is refused; those without a part belong to every kernel. The [glossary](glossary.md) has the"
    yield "words of CUTLASS, Triton and PTX for them.\n"
    yield "| field | default | part | what it is |\n|---|---|---|---|"
    empty = Schedule()
    for name in FIELDS:
        value = empty.value(name)
        default = f"`{shown_value(value)}`" if value != "" else "the part's"
        owning = ", ".join(f"`{part.name}`" for part in owners(name))
        field = field_of(name)
        assert field is not None
        yield f"| `{name}` | {default} | {owning} | {one_line(field.help)} |"
    yield ""


def operations() -> Iterator[str]:
    """The operations of the dialect."""
    yield "## Operations of the tile dialect\n"
    yield "Reads beyond the bounds of a memory give zero, and writes beyond them are dropped. Attributes in brackets"
    yield "may be absent.\n"
    yield "| operation | operands | results | attributes | what it does |\n|---|---|---|---|---|"
    for file in DIALECT:
        tree = ast.parse((ROOT / f"dialect/{file}.py").read_text())
        for each in tree.body:
            if isinstance(each, ast.ClassDef) and any(
                ast.unparse(base).endswith("Tile.Operation") for base in each.bases
            ):
                yield _operation(each)
    yield ""


def _operation(cls: ast.ClassDef) -> str:
    name = next(
        keyword.value.value
        for keyword in cls.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    )
    found: dict[str, list[str]] = {"Operand": [], "Result": [], "Attr": [], "Region": []}
    for each in cls.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            written = ast.unparse(each.annotation)
            kind = next((kind for kind in found if kind in written), "")
            more = "..." if "Sequence" in written else ""
            if kind:
                found[kind].append(f"`{each.target.id}`{more}")
    required = {each.strip("`") for each in found["Attr"]}
    optional = [f"[`{each}`]" for each in _attributes(cls) if each not in required]
    operands = ", ".join([*found["Operand"], *(f"{each} (a region)" for each in found["Region"])])
    attributes = ", ".join([*found["Attr"], *optional])
    doc = one_line(ast.get_docstring(cls))
    return f"| `tile.{name}` | {operands} | {', '.join(found['Result'])} | {attributes} | {doc} |"


def _attributes(cls: ast.ClassDef) -> Iterator[str]:
    """The attributes that an operation's verifier knows."""
    for each in ast.walk(cls):
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "verifier":
            for keyword in each.keywords:
                if keyword.arg is not None:
                    yield keyword.arg
                elif isinstance(keyword.value, ast.Dict):
                    yield from (key.value for key in keyword.value.keys if isinstance(key, ast.Constant))
                else:
                    yield from SHARED[ast.unparse(keyword.value).split(".")[-1]]


def attributes() -> Iterator[str]:
    """The attributes in which decisions stand."""
    yield "## Attributes\n"
    yield "By these the passes tell each other what was decided: a file saved after any stage compiles on its own.\n"
    yield "| attribute | where it stands, and what it says |\n|---|---|"
    found: list[tuple[list[str], str]] = []
    for _, value, said in documented(ROOT / "spec/attributes.py"):
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and said:
            if found and found[-1][1] == said:
                found[-1][0].append(value.value)
            else:
                found.append(([value.value], said))
    for names, said in found:
        yield f"| {', '.join(f'`{name}`' for name in names)} | {one_line(said)} |"
    yield ""


def page() -> str:
    """The whole page."""
    head = (
        "# Reference\n\n"
        "<!-- Written by docs/make/reference.py from the code; a test checks that it is current. -->\n\n"
        "Stages and passes, parts, the schedule's fields, operations and attributes, as the code has them.\n"
    )
    text = "\n".join([head, *stages(), *parts(), *fields(), *operations(), *attributes()])
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def main() -> int:
    text = page()
    if "--check" in sys.argv:
        same = PAGE.exists() and PAGE.read_text() == text
        print(f"{PAGE.name} is {'current' if same else 'not what the code says: run docs/make/reference.py'}")
        return 0 if same else 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
