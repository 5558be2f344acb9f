"""Chips that are programmed through Vulkan or OpenCL, as rows of the same fields: an "SM" is a compute unit, an Xe
core, a shader core. `vulkan` and `opencl` are no products: code for them keeps to what every device must allow.

Sources, unless a row says otherwise:

* Limits of workgroups and of shared memory: what the product's drivers report (`maxComputeWorkGroupInvocations`,
  `maxComputeSharedMemorySize`; gpuinfo.org collects them), and for `vulkan` the least that the Vulkan specification
  requires ("Required Limits"), for `opencl` that of OpenCL's full profile (`CL_DEVICE_LOCAL_MEM_SIZE`).
* Units, clock, memory: the product's data sheet. `fma`: f32 operations in one clock of one unit, from the same.
* Registers and resident threads: estimates, as vendors publish few of them. `l2_bytes_s`: 32 bytes per clock and unit.
  L1: 16 KB, the least of theirs.
* `fitted`: as for NVIDIA's chips, on the H200. Nothing was measured on these.
"""

from __future__ import annotations

from mlir_gemm.spec.target import Rates, Target
from mlir_gemm.tile_model import fitted

KB = 1024
_TYPES = frozenset(
    {"f16.storage", "f16.arithmetic", "i8.storage", "f64.arithmetic", "i64.arithmetic"}
)  # fmt: skip
"""What code may use where the source has such types. A device without it is refused before anything runs."""
_FUSED = frozenset({"fma.arithmetic"})
"""GPUs have it. Code for OpenCL does not count on it: where it is missing (CPU drivers), fma costs a call each."""
VULKAN, OPENCL = "vulkan1.1", "opencl2.2"
"""Environments, by the names that spirv-val has for them."""


def _row(
    chip: str,
    name: str,
    *,
    units: int,
    clock: float,
    fma: float,
    shared: int,
    threads: int,
    l2: float,
    dram: float,
    resident: int = 1024,
    environment: str = VULKAN,
) -> Target:
    """One row: clock in GHz, `shared` in KB, `l2` in MB, `dram` in TB/s; `threads` of a workgroup, `resident` of a
    unit."""
    return Target(
        chip=chip,
        name=name,
        sms=units,
        clock_hz=clock * 1e9,
        smem_static=shared * KB,
        smem_block=shared * KB,
        smem_sm=2 * shared * KB,
        smem_reserved=0,
        registers_sm=65536,
        registers_thread=255,
        threads_block=threads,
        threads_sm=max(resident, threads),
        blocks_sm=16,
        tensor_flops_clock_sm=fma,
        l2_bytes=round(l2 * KB * KB),
        l2_bytes_s=units * clock * 1e9 * 32,
        dram_bytes_s=dram * 1e12,
        rates=Rates(tf32=0, i8=0, fma_f32=fma, fma_f64=fma / 32, fma_i32=fma / 4),
        capabilities=_TYPES | _FUSED if environment == VULKAN else _TYPES,
        fitted=fitted.H200,
        backend="spirv",
        subgroup=0,
        index_bits=32,
        l1_bytes=16 * KB,
        environment=environment,
    )


ROWS = (
    # Limits: Vulkan's required ones. Figures: those of a small desktop GPU of today, an estimate.
    _row("vulkan", "Vulkan", units=32, clock=2.0, fma=256, shared=16, threads=128, l2=4, dram=0.3),
    # Local memory: 32 KB in OpenCL's full profile; workgroups of 256 are what nearly all devices take, an estimate.
    _row("opencl", "OpenCL", units=32, clock=2.0, fma=256, shared=32, threads=256, l2=4, dram=0.3, environment=OPENCL),
    # Mesa's CPU driver: its limits as Mesa 22.3 reports them; figures of a desktop CPU of 8 cores with AVX2.
    _row("lavapipe", "llvmpipe", units=8, clock=3.0, fma=32, shared=32, threads=1024, l2=4, dram=0.04),
    # Arc A770: 32 Xe cores at 2.1 GHz, 17.2 TFLOP/s of f32, 560 GB/s.
    _row("arc-a770", "Arc A770", units=32, clock=2.1, fma=256, shared=64, threads=1024, l2=16, dram=0.56),
    # Data Center GPU Max 1550 (Xe-HPC): 128 Xe cores at 1.6 GHz, 52 TFLOP/s of f32, 3.28 TB/s.
    _row("max-1550", "Max 1550", units=128, clock=1.6, fma=256, shared=64, threads=1024, l2=408, dram=3.28),
    # RX 7900 XTX through Vulkan: 96 units at 2.5 GHz, 61 TFLOP/s of f32 with dual issue, 960 GB/s.
    _row("rx-7900-xtx", "RX 7900 XTX", units=96, clock=2.5, fma=256, shared=64, threads=1024, l2=6, dram=0.96),
    # Immortalis-G720 of 12 cores: 256 operations a clock and core (Arm); clock and memory are of its phones.
    _row("mali-g720", "Mali-G720", units=12, clock=1.3, fma=256, shared=32, threads=512, l2=2, dram=0.06),
    # Adreno 750: 6 units of 256 lanes at 0.9 GHz, LPDDR5X of its phones: estimates, Qualcomm publishes none.
    _row("adreno-750", "Adreno 750", units=6, clock=0.9, fma=512, shared=32, threads=1024, l2=2, dram=0.077),
    # M2 Max by MoltenVK, whose limits are Metal's (feature set tables): 38 cores, 13.6 TFLOP/s.
    _row("apple-m2-max", "Apple M2 Max", units=38, clock=1.4, fma=256, shared=32, threads=1024, l2=8, dram=0.4),
)
