"""Products of a long k: no accumulator adds up more than is stated, all SMs work, and the parts are added up in a tree
of fixed shape."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from group_products import GroupProduct
from test_split_k_in_workspace import operands_of

import mlir_gemm
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.spec import sum_tree
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT, REDUCTION
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import long_sums
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.dividing import divide_advice, divided
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.long_sums import Division, long_divisions, longest_sum

CHIP = "sm_90a"
H200 = target(CHIP)
THIN = Problem(3, 3, 1_000_000, "f16", "f16", "f32", "f16", reads_c=False, b_order="nk")
DEPTHS = (8193, 10_000, 12_345, 100_000, 500_000, 999_983, 1_000_000, 10_000_000, 49_999_991, 50_000_000)


def in_parts(product: GroupProduct, parts: int, depth: int) -> str:
    """The module of a product, its k in slices of so many elements and a rest."""
    text = compile_module(product.source(), chip=CHIP, until="import", keep=("import",)).ir("import")
    module = parse_module(text, "-", new_context())
    Runner().run(module, [step("split-k-in-workspace", slices=parts, depth=depth)])
    return str(module)


def run(source: str, arrays: list[np.ndarray], wanted: np.ndarray, schedule: str = "") -> tuple[np.ndarray, list[str]]:
    """What the simulator computes, and the kernels' kinds."""
    kernel = mlir_gemm.compile(source, chip=CHIP, device="simulator", schedule=schedule)
    d = np.full(wanted.shape, np.nan, wanted.dtype)
    kernel(*arrays, d)
    return d, [each.kind for each in kernel.kernels]


@pytest.mark.parametrize(("product", "longest"), [
    (GroupProduct(3, 3, 1_000_000, b="nk"), 2048),
    (GroupProduct(33, 33, 500_000), 8192),
    (GroupProduct(64, 64, 999_983, b="nk", element="bf16", out="bf16"), 8192),
    (GroupProduct(1, 256, 1_000_000), 16384),
], ids=str)  # fmt: skip
def test_no_accumulator_takes_more_than_is_stated_and_all_sms_work(product: GroupProduct, longest: int) -> None:
    kernels = compile_module(product.source(), chip=CHIP, until="select").kernels
    problems = [each.problem for each in kernels if each.problem is not None]
    assert all(each.k <= longest for each in problems)
    assert sum(each.k * each.batch for each in problems) == product.k
    assert max(each.batch for each in problems) >= 60
    assert sum(each.kind == ELEMENTWISE and "add" in each.name for each in kernels) >= 1


@pytest.mark.parametrize("side", [1, 3, 33, 64, 200, 256, 300, 1000])
@pytest.mark.parametrize("element", ["f16", "f32", "f8E4M3FN"])
def test_divisions_keep_to_the_stated_length(side: int, element: str) -> None:
    for depth in DEPTHS:
        problem = dataclasses.replace(THIN, m=side, n=side, k=depth, a=element, b=element)
        if not long_sums.is_long(problem):
            continue
        longest, found = longest_sum(problem), list(long_divisions(problem, H200))
        assert longest is not None and found
        assert longest <= {1: 2048, 3: 2048, 300: 65536, 1000: 65536}.get(side, 16384)
        for each in found:
            assert 0 < each.depth <= longest and 0 <= each.rest(depth) <= longest and each.parts > 1


@pytest.mark.parametrize("changes", [
    {"k": 8192}, {"m": 512, "n": 512, "k": 65536}, {"m": 4096, "n": 4096, "k": 28672},
], ids=str)  # fmt: skip
def test_other_products_are_not_long(changes: dict[str, int]) -> None:
    problem = dataclasses.replace(THIN, **changes)
    assert not long_sums.is_long(problem) and longest_sum(problem) is None


def test_exact_sums_are_divided_for_the_sms_alone() -> None:
    problem = dataclasses.replace(THIN, m=64, n=64, a="i8", b="i8", acc="i32", out="i32")
    assert longest_sum(problem) is None and divide_advice(problem, H200).parts > 60


@pytest.mark.parametrize("fields", [
    {"batch_invariant": True}, {"split_k_cluster": 2}, {"block": (64, 16, 64)}, {"split_k_workspace": 1},
], ids=str)  # fmt: skip
def test_what_the_user_has_shaped_is_left_whole(fields: dict[str, object]) -> None:
    assert divide_advice(THIN, H200, fields) == Division(1, THIN.k)


@pytest.mark.parametrize("k", [341056, 341000], ids=["even slices at odd places", "even slices at vectors"])
def test_the_models_number_of_slices_means_its_slices(k: int) -> None:
    """A schedule that a tuner found says how many slices, which all begin where whole vectors do."""
    problem = dataclasses.replace(THIN, m=136, n=8, k=k, a="bf16", b="bf16")
    own = divide_advice(problem, H200)
    assert own.parts > 1 and own.depth % 8 == 0
    again = divide_advice(problem, H200, {"split_k_workspace": own.parts, "mma": "mma_sync"})
    assert (again.parts, again.depth) == (own.parts, own.depth)
    assert divide_advice(problem, H200, {"split_k_workspace": 4}).even


