"""Products of one A, by matrices of different widths, in one launch: right numbers, and when it is chosen."""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
import pytest
from draws import draws

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.remade import as_before
from mlir_gemm.pipeline.saved import computed_by
from mlir_gemm.pipeline.selection import select_side_by_side
from mlir_gemm.runtime import cache
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import side_by_side
from mlir_gemm.tile_model.chips import target

HEAD = """#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({b})>
#d = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
#t = affine_map<(m, n) -> (n, m)>
func.func @f(%x: tensor<{m}x{k}x{t}>, {given}) -> ({results}) {{
  %z = arith.constant 0.0 : f32
"""
PRODUCT = """  %e{i} = tensor.empty({s}) : tensor<{m}x{n}xf32>
  %f{i} = linalg.fill ins(%z : f32) outs(%e{i} : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p{i} = linalg.matmul indexing_maps = [#a, #b, #d] ins(%x, %w{i} : tensor<{m}x{k}x{t}>, tensor<{w}x{t}>)
      outs(%f{i} : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %o{i} = tensor.empty({s}) : tensor<{out}x{t}>
"""
STORED = {
    "plain": """  %r{i} = linalg.generic {{indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%p{i} : tensor<{m}x{n}xf32>) outs(%o{i} : tensor<{out}x{t}>) {{
  ^bb0(%u: f32, %q: {t}):
    %y = arith.truncf %u : f32 to {t}
    linalg.yield %y : {t}
  }} -> tensor<{out}x{t}>
""",
    "bias": """  %r{i} = linalg.generic {{indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%p{i}, %c{i} : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%o{i} : tensor<{out}x{t}>) {{
  ^bb0(%u: f32, %v: f32, %q: {t}):
    %g = arith.addf %u, %v : f32
    %y = arith.truncf %g : f32 to {t}
    linalg.yield %y : {t}
  }} -> tensor<{out}x{t}>
""",
    "turned": """  %r{i} = linalg.generic {{indexing_maps = [#e, #t], iterator_types = ["parallel", "parallel"]}}
      ins(%p{i} : tensor<{m}x{n}xf32>) outs(%o{i} : tensor<{out}x{t}>) {{
  ^bb0(%u: f32, %q: {t}):
    %y = arith.truncf %u : f32 to {t}
    linalg.yield %y : {t}
  }} -> tensor<{out}x{t}>
""",
}
"""What may follow a product."""
TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def source(m: int | str, widths: list[int], k: int, t: str, order: str, ends: list[str]) -> str:
    """Products of x by matrices of these widths, each with its end."""
    sizes = [
        {"m": m, "n": n, "k": k, "t": t, "i": i, "w": f"{n}x{k}" if order == "nk" else f"{k}x{n}",
         "out": f"{n}x{m}" if end == "turned" else f"{m}x{n}", "s": "%m" if m == "?" else ""}
        for i, (n, end) in enumerate(zip(widths, ends, strict=True))
    ]  # fmt: skip
    given = [f"%w{each['i']}: tensor<{each['w']}x{t}>" for each in sizes]
    given += [f"%c{i}: tensor<{n}xf32>" for i, (n, end) in enumerate(zip(widths, ends, strict=True)) if end == "bias"]
    results = [f"tensor<{each['out']}x{t}>" for each in sizes]
    text = HEAD.format(m=m, k=k, t=t, b=", ".join(order), given=", ".join(given), results=", ".join(results))
    if m == "?":
        text += f"  %c = arith.constant 0 : index\n  %m = tensor.dim %x, %c : tensor<?x{k}x{t}>\n"
    text += "".join(PRODUCT.format(**each) + STORED[end].format(**each)
                    for each, end in zip(sizes, ends, strict=True))  # fmt: skip
    names = ", ".join(f"%r{i}" for i in range(len(widths)))
    return f"{text}  return {names} : {', '.join(results)}\n}}\n"


