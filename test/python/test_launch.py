"""Launch information as data, and the plan of the workspace."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mlir_gemm.spec.launch import Argument, Buffer, Constant, Launch, Step, TensorMap
from mlir_gemm.spec.workspace import ALIGNMENT, Life, plan

A = Argument("A", (4, 8), "f16", "in", (16, 1), 3)
STEP = Step("first", (2, 1, 1), (32, 1, 1), (1, 1, 1), 64, (0, 1))
PROGRAM = Launch((A,), (STEP, STEP), (Buffer(0, 100),), (Constant("c", (2,), "i8", b"\x01\x02"),), 256)
MAP = TensorMap(0, "bf16", (3, 4, 64), (1024, 256), (1, 4, 64), "128", 8)
UNKNOWN = TensorMap(1, "f32", ("s0", 64), (("mul", "s1", 4),), (4, 16), "none")
WITH_MAPS = Launch((A,), (Step("first", (2, 1, 1), (32, 1, 1), (2, 1, 1), 64, (MAP, UNKNOWN, 0, "s0"), True), STEP))
LIVES = some.lists(
    some.builds(
        lambda size, first, length: Life(size, first, first + length),
        some.integers(0, 5000),
        some.integers(0, 12),
        some.integers(0, 6),
    ),
    max_size=24,
)


@given(LIVES)
@settings(max_examples=300, deadline=None)
def test_buffers_in_use_at_the_same_time_never_overlap(lives: list[Life]) -> None:
    offsets, size = plan(lives)
    assert len(offsets) == len(lives)
    assert all(offset % ALIGNMENT == 0 and offset >= 0 for offset in offsets)
    assert all(offset + life.bytes <= size for offset, life in zip(offsets, lives, strict=True) if life.bytes)
    for (start, one), (other_start, other) in combinations(zip(offsets, lives, strict=True), 2):
        if one.bytes and other.bytes and one.meets(other):
            assert start + one.bytes <= other_start or other_start + other.bytes <= start
    rounded = [-(-life.bytes // ALIGNMENT) * ALIGNMENT for life in lives]
    assert size <= sum(rounded)
    busiest = max((sum(r for r, life in zip(rounded, lives, strict=True) if life.first <= step <= life.last)
                   for step in range(20)), default=0)  # fmt: skip
    assert size >= busiest


def test_a_chain_of_buffers_takes_two_places() -> None:
    lives = [Life(1000, step, step + 1) for step in range(8)]
    offsets, size = plan(lives)
    assert offsets == (0, 1024, 0, 1024, 0, 1024, 0, 1024)
    assert size == 2048
    assert plan([]) == ((), 0)


@pytest.mark.parametrize(
    "launch", [PROGRAM, Launch((A,), ()), Launch((A,), (STEP,)), WITH_MAPS, Launch((A,), WITH_MAPS.steps[:1])]
)
def test_json_and_back(launch: Launch) -> None:
    assert Launch.from_json(json.loads(json.dumps(launch.to_json()))) == launch


def test_one_kernel_is_described_without_steps() -> None:
    launch = Launch.of_kernel("e", (1, 2, 3), (32, 1, 1), (1, 1, 1), 7, (A,), (0,))
    assert not launch.is_program
    assert list(launch.to_json()) == [
        "entry",
        "grid",
        "block",
        "cluster",
        "shared_bytes",
        "dependent_launch",
        "arguments",
        "parameters",
    ]
    assert (launch.entry, launch.grid, launch.block, launch.shared_bytes) == ("e", (1, 2, 3), (32, 1, 1), 7)
    assert (launch.cluster, launch.parameters) == ((1, 1, 1), (0,))
    with pytest.raises(AttributeError, match="a program of 2 steps has no single 'entry'"):
        _ = PROGRAM.entry


def test_bytes_of_an_argument() -> None:
    assert (A.span_bytes, A.shift_bytes) == (2 * (3 * 16 + 7 + 1), 6)
    assert Argument("B", (4, 8), "f32", "in").span_bytes == 128
    assert Argument("E", (4, 0), "f32", "in", (0, 1)).span_bytes == 0
    assert PROGRAM.constants[0].data == b"\1\2"


def test_a_tensor_map_is_shown_as_the_driver_takes_it() -> None:
    step = WITH_MAPS.to_json()["steps"][0]
    assert json.loads(json.dumps(step["parameters"])) == [
        {
            "memory": 0,
            "dtype": "bf16",
            "offset_bytes": 16,
            "data_type": "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16",
            "global_dim": [64, 4, 3],
            "global_strides": [256, 1024],
            "box_dim": [64, 4, 1],
            "swizzle": "CU_TENSOR_MAP_SWIZZLE_128B",
        },
        {
            "memory": 1,
            "dtype": "f32",
            "offset_bytes": 0,
            "data_type": "CU_TENSOR_MAP_DATA_TYPE_FLOAT32",
            "global_dim": [64, "s0"],
            "global_strides": [["mul", "s1", 4]],
            "box_dim": [16, 4],
            "swizzle": "CU_TENSOR_MAP_SWIZZLE_NONE",
        },
        0,
        "s0",
    ]
    assert (step["cluster"], step["dependent_launch"]) == ((2, 1, 1), True)


def test_what_a_step_uses() -> None:
    first = WITH_MAPS.steps[0]
    assert first.memory == (0, 1, 0, "s0")
    assert WITH_MAPS.tensor_maps == first.tensor_maps == (MAP, UNKNOWN)
    assert WITH_MAPS.symbols == ("s0", "s1")
