"""How chips are named: by LLVM's names, by numbers, by products; what is said of a name that means less than it could.

The table itself has tests in test_tile_model.py.
"""

# ruff: noqa: F401, F811 - fixtures are imported

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import no_cache_on_disk, run_main, small

import mlir_gemm
from mlir_gemm.errors import TargetError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.tile_model.chips import CHIPS, chip_name, fuller, target

NAMES = {
    "h100": "sm_90a:h100sxm", "H200": "sm_90a", "a100": "sm_80", "L4": "sm_89:l4", "rtx4090": "sm_89",
    "RTX 4090": "sm_89", "v100": "sm_70", "t4": "sm_75", "90": "sm_90", "90a": "sm_90a", " SM_90A ": "sm_90a",
    "sm_120a": "sm_120a",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str):
    assert chip_name(name) == NAMES[name]
    assert target(name).chip == NAMES[name]


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("h10", "h100"),
        ("sm_9", "sm_90"),
        ("rtx490", "rtx4090"),
        ("sm_90f", "sm_90"),
        ("sm_89a", "sm_89"),
        ("91", "sm_90"),
    ],
)
def test_other_names_are_refused_with_what_is_near(name: str, close: str):
    with pytest.raises(TargetError, match=f"unknown chip '{name}'; did you mean '{close}.?'.*known chips: sm_70.*h100"):
        chip_name(name)


def test_every_chip_is_known_by_its_product():
    for name, row in CHIPS.items():
        own = f"{name}a" if f"{name}a" in CHIPS else name
        assert chip_name(row.name) == own


def test_code_of_a_chip_of_its_own_says_so(small: Path):
    assert "\n.target sm_100a\n" in (compile_module(small.read_text(), chip="sm_100a").ptx or "")


def test_python_takes_numbers_and_products():
    """Names of one chip find one entry of the cache."""
    text = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
    assert [mlir_gemm.compile(text, chip=chip).chip for chip in (90, "h200", "sm_90a")] == ["sm_90", "sm_90a", "sm_90a"]
    for chip in (9, True, 90.0, "pentium"):
        with pytest.raises(TargetError, match="unknown chip"):
            mlir_gemm.compile(text, chip=chip)  # type: ignore[arg-type]


def test_a_chip_that_has_more_under_another_name_is_told(small: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ("compile", small, "--emit", "import")
    status, _, err = run_main(capsys, *arguments, "--chip", "sm_90")
    note, *rest = err.splitlines()
    assert status == 0 and len(rest) == 1
    assert note.startswith("note: --chip sm_90: ") and note.endswith("sm_90a uses the whole chip")
    for chip in ("sm_80", "sm_90a", "h100"):
        assert run_main(capsys, *arguments, "--chip", chip)[2].startswith("wrote ")
    assert [name for name in CHIPS if fuller(name)] == ["sm_90"]
