"""Cooperative matrices: right in the simulator and on a device that has them, chosen, and refused by name."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draws import draws
from vulkan_products import Product, random_product

import mlir_gemm
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.mma import coop_matrix
from mlir_gemm.pipeline import spirv_words
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.runtime import vulkan_kernels, vulkan_matrices
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target

CHIPS = ("vulkan-h200", "rx-7900-xtx", "arc-a770", "arc-b580", "lavapipe-26")
NEWER = os.environ.get("MLIR_GEMM_NEWER_LAVAPIPE", "")
"""What runs a Python with a newer Mesa: what `test/newer_lavapipe.sh` made."""

PLAIN = Product(64, 64, 64, "f16")
BYTES = Product(40, 48, 72, "i8", (True, False), end="bias")
RAGGED = Product(33, 50, 41, "f16", (False, True), batch=2, end="bias")


@pytest.mark.parametrize("chip", ["vulkan-h200", "lavapipe-26"])
@pytest.mark.parametrize("case", [RAGGED, BYTES, Product(17, 16, 0, "f16")])
def test_is_right_in_the_simulator(chip: str, case: Product):
    _simulate(case, chip, {"mma": "coop_matrix"} if case.k else {})


@pytest.mark.parametrize("seed", range(draws(2)))
def test_random_products_are_right_in_the_simulator(seed: int):
    case = random_product(seed, ("f16", "i8"), largest=70)
    _simulate(dataclasses.replace(case, is_open=False), ("vulkan-h200", "lavapipe-26")[seed % 2])


def _simulate(case: Product, chip: str, schedule: dict[str, Any] | None = None) -> None:
    arrays = case.arrays(0)
    kernel = mlir_gemm.compile(case.text(), chip=chip, device="simulator", schedule=schedule)
    np.testing.assert_array_equal(kernel(*arrays), case.expected(arrays))


def test_the_model_chooses_it_where_the_row_has_it():
    text = Product(256, 256, 256, "f16").text()
    for chip in (*CHIPS, "vulkan"):
        (kernel,) = compile_module(text, chip=chip, until="select").kernels
        assert kernel.schedule is not None
        assert kernel.schedule.mma == ("simt" if chip == "vulkan" else "coop_matrix")


@pytest.mark.parametrize(
    ("changes", "problem", "expected"),
    [
        ({"promote": False}, {}, "expected promote=on"),
        ({"pad": 4}, {}, "must begin at multiples of 8"),
        ({"warp": (16, 16, 8)}, {}, "its n must be a multiple of 32; the nearest: 32"),
        ({}, {"a": "i8", "b": "i8", "acc": "i32", "unsigned": "a"}, "whose operands are both signed or not"),
    ],
)
def test_what_it_lacks_is_refused(changes: dict[str, Any], problem: dict[str, Any], expected: str):
    shapes = {"block": (32, 32, 32), "warp": (16, 32, 8), "instruction": (8, 8, 8), "pad": 8}
    schedule = Schedule.make({"mma": "coop_matrix", **shapes, **changes})
    chip, given = target("lavapipe-26"), Problem(64, 64, 64, **problem)
    rules = (*coop_matrix.PART.rules.problem, *coop_matrix.PART.rules.shape)
    assert any(expected in (rule(given, schedule, chip) or "") for rule in rules)


def test_a_chip_without_them_is_told_by_name():
    with pytest.raises(ScheduleError, match="coop_matrix"):
        compile_module(PLAIN.text(), chip="vulkan", schedule={"mma": "coop_matrix"})


@pytest.mark.parametrize(
    ("case", "expected"),
    [(PLAIN, "16x16x16 of f16 and f16 into f32"), (BYTES, "16x16x32 of i8 and i8 into i32")],
)
def test_what_a_module_multiplies_is_read_from_its_code(case: Product, expected: str):
    code = compile_module(case.text(), chip="vulkan-h200", schedule={"mma": "coop_matrix"}).emit("spv")
    assert isinstance(code, bytes)
    assert [str(each) for each in vulkan_matrices.products_of(code)] == [expected]
    assert vulkan_kernels.by_subgroups(code)
    assert spirv_words.version(code) == (1, 6)


@pytest.mark.skipif(not NEWER, reason="no newer lavapipe (test/newer_lavapipe.sh, MLIR_GEMM_NEWER_LAVAPIPE)")
def test_is_right_on_a_driver_that_has_them():
    """In a process of its own, which loads the newer driver. Random products, and what it lacks by name."""
    script = Path(__file__).with_name("vulkan_products.py")
    command = [NEWER, sys.executable, str(script)]
    done = subprocess.run([*command, "lavapipe-26", f"0:{draws(3)}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "coop_matrix" in done.stdout
    other = subprocess.run([*command, "vulkan-h200", "0:1"], capture_output=True, text=True)
    assert "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR has 8x8x8" in other.stdout + other.stderr
    assert "minSubgroupSize is 8" in other.stdout + other.stderr