def test_what_is_known_at_run_time_only_and_what_adds_to_memory_are_left_whole() -> None:
    for changes in ({"dynamic": "m"}, {"reads_c": True}):
        assert divide_advice(dataclasses.replace(THIN, **changes), H200).parts == 1


def test_parts_of_one_row_or_column_lie_along_k() -> None:
    parts = divided(dataclasses.replace(THIN, n=1, b_order="kn", b_vector=16), 500, 2000)
    assert (parts.b_order, parts.b_vector, parts.batch, parts.k) == ("nk", 128, 500, 2000)
    assert divided(dataclasses.replace(THIN, m=1, a_order="km", a_vector=16), 500, 1999).a_vector == 16


@pytest.mark.parametrize("count", [1, 2, 32, 33, 40, 125, 500, 1250, 7512, 30_048])
def test_a_tree_adds_up_every_part_once(count: int) -> None:
    levels, remaining, left = sum_tree.levels(count), count, 0
    for level in levels:
        assert level.groups * level.fan + level.left == remaining and level.fan <= sum_tree.MOST
        remaining, left = level.groups, left + level.left
    assert sum_tree.last_width(count) == remaining + left <= 50
    assert len(levels) <= 2 or count > 32**3


def in_tree(values: np.ndarray) -> np.float32:
    """Numbers added up in f32 as `sum_tree` says."""

    def total(terms: np.ndarray) -> np.float32:
        while len(terms) > sum_tree.IN_ORDER:
            even = len(terms) // 2 * 2
            terms = np.concatenate([terms[0:even:2] + terms[1:even:2], terms[even:]])
        result = terms[0]
        for term in terms[1:]:
            result = np.float32(result + term)
        return result

    left: list[np.float32] = []
    for level in sum_tree.levels(len(values)):
        left += list(values[level.groups * level.fan :])
        values = np.array([total(values[i * level.fan : (i + 1) * level.fan]) for i in range(level.groups)])
    return total(np.array([*values, *left], np.float32))


def test_the_order_is_that_of_the_tree_and_the_rest_comes_last() -> None:
    """Of each part one product is not zero, so that the sums of slices are exact, and the result has the tree's
    bits."""
    parts, depth, rest = 40, 4, 3
    k = parts * depth + rest
    rng = np.random.default_rng(7)
    values = rng.normal(size=parts + 1).astype(np.float32) * 10.0 ** rng.integers(-3, 4, parts + 1)
    values = values.astype(np.float16).astype(np.float32)
    a, b = np.zeros((1, k), np.float16), np.ones((k, 1), np.float16)
    a[0, np.arange(parts + 1) * depth] = values
    d, kinds = run(in_parts(GroupProduct(1, 1, k, out="f32"), parts, depth), [a, b], np.zeros((1, 1), np.float32))
    assert kinds.count(PRODUCT) == kinds.count(ELEMENTWISE) == 2
    assert d[0, 0] == np.float32(in_tree(values[:parts]) + values[parts])


@pytest.mark.parametrize(("product", "parts", "depth", "schedule"), [
    (GroupProduct(33, 30, 100, epilogue=("bias", "relu")), 3, 32, "mma=mma_sync"),
    (GroupProduct(16, 24, 560, a="km", b="nk", out="f32"), 34, 16, "mma=wgmma"),
    (GroupProduct(8, 1, 140, a="km", epilogue=("residual",)), 35, 4, "mma=simt"),
], ids=str)  # fmt: skip
def test_parts_and_a_rest_add_up_to_the_product(product: GroupProduct, parts: int, depth: int, schedule: str) -> None:
    arrays, wanted = operands_of(product, 5)
    d, _ = run(in_parts(product, parts, depth), arrays, wanted, schedule)
    assert np.array_equal(d, wanted)


