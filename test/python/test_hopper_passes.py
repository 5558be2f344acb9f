"""Kernels of wgmma through the passes, the stages and the assembler: nothing spills, nothing is serialised."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest
from assembled import machine_code, usage
from draws import draws
from dynamic_products import DynamicProduct
from group_products import GroupProduct
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mlir_gemm
from mlir_gemm.bench.contenders import schedule_text
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import PROBLEMS
from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import COMPILER, parse_module
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.block import consumer_warpgroups
from mlir_gemm.parts.fields import applying
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import STAGES
from mlir_gemm.tile_model.chips import target

CHIP = "sm_90a"
ONE, TALL = "block=64x128x64,warp=64x128x64", "block=256x128x64,warp=128x128x64"
PAIR, WIDE = "block=128x128x64,warp=64x128x64", "block=128x256x64,warp=64x256x64"
WALK = f"{WIDE},persistent=132"
KERNELS = (
    (GroupProduct(4096, 4096, 1024), WALK),
    (GroupProduct(4096, 4096, 1024, b="nk"), WALK),
    (GroupProduct(4096, 4096, 1024, a="km", b="nk"), WIDE),
    (GroupProduct(4096, 4096, 1024, a="km"), f"{TALL},persistent=132"),
    (GroupProduct(1024, 1024, 1024, "bf16", "bf16"), ONE),
    (GroupProduct(1024, 1024, 1024, "bf16", "f32"), "block=64x256x64,warp=64x256x64"),
    (GroupProduct(2048, 2048, 512, out="f32"), PAIR),
    (GroupProduct(2048, 2048, 512, b="nk", out="f32"), "block=192x128x64,warp=64x128x64"),
    (GroupProduct(2048, 2048, 512, "f32", "f32", b="nk"), "block=128x128x32,warp=64x128x32,precision=tf32"),
    (GroupProduct(1000, 1000, 1000), PAIR),
    (GroupProduct(1001, 1000, 1000, out="f32"), f"{WIDE},smem_epilogue=off,persistent=16"),
    (GroupProduct(64, 8192, 8192, b="nk"), "block=64x64x128,warp=64x64x128"),
    (GroupProduct(4096, 4096, 1024, epilogue=("bias", "gelu")), WALK),
    (GroupProduct(4096, 4096, 1024, "bf16", "bf16", epilogue=("silu", "gate")), WALK),
    (GroupProduct(4096, 4096, 1024, epilogue=("bias", "relu", "residual")), f"{PAIR},persistent=132"),
    (GroupProduct(999, 1000, 1000, out="f32", epilogue=("bias", "gelu", "residual")), WIDE),
    (GroupProduct(4096, 4096, 1024), f"{WALK},cluster_m=2"),
    (GroupProduct(4096, 4096, 512, epilogue=("bias", "gelu")), f"{ONE},persistent=132,ping_pong=on"),
    (GroupProduct(4096, 4096, 1024, b="nk", epilogue=("bias",)), f"{WIDE},cluster_n=2"),
    (GroupProduct(512, 512, 4096, epilogue=("bias", "gelu")), f"{PAIR},split_k_cluster=4"),
    (GroupProduct(2048, 2048, 512, "f8E4M3FN", "f32", b="nk"), "block=128x128x128,warp=64x128x128,precision=f8"),
)


@cache
def compiled(product: GroupProduct, schedule: str) -> Compilation:
    return compile_module(product.source(), chip=CHIP, schedule=Schedule.parse(f"mma=wgmma,{schedule}"))


def ptx_of(product: GroupProduct, schedule: str) -> str:
    found = compiled(product, schedule).ptx
    assert found
    return found


@pytest.mark.parametrize(("product", "schedule"), KERNELS, ids=[f"{product}-{text}" for product, text in KERNELS])
def test_nothing_spills_and_the_model_counts_the_shared_memory(product: GroupProduct, schedule: str) -> None:
    """The assembler has nothing to say, and a launch asks for no more than the model counts."""
    done = compiled(product, schedule)
    used = usage(done.ptx, CHIP)
    assert (used.spill_bytes, used.warnings) == (0, ())
    assert done.problem is not None and done.schedule is not None and done.launch is not None
    asked = done.launch.steps[-1].shared_bytes
    assert asked <= smem_bytes(done.problem, done.schedule) <= target(CHIP).smem_block


@pytest.mark.parametrize("group", ["large", "medium", "skinny", "ragged", "types", "epilogues"])
@pytest.mark.parametrize("layout", ["NN", "TT"])
def test_the_choices_for_the_problems_that_are_measured_assemble_as_well(group: str, layout: str) -> None:
    for problem in PROBLEMS:
        if (problem.group, problem.layout) != (group, layout) or problem.dtype not in ("f16", "fp8", "s8", "tf32"):
            continue
        kernel = mlir_gemm.compile(module(problem), chip=CHIP, schedule=schedule_text(problem, "") or None)
        for name, used in assembler.usages(kernel.ptx, CHIP).items():
            assert (used.spill_bytes, used.warnings) == (0, ()), (problem, name)


def without(pattern: str) -> str:
    """A kernel's PTX without the lines that a pattern matches."""
    ptx = ptx_of(GroupProduct(1024, 1024, 256), PAIR)
    left = re.sub(rf"^.*{pattern}.*\n", "", ptx, flags=re.M)
    assert left != ptx
    return left


