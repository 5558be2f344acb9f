"""Loops over elements, loops around products, and results written to parts of memory: each kernel against the source,
whose loops run one by one in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.simulator.reference import evaluate_all

LOOPS = Path(__file__).parent.parent / "modules" / "loops"
KINDS = {
    "argmax": ["elementwise", "rows"], "backwards": ["elementwise"], "count": ["elementwise", "rows"],
    "epilogue": ["product"], "filter": ["elementwise"], "khandelwal": ["product"], "open": ["product"],
    "parallel_sum": ["rows"], "row_sums": ["rows"], "softmax": ["rows"], "tiled": ["product"], "total": ["rows"],
    "pooling": ["elementwise"],
    "windows": ["elementwise"], "power": ["product"] * 3, "blocks": ["product", "elementwise"],
    "heads": ["product"] * 4, "parts": ["product", "elementwise"], "swapped_parts": ["elementwise"] * 3,
    "columns": ["product", "product", "elementwise"],
}  # fmt: skip
"""What kernels each file of loops becomes."""
OPEN = {"s0": 11, "s1": 9}


def test_every_file_is_listed() -> None:
    assert {path.stem for path in LOOPS.glob("*.mlir")} == set(KINDS)


def _random(argument: Any, rng: np.random.Generator) -> Any:
    dtype = argument.dtype.replace("f", "float").replace("i", "int")
    return np.asarray(rng.standard_normal(argument.shape) * 4).astype(dtype)


@pytest.mark.parametrize("name", KINDS)
def test_loops(name: str) -> None:
    path = LOOPS / f"{name}.mlir"
    kernel = mlir_gemm.compile(path, device="simulator")
    assert [each.kind for each in kernel.kernels] == KINDS[name]
    rng = np.random.default_rng(len(name))
    arguments = (kernel.at(**OPEN) if kernel.symbols else kernel).launch.arguments
    given: list[Any] = [_random(each, rng) for each in arguments]
    given = [array for array, each in zip(given, arguments, strict=True) if each.role != "result"]
    wanted, results, written = evaluate_all(path.read_text(), given)
    made = kernel(*given)
    pairs = [(given[number], wanted[number]) for number in written]
    pairs += [(made, result) for result in results]  # one at most
    assert pairs
    for each in pairs:
        found, want = (np.asarray(one, np.float64) for one in each)
        assert np.linalg.norm(found - want) <= 2e-6 * np.linalg.norm(want)


def test_products_of_f16_are_exact_before_they_are_summed() -> None:
    """Khandelwal's nest multiplies in f16, where 300 * 300 overflows, and adds up in f32."""
    kernel = mlir_gemm.compile(LOOPS / "khandelwal.mlir", device="simulator")
    a, b, c = np.full((32, 48), 300, np.float16), np.full((48, 24), 300, np.float16), np.zeros((32, 24), np.float32)
    kernel(a, b, c)
    assert np.array_equal(c, np.full((32, 24), 48 * 90000, np.float32))
