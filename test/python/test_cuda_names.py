"""The CUDA bindings declare what the code uses of them as `cuda_names.txt` says, which holds for CUDA 12 and 13.

One version is installed here. `python test/python/test_cuda_names.py` prints the list of the installed one: for a new
name, or a new major version, run it with both (`pip install 'cuda-bindings==12.9.*'`) and see that they agree.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlir_gemm.runtime.dependent_launch import Configurations
from mlir_gemm.spec.launch import Step
from mlir_gemm.spec.tensor_map import DATA_TYPES, SWIZZLES

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).with_name("cuda_names.txt")
FOLDERS = ("runtime", "tools", "bench", "tuner")
CORE = (
    "Device.allocate", "Device.set_current", "Stream.from_handle", "ObjectCode.from_cubin",
    "ObjectCode.from_ptx", "ObjectCode.get_kernel", "Kernel.handle", "Buffer.handle",
    "utils.StridedMemoryView.from_buffer", "utils.StridedMemoryView.__dlpack__",
)  # fmt: skip
"""What the code uses of cuda.core."""

_NAME = re.compile(r"cu[A-Z]\w+|CU[a-z]\w+|CU_[A-Z]\w+|CUDA_ERROR_\w+|cuuint\d+_t")
_MOST_RETURNED = 3
"""As much of what a function returns is compared: cuStreamGetCaptureInfo returns more after it in some versions."""


def used() -> list[str]:
    """The names of the driver in the code: those of members after a dot, where their enumeration stands there too."""
    found = {f"CU_TENSOR_MAP_DATA_TYPE_{name}" for name in DATA_TYPES.values()} | set(SWIZZLES.values())
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and _NAME.fullmatch(node.attr):
                    owner = node.value.attr if isinstance(node.value, ast.Attribute) else ""
                    found.add(f"{owner}.{node.attr}" if _NAME.fullmatch(owner) else node.attr)
    return sorted(found)


def declarations() -> list[str]:
    """How the installed bindings declare these names, a line each."""
    driver: Any = importlib.import_module("cuda.bindings.driver")
    members = dict(_members(driver))
    return [members.get(name) or _declaration(driver, name) for name in used()]


def _members(driver: Any) -> Iterator[tuple[str, str]]:
    for kind, values in vars(driver).items():
        if isinstance(values, type) and issubclass(values, int):
            for name, value in getattr(values, "__members__", {}).items():
                yield name, f"{kind}.{name} = {int(value)}"
                yield f"{kind}.{name}", f"{kind}.{name} = {int(value)}"


def _declaration(driver: Any, name: str) -> str:
    found = getattr(driver, name, None)
    if found is None:
        return f"{name}: absent"
    if isinstance(found, type):
        return f"class {name}"
    returned = _returned(found.__doc__ or "")[:_MOST_RETURNED]
    return f"{name}({', '.join(inspect.signature(found).parameters)}) -> {', '.join(returned)}"


def _returned(documentation: str) -> list[str]:
    """The names of what a function returns, from the section of its documentation."""
    lines = [line.strip() for line in documentation.splitlines()]
    start = next((at for at in range(1, len(lines)) if lines[at - 1] == "Returns" and lines[at].startswith("--")), None)
    section = [] if start is None else list(itertools.takewhile(bool, lines[start + 1 :]))
    return [line.split(" : ")[0] for line in section if line == "CUresult" or re.match(r"\w+ : ", line)]


def test_the_bindings_declare_what_the_code_uses() -> None:
    pytest.importorskip("cuda.bindings")
    assert declarations() == RECORDED.read_text().splitlines()


@pytest.mark.parametrize("name", CORE)
def test_cuda_core_has_what_the_code_uses(name: str) -> None:
    found: Any = pytest.importorskip("cuda.core")
    for part in name.split("."):
        found = getattr(found, part)


def test_a_launch_that_overlaps_is_described_by_the_bindings() -> None:
    driver: Any = pytest.importorskip("cuda.bindings.driver")
    made = Configurations(driver, Step("main", (2, 3, 4), (128, 1, 1), (1, 1, 1), 1024, (), True))[7]
    assert (made.gridDimX, made.gridDimY, made.gridDimZ, made.blockDimX) == (2, 3, 4, 128)
    assert (made.sharedMemBytes, int(made.hStream), made.numAttrs) == (1024, 7, 1)
    assert made.attrs[0].value.programmaticStreamSerializationAllowed == 1


def test_the_dependencies_leave_room_for_pytorch_of_cuda_12_and_13() -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=;]", each)[0]: each for each in asked}
    assert "cuda-python" not in names and "cuda-core" in names
    assert ">=12.9" in names["cuda-bindings"] and "<14" in names["cuda-bindings"]


if __name__ == "__main__":
    print("\n".join(declarations()))
