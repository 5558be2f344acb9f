"""The compute capabilities that the tile model knows, as one table, each with the figures of one product. To add one,
add a row and a line of sources; nothing else changes. Other products stand in `products.py`.

Sources of the columns, unless a row says otherwise:

* `_Limits` and registers: "Technical Specifications per Compute Capability" in NVIDIA's CUDA programming guide.
* SMs, clock, L2, DRAM: the product's datasheet or the white paper of its architecture. The clock is the boost clock.
* `tensor`: dense f16 FLOPs with f32 accumulation in one clock of one SM, from the same white papers.
* `rates`: relative tensor rates from the dense rates that the same papers give for tf32, f16 with f16 accumulation,
  int8 and f64; FMA rates from "Arithmetic Instructions" in NVIDIA's CUDA programming guide (results in one clock of one
  SM by compute capability), two operations each. bf16 has f16's rate on every chip.
* `has`: sm_70 and sm_72 have WMMA and `mma.sync` of 8x8x4 on f16. `ldmatrix` and `mma.sync` of 16 bytes of k begin with
  sm_75; those of 32, of other types than f16 and bytes, and `cp.async` with sm_80; those of 8-bit floats with sm_89
  (PTX ISA). They are left out for sm_90 to sm_103, where the assembler makes products of f16 of them.
* `fitted`: what was fitted on the H200, for all rows: nothing was measured on other chips.
* `l2_bytes_s`: published microbenchmarks where a row says so, else an estimate of 32 bytes per clock and SM
  (that is what the H200's measured products need).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from mlir_gemm.spec.target import Rates, Target
from mlir_gemm.tile_model import fitted

KB = 1024


class _Limits(NamedTuple):
    """What one compute capability allows."""

    smem_block: int
    """KB of shared memory that a block may ask for."""
    smem_sm: int
    """KB of shared memory of an SM."""
    smem_reserved: int
    """KB of shared memory that the system keeps of each block."""
    threads_sm: int
    blocks_sm: int


_VOLTA = _Limits(96, 96, 0, 2048, 32)
_TURING = _Limits(64, 64, 0, 1024, 16)
_AMPERE = _Limits(163, 164, 1, 2048, 32)
_AMPERE_GRAPHICS = _Limits(99, 100, 1, 1536, 16)
_ORIN = _Limits(163, 164, 1, 1536, 16)
_ADA = _Limits(99, 100, 1, 1536, 24)
_HOPPER = _Limits(227, 228, 1, 2048, 32)

_OLDER = frozenset({"wmma.mma", "wmma.replicated", "dp4a.s32"})
_VOLTA_HAS = _OLDER | {"mma.m8n8k4"}
_TURING_HAS = _OLDER | {"mma.sync"}
_NEWER = frozenset({"wmma.mma", "mma.sync", "mma.sync.k32", "cp.async", "dp4a.s32"})
_ADA_HAS = _NEWER | {"mma.sync.f8"}
_LATER = _NEWER | {"mma.sync.f64"}
_BLACKWELL_HAS = _LATER | {"mma.sp.ordered"}
_GEFORCE_HAS = _BLACKWELL_HAS | {"mma.sync.f8"}
_HOPPER_ONLY = _LATER | {"cp.async.bulk.tensor", "wgmma.mma_async", "griddepcontrol"}
"""Capabilities of sm_70 and later, of sm_70 and sm_72, of sm_75, of sm_80 and later, of sm_89, of sm_90 and later, of
sm_100 and later, of sm_120 and sm_121, and of sm_90a, whose code runs on no other chip. What code for sm_90 does
without, so that it runs on all later chips too, it does not list."""

# Half the f32 lanes of the later ones, and f64 at half of f32's rate; no tensor cores for tf32 and f64.
_VOLTA_RATES = Rates(tf32=0, i8=0, fma_f32=128, fma_f64=64)
_TURING_RATES = Rates(tf32=0, fma_f32=128)
# A100: 156, 312, 624 and 19.5 TFLOP/s beside 312.
_AMPERE_RATES = Rates(f64=128, fma_f32=128, fma_f64=64)
GRAPHICS_RATES = Rates()
"""Professional graphics cards: 62.5 (tf32), 125 and 250 (int8) beside 125. f64 has no tensor cores of its own there:
`mma.sync` runs at the rate of FMA."""
TURING_GEFORCE_RATES = Rates(tf32=0, f16_f16=2.0, i8=4.0, fma_f32=128)
GEFORCE_RATES = Rates(f16_f16=2.0, i8=4.0)
"""GeForce cards halve f32 accumulation: 82.6 (tf32), 330 (f16) and 661 (int8) beside 165."""
# H200: 494 and 1979 beside 989 TFLOP/s with wgmma, of which mma.sync reaches the same part for each type (Luo et al.,
# "Dissecting the NVIDIA Hopper Architecture", 2024); f64, which only mma.sync has, 67 TFLOP/s at 1.98 GHz. mma.sp took
# 1.15 and 1.17 times as long as mma.sync at 4096^3 and 8192^3 (2026-11-24-h200-operands), which 0.78 gives; kernels for
# Ampere's mma.sp took 1.62 times as long as dense ones by wgmma on an H100 (NVIDIA/cutlass, issue 1335). On an A100 it
# pays: 484 for 302 TFLOP/s at 16384^3 (issue 408 there).
_HOPPER_RATES = Rates(f64=256, fma_f64=128, sparse=0.78)
# B200: 37 TFLOP/s of f64 with and without tensor cores; B300 gave up nearly all of f64 (1.2) and of int8 (an estimate).
_BLACKWELL_RATES = Rates(f64=128, fma_f64=128)
_ULTRA_RATES = Rates(i8=0.5)


def _chip(
    chip: str,
    name: str,
    limits: _Limits,
    *,
    sms: int,
    clock: float,
    tensor: float,
    l2: tuple[float, float],
    dram: float,
    rates: Rates,
    has: frozenset[str] = _NEWER,
) -> Target:
    """One row: clock in GHz, `l2` in MB and TB/s, `dram` in TB/s, `has` its capabilities."""
    return Target(
        chip=chip,
        name=name,
        sms=sms,
        clock_hz=clock * 1e9,
        smem_static=48 * KB,
        smem_block=limits.smem_block * KB,
        smem_sm=limits.smem_sm * KB,
        smem_reserved=limits.smem_reserved * KB,
        registers_sm=65536,
        registers_thread=255,
        threads_block=1024,
        threads_sm=limits.threads_sm,
        blocks_sm=limits.blocks_sm,
        tensor_flops_clock_sm=tensor,
        l2_bytes=round(l2[0] * KB * KB),
        l2_bytes_s=l2[1] * 1e12,
        dram_bytes_s=dram * 1e12,
        rates=rates,
        capabilities=has,
        fitted=fitted.H200,
    )


# H200 SXM: datasheet. Tensor rate: 64 % of the 4096 FLOP a clock that wgmma has, which is what published
# microbenchmarks find for mma.sync and WMMA. DRAM: a measured copy, read plus write (datasheet: 4.8). L2 rate
# (with what L1 keeps of it) fitted to measured products. Clock: that of products of 4096, from their time and the
# profiler's clocks; the power limit holds it under the 1.98 GHz boost, and 2 % lower at 8192.
_H200 = _chip(
    "sm_90", "H200", _HOPPER, sms=132, clock=1.7, tensor=2621, l2=(60, 11.0), dram=4.3, rates=_HOPPER_RATES, has=_LATER
)

ROWS = (
    # V100 SXM2: Volta white paper (125 TFLOP/s at 1.53 GHz); L2 rate measured by Jia et al., 2018.
    _chip(
        "sm_70",
        "V100",
        _VOLTA,
        sms=80,
        clock=1.53,
        tensor=1024,
        l2=(6, 2.2),
        dram=0.9,
        rates=_VOLTA_RATES,
        has=_VOLTA_HAS,
    ),
    # Jetson AGX Xavier: its technical brief (11 TFLOP/s of f16 at 1.377 GHz); memory shared with the CPU.
    _chip(
        "sm_72",
        "Xavier",
        _VOLTA,
        sms=8,
        clock=1.377,
        tensor=1024,
        l2=(0.5, 0.35),
        dram=0.137,
        rates=_VOLTA_RATES,
        has=_VOLTA_HAS,
    ),
    # T4: Turing white paper (65 TFLOP/s at 1.59 GHz; 70 W keep it nearer 1 GHz); L2 rate measured by Jia et al., 2019.
    _chip(
        "sm_75",
        "T4",
        _TURING,
        sms=40,
        clock=1.0,
        tensor=1024,
        l2=(4, 1.27),
        dram=0.32,
        rates=_TURING_RATES,
        has=_TURING_HAS,
    ),
    # A100 SXM 80 GB: Ampere white paper (312 TFLOP/s at 1.41 GHz).
    _chip("sm_80", "A100", _AMPERE, sms=108, clock=1.41, tensor=2048, l2=(40, 4.9), dram=2.0, rates=_AMPERE_RATES),
    # A10: datasheet (125 TFLOP/s at 1.695 GHz). GeForce cards of sm_86 have half of its tensor rate.
    _chip(
        "sm_86", "A10", _AMPERE_GRAPHICS, sms=72, clock=1.695, tensor=1024, l2=(6, 3.9), dram=0.6, rates=GRAPHICS_RATES
    ),
    # Jetson AGX Orin 64 GB: its technical brief (42.5 TFLOP/s dense at 1.3 GHz); memory shared with the CPU.
    _chip("sm_87", "Orin", _ORIN, sms=16, clock=1.3, tensor=2048, l2=(4, 0.66), dram=0.2, rates=GRAPHICS_RATES),
    # RTX 4090: Ada white paper (165 TFLOP/s with f32 accumulation at 2.52 GHz); L4 and L40 have twice its tensor rate.
    _chip(
        "sm_89",
        "RTX 4090",
        _ADA,
        sms=128,
        clock=2.52,
        tensor=512,
        l2=(72, 10.3),
        dram=1.0,
        rates=GEFORCE_RATES,
        has=_ADA_HAS,
    ),
    _H200,
    replace(_H200, chip="sm_90a", capabilities=_HOPPER_ONLY),
    # B200: datasheet. Tensor rate an estimate: the full 8192 need tcgen05; mma.sync is taken to run at sm_80's rate.
    _chip(
        "sm_100",
        "B200",
        _HOPPER,
        sms=148,
        clock=1.85,
        tensor=2048,
        l2=(126, 8.8),
        dram=7.7,
        rates=_BLACKWELL_RATES,
        has=_BLACKWELL_HAS,
    ),
    # B300: datasheet; tensor rate as for sm_100, an estimate.
    _chip(
        "sm_103",
        "B300",
        _HOPPER,
        sms=148,
        clock=1.9,
        tensor=2048,
        l2=(126, 9.0),
        dram=7.7,
        rates=_ULTRA_RATES,
        has=_BLACKWELL_HAS,
    ),
    # RTX 5090: Blackwell RTX white paper (209 TFLOP/s with f32 accumulation at 2.41 GHz).
    _chip(
        "sm_120",
        "RTX 5090",
        _ADA,
        sms=170,
        clock=2.41,
        tensor=512,
        l2=(96, 13.1),
        dram=1.79,
        rates=GEFORCE_RATES,
        has=_GEFORCE_HAS,
    ),
    # GB10 (DGX Spark): datasheet; tensor rate as for sm_120, an estimate; memory shared with the CPU.
    _chip(
        "sm_121",
        "GB10",
        _ADA,
        sms=48,
        clock=2.4,
        tensor=512,
        l2=(24, 3.7),
        dram=0.27,
        rates=GEFORCE_RATES,
        has=_GEFORCE_HAS,
    ),
)
