"""Products of few tiles and a long k, in parts that a kernel after it adds up: the numbers, the launches, and when the
model divides."""

from __future__ import annotations

import dataclasses
import random
import re

import numpy as np
import pytest
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.kernel_record import ELEMENTWISE, PRODUCT
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.dividing import divide_advice, divided
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tile_model.select import select

CHIP = "sm_90a"
H200 = target(CHIP)
DEEP = Problem(512, 512, 16384, "f16", "f16", "f32", "f16", reads_c=False)
CASES = [
    (GroupProduct(64, 96, 512), 4, ""),
    (GroupProduct(40, 128, 512), 2, "mma=wgmma"),
    (GroupProduct(128, 64, 768, a="km"), 3, "mma=wgmma,swap_ab=on"),
    (GroupProduct(100, 72, 512, b="nk", epilogue=("bias", "relu")), 2, "mma=wgmma"),
    (GroupProduct(64, 64, 1024, a="km", b="nk", epilogue=("residual", "relu")), 8, "mma=wgmma"),
    (GroupProduct(64, 64, 512, element="bf16", out="f32"), 2, "mma=wgmma"),
    (GroupProduct(8, 256, 512, epilogue=("bias", "gate")), 4, "mma=wgmma"),
    (GroupProduct(96, 64, 320), 5, "mma=mma_sync"),
    (GroupProduct(33, 30, 70, epilogue=("bias",)), 7, "mma=simt"),
]


def compiled(product: GroupProduct, fields: str = "") -> Compilation:
    return compile_module(product.source(), chip=CHIP, schedule=Schedule.parse(fields))


def operands_of(product: GroupProduct, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Small integers as the module takes them, and the exact result."""
    import ml_dtypes

    rng = np.random.default_rng(seed)
    types = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}

    def drawn(*shape: int) -> np.ndarray:
        return rng.integers(-3, 4, shape).astype(np.float64)

    a, b = drawn(product.m, product.k), drawn(product.k, product.n)
    result = a @ b
    given = [a if product.a == "mk" else a.T, b if product.b == "kn" else b.T]
    arrays = [np.ascontiguousarray(each).astype(types[product.element]) for each in given]
    for step in product.epilogue:
        if step == "relu":
            result = np.maximum(result, 0)
            continue
        extra = drawn(product.n) if step == "bias" else drawn(product.m, product.n)
        result = result * extra if step == "gate" else result + extra
        arrays.append(extra.astype(types[product.out]))
    return arrays, result.astype(types[product.out])


@pytest.mark.parametrize(("product", "parts", "fields"), CASES, ids=str)
def test_the_parts_add_up_to_the_product(product: GroupProduct, parts: int, fields: str) -> None:
    arrays, wanted = operands_of(product, 5)
    kernel = mlir_gemm.compile(
        product.source(),
        chip=CHIP,
        device="simulator",
        schedule=",".join(filter(None, (fields, f"split_k_workspace={parts}"))),
    )
    assert [each.kind for each in kernel.kernels] == [PRODUCT, ELEMENTWISE]
    assert kernel.schedule is not None and kernel.schedule.split_k_workspace == parts
    assert kernel.problem is not None and kernel.problem.batch == parts
    d = np.full(wanted.shape, np.nan, wanted.dtype)
    kernel(*arrays, d)
    assert np.array_equal(d, wanted)


@pytest.mark.parametrize("seed", range(6))
def test_random_products_are_right_in_parts(seed: int) -> None:
    rng = random.Random(seed)
    parts = rng.choice((2, 3, 4, 5))
    product = GroupProduct(
        rng.choice((8, 24, 64, 136)), 8 * rng.randint(1, 16), 8 * parts * rng.randint(2, 12),
        a=rng.choice(("mk", "km")), b=rng.choice(("kn", "nk")),
        epilogue=tuple(rng.sample(("bias", "relu", "residual"), rng.randint(0, 2))),
    )  # fmt: skip
    test_the_parts_add_up_to_the_product(product, parts, "")


def test_what_is_pinned_beside_it_stays() -> None:
    schedule = compiled(
        GroupProduct(256, 256, 4096), "mma=wgmma,split_k_workspace=2,split_k_cluster=2,early_trigger=on"
    ).schedule
    assert schedule is not None and (schedule.split_k_workspace, schedule.split_k_cluster, schedule.early_trigger) == (
        2,
        2,
        True,
    )


def test_the_order_of_the_sum_is_that_of_k() -> None:
    """Random numbers in f32: the result has the bits of the parts' sums, added up from the first on."""
    parts, product = 4, GroupProduct(64, 64, 512, out="f32")
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=shape).astype(np.float16) for shape in ((64, 512), (512, 64)))

    def run(k: slice, fields: str) -> np.ndarray:
        own = dataclasses.replace(product, k=k.stop - k.start)
        d = np.full((64, 64), np.nan, np.float32)
        kernel = mlir_gemm.compile(own.source(), chip=CHIP, device="simulator", schedule=fields)
        kernel(np.ascontiguousarray(a[:, k]), np.ascontiguousarray(b[k]), d)
        return d

    tiles = "mma=wgmma,block=64x64x64,warp=64x64x64"
    pieces = [run(slice(part * 128, part * 128 + 128), f"{tiles},split_k_workspace=1") for part in range(parts)]
    wanted = ((pieces[0] + pieces[1]) + pieces[2]) + pieces[3]
    assert np.array_equal(run(slice(0, 512), f"{tiles},split_k_workspace={parts}"), wanted)


