"""The algebra of tiles, and kernels that are written with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm import InputError, ScheduleError, Tile, TileKernel
from mlir_gemm.tracing.tiling import Place

ROOT = Path(__file__).resolve().parents[2]


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("tiling_example", ROOT / "examples" / "tiling.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def test_tiles_are_projected_joined_and_translated() -> None:
    block = Tile(m=64, n=32, k=16)
    assert block.project("kn").sizes == {"k": 16, "n": 32}
    moved = block.translate(m=8, k=Place(0, {"i": 16}))
    assert moved.base["m"] == Place(8) and moved.base["k"].at(i=3) == 48 and moved.base["n"] == Place()
    assert block.project("m").join(block.project("kn")) == Tile(m=64, k=16, n=32)
    assert str(moved.project("mk")) == "m: 64 from 8, k: 16 from i * 16"


@pytest.mark.parametrize("workers", [1, 3, 4])
def test_workers_take_each_element_once(workers: int) -> None:
    whole, by = Tile(m=48, n=24).translate(m=5), Tile(m=16, n=8)
    seen = np.zeros((53, 24), int)
    for worker in range(workers):
        for tile in whole.parallelise(by, worker, workers):
            m, n = (tile.base[name].at() for name in "mn")
            seen[m : m + 16, n : n + 8] += 1
    assert (seen[5:] == 1).all() and (seen[:5] == 0).all()


def test_linear_places_are_those_of_memory() -> None:
    memory, sizes = np.arange(6 * 10 * 4).reshape(6, 10, 4), {"b": 6, "m": 10, "k": 4}
    tile = Tile(b=1, m=2, k=2).translate(b=3, m=Place(1, {"i": 2}), k=2)
    for i in range(4):
        assert memory[3, 1 + 2 * i, 2] == tile.linearise("bmk", sizes).at(i=i)
    assert memory.transpose(0, 2, 1).ravel()[tile.linearise("bkm", sizes).at(i=1)] == memory[3, 3, 2]


@pytest.mark.parametrize(("make", "why"), [
    (lambda: Tile(m=0), "sizes from 1 on"),
    (lambda: Tile(m=4).project("mk"), "dimension 'k' of a tile of m"),
    (lambda: Tile(m=4).join(Tile(m=4)), "two tiles along 'm'"),
    (lambda: TileKernel("f", Tile(m=64, n=64), Tile(m=64, n=64, k=32)), "expected m, n and k"),
    (lambda: TileKernel("f", Tile(m=64, n=64, k=64), Tile(m=64, n=64, k=32), "i8"), "one of f16"),
    (lambda: TileKernel("f", Tile(m=64, n=64, k=64), Tile(m=64, n=64, k=32), chip="h200", mainloop="tma"),
     "a kernel of tiles with mainloop=tma"),
])  # fmt: skip
def test_what_is_refused(make: Any, why: str) -> None:
    with pytest.raises((InputError, ScheduleError), match=why):
        make()


@pytest.mark.parametrize(("chip", "sizes"), [("sm_80", (200, 136, 96, 72)), ("h200", (64, 72, 40, 104))])
def test_the_example(chip: str, sizes: tuple[int, int, int, int]) -> None:
    """Whole numbers, so that sums are exact but for the rounding of the result."""
    m, n, k, other_k = sizes
    random = np.random.default_rng(0)
    a, b, f, g = (
        random.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (k, n), (m, other_k), (n, other_k))
    )
    bias = random.integers(-9, 10, n).astype(np.float32)
    kernel = _example().two_products(*sizes, chip=chip).compile(device="simulator")
    wanted = np.maximum(a.astype(np.float64) @ b + f.astype(np.float64) @ g.T + bias, 0)
    np.testing.assert_array_equal(kernel(a, b, f, g, bias), wanted)


@pytest.mark.parametrize("seed", range(6))
def test_random_kernels(seed: int) -> None:
    """Sums of one to three products of matrices in any order, with any length of k, scaled, from C on."""
    random = np.random.default_rng(seed)
    m, n = (int(each) for each in random.integers(20, 150, 2))
    element = ("f16", "bf16", "f32")[seed % 3]
    dtype: Any = np.float32 if element == "f32" else np.float16
    if element == "bf16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    block = Tile(m=32, n=32, k=(16, 32)[seed % 2])
    kernel = TileKernel("sums", Tile(m=m, n=n, k=64), block, element, stages=1 + seed % 3 if element != "f32" else 1)
    c, d = kernel.reads("C", "mn", (m, n), "f32"), kernel.writes("D", "mn", (m, n))
    pairs: list[Any] = []
    wanted = np.zeros((m, n))
    arrays: list[Any] = []
    for number in range(random.integers(1, 4)):
        k = int(random.integers(1, 80))
        sides: list[Any] = []
        values: list[Any] = []
        for name, own in (("A", {"m": m, "k": k}), ("B", {"k": k, "n": n})):
            order = "".join(own) if element == "f32" or random.random() < 0.5 else "".join(reversed(own))
            array = random.integers(-2, 3, [own[each] for each in order]).astype(dtype)
            sides.append(kernel.reads(f"{name}{number}", order, array.shape))
            arrays.append(array)
            values.append(array if order == "".join(own) else array.T)
        pairs.append((*sides, k))
        wanted += values[0].astype(np.float64) @ values[1].astype(np.float64)
    for tile in kernel.parallelise(Tile(m=m, n=n), by=block.project("mn")):
        total = kernel.zeros(tile)
        for a, b, k in pairs:
            for step in kernel.walk(Tile(k=k), by=block.project("k")):
                total.add_product(a, b, tile.join(step))
        kernel.store(total.value * 2.0 - kernel.load(c, tile), d, tile)
    start = random.integers(-5, 6, (m, n)).astype(np.float32)
    np.testing.assert_array_equal(kernel.compile(device="simulator")(start, *arrays), 2 * wanted - start)


def test_loops_are_where_they_belong_and_tiles_fit() -> None:
    kernel = TileKernel("f", Tile(m=64, n=64, k=64), Tile(m=64, n=64, k=32))
    with pytest.raises(InputError, match="walk outside of parallelise"):
        next(kernel.walk(Tile(k=64), Tile(k=32)))
    next(loop := kernel.parallelise(Tile(m=64, n=64), Tile(m=64, n=64)))
    with pytest.raises(InputError, match="parallelise inside of parallelise"):
        next(kernel.parallelise(Tile(m=64), Tile(m=64)))
    del loop
    large = TileKernel("f", Tile(m=512, n=512, k=512), Tile(m=128, n=128, k=64), stages=3)
    a, b = large.reads("A", "mk", (512, 512)), large.reads("B", "kn", (512, 512))
    for tile in large.parallelise(Tile(m=512, n=512), Tile(m=128, n=128)):
        total = large.zeros(tile)
        for step in large.walk(Tile(k=512), Tile(k=64)):
            for _ in range(4):
                total.add_product(a, b, tile.join(step))
    with pytest.raises(InputError, match="4 products in a block, whose tiles take"):
        large.module()


def test_names_are_public() -> None:
    assert {"Tile", "TileKernel"} <= set(mlir_gemm.__all__)
