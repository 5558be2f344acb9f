"""From the last stage of IR to code, by back end, and what else can be made of it. What other back ends than NVIDIA's
need is loaded where it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mlir_gemm.errors import InputError
from mlir_gemm.pipeline import assembler, emission
from mlir_gemm.pipeline.debug_info import Place
from mlir_gemm.pipeline.rehearsal import rehearse
from mlir_gemm.spec.backends import BACKENDS, NVPTX
from mlir_gemm.spec.target import Target

Code = str | bytes


class Source(NamedTuple):
    """What an output can be made from; the texts are made when they are asked for."""

    target: Target
    code: Callable[[], Code]
    ir: Callable[[], str]
    """The IR after the last stage that has any."""
    from_outside: bool
    """Whether somebody may have edited what passes left."""


def code_of(target: Target, module: Any, *, program: bool, from_outside: bool, lines: Place | None) -> Code:
    """The code of the kernels of a module after its back end's last stage of IR; for no kernels it is empty."""
    return _CODE[target.backend](target, module, program=program, from_outside=from_outside, lines=lines)


def emit(kind: str, source: Source) -> Code:
    """An output besides the code and the IR: `cubin` or `llvm`. Raises InputError for one that the target's back end
    does not have."""
    backend = source.target.backend
    if kind == BACKENDS[backend].last:
        return source.code()
    if kind not in OTHERS[backend]:
        known = ", ".join((BACKENDS[backend].last, *OTHERS[backend]))
        raise InputError(f"there is no output '{kind}' for {source.target.chip}; expected a stage, or one of {known}")
    return OTHERS[backend][kind].make(source)


def usages(target: Target, code: Code | None) -> dict[str, assembler.Usage] | None:
    """What the kernels of a code take, by their entries; None where nobody says: there is no code yet, no assembler, or
    it is the driver that decides."""
    if not isinstance(code, str) or not code:
        return None
    if target.backend == NVPTX:
        return assembler.usages(code, target.arch)
    if target.backend != "rocdl":
        return None
    from mlir_gemm.pipeline import amdgpu

    return amdgpu.usages(code)


def _ptx(_: Target, module: Any, *, program: bool, from_outside: bool, lines: Place | None) -> Code:
    make = emission.ptx_of_program if program else emission.ptx
    return make(module, from_outside=from_outside, lines=lines)


def _isa(target: Target, module: Any, *, program: bool, from_outside: bool, lines: Place | None) -> Code:
    from mlir_gemm.pipeline import amdgpu

    ir = emission.llvm_ir(str(module), from_outside=from_outside)
    return amdgpu.assembly(ir, target.arch) if "amdgpu_kernel" in ir else ""


def _hsaco(source: Source) -> Code:
    from mlir_gemm.pipeline import amdgpu

    ir = emission.llvm_ir(source.ir(), from_outside=source.from_outside)
    if "amdgpu_kernel" not in ir:
        raise InputError("the function has nothing to run, so there is no code to make a code object of")
    return amdgpu.code_object(ir, source.target.arch)


def _llvm(source: Source) -> Code:
    return emission.llvm_ir(source.ir(), from_outside=source.from_outside)


def _cubin(source: Source) -> Code:
    code = source.code()
    if not code:
        raise InputError("the function has nothing to run, so there is no code to make a cubin of")
    assert isinstance(code, str)
    return assembler.cubin(code, source.target.arch)


def _spirv(_: Target, module: Any, *, program: bool, from_outside: bool, lines: Place | None) -> Code:
    from mlir_gemm.pipeline import spirv_emission

    if from_outside:
        rehearse(module, "builtin.module(spirv.module(spirv-update-vce))", "making SPIR-V")
    return spirv_emission.spirv(module)


class Output(NamedTuple):
    """An output of a back end beside its code."""

    make: Callable[[Source], Code]
    extension: str


_CODE: dict[str, Callable[..., Code]] = {"nvptx": _ptx, "rocdl": _isa, "spirv": _spirv}
OTHERS: dict[str, dict[str, Output]] = {
    "nvptx": {"cubin": Output(_cubin, ".cubin"), "llvm": Output(_llvm, ".ll")},
    "spirv": {},
    "rocdl": {"hsaco": Output(_hsaco, ".hsaco"), "llvm": Output(_llvm, ".ll")},
}
"""By back end, the outputs besides stages."""
