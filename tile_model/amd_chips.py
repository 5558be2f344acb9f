"""AMD's GPUs as rows of the same table, for code through LLVM's AMDGPU back end: an "SM" is a compute unit, shared
memory its LDS. Threads are counted in warps of 32 whatever runs in step: a wave of 64 is two of them.

Sources, unless a row says otherwise:

* Registers of a lane: 256 that all instructions reach. CDNA has 256 more for accumulators, to which LLVM moves what
  does not fit.
* Limits: "Hardware specifications" of AMD's ROCm documentation (LDS, vector registers, L2, Infinity Cache by product),
  and LLVM's "User Guide for AMDGPU Backend" (registers of a lane, waves of a unit, 64 KB of LDS for a workgroup).
* Units, clock, memory, rates: the product's data sheet; operations in one clock of a unit from the architecture's white
  paper (CDNA 2, CDNA 3, RDNA 3). A row's comment gives the product of these, which is the data sheet's peak.
* `Rates.tf32` is that of f32 here, which matrix instructions multiply as it is.
* `l2` is the last cache in front of memory, the Infinity Cache where there is one.
* `fitted`: as for all chips, on the H200. Nothing was measured on these.
"""

from __future__ import annotations

from mlir_gemm.spec.target import Rates, Target
from mlir_gemm.tile_model import fitted

KB = 1024
BACKEND = "rocdl"


def _row(
    chip: str,
    name: str,
    *,
    units: int,
    clock: float,
    matrix: float,
    registers: int,
    waves: int,
    l1: int,
    l2: tuple[float, float],
    dram: float,
    rates: Rates,
    has: frozenset[str],
    subgroup: int = 64,
) -> Target:
    """One row: clock in GHz, `registers` in KB of a unit, `waves` of a unit, `l1` in KB, `l2` in MB and TB/s, `dram` in
    TB/s, `has` its capabilities."""
    return Target(
        chip=chip,
        name=name,
        sms=units,
        clock_hz=clock * 1e9,
        smem_static=64 * KB,
        smem_block=64 * KB,
        smem_sm=64 * KB,
        smem_reserved=0,
        registers_sm=registers * KB // 4,
        registers_thread=256,
        threads_block=1024,
        threads_sm=waves * subgroup,
        blocks_sm=16,
        tensor_flops_clock_sm=matrix,
        l2_bytes=round(l2[0] * KB * KB),
        l2_bytes_s=l2[1] * 1e12,
        dram_bytes_s=dram * 1e12,
        rates=rates,
        capabilities=has,
        fitted=fitted.H200,
        backend=BACKEND,
        subgroup=subgroup,
        l1_bytes=l1 * KB,
    )


_COMMON = frozenset({"subgroup.shuffle", "f16.storage", "f16.arithmetic", "i8.storage", "f64.arithmetic",
                     "i64.arithmetic"})  # fmt: skip
_CDNA2 = _COMMON | {"mfma.amd", "mfma.i8x16"}
_CDNA3 = _COMMON | {"mfma.amd", "mfma.i8x32"}
_RDNA3 = _COMMON | {"wmma.amd"}

ROWS = (
    # MI210: 104 units at 1.7 GHz, 1024 f16 operations a clock and unit (181 TFLOP/s), as many of bytes, 256 of f32 and
    # of f64 by matrix instructions (45.3), 128 of f32 and f64 by FMA (22.6; 256 of f32 where they come in pairs, as
    # LLVM packs them). L2: 8 MB, 32 channels of 128 bytes a clock. 1.6 TB/s of HBM2e.
    _row(
        "gfx90a", "MI210", units=104, clock=1.7, matrix=1024, registers=512, waves=32, l1=16,
        l2=(8, 6.9), dram=1.6, has=_CDNA2,
        rates=Rates(tf32=0.25, f16_f16=0, i8=1.0, f64=256, fma_f32=256, fma_f64=128, fma_i32=64),
    ),
    # MI300X: 304 units at 2.1 GHz, 2048 f16 operations a clock and unit (1307 TFLOP/s), twice that of bytes, 256 of f32
    # and of f64 by matrix instructions (163.4), 256 of f32 and 128 of f64 by FMA. Infinity Cache: 256 MB, 17.2 TB/s.
    # 5.3 TB/s of HBM3.
    _row(
        "gfx942", "MI300X", units=304, clock=2.1, matrix=2048, registers=512, waves=32, l1=32,
        l2=(256, 17.2), dram=5.3, has=_CDNA3,
        rates=Rates(tf32=0.125, f16_f16=0, i8=2.0, f64=256, fma_f32=256, fma_f64=128, fma_i32=64),
    ),
    # RX 7900 XTX: 96 units at 2.5 GHz, 512 f16 operations a clock and unit by WMMA (122.8 TFLOP/s), as many of bytes,
    # 256 of f32 where two instructions are issued at once (61.4), 1/32 of f64 without that. 768 KB of registers and
    # 128 KB of LDS for a pair of units. Infinity Cache: 96 MB, its rate an estimate. 0.96 TB/s of GDDR6.
    _row(
        "gfx1100", "RX 7900 XTX by HIP", units=96, clock=2.5, matrix=512, registers=384, waves=32,
        l1=32, l2=(96, 3.0), dram=0.96, has=_RDNA3, subgroup=32,
        rates=Rates(tf32=0, f16_f16=0, i8=1.0, f64=0, fma_f32=256, fma_f64=4, fma_i32=64),
    ),
)  # fmt: skip

NAMES = {"mi210": "gfx90a", "mi300x": "gfx942", "rx7900": "gfx1100"}
"""Other names of these chips."""
