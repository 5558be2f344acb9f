"""The target: a chip as data. Nothing knows a chip by name; parts say which capabilities they need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from mlir_gemm.spec.backends import NVPTX

T = TypeVar("T")

CAPABILITIES = {
    "wmma.mma": "WMMA, fragments of 16x16x16 and their kin",
    "wmma.replicated": "WMMA whose fragments hold every element twice (sm_70, sm_75)",
    "dp4a.s32": "four products of bytes and their sum in one instruction of ordinary arithmetic",
    "mma.m8n8k4": "mma.sync of 8x8x4 (f16) at full rate",
    "mma.sync": "ldmatrix, and mma.sync of 16x8x8 (f16) and 8x8x16 (bytes)",
    "mma.sync.k32": "mma.sync that reads 32 bytes of k, or bf16, tf32 and f64",
    "mma.sync.f8": "mma.sync of 8-bit floats",
    "mma.sync.f64": "mma.sync of f64 beyond 8x8x4",
    "mma.sp.ordered": "mma.sp that takes ordered metadata in fewer instructions than any other",
    "cp.async": "asynchronous copies of 4 to 16 bytes",
    "cp.async.bulk.tensor": "the copy engine (TMA), with mbarriers and clusters",
    "wgmma.mma_async": "products of whole warpgroups",
    "griddepcontrol": "programmatic dependent launch",
    "subgroup.shuffle": "lanes of a subgroup read each other's registers, in the order that the compiler counts them",
    "CooperativeMatrixKHR": "cooperative matrices, VK_KHR_cooperative_matrix",
    "CooperativeMatrixKHR.f16.16x16x16": "cooperative matrices of f16 into f32, of 16x16x16",
    "CooperativeMatrixKHR.f16.8x16x16": "cooperative matrices of f16 into f32, of 8x16x16",
    "CooperativeMatrixKHR.f16.8x8x16": "cooperative matrices of f16 into f32, of 8x8x16",
    "CooperativeMatrixKHR.f16.8x8x8": "cooperative matrices of f16 into f32, of 8x8x8",
    "CooperativeMatrixKHR.f16.f16": "cooperative matrices of f16 into f16, in the shapes of those into f32",
    "CooperativeMatrixKHR.i8.16x16x32": "cooperative matrices of bytes into i32, of 16x16x32",
    "CooperativeMatrixKHR.i8.16x16x16": "cooperative matrices of bytes into i32, of 16x16x16",
    "CooperativeMatrixKHR.i8.8x16x32": "cooperative matrices of bytes into i32, of 8x16x32",
    "CooperativeMatrixKHR.i8.8x8x32": "cooperative matrices of bytes into i32, of 8x8x32",
    "CooperativeMatrixKHR.i8.8x8x8": "cooperative matrices of bytes into i32, of 8x8x8",
    "mfma.amd": "AMD's matrix instructions with waves of 64 (MFMA)",
    "mfma.i8x16": "MFMA of bytes with a k of 16, or 8 with 32 rows",
    "mfma.i8x32": "MFMA of bytes with a k of 32, or 16 with 32 rows",
    "wmma.amd": "AMD's matrix instructions with waves of 32 (WMMA)",
    "f16.storage": "elements of 16 bits in buffers, storageBuffer16BitAccess",
    "f16.arithmetic": "arithmetic on f16, shaderFloat16",
    "i8.storage": "elements of 8 bits in buffers, storageBuffer8BitAccess",
    "f64.arithmetic": "arithmetic on f64, shaderFloat64",
    "fma.arithmetic": "a multiplication and an addition in one instruction, with one rounding",
    "i64.arithmetic": "arithmetic on integers of 64 bits, shaderInt64",
}
"""The capabilities that a row of the chips' tables may list."""


@dataclass(frozen=True)
class Rates:
    """How fast an SM multiplies each type: tensor cores through mma.sync relative to f16 with f32 accumulation, the
    others as operations in one clock of one SM (a multiplication and an addition are two)."""

    tf32: float = 0.5
    f16_f16: float = 1.0
    """f16 with f16 accumulation."""
    i8: float = 2.0
    f8: float = 2.0
    """8-bit floats with f32 accumulation."""
    sparse: float = 2.0
    """f16 and bf16 with a 2:4 sparse A by `mma.sp`, counted as the product with its zeros."""
    f64: float = 0.0
    """f64 tensor operations in one clock of one SM (not relative: their ratio differs most between chips)."""
    fma_f32: float = 256
    fma_f64: float = 4
    fma_i32: float = 128


