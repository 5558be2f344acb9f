"""vulkan-interface: a kernel takes storage buffers and push constants.

Expects a gpu.func in a gpu.module after `lower`, with `known_block_size`. Moves it into a gpu.module inside a
builtin.module of its own, which upstream converts later, and leaves a declaration in its place for the launch. Memory
becomes storage buffers of one dimension, bound in the order of the arguments from binding 0 of set 0; numbers become
words of 32 bits of the push constants, in that order too (an index is 32 bits wide, as all addressing is; i64 and f64
have two words). What the arguments were is told by casts (builtin.unrealized_conversion_cast), which
`linearize-memory` follows.

Refuses arguments and blocks of sizes that are not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.spirv_kernels import as_it_was, buffer_type, checked, move, version_of
from mlir_gemm.dialect.walk import body
from mlir_gemm.passes.base import Pass

WORD = 32
_CAPABILITIES = ("Shader", "Float16", "Float64", "Int8", "Int16", "Int64", "StorageBuffer16BitAccess",
                 "StorageBuffer8BitAccess")  # fmt: skip
"""What code may use; a module says itself what it does use, and devices without that refuse it."""
_EXTENSIONS = ("SPV_KHR_storage_buffer_storage_class", "SPV_KHR_16bit_storage", "SPV_KHR_8bit_storage")
_VERSIONS = {"vulkan1.1": "v1.3", "vulkan1.3": "v1.6"}
"""SPIR-V of each environment."""
_NEWER = {
    "vulkan1.3": (
        ("VulkanMemoryModel", "CooperativeMatrixKHR", "GroupNonUniform", "GroupNonUniformShuffle"),
        ("SPV_KHR_vulkan_memory_model", "SPV_KHR_cooperative_matrix"),
    )
}
"""Capabilities and extensions that an environment has beyond the others."""


@dataclass(frozen=True)
class VulkanInterface(Pass):
    """Make arguments storage buffers and push constants."""

    name: ClassVar[str] = "vulkan-interface"
    environment: str = "vulkan1.1"
    """What the code is for: a version of Vulkan."""

    def run(self, module: Any) -> None:
        environment = _environment(self.environment, version_of(self.name, self.environment, _VERSIONS))
        for holder, kernel in checked(module):
            _moved(module, holder, kernel, environment)


def _environment(name: str, version: str) -> Any:
    capabilities, extensions = _NEWER.get(name, ((), ()))
    may, named_ = ", ".join((*_CAPABILITIES, *capabilities)), ", ".join((*_EXTENSIONS, *extensions))
    can = f"#spirv.vce<{version}, [{may}], [{named_}]>"
    return ir.Attribute.parse(f"#spirv.target_env<{can}, api=Vulkan, #spirv.resource_limits<>>")


def _moved(module: Any, holder: Any, kernel: Any, environment: Any) -> None:
    entry = body(kernel)
    buffers = [each for each in entry.arguments if isinstance(each.type, ir.MemRefType)]
    numbers = [each for each in entry.arguments if not isinstance(each.type, ir.MemRefType)]
    words = sum(_words(each.type) for each in numbers)
    types = [buffer_type(each.type.element_type, "StorageBuffer") for each in buffers]
    if words:
        types.append(buffer_type(ir.IntegerType.get_signless(WORD), "PushConstant", words))

    def arguments(given: Sequence[Any]) -> None:
        for old, new in zip(buffers, given, strict=False):
            as_it_was(old, new)
        place = 0
        for old in numbers:
            old.replace_all_uses_with(_number(old.type, given[len(buffers)], place))
            place += _words(old.type)

    bindings = [
        ir.DictAttr.get({"spirv.interface_var_abi": ir.Attribute.parse(f"#spirv.interface_var_abi<(0, {number})>")})
        for number in range(len(types))
    ]
    move(module, holder, kernel, environment, types, arguments, {"arg_attrs": ir.ArrayAttr.get(bindings)})


def _words(type_: Any) -> int:
    return 1 if isinstance(type_, ir.IndexType) or type_.width <= WORD else 2


def _number(type_: Any, words: Any, place: int) -> Any:
    """A number from its words of the push constants, at the insertion point."""
    arith, memref = dialect("arith"), dialect("memref")
    i64 = ir.IntegerType.get_signless(64)

    def word(number: int) -> Any:
        return memref.LoadOp(words, [constants.index(number)]).result

    if isinstance(type_, ir.IndexType):
        return arith.IndexCastUIOp(type_, word(place)).result
    if type_.width > WORD:
        low, high = (arith.ExtUIOp(i64, word(place + each)).result for each in (0, 1))
        shift = arith.ConstantOp(i64, WORD).result
        whole = arith.OrIOp(low, arith.ShLIOp(high, shift).result).result
    elif type_.width < WORD:
        whole = arith.TruncIOp(ir.IntegerType.get_signless(type_.width), word(place)).result
    else:
        whole = word(place)
    return whole if isinstance(type_, ir.IntegerType) else arith.BitcastOp(type_, whole).result