def check(kernel: mlir_gemm.Kernel, m: int, widths: list[int], k: int, t: str, order: str, ends: list[str]) -> None:
    """Whole numbers, of which all sums are exact."""
    rng = np.random.default_rng(m + k)
    x, *matrices = (rng.integers(-2, 3, shape).astype(TYPES[t])
                    for shape in ((m, k), *((n, k) if order == "nk" else (k, n) for n in widths)))  # fmt: skip
    biases = [rng.integers(-9, 9, n).astype(np.float32) for n in widths]
    more = [bias for bias, end in zip(biases, ends, strict=True) if end == "bias"]
    found = kernel(x, *matrices, *more)
    for got, w, bias, end in zip(found, matrices, biases, ends, strict=True):
        exact = x.astype(np.float32) @ (w.T if order == "nk" else w).astype(np.float32)
        exact = exact + bias if end == "bias" else exact.T if end == "turned" else exact
        assert np.array_equal(np.asarray(got), exact.astype(TYPES[t]))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model says, and nothing that was compiled otherwise."""
    monkeypatch.setattr(select_side_by_side, "WORTH", float("inf"))
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    cache.forget()


CHIPS = ("sm_90a", "sm_90a", "sm_90a", "sm_80", "sm_89", "sm_70", "sm_120")


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("seed", range(draws(12)))
def test_random_widths_types_orders_and_ends(seed: int) -> None:
    rng = random.Random(seed)
    m, k = rng.choice([1, 7, 16, 33, 64, 100, 130, 200]), rng.choice([32, 64, 96, 128, 200, 256])
    widths = rng.sample([8, 16, 24, 33, 40, 64, 96, 128, 136, 192, 264], rng.choice([2, 3, 3, 4]))
    t, order, chip = rng.choice([*TYPES]), rng.choice(["nk", "kn"]), rng.choice(CHIPS)
    ends = [rng.choice(["plain", "plain", "bias", "turned"]) for _ in widths]
    kernel = mlir_gemm.compile(source(m, widths, k, t, order, ends), device="simulator", chip=chip)
    check(kernel, m, widths, k, t, order, ends)


FIXED = {
    "clusters that share copies": {"block": (128, 64, 64), "mma": "wgmma", "cluster_m": 2},
    "clusters that share k": {"block": (64, 64, 64), "mma": "wgmma", "split_k_cluster": 2},
    "in turns": {"block": (128, 64, 64), "warp": (128, 64, 64), "mma": "wgmma", "ping_pong": True, "persistent": 2},
    "swapped": {"mma": "wgmma", "swap_ab": True},
    "static shared memory": {"mma": "mma_sync", "mainloop": "cp_async", "storage": "static", "stages": 2},
    "without shared memory": {"block": (32, 32, 32), "warp": (16, 16, 16), "mma": "mma_sync", "promote": False},
}  # fmt: skip


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", FIXED)
def test_kinds_of_kernels(name: str) -> None:
    """One launch, of as many blocks as all have, each with the fields that are fixed."""
    case = (192, [160, 64, 32], 256, "f16", "nk", ["plain"] * 3)
    text = source(*case)
    kernel = mlir_gemm.compile(text, device="simulator", chip="sm_90a", schedule=FIXED[name])
    (step,) = kernel.launch.steps
    assert step.grid[0] > 3
    (record,) = kernel.kernels
    assert [*record.products] == ["f_0", "f_1", "f_2"]
    assert KernelRecord.from_json(record.to_json()) == record
    check(kernel, *case)


@pytest.mark.usefixtures("at_once")
def test_sizes_known_at_run_time() -> None:
    """The same launch for all sizes, no rows among them."""
    widths, ends = [136, 64, 40], ["plain", "bias", "plain"]
    kernel = mlir_gemm.compile(source("?", widths, 96, "f16", "kn", ends), device="simulator", chip="sm_90a")
    assert len(kernel.launch.steps) == 1
    for m in (1, 64, 0, 200):
        check(kernel, m, widths, 96, "f16", "kn", ends)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("m", [1, 100])
def test_saved_text_is_taken_apart_and_joined_again(m: int) -> None:
    text = source(m, [136, 64, 40], 96, "f16", "kn", ["plain", "bias", "plain"])
    for stage in ("select", "tile", "lower", "nvvm"):
        whole = compile_module(text, chip="sm_90a", keep=("lower", stage))
        saved = whole.ir(stage)
        assert len(whole.kernels) == 1
        assert computed_by(saved).count("module @f_") == 3
        assert compile_module(saved).code == whole.code
        assert compile_module(computed_by(saved)).code == whole.code
        if stage == "nvvm":
            assert as_before(saved, "lower") == whole.ir("lower")


def launches(m: int, widths: list[int], k: int, **pinned: object) -> tuple[int, str]:
    """How many launches the model has for bf16 products, and what is said of the first."""
    text = source(m, widths, k, "bf16", "nk", ["plain"] * len(widths))
    found = compile_module(text, chip="sm_90a", until="select", schedule=pinned)
    return sum("launched at once with" not in each.note for each in found.kernels), found.kernels[0].note


def test_the_model_decides() -> None:
    """Few rows, whose weights one launch reads, gain most; large products nothing, and a row's bits are its own."""
    for m in (1, 16):
        assert "launched at once with f_1, f_2: predicted" in launches(m, [4096, 1024, 1024], 4096)[1]
    assert "not launched at once" in launches(8192, [8192, 4096], 8192)[1]
    assert "at once" not in launches(16, [4096, 1024, 1024], 4096, batch_invariant=True)[1]


