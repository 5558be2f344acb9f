"""The examples in the documentation do what it says of them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import mlir_gemm
from mlir_gemm.parts.fields import owners
from mlir_gemm.parts.registry import mainloops
from mlir_gemm.pipeline.registry import names
from mlir_gemm.spec import former_names
from mlir_gemm.spec.schedule import FIELDS
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
OPERATIONS = re.findall(
    r'\(Tile\.Operation, name="(\w+)"', "".join(path.read_text() for path in (ROOT / "dialect").glob("*.py"))
)
PAGES = ("inputs.md", "inputs-forms.md", "inputs-loops.md", "inputs-refused.md")
INPUTS = "".join((DOCS / name).read_text() for name in PAGES)
EXAMPLES = re.findall(r"```mlir\n(// (kernels|refused): ([^\n]*)\n.*?)```", INPUTS, re.S)


def name_of(text: str) -> str:
    found = re.findall(r'func\.func @"?([\w-]+)', text)
    assert found
    return found[-1]


def test_every_module_in_inputs_says_what_becomes_of_it() -> None:
    assert len(EXAMPLES) == INPUTS.count("```mlir\n") >= 10


@pytest.mark.parametrize(("text", "what", "said"), EXAMPLES, ids=[name_of(text) for text, _, _ in EXAMPLES])
def test_example(
    text: str, what: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.mlir").write_text(text)
    if what == "refused":
        assert main(["compile", "in.mlir"]) == 1
        assert re.match(rf"in\.mlir:\d+:\d+: error: {re.escape(said)}", capfd.readouterr().err)
        return
    assert main(["run", "in.mlir", "--device", "simulator"]) == 0
    kernel = mlir_gemm.compile(text, device="simulator")
    assert [each.kind for each in kernel.kernels] == said.split(", ")


OF_THE_PIPELINE = ("pipeline", "stages", "stages-on-the-gpu", "special-kernels", "dialect", "schedule")
"""The pages that describe the pipeline between them."""
PIPELINE = "\n".join((DOCS / f"{name}.md").read_text() for name in OF_THE_PIPELINE)


def test_the_pages_name_every_pass_and_stage_and_field_and_operation() -> None:
    text = PIPELINE
    assert [name for name in FIELDS if f"`{name}`" not in text] == []
    assert len(OPERATIONS) > 30
    assert [name for name in OPERATIONS if f"`tile.{name}" not in text] == []
    assert [name for name in names() if f"`{name}`" not in text and f"`{name}{{" not in text] == []
    assert [stage for stage in STAGES if f"`{stage}`" not in text] == []


def test_schedule_md_says_which_parts_own_each_field() -> None:
    table = (DOCS / "schedule.md").read_text().partition("| field | default | of |")[2].partition("\n\n")[0]
    rows = [[re.findall(r"`(\w+)`", cell) for cell in line.split("|")[1:4]] for line in table.splitlines()[2:]]
    said = {field: (default, parts) for fields, default, parts in rows for field in fields}
    assert list(said) and set(said) == set(FIELDS)
    for name, (_, parts) in said.items():
        owning = sorted(part.name for part in owners(name))
        assert sorted(parts) == owning or (name == "stages" and owning == sorted(mainloops())), name


def test_architecture_md_shows_the_code_of_today() -> None:
    shown = re.findall(r"```python\n(.*?  # ([\w/.]+)\n.*?)```", (DOCS / "architecture.md").read_text(), re.S)
    assert shown
    for text, path in shown:
        assert text.replace(f"  # {path}", "") in (ROOT / path).read_text()


def test_glossary_has_every_field() -> None:
    text = (DOCS / "glossary.md").read_text()
    assert [name for name in FIELDS if f"`{name}`" not in text] == []
    assert [name for name in former_names.FIELDS if f"`{name}`" not in text] == []


def test_glossary_names_passes_and_operations_that_exist() -> None:
    rows = [line.split("|")[1] for line in (DOCS / "glossary.md").read_text().splitlines() if line.startswith("| ")]
    words = [word for row in rows for word in re.findall(r"`([^`]+)`", row)]
    passes = [word for word in words if "-" in word]
    assert len(passes) > 30 and [word for word in passes if word not in names()] == []
    operations = [word.removeprefix("tile.") for word in words if word.startswith("tile.")]
    assert len(operations) > 20 and [word for word in operations if word not in OPERATIONS] == []
    assert set(former_names.PASSES.values()) <= set(passes)
    assert {name.removeprefix("tile.") for name in former_names.OPERATIONS.values()} <= set(operations)


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda path: path.name)
def test_links_and_files_exist(document: Path) -> None:
    text = document.read_text()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert target.startswith("http") or (document.parent / target).exists(), target
    if document.parent.name == "history":
        return  # files may have gone since
    for path in re.findall(
        r"`((?:examples|docs|dialect|lowering|parts|passes|pipeline|spec|tile_model|simulator|runtime)/[\w./-]+)`", text
    ):
        assert (ROOT / path).exists(), path


COMMANDS = re.findall(r"```sh\nmlir-gemm compile (examples/[^`]*?) --emit STAGE", PIPELINE)
BEHIND = re.split(r"```sh\nmlir-gemm compile examples/[^`]*? --emit STAGE", PIPELINE)[1:]
"""What stands behind each command, up to the next: the excerpts of its stages."""
EXCERPTS = [
    (arguments, *excerpt)
    for arguments, text in zip(COMMANDS, BEHIND, strict=True)
    for excerpt in re.findall(r"```(?:mlir)?\n// after (\w+)\n(.*?)```", text, re.S)
]


def comparable(text: str) -> str:
    """Text without names of values, attributes that the documentation leaves out, and blanks."""
    text = re.sub(r"operandSegmentSizes = array<i32: [\d, ]*>", "", text)
    return re.sub(r"[\s,]|\{\}", "", re.sub(r"%\w+(#\d+)?", "%", text))


def test_every_stage_has_an_excerpt() -> None:
    assert len(COMMANDS) == 2
    plain, roles = ([stage for given, stage, _ in EXCERPTS if given == arguments] for arguments in COMMANDS)
    assert plain == [stage for stage in STAGES if stage != "describe"]
    assert roles == [stage for stage in STAGES if stage in roles]
    assert {"pipeline", "describe", "lower"} <= set(roles)


@pytest.mark.parametrize(
    ("arguments", "stage", "excerpt"), EXCERPTS, ids=[f"{stage}-{given.split()[-1]}" for given, stage, _ in EXCERPTS]
)
def test_excerpt(arguments: str, stage: str, excerpt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part of an excerpt between `...` stands in what the command writes, in this order."""
    monkeypatch.chdir(ROOT)
    output = tmp_path / "out"
    assert main(["compile", *shlex.split(arguments.replace("\\\n", "")), "--emit", stage, "-o", str(output)]) == 0
    found = comparable(output.read_text())
    parts = [comparable(part) for line in excerpt.splitlines() for part in line.split("...")]
    for part in filter(None, parts):
        _, shown, found = found.partition(part)
        assert shown == part
