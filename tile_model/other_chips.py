"""Chips that are programmed through Vulkan or OpenCL, as rows of the same fields: an "SM" is a compute unit, an Xe
core, a shader core. `vulkan` and `opencl` are no products: code for them keeps to what every device must allow.

Sources, unless a row says otherwise:

* Limits of workgroups and of shared memory: what the product's drivers report (`maxComputeWorkGroupInvocations`,
  `maxComputeSharedMemorySize`; gpuinfo.org collects them), and for `vulkan` the least that the Vulkan specification
  requires ("Required Limits"), for `opencl` that of OpenCL's full profile (`CL_DEVICE_LOCAL_MEM_SIZE`). Mali, Adreno
  and Apple's (Metal's "Feature Set Tables"): what the newest of a family allows may be more.
* Units, clock, memory: the product's data sheet. `fma`: f32 operations in one clock of one unit, from the same.
* Registers and resident threads: estimates, as vendors publish few of them. `l2_bytes_s`: 32 bytes per clock and unit.
  L1: 16 KB, the least of theirs.
* `fitted`: as for NVIDIA's chips, on the H200. Nothing was measured on these.
"""

from __future__ import annotations

from mlir_gemm.spec.target import Rates, Target
from mlir_gemm.spec.threads import LANES as WARP
from mlir_gemm.tile_model import fitted

KB = 1024
_TYPES = frozenset(
    {"f16.storage", "f16.arithmetic", "i8.storage", "f64.arithmetic", "i64.arithmetic"}
)  # fmt: skip
"""What code may use where the source has such types. A device without it is refused before anything runs."""
_FUSED = frozenset({"fma.arithmetic"})
"""GPUs have it. Code for OpenCL does not count on it: where it is missing (CPU drivers), fma costs a call each."""
VULKAN, VULKAN_13, OPENCL = "vulkan1.1", "vulkan1.3", "opencl2.2"
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
    matrices: tuple[str, ...] = (),
    tensor: float = 0,
    i8: float = 2,
    subgroup: int = 0,
) -> Target:
    """One row: clock in GHz, `shared` in KB, `l2` in MB, `dram` in TB/s; `threads` of a workgroup, `resident` of a
    unit. With cooperative matrices: their types and shapes (`f16.16x16x16`), the operations of f16 into f32 in one
    clock of a unit, of bytes as a multiple of that, and the lanes of a subgroup."""
    known = [f"CooperativeMatrixKHR.{each}" for each in matrices]
    known += ["CooperativeMatrixKHR"] if matrices else []
    known += ["subgroup.shuffle"] if subgroup == WARP else []
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
        tensor_flops_clock_sm=tensor or fma,
        l2_bytes=round(l2 * KB * KB),
        l2_bytes_s=units * clock * 1e9 * 32,
        dram_bytes_s=dram * 1e12,
        rates=Rates(tf32=0, i8=i8 if tensor else 0, fma_f32=fma, fma_f64=fma / 32, fma_i32=fma / 4),
        capabilities=_TYPES.union(known) | (frozenset[str]() if environment == OPENCL else _FUSED),
        fitted=fitted.H200,
        backend="spirv",
        subgroup=subgroup,
        index_bits=32,
        l1_bytes=16 * KB,
        environment=environment,
    )


