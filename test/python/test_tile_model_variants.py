"""Which variant runs for which sizes."""

from __future__ import annotations

import dataclasses

import pytest

from mlir_gemm.spec.problem import Problem
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.select import estimate, select
from mlir_gemm.tile_model.variants import (
    DEFAULT_HINT,
    HINTS,
    WORTH,
    Chooser,
    Product,
    changed,
    nearest,
    neighbours,
    product_of,
)

H200 = target("sm_90")
LINEAR = Problem(2048, 4096, 1024, out="f16", reads_c=False, dynamic="m")
ROWS = Product(LINEAR, (("s0", 2048),), ((1,), (0,), (0,), (0,)))
PIN = {"block": (64, 64, 64), "warp": (32, 32, 16), "stages": 2, "raster": "row"}


def test_hints_around_a_size() -> None:
    assert [neighbours(size) for size in (0, 1, 16, 17, 600, 8192, 9000)] == [
        (16,), (16,), (16,), (16, 128), (512, 2048), (8192,), (8192,),
    ]  # fmt: skip
    assert [nearest(size) for size in (0, 40, 50, 250, 260, 1023, 1025, 10**6)] == [
        16, 16, 128, 128, 512, 512, 2048, 8192,
    ]  # fmt: skip
    assert DEFAULT_HINT in HINTS


def test_sizes_of_a_product_follow_from_two_compilations() -> None:
    sizes = {"s0": 100, "s1": 7}
    problem = Problem(m=300, n=7, k=64, batch=100 * 7)
    other = changed(sizes)
    assert other == {"s0": 300, "s1": 35}
    changes = dataclasses.replace(problem, m=900, n=35, batch=300 * 35)
    product = product_of(problem, sizes, changes)
    assert product is not None and product.at(sizes) == problem
    other = product.at({"s0": 11, "s1": 5})
    assert (other.m, other.n, other.k, other.batch) == (33, 5, 64, 55)
    empty = product.at({"s0": 0, "s1": 5})
    assert (empty.m, empty.n, empty.batch) == (3, 5, 5)
    for shifted in ({"n": 36}, {"n": 14}, {"m": 300 * 4}):
        assert product_of(problem, sizes, dataclasses.replace(changes, **shifted)) is None
    many = {f"s{number}": 4 for number in range(9)}
    assert product_of(problem, many, problem) is None


@pytest.mark.parametrize("rows", [1, 15, 16, 60, 128, 200, 511, 1000, 3000, 8192, 50000])
def test_no_neighbour_is_predicted_to_be_much_faster(rows: int) -> None:
    chooser = Chooser([ROWS], H200, {})
    hints = chooser.choose({"s0": rows})
    assert hints["s0"] in HINTS
    chosen = select(ROWS.at(hints), H200).schedule
    real = ROWS.at({"s0": rows})
    for hint in neighbours(rows):
        other = select(ROWS.at({"s0": hint}), H200).schedule
        assert WORTH * estimate(real, chosen, H200).total <= estimate(real, other, H200).total
    assert chooser.seconds(hints, {"s0": rows}) == estimate(real, chosen, H200).total


def test_few_rows_and_many_rows_have_variants_of_their_own() -> None:
    chooser = Chooser([ROWS], H200, {})
    assert chooser.choose({"s0": 1}) == {"s0": 16}
    assert chooser.choose({"s0": 1})["s0"] < chooser.choose({"s0": 300})["s0"] <= chooser.choose({"s0": 9000})["s0"]


def test_the_same_schedules_are_one_variant() -> None:
    chooser = Chooser([ROWS], H200, PIN)
    assert {chooser.choose({"s0": rows})["s0"] for rows in (1, 100, 3000, 9000)} == {DEFAULT_HINT}
    assert Chooser([], H200, {}).choose({"s0": 3}) == {"s0": DEFAULT_HINT}


def test_where_the_model_has_no_answer_the_nearest_hints_are_taken() -> None:
    impossible = {**PIN, "block": (16, 64, 64), "warp": (32, 32, 16)}
    assert Chooser([ROWS], H200, impossible).choose({"s0": 300}) == {"s0": 512}
    many = Product(LINEAR, tuple((f"s{n}", 8) for n in range(4)), ((1, 0, 0, 0), (0, 1, 0, 0), (0,) * 4, (0,) * 4))
    assert Chooser([many], H200, {}).choose({"s0": 1, "s1": 100, "s2": 3, "s3": 9000}) == {
        "s0": 16, "s1": 128, "s2": 16, "s3": 8192,
    }  # fmt: skip
