"""Epilogues at a pace that leaves the tensor cores alone: the same bits, machine code that keeps the pace, and when the
model asks for it."""

from __future__ import annotations

import numpy as np
import pytest
from assembled import instructions, usage
from group_products import GroupProduct

import mlir_gemm
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.schedule import Schedule

CHIP = "sm_90a"
BY_TURNS = "mma=wgmma,block=128x128x64,warp=128x128x64,ping_pong=on"


def compiled(product: GroupProduct, fields: str = "") -> Compilation:
    return compile_module(product.source(), chip=CHIP, schedule=Schedule.parse(fields))


def proposed(product: GroupProduct) -> Schedule:
    """The model's choice among ping-pong tiles."""
    (kernel,) = compiled(product).kernels
    assert kernel.schedule is not None
    return kernel.schedule


@pytest.mark.parametrize(
    ("epilogue", "shape"),
    [
        (("gelu",), (512, 128, 128)),
        (("bias", "gelu"), (392, 136, 200)),
        (("silu", "gate"), (392, 136, 200)),
        (("bias", "relu", "residual"), (512, 128, 128)),
    ],
    ids=str,
)
def test_the_bits_are_those_without_a_pace(epilogue: tuple[str, ...], shape: tuple[int, int, int]) -> None:
    product = GroupProduct(*shape, epilogue=epilogue)
    rng = np.random.default_rng(3)
    shapes = [(shape[0], shape[2]), (shape[2], shape[1])]
    shapes += [
        (shape[1],) if step == "bias" else shape[:2] for step in epilogue if step not in ("gelu", "silu", "relu")
    ]
    operands = [rng.normal(size=each).astype(np.float16) for each in shapes]
    results = list[bytes]()
    for pace in (0, 2, 4):
        d = np.full(shape[:2], np.nan, np.float16)
        schedule = f"{BY_TURNS},persistent=2,throttle={pace}"
        mlir_gemm.compile(product.source(), chip=CHIP, device="simulator", schedule=schedule)(*operands, d)
        assert np.isfinite(d).all()
        results.append(d.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("out", ["f16", "bf16"])
def test_the_assembler_keeps_the_pace(out: str) -> None:
    """Should it see that the mask has no bits, nothing would be left of the XORs."""
    product = GroupProduct(4096, 4096, 4096, element=out, out=out, epilogue=("bias", "gelu"))
    free, paced = (compiled(product, f"{BY_TURNS},persistent=132,throttle={pace}").ptx for pace in (0, 2))
    logic = [sum(each.startswith("LOP3") for each in instructions(ptx, CHIP)) for ptx in (free, paced)]
    assert logic[1] - logic[0] >= 2 * 62  # two numbers in each of 64 pieces, but for the first ones
    used = usage(paced, CHIP)
    assert (used.spill_bytes, used.warnings) == (0, ())


@pytest.mark.parametrize(
    ("epilogue", "k", "pace"),
    [((), 4096, 0), (("bias",), 4096, 0), (("gelu",), 4096, 2), (("bias", "gelu"), 8192, 2), (("gelu",), 512, 0)],
)
def test_the_model_paces_what_the_products_of_another_tile_hide(epilogue: tuple[str, ...], k: int, pace: int) -> None:
    schedule = proposed(GroupProduct(4096, 4096, k, epilogue=epilogue))
    assert schedule.throttle == pace
    assert pace == 0 or schedule.ping_pong


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("mma=mma_sync,mainloop=tma,throttle=2", "throttle=2 with mma=mma_sync: expected 0"),
        ("mma=mma_sync,mainloop=cp_async,throttle=2", "throttle=2: expected 0 without mainloop=tma"),
        ("throttle=-1", "expected 0 to 64 numbers"),
    ],
)
def test_what_has_no_pace(fields: str, reason: str) -> None:
    with pytest.raises(mlir_gemm.ScheduleError, match=reason):
        compiled(GroupProduct(512, 512, 512, epilogue=("gelu",)), fields)