def test_the_kernel_behind_starts_when_the_product_ends() -> None:
    """Neither kernel starts the next one ahead, and each waits for the one in front."""
    compilation = compiled(GroupProduct(512, 512, 16384))
    assert compilation.ptx is not None and compilation.launch is not None
    first, second = re.split(r"(?=\.visible \.entry)", compilation.ptx)[1:]
    assert first.count("griddepcontrol.wait") == second.count("griddepcontrol.wait") == 1
    assert "launch_dependents" not in compilation.ptx
    assert [step.dependent_launch for step in compilation.launch.steps] == [True, True]


@pytest.mark.parametrize(("size", "parts"), [
    ((512, 512, 16384), 4), ((256, 512, 8192), 4), ((640, 640, 8192), 4), ((64, 2112, 7168), 4), ((1024, 512, 8192), 2),
    ((384, 384, 16384), 8),
    ((4096, 4096, 4096), 1), ((1024, 1024, 8192), 1), ((64, 8192, 8192), 1), ((512, 512, 1024), 1),
    ((16, 1024, 8192), 1), ((128, 4096, 14336), 1),
], ids=str)  # fmt: skip
def test_the_model_divides_what_has_few_tiles(size: tuple[int, int, int], parts: int) -> None:
    m, n, k = size
    assert divide_advice(dataclasses.replace(DEEP, m=m, n=n, k=k), H200).parts == parts


@pytest.mark.parametrize("fields", [
    {"batch_invariant": True}, {"split_k_cluster": 2}, {"block": (64, 64, 64)}, {"mma": "mma_sync"},
    {"split_k_workspace": 1},
], ids=str)  # fmt: skip
def test_the_model_divides_nothing_that_the_user_has_shaped(fields: dict[str, object]) -> None:
    assert divide_advice(DEEP, H200, fields).parts == 1


@pytest.mark.parametrize("changes", [
    {"batch": 2}, {"reads_c": True}, {"dynamic": ("m",)}, {"a_memory": "f32"},
], ids=str)  # fmt: skip
def test_the_model_divides_no_other_products(changes: dict[str, object]) -> None:
    assert divide_advice(dataclasses.replace(DEEP, **changes), H200).parts == 1


@pytest.mark.parametrize(("size", "parts"), [((256, 1024, 16384), 8), ((128, 1024, 49152), 1)])
def test_the_model_divides_what_l2_does_not_hold_if_reading_it_is_short(size: tuple[int, int, int], parts: int) -> None:
    """Of 42 MB an H100, whose L2 has 50, keeps a part; 113 MB come at the rate of DRAM, however they are divided."""
    m, n, k = size
    assert divide_advice(dataclasses.replace(DEEP, m=m, n=n, k=k), target("sm_90a:h100sxm")).parts == parts


def test_rows_of_slices_lie_in_one_tile_or_cluster() -> None:
    """Lines that two tiles need come from memory twice, since their blocks are at other steps of k."""
    product = Problem(8, 168, 448448, a="bf16", b="bf16", out="bf16", reads_c=False)
    choice = decide(product, target("sm_90a:h100sxm")).choice
    assert choice.problem.m == 168 and choice.problem.a_order == "km"
    assert choice.schedule.block[0] * choice.schedule.cluster_m >= 168


def test_other_chips_divide_nothing_by_themselves() -> None:
    assert divide_advice(DEEP, target("sm_80")).parts == 1
    (kernel,) = compile_module(GroupProduct(512, 512, 16384).source(), chip="sm_80", until="select").kernels
    assert kernel.schedule is not None and kernel.schedule.split_k_workspace == 1


def test_a_divided_product_is_predicted_to_take_less() -> None:
    whole, parts = select(DEEP, H200).cost.total, select(divided(DEEP, 4), H200).cost.total
    assert parts < 0.9 * whole