def test_what_the_assembler_says_of_wgmma_is_not_lost() -> None:
    """It calls some of it `info`, and names the kernel in the text only."""
    used = usage(without(r"wgmma\.wait_group"), CHIP)
    assert [text[:8] in ("(C7517) ", "(C7518) ") for text in used.warnings] == [True]
    used = usage(without(r"\.(maxntid|minnctapersm)"), CHIP)
    assert [text.startswith("(C7508) Potential Performance Loss: 'setmaxnreg'") for text in used.warnings] == [True]


def fields_of(number: int) -> dict[str, Any]:
    """The tiles of a kernel."""
    return Schedule.parse(f"mma=wgmma,{KERNELS[number][1]}")


@pytest.mark.parametrize(
    ("number", "instruction"),
    [(0, "HGMMA.64x256x16.F32"), (4, "HGMMA.64x128x16.F32.BF16"), (8, "HGMMA.64x128x8.F32.TF32")],
)
def test_machine_code_multiplies_and_copies_by_the_engines(number: int, instruction: str) -> None:
    code = machine_code(ptx_of(*KERNELS[number]), CHIP)
    assert instruction in code
    assert "UTMALDG.2D" in code
    assert "UTMASTG.2D" in code
    assert ("USETMAXREG" in code) == (consumer_warpgroups(Schedule.make(fields_of(number))) > 1)


SMALL = GroupProduct(256, 192, 320, epilogue=("bias",))
SMALL_SCHEDULE = "block=128x64x64,warp=64x64x64,stages=3,persistent=4"


@cache
def small_stages() -> Any:
    fields = Schedule.parse(f"mma=wgmma,{SMALL_SCHEDULE}")
    return compile_module(SMALL.source(), chip=CHIP, schedule=fields, keep=("all",))


@pytest.mark.parametrize("stage", STAGES[1:-1])
def test_a_kernel_of_roles_is_taken_up_from_any_stage(stage: str) -> None:
    whole = small_stages()
    again = compile_module(whole.ir(stage))
    assert again.ptx == whole.ptx
    assert again.launch == whole.launch


def test_compiling_is_deterministic() -> None:
    fields = Schedule.parse(f"mma=wgmma,{SMALL_SCHEDULE}")
    assert compile_module(SMALL.source(), chip=CHIP, schedule=fields).ptx == small_stages().ptx


@pytest.mark.parametrize("k", [0, 8, 64, 200])
@pytest.mark.parametrize(
    "product",
    [
        DynamicProduct({"m": 64, "n": 64}, a="km", b="kn"),
        DynamicProduct({"m": 64, "n": 64}, a="mk", b="nk"),
        DynamicProduct({}, batched=True, bias=True),
    ],
    ids=["k", "k along rows", "all sizes"],
)
def test_sizes_known_at_run_time_only(product: DynamicProduct, k: int) -> None:
    """Also none: the consumer waits for a first step, which the producer then fills with zeros."""
    kernel = mlir_gemm.compile(product.source(), chip=CHIP, device="simulator")
    arrays = product.arrays({"b": 2, "m": 64, "n": 64, "k": k}, np.random.default_rng(k))
    np.testing.assert_array_equal(kernel(*arrays[:-1]), product.expected(arrays))
    schedules = [record.schedule for records in kernel.variants.values() for record in records]
    assert "wgmma" in [schedule.mma for schedule in schedules if schedule is not None]


