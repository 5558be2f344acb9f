"""Pages that are written from the code say what the code says today."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mlir_gemm.pipeline.registry import names
from mlir_gemm.spec import attributes
from mlir_gemm.spec.schedule import FIELDS
from mlir_gemm.spec.stages import STAGES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def script(name: str) -> ModuleType:
    """A script of docs/make."""
    spec = importlib.util.spec_from_file_location(f"make_{name}", DOCS / f"make/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["a_matmul", "reference"])
def test_is_current(name: str) -> None:
    module = script(name)
    assert module.PAGE.read_text() == module.page(), f"run python docs/make/{name}.py"


def test_reference_names_everything() -> None:
    text = (DOCS / "reference.md").read_text()
    wanted = [*names(), *STAGES, *FIELDS]
    wanted += [value for value in vars(attributes).values() if isinstance(value, str) and value.startswith("tile.")]
    code = "".join(path.read_text() for path in (ROOT / "dialect").glob("*.py"))
    operations = re.findall(r'\(Tile\.Operation, name="(\w+)"', code)
    wanted += [f"tile.{name}" for name in operations]
    assert len(operations) > 30
    assert [name for name in wanted if f"`{name}`" not in text and f"### {name}\n" not in text] == []


def test_a_matmul_goes_all_the_way() -> None:
    text = (DOCS / "a-matmul.md").read_text()
    for stage in STAGES:
        assert stage == "nvvm" or f"\n### {stage}" in text, stage
    for words in ("linalg.matmul", "tile.mma", "nvvm.wgmma.mma_async", "wgmma.mma_async.sync", "mma.sync.aligned"):
        assert words in text, words
