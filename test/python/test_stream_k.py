"""Blocks that share the k steps of the last tiles through global memory: every tile is whole, whatever is left over."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from assembled import usage
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, simulate
from mlir_gemm.simulator.stages import run_stage
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tools import main

TILE = "mma=wgmma,block=64x64x64,warp=64x64x64"


def compiled(product: GroupProduct, schedule: str, until: str = "ptx", keep: tuple[str, ...] = ()) -> Compilation:
    return compile_module(product.source(), chip="sm_90a", schedule=Schedule.parse(schedule), until=until, keep=keep)


def operands(product: GroupProduct, seed: int = 7) -> tuple[list[np.ndarray], np.ndarray]:
    """A and B as they lie, of small whole numbers, and their product."""
    m, n, k = product.m, product.n, product.k
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    stored = [
        each if order in ("mk", "kn") else np.ascontiguousarray(each.T)
        for each, order in zip((a, b), (product.a, product.b), strict=True)
    ]
    return stored, a.astype(np.float32) @ b.astype(np.float32)


SCHEDULES = (
    f"{TILE},persistent=5,stream_k=2",
    f"{TILE},persistent=7,stream_k=3",
    f"{TILE},persistent=40,stream_k=4",
    f"{TILE},persistent=7,stream_k=1",
    "mma=wgmma,block=128x128x64,warp=64x128x64,persistent=4,stream_k=1",
    f"{TILE},persistent=3,stream_k=8",
    f"{TILE},persistent=13,stream_k=2,smem_epilogue=off",
    "mma=wgmma,block=128x128x64,warp=64x128x64,persistent=4,stream_k=2,stages=3",
    "mma=wgmma,block=128x64x64,warp=128x64x64,persistent=6,stream_k=4",
    f"{TILE},persistent=8,stream_k=2,cluster_m=2",
    f"{TILE},persistent=8,stream_k=1,cluster_m=2,dependent_launch=off",
    f"{TILE},persistent=32,stream_k=3,cluster_n=2",
    "mma=wgmma,block=192x96x64,warp=64x96x64,persistent=4,stream_k=5",
    "mma=wgmma,block=64x256x64,warp=64x256x64,persistent=3,stream_k=2,dependent_launch=off",
)


@pytest.mark.parametrize(
    ("order", "schedule"),
    [
        (order, schedule)
        for number, schedule in enumerate(SCHEDULES)
        for each, order in enumerate(["mk", "km"])
        if "cluster" in schedule or number % 2 == each
    ],
)
def test_results_are_exact_and_nothing_is_found(schedule: str, order: str):
    # Clusters divide the tiles: 6 rows of them, or 6 columns.
    m, n = (360 if "cluster_m" in schedule else 264), (384 if "cluster_n" in schedule else 336)
    k = 1088 if "stream_k=8" in schedule else 704  # two steps for each block that shares some
    product = GroupProduct(m, n, k, out="f32", a=order, b="nk", epilogue=("relu",))
    kernel = mlir_gemm.compile(product.source(), chip="sm_90a", device="simulator", schedule=schedule)
    stored, wanted = operands(product)
    d = np.full((product.m, product.n), np.nan, np.float32)
    kernel(*stored, d)  # raises on any finding of the checks
    assert np.array_equal(d, np.maximum(wanted, 0))


@pytest.mark.parametrize("seed", range(40))
def test_random_products_are_exact_at_tile_level(seed: int):
    rng = random.Random(seed)
    rows, columns = rng.randint(1, 6), rng.randint(1, 5)
    steps = rng.randint(4, 14)
    blocks, share = rng.randint(1, 2 * rows * columns), rng.randint(1, max(2, steps // 2))
    m, n = 64 * rows - rng.choice((0, 8)), 64 * columns - rng.choice((0, 16))
    product = GroupProduct(m, n, 64 * steps - rng.choice((0, 24)), out="f32", a="mk", b=rng.choice(("kn", "nk")))
    raster = rng.choice(("row", "column", "grouped"))
    group = f",raster_group={rng.randint(1, 4)}" if raster == "grouped" else ""
    schedule = f"{TILE},persistent={blocks},stream_k={share},raster={raster}{group}"
    stored, wanted = operands(product, seed)
    compilation = compiled(product, schedule, until="launch", keep=("parallelize",))
    for stage in ("parallelize", "launch"):
        d = np.full((m, n), np.nan, np.float32)
        run_stage(compilation.ir(stage), [*stored, d])
        assert np.array_equal(d, wanted), (str(product), schedule, stage)


def test_the_bits_do_not_change_from_run_to_run():
    product = GroupProduct(256, 320, 832, out="f32", a="mk", b="nk")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((256, 832), (320, 832)))
    kernel = mlir_gemm.compile(product.source(), chip="sm_90a", device="simulator", schedule=SCHEDULES[1])
    results = [np.full((256, 320), np.nan, np.float32) for _ in range(2)]
    for d in results:
        kernel(a, b, d)
    assert results[0].tobytes() == results[1].tobytes()
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(results[0] - wanted).max() < 1e-3


@pytest.mark.parametrize("blocks", [1, 4, 12, 16])
def test_nothing_changes_where_tiles_fill_whole_waves(blocks: int):
    product = GroupProduct(256, 384, 512, a="mk", b="kn")
    plain, *shared = (compiled(product, f"{TILE},persistent={blocks},stream_k={share}").ptx for share in (0, 1, 2))
    for code in shared:
        assert (plain == code) == (24 % blocks == 0)


@pytest.mark.parametrize(("tiles", "blocks", "share", "grid", "places"), [
    ((4, 6), 5, 2, 5, 5),  # 4 tiles are left, for all blocks
    ((4, 6), 11, 4, 11, 8),  # 2 are left: four blocks for each
    ((2, 3), 40, 3, 18, 18),  # no more blocks than have steps
    ((2, 3), 16, 4, 16, 16),
    ((1, 1), 4, 2, 2, 2),
    ((4, 6), 5, 1, 5, 5),  # 4 tiles are left, and the 5 of a whole wave
])  # fmt: skip
def test_as_many_blocks_share_steps_as_asked_for(
    tiles: tuple[int, int], blocks: int, share: int, grid: int, places: int
):
    product = GroupProduct(64 * tiles[0], 64 * tiles[1], 64 * 8, a="mk", b="nk")
    launch = compiled(product, f"{TILE},persistent={blocks},stream_k={share}").launch
    assert launch is not None
    parts, flags = launch.buffers
    assert launch.grid == (grid, 1, 1)
    assert (parts.bytes, flags.bytes) == (places * 64 * 64 * 4, places * 32 * 4)
    assert (parts.zeroed, flags.zeroed) == (False, True)
    assert (launch.workspace_bytes, launch.zeroed_bytes) == tuple(
        -(-each.bytes // 256) * 256 for each in launch.buffers
    )
    assert not launch.is_program
    assert Launch.from_json(launch.to_json()) == launch


def test_a_launch_without_such_memory_says_nothing_of_it():
    launch = compiled(GroupProduct(128, 128, 512), f"{TILE},persistent=4").launch
    assert launch is not None and not launch.buffers
    assert not {"buffers", "workspace_bytes", "zeroed_bytes"} & set(launch.to_json())


def test_each_run_of_a_program_has_memory_of_its_own():
    source = """func.func @two(%x: tensor<192x512xf16>, %w: tensor<512x512xf16>) -> tensor<192x512xf16> {
      %zero = arith.constant 0.0 : f32
      %init = tensor.empty() : tensor<192x512xf32>
      %start = linalg.fill ins(%zero : f32) outs(%init : tensor<192x512xf32>) -> tensor<192x512xf32>
      %once = linalg.matmul ins(%x, %w : tensor<192x512xf16>, tensor<512x512xf16>)
        outs(%start : tensor<192x512xf32>) -> tensor<192x512xf32>
      %empty = tensor.empty() : tensor<192x512xf16>
      %narrow = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%once : tensor<192x512xf32>) outs(%empty : tensor<192x512xf16>) {
      ^bb0(%in: f32, %old: f16):
        %v = arith.truncf %in : f32 to f16
        linalg.yield %v : f16
      } -> tensor<192x512xf16>
      %twice = linalg.matmul ins(%narrow, %w : tensor<192x512xf16>, tensor<512x512xf16>)
        outs(%start : tensor<192x512xf32>) -> tensor<192x512xf32>
      %result = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%twice : tensor<192x512xf32>) outs(%empty : tensor<192x512xf16>) {
      ^bb0(%in: f32, %old: f16):
        %v = arith.truncf %in : f32 to f16
        linalg.yield %v : f16
      } -> tensor<192x512xf16>
      return %result : tensor<192x512xf16>
    }"""
    kernel = mlir_gemm.compile(source, chip="sm_90a", device="simulator", schedule=f"{TILE},persistent=7,stream_k=2")
    launch = kernel.launch
    assert launch.is_program and len(launch.steps) == 2
    between, *scratch = launch.buffers
    assert [each.scratch for each in (between, *scratch)] == ["", "partials", "flags", "partials", "flags"]
    assert scratch[0].offset == scratch[2].offset != between.offset, "one after the other: they share the workspace"
    assert scratch[1].offset != scratch[3].offset
    first = len(launch.arguments) + 1
    assert [sorted(n for n in step.memory if isinstance(n, int) and n >= first) for step in launch.steps] == [
        [first, first + 1], [first + 2, first + 3],
    ]  # fmt: skip
    rng = np.random.default_rng(3)
    x, w = rng.integers(-1, 2, (192, 512)).astype(np.float16), np.zeros((512, 512), np.float16)
    w[np.arange(512), rng.permutation(512)] = 1
    assert np.array_equal(kernel(x, w), x @ w @ w)


@pytest.mark.parametrize("schedule", [SCHEDULES[0], SCHEDULES[-6]])
def test_every_stage_computes_the_same(schedule: str, tmp_path, capsys: pytest.CaptureFixture[str]):
    source = tmp_path / "product.mlir"
    source.write_text(GroupProduct(200, 256, 512, a="mk", b="nk", epilogue=("bias", "relu")).source())
    arguments = ["run", str(source), "--chip", "sm_90a", "--device", "simulator", "--bisect"]
    assert main.main([*arguments, "--schedule", schedule]) == 0
    assert "every stage computes the right numbers" in capsys.readouterr().out


def test_blocks_bring_those_of_lower_numbers(tmp_path, capsys: pytest.CaptureFixture[str]):
    source = tmp_path / "product.mlir"
    source.write_text(GroupProduct(256, 384, 512, a="mk", b="nk").source())
    arguments = ["run", str(source), "--chip", "sm_90a", "--device", "simulator", "--blocks", "2"]
    assert main.main([*arguments, "--schedule", SCHEDULES[0]]) == 0
    shown = capsys.readouterr().out
    assert "3 of 5 blocks" in shown and "no findings" in shown


PRODUCT = GroupProduct(128, 192, 512, out="f32", a="mk", b="nk")
ATOMIC = 'atomic syncscope("device") '
RAISE, LOWER, AWAIT = f"{ATOMIC}release", f"{ATOMIC}monotonic", f"{ATOMIC}acquire"


@pytest.fixture(scope="module")
def lowered() -> str:
    return compiled(PRODUCT, f"{TILE},persistent=4,stream_k=4", until="lower").ir("lower")


def without(text: str, *parts: str) -> str:
    """The lines of a module but for those that hold one of some texts."""
    return "\n".join(line for line in text.splitlines() if not any(part in line for part in parts))


def weaker(text: str) -> str:
    """With the last meeting of the lanes in front of a raised flag left out."""
    lines = text.splitlines()
    place = next(number for number, line in enumerate(lines) if RAISE in line)
    meets = max(number for number, line in enumerate(lines[:place]) if "nvvm.bar.warp.sync" in line)
    return "\n".join(lines[:meets] + lines[meets + 1 :])


FAULTS = {
    "nobody waits": (
        lambda text: re.sub(r"= llvm\.load .* acquire .*", "= arith.constant 1 : i32", text), "race-global"),
    "what was left is not acquired": (lambda text: text.replace(AWAIT, f"{ATOMIC}monotonic"), "race-global"),
    "a flag is raised without release": (lambda text: text.replace(RAISE, f"{ATOMIC}monotonic"), "flag"),
    "nobody raises a flag": (lambda text: without(text, RAISE), "deadlock"),
    "a flag is neither up nor down": (
        lambda text: re.sub(r"llvm\.store %\w+(, .* release )", r"llvm.store %two\1", text).replace(
            "nvvm.bar.warp.sync", "%two = arith.constant 2 : i32\nnvvm.bar.warp.sync", 1), "flag"),
    "flags stay up": (lambda text: without(text, LOWER), "flag"),
    "lanes do not meet before a flag is raised": (weaker, "race-global"),
    "lanes do not meet at all": (lambda text: without(text, "nvvm.bar.warp.sync"), "flag"),
    "a part is left elsewhere": (
        lambda text: re.sub(r"(vector\.store %\S+, %\S+)\[%\w+, ", r"\1[%c0, ", text), "race-global"),
    "the kernel in front is not waited for": (lambda text: without(text, "griddepcontrol wait"), "dependent-launch"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(fault: str, lowered: str):
    break_, check = FAULTS[fault]
    broken = break_(lowered)
    assert broken != lowered
    stored, _ = operands(PRODUCT)
    report = simulate(broken, [*stored, np.full((128, 192), np.nan, np.float32)], Options())
    assert check in report.checks_found, str(report)


def test_the_module_is_right_before_it_is_broken(lowered: str):
    stored, wanted = operands(PRODUCT)
    d = np.full((128, 192), np.nan, np.float32)
    report = simulate(lowered, [*stored, d], Options())
    assert not report.findings, str(report)
    assert np.array_equal(d, wanted)


@pytest.mark.parametrize(("block", "warp", "stages"), [
    ("128x256", "64x256", 4), ("256x128", "128x128", 4), ("128x128", "64x128", 6), ("128x192", "64x192", 4),
    ("64x96", "64x96", 8),
])  # fmt: skip
@pytest.mark.parametrize("epilogue", [(), ("bias", "gelu")], ids=["plain", "gelu"])
def test_nothing_spills_and_products_are_not_done_one_by_one(
    block: str, warp: str, stages: int, epilogue: tuple[str, ...]
):
    product = GroupProduct(4000, 4608, 4096, a="mk", b="nk", epilogue=epilogue)
    schedule = f"mma=wgmma,block={block}x64,warp={warp}x64,stages={stages},persistent=132,stream_k=4"
    compilation = compiled(product, schedule)
    assert compilation.launch is not None and compilation.launch.buffers
    found = usage(compilation.ptx, "sm_90a")
    assert not found.spill_bytes and not found.warnings, found
    for flag in ("ld.acquire.gpu.global.b32", "st.release.gpu.global.b32", "st.relaxed.gpu.global.b32"):
        assert (compilation.ptx or "").count(flag) == 1


def test_the_ranges_of_blocks_differ_by_one_step_at_most():
    """The copies that the producers of blocks make, counted in the simulator."""
    product = GroupProduct(192, 256, 832, out="f32", a="mk", b="nk")
    text = compiled(product, f"{TILE},persistent=5,stream_k=4", until="lower").ir("lower")
    stored, _ = operands(product)
    counted = Counter[int]()
    for blocks in range(1, 6):  # owners wait for blocks of lower numbers only
        report = simulate(
            text, [*stored, np.full((192, 256), np.nan, np.float32)],
            Options(checks=False, counters=True, blocks=list(range(blocks))),
        )  # fmt: skip
        counted[blocks] = report.counters.instructions["nvvm.cp.async.bulk.tensor.shared.cluster.global"]
    copies = [after - before for before, after in pairwise([0, *(counted[blocks] for blocks in range(1, 6))])]
    assert sum(copies) == 12 * 13 * 2
    assert max(copies) - min(copies) <= 2