def test_explain_says_what_is_divided() -> None:
    text = explain(DEEP, H200)
    assert "divided   4 x 512x512x4096" in text
    assert "k in 4 slices, multiplied side by side and added up by a kernel after it" in text
    assert "divided" not in explain(DEEP, H200, {"split_k_workspace": 1}).split("chip ")[0]
    assert (
        list(decide(DEEP, H200).rewrites) == ["split_k_workspace"] and not decide(DEEP, H200, divisible=False).rewrites
    )
    compilation = compiled(GroupProduct(512, 512, 16384))
    assert compilation.schedule == decide(DEEP, H200).choice.schedule


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            "split_k_workspace=3",
            "split_k_workspace=3: the steps of a product cannot be divided: it has a k of 512, which does not divide",
        ),
        (
            "split_k_workspace=2,batch_invariant=on",
            "split_k_workspace=2 with batch_invariant=on: expected split_k_workspace=1",
        ),
        ("split_k_workspace=0", "expected at least 1"),
    ],
)
def test_what_cannot_be_divided(fields: str, reason: str) -> None:
    with pytest.raises(mlir_gemm.ScheduleError, match=reason):
        compiled(GroupProduct(64, 64, 512), fields)


def test_what_is_known_at_run_time_only_is_left_whole() -> None:
    source = GroupProduct(64, 64, 8192).source().replace("64x8192xf16", "?x8192xf16").replace("64x64x", "?x64x")
    source = source.replace("memref.alloc() : memref<?x64xf32>", "memref.alloc(%rows) : memref<?x64xf32>")
    source = source.replace("%zero = ", "%first = arith.constant 0 : index\n      %rows = memref.dim %A, %first : "
                            "memref<?x8192xf16>\n      %zero = ", 1)  # fmt: skip
    (kernel,) = compile_module(source, chip=CHIP, until="select").kernels
    assert kernel.schedule is not None and kernel.schedule.split_k_workspace == 1
    with pytest.raises(mlir_gemm.ScheduleError, match=r"split_k_workspace=2: .* sizes known at run time only"):
        compile_module(source, chip=CHIP, schedule={"split_k_workspace": 2}, until="select")


def test_a_refusal_names_only_what_was_pinned() -> None:
    with pytest.raises(mlir_gemm.ScheduleError, match="with block=192x100x64, mma=wgmma: "):
        compiled(GroupProduct(512, 512, 8192), "mma=wgmma,block=192x100x64")


def test_a_module_that_says_so_is_divided_and_one_that_adds_is_left_whole() -> None:
    text = (
        GroupProduct(64, 64, 512)
        .source()
        .replace(") {", ") attributes {tile.schedule = {split_k_workspace = 2 : i64}} {", 1)
    )
    compilation = compile_module(text, chip=CHIP)
    assert [each.kind for each in compilation.kernels] == [PRODUCT, ELEMENTWISE]
    adds = """func.func @product(%A: memref<256x8192xf16>, %B: memref<8192x256xf16>, %C: memref<256x256xf32>) {
      linalg.matmul ins(%A, %B : memref<256x8192xf16>, memref<8192x256xf16>) outs(%C : memref<256x256xf32>)
      return
    }"""
    (kernel,) = compile_module(adds, chip=CHIP, until="select").kernels
    assert kernel.schedule is not None and kernel.schedule.split_k_workspace == 1
    with pytest.raises(mlir_gemm.ScheduleError, match="it starts from what is in memory"):
        compile_module(adds, chip=CHIP, schedule={"split_k_workspace": 2}, until="select")


@pytest.mark.parametrize(
    ("size", "ahead"),
    [((960, 960, 6144), False), ((256, 256, 256), True), ((1000, 1000, 1000), False), ((16, 8192, 8192), False),
     ((4088, 4088, 4088), False), ((4096, 4096, 4096), True), ((32, 28672, 8192), True)],
    ids=str,
)  # fmt: skip
def test_the_next_kernel_starts_ahead_where_neighbours_do_not_matter(size: tuple[int, int, int], ahead: bool) -> None:
    """Nor where a kernel is short and leaves half of the SMs to the next one."""
    compilation = compiled(GroupProduct(*size))
    assert compilation.schedule is not None and compilation.schedule.early_trigger == ahead
    assert compilation.ptx is not None and ("launch_dependents" in compilation.ptx) == ahead


def test_pinned_slices_that_would_begin_between_vectors_are_the_models():
    """64 slices of 5329 elements begin at odd places; the model's 64 are a little shorter, and a rest of k is left."""
    problem = Problem(136, 8, 341056, "bf16", "bf16", "f32", "bf16", reads_c=False)
    own = divide_advice(problem, H200)
    assert problem.k % own.parts == 0 and own.depth != problem.k // own.parts
    assert divide_advice(problem, H200, {"split_k_workspace": own.parts}).depth == own.depth
    even = divide_advice(problem, H200, {"split_k_workspace": 32})  # 10658 elements, but the model makes others
    assert (even.parts, even.depth) == (32, problem.k // 32)