def test_copies_with_aligned_rows_are_divided_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small product goes the way of a long one: B is copied to aligned rows, whose zeros its parts know of."""
    monkeypatch.setattr(long_sums, "LONG", 255)
    monkeypatch.setattr(long_sums, "LONGEST", ((long_sums.SMALL, 64),))
    monkeypatch.setattr(long_sums, "SHORTEST", 32)
    product = GroupProduct(40, 30, 600, epilogue=("bias",))
    arrays, wanted = operands_of(product, 5)
    d, kinds = run(product.source(), arrays, wanted, "mma=wgmma")
    assert kinds == [ELEMENTWISE, PRODUCT, ELEMENTWISE] and np.array_equal(d, wanted)


def test_explain_says_why() -> None:
    text = explain(THIN, H200)
    assert "no accumulator takes more than 2048 of k" in text and "in 500 slices" in text
    assert "a warp multiplies each element of a slice" in explain(dataclasses.replace(THIN, m=1, n=1), H200)
    wide = dataclasses.replace(THIN, m=64, n=64, k=10_000_000)
    assert "an accumulator of the tensor cores takes 256 of k at a time" in explain(wide, H200)
    assert "and the last 47 of k" in explain(dataclasses.replace(THIN, k=999_983, a_vector=16, b_vector=16), H200)


@pytest.mark.parametrize(("product", "kinds"), [
    (GroupProduct(1, 1, 20_000, b="nk"), [REDUCTION, ELEMENTWISE]),
    (GroupProduct(1, 1, 20_000, a="km", out="f32"), [REDUCTION, ELEMENTWISE]),
    (GroupProduct(2, 2, 9001, b="nk", element="bf16", out="f32"), [PRODUCT, REDUCTION, ELEMENTWISE]),
    (GroupProduct(1, 3, 16_000, b="nk", element="f32", out="f32", epilogue=("bias", "relu")), [REDUCTION, ELEMENTWISE]),
], ids=str)  # fmt: skip
def test_results_of_few_elements_have_a_warp_each(product: GroupProduct, kinds: list[str]) -> None:
    arrays, wanted = operands_of(product, 5)
    d, found = run(product.source(), arrays, wanted)
    assert found == kinds and np.array_equal(d, wanted)


def test_what_the_user_shapes_has_no_warps() -> None:
    product = GroupProduct(1, 1, 20_000, b="nk")
    arrays, wanted = operands_of(product, 5)
    d, kinds = run(product.source(), arrays, wanted, "mma=mma_sync")
    assert REDUCTION not in kinds and np.array_equal(d, wanted)


@pytest.mark.parametrize(("size", "types", "parts", "fields"), [
    ((64, 64, 10_000_000), "f16", 66, {"cluster_n": 2, "promotion": 4, "block": (64, 32, 64)}),
    ((128, 128, 1_000_000), "bf16", 63, {"cluster_n": 2, "promotion": 4, "block": (128, 64, 64)}),
    ((256, 256, 1_000_000), "f16", 30, {"cluster_m": 2, "cluster_n": 2, "promotion": 4}),
    ((256, 256, 10_000_000), "f16", 198, {"cluster_m": 2, "block": (128, 256, 64)}),
    ((64, 64, 1_000_000), "f16", 125, {"promotion": 4}),
    ((64, 64, 1_000_000), "f8E4M3FN", 125, {"promotion": 1}),
    ((256, 256, 100_000), "f8E4M3FN", 25, {"promotion": 1}),
    ((256, 256, 20_000_000), "f8E4M3FN", 30, {"promotion": 1, "cluster_m": 2, "cluster_n": 2}),
    ((512, 512, 1_000_000), "f16", 16, {"cluster_m": 2, "block": (128, 256, 64)}),
], ids=str)  # fmt: skip
def test_long_parts_are_promoted_or_share_copies(
    size: tuple[int, int, int], types: str, parts: int, fields: dict[str, object]
) -> None:
    problem = Problem(*size, types, types, "f32", "f32", reads_c=False, b_order="nk")
    division = divide_advice(problem, H200, {"precision": "f8"} if types.startswith("f8") else {})
    assert division.parts == parts and fields.items() <= dict(division.fields).items()


def test_a_division_brings_its_fields_to_the_parts_alone() -> None:
    product = GroupProduct(64, 64, 10_000_000, b="nk")
    kernels = compile_module(product.source(), chip=CHIP, until="select").kernels
    rest, whole = sorted((each for each in kernels if each.kind == PRODUCT), key=lambda each: each.name, reverse=True)
    assert whole.schedule is not None and whole.schedule.promotion == 4 and whole.schedule.cluster_n == 2
    assert rest.schedule is not None and rest.schedule.promotion == 0 and rest.schedule.cluster == 1


@pytest.mark.parametrize(("fields", "reason"), [
    ("block=128x128x64,warp=128x128x64,persistent=2,ping_pong=on", "expected ping_pong=off"),
    ("block=128x256x64,warp=64x256x64", "256 registers of two accumulators; expected at most 160"),
    ("block=64x64x64,warp=64x64x64,split_k_cluster=2", "expected split_k_cluster=1"),
], ids=str)  # fmt: skip
def test_what_is_not_promoted(fields: str, reason: str) -> None:
    with pytest.raises(mlir_gemm.ScheduleError, match=reason):
        compile_module(
            GroupProduct(256, 256, 1024).source(), chip=CHIP,
            schedule=Schedule.parse(f"mma=wgmma,promotion=2,{fields}"), until="select",
        )  # fmt: skip


@pytest.mark.parametrize("fields", [
    "block=64x64x64,warp=64x64x64,promotion=3", "block=128x128x64,warp=64x128x64,promotion=1,split_k_workspace=2",
    "block=64x64x64,warp=64x64x64,promotion=2,persistent=3", "block=64x64x64,warp=64x64x64,promotion=2,cluster_m=2",
], ids=str)  # fmt: skip
def test_promoted_products_are_right(fields: str) -> None:
    product = GroupProduct(128, 128, 512, epilogue=("bias", "relu"))
    arrays, wanted = operands_of(product, 5)
    d, _ = run(product.source(), arrays, wanted, f"mma=wgmma,{fields}")
    assert np.array_equal(d, wanted)
