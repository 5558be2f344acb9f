"""The result of a compilation: code, schedule, launch information, and the IR at any stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir_gemm.errors import InputError
from mlir_gemm.spec.backends import BACKENDS, NVPTX
from mlir_gemm.spec.kernel_record import KernelRecord, first_product
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.stages import stages_of
from mlir_gemm.spec.target import Target


@dataclass
class Compilation:
    """One module taken through the stages, as far as was asked for."""

    stage: str
    """The last stage that ran."""
    target: Target
    kernels: tuple[KernelRecord, ...]
    """What is known of each kernel of the module, in order; their problems and schedules from `select` on."""
    launch: Launch | None
    """None before `launch`."""
    code: str | bytes | None
    """What its back end makes: PTX or AMDGPU assembly as text, SPIR-V as bytes; None before the last stage."""
    stages: tuple[str, ...]
    """The stages whose IR can be had: those that ran, in order, and first the one that the text was saved after."""
    timings: dict[str, float]
    """Seconds spent in each stage."""
    divisors: dict[str, int] | None = None
    """Of text that was saved when its sizes had been decided on: what those known at run time must be multiples of."""
    note: str = ""
    """What a reader should know of a whole program."""
    _texts: dict[tuple[str, bool], str] = field(repr=False, default_factory=dict[tuple[str, bool], str])
    """The IR that was kept, by its stage and whether it tells the places in the source."""
    _again: Callable[[str, bool], str] = field(repr=False, default=lambda _, __: "")
    _emit: Callable[[str], str | bytes] = field(repr=False, default=lambda _: "")

    @property
    def ptx(self) -> str | None:
        """The code where it is PTX; None before `ptx`, and for chips that have no such stage."""
        return self.code if self.target.backend == NVPTX and isinstance(self.code, str) else None

    @property
    def problem(self) -> Problem | None:
        """What the first product computes; None before `select`, and where there is no product."""
        first = first_product(self.kernels)
        return first.problem if first else None

    @property
    def schedule(self) -> Schedule | None:
        """How the first product is computed; None before `select`, and where there is no product."""
        first = first_product(self.kernels)
        return first.schedule if first else None

    def ir(self, stage: str, locations: bool = False) -> str:
        """The IR after a stage, as text, with the places in the source of its operations if `locations`; compiled
        again if it was not kept. Raises InputError for the last stage of a back end whose code is binary."""
        backend = BACKENDS[self.target.backend]
        if stage == backend.last and not backend.is_text:
            raise InputError(f"{backend.code} is binary: `emit('{stage}')` gives it; the last stage with IR is "
                             f"'{backend.converted}'")  # fmt: skip
        if (stage, locations) not in self._texts:
            self._texts[stage, locations] = self._again(stage, locations)
        return self._texts[stage, locations]

    def emit(self, kind: str) -> str | bytes:
        """The output of a kind: a stage's IR as text; the last one's is the code. Or `llvm` (LLVM IR, text) and `cubin`
        (bytes) for NVIDIA's chips. Raises InputError for one that the chip does not have."""
        backend = BACKENDS[self.target.backend]
        if kind == backend.last and self.code is not None:
            return self.code
        is_ir = kind in stages_of(backend.name) and (backend.is_text or kind != backend.last)
        return self.ir(kind) if is_ir else self._emit(kind)