@st.composite
def products(draw: st.DrawFn) -> GroupProduct:
    element = draw(st.sampled_from(["f16", "bf16"]))
    return GroupProduct(
        m=draw(st.sampled_from([1, 17, 64, 100, 200, 384, 512, 1000])),
        n=draw(st.sampled_from([8, 24, 64, 104, 256, 320, 512, 777])),
        k=draw(st.sampled_from([8, 64, 72, 128, 256, 520, 1024])),
        element=element,
        out=draw(st.sampled_from([element, "f32"])),
        a=draw(st.sampled_from(["mk", "km"])),
        b=draw(st.sampled_from(["kn", "nk"])),
        epilogue=draw(st.sampled_from([(), ("bias",), ("bias", "gelu"), ("silu", "gate"), ("residual",)])),
    )


@st.composite
def schedules(draw: st.DrawFn) -> dict[str, Any]:
    m, n = draw(st.sampled_from([64, 128, 192])), draw(st.sampled_from([8, 16, 32, 64, 72, 96, 128, 136, 192, 256]))
    k = draw(st.sampled_from([64, 128, 192]))
    block = (m * draw(st.sampled_from([1, 1, 2, 3])), n * draw(st.sampled_from([1, 1, 2, 3])), k)
    cluster = draw(st.sampled_from(["", "", "cluster_m", "cluster_n", "split_k_cluster"]))
    return applying({
        "mma": "wgmma", "mainloop": "tma", "layout": "swizzle128", "pad": 0, "instruction": (64, 8, 16),
        "block": block, "warp": (m, n, k),
        "stages": draw(st.integers(2, 6)),
        "persistent": draw(st.sampled_from([0, 0, 1, 2, 4, 132])),
        "smem_epilogue": draw(st.booleans()),
        "dependent_launch": draw(st.booleans()),
        "unroll": draw(st.booleans()),
        "raster": draw(st.sampled_from(["row", "column", "grouped", "snake"])),
        "raster_group": draw(st.integers(1, 9)),
        "min_blocks": draw(st.sampled_from([0, 0, 1, 2])),
        "storage": draw(st.sampled_from(["auto", "dynamic"])),
        "ping_pong": draw(st.sampled_from([False, False, True])),
        **({cluster: draw(st.sampled_from([2, 4]))} if cluster else {}),
    })  # fmt: skip


@settings(max_examples=draws(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(products(), schedules())
def test_any_schedule_that_the_rules_allow_compiles(product: GroupProduct, fields: dict[str, Any]) -> None:
    try:
        found = compile_module(product.source(), chip=CHIP, schedule=fields, until="lower", keep=("lower",))
    except ScheduleError:
        assume(False)
        return
    text = found.ir("lower")
    assert "nvvm.wgmma.mma_async" in text
    check_bytes(text)


@pytest.mark.parametrize(
    ("product", "schedule"),
    [
        (GroupProduct(768, 64, 128), "block=384x64x64,warp=128x64x64"),
        (GroupProduct(64, 576, 128, b="nk"), "block=64x288x64,warp=64x96x64"),
        (GroupProduct(128, 1024, 128, b="nk"), "block=64x512x64,warp=64x256x64,cluster_m=2"),
    ],
    ids=["384 rows of A", "288 rows of B", "512 rows of B in a cluster"],
)
def test_tiles_that_no_box_holds_are_copied_whole(product: GroupProduct, schedule: str) -> None:
    fields = Schedule.parse(f"mma=wgmma,{schedule}")
    check_bytes(
        compile_module(product.source(), chip=CHIP, schedule=fields, until="lower", keep=("lower",)).ir("lower")
    )


def check_bytes(text: str) -> None:
    """What is announced at a barrier is what arrives there: the boxes of the copies beside it, and of those that the
    other blocks of the cluster make for all, as many as it makes for them."""
    with COMPILER:
        module = parse_module(text, "-", new_context())
        for launch, kernel in zip(named(module, "gpu.launch_func"), named(module, "gpu.func"), strict=True):
            arguments = dict(zip(body(kernel).arguments, launch.kernelOperands, strict=True))
            arriving = Counter[Any]()
            for copy in named(kernel, "nvvm.cp.async.bulk.tensor.shared.cluster.global"):
                about = arguments[copy.tmaDescriptor].owner.operation
                item = about.operands[0].type.element_type.width // 8
                mask = copy.multicastMask
                blocks = 1 if mask is None else int(constants.integer_of(mask) or 0).bit_count()
                arriving[copy.mbar] += prod(ir.DenseI64ArrayAttr(about.attributes["box"])) * item * blocks
            announcing = named(kernel, "nvvm.mbarrier.arrive.expect_tx")
            announced = {op.addr: constants.integer_of(op.txcount) for op in announcing}
            assert len(announced) == len(announcing) and announced == arriving
