"""Kernels run in the order in which L2 has what they read: the bytes between them, every order tried, and results."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.tile_model.reuse import Access, Order, Reuse, best_order

TWO = """
#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#c = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<96x256xf16>, %y: tensor<96x256xf16>) -> (tensor<256xf32>, tensor<256xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x256xf16>
  %a = linalg.softmax dimension(1) ins(%x : tensor<96x256xf16>) outs(%e : tensor<96x256xf16>) -> tensor<96x256xf16>
  %b = linalg.softmax dimension(1) ins(%y : tensor<96x256xf16>) outs(%e : tensor<96x256xf16>) -> tensor<96x256xf16>
  %v = tensor.empty() : tensor<256xf32>
  %f = linalg.fill ins(%z : f32) outs(%v : tensor<256xf32>) -> tensor<256xf32>
  %p = linalg.generic {indexing_maps = [#t, #c], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<96x256xf16>) outs(%f : tensor<256xf32>) {
  ^bb0(%s: f16, %o: f32):
    %w = arith.extf %s : f16 to f32
    %q = arith.addf %w, %o : f32
    linalg.yield %q : f32
  } -> tensor<256xf32>
  %r = linalg.generic {indexing_maps = [#t, #c], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<96x256xf16>) outs(%f : tensor<256xf32>) {
  ^bb0(%s: f16, %o: f32):
    %w = arith.extf %s : f16 to f32
    %q = arith.addf %w, %o : f32
    linalg.yield %q : f32
  } -> tensor<256xf32>
  return %p, %r : tensor<256xf32>, tensor<256xf32>
}
"""
"""Two softmaxes, then the sums of the columns of each: buffers of 48 KB between them."""
SMALL = "sm_90a:l2=0.1"
"""A chip of which L2 keeps 80 KB."""


def branches(size: int, room: int) -> Order:
    """Two branches of two launches, one of each in turn, on buffers of one size."""
    reads_writes = ((0, 1), (2, 3), (1, 4), (3, 5))
    launches = [Access(frozenset({read}), frozenset({written})) for read, written in reads_writes]
    before = [frozenset[int](), frozenset[int](), frozenset({0}), frozenset({1})]
    return Order(launches, before, dict.fromkeys(range(6), size), room, frozenset({1, 3}))


def test_the_bytes_between_two_branches() -> None:
    """Of what the other branch touches all counts, of what writer and reader touch beside the buffer half."""
    order = branches(16, 1000)
    assert order.distances((0, 1), 2) == {1: 16 + 2 * 16 + (16 + 16) / 2}
    assert order.distances((0, 1, 2), 3) == {3: 16 + 2 * 16 + (16 + 16) / 2}
    assert order.distances((0,), 2) == {1: 16 + (16 + 16) / 2}
    assert order.distances((), 0) == {}  # nobody has touched what it reads
    assert order.reuse() == Reuse(0, 2 * 64)
    assert branches(16, 40).reuse() == Reuse(2 * 16, 2 * 40)


@pytest.mark.parametrize(("room", "places"), [(20, (0, 1, 2, 3)), (40, (0, 2, 1, 3)), (64, (0, 1, 2, 3))])
def test_order_changes_only_where_something_is_gained(room: int, places: tuple[int, ...]) -> None:
    """Not where nothing fits, nor where all does."""
    assert best_order(branches(16, room)) == places


def drawn(rng: random.Random) -> Order:
    """A program of up to six launches: each reads inputs and what others have written."""
    count = rng.randint(3, 6)
    sizes = {number: rng.choice((4, 10, 16, 24)) for number in range(2 + count)}
    launches: list[Access] = []
    before: list[frozenset[int]] = []
    for number in range(count):
        read = rng.sample(range(2 + number), rng.randint(1, 2))
        launches.append(Access(frozenset(read), frozenset({2 + number})))
        before.append(frozenset(each - 2 for each in read if each > 1))
    return Order(launches, before, sizes, rng.choice((30, 45, 60)), frozenset(range(2, 1 + count)))


def test_no_allowed_order_is_better() -> None:
    """Of 60 random programs, beside all their orders; the order found is that of the source unless it is better, needs
    no more memory, and stays."""
    rng, changes = random.Random(7), 0
    for _ in range(60):
        order = drawn(rng)
        numbers = range(len(order.launches))
        allowed = [
            order.changed(each)
            for each in itertools.permutations(numbers)
            if all(set(order.before[launch]) <= set(each[:place]) for place, launch in enumerate(each))
        ]
        least = min(each.reuse().missed for each in allowed if each.most_in_use() <= order.most_in_use())
        places = best_order(order, evaluated=10**6)
        found = order.changed(places)
        assert found.reuse().missed == least
        assert found.most_in_use() <= order.most_in_use()
        assert all(set(order.before[launch]) <= set(places[:place]) for place, launch in enumerate(places))
        assert (places == tuple(numbers)) is (least == order.reuse().missed)
        assert best_order(found) == tuple(numbers)
        changes += places != tuple(numbers)
    assert changes > 5


def test_long_programs_are_ordered_in_one_descent() -> None:
    """150 branches, one launch of each in turn: what a greedy search finds, and no more than so many steps."""
    count = 150
    launches = [Access(frozenset({n}), frozenset({count + n})) for n in range(2 * count)]
    before = [frozenset({n - count}) if n >= count else frozenset[int]() for n in range(2 * count)]
    order = Order(launches, before, dict.fromkeys(range(3 * count), 16), 40, frozenset(range(count, 2 * count)))
    places = best_order(order, evaluated=1)
    assert order.changed(places).reuse().missed == 0


def test_two_branches_compute_the_same_in_another_order() -> None:
    """The second kernel of a branch comes right after the first, the report says so, both branches have their buffer in
    the same place, and every element is what it was."""
    known, ordered = (mlir_gemm.compile(TWO, device="simulator", chip=chip) for chip in ("sm_90a", SMALL))
    names = [[step.entry for step in kernel.launch.steps] for kernel in (known, ordered)]
    assert names == [[f"f_{n}_kernel" for n in order] for order in ((0, 1, 2, 3), (0, 2, 1, 3))]
    assert known.launch.workspace_bytes == 2 * ordered.launch.workspace_bytes
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((96, 256)).astype(np.float16) for _ in range(2))
    for one, other in zip(known(x, y), ordered(x, y), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))
    assert "f_2 after f_0 (0.047 MB)" in compile_module(TWO, chip=SMALL, until="select").note
    assert not compile_module(TWO, chip="sm_90a", until="select").note


@pytest.mark.parametrize("stage", ["select", "nvvm"])
def test_saved_text_keeps_its_order(stage: str) -> None:
    whole = compile_module(TWO, chip=SMALL, keep=(stage,))
    assert compile_module(whole.ir(stage)).code == whole.code