ROWS = (
    # Limits: Vulkan's required ones. Figures: those of a small desktop GPU of today, an estimate.
    _row("vulkan", "Vulkan", units=32, clock=2.0, fma=256, shared=16, threads=128, l2=4, dram=0.3),
    # Local memory: 32 KB in OpenCL's full profile; workgroups of 256 are what nearly all devices take, an estimate.
    _row("opencl", "OpenCL", units=32, clock=2.0, fma=256, shared=32, threads=256, l2=4, dram=0.3, environment=OPENCL),
    # PoCL on a CPU: PoCL 6 reports workgroups of 4096 and, where the CPU's caches are large, 1 MB of local memory, of
    # which code takes what a core's own cache has room for; figures of a desktop CPU of 8 cores with AVX2.
    _row("pocl", "PoCL", units=8, clock=3.0, fma=32, shared=64, threads=1024, l2=4, dram=0.04, environment=OPENCL),
    # Mesa's CPU driver: its limits as Mesa 22.3 reports them; figures of a desktop CPU of 8 cores with AVX2.
    _row("lavapipe", "llvmpipe", units=8, clock=3.0, fma=32, shared=32, threads=1024, l2=4, dram=0.04),
    # The same of Mesa 26.1, with cooperative matrices of 8x8x8 and subgroups of 8, as it reports them.
    _row(
        "lavapipe-26",
        "llvmpipe (Mesa 26)",
        units=8,
        clock=3.0,
        fma=32,
        shared=32,
        threads=1024,
        l2=4,
        dram=0.04,
        environment=VULKAN_13,
        matrices=("f16.8x8x8", "f16.f16", "i8.8x8x8"),
        tensor=64,
        i8=1,
        subgroup=8,
    ),
    # H200 through Vulkan: subgroups of 32, matrices and 48 KB of shared memory as the driver 580.159.04 reports them;
    # units, clock and memory as in the row h200. Cooperative matrices at the rate of mma.sync.
    _row(
        "vulkan-h200",
        "H200 (Vulkan)",
        units=132,
        clock=1.7,
        fma=256,
        shared=48,
        threads=1024,
        l2=60,
        dram=4.3,
        resident=2048,
        environment=VULKAN_13,
        matrices=("f16.16x16x16", "f16.f16", "i8.16x16x32"),
        tensor=2621,
        subgroup=32,
    ),
    # Arc A770: 32 Xe cores at 2.1 GHz, 17.2 TFLOP/s of f32, 137 of f16 by XMX, 560 GB/s. Matrices have 8 columns on
    # this GPU (krrishnarraj/clpeak, pull request 185), and subgroups as many lanes.
    _row(
        "arc-a770",
        "Arc A770",
        units=32,
        clock=2.1,
        fma=256,
        shared=64,
        threads=1024,
        l2=16,
        dram=0.56,
        environment=VULKAN_13,
        matrices=("f16.8x8x16", "i8.8x8x32"),
        tensor=2048,
        subgroup=8,
    ),
    # Arc B580 (Xe2): 20 Xe cores at 2.67 GHz, 13.7 TFLOP/s of f32, 117 of f16 by XMX, 456 GB/s. Matrices of 8x16x16 as
    # Mesa reports them (ggml-org/llama.cpp, pull request 21669); lanes of a subgroup: as many as columns.
    _row(
        "arc-b580",
        "Arc B580",
        units=20,
        clock=2.67,
        fma=256,
        shared=64,
        threads=1024,
        l2=18,
        dram=0.456,
        environment=VULKAN_13,
        matrices=("f16.8x16x16", "i8.8x16x32"),
        tensor=2048,
        subgroup=16,
    ),
    # Data Center GPU Max 1550 (Xe-HPC): 128 Xe cores at 1.6 GHz, 52 TFLOP/s of f32, 3.28 TB/s (data sheet). Its drivers
    # are of OpenCL and Level Zero. Workgroups of 1024, 128 KB of local memory: "oneAPI GPU Optimization Guide", Intel,
    # thread mapping and occupancy.
    _row(
        "max-1550",
        "Max 1550",
        units=128,
        clock=1.6,
        fma=256,
        shared=128,
        threads=1024,
        l2=408,
        dram=3.28,
        environment=OPENCL,
    ),
    # RX 7900 XTX through Vulkan: 96 units at 2.5 GHz, 61 TFLOP/s of f32 with dual issue, 123 of f16 and of bytes by
    # WMMA, 960 GB/s. Matrices of 16x16x16 (iree-org/iree, pull request 11868); subgroups of 32, which it has beside 64.
    _row(
        "rx-7900-xtx",
        "RX 7900 XTX",
        units=96,
        clock=2.5,
        fma=256,
        shared=64,
        threads=1024,
        l2=6,
        dram=0.96,
        environment=VULKAN_13,
        matrices=("f16.16x16x16", "f16.f16", "i8.16x16x16"),
        tensor=512,
        i8=1,
        subgroup=32,
    ),
    # Immortalis-G720 of 12 cores: 256 operations a clock and core (Arm); clock and memory are of its phones.
    _row("mali-g720", "Mali-G720", units=12, clock=1.3, fma=256, shared=32, threads=512, l2=2, dram=0.06),
    # Adreno 750: 6 units of 256 lanes at 0.9 GHz, LPDDR5X of its phones: estimates, Qualcomm publishes none.
    _row("adreno-750", "Adreno 750", units=6, clock=0.9, fma=512, shared=32, threads=1024, l2=2, dram=0.077),
    # M2 Max by MoltenVK, whose limits are Metal's (feature set tables): 38 cores, 13.6 TFLOP/s.
    _row("apple-m2-max", "Apple M2 Max", units=38, clock=1.4, fma=256, shared=32, threads=1024, l2=8, dram=0.4),
)
