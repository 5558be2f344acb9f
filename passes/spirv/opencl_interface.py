"""opencl-interface: a kernel takes pointers to global memory and numbers.

Expects a gpu.func in a gpu.module after `lower`, with `known_block_size`. Moves it into a gpu.module inside a
builtin.module of its own, which upstream converts later, and leaves a declaration in its place for the launch. Memory
becomes buffers of one dimension in the storage class CrossWorkgroup; numbers are passed by value in types that kernels
of OpenCL may take: an index as i32, as all addressing is, f16 and bf16 as the i16 with their bits, i1 and 8-bit floats
as i8. What the arguments were is told by casts (builtin.unrealized_conversion_cast), which `linearize-memory` follows.

Refuses arguments and blocks of sizes that are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.spirv_kernels import as_bits, as_it_was, buffer_type, checked, move, version_of
from mlir_gemm.dialect.walk import body
from mlir_gemm.passes.base import Pass

_CAPABILITIES = ("Kernel", "Addresses", "Linkage", "Float16", "Float16Buffer", "Float64", "Int8", "Int16", "Int64")
"""What code may use; a module says itself what it does use, and devices without that refuse it."""
_VERSIONS = {"opencl2.1": "v1.1", "opencl2.2": "v1.2"}
"""The newest SPIR-V of each environment. A module says the oldest that has what it uses, which is 1.0."""


@dataclass(frozen=True)
class OpenclInterface(Pass):
    """Make arguments pointers and numbers."""

    name: ClassVar[str] = "opencl-interface"
    environment: str = "opencl2.2"
    """What the code is for: a version of OpenCL, by spirv-val's name."""

    def run(self, module: Any) -> None:
        environment = _environment(version_of(self.name, self.environment, _VERSIONS))
        for holder, kernel in checked(module):
            _moved(module, holder, kernel, environment)


def _environment(version: str) -> Any:
    can = f"#spirv.vce<{version}, [{', '.join(_CAPABILITIES)}], []>"
    return ir.Attribute.parse(f"#spirv.target_env<{can}, api=OpenCL, #spirv.resource_limits<>>")


def _moved(module: Any, holder: Any, kernel: Any, environment: Any) -> None:
    before = list(body(kernel).arguments)

    def arguments(given: Sequence[Any]) -> None:
        for old, new in zip(before, given, strict=True):
            if isinstance(old.type, ir.MemRefType):
                as_it_was(old, new)
            else:
                old.replace_all_uses_with(_number(old.type, new))

    move(module, holder, kernel, environment, [_passed(each.type) for each in before], arguments, {})


def _passed(type_: Any) -> Any:
    """How an argument of this type is passed."""
    if isinstance(type_, ir.MemRefType):
        return buffer_type(type_.element_type, "CrossWorkgroup")
    widths = {"index": 32, "f16": 16}
    width = widths.get(str(type_))
    return as_bits(type_) if width is None else ir.IntegerType.get_signless(width)


def _number(type_: Any, given: Any) -> Any:
    """A number as the kernel has it, at the insertion point."""
    arith = dialect("arith")
    if type_ == given.type:
        return given
    if isinstance(type_, ir.IndexType):
        return arith.IndexCastUIOp(type_, given).result
    made = arith.BitcastOp if isinstance(type_, ir.FloatType) else arith.TruncIOp
    return made(type_, given).result
