"""The pipeline as a whole: stages that can be resumed from, determinism, every chip, speed, legality."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from work_done import calls, modules_loaded

from mlir_gemm.dialect import tile
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.errors import PassError
from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import run_passes
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tile_model.chips import CHIPS

EXAMPLES = Path(__file__).parents[2] / "examples"

F16_RESULT = """
func.func @matmul(%A: memref<128x128xf16>, %B: memref<128x256xf16>, %C: memref<128x256xf16>) {
  linalg.matmul ins(%A, %B : memref<128x128xf16>, memref<128x256xf16>) outs(%C : memref<128x256xf16>)
  return
}
"""

BIAS = """
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @matmul(%A: tensor<128x128xf16>, %B: tensor<128x256xf16>, %C: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x256xf32>) -> tensor<128x256xf32>
  %AB = linalg.matmul ins(%A, %B : tensor<128x128xf16>, tensor<128x256xf16>)
                      outs(%init : tensor<128x256xf32>) -> tensor<128x256xf32>
  %D = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%AB, %C : tensor<128x256xf32>, tensor<128x256xf32>) outs(%empty : tensor<128x256xf32>) {
  ^bb0(%ab: f32, %c: f32, %out: f32):
    %sum = arith.addf %ab, %c : f32
    linalg.yield %sum : f32
  } -> tensor<128x256xf32>
  return %D : tensor<128x256xf32>
}
"""

SOURCES = {path.stem: path.read_text() for path in sorted(EXAMPLES.glob("*.mlir"))} | {
    "f16_result": F16_RESULT,
    "bias": BIAS,
}

SMALL = {"block": (64, 64, 32), "warp": (32, 32, 16)}
CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in SOURCES),
    ("matmul_256", {**SMALL, "stages": 1, "mainloop": "register_prefetch"}),
    ("matmul_256", {**SMALL, "stages": 2, "mainloop": "register_prefetch"}),
    ("matmul_256", {**SMALL, "stages": 1, "mainloop": "direct"}),
    ("matmul_256", {**SMALL, "stages": 2, "mainloop": "direct"}),
    ("matmul_256", {**SMALL, "stages": 1, "mainloop": "direct", "promote": False}),
    ("matmul_256", {**SMALL, "accumulate": False}),
    ("matmul_256", {**SMALL, "unroll": False}),
    ("matmul_256", {**SMALL, "min_blocks": 2, "raster": "row", "storage": "dynamic"}),
    ("matmul_tensor", {"accumulate": False}),
    ("f16_result", {**SMALL, "stages": 1, "mainloop": "direct"}),
]
"""A source and the fields of its schedule that are pinned."""
WHOLE_WAY = list(SOURCES).index("bias")
"""The case that is compiled from each stage to the end: without fields that are pinned."""


def case_name(case: tuple[str, dict[str, Any]]) -> str:
    source, schedule = case
    return ",".join([source, *(f"{field}={value}" for field, value in schedule.items() if field not in SMALL)])


@cache
def compiled(number: int) -> Compilation:
    """A case, with the IR of every stage."""
    source, schedule = CASES[number]
    return compile_module(SOURCES[source], schedule=schedule, keep=("all",))


@pytest.mark.parametrize("number", range(len(CASES)), ids=map(case_name, CASES))
def test_every_stage_resumes_to_the_same_code(number: int) -> None:
    """From the text of each stage the next one makes the very text that it made in one go, so that each leads to the
    same PTX. One case goes the whole way from each stage."""
    compilation = compiled(number)
    for stage, following in pairwise(STAGES[:-1]):
        pinned = CASES[number][1] if stage == "import" else {}  # what was chosen stands in the IR from `select` on
        resumed = compile_module(compilation.ir(stage), schedule=pinned, until=following, keep=(following,))
        assert resumed.ir(following) == compilation.ir(following), f"'{following}' differs when it is run by itself"
    for stage in STAGES[:-1] if number == WHOLE_WAY else STAGES[-2:-1]:
        resumed = compile_module(compilation.ir(stage))
        assert resumed.ptx == compilation.ptx, f"the PTX differs when compiled from stage '{stage}'"
        assert resumed.launch == compilation.launch, f"the launch differs when compiled from stage '{stage}'"
        assert resumed.schedule == compilation.schedule


@pytest.mark.parametrize("number", range(len(CASES)), ids=map(case_name, CASES))
def test_every_stage_verifies(number: int) -> None:
    context = ir.Context()
    tile.register(context)
    for stage in STAGES[:-1]:
        with context:
            module = ir.Module.parse(compiled(number).ir(stage))
        assert module.operation.verify(), stage


def in_new_process(code: str, **environment: str) -> Any:
    """What a fresh interpreter prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_code_does_not_depend_on_the_process() -> None:
    names = ["matmul_256", "torch_matmul_f16"]
    code = (
        "import hashlib, json, pathlib\n"
        "from mlir_gemm.pipeline.driver import compile_module\n"
        f"texts = [pathlib.Path({str(EXAMPLES)!r}, name + '.mlir').read_text() for name in {names}]\n"
        "print(json.dumps([hashlib.sha256(compile_module(t).ptx.encode()).hexdigest() for t in texts]))"
    )
    here = [hashlib.sha256((compiled(list(SOURCES).index(name)).ptx or "").encode()).hexdigest() for name in names]
    assert in_new_process(code, PYTHONHASHSEED="1") == in_new_process(code, PYTHONHASHSEED="2") == here


