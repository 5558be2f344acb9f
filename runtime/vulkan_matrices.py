"""Cooperative matrices: which a module in SPIR-V multiplies, and which a Vulkan device has."""

from __future__ import annotations

from typing import Any, NamedTuple

from mlir_gemm.pipeline import spirv_words
from mlir_gemm.runtime.vulkan_device import VulkanDevice, api, instance

_INT, _FLOAT, _CONSTANT, _MATRIX, _MULTIPLY = 21, 22, 43, 4456, 4459
"""SPIR-V: OpTypeInt, OpTypeFloat, OpConstant, OpTypeCooperativeMatrixKHR, OpCooperativeMatrixMulAddKHR."""
_SIGNED = (1, 2, 4)
"""Of the operands of a product: whether A, B, and the accumulator are signed."""
_SUBGROUP = 3
"""VK_SCOPE_SUBGROUP_KHR."""
_TYPES = {0: "f16", 1: "f32", 2: "f64", 3: "i8", 4: "i16", 5: "i32", 7: "u8", 8: "u16", 9: "u32"}
"""The names of VkComponentTypeKHR."""
_ASK = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"


class Product(NamedTuple):
    """A product of cooperative matrices: their sizes, and the elements of A, B and the accumulator."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k} of {self.a} and {self.b} into {self.c}"


def products_of(code: bytes) -> list[Product]:
    """The products of cooperative matrices in a module in SPIR-V, each once."""
    elements, numbers = dict[int, str](), dict[int, int]()
    matrices, values = dict[int, tuple[str, int, int]](), dict[int, int]()
    found: dict[Product, None] = {}
    for name, words in spirv_words.instructions(code):
        if name == _FLOAT:
            elements[words[0]] = f"f{words[1]}"
        elif name == _INT:
            elements[words[0]] = str(words[1])
        elif name == _CONSTANT:
            numbers[words[1]] = words[2]
        elif name == _MATRIX:
            result, element, _, rows, columns, *_ = words
            matrices[result] = elements[element], numbers[rows], numbers[columns]
        elif len(words) > 1 and words[0] in matrices:
            values[words[1]] = words[0]
        if name == _MULTIPLY:
            signed = words[5] if len(words) > 5 else 0
            (a, m, k), (b, _, n), (c, _, _) = (matrices[values[each]] for each in words[2:5])
            types = (
                each if each.startswith("f") else f"{'i' if signed & bit else 'u'}{each}"
                for each, bit in zip((a, b, c), _SIGNED, strict=True)
            )
            found[Product(m, n, k, *types)] = None
    return list(found)


def products_on(device: VulkanDevice) -> list[Product]:
    """The products that a device has among the lanes of a subgroup; none without the extension."""
    if "cooperativeMatrix" not in device.features:
        return []
    vk: Any = api()
    # Not by the package's own function: it leaves sType of what is to be filled unset, as the specification forbids.
    address = vk.lib.vkGetInstanceProcAddr(instance(), vk.ffi.new("char[]", _ASK.encode()))
    ask = vk.ffi.cast(f"PFN_{_ASK}", address)
    count = vk.ffi.new("uint32_t*")
    ask(device.physical, count, vk.ffi.NULL)
    filled = vk.ffi.new("VkCooperativeMatrixPropertiesKHR[]", max(1, count[0]))
    for number in range(count[0]):
        filled[number].sType = vk.VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR
    ask(device.physical, count, filled)
    found: dict[Product, None] = {}
    for each in (filled[number] for number in range(count[0])):
        types = [_TYPES.get(int(kind), "") for kind in (each.AType, each.BType, each.CType)]
        if int(each.scope) == _SUBGROUP and all(types) and each.CType == each.ResultType:
            found[Product(each.MSize, each.NSize, each.KSize, *types)] = None
    return list(found)


def lacking_matrices(device: VulkanDevice, code: bytes) -> list[str]:
    """What a module multiplies and a device does not, in words."""
    needed = products_of(code)
    has = products_on(device) if needed else []
    if "cooperativeMatrix" not in device.features:
        return []  # said by the name of the feature
    lacking = [each for each in needed if each not in has]
    if not lacking:
        return []
    known = "; ".join(map(str, has)) or "none"
    return [f"cooperative matrices {'; '.join(map(str, lacking))}: {_ASK} has {known}"]