@dataclass(frozen=True)
class Target:
    """What the compiler and its model need to know of a chip.

    Memory sizes in bytes, rates in units per second or per clock and SM, as named; sources stand beside the table
    in `tile_model/chips.py`.
    """

    chip: str
    """Its name: the compute capability by LLVM's name, such as `sm_90`, and what else tells which row this is."""
    name: str
    """The product that the rates below belong to."""
    sms: int
    """Streaming multiprocessors."""
    clock_hz: float
    """Clock under a sustained tensor-core load, in Hz."""
    smem_static: int
    """Most shared memory that a block may declare statically."""
    smem_block: int
    """Most shared memory a block may ask for at launch (opt-in)."""
    smem_sm: int
    """Shared memory of one SM."""
    smem_reserved: int
    """Shared memory that the system keeps of each block."""
    registers_sm: int
    """32-bit registers of one SM."""
    registers_thread: int
    """Most registers of one thread."""
    threads_block: int
    """Most threads of one block."""
    threads_sm: int
    """Most resident threads of one SM."""
    blocks_sm: int
    """Most resident blocks of one SM."""
    tensor_flops_clock_sm: float
    """f16 tensor-core FLOPs with f32 accumulation in one clock of one SM, through mma.sync and WMMA."""
    l2_bytes: int
    l2_bytes_s: float
    dram_bytes_s: float
    rates: Rates = Rates()
    """The rates of the other types and of the ordinary arithmetic units."""
    capabilities: frozenset[str] = frozenset()
    """What its instructions can do, by the names that the PTX manual has for them (`CAPABILITIES`)."""
    fitted: tuple[Any, ...] = field(default=(), hash=False)
    """Constants of cost formulas that were fitted to measurements, an object of each class. Not hashed, as they are a
    hundred numbers; chips that differ in these alone are not equal, so what is cached by a chip stays right."""
    features: str = ""
    """LLVM target features, such as `+ptx83`."""
    backend: str = NVPTX
    """The back end that makes its code (`spec/backends.py`)."""
    subgroup: int = 32
    """Lanes that run in step, as a warp does; 0 where the compiler cannot know, so that none may count on it."""
    index_bits: int = 64
    """How wide indices are in its code."""
    l1_bytes: int = 0
    """L1 of one SM where shared memory is apart from it; 0 where the two divide one memory."""
    environment: str = ""
    """Where its code runs, if the back end knows several: `vulkan1.1`, `opencl2.2`."""

    @property
    def arch(self) -> str:
        """The compute capability by LLVM's name, such as `sm_90a`: what code is made for."""
        return self.chip.partition(":")[0]

    @property
    def has_dependent_launch(self) -> bool:
        """Whether a kernel may start while the one before it ends (programmatic dependent launch)."""
        return "griddepcontrol" in self.capabilities

    @property
    def has_async_copies(self) -> bool:
        """Whether threads copy to shared memory without waiting."""
        return "cp.async" in self.capabilities

    @property
    def has_l2_policies(self) -> bool:
        """Whether loads say which lines L2 gives up first."""
        return "cp.async" in self.capabilities

    @property
    def has_narrow_maxima(self) -> bool:
        """Whether the greater of numbers of 16 bits is found two at a time, and is NaN where one is."""
        return self.backend == NVPTX and "cp.async" in self.capabilities

    @property
    def has_clusters(self) -> bool:
        """Whether blocks may be launched in clusters, and reach each other's shared memory."""
        return "cp.async.bulk.tensor" in self.capabilities

    @property
    def has_cooperative_launch(self) -> bool:
        """Whether all blocks of a launch can be made to run at the same time, so that they may wait for each other."""
        return self.backend == NVPTX

    def constants(self, cls: type[T]) -> T:
        """The fitted constants of a class. Raises LookupError where the chip's row has none."""
        for each in self.fitted:
            if type(each) is cls:
                return each
        raise LookupError(f"the row of {self.chip} has no constants of {cls.__name__}")

    @property
    def generation(self) -> int:
        """The compute capability as a number: 90 for sm_90 and sm_90a."""
        return int(self.arch.removeprefix("sm_").rstrip("af"))