def test_products_of_one_launch_have_the_same_tiles() -> None:
    chip = target("sm_90a")
    problems = [Problem(512, n, 2048, out="f16", reads_c=False, b_order="nk") for n in (2048, 512, 512)]
    whole = side_by_side.together(problems, chip, {})
    assert whole is not None
    assert {"block", "warp", "mma", "cluster_m", "persistent", "swap_ab"} <= {*whole.pinned[0]}
    assert len({each["block"] for each in whole.pinned}) == 1
    apart = side_by_side.together([problems[0], Problem(256, 512, 2048, reads_c=False, b_order="nk")], chip, {})
    assert apart is None


def test_blocks_take_what_is_left_when_they_are_done() -> None:
    """Against blocks one by one, each to the SM that has been busy least; never less than an even share."""
    rng = random.Random(0)
    for _ in range(draws(50)):
        places, tiles = rng.randint(1, 9), [rng.randint(1, 40) for _ in range(rng.randint(1, 4))]
        counts = [rng.randint(1, places) for _ in tiles]
        busy = [0.0] * places
        for count, number in zip(tiles, counts, strict=True):
            for block in range(min(number, count)):
                busy[busy.index(min(busy))] += (count - block + number - 1) // number + side_by_side.START
        longest = side_by_side.longest(tuple(tiles), tuple(counts), places)
        assert longest == pytest.approx(max(busy))
        assert longest >= sum(tiles) / places


def test_walkers_are_as_few_as_keep_all_busy() -> None:
    """Where 132 blocks for each begin three times on an SM, others begin twice; and never worse than as many blocks as
    there are SMs."""
    schedule = Schedule(persistent=132)
    assert side_by_side.walkers((384, 128, 128), schedule) == (128, 64, 64)
    rng = random.Random(1)
    for _ in range(draws(20)):
        tiles = tuple(rng.randint(1, 600) for _ in range(rng.randint(2, 3)))
        counts = side_by_side.walkers(tiles, schedule)
        usual = side_by_side.longest(tiles, (132,) * len(tiles), 132)
        assert side_by_side.longest(tiles, counts, 132) <= usual + 1e-6
    assert side_by_side.walkers((384, 128), Schedule(persistent=132, cluster_m=2)) == (132, 132)