@pytest.mark.parametrize("source", ["matmul_8192_memref", "torch_matmul_f16", "bias"])
def test_code_assembles_without_spills_on_every_chip(source: str) -> None:
    compilations = {chip: compile_module(SOURCES[source], chip=chip) for chip in CHIPS}

    def check(chip: str) -> str | None:
        found = compilations[chip]
        usage = assembler.usage(found.ptx or "", chip)
        if usage is None:
            return None
        fits = usage.registers * found.launch.block[0] <= CHIPS[chip].registers_sm if found.launch else False
        assert fits and not usage.spill_bytes, (
            f"{source} on {chip}: {usage.registers} registers, {usage.spill_bytes} bytes spilled, {found.schedule}"
        )
        return chip

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checked = [chip for chip in pool.map(check, CHIPS) if chip]  # only ptxas: a process of its own
    missing = set(CHIPS) - set(checked)
    assert not missing, f"ptxas refused {source} for {missing}, or the test extra's ptxas packages are not installed"


@pytest.mark.parametrize("chip", ["sm_90", "sm_90a"])
def test_a_compilation_does_little(chip: str) -> None:
    """From a fresh interpreter to the PTX of 8192 x 8192 x 8192: 440 modules of ours and no NumPy, 500,000 calls."""
    path = EXAMPLES / "matmul_8192_memref.mlir"
    code = (
        "import pathlib\n"
        "from mlir_gemm.pipeline.driver import compile_module\n"
        f"compile_module(pathlib.Path({str(path)!r}).read_text(), chip={chip!r})"
    )
    loaded = modules_loaded(code)
    assert len([name for name in loaded if name.startswith("mlir_gemm")]) < 440
    assert "numpy" not in loaded
    source = path.read_text()
    compile_module(source, chip=chip)
    assert calls(lambda: compile_module(source, chip=chip)) < 750_000


C_TILE = "%arg2[%arg3 * 64 + %arg6, %arg4 * 64 + %arg7]"
"""Where the nest of the `tile` stage reads and writes C: %arg3, %arg4 are block loops, %arg6, %arg7 point loops."""
VARIANTS = {
    "own tiles": (C_TILE, True),
    "transposed": ("%arg2[%arg4 * 64 + %arg7, %arg3 * 64 + %arg6]", True),
    "gaps": ("%arg2[%arg3 * 65 + %arg6, %arg4 * 80 + %arg7]", True),
    "shifted": ("%arg2[%arg3 * 64 + %arg6 + 3, %arg4 * 64 + %arg7 + 5]", True),
    "backwards": ("%arg2[%arg3 * -64 + %arg6 + 192, %arg4 * 64 + %arg7]", True),
    "overlap of rows": ("%arg2[%arg3 * 32 + %arg6, %arg4 * 64 + %arg7]", False),
    "overlap by one": ("%arg2[%arg3 * 63 + %arg6, %arg4 * 64 + %arg7]", False),
    "one tile for a row": ("%arg2[%arg3 * 64 + %arg6, %arg7]", False),
    "one tile for all": ("%arg2[%arg6, %arg7]", False),
    "diagonals": ("%arg2[%arg3 * 64 + %arg4 * 64 + %arg6, %arg7]", False),
    # Each block has a tile of its own here, but neither analysis can tell.
    "skewed": ("%arg2[%arg3 * 64 + %arg4 * 64 + %arg6, %arg4 * 64 + %arg7]", False),
}
"""Other places for it, and whether the block loops are then known to be independent."""


@pytest.fixture(scope="module")
def tiled() -> str:
    schedule = {**SMALL, "stages": 1, "mainloop": "direct"}
    return compile_module(SOURCES["matmul_256"], schedule=schedule, until="tile", keep=("tile",)).ir("tile")


@pytest.mark.parametrize("variant", VARIANTS)
def test_blocks_are_parallel_where_upstream_says_so(tiled: str, variant: str) -> None:
    """Upstream's dependence analysis, on its own, decides the same about the block loops."""
    place, independent = VARIANTS[variant]
    assert tiled.count(C_TILE) == 2
    text = tiled.replace(C_TILE, place)
    upstream = run_passes(text, ["func.func(affine-parallelize)"])
    assert ('tile.loop = "block"' not in upstream) == independent
    assert accepted(text) == independent


PROGRAMS = ("torch_linear_gelu", "torch_mlp")
"""Sources that become programs of several modules."""


@pytest.mark.parametrize("source", [name for name in SOURCES if name not in PROGRAMS])
def test_blocks_of_every_source_are_parallel(source: str) -> None:
    """Upstream's pass as a judge; it does not look into the kernels of a program, so those sources are left out."""
    text = compiled(list(SOURCES).index(source)).ir("tile")
    assert 'tile.loop = "block"' not in run_passes(text, ["func.func(affine-parallelize)"])
    assert accepted(text)


def test_reading_a_tile_of_another_block_is_refused(tiled: str) -> None:
    text = tiled.replace(f"affine.load {C_TILE}", "affine.load %arg2[%arg3 * 64 + %arg6 + 1, %arg4 * 64 + %arg7]")
    assert 'tile.loop = "block"' in run_passes(text, ["func.func(affine-parallelize)"])
    assert not accepted(text)


def accepted(text: str) -> bool:
    """Whether `parallelize-blocks` proves the block loops of a module parallel."""
    try:
        return "affine.parallel" in run_passes(text, ["parallelize-blocks"])
    except PassError:
        return False
